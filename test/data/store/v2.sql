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
  episode_return REAL CHECK (episode_return BETWEEN -1.7e308 AND 1.7e308),
  episode_length INTEGER NOT NULL,
  stop_reason TEXT NOT NULL,
  terminated INTEGER NOT NULL CHECK (terminated IN (0, 1)),
  truncated INTEGER NOT NULL CHECK (truncated IN (0, 1)),
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
  reward REAL CHECK (reward BETWEEN -1.7e308 AND 1.7e308),
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
  value REAL NOT NULL CHECK (value BETWEEN -1.7e308 AND 1.7e308),
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
  reward REAL CHECK (reward BETWEEN -1.7e308 AND 1.7e308),
  components TEXT NOT NULL,
  errors TEXT NOT NULL,
  accepted INTEGER NOT NULL CHECK (accepted IN (0, 1)),
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
  score REAL CHECK (score BETWEEN -1.7e308 AND 1.7e308),
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
  score REAL NOT NULL CHECK (score BETWEEN -1.7e308 AND 1.7e308),
  comment TEXT,
  created_at TEXT NOT NULL,
  UNIQUE (episode_id, turn, reviewer, rubric_version)
) STRICT;
CREATE VIEW worst_episodes AS
  SELECT e.*, s.action, s.errors, s.canvas, s.components, s.reasons
  FROM episodes e LEFT JOIN steps s ON s.episode_id = e.episode_id AND s.turn = e.episode_length - 1
  WHERE e.run_id = (SELECT run_id FROM last_run) AND e.episode_return IS NOT NULL
  ORDER BY e.episode_return, e.episode_id;
CREATE VIEW step_components AS
  SELECT e.run_id, e.stage, e.policy_version, e.optimizer_step, e.task_id, e.split, e.family, e.level,
         e.reward_preset, s.episode_id, s.turn, s.reward, c.key AS component, c.value AS value
  FROM steps s JOIN episodes e USING (episode_id), json_each(s.components) c;
CREATE VIEW step_errors AS
  SELECT e.run_id, e.stage, e.policy_version, e.optimizer_step, e.task_id, s.episode_id, s.turn,
         c.value ->> 'code' AS code, c.value ->> 'message' AS message
  FROM steps s JOIN episodes e USING (episode_id), json_each(s.errors) c;
CREATE VIEW episode_groups AS
  SELECT run_id, stage, policy_version, optimizer_step, reward_preset, group_id, task_id, count(*) AS group_size,
         avg(episode_return) AS mean_return, min(episode_return) AS min_return, max(episode_return) AS max_return,
         min(episode_return) = max(episode_return) AS no_variance
  FROM episodes GROUP BY run_id, stage, optimizer_step, policy_version, reward_preset, group_id;
CREATE VIEW teacher_acceptance AS
  SELECT run_id, provider, model, count(*) AS samples, sum(accepted) AS accepted, avg(accepted) AS rate,
         avg(reward) AS mean_reward
  FROM teacher_samples GROUP BY run_id, provider, model;
CREATE VIEW last_run AS
  SELECT * FROM runs
  ORDER BY EXISTS (SELECT 1 FROM episodes e WHERE e.run_id = runs.run_id) DESC, started_at DESC, rowid DESC LIMIT 1;
CREATE VIEW last_runs AS
  SELECT stage, run_id FROM (
    SELECT s.stage, s.run_id, row_number() OVER (PARTITION BY s.stage ORDER BY r.started_at DESC, r.rowid DESC) AS place
    FROM (
      SELECT run_id, 'teach' AS stage FROM teacher_samples
      UNION SELECT run_id, stage FROM episodes
      UNION SELECT run_id, stage FROM metrics WHERE name <> 'time/stage_s'
    ) s JOIN runs r USING (run_id)
  ) WHERE place = 1;
INSERT INTO schema_version VALUES (1,'2026-11-30T22:01:12.954Z');
INSERT INTO schema_version VALUES (2,'2026-11-30T22:01:12.955Z');
INSERT INTO runs VALUES ('sft-20260530-141207','sft','done','7','{"group_size":8}',NULL,'2026-11-30T22:01:12.982Z','2026-11-30T22:01:12.990Z','{"mean_reward":0.5}');
INSERT INTO images VALUES (1,'0f4636c78f65d3639ece5a064b5ae753e3408614a14fb18ab4d7540d2c248543','image/png',X'89504E47');
INSERT INTO episodes VALUES (1,'sft-20260530-141207','reinforce','train.pipeline.1.0','train','pipeline',1,'Draw a client.',NULL,'18446744073709551615','sft',1,'0',0,'graded',1,0.0,2,'submitted',1,0);
INSERT INTO episodes VALUES (2,'sft-20260530-141207','reinforce','train.pipeline.1.1','train','pipeline',1,'Draw a client.',NULL,'18446744073709551615','sft',1,'0',1,'graded',1,0.0001,2,'submitted',1,0);
INSERT INTO episodes VALUES (3,'sft-20260530-141207','reinforce','train.pipeline.1.2','train','pipeline',1,'Draw a client.',NULL,'18446744073709551615','sft',1,'0',2,'graded',1,0.0002,2,'submitted',1,0);
INSERT INTO steps VALUES (1,0,'{"prompt":"Draw a client.","task_id":"train.pipeline.1.0","turn":0,"max_turns":1,"canvas_size":{"w":1200,"h":800},"canvas":{"shapes":[],"arrows":[]},"selected":[],"errors":[],"applied":0,"rejected":0,"lints":[],"reward_components":{},"total_reward":0}','a␀b','"a\u0000b"',NULL,'[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[]','[]','{"shapes":[{"id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}],"arrows":[]}',0.5,'{"node":1,"edge":0}','[]',NULL,NULL,NULL,NULL);
INSERT INTO steps VALUES (1,1,'{"prompt":"Draw a client.","task_id":"train.pipeline.1.0","turn":0,"max_turns":1,"canvas_size":{"w":1200,"h":800},"canvas":{"shapes":[],"arrows":[]},"selected":[],"errors":[],"applied":0,"rejected":0,"lints":[],"reward_components":{},"total_reward":0}','{"actions":[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]}',NULL,NULL,'[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[]','[]','{"shapes":[{"id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}],"arrows":[]}',0.5,'{"node":1,"edge":0}','[]',X'0100000002000000',X'0300000004000000',X'000000000000D0BF000000000000E0BF',1);
INSERT INTO steps VALUES (2,0,'{"prompt":"Draw a client.","task_id":"train.pipeline.1.0","turn":0,"max_turns":1,"canvas_size":{"w":1200,"h":800},"canvas":{"shapes":[],"arrows":[]},"selected":[],"errors":[],"applied":0,"rejected":0,"lints":[],"reward_components":{},"total_reward":0}','a␀b','"a\u0000b"',NULL,'[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[]','[]','{"shapes":[{"id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}],"arrows":[]}',0.5,'{"node":1,"edge":0}','[]',NULL,NULL,NULL,NULL);
INSERT INTO steps VALUES (2,1,'{"prompt":"Draw a client.","task_id":"train.pipeline.1.0","turn":0,"max_turns":1,"canvas_size":{"w":1200,"h":800},"canvas":{"shapes":[],"arrows":[]},"selected":[],"errors":[],"applied":0,"rejected":0,"lints":[],"reward_components":{},"total_reward":0}','{"actions":[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]}',NULL,NULL,'[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[]','[]','{"shapes":[{"id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}],"arrows":[]}',0.5,'{"node":1,"edge":0}','[]',X'0100000002000000',X'0300000004000000',X'000000000000D0BF000000000000E0BF',1);
INSERT INTO steps VALUES (3,0,'{"prompt":"Draw a client.","task_id":"train.pipeline.1.0","turn":0,"max_turns":1,"canvas_size":{"w":1200,"h":800},"canvas":{"shapes":[],"arrows":[]},"selected":[],"errors":[],"applied":0,"rejected":0,"lints":[],"reward_components":{},"total_reward":0}','a␀b','"a\u0000b"',NULL,'[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[]','[]','{"shapes":[{"id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}],"arrows":[]}',0.5,'{"node":1,"edge":0}','[]',NULL,NULL,NULL,NULL);
INSERT INTO steps VALUES (3,1,'{"prompt":"Draw a client.","task_id":"train.pipeline.1.0","turn":0,"max_turns":1,"canvas_size":{"w":1200,"h":800},"canvas":{"shapes":[],"arrows":[]},"selected":[],"errors":[],"applied":0,"rejected":0,"lints":[],"reward_components":{},"total_reward":0}','{"actions":[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]}',NULL,NULL,'[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[{"type":"create_shape","id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}]','[]','[]','{"shapes":[{"id":"a","shape":"rectangle","x":40,"y":40,"w":160,"h":80,"text":"Client"}],"arrows":[]}',0.5,'{"node":1,"edge":0}','[]',X'0100000002000000',X'0300000004000000',X'000000000000D0BF000000000000E0BF',1);
INSERT INTO metrics VALUES ('sft-20260530-141207','reinforce','episode/return',1,0.5);
INSERT INTO teacher_samples VALUES (1,'sft-20260530-141207','train.pipeline.1.0','Draw a client.',NULL,'scripted','dagre',0,'{"actions":[]}',NULL,'graded',0.9,'{"node":1}','[]',0,'low_reward');
INSERT INTO teacher_samples VALUES (2,'sft-20260530-141207','train.pipeline.1.1','Draw a client.',NULL,'scripted','dagre',0,'{"actions":[]}',NULL,'graded',0.9,'{"node":1}','[]',1,NULL);
PRAGMA application_id = 1128757613;
PRAGMA user_version = 2;
