/** The teacher's part of a report: how much of what it proposed was kept, and the best of that. */
import type { Store, TeacherSample } from '../../clients/store/index.ts';
import type { Client } from '../../clients/ts/index.ts';
import type { Example, TeacherFacts } from './data.ts';

const KEPT = 3;

export async function loadTeacher(store: Store, client: Client, run_id: string): Promise<TeacherFacts | undefined> {
  const rows = store.query(
    `SELECT accepted, reject_reason, count(*) AS samples, coalesce(sum(reward), 0) AS reward
     FROM teacher_samples WHERE run_id = ? GROUP BY accepted, reject_reason ORDER BY reject_reason`,
    run_id,
  ) as { accepted: number; reject_reason: string | null; samples: number; reward: number }[];
  if (rows.length === 0) return undefined;
  const kept = rows.filter(({ accepted }) => accepted === 1);
  const count = (part: typeof rows): number => part.reduce((sum, { samples }) => sum + samples, 0);
  const average = (part: typeof rows): number => part.reduce((sum, { reward }) => sum + reward, 0) / count(part);
  return {
    proposed: count(rows),
    kept: count(kept),
    mean_reward: average(rows),
    kept_reward: average(kept),
    rejected: Object.fromEntries(
      rows.flatMap(({ reject_reason, samples }) => (reject_reason === null ? [] : [[reject_reason, samples]])),
    ),
    examples: await Promise.all(bestKept(store, run_id).map((sample) => toTeacherExample(client, sample))),
  };
}

/** The kept samples of highest reward, one of each family. */
function bestKept(store: Store, run_id: string): TeacherSample[] {
  const best = new Map<string | undefined, TeacherSample>();
  for (let after = 0; ;) {
    const page = store.teacherSamples({ run_id, accepted: true, after });
    for (const sample of page) {
      const family = familyOf(sample.task_id);
      if ((best.get(family)?.reward ?? -1) < (sample.reward ?? 0)) best.set(family, sample);
    }
    const end = page.at(-1);
    if (end === undefined) break;
    after = end.sample_id;
  }
  return [...best.values()].sort((a, b) => (b.reward ?? 0) - (a.reward ?? 0)).slice(0, KEPT);
}

function familyOf(task_id: string): string | undefined {
  return task_id.split('.')[1];
}

async function toTeacherExample(client: Client, sample: TeacherSample): Promise<Example> {
  const { task_id, prompt, completion: said, reward, errors } = sample;
  const picture = await client.render({ completion: said, format: 'svg' });
  const drawing = { policy: 'teacher', svg: await picture.text(), reward, said, is_cut: false, reasons: [], errors };
  return { task_id, prompt, drawings: [drawing] };
}
