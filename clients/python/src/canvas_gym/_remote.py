"""The server's reward for trainers that send a prompt and a label of their own; it reads chat templates and labels."""

from __future__ import annotations

import functools
from typing import Any, Dict, List, Optional, Sequence, Tuple, TypedDict, Union

# OpenRLHF and verl load their adapters by path, so nothing that those import is imported by a dot.
from canvas_gym._api import Api, Operation
from canvas_gym._batches import MAX_BYTES, MAX_ITEMS, assert_numbers, cut
from canvas_gym._checks import assert_columns, assert_preset
from canvas_gym.client import Client, split_urls
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
RETRIES = 8  # 9 tries, 20 seconds of waiting between them; the trainers that use this take an exception as the end


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
    columns: Dict[str, Optional[Sequence[Any]]] = {"query": query, "prompts": prompts, "labels": labels}
    assert_columns(len(query), **columns)
    assert_preset(preset)
    answer: RemoteRewards = {"rewards": [], "scores": [], "extra_logs": {}}
    # An empty batch is asked for too: its columns have names.
    for fields in list(cut(columns, MAX_ITEMS, MAX_BYTES)) or [columns]:
        part = client._call(GET_REWARD, {**fields, "reward": preset})
        numbers = {"rewards": part["rewards"], "scores": part["scores"], **part["extra_logs"]}
        for name, column in numbers.items():
            assert_numbers(name, column, len(fields["query"] or ()))
        answer["rewards"] += part["rewards"]
        answer["scores"] += part["scores"]
        for name, column in part["extra_logs"].items():
            answer["extra_logs"].setdefault(name, []).extend(column)
    return answer


def shared_client(
    url: Union[str, Sequence[str], None], *, timeout: float = 60.0, retries: Optional[int] = None
) -> Union[Client, Replicas]:
    """Give the client for an address, or several: one for the whole process, by default with patience.

    >>> shared_client("http://a:8000") is shared_client(["http://a:8000"]), shared_client("http://a:8000").retries
    (True, 8)
    """
    return _connect(tuple(split_urls(url)), timeout, RETRIES if retries is None else retries)


@functools.lru_cache(maxsize=64)
def _connect(urls: Tuple[str, ...], timeout: float, retries: int) -> Union[Client, Replicas]:
    return connect(urls, timeout=timeout, retries=retries)
