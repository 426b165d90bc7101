"""canvas_gym.ray on a real Ray with two workers, over two servers, one of which is killed while episodes run."""

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, Dict, Iterator, List

import pytest
import ray
from servers import Server

import canvas_gym.ray
from canvas_gym import Client, ConnectionFailed
from canvas_gym.ray import rollouts, score

EPISODES = 240
KILLED_AFTER = 40
BATCH = 16


@pytest.fixture(scope="module", autouse=True)
def workers() -> Iterator[None]:
    ray.cloudpickle.register_pickle_by_value(sys.modules[__name__])  # workers cannot import a test
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def servers() -> Iterator[List[Server]]:
    with Server() as first, Server() as second:
        yield [first, second]


@pytest.fixture(scope="module")
def task_ids(url: str) -> List[str]:
    return [task["task_id"] for task in Client(url).tasks(split="train", level=1, limit=EPISODES)["tasks"]]


def draw(observation: Dict[str, Any]) -> str:
    """Draws a box a turn, named by a word of the request, with a time that a model would take."""
    time.sleep(0.01)
    turn = observation["turn"]
    word = observation["prompt"].replace(",", "").replace(".", "").split()[1 + turn]
    box = {"id": str(turn), "shape": "rectangle", "x": 80 + 300 * turn, "y": 300, "w": 200, "h": 80, "text": word}
    return json.dumps({"actions": [{"type": "create_shape", **box}]})


def played_alone(client: Client, task_id: str, max_turns: int) -> float:
    answer: Any = client.reset(task_id=task_id, max_turns=max_turns, action_set="editor")
    while not answer["done"]:
        answer = client.step(state=answer["state"], action=draw(answer["observation"]))
    return float(answer["state"]["total_reward"])


def test_scores_come_in_order_from_both_servers(servers: List[Server], task_ids: List[str], url: str) -> None:
    completions = [
        json.dumps({"actions": [{"type": "create_shape", "id": str(i)}]}) if i % 3 else "none" for i in range(EPISODES)
    ]
    completions[7] = draw(dict(Client(url).reset(task_id=task_ids[7])["observation"]))
    urls = [server.url for server in servers]
    answer = score(urls, completions, task_ids=task_ids, preset="article", batch_size=BATCH)
    expected = Client(url).score(completions=completions, context={"task_id": task_ids}, reward="article")
    assert answer["rewards"] == expected["rewards"] and answer["components"] == expected["components"]
    assert len(set(answer["rewards"])) > 1
    counts = [server.requests("/score") for server in servers]
    assert sum(counts) == EPISODES // BATCH and min(counts) > 0, counts
    assert score(urls, []) == {"rewards": [], "components": []}
    with pytest.raises(ValueError, match="task_ids must be as long as the completions"):
        score(urls, ["a", "b"], task_ids=task_ids[:1])
    with pytest.raises(TypeError, match="task_ids must be a list"):
        score(urls, ["a", "b"], task_ids=task_ids[0])


def test_a_killed_server_loses_nothing_and_doubles_nothing(
    servers: List[Server], task_ids: List[str], url: str
) -> None:
    urls = [server.url for server in servers]
    trajectories = []
    steps_before = 0
    for trajectory in rollouts(urls, draw, task_ids, max_turns=2, in_flight=8):
        trajectories.append(trajectory)
        if len(trajectories) == KILLED_AFTER:
            steps_before = servers[0].requests("/step")
            servers[0].kill()
    assert steps_before > 0, "the killed server had taken part"
    assert sorted(trajectory["index"] for trajectory in trajectories) == list(range(EPISODES))
    client = Client(url)
    for trajectory in trajectories:
        assert trajectory["task"] == {"task_id": task_ids[trajectory["index"]]}
        assert len(trajectory["turns"]) == 2 and trajectory["stop_reason"] == "max_steps"
        assert trajectory["reward"] == pytest.approx(played_alone(client, task_ids[trajectory["index"]], 2))
        assert sum(turn["reward"] for turn in trajectory["turns"]) == pytest.approx(trajectory["reward"])


def test_scoring_goes_on_when_a_server_is_killed(servers: List[Server], task_ids: List[str], url: str) -> None:
    urls = [server.url for server in servers]
    completions = ["{}"] * EPISODES
    servers[1].kill()
    answer = score(urls, completions, task_ids=task_ids, batch_size=BATCH)
    assert answer["rewards"] == Client(url).score(completions=completions, context={"task_id": task_ids})["rewards"]


def test_where_no_server_answers_the_caller_is_told(task_ids: List[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canvas_gym.ray, "RETRIES", 0)
    dead = ["http://127.0.0.1:9", "http://127.0.0.1:7"]
    with pytest.raises(ConnectionFailed, match="no answer from"):
        score(dead, ["{}"] * 3, task_ids=task_ids[:3])
    with pytest.raises(ConnectionFailed, match="no answer from"):
        list(rollouts(dead, draw, task_ids[:1]))


def test_a_cell_without_a_task_leaves_the_prompt(url: str) -> None:
    drawn = draw({"turn": 0, "prompt": "Draw Cat"})
    answer = score(
        url, [drawn] * 2, task_ids=["", None], tasks=["", None], prompts=["a Cat", "a Cat"], preset="article"
    )
    assert answer["rewards"] == [Client(url).reward(prompt="a Cat", completion=drawn, reward="article")["reward"]] * 2


def test_a_killed_worker_loses_nothing(url: str, task_ids: List[str], tmp_path: Path) -> None:
    mark = tmp_path / "killed"

    def fatal(observation: Dict[str, Any]) -> str:
        if observation["task_id"] == task_ids[5] and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return draw(observation)

    trajectories = list(rollouts(url, fatal, task_ids[:20], in_flight=4))
    assert mark.exists()
    assert sorted(trajectory["index"] for trajectory in trajectories) == list(range(20))


def test_a_fault_of_the_policy_is_the_callers(url: str, task_ids: List[str]) -> None:
    with pytest.raises(ZeroDivisionError):
        list(rollouts(url, lambda observation: str(1 / 0), task_ids[:1]))
