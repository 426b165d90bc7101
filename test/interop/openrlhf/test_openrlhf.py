"""canvas_gym.openrlhf as the file that `--reward.remote_url` names, in OpenRLHF's own rollout of one turn."""

import asyncio
import json
import re
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, Dict

import pytest
from partial_import import load
from stand_in import Engine, Tokenizer, sampling

import canvas_gym.openrlhf
from canvas_gym import Client, _remote

agent = load("openrlhf", "openrlhf.utils.agent")

TASK_ID = "train.pipeline.1.3"
PROMPT = "<|im_start|>user\nDraw a cat.<|im_end|>\n<|im_start|>assistant\n"
CAT = json.dumps(
    {
        "actions": [
            {"type": "create_shape", "id": i, "shape": "ellipse", "x": x, "y": 9, "w": 90, "h": 60, "text": text}
            for i, x, text in (("a", 9, "Cat"), ("b", 200, "Record"))
        ]
    }
)


@pytest.fixture(params=["one line", "the module itself"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "the module itself":
        return str(canvas_gym.openrlhf.__file__)
    path = tmp_path / "reward.py"
    path.write_text("from canvas_gym.openrlhf import reward_func\n")
    return str(path)


def roll_out(file: str, answer: str, label: Any) -> Dict[str, Any]:
    executor = agent.SingleTurnAgentExecutor(file)
    return asyncio.run(executor.execute(PROMPT, label, sampling(), 100_000, Tokenizer(), Engine(answer)))


@pytest.mark.parametrize(
    ("label", "task"),
    [
        (TASK_ID, {"task_id": TASK_ID}),
        (json.dumps({"task": {"prompt": "Draw a record"}}), {"task": {"prompt": "Draw a record"}}),
        (None, {"prompt": "Draw a cat."}),
    ],
    ids=["a task id", "an inline task", "the prompt"],
)
def test_a_rollout_has_the_reward_of_the_environment(
    file: str, label: Any, task: Dict[str, Any], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANVAS_GYM_PRESET", "article")
    expected = Client(url).reward(completion=CAT, reward="article", **task)
    output = roll_out(file, CAT, label)
    assert output["reward"] == output["scores"] == [expected["reward"]]
    assert output["extra_logs"] == {name: [value] for name, value in expected["components"].items()}


def test_an_outage_leaves_no_reward(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_remote, "RETRIES", 0)
    monkeypatch.setenv("CANVAS_GYM_URL", "http://127.0.0.1:9")
    output = roll_out(file, CAT, TASK_ID)
    assert output["reward"] is None and output["scores"] is None


def test_the_flags_of_the_readme_are_openrlhfs() -> None:
    """Whatever it names in one of OpenRLHF's groups of flags."""
    source = Path(str(distribution("openrlhf").locate_file("openrlhf/cli/train_ppo_ray.py"))).read_text()
    flags = set(re.findall(r'"--(\w+\.\w+)"', source))
    groups = "|".join(sorted({flag.split(".")[0] for flag in flags}))
    readme = (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(rf"--((?:{groups})\.\w+)", readme))
    assert {"reward.remote_url", "train.agent_func_path", "data.input_key", "data.label_key"} <= named
    assert named <= flags, named - flags
