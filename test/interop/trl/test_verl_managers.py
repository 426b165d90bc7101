"""canvas_gym.verl under the reward managers of the newest verl, which has no interactions any more."""

import asyncio
import json
from typing import Any

import numpy as np
import omegaconf
import pytest
import torch
from overrides import apply, readme_overrides
from transformers import AutoTokenizer
from verl import DataProto
from verl.experimental.reward_loop.reward_manager import DAPORewardManager, NaiveRewardManager, RateLimitedRewardManager
from verl.trainer.ppo.reward import get_custom_reward_fn

from canvas_gym import Client, ConnectionFailed, _remote
from canvas_gym.datasets import verl_rows

TASK_ID = "train.pipeline.1.3"
DEAD = "http://127.0.0.1:9"
ROW: Any = next(verl_rows([Client().task(task_id=TASK_ID)]))
SOLUTION = json.dumps(
    {
        "actions": [
            {"type": "create_shape", "id": "a", "shape": "ellipse", "x": 9, "y": 9, "w": 90, "h": 60, "text": "Record"}
        ]
    }
)


def run_single(manager: Any, url: str, checkpoint: str, name: str = "compute_score", **fields: Any) -> Any:
    """A rollout as the reward loop hands it to a manager; `fields` are those that an agent loop adds."""
    reward = {
        "custom_reward_function": {"path": "pkg://canvas_gym.verl", "name": name, "reward_kwargs": {"url": url}},
        "reward_kwargs": {},
        "max_concurrent": 8,
    }
    config = omegaconf.OmegaConf.create({"reward": reward, "data": {}})
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    row: Any = {**ROW, "extra_info": dict(ROW["extra_info"]), "__num_turns__": 2, **fields}
    answer = tokenizer(SOLUTION, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    tensors = {
        "prompts": torch.tensor([[1, 2]]),
        "responses": torch.tensor([answer]),
        "attention_mask": torch.ones(1, 2 + len(answer), dtype=torch.long),
    }
    data = DataProto.from_single_dict({**tensors, **{key: as_column(value) for key, value in row.items()}})

    async def run() -> Any:
        return await manager(config, tokenizer, get_custom_reward_fn(config)).run_single(data)

    return asyncio.run(run())


def as_column(value: Any) -> Any:
    column = np.empty(1, dtype=object)
    column[0] = value
    return column


@pytest.mark.parametrize("name", ["compute_score", "compute_score_sync"])
@pytest.mark.parametrize("manager", [NaiveRewardManager, DAPORewardManager, RateLimitedRewardManager])
def test_a_rollout_is_rewarded(manager: Any, name: str, url: str, checkpoint: str) -> None:
    result = run_single(manager, url, checkpoint, name, tool_extra_fields={"turn_scores": [], "tool_rewards": []})
    expected = Client(url).reward(task_id=TASK_ID, completion=SOLUTION)
    assert result["reward_score"] == pytest.approx(expected["reward"]) and result["reward_score"] > 0
    for component, value in expected["components"].items():
        assert result["reward_extra_info"][component] == value


def test_turns_are_rewarded_by_what_they_were_worth(url: str, checkpoint: str) -> None:
    """verl up to 0.7 puts there what the interaction gave; the manager is the same in 0.7.1."""
    turns = {"turn_scores": [0.5365, 0.4365], "tool_rewards": []}
    result = run_single(NaiveRewardManager, url, checkpoint, tool_extra_fields=turns)
    alone = run_single(NaiveRewardManager, url, checkpoint)
    assert result["reward_score"] == pytest.approx(0.973)
    assert set(result["reward_extra_info"]) == set(alone["reward_extra_info"]), "columns of one batch"


@pytest.mark.parametrize("name", ["compute_score", "compute_score_sync"])
def test_an_outage_stops_naive_and_is_0_to_rate_limited(
    name: str, checkpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_remote, "RETRIES", 0)
    with pytest.raises(ConnectionFailed):
        run_single(NaiveRewardManager, DEAD, checkpoint, name)
    result = run_single(RateLimitedRewardManager, DEAD, checkpoint, name)
    assert result["reward_score"] == 0.0 and "no answer from" in result["reward_extra_info"]["error"]


def test_an_unknown_setting_stops_it(url: str, checkpoint: str) -> None:
    config = omegaconf.OmegaConf.create({"reward": {"custom_reward_function": {"path": "pkg://canvas_gym.verl"}}})
    config.reward.custom_reward_function.update({"name": "compute_score", "reward_kwargs": {"reward": "article"}})
    with pytest.raises(TypeError, match="the reward preset is named `preset`"):
        asyncio.run(get_custom_reward_fn(config)("d", SOLUTION, TASK_ID, {}))


def test_the_overrides_of_the_readme_are_verls() -> None:
    """But for interactions, which the README has for older versions."""
    apply([(key, value) for key, value in readme_overrides() if "interaction" not in key])
