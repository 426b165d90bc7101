"""CanvasEnv under the newest Gymnasium: its own checker, its vector environments, both render modes."""

import json
import os
import warnings
from typing import Any, Dict, List

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers import RecordEpisodeStatistics

import canvas_gym.gymnasium
from canvas_gym import ConnectionFailed, ResponseError
from canvas_gym.gymnasium import ENV_ID, UnicodeText

URL = os.environ["CANVAS_GYM_URL"]
BOX = {
    "type": "create_shape",
    "id": "a",
    "shape": "rectangle",
    "x": 100,
    "y": 100,
    "w": 200,
    "h": 100,
    "text": "Größe 中 😀",
}
DRAWING = json.dumps({"actions": [BOX]})
MANY_TURNS = 50
pytestmark = pytest.mark.filterwarnings("error")


def make(**options: Any) -> gymnasium.Env:
    return gymnasium.make(ENV_ID, url=URL, **options)


@pytest.mark.parametrize(
    "options", [{}, {"max_turns": 3}, {"level": 1, "family": "flowchart"}, {"prompt": "Draw a box."}]
)
@pytest.mark.parametrize("render_mode", [None, "rgb_array", "ansi"])
def test_the_checker_finds_nothing(options: Dict[str, Any], render_mode: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(render_mode=render_mode, disable_env_checker=True, **options).unwrapped)


def test_every_turn_is_in_the_spaces_and_adds_up() -> None:
    env = RecordEpisodeStatistics(make(max_turns=3, split="val", level=2))
    observation, info = env.reset(seed=1)
    assert (info["task"]["split"], info["task"]["level"]) == ("val", 2)
    rewards: List[float] = []
    for turn in range(1, 4):
        observation, reward, terminated, truncated, info = env.step(DRAWING)
        assert observation in env.observation_space
        assert (observation["turn"], terminated, truncated) == (turn, False, turn == 3)
        rewards.append(reward)
    assert info["stop_reason"] == "max_steps"
    assert observation["total_reward"][0] == pytest.approx(sum(rewards))
    assert info["episode"]["l"] == 3 and info["episode"]["r"] == pytest.approx(sum(rewards))
    assert observation["canvas"] == 'rectangle a at 100,100 size 200x100 "Größe 中 😀"'
    assert "a" in observation["feedback"]
    with pytest.raises(ResetNeeded):
        env.step(DRAWING)


def nested(depth: int) -> List[Any]:
    return [nested(depth - 1)] if depth > 0 else []


UNSENDABLE = [
    float("nan"),
    {"actions": [{**BOX, "x": float("inf")}]},
    nested(70),
    ["a" * 2_000_000],
    {"x": np.float32("nan")},
]


@pytest.mark.parametrize(
    "action",
    [
        "",
        "no JSON",
        "\ud800",
        {"actions": [BOX]},
        [BOX],
        7,
        None,
        {"x": [1]},
        "a" * 100_000,
        "中" * 200_000,
        *UNSENDABLE,
    ],
    ids=lambda action: repr(action)[:20],
)
def test_any_action_is_graded(action: Any) -> None:
    env = make()
    env.reset(seed=2)
    _, reward, terminated, truncated, _ = env.unwrapped.step(action)
    assert 0 <= reward <= 1 and type(reward) is float
    assert (type(terminated), type(truncated)) == (bool, bool)


def test_seeds_draw_tasks_and_options_override_them() -> None:
    env, twin = make(level=1), make(level=1)
    first = [env.reset(seed=5), env.reset(), env.reset()]
    second = [twin.reset(seed=5), twin.reset(), twin.reset()]
    assert [info for _, info in first] == [info for _, info in second]
    assert len({info["task"]["task_id"] for _, info in first}) == 3
    _, info = env.reset(options={"task_id": "train.pipeline.1.42"})
    assert info["task"]["task_id"] == "train.pipeline.1.42"
    observation, info = env.reset(options={"prompt": "Draw a box."})
    assert observation["prompt"] == "Draw a box." and "task" not in info
    assert env.reset(options={"split": "val"})[1]["task"]["level"] == 1
    again = [env.reset(seed=1, options={"task_id": None})[1]["task"]["task_id"] for _ in range(2)]
    assert again == [twin.reset(seed=1)[1]["task"]["task_id"]] * 2
    with pytest.raises(ValueError, match="no reset option difficulty; there are .*level"):
        env.reset(options={"difficulty": 3})
    with pytest.raises(ResponseError, match="unknown_task"):
        env.reset(options={"task_id": "nowhere.1"})


@pytest.mark.parametrize("named", [{"task_id": "train.pipeline.1.42"}, {"prompt": "Draw a box."}])
def test_options_that_draw_a_task_override_a_named_one(named: Dict[str, Any]) -> None:
    env = make(**named)
    for options in [{"level": 2}, {"split": "val"}, {"family": "er"}, {"level": 2, "family": "er", "index": 3}]:
        task = env.reset(seed=1, options=options)[1]["task"]
        for key, value in options.items():
            assert task["task_id"].split(".")[3] == "3" if key == "index" else task[key] == value
    _, info = env.reset(options={"episode_id": "e"})
    assert info["episode_id"] == "e" and info.get("task", named).get("task_id") == named.get("task_id")


def test_one_of_several_servers_may_be_dead() -> None:
    env = gymnasium.make(ENV_ID, url=f"http://127.0.0.1:9,{URL}", retries=0)
    for seed in range(4):
        env.reset(seed=seed)
        assert 0 <= env.step(DRAWING)[1] <= 1


def test_pictures_have_the_size_of_the_canvas_and_show_the_drawing() -> None:
    env = make(render_mode="rgb_array", max_turns=3, prompt="Draw a box.")
    env.reset(seed=3)
    empty = env.render()
    assert (empty.shape, empty.dtype) == ((800, 1200, 3), np.uint8)
    env.step(DRAWING)
    drawn = env.render()
    changed = np.argwhere((drawn != empty).any(axis=2))
    top, left = changed.min(axis=0)
    bottom, right = changed.max(axis=0)
    assert 95 <= top <= 101 and 95 <= left <= 101 and 199 <= bottom <= 205 and 299 <= right <= 305
    env.step({"actions": [{**BOX, "id": "far", "x": 5000}]})
    assert env.render().shape == (800, 1200, 3)


def test_the_text_rendering_lists_the_drawing() -> None:
    env = make(render_mode="ansi")
    env.reset(options={"prompt": "Draw a box."})
    env.step(DRAWING)
    lines = env.render().split("\n")
    assert lines[0] == "Draw a box." and lines[1].startswith("turn 1 of 1, reward 0.")
    assert lines[2] == 'rectangle a at 100,100 size 200x100 "Größe 中 😀"'


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("vector_kwargs", [{}, {"shared_memory": False}, {"context": "spawn"}])
def test_vector_environments_equal_single_ones(mode: str, vector_kwargs: Dict[str, Any]) -> None:
    if mode == "sync" and vector_kwargs:
        vector_kwargs = {"copy": False}
    env = gymnasium.make_vec(
        f"canvas_gym.gymnasium:{ENV_ID}",
        num_envs=3,
        vectorization_mode=mode,
        vector_kwargs=vector_kwargs,
        url=URL,
        max_turns=2,
    )
    singles = [make(max_turns=2) for _ in range(3)]
    try:
        observations, _ = env.reset(seed=11)
        alone = [single.reset(seed=11 + i)[0] for i, single in enumerate(singles)]
        assert tuple(observations["prompt"]) == tuple(seen["prompt"] for seen in alone)
        actions = (DRAWING, "nothing", DRAWING)
        for turn in range(2):
            observations, rewards, terminated, truncated, infos = env.step(actions)
            steps = [single.step(action) for single, action in zip(singles, actions)]
            assert rewards.tolist() == [step[1] for step in steps]
            for key in ("canvas", "feedback"):
                assert tuple(observations[key]) == tuple(step[0][key] for step in steps)
            assert truncated.tolist() == [turn == 1] * 3 and not terminated.any()
            assert infos["reward_components"]["parse"].tolist() == [1, 0, 1]
        observations = env.step(actions)[0]
        assert observations["canvas"][0] == "(empty)", "the next episode has begun"
    finally:
        env.close()


def test_the_last_observation_is_kept_where_an_episode_restarts_at_once() -> None:
    env = gymnasium.make_vec(
        f"canvas_gym.gymnasium:{ENV_ID}",
        num_envs=2,
        vectorization_mode="async",
        vector_kwargs={"autoreset_mode": AutoresetMode.SAME_STEP},
        url=URL,
    )
    try:
        before, _ = env.reset(seed=1)
        after, rewards, terminated, _, infos = env.step((DRAWING, "nothing"))
        assert terminated.all() and rewards[0] > rewards[1] == 0
        assert [seen["prompt"] for seen in infos["final_obs"]] == list(before["prompt"])
        assert infos["final_obs"][0]["canvas"].startswith("rectangle a")
        assert after["canvas"] == ("(empty)", "(empty)") and after["prompt"] != before["prompt"]
    finally:
        env.close()


def test_random_actions_never_break_an_episode() -> None:
    env = make(max_turns=MANY_TURNS)
    env.action_space.seed(0)
    for _ in range(4):
        observation, _ = env.reset(seed=4)
        for _ in range(MANY_TURNS):
            observation, reward, terminated, truncated, _ = env.step(env.action_space.sample())
            assert np.isfinite(reward)
        assert truncated and not terminated and observation["turn"] == MANY_TURNS


def test_long_texts_are_cut_to_the_space() -> None:
    env = make(max_text_length=20)
    observation, _ = env.reset(seed=1)
    assert len(observation["prompt"]) == 20 and observation in env.observation_space


def test_the_space_of_texts() -> None:
    space = UnicodeText(8)
    space.seed(1)
    assert all(text in space for text in ["", "é中😀\ud800", *(space.sample() for _ in range(50))])
    assert "123456789" not in space and b"1" not in space and space == UnicodeText(8) != UnicodeText(9)
    flat = gymnasium.spaces.flatten(space, "a😀")
    assert gymnasium.spaces.unflatten(space, flat) == "a😀"
    assert flat in gymnasium.spaces.flatten_space(space)
    env = make()
    observation, _ = env.reset(seed=1)
    vector = gymnasium.spaces.flatten(env.observation_space, observation)
    assert gymnasium.spaces.unflatten(env.observation_space, vector) == observation


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match="rgb_array"):
        canvas_gym.gymnasium.CanvasEnv(URL, render_mode="human")
    with pytest.raises(ResetNeeded):
        canvas_gym.gymnasium.CanvasEnv(URL).step(DRAWING)
    with pytest.raises(ConnectionFailed):
        canvas_gym.gymnasium.CanvasEnv("http://127.0.0.1:9", retries=0).reset()


def test_a_closed_environment_may_be_used_again() -> None:
    env = make()
    first, _ = env.reset(seed=9)
    env.close()
    env.close()
    assert env.reset(seed=9)[0]["prompt"] == first["prompt"]
