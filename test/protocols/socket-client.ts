/** A web socket as tests hold one: a frame sent, the next frame taken as its answer, and how it closed. */
import { once } from 'node:events';
import { WebSocket } from 'ws';

export interface Frame {
  type: string;
  data: Record<string, unknown>;
}

export interface Client {
  readonly ws: WebSocket;
  /** The frames that came and were not taken yet. */
  readonly frames: string[];
  send(frame: unknown): void;
  /** The next frame. */
  next(): Promise<Frame>;
  ask(frame: unknown): Promise<Frame>;
  closed: Promise<{ code: number; reason: string }>;
  close(): Promise<void>;
}

export const toWs = (url: string, path = '/ws'): string => url.replace(/^http/, 'ws') + path;

/** Resolves once the socket is open. */
export async function connect(url: string): Promise<Client> {
  const ws = new WebSocket(url, { perMessageDeflate: false });
  const frames: string[] = [];
  const waiting: ((frame: string) => void)[] = [];
  ws.on('message', (data: Buffer) => {
    const wake = waiting.shift();
    if (wake) wake(data.toString());
    else frames.push(data.toString());
  });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    ws.on('close', (code, reason) => {
      resolve({ code, reason: reason.toString() });
    });
  });
  await once(ws, 'open');
  const send = (frame: unknown): void => {
    ws.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  };
  const next = async (): Promise<Frame> => {
    const frame = frames.shift() ?? (await new Promise<string>((resolve) => waiting.push(resolve)));
    return JSON.parse(frame) as Frame;
  };
  return {
    ws,
    frames,
    send,
    next,
    ask: (frame) => {
      send(frame);
      return next();
    },
    closed,
    close: async () => {
      ws.close();
      await closed;
    },
  };
}
