"""FAI-RL's own reward over HTTP (`APIRewardFunction`) with this server as its endpoint."""

from typing import Any

import pytest
from conftest import GOOD, PROSE, TASK_ID, load
from faulty_server import FaultyServer, json_answer, refusal

load("fai-rl", "utils.config_validation")
config = load("fai-rl", "core.config")
api_reward = load("fai-rl", "trainers.rewards.api_reward")


def reward_function(endpoint: str, **fields: Any) -> Any:
    settings = config.RewardAPIConfig(**{"endpoint": endpoint, "max_retries": 0, **fields})
    return api_reward.APIRewardFunction(settings)


@pytest.mark.parametrize("path", ["/fai_rl", "/score"])
def test_columns_of_the_data_set_name_the_tasks(url, reward_of, path):
    rewards = reward_function(f"{url}{path}")(
        prompts=["Draw it."] * 2,
        completions=[GOOD, PROSE],
        task_id=[TASK_ID] * 2,
        answer=["unused", None],
        completion_ids=[[1, 2], [3]],
    )
    assert rewards == [reward_of(GOOD), reward_of(PROSE)]


def test_conversations_and_fields_of_the_user(url, reward_of):
    rewards = reward_function(f"{url}/fai_rl", extra_body={"model": "judge", "temperature": 0.2})(
        prompts=[[{"role": "user", "content": "Draw it."}]],
        completions=[[{"role": "assistant", "content": GOOD}]],
        task_id=[TASK_ID],
    )
    assert rewards == [reward_of(GOOD)]


def test_a_preset_of_the_user(url):
    rewards = reward_function(f"{url}/fai_rl", extra_body={"reward": "weak"})(
        prompts=["Draw it."] * 2, completions=[GOOD, PROSE], task_id=[TASK_ID] * 2
    )
    assert rewards == [1.0, 0.0]


def test_an_unknown_task_ends_training_with_its_name(url):
    with pytest.raises(RuntimeError, match="404"):
        reward_function(f"{url}/fai_rl")(prompts=["x"], completions=["y"], task_id=["no.such.task.1"])


BUSY = refusal(503, "overloaded", retry_after="1")


def test_a_busy_server_is_asked_again():
    with FaultyServer(BUSY, json_answer({"rewards": [0.5]})) as server:
        ask = reward_function(f"{server.url}/fai_rl", max_retries=1, retry_backoff_seconds=0)
        assert ask(prompts=["x"], completions=["y"]) == [0.5]
        assert server.requests == [("POST", "/fai_rl")] * 2


def test_a_server_that_stays_busy_ends_training_and_is_no_reward():
    with FaultyServer(BUSY, BUSY, json_answer({"rewards": [0.5]})) as server:
        ask = reward_function(f"{server.url}/fai_rl", max_retries=1, retry_backoff_seconds=0)
        with pytest.raises(RuntimeError, match="503"):
            ask(prompts=["x"], completions=["y"])
        assert server.requests == [("POST", "/fai_rl")] * 2
