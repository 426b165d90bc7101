"""canvas_gym.verl under the reward managers of the newest verl, which has no interactions any more."""

import asyncio
import json
from typing import Any

import numpy as np
import omegaconf
import pytest
import torch
from transformers import AutoTokenizer
from verl import DataProto
from verl.experimental.reward_loop.reward_manager import DAPORewardManager, NaiveRewardManager, RateLimitedRewardManager
from verl.trainer.ppo.reward import get_custom_reward_fn

from canvas_gym import Client
from canvas_gym.datasets import verl_rows

TASK_ID = "train.pipeline.1.3"
SOLUTION = json.dumps(
    {
        "actions": [
            {"type": "create_shape", "id": "a", "shape": "ellipse", "x": 9, "y": 9, "w": 90, "h": 60, "text": "Record"}
        ]
    }
)


@pytest.mark.parametrize("name", ["compute_score", "compute_score_sync"])
@pytest.mark.parametrize("manager", [NaiveRewardManager, DAPORewardManager, RateLimitedRewardManager])
def test_a_rollout_is_rewarded(manager: Any, name: str, url: str, checkpoint: str) -> None:
    reward = {
        "custom_reward_function": {"path": "pkg://canvas_gym.verl", "name": name, "reward_kwargs": {"url": url}},
        "reward_kwargs": {},
        "max_concurrent": 8,
    }
    config = omegaconf.OmegaConf.create({"reward": reward, "data": {}})
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    client = Client(url)
    row: Any = next(verl_rows([client.task(task_id=TASK_ID)]))
    answer = tokenizer(SOLUTION, add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
    tensors = {
        "prompts": torch.tensor([[1, 2]]),
        "responses": torch.tensor([answer]),
        "attention_mask": torch.ones(1, 2 + len(answer), dtype=torch.long),
    }
    others = {
        key: np.array([value], dtype=object)
        for key, value in {**row, "extra_info": dict(row["extra_info"]), "__num_turns__": 2}.items()
    }
    data = DataProto.from_single_dict({**tensors, **others})

    async def run() -> Any:
        return await manager(config, tokenizer, get_custom_reward_fn(config)).run_single(data)

    result = asyncio.run(run())
    expected = client.reward(task_id=TASK_ID, completion=SOLUTION)
    assert result["reward_score"] == pytest.approx(expected["reward"]) and result["reward_score"] > 0
    for component, value in expected["components"].items():
        assert result["reward_extra_info"][component] == value
