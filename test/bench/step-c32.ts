/**
 * step_c32: requests a second through `POST /step`, one completion a request, over 32 keep-alive connections.
 *
 * Compared with OpenEnv's own server around the same rules, in its fastest form (`openenv/server.py`), where its virtual
 * environment exists (`npm run bench:setup`): then the rounds of the two alternate. Otherwise the figure is quoted that was
 * measured on a machine of this size before, and the table says so. `step_c32_workers2` is the same with `--workers 2`, which
 * a server without sessions can do; both cores are then shared with the load generator.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../rules/files.ts';
import { bodyOf, Connection, load, postRequest, type LoadResult } from './load.ts';
import { freePort, startCompiled, startProcess, type ServerProcess } from '../tools/processes.ts';
import { median, row, type Row } from './rows.ts';
import { assertRewards, benchVectors, type Vector } from './vectors.ts';

const CONNECTIONS = 32;
const OPENENV_PYTHON = join(ROOT, '.cache/openenv/bin/python');
/** OpenEnv 0.10.0 with uvloop, httptools and an async step: requests/s, p50 and p99 (2 cores, quiet). */
const QUOTED = { per_s: 2352, p50_ms: 13, p99_ms: 28 };

type Body = (vector: Vector) => unknown;
const ourBody: Body = ({ prompt, completion }) => ({ prompt, action: completion, reward: 'article' });
const openenvBody: Body = ({ prompt, completion }) => ({ action: { prompt, completion } });

async function startOpenenv(): Promise<ServerProcess> {
  const port = await freePort();
  const args = [
    '-m',
    'uvicorn',
    'server:app',
    '--app-dir',
    'test/bench/openenv',
    '--workers',
    '1',
    '--log-level',
    'warning',
  ];
  return startProcess(OPENENV_PYTHON, [...args, '--port', String(port)], port);
}

async function checkAnswers(who: string, port: number, body: Body, vectors: readonly Vector[]): Promise<void> {
  const connection = await Connection.open(port);
  const rewards: (number | null)[] = [];
  for (const vector of vectors) {
    const answer = bodyOf(await connection.ask(postRequest('/step', body(vector)))) as { reward: number | null };
    rewards.push(answer.reward);
  }
  connection.close();
  assertRewards(who, rewards, vectors);
}

interface Side {
  who: string;
  server: ServerProcess;
  requests: Buffer[];
  results: LoadResult[];
}

async function side(who: string, server: ServerProcess, body: Body): Promise<Side> {
  const vectors = benchVectors();
  await checkAnswers(who, server.port, body, vectors);
  return { who, server, requests: vectors.map((vector) => postRequest('/step', body(vector))), results: [] };
}

async function measure({ who, server, requests, results }: Side, seconds: number): Promise<void> {
  const result = await load({ port: server.port, requests, connections: CONNECTIONS, warm_s: 1, seconds });
  if (result.refused > 0) throw new Error(`${who} refused ${result.refused} requests`);
  results.push(result);
}

const medianOf = (results: readonly LoadResult[], key: keyof LoadResult): number =>
  median(results.map((result) => result[key]));

export async function stepC32(options: { rounds: number; seconds: number }): Promise<Row[]> {
  const servers: ServerProcess[] = [];
  const start = async (who: string, server: Promise<ServerProcess>, body: Body): Promise<Side> => {
    servers.push(await server);
    return side(who, await server, body);
  };
  try {
    const ours = await start('POST /step', startCompiled(), ourBody);
    const two = await start('POST /step of two workers', startCompiled('--workers', '2'), ourBody);
    const openenv = existsSync(OPENENV_PYTHON) ? await start('OpenEnv /step', startOpenenv(), openenvBody) : undefined;
    for (let round = 0; round < options.rounds; round++) {
      for (const each of [ours, openenv, two]) if (each) await measure(each, options.seconds);
    }
    return rows(ours.results, two.results, openenv?.results);
  } finally {
    for (const server of servers) await server.stop();
  }
}

type Results = readonly LoadResult[];

function rows(ours: Results, two: Results, openenv: Results | undefined): Row[] {
  const reference = (key: keyof typeof QUOTED): number =>
    openenv === undefined ? QUOTED[key] : medianOf(openenv, key);
  const source =
    openenv === undefined ? 'QUOTED, not measured in this run: OpenEnv 0.10.0' : 'OpenEnv 0.10.0 in this run';
  const cpu = `load generator used ${Math.round(medianOf(ours, 'client_cpu') * 100)} % of a core`;
  return [
    row('step_c32', medianOf(ours, 'per_s'), 'requests/s', reference('per_s'), `${source}; ${cpu}`),
    row('step_c32_p50', medianOf(ours, 'p50_ms'), 'ms', reference('p50_ms'), source),
    row('step_c32_p99', medianOf(ours, 'p99_ms'), 'ms', reference('p99_ms'), source),
    row(
      'step_c32_workers2',
      medianOf(two, 'per_s'),
      'requests/s',
      reference('per_s'),
      `${source}, whose sessions need one process`,
    ),
  ];
}
