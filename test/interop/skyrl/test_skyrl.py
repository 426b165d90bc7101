"""canvas_gym.skyrl in the installed SkyRL-Gym: made by its id, played as SkyRL's generator plays it."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Dict, List

import omegaconf
import pytest
import skyrl_gym
from skyrl_gym.envs.base_text_env import BaseTextEnv

import canvas_gym.skyrl
from canvas_gym import Client, ConnectionFailed, ResponseError, _remote
from canvas_gym.datasets import mixed_tasks

URL = os.environ["CANVAS_GYM_URL"]
TASK_ID = "train.pipeline.1.3"
LABELS = ["Record", "Review", "Edit Episode"]
BOXES = [
    {"type": "create_shape", "id": label, "shape": "rectangle", "x": 120 + 380 * i, "y": 360, "w": 200, "h": 80}
    | {"text": label}
    for i, label in enumerate(LABELS)
]
ARROWS = [{"type": "connect", "from": a, "to": b} for a, b in zip(LABELS, LABELS[1:])]
SOLUTION = json.dumps({"actions": [*BOXES, *ARROWS]})
PROMPT = [{"role": "system", "content": "s"}, {"role": "user", "content": "Draw a cat"}]


def make(extras: Dict[str, Any], **config: Any) -> Any:
    """An environment as SkyRL makes it: configuration by OmegaConf, and the row as extras."""
    return skyrl_gym.make("canvas_gym", env_config=omegaconf.OmegaConf.create({"url": URL, **config}), extras=extras)


def reward_of(completion: str, **task: Any) -> float:
    return Client(URL).reward(completion=completion, **(task or {"task_id": TASK_ID}))["reward"]


def test_it_is_registered_and_a_text_environment() -> None:
    env = make({"extra_info": {"task_id": TASK_ID}})
    assert isinstance(env, BaseTextEnv) and isinstance(env, canvas_gym.skyrl.DiagramEnv)
    assert (
        env.max_turns == 1
        and make({"max_turns": 5}).max_turns == 5
        and make({"max_turns": 5}, max_turns=2).max_turns == 2
    )


@pytest.mark.parametrize("config", [{}, omegaconf.OmegaConf.create({})], ids=["dict", "omegaconf"])
def test_it_needs_no_configuration(config: Any) -> None:
    """SkyRL takes no keys of an environment of one's own, so that the variable CANVAS_GYM_URL is all there is."""
    env = skyrl_gym.make("canvas_gym", env_config=config, extras={"extra_info": {"task_id": TASK_ID}, "max_turns": 1})
    env.init(PROMPT)
    assert env.step(SOLUTION)["reward"] == reward_of(SOLUTION)


def test_unknown_settings_are_refused() -> None:
    for wrong in ({"reward": "article"}, {"max_turn": 3}):
        with pytest.raises(ValueError, match="env_config must have none but url, preset, max_turns, action_set"):
            make({}, **wrong)
    with pytest.raises(ValueError, match="preset must be one of"):
        make({}, preset="grade")


def test_turns_of_the_core_action_set_are_told_its_actions() -> None:
    env = make({"extra_info": {"task_id": TASK_ID}}, max_turns=3, action_set="core")
    env.init(PROMPT)
    (seen,) = env.step(json.dumps({"actions": BOXES[:2]}))["observations"]
    assert "create_shape and connect" in seen["content"]
    assert not any(word in seen["content"] for word in ("move_shape", "set_text", '"done"'))
    output = env.step(json.dumps({"actions": [BOXES[2], *ARROWS]}))
    assert output["metadata"]["errors"] == [] and not output["done"]
    assert env.get_metrics()["drawing_reward"] == reward_of(SOLUTION)


def test_what_no_request_can_hold_is_a_bad_answer() -> None:
    env = make({"extra_info": {"task_id": TASK_ID}, "max_turns": 1})
    env.init(PROMPT)
    output = env.step("x" * 2**21)
    assert output["reward"] == 0 and output["done"] and output["metadata"]["errors"] == ["completion_too_long"]


@pytest.mark.parametrize("action", [SOLUTION, "rubbish", f"```json\n{SOLUTION}\n```", ""])
def test_one_turn_has_the_reward_of_the_environment(action: str) -> None:
    env = make({"max_turns": 1, "extra_info": {"task_id": TASK_ID}})
    prompt, info = env.init(PROMPT)
    assert (prompt, info) == (PROMPT, {})
    output = env.step(action)
    assert output["reward"] == reward_of(action) and type(output["reward"]) is float
    assert output["done"] is True and output["observations"] == []
    assert env.get_metrics()["turns"] == 1
    env.close()


def test_several_turns_show_the_canvas_and_add_up() -> None:
    env = make({"extra_info": {"task_id": TASK_ID}}, max_turns=4)
    env.init(PROMPT)
    first = env.step(json.dumps({"actions": BOXES}))
    (seen,) = first["observations"]
    assert seen["role"] == "user" and 'rectangle Record at 120,360 size 200x80 "Record"' in seen["content"]
    assert not first["done"]
    last = env.step(json.dumps({"actions": [*ARROWS, {"type": "done"}]}))
    assert last["done"] and last["metadata"]["stop_reason"] == "submitted"
    assert first["reward"] + last["reward"] == pytest.approx(reward_of(SOLUTION) - 0.02)
    metrics = env.get_metrics()
    assert metrics["turns"] == env.turns == 2 and metrics["drawing_reward"] == reward_of(SOLUTION)
    means = env.aggregate_metrics([metrics, {**metrics, "turns": 4.0}])
    assert means["turns"] == 3 and means["node"] == metrics["node"]


@pytest.mark.parametrize(
    ("extras", "task"),
    [
        ({"reward_spec": {"method": "rule", "ground_truth": TASK_ID}}, {"task_id": TASK_ID}),
        (
            {"reward_spec": {"ground_truth": json.dumps({"task": {"prompt": "Draw a dog"}})}},
            {"task": {"prompt": "Draw a dog"}},
        ),
        ({"extra_info": {"task": json.dumps({"prompt": "Draw a dog"})}}, {"task": {"prompt": "Draw a dog"}}),
        ({"extra_info": {"task_id": "", "task": TASK_ID}}, {"task_id": TASK_ID}),
        ({"extra_info": {"task": ""}, "reward_spec": {"ground_truth": ""}}, {"prompt": "Draw a cat"}),
        ({}, {"prompt": "Draw a cat"}),
    ],
    ids=["ground truth", "inline ground truth", "inline task", "an id as task", "empty cells", "prompt"],
)
def test_the_task_of_a_row(extras: Dict[str, Any], task: Dict[str, Any]) -> None:
    env = make(extras, preset="article")
    env.init(PROMPT)
    cat = json.dumps({"actions": [{**BOXES[0], "text": "Dog"}, {**BOXES[1], "text": "Record"}]})
    assert env.step(cat)["reward"] == Client(URL).reward(completion=cat, reward="article", **task)["reward"]


def test_rows_and_many_episodes_in_threads() -> None:
    rows = list(canvas_gym.skyrl.skyrl_rows(mixed_tasks(Client(URL), split="val", level=1, count=64)))
    assert {row["env_class"] for row in rows} == {"canvas_gym"}
    assert all(row["prompt"][0]["content"].endswith("The canvas is 1200 x 800 pixels.") for row in rows)

    def play(row: Dict[str, Any]) -> List[Any]:
        env = skyrl_gym.make(row["env_class"], env_config={"url": URL}, extras={**row, "max_turns": 2})
        prompt, _ = env.init(row["prompt"])
        assert prompt == row["prompt"]
        word = prompt[-1]["content"].split()[1].strip(",.:")
        return [env.step(json.dumps({"actions": [{**BOXES[0], "text": word}]}))["reward"] for _ in range(2)]

    with ThreadPoolExecutor(32) as pool:
        at_once = list(pool.map(play, rows))
    assert at_once == [play(row) for row in rows]


def test_a_failing_server_is_an_exception_and_a_wrong_row_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_remote, "RETRIES", 0)
    with pytest.raises(ConnectionFailed):
        make({}, url="http://127.0.0.1:9").init(PROMPT)
    with pytest.raises(ResponseError):
        make({"extra_info": {"task_id": "nowhere.1"}}).init(PROMPT)
