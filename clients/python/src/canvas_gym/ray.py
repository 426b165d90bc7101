"""Scoring and rollouts as Ray tasks, over several replicas of the server.

    import ray
    from canvas_gym.ray import rollouts, score

    ray.init()
    urls = ["http://10.0.0.1:8000", "http://10.0.0.2:8000"]
    rewards = score(urls, completions, task_ids=task_ids)["rewards"]
    for trajectory in rollouts(urls, policy, task_ids, max_turns=3): ...

Servers keep nothing, so a request that a dying one left open is sent to the next, also in the middle of an episode, and
a task whose worker died is run again by Ray: nothing is lost, and nothing counted twice. Left out: an engine. Ray
places the tasks, and the policy is any function, e.g. a call of a served model.
"""

from __future__ import annotations

from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TypedDict,
    Union,
    cast,
)

from ._api import Observation, Preset
from ._batches import MAX_BYTES, MAX_ITEMS, assert_scores, cut
from ._checks import assert_columns, assert_preset, framework
from ._episode import TextEpisode, parse_task, task_columns
from ._remote import RETRIES
from .client import split_urls
from .replicas import Replicas

with framework("ray"):
    import ray

__all__ = ["Scores", "Trajectory", "Turn", "rollouts", "score"]

MAX_RETRIES = 5  # of a task whose worker died
BATCH_SIZE = 64
MAX_IN_FLIGHT = 64

Policy = Callable[[Observation], str]
"""What a model writes to an observation. It is sent to the workers, so it must pickle."""
Urls = Union[str, Sequence[str], None]


class Scores(TypedDict):
    """Rewards in [0, 1] and their components, in the order of the completions; None and {} where a server failed."""

    rewards: List[Optional[float]]
    components: List[Dict[str, float]]


class Turn(TypedDict):
    """What the policy saw, what it wrote, and the reward of it."""

    observation: Observation
    action: str
    reward: float


class Trajectory(TypedDict):
    """An episode. `reward` is the sum over its turns, `index` the place of its task."""

    index: int
    task: Dict[str, Any]
    turns: List[Turn]
    reward: float
    stop_reason: Optional[str]


def score(
    urls: Urls,
    completions: Sequence[Any],
    *,
    task_ids: Optional[Sequence[Optional[str]]] = None,
    tasks: Optional[Sequence[Optional[Mapping[str, Any]]]] = None,
    prompts: Optional[Sequence[Any]] = None,
    preset: Optional[Preset] = None,
    batch_size: int = BATCH_SIZE,
) -> Scores:
    """Score completions, a Ray task for each batch.

    Args:
        urls: Where the replicas are.
        completions: Texts, or lists of messages.
        task_ids: Tasks of the suite.
        tasks: Inline tasks, where task_ids has None.
        prompts: Prompts, where both have None.
        preset: Reward preset, default graded.
        batch_size: Completions a request, at most; fewer where they are very large.

    Raises:
        ConnectionFailed: No replica answered.
        ResponseError: A replica refused.
    """
    assert_columns(len(completions), completions=completions, prompts=prompts, task_ids=task_ids, tasks=tasks)
    assert_preset(preset)
    named = task_columns(len(completions), task_ids, tasks)
    parts = cut({"completions": completions, "prompts": prompts, **named}, min(batch_size, MAX_ITEMS), MAX_BYTES)
    client = Replicas(split_urls(urls), retries=RETRIES)
    scored = _as_they_end(lambda part: _score.remote(client, part, preset), parts)
    answers = [answer for _, answer in sorted(scored, key=lambda pair: pair[0])]
    return {
        "rewards": [reward for answer in answers for reward in answer["rewards"]],
        "components": [item for answer in answers for item in answer["components"]],
    }


def rollouts(
    urls: Urls,
    policy: Policy,
    tasks: Iterable[Any],
    *,
    preset: Optional[Preset] = None,
    max_turns: int = 1,
    action_set: Optional[str] = None,
    in_flight: int = MAX_IN_FLIGHT,
) -> Iterator[Trajectory]:
    """Play an episode for each task, a Ray task each, and give the trajectories as they end.

    Args:
        urls: Where the replicas are.
        policy: Called with the observation of each turn.
        tasks: Ids, or `{"task_id": ...}`, `{"task": ...}` or inline tasks, also as JSON text.
        preset: Reward preset, default graded.
        max_turns: Turns of an episode.
        action_set: `core` or `editor`; default editor where there are several turns.
        in_flight: Episodes at a time.

    Raises:
        ConnectionFailed: No replica answered.
        ResponseError: A replica refused.
    """
    client = Replicas(split_urls(urls), retries=RETRIES)
    rules = {"preset": preset, "max_turns": max_turns, "action_set": action_set}
    shared = ray.put(policy)
    for index, played in _as_they_end(lambda task: _play.remote(client, shared, task, rules), tasks, in_flight):
        yield cast("Trajectory", {"index": index, **played})


@ray.remote(max_retries=MAX_RETRIES)
def _score(client: Replicas, columns: Mapping[str, Any], preset: Optional[Preset]) -> Any:
    answer = client.score(
        completions=columns["completions"],
        prompts=columns["prompts"],
        context={"task_id": columns["task_id"], "task": columns["task"]},
        reward=preset,
    )
    assert_scores(answer, len(columns["completions"]))
    return answer


@ray.remote(max_retries=MAX_RETRIES)
def _play(client: Replicas, policy: Policy, task: Any, rules: Mapping[str, Any]) -> Dict[str, Any]:
    episode = TextEpisode(client, **rules)
    named = parse_task(task)
    seen = episode.start(named)
    turns: List[Turn] = []
    stop_reason: Optional[str] = None
    while not episode.is_over:
        text = policy(seen)
        answer = episode.play(text)
        turns.append({"observation": seen, "action": text, "reward": float(answer["reward"])})
        seen, stop_reason = answer["observation"], answer["stop_reason"]
    return {"task": named, "turns": turns, "reward": episode.total_reward, "stop_reason": stop_reason}


def _as_they_end(
    submit: Callable[[Any], Any], items: Iterable[Any], in_flight: int = MAX_IN_FLIGHT
) -> Iterator[Tuple[int, Any]]:
    """Submit a Ray task for each item, so many at a time, and give index and result of each as it ends."""
    waiting: Dict[Any, int] = {}
    for index, item in enumerate(items):
        if len(waiting) >= in_flight:
            yield _first(waiting)
        waiting[submit(item)] = index
    while waiting:
        yield _first(waiting)


def _first(waiting: Dict[Any, int]) -> Tuple[int, Any]:
    (done,), _ = ray.wait(list(waiting), num_returns=1)
    return waiting.pop(done), ray.get(done)
