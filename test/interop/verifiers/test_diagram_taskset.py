"""canvas_gym.verifiers under the installed verifiers: loaded by its id, and played by `vf-eval` with a stand-in."""

import asyncio
import json
from typing import Any, Dict, List

import fake_policy
import pytest
from rollouts import play
from verifiers.v1.utils.loaders import environment_class, resolve_env_config, taskset_class

from canvas_gym import Client, ConnectionFailed
from canvas_gym.verifiers import DiagramEnv, DiagramTaskset, load_environment

ID = "canvas-gym-verifiers"
COUNT = 3


def shape(index: int, text: str) -> Dict[str, Any]:
    size = {"x": 80 + 360 * index, "y": 360, "w": 240, "h": 80}
    return {"type": "create_shape", "id": str(index), "shape": "rectangle", **size, "text": text}


def drawing(prompt: str) -> str:
    """Something for each request: its first words, so that rewards differ from task to task."""
    return json.dumps({"actions": [shape(i, word) for i, word in enumerate(prompt.replace(",", "").split()[1:4])]})


def asked(messages: List[Dict[str, Any]]) -> List[str]:
    return [message["content"] for message in messages if message["role"] == "user"]


def policy(messages: List[Dict[str, Any]]) -> fake_policy.Reply:
    said = asked(messages)
    return fake_policy.text(drawing(said[0]) if len(said) == 1 else '{"actions": [{"type": "done"}]}')


def evaluate(folder: Any, url: str, **settings: Any) -> Any:
    """Plays some tasks; gives the traces and the requests that the model got."""
    env = {"taskset": {"id": ID, "url": url, "level": 1, "count": COUNT, **settings}}
    with fake_policy.serve(policy) as (address, requests):
        return play(folder, address, env), list(requests)


@pytest.fixture(scope="module")
def single(url: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return evaluate(tmp_path_factory.mktemp("single"), url)


@pytest.fixture(scope="module")
def several(url: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    return evaluate(tmp_path_factory.mktemp("several"), url, max_turns=3, preset="article")


def test_the_id_names_taskset_and_environment(url: str) -> None:
    assert taskset_class(ID) is DiagramTaskset and environment_class(ID) is DiagramEnv
    config = resolve_env_config({"taskset": {"id": ID, "url": url, "level": "2"}})  # as a flag of vf-eval has it
    assert config.agent.harness.id == "null" and config.taskset.level == 2
    environment = load_environment(url=url, level=2, count=5, offset=1, split="val", family="cycle")
    tasks = list(environment.taskset)
    expected = Client(url).tasks(split="val", level=2, family="cycle", limit=5, offset=1)["tasks"]
    assert [task.data.task_id for task in tasks] == [task["task_id"] for task in expected]
    assert [task.key for task in tasks] == [task.data.id for task in tasks]
    mixed = [task.data.task_id.split(".")[1] for task in load_environment(url=url, level=2, count=6).taskset]
    assert len(set(mixed)) == 6
    assert "expect" not in tasks[0].data.model_dump_json()
    with pytest.raises(ValueError, match="reward\n.*Extra inputs are not permitted"):
        load_environment(url=url, reward="article")


def test_the_reward_of_one_turn_is_that_of_the_environment(single: Any, url: str) -> None:
    traces, requests = single
    assert len(traces) == COUNT
    client = Client(url)
    for trace in traces:
        assert trace["ok"] and not trace["errors"], trace["errors"]
        data = trace["task"]["data"]
        expected = client.reward(task_id=data["task_id"], completion=drawing(data["prompt"]))
        assert trace["rewards"] == {"diagram": {"score": pytest.approx(expected["reward"]), "weight": 1.0}}
        assert {name: trace["metrics"][name] for name in expected["components"]} == expected["components"]
    assert all(request["messages"][0]["role"] == "system" for request in requests)
    assert all("The canvas is 1200 x 800 pixels." in request["messages"][0]["content"] for request in requests)
    assert len({trace["rewards"]["diagram"]["score"] for trace in traces} - {0.0}) > 0


def test_several_turns_show_the_canvas_and_add_up(several: Any, url: str) -> None:
    traces, requests = several
    client = Client(url)
    for trace in traces:
        data = trace["task"]["data"]
        drawn = client.reward(task_id=data["task_id"], completion=drawing(data["prompt"]), reward="article")
        assert trace["rewards"]["diagram"]["score"] == pytest.approx(drawn["reward"] - 0.02)
        assert trace["metrics"]["turns"] == 2
    second = [asked(request["messages"])[1] for request in requests if len(asked(request["messages"])) == 2]
    assert len(second) == COUNT
    assert all('rectangle 0 at 80,360 size 240x80 "' in text for text in second)


def test_a_dead_server_fails_the_episode(url: str) -> None:
    """The tasks are loaded from the server; then the episodes meet one that is not there."""
    environment = load_environment(url=url, count=1)
    (task,) = environment.taskset
    lost = task.with_data(url="http://127.0.0.1:9")
    with pytest.raises(ConnectionFailed):
        asyncio.run(environment.run(lost, None))
