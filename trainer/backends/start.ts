/** What every backend's loader needs: making it tfjs's current one, and the error where it cannot run. */
import * as tf from '@tensorflow/tfjs-core';
import type { Ops } from '../model/ops.ts';

/** A backend that was asked for cannot run here; the message says what to install. */
export class BackendUnavailable extends Error {
  readonly code = 'backend_unavailable';
}

/** A backend that is tfjs's current one. */
export interface Started {
  /** What computes: engine and version, device, threads, memory. */
  readonly report: string;
  readonly ops: Ops;
}

/** Makes a backend of tfjs current and checks that it can add. @throws BackendUnavailable */
export async function useBackend(name: string): Promise<void> {
  const isSet = await tf.setBackend(name);
  if (!isSet || (await addOnePlusTwo()) !== 3) throw new BackendUnavailable(`tfjs's backend ${name} did not start`);
}

async function addOnePlusTwo(): Promise<number | undefined> {
  const sum = tf.add(1, 2);
  const [value] = await sum.data<'float32'>();
  sum.dispose();
  return value;
}

export const toGib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
