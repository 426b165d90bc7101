/** Rewritten examples still belong together, ask for the same graph, and give nothing away of what is held out. */
import { describe, expect, test } from 'vitest';
import { createRng } from '../../schemas/seed.ts';
import { createClient } from '../../clients/ts/index.ts';
import { createApp } from '../../server/app.ts';
import { taskAt } from '../../server/tasks/suite.ts';
import { HELD_OUT } from '../../server/tasks/prompts/wordings.ts';
import { scoreCompletion } from '../../server/reward/score.ts';
import { createNameSource, MAX_LABEL_CHARACTERS } from '../../trainer/names.ts';
import { toFirstPrompt } from '../../trainer/prompt.ts';
import { createPromptRewording, createRewriter } from '../../trainer/reword.ts';
import { toEpisodeRecord } from '../../trainer/record.ts';
import { rollout, type Policy } from '../../trainer/rollout.ts';
import { createBatches } from '../../trainer/sft-batches.ts';
import { readPrompt } from '../../trainer/teacher/read-prompt.ts';
import { createScriptedTeacher } from '../../trainer/teacher/scripted.ts';
import { trainTokenizer } from '../../trainer/tokenizer.ts';
import { writeWording } from '../../trainer/wordings.ts';

const FAMILIES = [
  'architecture',
  'flowchart',
  'pipeline',
  'org_tree',
  'state_machine',
  'er',
  'network',
  'cycle',
] as const;
const tasks = FAMILIES.flatMap((family) =>
  ([1, 2, 3] as const).map((level) => taskAt({ split: 'train', family, level, index: 7 })),
);
const examples = tasks.map((task) => {
  const teacher = createScriptedTeacher(createRng(1n), { flaw_rate: 0 });
  const [completion] = teacher.propose({ prompt: task.prompt, canvas_size: task.canvas }, 1);
  return { prompt: toFirstPrompt(task), completion: completion! };
});

interface Drawn {
  labels: string[];
  links: [string, string][];
  texts: string[];
}

/** What a completion draws, by labels. */
function toDrawn(completion: string): Drawn {
  const { actions } = JSON.parse(completion) as { actions: Record<string, string>[] };
  const shapes = actions.filter((action) => action['type'] === 'create_shape');
  const arrows = actions.filter((action) => action['type'] === 'connect');
  return {
    labels: shapes.map((shape) => shape['text']!),
    links: arrows.map((arrow) => [arrow['from']!, arrow['to']!]),
    texts: arrows.map((arrow) => arrow['text'] ?? ''),
  };
}

const ALL = { rename_share: 1, made_up_share: 0.7 };

describe('an example under other names, in its own wording', () => {
  const rewriter = createRewriter(examples, { ...ALL, reword_share: 0 });
  test.each(tasks.map((task, i) => [task.task_id, i] as const))('%s: prompt and completion agree', (_, i) => {
    for (let seed = 0n; seed < 10n; seed++) {
      const { prompt, completion } = rewriter.rewrite(i, createRng(seed));
      const graph = readPrompt(prompt.split('\n')[0]!);
      const { labels, links } = toDrawn(completion);
      expect(new Set(labels).size).toBe(labels.length);
      if (labels.some((label) => label.includes('.'))) continue; // the teacher reads lists up to a full stop
      expect(graph?.nodes.map(({ label }) => label)).toEqual(labels);
      expect(graph?.edges.map(({ from, to }) => [labels[from], labels[to]])).toEqual(links);
      expect(labels).not.toEqual(toDrawn(examples[i]!.completion).labels);
    }
  });
});

test('its drawing earns what it did, where the task is renamed alike', () => {
  const rewriter = createRewriter(examples, { ...ALL, reword_share: 0 });
  const rewards = tasks.map((task, i) => {
    const { completion } = rewriter.rewrite(i, createRng(3n));
    const { labels } = toDrawn(completion);
    const nodes = task.expect.nodes.map((node, n) => ({ ...node, label: labels[n]! }));
    const renamed = { ...task, expect: { ...task.expect, nodes } };
    return scoreCompletion(renamed, completion, 'graded').result.reward;
  });
  expect(Math.min(...rewards)).toBeGreaterThan(0.9);
});

test('in other words, all names and labels are there, each as often as the graph says', () => {
  const rewriter = createRewriter(examples, { ...ALL, reword_share: 1 });
  const prompts = new Set<string>();
  for (const i of examples.keys()) {
    for (let seed = 0n; seed < 20n; seed++) {
      const { prompt, completion } = rewriter.rewrite(i, createRng(seed));
      prompts.add(prompt);
      const { labels, links, texts } = toDrawn(completion);
      for (const label of labels) {
        const uses = links.filter(([from]) => from === label).length;
        const targets = links.filter(([, to]) => to === label).length;
        expect(prompt.split(label).length - 1, prompt).toBeGreaterThanOrEqual(1 + targets + Math.min(1, uses));
      }
      for (const text of texts) expect(prompt).toContain(text);
    }
  }
  expect(prompts.size).toBeGreaterThan(300); // graphs of some tasks are alike
});

test('without renaming or rewording an example stays as it is; so does one that cannot be read', () => {
  const other = { prompt: 'Something else.\n', completion: 'words' };
  const rewriter = createRewriter([...examples, other], { rename_share: 0, made_up_share: 0.5, reword_share: 0 });
  for (const [i, example] of [...examples, other].entries()) {
    expect(rewriter.rewrite(i, createRng(1n))).toMatchObject(example);
  }
});

/** The literal texts of the held-out wordings that are words enough to be told from chance. */
function heldOutTexts(): string[] {
  const collect = (value: unknown): string[] =>
    typeof value === 'string' ? [value] : Object.values(value as object).flatMap(collect);
  const pieces = collect(HELD_OUT).flatMap((pattern) => pattern.split(/\{\w+\}/));
  return [...new Set(pieces.map((piece) => piece.trim()).filter((piece) => /[a-z]+ [a-z]+ [a-z]+/i.test(piece)))];
}

test('no wording that is held out is among the others', () => {
  const graph = readPrompt('Draw a pipeline with boxes: Q1, Q2, Q3. Arrows: Q1 to Q2 labelled q, Q2 to Q3.')!;
  const texts = heldOutTexts();
  expect(texts.length).toBeGreaterThan(15);
  const word = (): string => 'zzz';
  const written = Array.from({ length: 4000 }, (_, i) => {
    const direction = (['right', 'left', 'up', 'down'] as const)[i % 4]!;
    const shaped = { ...graph, direction, nodes: graph.nodes.map((node) => ({ ...node, shape: 'ellipse' as const })) };
    return writeWording(i % 2 === 0 ? graph : shaped, createRng(BigInt(i)), word);
  }).join('\n');
  expect(texts.filter((text) => written.includes(text))).toEqual([]);
});

describe('made-up names', () => {
  const source = createNameSource(['Order', 'Cart', 'Billing', 'Scheduler', 'Gateway'], { made_up_share: 1 });
  const labels = Array.from({ length: 2000 }, (_, i) => source.label(createRng(BigInt(i))));

  test('are many, and fit a box', () => {
    expect(new Set(labels).size).toBeGreaterThan(500);
    expect(Math.max(...labels.map((label) => label.length))).toBeLessThanOrEqual(MAX_LABEL_CHARACTERS);
  });

  test('hold nothing that ends a name in a prompt', () => {
    expect(labels.filter((label) => /["«»\n|;]|, |\. |^\s|\s$/.test(label))).toEqual([]);
  });

  test('follow from the stream alone, and need a word to follow', () => {
    expect(source.label(createRng(5n))).toBe(source.label(createRng(5n)));
    expect(() => createNameSource(['42'], { made_up_share: 1 })).toThrow('no word of letters');
  });
});

describe('a ramp', () => {
  const tokenizer = trainTokenizer(examples);
  const options = { ...ALL, reword_share: 1, seed: 1, batch_size: 24 };
  const takeAt = (tokens: number, ramp_tokens: number) =>
    createBatches(tokenizer, examples, { ...options, ramp_tokens }).take({ step: 1, examples: 0, tokens });
  const lengths = (batch: ReturnType<typeof takeAt>): number[] => batch.map((example) => example.completion_ids.length);
  const knownWords = new Set(examples.flatMap(({ prompt }) => prompt.match(/[A-Za-z]+/g) ?? []));

  test('begins with short examples in known words and the wordings of the tasks', () => {
    const prompts = takeAt(0, 1000).map(({ prompt_ids }) => tokenizer.decode(prompt_ids));
    expect(
      prompts.flatMap((prompt) => prompt.match(/[A-Za-z]+/g) ?? []).filter((word) => !knownWords.has(word)),
    ).toEqual([]);
    expect(Math.max(...lengths(takeAt(0, 1000)))).toBeLessThan(Math.max(...lengths(takeAt(1000, 1000))) / 2);
  });

  test('ends with all', () => {
    const prompts = takeAt(1000, 1000).map(({ prompt_ids }) => tokenizer.decode(prompt_ids));
    expect(
      prompts
        .join(' ')
        .match(/[A-Za-z]+/g)!
        .some((word) => !knownWords.has(word)),
    ).toBe(true);
  });
});

describe('a task played in other words', () => {
  const tokenizer = trainTokenizer(examples);

  test('names the same boxes; a step and a place have one wording, others have others', () => {
    const reword = createPromptRewording(tokenizer, { seed: 1, rl_reword_share: 1 });
    for (const { prompt } of tasks) {
      const texts = [0, 1, 2].flatMap((step) => [0, 1, 2].map((group) => reword(prompt, step, group)));
      expect(new Set([prompt, ...texts]).size).toBe(10);
      expect(reword(prompt, 1, 2)).toBe(texts[5]);
      for (const { label } of readPrompt(prompt)!.nodes) expect(texts.every((text) => text.includes(label))).toBe(true);
    }
  });

  test('a share of the tasks, and none that cannot be read', () => {
    const some = createPromptRewording(tokenizer, { seed: 1, rl_reword_share: 0.5 });
    const { prompt } = tasks[0]!;
    const kept = Array.from({ length: 400 }, (_, step) => some(prompt, step, 0)).filter((text) => text === prompt);
    expect(kept.length).toBeGreaterThan(150);
    expect(kept.length).toBeLessThan(250);
    expect(createPromptRewording(tokenizer, { seed: 1, rl_reword_share: 1 })('Free prose.', 0, 0)).toBe('Free prose.');
  });

  test('the policy and the log read its words; the reward is that of the task', async () => {
    const app = createApp({});
    const client = createClient({ url: 'http://in.process', fetch: (request) => app.fetch(request) });
    const seen: string[] = [];
    const policy: Policy = (observations) =>
      observations.map(({ prompt }) => {
        seen.push(prompt);
        const parts = { prompt_ids: [1], completion_ids: [2], sampled_logprobs: [-1] };
        return { text: examples[1]!.completion, finish_reason: 'stop', ...parts };
      });
    const options = { reward: 'graded', action_set: 'core', max_turns: 1, group_size: 2 } as const;
    const rewordPrompt = (_prompt: string, group: number): string => `words of group ${group}`;
    const ids = [tasks[1]!.task_id, tasks[4]!.task_id];
    const [plain] = await rollout(client, policy, ids, options);
    seen.length = 0;
    const trajectories = await rollout(client, policy, ids, { ...options, rewordPrompt });
    expect(seen).toEqual(['words of group 0', 'words of group 0', 'words of group 1', 'words of group 1']);
    expect(trajectories[0]!.episode_return).toBe(plain!.episode_return);
    expect(plain!.episode_return).toBeGreaterThan(0.9);
    const { turns } = trajectories[2]!;
    expect([turns[0]!.observation.prompt, turns[0]!.next_observation.prompt]).toEqual([seen[2], seen[2]]);
    const context = { policy_version: 'test', optimizer_step: 0, reward: 'graded' } as const;
    expect(toEpisodeRecord(trajectories[2]!, context).prompt).toBe(seen[2]);
  });
});
