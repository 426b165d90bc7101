"""verifiers' `nemo_gym` taskset, as it is installed, against this server's NeMo Gym routes."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import fake_policy
import pytest
from conftest import ARROWS, DIAGRAM, SHAPES, TASK, post, reward_of
from rollouts import play

ROLLOUTS = 4
"""Of each case, at once."""

CREATE = [("create_shape", shape) for shape in SHAPES]
CONNECT = [("connect", {"from_id": start, "to_id": end}) for start, end in ARROWS]
BAD = [("create_shape", {"id": "a"}), ("connect", {"from_id": "a", "to_id": "b"})]

CASES: dict[str, list[fake_policy.Reply]] = {
    "text": [fake_policy.text(json.dumps(DIAGRAM))],
    "prose": [fake_policy.text("I cannot draw.")],
    "tools": [
        fake_policy.calls(*CREATE),
        fake_policy.calls(*CONNECT),
        fake_policy.calls(("submit_diagram", {})),
        fake_policy.text("Done."),
    ],
    "twice": [fake_policy.calls(*CREATE, *CREATE), fake_policy.calls(*CONNECT, CONNECT[-1]), fake_policy.text("Done.")],
    "whole diagram": [fake_policy.calls(("submit_diagram", DIAGRAM)), fake_policy.text("Done.")],
    "bad arguments": [fake_policy.calls(*BAD), fake_policy.text("I give up.")],
}
"""What the model says, turn by turn."""


EXAMPLE = Path(__file__).parents[3] / "clients/python/examples/nemo_gym_rows.py"


def actions_for(prompt: str) -> list[dict[str, Any]]:
    """Draws what a prompt of the suite's level 1 asks for, its boxes in one row."""
    names = re.search(r"boxes: ([^.]+)\.", prompt, re.IGNORECASE)
    pairs = re.search(r"(?:arrows|lines): ([^.]+)\.", prompt, re.IGNORECASE)
    assert names and pairs, prompt
    boxes = names[1].split(", ")
    places = [{"x": 60 + 290 * i, "y": 360, "w": 200, "h": 80} for i in range(len(boxes))]
    ends = [pair.removeprefix("then ").split(" to ") for pair in pairs[1].split(", ")]
    return [
        *(
            {"type": "create_shape", "id": name, "shape": "rectangle", **place, "text": name}
            for name, place in zip(boxes, places)
        ),
        *({"type": "connect", "from": start, "to": end} for start, end in ends),
    ]


def call_of(action: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    names = {"from": "from_id", "to": "to_id"}
    return action["type"], {names.get(key, key): value for key, value in action.items() if key != "type"}


def policy(messages: list[dict[str, Any]]) -> fake_policy.Reply:
    first = messages[0]
    if first["role"] == "system":  # a row of the example
        calls = [call_of(action) for action in actions_for(messages[1]["content"])]
        turns = [fake_policy.calls(*calls), fake_policy.calls(("submit_diagram", {})), fake_policy.text("Done.")]
    else:
        turns = CASES[first["content"]]
    return turns[sum(message["role"] == "assistant" for message in messages)]


@pytest.fixture(scope="module")
def tools(url: str) -> list[dict[str, Any]]:
    """The tools of the server in the form of the Responses API."""
    with urllib.request.urlopen(f"{url}/tools", timeout=30) as response:
        return [{"type": "function", **tool["function"]} for tool in json.load(response)["openai"]]


@pytest.fixture(scope="module")
def example_rows(url: str) -> list[dict[str, Any]]:
    """Rows as the example writes them."""
    environment = {**os.environ, "CANVAS_GYM_URL": url}
    done = subprocess.run(
        [sys.executable, EXAMPLE], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def played(url: str, tools: list[dict[str, Any]], example_rows, tmp_path_factory: pytest.TempPathFactory):
    """Plays every case and a row of the example: the traces of each, and the last request of each."""
    folder: Path = tmp_path_factory.mktemp("nemo_gym")
    params = [{"input": [{"role": "user", "content": case}], "tools": tools} for case in CASES]
    rows = [{"responses_create_params": param, "task": TASK, "note": "kept"} for param in params]
    rows.append(example_rows[0])
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    env = {
        "taskset": {"id": "nemo_gym", "dataset": str(folder / "rows.jsonl"), "task": {"resources_url": url}},
        "agent": {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}},
    }
    with fake_policy.serve(policy) as (address, requests):
        traces = play(folder, address, env, ROLLOUTS)
    by_case: dict[str, list[dict[str, Any]]] = {}
    for trace in traces:
        by_case.setdefault(trace["nodes"][0]["message"]["content"], []).append(trace)
    return by_case, {request["messages"][0]["content"]: request for request in requests}


def scores(traces: list[dict[str, Any]]) -> list[float]:
    for trace in traces:
        assert trace["ok"] and not trace["errors"], trace["errors"]
    return [trace["rewards"]["nemo_gym"]["score"] for trace in traces]


def tool_outputs(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [json.loads(message["content"]) for message in request["messages"] if message["role"] == "tool"]


def test_an_answer_as_text_has_the_reward_of_the_environment(played, expected):
    traces = played[0]["text"]
    assert scores(traces) == [expected] * ROLLOUTS
    assert traces[0]["metrics"]["reward/node"] == 1.0
    assert traces[0]["info"]["nemo_gym"]["note"] == "kept"


def test_bad_output_is_a_low_reward_and_no_error(played):
    assert scores(played[0]["prose"]) == [0.0] * ROLLOUTS


def test_a_drawing_by_tools_has_the_reward_of_the_environment_in_every_rollout(played, expected):
    assert scores(played[0]["tools"]) == [pytest.approx(expected, abs=1e-9)] * ROLLOUTS
    assert scores(played[0]["whole diagram"]) == [pytest.approx(expected, abs=1e-9)] * ROLLOUTS


def test_the_canvas_grows_though_the_client_keeps_the_cookie_of_its_first_answer(played):
    outputs = tool_outputs(played[1]["tools"])
    assert [output["ok"] for output in outputs] == [True] * 6
    assert "3 shape(s) and 2 arrow(s)" in outputs[4]["message"]
    assert outputs[5] == {"ok": True, "message": "The drawing is submitted.", "done": True}


def test_what_is_told_of_a_call_made_twice_is_what_is_scored(played, url):
    messages = [output["message"] for output in tool_outputs(played[1]["twice"])]
    oks = [output["ok"] for output in tool_outputs(played[1]["twice"])]
    assert oks == [True] * 3 + [False] * 3 + [True] * 3
    assert "3 shape(s) and 3 arrow(s)" in messages[-1]
    drawn = {"actions": [*DIAGRAM["actions"], DIAGRAM["actions"][-1]]}
    assert scores(played[0]["twice"]) == [pytest.approx(reward_of(url, drawn), abs=1e-9)] * ROLLOUTS


def test_bad_arguments_are_told_to_the_model_and_it_goes_on(played):
    assert max(scores(played[0]["bad arguments"])) < 0.2
    assert [output["ok"] for output in tool_outputs(played[1]["bad arguments"])] == [False, False]


def test_rows_of_the_example_are_played_and_scored_by_their_task(played, example_rows, url):
    row = example_rows[0]
    system, asked = row["responses_create_params"]["input"]
    assert "The canvas is 1200 x 800 pixels." in system["content"]
    traces = played[0][system["content"]]
    assert len(example_rows) == 100
    assert len({row["task_id"].split(".")[1] for row in example_rows}) > 5, "of many families"
    drawn = {"actions": actions_for(asked["content"])}
    own, other = (
        post(f"{url}/reward", {"task_id": row["task_id"], "completion": drawn})["reward"] for row in example_rows[:2]
    )
    assert own > 0.7 and other < 0.4
    assert scores(traces) == [pytest.approx(own, abs=1e-9)] * ROLLOUTS
    assert traces[0]["info"]["nemo_gym"]["task_id"] == row["task_id"]
