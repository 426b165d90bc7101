/** Counters of one process in the Prometheus text format. Each app has its own; nothing is global. */
import { monitorEventLoopDelay } from 'node:perf_hooks';

const PREFIX = 'canvas_gym_';
/** Upper bounds of the latency buckets, seconds. */
const BUCKETS_S = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5];

interface Latency {
  buckets: number[];
  sum: number;
  count: number;
}

export interface Metrics {
  /** One answered request. `route` is the path of the table, or `unknown`. */
  countRequest(route: string, method: string, status: number, seconds: number): void;
  countCompletions(preset: string, count: number): void;
  /** A number that is looked up each time it is asked for. */
  watch(name: string, help: string, read: () => number): void;
  /** The text of `GET /metrics`. */
  toText(): string;
  close(): void;
}

type Family = readonly [name: string, type: 'counter' | 'gauge' | 'histogram', help: string, lines: readonly string[]];

function familyText([name, type, help, lines]: Family): string {
  return [`# HELP ${PREFIX}${name} ${help}`, `# TYPE ${PREFIX}${name} ${type}`, ...lines, ''].join('\n');
}

function counterLines(name: string, counts: ReadonlyMap<string, number>): string[] {
  return [...counts].map(([labels, count]) => `${PREFIX}${name}{${labels}} ${count}`);
}

function latencyLines(name: string, latencies: ReadonlyMap<string, Latency>): string[] {
  return [...latencies].flatMap(([labels, { buckets, sum, count }]) => [
    ...BUCKETS_S.map((bound, i) => `${PREFIX}${name}_bucket{${labels},le="${bound}"} ${buckets[i]}`),
    `${PREFIX}${name}_bucket{${labels},le="+Inf"} ${count}`,
    `${PREFIX}${name}_sum{${labels}} ${sum}`,
    `${PREFIX}${name}_count{${labels}} ${count}`,
  ]);
}

function observe(latency: Latency, seconds: number): void {
  latency.sum += seconds;
  latency.count += 1;
  for (let i = BUCKETS_S.length - 1; i >= 0 && seconds <= BUCKETS_S[i]!; i--) latency.buckets[i]! += 1;
}

function emptyLatency(): Latency {
  return { buckets: BUCKETS_S.map(() => 0), sum: 0, count: 0 };
}

function upsert<V>(map: Map<string, V>, key: string, create: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const value = create();
  map.set(key, value);
  return value;
}

export function createMetrics(): Metrics {
  const requests = new Map<string, number>();
  const completions = new Map<string, number>();
  const latencies = new Map<string, Latency>();
  const watched: (() => Family)[] = [];
  const loop = monitorEventLoopDelay({ resolution: 20 });
  loop.enable();
  const add = (map: Map<string, number>, key: string, count: number): void => {
    map.set(key, (map.get(key) ?? 0) + count);
  };
  const gauge = (name: string, help: string, value: number): Family => [
    name,
    'gauge',
    help,
    [`${PREFIX}${name} ${value}`],
  ];
  return {
    countRequest(route, method, status, seconds) {
      add(requests, `route="${route}",method="${method}",status="${status}"`, 1);
      observe(upsert(latencies, `route="${route}"`, emptyLatency), seconds);
    },
    countCompletions(preset, count) {
      add(completions, `preset="${preset}"`, count);
    },
    watch(name, help, read) {
      watched.push(() => gauge(name, help, read()));
    },
    toText() {
      const { user, system } = process.cpuUsage();
      const cpu = (user + system) / 1e6;
      const families: Family[] = [
        ['requests_total', 'counter', 'Requests answered.', counterLines('requests_total', requests)],
        ['request_seconds', 'histogram', 'Time to answer, seconds.', latencyLines('request_seconds', latencies)],
        ['completions_total', 'counter', 'Completions scored.', counterLines('completions_total', completions)],
        ['process_cpu_seconds_total', 'counter', 'CPU time, seconds.', [`${PREFIX}process_cpu_seconds_total ${cpu}`]],
        gauge('process_resident_bytes', 'Resident memory, bytes.', process.memoryUsage.rss()),
        gauge('event_loop_delay_p99_seconds', 'Event loop delay, 99th percentile.', loop.percentile(99) / 1e9),
        gauge('process_pid', 'Process id: which worker answered.', process.pid),
        ...watched.map((read) => read()),
      ];
      return families.map(familyText).join('');
    },
    close() {
      loop.disable();
    },
  };
}
