/**
 * The log's schema, one numbered step after the other. A step that has been released never changes: what comes later is
 * a new step, and `test/data/store/v<n>.sql` keeps a database of every released version to migrate from.
 *
 * Conventions: JSON columns hold JSON text. Times are ISO 8601 in UTC. Numbers are finite; a reward is NULL only where
 * it could not be computed. `<column>_exact` is NULL unless the text holds what SQLite's text functions or UTF-8 would
 * lose (NUL, lone surrogates); then it is the same text as a JSON string, and `<column>` shows it with replacements.
 * Token ids are little-endian int32, log-probabilities (natural log) little-endian float64, one entry a token.
 */

/** "CGym" in ASCII: tells our databases from those of other programs (PRAGMA application_id). */
export const APPLICATION_ID = 0x4347796d;

export interface Migration {
  version: number;
  sql: string;
}

const finite = (column: string): string => `CHECK (${column} BETWEEN -1.7e308 AND 1.7e308)`;
const flag = (column: string): string => `INTEGER NOT NULL CHECK (${column} IN (0, 1))`;

const TABLES = `
CREATE TABLE schema_version (
  version INTEGER PRIMARY KEY,
  applied_at TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
  run_id TEXT NOT NULL PRIMARY KEY,
  command TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'done', 'failed', 'interrupted')),
  seed TEXT,
  config TEXT NOT NULL,
  git_commit TEXT,
  started_at TEXT NOT NULL,
  finished_at TEXT,
  summary TEXT
) STRICT;
CREATE INDEX runs_by_start ON runs (started_at);

CREATE TABLE images (
  image_id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL UNIQUE,
  media_type TEXT NOT NULL,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE episodes (
  episode_id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
  stage TEXT NOT NULL,
  task_id TEXT,
  split TEXT,
  family TEXT,
  level INTEGER,
  prompt TEXT NOT NULL,
  prompt_exact TEXT,
  seed TEXT,
  policy_version TEXT NOT NULL,
  optimizer_step INTEGER NOT NULL,
  group_id TEXT NOT NULL,
  member INTEGER NOT NULL,
  reward_preset TEXT NOT NULL,
  reward_preset_version INTEGER NOT NULL,
  episode_return REAL ${finite('episode_return')},
  episode_length INTEGER NOT NULL,
  stop_reason TEXT NOT NULL,
  terminated ${flag('terminated')},
  truncated ${flag('truncated')},
  UNIQUE (run_id, stage, optimizer_step, policy_version, reward_preset, group_id, member)
) STRICT;
CREATE INDEX episodes_by_return ON episodes (run_id, episode_return);

CREATE TABLE steps (
  episode_id INTEGER NOT NULL REFERENCES episodes ON DELETE CASCADE,
  turn INTEGER NOT NULL,
  observation TEXT NOT NULL,
  action TEXT NOT NULL,
  action_exact TEXT,
  finish_reason TEXT,
  parsed TEXT,
  applied TEXT NOT NULL,
  rejected TEXT NOT NULL,
  errors TEXT NOT NULL,
  canvas TEXT NOT NULL,
  reward REAL ${finite('reward')},
  components TEXT NOT NULL,
  reasons TEXT NOT NULL,
  prompt_ids BLOB,
  completion_ids BLOB,
  sampled_logprobs BLOB,
  image_id INTEGER REFERENCES images,
  PRIMARY KEY (episode_id, turn)
) STRICT;

CREATE TABLE metrics (
  run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
  stage TEXT NOT NULL,
  name TEXT NOT NULL,
  optimizer_step INTEGER NOT NULL,
  value REAL NOT NULL ${finite('value')},
  PRIMARY KEY (run_id, stage, name, optimizer_step)
) STRICT, WITHOUT ROWID;

CREATE TABLE teacher_samples (
  sample_id INTEGER PRIMARY KEY,
  run_id TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
  task_id TEXT NOT NULL,
  prompt TEXT NOT NULL,
  prompt_exact TEXT,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  sample INTEGER NOT NULL,
  completion TEXT NOT NULL,
  completion_exact TEXT,
  reward_preset TEXT NOT NULL,
  reward REAL ${finite('reward')},
  components TEXT NOT NULL,
  errors TEXT NOT NULL,
  accepted ${flag('accepted')},
  reject_reason TEXT,
  UNIQUE (run_id, provider, model, task_id, sample)
) STRICT;

CREATE TABLE judgments (
  judgment_id INTEGER PRIMARY KEY,
  episode_id INTEGER REFERENCES episodes ON DELETE CASCADE,
  turn INTEGER,
  image_id INTEGER NOT NULL REFERENCES images,
  cache_key TEXT NOT NULL,
  sample INTEGER NOT NULL,
  model TEXT NOT NULL,
  parameters TEXT NOT NULL,
  rubric_version INTEGER NOT NULL,
  prompt TEXT NOT NULL,
  reply TEXT,
  answers TEXT,
  score REAL ${finite('score')},
  error TEXT,
  latency_ms REAL,
  input_tokens INTEGER,
  output_tokens INTEGER,
  created_at TEXT NOT NULL,
  UNIQUE (cache_key, sample)
) STRICT;
CREATE INDEX judgments_by_episode ON judgments (episode_id);

CREATE TABLE reviews (
  review_id INTEGER PRIMARY KEY,
  episode_id INTEGER NOT NULL REFERENCES episodes ON DELETE CASCADE,
  turn INTEGER NOT NULL,
  image_id INTEGER REFERENCES images,
  reviewer TEXT NOT NULL,
  rubric_version INTEGER NOT NULL,
  answers TEXT NOT NULL,
  score REAL NOT NULL ${finite('score')},
  comment TEXT,
  created_at TEXT NOT NULL,
  UNIQUE (episode_id, turn, reviewer, rubric_version)
) STRICT;
`;

/** Views that make the common questions one SELECT. */
const VIEWS = `
CREATE VIEW last_run AS
  SELECT * FROM runs ORDER BY started_at DESC, rowid DESC LIMIT 1;

-- Episodes of the last run, worst first, with the last thing the policy said.
CREATE VIEW worst_episodes AS
  SELECT e.*, s.action, s.errors, s.canvas, s.components, s.reasons
  FROM episodes e LEFT JOIN steps s ON s.episode_id = e.episode_id AND s.turn = e.episode_length - 1
  WHERE e.run_id = (SELECT run_id FROM last_run) AND e.episode_return IS NOT NULL
  ORDER BY e.episode_return, e.episode_id;

-- One row for each component of each step's reward.
CREATE VIEW step_components AS
  SELECT e.run_id, e.stage, e.policy_version, e.optimizer_step, e.task_id, e.split, e.family, e.level,
         e.reward_preset, s.episode_id, s.turn, s.reward, c.key AS component, c.value AS value
  FROM steps s JOIN episodes e USING (episode_id), json_each(s.components) c;

-- One row for each fault of each action.
CREATE VIEW step_errors AS
  SELECT e.run_id, e.stage, e.policy_version, e.optimizer_step, e.task_id, s.episode_id, s.turn,
         c.value ->> 'code' AS code, c.value ->> 'message' AS message
  FROM steps s JOIN episodes e USING (episode_id), json_each(s.errors) c;

-- Groups of episodes of one task; a group without variance teaches nothing.
CREATE VIEW episode_groups AS
  SELECT run_id, stage, policy_version, optimizer_step, reward_preset, group_id, task_id, count(*) AS group_size,
         avg(episode_return) AS mean_return, min(episode_return) AS min_return, max(episode_return) AS max_return,
         min(episode_return) = max(episode_return) AS no_variance
  FROM episodes GROUP BY run_id, stage, optimizer_step, policy_version, reward_preset, group_id;

CREATE VIEW teacher_acceptance AS
  SELECT run_id, provider, model, count(*) AS samples, sum(accepted) AS accepted, avg(accepted) AS rate,
         avg(reward) AS mean_reward
  FROM teacher_samples GROUP BY run_id, provider, model;
`;

/** A run of one stage alone has no episodes, or no teacher samples: what is asked of the last run must be in it. */
const LAST_RUNS = `
DROP VIEW last_run;

-- The last run that has episodes; where none has any, the last run.
CREATE VIEW last_run AS
  SELECT * FROM runs
  ORDER BY EXISTS (SELECT 1 FROM episodes e WHERE e.run_id = runs.run_id) DESC, started_at DESC, rowid DESC LIMIT 1;

-- For each stage the last run that has something of it: teacher samples, episodes, metrics other than its time.
CREATE VIEW last_runs AS
  SELECT stage, run_id FROM (
    SELECT s.stage, s.run_id, row_number() OVER (PARTITION BY s.stage ORDER BY r.started_at DESC, r.rowid DESC) AS place
    FROM (
      SELECT run_id, 'teach' AS stage FROM teacher_samples
      UNION SELECT run_id, stage FROM episodes
      UNION SELECT run_id, stage FROM metrics WHERE name <> 'time/stage_s'
    ) s JOIN runs r USING (run_id)
  ) WHERE place = 1;
`;

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: TABLES + VIEWS },
  { version: 2, sql: LAST_RUNS },
];

/** Version of the schema this program writes; every exported trajectory carries it. */
export const SCHEMA_VERSION = MIGRATIONS.length;
