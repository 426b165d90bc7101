/** A report's data as a quickstart leaves it: noisy curves, three policies, real pictures. Made from a seed. */
import { createRng, hash64 } from '../../schemas/seed.ts';
import { FAMILIES, type Level, type Split } from '../../schemas/task.ts';
import { parseCompletion } from '../../server/canvas/parse.ts';
import { applyActions } from '../../server/canvas/apply.ts';
import { EMPTY_CANVAS } from '../../schemas/canvas.ts';
import { toSvg } from '../../server/render/svg.ts';
import { createScriptedTeacher } from '../../trainer/teacher/scripted.ts';
import type { Curve, Drawing, Example, ReportData } from '../../trainer/report/data.ts';
import { eachPreset, taskMeans, type PolicyEvaluation, type ScoredEpisode } from '../../trainer/evaluate.ts';
import { summarise, type EvaluationSummary } from '../../trainer/summary.ts';
import { taskAt } from '../../server/tasks/suite.ts';

const rng = createRng(hash64('report.data', 1));
const noise = (size: number): number => (rng.next() + rng.next() + rng.next() - 1.5) * size;

function curve(stage: string, name: string, steps: number, at: (share: number) => number, every = 1): Curve {
  const points = Array.from({ length: steps }, (_, i) => ({
    optimizer_step: every * (i + 1),
    value: at(i / (steps - 1)),
  }));
  return { stage, name, points };
}

/** A value that moves from `start` to `end`, fast at first. */
function towards(start: number, end: number, share: number): number {
  return end + (start - end) * Math.exp(-4 * share);
}

/** A policy that earns about `from` on each task of a split, in four answers to each. */
function played(policy: string, split: Split, from: number, spread: number): PolicyEvaluation {
  const value = (): number => Math.min(1, Math.max(0, from + noise(spread)));
  const episodes = FAMILIES.flatMap((family) =>
    Array.from({ length: 24 }, (_, i): ScoredEpisode => {
      const rewards = eachPreset(value);
      const held_out = { path_f1: value(), graph_edit_similarity: value(), renamed_reward: value() };
      const parse = rng.next() < 0.98 ? 1 : 0.5;
      const episode = { task_id: `${split}.${family}.${1 + ((i >> 2) % 3)}.${i >> 2}`, member: i % 4 };
      const said = { answer: '', finish_reason: 'stop' };
      return {
        ...episode,
        ...said,
        reward: rewards.graded,
        components: { parse, schema: 1, render: 1 },
        rewards,
        held_out,
      };
    }),
  );
  return { policy, episodes, rewards: eachPreset((preset) => taskMeans(episodes, (each) => each.rewards[preset])) };
}

function evaluationOf(splits: readonly Split[]): EvaluationSummary {
  const means = { teacher: [0.94, 0.08], sft: [0.74, 0.3], 'rl-150': [0.83, 0.25] } as const;
  const evaluations = splits.map((split, i) => ({
    ...{ split, levels: [1, 2, 3] as Level[] },
    policies: Object.entries(means).map(([policy, [from, spread]]) => played(policy, split, from - 0.06 * i, spread)),
  }));
  return summarise(evaluations, 0.9);
}

function draw(completion: string): string {
  const parsed = parseCompletion(completion, { style: 'lenient', max_actions: 200 });
  const start = { canvas: EMPTY_CANVAS, selected: [] };
  return toSvg(applyActions(parsed.actions ?? [], start, { action_set: 'core' }).canvas);
}

function drawing(policy: string, said: string, reward: number): Drawing {
  const lost = 1 - reward;
  const missing = 'These are missing: "Payment", "Audit log".';
  const reasons = [
    { component: 'node', code: 'missing_nodes', message: missing, lost: lost / 2 },
    { component: 'edge', code: 'missing_edges', message: 'No arrow goes from "Cart" to "Payment".', lost: lost / 3 },
    { component: 'align', code: 'not_aligned', message: 'Put "Cart" in one row with another shape.', lost: lost / 9 },
  ];
  const errors = [{ code: 'unknown_shape', message: 'action 4: no shape has the id "Paymnet"', index: 4 }];
  return {
    ...{ policy, svg: draw(said), reward, said, is_cut: reward < 0.2 },
    ...{ reasons: reward > 0.99 ? [] : reasons, errors: reward < 0.3 ? errors : [] },
  };
}

function example(index: number, rewards: Readonly<Record<string, number>>): Example {
  const task = taskAt({ split: 'test_iid', family: index % 2 === 0 ? 'pipeline' : 'flowchart', level: 2, index });
  const teacher = createScriptedTeacher(createRng(hash64('report', index)), { flaw_rate: 1 });
  const answers = teacher.propose({ prompt: task.prompt, canvas_size: task.canvas }, 3);
  const drawings = Object.entries(rewards).map(([policy, reward], i) => drawing(policy, answers[i % 3]!, reward));
  return { task_id: task.task_id, prompt: task.prompt, drawings };
}

const COMPONENTS = [
  ...['parse', 'schema', 'render', 'node', 'edge', 'edge_label', 'overlap', 'text_fit', 'crossings', 'align'],
  ...['stuffing', 'taste'],
];

export function reportData(): ReportData {
  return {
    run: {
      run_id: 'quickstart-20260530-141207',
      command: 'quickstart',
      status: 'done',
      started_at: '2026-05-30T14:12:07.000Z',
      finished_at: '2026-05-30T14:17:31.000Z',
      seed: '1',
      git_commit: '8b8b4000c0ffee00c0ffee00c0ffee00c0ffee00',
    },
    stages: [
      { stage: 'teach', seconds: 6.2 },
      { stage: 'sft', seconds: 171 },
      { stage: 'reinforce', seconds: 119.4 },
      { stage: 'evaluate', seconds: 24.8 },
      { stage: 'report', seconds: 0.6 },
    ],
    evaluation: evaluationOf(['test_iid', 'test_vocab', 'test_real']),
    alarms: [
      {
        ...{ metric: 'held_out/path_f1', from_step: 80, to_step: 150 },
        ...{ reward_change: 0.04, metric_change: -0.09 },
      },
    ],
    teacher: {
      proposed: 4096,
      kept: 1911,
      mean_reward: 0.871,
      kept_reward: 0.953,
      rejected: { low_reward: 612, duplicate: 203, not_among_best: 1370 },
      examples: [10, 11, 12].map((index) => example(index, { teacher: 0.999 })),
    },
    curves: [
      curve('sft', 'loss/sft', 600, (share) => towards(4.2, 0.11, 2 * share) + Math.abs(noise(0.12))),
      curve('sft', 'validation/exact', 12, (share) => towards(0, 0.95, share), 50),
      curve('sft', 'validation/words', 12, (share) => towards(0.1, 0.99, 2 * share), 50),
      curve('sft', 'optim/lr', 600, (share) => 0.003 * (1 - share)),
      curve('reinforce', 'episode/return', 150, (share) => towards(0.72, 0.85, share) + noise(0.06)),
      curve('reinforce', 'policy/kl_k3', 150, (share) => towards(0, 0.09, share) + Math.abs(noise(0.01))),
      curve('reinforce', 'policy/entropy', 150, (share) => towards(0.31, 0.19, share) + noise(0.02)),
      curve('reinforce', 'episode/completion_tokens', 150, (share) => 46 + 6 * share + noise(3)),
      curve('reinforce', 'optim/grad_norm', 150, () => 0.6 + Math.abs(noise(0.5))),
      curve('reinforce', 'group/flat_share', 150, (share) => 0.15 + 0.2 * share + noise(0.1)),
      curve('reinforce', 'stop/max_tokens', 150, (share) => Math.max(0, 0.02 - 0.02 * share + noise(0.01))),
      curve('reinforce', 'time/rollout_s', 150, () => 0.45 + noise(0.08)),
      curve('reinforce', 'time/train_s', 150, () => 0.32 + noise(0.05)),
      curve('reinforce', 'time/sample_s', 150, () => 0.31 + noise(0.08)),
      curve('reinforce', 'policy/kl_k1', 150, (share) => towards(0, 0.08, share) + noise(0.02)),
      curve('reinforce', 'policy/logprob_difference', 150, () => 1e-6 + Math.abs(noise(1e-6))),
      curve('reinforce', 'optim/lr_factor', 150, (share) => 1 - share),
      curve('reinforce', 'validation/graded', 15, (share) => towards(0.7, 0.82, share) + noise(0.02), 10),
      curve('reinforce', 'validation/weak', 15, (share) => towards(0.9, 0.99, share) + noise(0.01), 10),
      curve('reinforce', 'held_out/renamed_reward', 15, (share) => towards(0.66, 0.78, share) + noise(0.02), 10),
      curve('reinforce', 'held_out/path_f1', 15, (share) => 0.8 - 0.15 * share + noise(0.02), 10),
      curve('reinforce', 'held_out/graph_edit_similarity', 15, (share) => 0.75 + 0.1 * share + noise(0.02), 10),
      ...COMPONENTS.map((name, i) =>
        curve('reinforce', `reward/${name}`, 150, (share) =>
          Math.min(1, towards(0.5 + 0.03 * i, 0.75 + 0.02 * i, share) + noise(0.05)),
        ),
      ),
    ],
    strip: [
      {
        ...example(13, { 'rl-0': 0.41, 'rl-30': 0.6, 'rl-90': 0.8, 'rl-120': 0.9, 'rl-150': 0.97 }),
        change: 0.56,
      },
      {
        ...example(14, { 'rl-0': 0.7, 'rl-30': 0.72, 'rl-90': 0.5, 'rl-120': 0.1, 'rl-150': 0.02 }),
        change: -0.68,
      },
    ],
    comparisons: [1, 2, 3].map((index) => example(index, { teacher: 0.96, sft: 0.61, 'rl-150': 0.88 })),
    best: [4, 5, 6].map((index, i) => example(index, { sft: 0.72, 'rl-150': 1 - 0.004 * i })),
    worst: [7, 8, 9].map((index, i) => {
      const { drawings, ...task } = example(index, { sft: 0.4, 'rl-150': 0.12 * i });
      return { ...task, drawings: drawings.map((each) => (each.reward === 0 ? { ...each, svg: undefined } : each)) };
    }),
    settings: {
      seed: 1,
      backend: 'wasm',
      levels: [1, 2],
      sft_steps: 600,
      rl_steps: 150,
      group_size: 8,
      learning_rate: 0.003,
      kl_beta: 0.02,
      baseline: 'leave_one_out',
      temperature: 1,
      reward: 'graded',
      url: 'http://127.0.0.1:40123',
    },
    repeat: ['npm run quickstart -- --seed 1', 'npx canvas-gym report quickstart-20260530-141207'],
  };
}
