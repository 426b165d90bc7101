"""What the tests of this folder share: a checkpoint that this project's trainer makes in a minute."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from servers import cli

ROOT = Path(__file__).parents[3]
TASKS = "600"
TOKENS = "90000"

os.environ.update(CUDA_VISIBLE_DEVICES="", TOKENIZERS_PARALLELISM="false", TRL_EXPERIMENTAL_SILENCE="1")
sys.path.append(str(ROOT / "test/interop/openrlhf"))  # stand_in, for a model
sys.path.append(str(ROOT / "test/interop/verl"))  # overrides, of the README


@pytest.fixture(scope="session")
def run_folder(url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the compiled trainer: `dataset.jsonl` in the folder `teach`, and in `sft/sft` what it learned."""
    folder = tmp_path_factory.mktemp("runs")
    shared = ["--runs", str(folder), "--db", str(folder / "log.db"), "--url", url]

    def call(stage: str, *flags: str) -> None:
        command = cli(stage, "--run-id", stage, *shared, *flags)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]

    call("teach", "--tasks", TASKS)
    call("sft", "--dataset", str(folder / "teach/dataset.jsonl"), "--max-tokens", TOKENS)
    return folder


@pytest.fixture(scope="session")
def checkpoint(run_folder: Path) -> str:
    return str(run_folder / "sft/sft")
