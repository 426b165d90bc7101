/** Mermaid and Graphviz files as tasks. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toTask, type Graph } from '../../clients/cli/import/graph.ts';
import { readGraphviz } from '../../clients/cli/import/graphviz.ts';
import { readMermaid } from '../../clients/cli/import/mermaid.ts';
import { InlineTask } from '../../schemas/task.ts';
import { applyActions } from '../../server/canvas/apply.ts';
import { toMermaid } from '../../server/render/mermaid.ts';
import { solve } from '../../server/tasks/solver.ts';
import { taskAt } from '../../server/tasks/suite.ts';
import { FAMILIES } from '../../schemas/task.ts';
import { runCli } from './command-line.ts';
import { temporaryFolder } from '../tools/temporary-folder.ts';

/** `A=Web (client)` and `A->B:label` (`--` undirected), to compare by. */
function toWords({ nodes, edges }: Graph): string[] {
  return [
    ...[...nodes].map(([id, { label, shape }]) => `${id}=${label}${shape ? ` ${shape}` : ''}`),
    ...edges.map(({ from, to, label, directed }) => `${from}${directed ? '->' : '--'}${to}${label && `:${label}`}`),
  ];
}

describe('Mermaid', () => {
  const read = (...lines: string[]): string[] => toWords(readMermaid(['flowchart LR', ...lines].join('\n')));

  test.each([
    ['a box by its id', 'A', ['A=A']],
    ['brackets', 'A[Web] --> B(Round)', ['A=Web', 'B=Round', 'A->B']],
    ['quotes around brackets', 'A["Web (client); [1]"]', ['A=Web (client); [1]']],
    [
      'ellipses and diamonds',
      'A([x]) --> B((y)) --> C{z}',
      ['A=x ellipse', 'B=y ellipse', 'C=z diamond', 'A->B', 'B->C'],
    ],
    [
      'other brackets',
      'A[(db)] --> B[[sub]] --> C{{hex}} --> D[/par/] --> E>flag]',
      ['A=db', 'B=sub', 'C=hex', 'D=par', 'E=flag', 'A->B', 'B->C', 'C->D', 'D->E'],
    ],
    ['a text after the line', 'A -->|yes| B', ['A=A', 'B=B', 'A->B:yes']],
    ['a text in the line', 'A -- yes, "sir" --> B', ['A=A', 'B=B', 'A->B:yes, "sir"']],
    [
      'dotted and thick lines',
      'A -.-> B ==> C -. d .-> D == t ==> E',
      ['A=A', 'B=B', 'C=C', 'D=D', 'E=E', 'A->B', 'B->C', 'C->D:d', 'D->E:t'],
    ],
    ['lines without a head', 'A --- B -- x --- C', ['A=A', 'B=B', 'C=C', 'A--B', 'B--C:x']],
    ['other heads', 'A --x B --o C <--> D', ['A=A', 'B=B', 'C=C', 'D=D', 'A->B', 'B->C', 'C--D']],
    ['longer lines', 'A ----> B', ['A=A', 'B=B', 'A->B']],
    ['no spaces', 'A-->B-->C', ['A=A', 'B=B', 'C=C', 'A->B', 'B->C']],
    ['groups', 'A & B --> C & D', ['A=A', 'B=B', 'C=C', 'D=D', 'A->C', 'A->D', 'B->C', 'B->D']],
    ['a label given later', 'A --> B; B[Late]', ['A=A', 'B=Late', 'A->B']],
    ['invisible lines', 'A ~~~ B', ['A=A', 'B=B']],
    ['ids with signs, and other scripts', 'a-b.c --> 数据["数据 库"]', ['a-b.c=a-b.c', '数据=数据 库', 'a-b.c->数据']],
    ['line breaks and entities', 'A["a<br/>b #quot;c#quot; #35;1 &amp; #9829;"]', ['A=a b "c" #1 & ♥']],
    ['classes', 'A:::big --> B["x"]:::small', ['A=A', 'B=x', 'A->B']],
    ['two arrows between the same boxes', 'A --> B --> A', ['A=A', 'B=B', 'A->B', 'B->A']],
  ])('reads %s', (_, line, words) => {
    expect(read(line)).toEqual(words);
  });

  test('looks into subgraphs and past styles and comments', () => {
    const lines = [
      'subgraph one [Group one]',
      '  direction TB',
      '  A --> B',
      'end',
      'style A fill:#f9f',
      'classDef big font-size:20px',
      '%% A --> C',
      'click A "https://example.org"',
    ];
    expect(read(...lines)).toEqual(['A=A', 'B=B', 'A->B']);
  });

  test('takes title and direction', () => {
    const graph = readMermaid('---\ntitle: "Order flow"\n---\n\ngraph BT\r\n  A --> B\r\n');
    expect(graph).toMatchObject({ title: 'Order flow', direction: 'up' });
  });

  test.each([
    ['another kind of diagram', 'sequenceDiagram\n  A->>B: hi', /line 1: only flowcharts/],
    ['a broken link', 'graph TD\n  A --> B\n  A -> B', /line 3: expected a link at "-> B"/],
    ['a link to nothing', 'graph TD\n  A -->', /line 2: expected a box/],
  ])('refuses %s by its line', (_, text, message) => {
    expect(() => readMermaid(text)).toThrow(message);
  });

  test('reads back what the server exports: the solution of a task of every family and level', () => {
    const tasks = FAMILIES.flatMap((family) => {
      const split = family === 'timeline' || family === 'comparison' ? 'test_family' : 'train';
      return ([1, 2, 3, 4] as const).map((level) => taskAt({ split, family, level, index: 1 }));
    });
    for (const task of tasks) {
      const start = { canvas: { shapes: [], arrows: [] }, selected: [] };
      const { canvas } = applyActions(solve(task), start, { action_set: 'core' });
      const { nodes, edges } = readMermaid(toMermaid(canvas));
      const labels = canvas.shapes.map(({ text }) => text.replace(/\s+/g, ' ').trim());
      expect([...nodes.values()].map(({ label }) => label)).toEqual(labels);
      const names = new Map(canvas.shapes.map(({ id }, i) => [id, `n${i + 1}`]));
      const arrows = canvas.arrows.map(({ from, to, text }) => ({
        from: names.get(from),
        to: names.get(to),
        label: text,
        directed: true,
      }));
      expect(edges).toEqual(arrows);
    }
  });
});

describe('Graphviz', () => {
  test.each([
    ['nodes and edges', 'digraph { a -> b -> c; d }', ['a=a', 'b=b', 'c=c', 'd=d', 'a->b', 'b->c']],
    ['an undirected graph', 'graph { a -- b [label=x] }', ['a=a', 'b=b', 'a--b:x']],
    [
      'labels with line breaks and the name',
      String.raw`digraph { a [label="A\nB"]; b [label="node \N"] }`,
      ['a=A B', 'b=node b'],
    ],
    ['HTML labels and entities', 'digraph { a [label=<<b>Bold</b><br/>x &amp; y>] }', ['a=Bold x & y']],
    ['records', 'digraph { a [shape=record label="<f0> left|{mid|right}"] }', ['a=left mid right']],
    [
      'shapes, and their defaults by scope',
      'digraph { node [shape=diamond]; a; subgraph cluster_x { node [shape=circle]; b }; c; d [shape=box] }',
      ['a=a diamond', 'b=b ellipse', 'c=c diamond', 'd=d'],
    ],
    ['groups', 'digraph { a -> {b c} [label=x] }', ['a=a', 'b=b', 'c=c', 'a->b:x', 'a->c:x']],
    [
      'directions of single edges',
      'digraph { a -> b [dir=back]; a -> c [dir=none] }',
      ['a=a', 'b=b', 'c=c', 'b->a', 'a--c'],
    ],
    ['ports and quoted names', 'digraph { "q q":n -> a:f0:s }', ['q q=q q', 'a=a', 'q q->a']],
    ['comments', '// x\n# y\ndigraph { /* z */ a }', ['a=a']],
  ])('reads %s', (_, text, words) => {
    expect(toWords(readGraphviz(text))).toEqual(words);
  });

  test('takes title and direction', () => {
    expect(readGraphviz('digraph { rankdir=RL; label="My graph"; a }')).toMatchObject({
      title: 'My graph',
      direction: 'left',
    });
  });

  test('refuses what is none', () => {
    const message = expect.stringMatching(/^line 2: not a Graphviz file/) as string;
    expect(() => readGraphviz('digraph {\n a -> }')).toThrow(expect.objectContaining({ code: 'import', message }));
  });
});

test('the prompt names everything that will be looked for', () => {
  const {
    prompt,
    expect: expectation,
    direction,
  } = toTask(readMermaid('flowchart LR\nA[Web] -->|HTTP| B{OK?}\nB --- C'));
  expect(prompt).toBe(
    'Draw a diagram. Boxes: "Web", "OK?" (a diamond), "C". Arrows: "Web" to "OK?" labelled "HTTP"; between "OK?" and "C". It reads from left to right.',
  );
  expect(direction).toBe('right');
  expect(expectation).toEqual({
    nodes: [
      { id: 'A', label: 'Web' },
      { id: 'B', label: 'OK?', shape: 'diamond' },
      { id: 'C', label: 'C' },
    ],
    edges: [
      { from: 'A', to: 'B', label: 'HTTP' },
      { from: 'B', to: 'C', directed: false },
    ],
  });
});

test('the command writes a task for each file, and nothing where one cannot be read', async () => {
  const cwd = temporaryFolder();
  writeFileSync(join(cwd, 'a.mmd'), 'graph LR\nA --> B');
  writeFileSync(join(cwd, 'b.GV'), 'digraph { a -> b }');
  writeFileSync(join(cwd, 'c.dot'), 'digraph {}');
  expect(await runCli(['import', 'a.mmd', 'b.GV', '--out', 'new/tasks.jsonl'], { cwd })).toEqual({
    code: 0,
    stdout: '',
    stderr: '',
  });
  const lines = readFileSync(join(cwd, 'new/tasks.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { source: string; task: unknown });
  expect(lines.map(({ source }) => source)).toEqual(['a.mmd', 'b.GV']);
  for (const { task } of lines) expect(InlineTask.safeParse(task).success).toBe(true);
  const [empty, other] = await Promise.all(
    [['a.mmd', 'c.dot'], ['new/tasks.jsonl']].map((files) => runCli(['import', ...files], { cwd })),
  );
  expect(empty).toEqual({ code: 1, stdout: '', stderr: 'canvas-gym import: c.dot: holds no box\n' });
  expect(other).toMatchObject({ code: 1, stderr: expect.stringContaining('.mmd, .mermaid, .dot, .gv') as string });
});
