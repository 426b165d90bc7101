"""TRL's OpenRewardSpec, unmodified, makes a dataset, tools and rewards of a running server, named by CANVAS_GYM_URL.

The module needs no PyTorch, so this is its own code; a training run on top of it is another test.
"""

import inspect
import json

import pytest
from test_ors import ACTIONS, BOXES
from trl.experimental.openreward import OpenRewardSpec


@pytest.fixture(scope="module")
def spec(url):
    return OpenRewardSpec(url, env_name="diagram", num_tasks=40)


@pytest.fixture
def rollout(spec):
    made = spec.environment_factory()
    yield made
    made._close()


def test_dataset(spec):
    dataset = spec.train_dataset
    assert len(dataset) == 40
    assert {"prompt", "task_index", "task_id", "split", "family", "level", "request"} <= set(dataset.column_names)
    assert dataset[3]["prompt"] == [{"role": "user", "content": ""}]
    assert dataset["task_index"][:] == list(range(40))
    assert len(set(dataset["task_id"][:])) == 40


def test_dataset_of_chosen_tasks_and_of_a_whole_split(url):
    chosen = OpenRewardSpec(url, env_name="diagram", indices=[5, 9]).train_dataset
    assert chosen["task_index"][:] == [5, 9]
    assert len(OpenRewardSpec(url, env_name="diagram", split="test_real").train_dataset) == 44


def test_every_tool_becomes_a_typed_method(rollout):
    methods = {
        name: function
        for name, function in inspect.getmembers(type(rollout), predicate=inspect.isfunction)
        if not name.startswith("_") and name != "reset"
    }
    assert len(methods) == 9
    assert list(inspect.signature(methods["connect"]).parameters) == ["self", "from_id", "to_id", "text"]
    for name, function in methods.items():
        documented = inspect.getdoc(function).split("Args:")[1]
        for parameter in list(inspect.signature(function).parameters)[1:]:
            line = next(line for line in documented.splitlines() if line.strip().startswith(f"{parameter}: "))
            assert line.strip() != f"{parameter}: {parameter}", f"{name}.{parameter} has no description"


def test_rollout_of_many_calls(spec, rollout):
    row = dict(spec.train_dataset[0])
    text = rollout.reset(**row)
    assert text.startswith(row["request"])
    assert "1 shape(s)" in rollout.create_shape(**BOXES[0])
    assert "2 shape(s)" in rollout.create_shape("b", "ellipse", 500, 360, 200, 80)
    assert "1 arrow(s)" in rollout.connect("a", "b")
    assert "does not exist" in rollout.connect("a", "nowhere")
    assert rollout.reward is None and not rollout.finished
    assert "Reward: " in rollout.submit_diagram()
    assert rollout.finished and rollout.rewards[:-1] == [None] * 4
    assert spec.reward_funcs(environments=[rollout]) == [rollout.rewards[-1]]
    assert 0.0 <= rollout.reward < 0.5
    assert rollout.submit_diagram().startswith("Error: ") and rollout.reward == rollout.rewards[4]


def test_rollout_of_one_call_and_a_second_episode(rollout):
    rollout.reset(task_spec={"task_id": "train.pipeline.1.3"})
    rollout.submit_diagram(actions=ACTIONS)
    assert rollout.reward > 0.9
    first = rollout._session.sid
    rollout.reset(task_spec={"task_id": "train.pipeline.1.3"})
    assert rollout._session.sid != first and rollout.reward is None
    assert "0 shape(s)" in rollout.select([])


def test_rollouts_at_once_stay_apart(spec):
    rollouts = [spec.environment_factory() for _ in range(8)]
    try:
        for i, each in enumerate(rollouts):
            each.reset(task_index=i)
        for i, each in enumerate(rollouts):
            for _ in range(i):
                each.create_shape(**{**BOXES[0], "id": f"s{_}"})
        for i, each in enumerate(rollouts):
            assert f"{i} shape(s)" in each.select([])
    finally:
        for each in rollouts:
            each._close()


def test_whatever_a_model_calls_with_is_answered(rollout):
    rollout.reset(task_index=1)
    for actions in ("text", {"a": 1}, [1, None, "x"], [{"type": "nope"}], json.loads("[" * 20 + "]" * 20)):
        rollout.reset(task_index=1)
        assert "Reward: " in rollout.submit_diagram(actions=actions)
        assert 0.0 <= rollout.reward <= 0.2
