"""Reward functions and an interaction for verl.

    reward.custom_reward_function.path=pkg://canvas_gym.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.url=http://127.0.0.1:8000

and rows from `canvas_gym.datasets.verl_rows`. `compute_score` is for the reward managers naive, dapo, gdpo and
rate_limited, `compute_score_sync` for remote, `compute_score_batch` for batch (up to verl 0.7). `DiagramInteraction`
plays several turns; verl 0.5 to 0.7 have interactions, later ones dropped them. verl is not needed to import this.
A failure of the server raises, after 20 seconds of retries, and is never a score.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple
from uuid import uuid4

# A trainer may load this file by its path, so nothing is imported by a dot.
from canvas_gym._checks import assert_columns
from canvas_gym._episode import TextEpisode, describe_turn, last_text, parse_task
from canvas_gym._remote import get_rewards, shared_client

if TYPE_CHECKING:
    BaseInteraction = object
else:
    try:
        from verl.interactions.base import BaseInteraction
    except ImportError:  # not installed, or a version without interactions
        BaseInteraction = object

__all__ = ["DiagramInteraction", "compute_score", "compute_score_batch", "compute_score_sync"]

MAX_EPISODES = 16_384
MAX_TURNS = 3


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Optional[Sequence[Optional[Mapping[str, Any]]]] = None,
    *,
    url: Optional[str] = None,
    preset: Optional[str] = None,
    **_: Any,
) -> List[Dict[str, float]]:
    """Score a batch with one request.

    Args:
        data_sources: Not read.
        solution_strs: What the model wrote.
        ground_truths: The tasks: an id, or `{"task_id": ...}`, `{"task": ...}` or an inline task, also as JSON text.
        extra_infos: Where a ground truth is empty, `prompt` in here is the task.
        url: Where the server is, or several addresses with commas between; None stands for CANVAS_GYM_URL.
        preset: Reward preset, default graded.

    Returns:
        For each answer `score`, and every component of the reward; the keys never differ, the values are numbers in
        [0, 1].
    """
    assert_columns(len(solution_strs), ground_truths=ground_truths, extra_infos=extra_infos)
    infos = extra_infos if extra_infos is not None else [None] * len(solution_strs)
    labels = [truth or _task_of_info(info) for truth, info in zip(ground_truths, infos)]
    answer = get_rewards(shared_client(url), query=solution_strs, prompts=None, labels=labels, preset=preset)
    columns = {**answer["extra_logs"], "score": answer["rewards"]}
    return [{name: float(column[i]) for name, column in columns.items()} for i in range(len(solution_strs))]


def compute_score_sync(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Optional[Mapping[str, Any]] = None,
    **options: Any,
) -> Dict[str, float]:
    """Score one answer; arguments and result are those of compute_score_batch for one."""
    return compute_score_batch([data_source], [solution_str], [ground_truth], [extra_info], **options)[0]


async def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Optional[Mapping[str, Any]] = None,
    **options: Any,
) -> Dict[str, float]:
    """Score one answer and leave the event loop free meanwhile; otherwise compute_score_sync."""
    return await asyncio.to_thread(compute_score_sync, data_source, solution_str, ground_truth, extra_info, **options)


class DiagramInteraction(BaseInteraction):
    """Several turns: after each answer the model is shown the canvas and what to change.

    The scores of the turns add up to the reward of the drawing less 0.01 a turn.

    Args:
        config: `url`, `preset`, `max_turns` (default 3) and `name`, as in the YAML list of interactions.
    """

    def __init__(self, config: Dict[str, Any]) -> None:
        self.config = config
        self.name = config.get("name", "diagram")
        # verl does not finish an interaction that ran out of tokens, so that the oldest have to make room.
        self._episodes: OrderedDict[str, TextEpisode] = OrderedDict()

    async def start_interaction(self, instance_id: Optional[str] = None, **kwargs: Any) -> str:
        """Begin an episode on `task_id`, `task` or `prompt`, the row's interaction_kwargs."""
        instance_id = instance_id or uuid4().hex
        task = {name: kwargs[name] for name in ("task_id", "task", "prompt") if kwargs.get(name)}
        if not task:
            raise ValueError("interaction_kwargs must have task_id, task or prompt")
        episode = TextEpisode(
            shared_client(self.config.get("url")),
            preset=self.config.get("preset"),
            max_turns=self.config.get("max_turns", MAX_TURNS),
            action_set="editor",
        )
        await asyncio.to_thread(episode.start, parse_task(task))
        self._episodes[instance_id] = episode
        if len(self._episodes) > MAX_EPISODES:
            self._episodes.popitem(last=False)
        return instance_id

    async def generate_response(
        self, instance_id: str, messages: List[Dict[str, Any]], **_: Any
    ) -> Tuple[bool, str, float, Dict[str, Any]]:
        """Play the assistant's last message.

        Returns:
            Whether the episode is over, the user's next message, the reward of this turn, and numbers to log.
        """
        episode = self._episodes[instance_id]
        answer = await asyncio.to_thread(episode.play, last_text(messages, "assistant"))
        said = "The episode is over." if answer["done"] else describe_turn(answer)
        return answer["done"], said, float(answer["reward"]), episode.metrics

    async def calculate_score(self, instance_id: str, **_: Any) -> float:
        """Sum of the rewards of the turns so far."""
        return self._episodes[instance_id].total_reward

    async def finalize_interaction(self, instance_id: str, **_: Any) -> None:
        """Forget the episode."""
        self._episodes.pop(instance_id, None)


def _task_of_info(info: Optional[Mapping[str, Any]]) -> Optional[Dict[str, Any]]:
    prompt = (info or {}).get("prompt")
    return {"prompt": last_text(prompt, "user")} if prompt else None
