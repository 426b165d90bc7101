"""The server's reward for trainers that send a prompt and a label of their own; it reads chat templates and labels."""

from __future__ import annotations

import functools
import math
from typing import Any, Dict, List, Optional, Sequence, TypedDict, Union

# OpenRLHF and verl load their adapters by path, so nothing that those import is imported by a dot.
from canvas_gym._api import Api, Operation
from canvas_gym._checks import assert_columns, assert_preset
from canvas_gym.client import Client
from canvas_gym.errors import CanvasGymError
from canvas_gym.replicas import Replicas, connect

__all__ = ["RemoteRewards", "get_rewards", "shared_client"]

GET_REWARD = Operation(
    method="POST",
    path="/get_reward",
    path_fields=(),
    query_fields=("reward",),
    body_fields=("query", "prompts", "labels"),
    required_fields=("query",),
    answer="json",
    accept="application/json",
)
BATCH = 1024
RETRIES = 8  # some 20 seconds of waiting; the trainers that use this take an exception as the end


class RemoteRewards(TypedDict):
    """Rewards in [0, 1], in order, and every component of them as a column."""

    rewards: List[float]
    scores: List[float]
    extra_logs: Dict[str, List[float]]


def get_rewards(
    client: Api,
    *,
    query: Sequence[str],
    prompts: Optional[Sequence[str]],
    labels: Optional[Sequence[Any]],
    preset: Optional[str] = None,
) -> RemoteRewards:
    """Score texts.

    Args:
        client: The server.
        query: Prompt and response as one text, with the tokens of a chat template or without.
        prompts: What each query begins with; None where they are responses alone.
        labels: Tasks: an id, an object or its JSON text, or None for the prompt itself.
        preset: Reward preset, default graded.
    """
    assert_columns(len(query), query=query, prompts=prompts, labels=labels)
    assert_preset(preset)
    answer: RemoteRewards = {"rewards": [], "scores": [], "extra_logs": {}}
    for start in range(0, max(len(query), 1), BATCH):  # an empty batch is asked for too: its columns have names
        cut = slice(start, start + BATCH)
        columns = {"query": query, "prompts": prompts, "labels": labels}
        fields = {name: None if column is None else list(column[cut]) for name, column in columns.items()}
        part = client._call(GET_REWARD, {**fields, "reward": preset})
        _assert_rewards(part["rewards"], len(fields["query"] or ()))
        answer["rewards"] += part["rewards"]
        answer["scores"] += part["scores"]
        for name, column in part["extra_logs"].items():
            answer["extra_logs"].setdefault(name, []).extend(column)
    return answer


def _assert_rewards(rewards: Any, count: int) -> None:
    """Raise where rewards are not as many finite numbers as there are texts: a trainer would not notice."""
    numbers = [reward for reward in rewards if isinstance(reward, (int, float)) and math.isfinite(reward)]
    if len(rewards) != count or len(numbers) != count:
        raise CanvasGymError(f"the server answered {len(numbers)} rewards for {count} texts")


@functools.lru_cache(maxsize=16)
def shared_client(url: Optional[str]) -> Union[Client, Replicas]:
    """Give the client for an address, one for the whole process, with patience."""
    return connect(url, retries=RETRIES)
