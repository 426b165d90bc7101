/** Settings of `canvas-gym serve`. */
import { z } from 'zod';

const seconds = (value: number, description: string) =>
  z.number().positive().max(86_400).default(value).meta({ description, unit: 'seconds' });
const bytes = (value: number, description: string) =>
  z
    .number()
    .int()
    .min(1024)
    .max(2 ** 30)
    .default(value)
    .meta({ description, unit: 'bytes' });

const places = (value: number, description: string) =>
  z.number().int().min(1).max(1_000_000).default(value).meta({ description, unit: 'places' });

export const ServerSettings = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('Address to listen at; 0.0.0.0 for every interface'),
  port: z.number().int().min(0).max(65_535).default(8000).describe('Port to listen at; 0 takes a free one'),
  workers: z
    .number()
    .int()
    .min(1)
    .max(256)
    .default(1)
    .meta({ description: 'Processes that share the port', unit: 'processes' }),
  score_threads: z.number().int().min(0).max(64).optional().meta({
    description:
      'Threads for large batches of /score, /get_reward and /fai_rl, in each process; default one a core, at most 8',
    unit: 'threads',
  }),
  secret: z.string().min(8).optional().meta({
    description: 'Signs the states, so that a changed one is refused; the same for all replicas',
    secret: true,
  }),
  max_body: bytes(2 ** 20, 'Largest request body, where --max-batch-body is not meant'),
  max_batch_body: bytes(
    32 * 2 ** 20,
    "Largest request body of batches and rollouts: /score, /get_reward, /fai_rl and NeMo Gym's; each process holds four of them, or more of smaller ones, and answers 503 beyond",
  ),
  max_connections: z
    .number()
    .int()
    .min(1)
    .max(1_000_000)
    .default(8192)
    .meta({ description: 'Connections open at a time, in each process', unit: 'connections' }),
  max_sockets: places(4096, 'Web sockets open at a time, in each process; fewer than --max-connections'),
  max_frame: bytes(2 ** 20, 'Largest frame of a web socket'),
  socket_ping_interval: seconds(30, 'Time between pings of a web socket; one that answered none is closed'),
  socket_idle_timeout: seconds(3600, 'Time without a frame after which a web socket is closed'),
  max_sessions: places(
    4096,
    'Sessions at a time over all workers: so many of MCP and OpenEnv tool clients, so many of ORS, so many rollouts of NeMo Gym',
  ),
  session_idle_timeout: seconds(3600, 'Time after which a session of any protocol that is not used is dropped'),
  ors_train_tasks: z.number().int().min(1).max(1_000_000).default(4096).meta({
    description: 'Tasks of the split train that ORS clients see; the suite has billions, and clients list them all',
    unit: 'tasks',
  }),
  request_timeout: seconds(30, 'Time a request may take to come in'),
  shutdown_timeout: seconds(5, 'Time that running requests get after SIGTERM'),
});
export type ServerSettings = z.output<typeof ServerSettings>;
