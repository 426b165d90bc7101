"""Rollouts as `vf-eval` plays them: a TOML file in, the recorded traces out.

Starting it takes about ten seconds, so a module plays all its cases in one run. A case is known by its name in the
first user message, to the policy and to the tests.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import tomli_w

LIMIT_S = 300


def play(folder: Path, policy_url: str, env: dict[str, Any], rollouts: int = 1) -> list[dict[str, Any]]:
    """Runs an evaluation in `folder` and returns its traces.

    `env` is the block of that name in the file: taskset, agents.
    """
    config = {
        "model": "m",
        "num_rollouts": rollouts,
        "push": False,
        "output_dir": str(folder / "outputs"),
        "run": {"name": "run"},
        "client": {"base_url": policy_url, "api_key_var": "NO_KEY"},
        "env": env,
    }
    file = folder / "eval.toml"
    file.write_text(tomli_w.dumps(config))
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        [scripts / "vf-eval", "@", str(file), "--no-rich"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    episodes = (folder / "outputs/run/traces.jsonl").read_text().splitlines()
    return [trace for episode in episodes for trace in json.loads(episode)["traces"]]
