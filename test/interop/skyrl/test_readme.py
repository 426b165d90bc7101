"""The README's lines for SkyRL: rows that the environment plays, and a program whose trainer needs a GPU."""

import json
from pathlib import Path

import pytest
import skyrl_gym
from readme import readme_blocks, run_python_line

from canvas_gym.skyrl import ENV_ID


def test_its_line_writes_rows_that_the_environment_plays(url: str, tmp_path: Path) -> None:
    (shell,) = readme_blocks("SkyRL", "sh")
    (line,) = [line for line in shell.splitlines() if line.startswith("python -c ")]
    run_python_line(line, tmp_path)
    rows = [json.loads(row) for row in (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 1000 and {row["env_class"] for row in rows} == {ENV_ID}
    env = skyrl_gym.make(rows[0]["env_class"], env_config={"url": url}, extras=rows[0])
    env.init(rows[0]["prompt"])
    assert env.step('{"actions": []}')["done"]


def test_its_settings_are_the_environments(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    """SkyRL hands the environment what `environment.skyrl_gym` has under its id, else {}: then the variable counts."""
    (program,) = readme_blocks("SkyRL", "python")
    assert f'"CANVAS_GYM_URL": "{url}"' in program and "import canvas_gym.skyrl" in program
    monkeypatch.setenv("CANVAS_GYM_URL", url)
    row = {"extra_info": {"task_id": "train.pipeline.1.3"}}
    for config in ({}, {"preset": "article"}, {"url": url, "preset": "article", "max_turns": 3}):
        env = skyrl_gym.make(ENV_ID, env_config=config, extras=row)
        env.init([{"role": "user", "content": "Draw it."}])
        assert env.step('{"actions": []}')["done"] is (config.get("max_turns", 1) == 1)
