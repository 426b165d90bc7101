"""canvas_gym.openrlhf_agent in OpenRLHF's own loop of several turns, with torch's tensors."""

import asyncio
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from stand_in import Engine, Tokenizer, load, sampling

from canvas_gym import Client
from canvas_gym.openrlhf import reward_func

agent = load("openrlhf.utils.agent")

TASK_ID = "train.pipeline.1.3"
PROMPT = "<|im_start|>user\nDraw a pipeline.<|im_end|>\n<|im_start|>assistant\n"
LABELS = ["Record", "Review", "Edit Episode"]
BOXES = [
    {"type": "create_shape", "id": label, "shape": "rectangle", "x": 120 + 380 * i, "y": 360, "w": 200, "h": 80}
    | {"text": label}
    for i, label in enumerate(LABELS)
]
ARROWS = [{"type": "connect", "from": a, "to": b} for a, b in zip(LABELS, LABELS[1:])]


@pytest.fixture
def executor(tmp_path: Path) -> Any:
    """Loaded from a file of one line, as `--train.agent_func_path` is."""
    path = tmp_path / "agent.py"
    path.write_text("from canvas_gym.openrlhf_agent import AgentExecutor\n")
    spec = importlib.util.spec_from_file_location("agent_module", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert issubclass(module.AgentExecutor, agent.AgentExecutorBase)
    return module.AgentExecutor()


def test_an_episode_of_two_turns(executor: Any, url: str) -> None:
    answers = [json.dumps({"actions": actions}) for actions in (BOXES, [*ARROWS, {"type": "done"}])]
    engine = Engine(*answers)
    output = asyncio.run(executor.execute(PROMPT, TASK_ID, sampling(), 100_000, Tokenizer(), engine))
    expected = Client(url).reward(task_id=TASK_ID, completion=json.dumps({"actions": BOXES + ARROWS}))
    assert output["reward"] == pytest.approx(expected["reward"] - 0.02)
    assert float(output["scores"]) == pytest.approx(expected["reward"])
    assert {name: float(value) for name, value in output["extra_logs"].items()}["turns"] == 2
    text = "".join(map(chr, output["observation_tokens"]))
    written = [text[start:end] for start, end in output["action_ranges"]]
    assert written == [f"{answer}<|im_end|>" for answer in answers]
    assert engine.read[1].endswith("<|im_end|>\n<|im_start|>assistant\n")
    assert 'rectangle Record at 120,360 size 200x80 "Record"' in engine.read[1]


def test_rewards_are_tensors() -> None:
    answer = reward_func([f"{PROMPT}x<|im_end|>"] * 2, [PROMPT] * 2, [TASK_ID] * 2)
    columns = [answer["rewards"], answer["scores"], *answer["extra_logs"].values()]
    assert all(isinstance(column, torch.Tensor) and column.shape == (2,) for column in columns)
