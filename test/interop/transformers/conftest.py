"""What the tests of this folder share: a checkpoint of this trainer, and what it makes of a folder."""

import json
import os
import shlex
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Sequence

import pytest
import torch
from servers import cli

ROOT = Path(__file__).parents[3]
TASKS = "160"
TOKENS = "40000"

os.environ.update(CUDA_VISIBLE_DEVICES="", TOKENIZERS_PARALLELISM="false")
torch.set_num_threads(1)


class Ours:
    """The trainer's own answers about a folder; see ours.ts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def ask(
        self,
        texts: Sequence[str] = (),
        pairs: Sequence[Dict[str, List[int]]] = (),
        prompts: Sequence[List[int]] = (),
        max_new_tokens: int = 60,
    ) -> Dict[str, Any]:
        node = shlex.split(os.environ["CANVAS_GYM_CLI"])[0]
        questions = {"texts": list(texts), "pairs": list(pairs), "prompts": list(prompts)}
        done = subprocess.run(
            [node, "--import", "tsx", "test/interop/transformers/ours.ts", str(self.folder)],
            input=json.dumps({**questions, "max_new_tokens": max_new_tokens}),
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-2000:]
        answers: Dict[str, Any] = json.loads(done.stdout)
        return answers


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
def checkpoint(run_folder: Path) -> Path:
    return run_folder / "sft/sft"


@pytest.fixture(scope="session")
def examples(run_folder: Path) -> List[Dict[str, Any]]:
    lines = (run_folder / "teach/dataset.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[:24]]
