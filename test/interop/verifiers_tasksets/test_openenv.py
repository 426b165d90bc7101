"""verifiers' `openenv` taskset (openenv 0.4.1), as it is installed, against this server's `/schema` and `/ws`."""

import json
from typing import Any

import fake_policy
import pytest
from conftest import ARROWS, DIAGRAM, SHAPES, TASK, reward_of
from rollouts import play

SOLUTION = json.dumps(DIAGRAM)
GOOD = {
    "an object": [SOLUTION],
    "a list": [json.dumps(DIAGRAM["actions"])],
    "a fenced object": [f"```json\n{SOLUTION}\n```"],
}
PROSE = f"I drew it:\n{SOLUTION}"
BAD = {f"bad {i}": [answer] for i, answer in enumerate(["No.", "42", "[]", '{"shapes": []}', '"x"', "null"])}
TURNS = [
    {"actions": [{"type": "create_shape", **shape} for shape in SHAPES]},
    {"actions": [{"type": "connect", "from": start, "to": end} for start, end in ARROWS]},
    {"actions": [{"type": "done"}]},
]
CASES: dict[str, list[str]] = {**GOOD, **BAD, "prose": [PROSE], "turns": [json.dumps(turn) for turn in TURNS]}
"""What the model says, turn by turn."""


def observed(message: dict[str, Any]) -> dict[str, Any]:
    return json.loads(message["content"])


def case_of(messages: list[dict[str, Any]]) -> str:
    return observed(messages[0])["observation"]["prompt"].split(": ")[0]


def policy(messages: list[dict[str, Any]]) -> fake_policy.Reply:
    turn = sum(message["role"] == "assistant" for message in messages)
    return fake_policy.text(CASES[case_of(messages)][turn])


def reset_of(case: str) -> dict[str, Any]:
    several = {"max_turns": 5, "action_set": "editor"} if case == "turns" else {}
    return {"task": {**TASK, "prompt": f"{case}: {TASK['prompt']}"}, **several}


@pytest.fixture(scope="module")
def played(url: str, tmp_path_factory: pytest.TempPathFactory):
    """Plays every case: the trace of each, and the last request that the policy got for each."""
    env = {
        "taskset": {"id": "openenv", "base_url": url, "resets": [reset_of(case) for case in CASES]},
        "player": {"harness": {"id": "null"}, "runtime": {"type": "subprocess"}},
    }
    with fake_policy.serve(policy) as (address, requests):
        traces = play(tmp_path_factory.mktemp("openenv"), address, env)
    by_case = {case_of([trace["nodes"][0]["message"]]): trace for trace in traces}
    return by_case, {case_of(request["messages"]): request for request in requests}


def score(trace: dict[str, Any]) -> float:
    assert trace["ok"] and not trace["errors"], trace["errors"]
    return trace["rewards"]["openenv_reward"]["score"]


@pytest.mark.parametrize("case", GOOD)
def test_an_answer_of_any_form_has_the_reward_of_the_environment(played, expected, case):
    assert score(played[0][case]) == pytest.approx(expected, abs=1e-9)


def test_an_answer_in_prose_is_found_and_costs_what_it_costs_everywhere(played, url):
    assert score(played[0]["prose"]) == pytest.approx(reward_of(url, PROSE), abs=1e-9)


@pytest.mark.parametrize("case", BAD)
def test_bad_output_is_a_low_reward_and_no_error(played, case):
    assert score(played[0][case]) == 0.0


def test_what_the_model_is_asked(played):
    asked = observed(played[1]["an object"]["messages"][0])
    assert len(asked["action_schema"]["required"]) == 1
    assert "edges" not in json.dumps(asked["observation"])


def test_an_episode_of_several_turns_adds_up(played, expected):
    assert len([m for m in played[1]["turns"]["messages"] if m["role"] == "user"]) == 3
    # The rewards of the turns add up to that of the drawing, less 0.01 for each turn.
    assert score(played[0]["turns"]) == pytest.approx(expected - 0.03, abs=1e-9)
