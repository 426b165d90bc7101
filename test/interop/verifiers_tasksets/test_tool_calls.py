"""The example of an agent that calls functions, run with the real openai package against a stand-in for the model."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import fake_policy
import pytest
from conftest import ARROWS, DIAGRAM, SHAPES, post

EXAMPLE = Path(__file__).parents[3] / "clients/python/examples/tool_calls.py"
TASK_ID = "train.pipeline.1.3"

CREATE = fake_policy.calls(*(("create_shape", shape) for shape in SHAPES))
CONNECT = fake_policy.calls(*(("connect", {"from_id": start, "to_id": end}) for start, end in ARROWS))
SUBMIT = fake_policy.calls(("submit_diagram", {}))


def malformed(arguments: str) -> fake_policy.Reply:
    """A call whose arguments are no JSON object."""
    reply = fake_policy.calls(("create_shape", {}), ("connect", {"from_id": "a", "to_id": "b"}))
    reply["tool_calls"][0]["function"]["arguments"] = arguments
    return reply


def play(url: str, replies: list[fake_policy.Reply]) -> tuple[str, list[dict[str, Any]]]:
    """Runs the example; gives what it printed, and the conversation as the model saw it last."""
    with fake_policy.serve(lambda messages: replies[sum(m["role"] == "assistant" for m in messages)]) as served:
        address, requests = served
        environment = {**os.environ, "CANVAS_GYM_URL": url, "OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
        done = subprocess.run(
            [sys.executable, EXAMPLE], env=environment, capture_output=True, text=True, timeout=120, check=False
        )
    assert done.returncode == 0, done.stderr
    assert len(requests) == len(replies), "it asks until the model is done, and not once more"
    return done.stdout.strip(), requests[-1]["messages"]


@pytest.fixture(scope="module")
def best(url: str) -> float:
    reward = post(f"{url}/reward", {"task_id": TASK_ID, "completion": DIAGRAM})["reward"]
    assert reward > 0.9
    return reward


@pytest.mark.parametrize(
    "replies",
    [
        [CREATE, CONNECT, SUBMIT],
        [fake_policy.calls(("submit_diagram", DIAGRAM))],
        [malformed("{"), malformed("[1]"), malformed(""), malformed('"text"'), CREATE, CONNECT, SUBMIT],
    ],
    ids=["call by call", "in one call", "after malformed arguments"],
)
def test_a_good_drawing_has_the_reward_of_the_environment(url: str, best: float, replies: list[Any]) -> None:
    printed, _ = play(url, replies)
    value, stop_reason = printed.split()
    assert (float(value), stop_reason) == (pytest.approx(best, abs=1e-9), "submitted")


def test_every_call_is_answered_and_faults_are_told(url: str) -> None:
    printed, messages = play(url, [malformed("{"), CREATE, fake_policy.text("I am done.")])
    assert [message["role"] for message in messages] == [
        "system",
        "user",
        *["assistant", "tool", "tool"],
        *["assistant", *["tool"] * 3],
    ]
    assert "The canvas is 1200 x 800 pixels." in messages[0]["content"]
    told = [message["content"] for message in messages if message["role"] == "tool"]
    assert "does not exist: a" in told[0] and told[0] == told[1]
    assert told[2:] == ["ok"] * 3
    asked = [call["id"] for message in messages for call in message.get("tool_calls", [])]
    assert [message["tool_call_id"] for message in messages if message["role"] == "tool"] == asked
    assert 0 < float(printed.split()[0]) < 0.9
