/**
 * score_batch64: completions a second through `POST /score`, in batches of 64, preset `article`, one server process.
 *
 * Compared with the same rules in plain Python without any HTTP (`article.py`), which is what a trainer would otherwise call
 * in process. Rounds of the two alternate, since absolute figures drift on a shared machine; medians are compared.
 */
import { bodyOf, Connection, load, postRequest } from './load.ts';
import { runJson, startCompiled } from '../tools/processes.ts';
import { median, row, type Row } from './rows.ts';
import { assertRewards, benchVectors, VECTORS_PATH, type Vector } from './vectors.ts';

const BATCH = 64;
const CONNECTIONS = 4;

/** Batches that together hold each vector equally often. */
function batches(vectors: readonly Vector[]): Vector[][] {
  const count = vectors.length / greatestCommonDivisor(vectors.length, BATCH);
  return Array.from({ length: count }, (_, b) =>
    Array.from({ length: BATCH }, (_, i) => vectors[(b * BATCH + i) % vectors.length]!),
  );
}

const greatestCommonDivisor = (a: number, b: number): number => (b === 0 ? a : greatestCommonDivisor(b, a % b));

const request = (batch: readonly Vector[]): Buffer =>
  postRequest('/score', {
    prompts: batch.map(({ prompt }) => prompt),
    completions: batch.map(({ completion }) => completion),
    reward: 'article',
  });

async function checkAnswers(port: number, all: readonly (readonly Vector[])[]): Promise<void> {
  const connection = await Connection.open(port);
  for (const batch of all) {
    const { rewards } = bodyOf(await connection.ask(request(batch))) as { rewards: (number | null)[] };
    assertRewards('POST /score', rewards, batch);
  }
  connection.close();
}

/** Completions a second of the Python twin, which first checks itself against the vectors. */
async function pythonRate(seconds: number): Promise<number> {
  const args = ['test/bench/article.py', 'rate', VECTORS_PATH, String(seconds)];
  const result = (await runJson('python3', args)) as { completions_per_s: number };
  return result.completions_per_s;
}

export async function scoreBatch64(options: { rounds: number; seconds: number }): Promise<Row[]> {
  const all = batches(benchVectors());
  const requests = all.map(request);
  const server = await startCompiled();
  const [ours, python, cpu]: [number[], number[], number[]] = [[], [], []];
  try {
    await checkAnswers(server.port, all);
    for (let round = 0; round < options.rounds; round++) {
      python.push(await pythonRate(options.seconds));
      const result = await load({
        port: server.port,
        requests,
        connections: CONNECTIONS,
        warm_s: 1,
        seconds: options.seconds,
      });
      if (result.refused > 0) throw new Error(`POST /score refused ${result.refused} requests`);
      ours.push(result.per_s * BATCH);
      cpu.push(result.client_cpu);
    }
  } finally {
    await server.stop();
  }
  const note = `plain Python in process; load generator used ${Math.round(median(cpu) * 100)} % of a core`;
  return [row('score_batch64', median(ours), 'completions/s', median(python), note)];
}
