"""The README's lines for verifiers, resolved by `vf-eval` itself, and for PRIME-RL, by its loader of environments."""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any, Dict, List

import pytest
import tomllib
from readme import readme_blocks
from verifiers.v1.utils.loaders import environment_class, resolve_env_config

from canvas_gym.verifiers import DiagramEnv


def resolve(folder: Path, arguments: List[str]) -> Dict[str, Any]:
    """What `vf-eval` would run; it plays nothing."""
    command = [str(Path(sys.executable).parent / "vf-eval"), *arguments, "--dry-run", "--output-dir", str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    (file,) = folder.glob("*/configs/resolved/eval.json")
    return json.loads(file.read_text())


def assert_stays_here(config: Dict[str, Any]) -> None:
    """Prompts go to the user's model, and results to nobody."""
    assert config["push"] is False
    assert config["client"]["base_url"] == "http://MODEL_HOST/v1"
    assert config["client"]["api_key_var"] == "OPENAI_API_KEY"


def test_its_command_evaluates_the_users_model_and_uploads_nothing(url: str, tmp_path: Path) -> None:
    (shell,) = readme_blocks("verifiers, PRIME-RL", "sh")
    lines = shell.replace("\\\n", " ").splitlines()
    (line,) = [line for line in lines if line.startswith("vf-eval ")]
    config = resolve(tmp_path, shlex.split(line)[1:])
    assert_stays_here(config)
    assert config["env"]["taskset"]["url"] == url and config["env"]["taskset"]["level"] == 1


@pytest.mark.parametrize(
    ("heading", "taskset", "address"),
    [("OpenEnv, AgileRL", "openenv", "base_url"), ("NeMo Gym, axolotl", "nemo_gym", "task")],
)
def test_its_files_are_evaluations(heading: str, taskset: str, address: str, url: str, tmp_path: Path) -> None:
    (file,) = readme_blocks(heading, "toml")
    (tmp_path / "eval.toml").write_text(file)
    config = resolve(tmp_path, ["@", "eval.toml"])
    assert_stays_here(config)
    read = config["env"]["taskset"]
    assert read["id"] == taskset and (read[address] if address == "base_url" else read["task"]["resources_url"]) == url
    (agent,) = [part for name, part in config["env"].items() if name in ("agent", "player")]
    assert agent["harness"]["id"] == "null" and agent["runtime"]["type"] == "subprocess"


def test_its_source_of_prime_rl_is_this_environment(url: str) -> None:
    (block,) = readme_blocks("verifiers, PRIME-RL", "toml")
    (source,) = tomllib.loads(block)["orchestrator"]["train"]["source"]
    assert source["name"]
    config = resolve_env_config(source["env"])
    assert environment_class(config.taskset.id) is DiagramEnv
    assert config.taskset.url == url and config.taskset.level == 1 and config.taskset.count == 1000
