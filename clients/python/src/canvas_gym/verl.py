"""Reward functions and an interaction for verl.

    reward.custom_reward_function.path=pkg://canvas_gym.verl
    reward.custom_reward_function.name=compute_score
    +reward.custom_reward_function.reward_kwargs.url=http://127.0.0.1:8000

and rows from `canvas_gym.datasets.verl_rows`. `compute_score` is for the reward managers naive, dapo and gdpo,
`compute_score_sync` for remote, `compute_score_batch` for batch (up to verl 0.7). `DiagramInteraction` plays several
turns in verl 0.5 to 0.7, which dropped interactions after that; in 0.7 under the managers naive and remote, since dapo
and gdpo do not hand on what the turns were worth. verl is not needed to import this.

A failure of the server raises, after 9 tries of up to a minute each, and is never a score. The manager rate_limited
makes 0 of it all the same, as of every exception and of an answer that takes over 300 s: leave it alone.
"""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple
from uuid import uuid4

# A trainer may load this file by its path, so nothing is imported by a dot.
from canvas_gym._checks import assert_columns
from canvas_gym._episode import TextEpisode, last_text, parse_task, task_of
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
SETTINGS = ("url", "preset", "max_turns", "name")


def compute_score_batch(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Optional[Sequence[Optional[Mapping[str, Any]]]] = None,
    *,
    url: Optional[str] = None,
    preset: Optional[str] = None,
    reward_router_address: Any = None,
    reward_model_tokenizer: Any = None,
    **unknown: Any,
) -> List[Dict[str, float]]:
    """Score a batch with one request.

    Args:
        data_sources: Not read.
        solution_strs: What the model wrote.
        ground_truths: The tasks: an id, or `{"task_id": ...}`, `{"task": ...}` or an inline task, also as JSON text.
        extra_infos: Where a ground truth is empty, `task_id`, `task` or `prompt` in here is the task. Where
            DiagramInteraction played the turns, verl has put their rewards in here (`turn_scores`, in verl 0.5
            `rollout_reward_scores`), and their sum is the score: the solution is the whole conversation then.
        url: Where the server is, or several addresses with commas between; None stands for CANVAS_GYM_URL.
        preset: Reward preset, default graded.
        reward_router_address: Not read; verl passes it where it serves a reward model.
        reward_model_tokenizer: Not read.
        **unknown: Refused.

    Returns:
        For each answer `score`, and every component of the reward; the keys never differ. Of one turn the values are in
        [0, 1]; of several the score is the reward of the drawing less 0.01 a turn, and the components are NaN.
    """
    _refuse(unknown, ("url", "preset"))
    assert_columns(len(solution_strs), ground_truths=ground_truths, extra_infos=extra_infos)
    infos = [info or {} for info in extra_infos] if extra_infos is not None else [{}] * len(solution_strs)
    turns = [_turn_scores(info) for info in infos]
    alone = [i for i, scores in enumerate(turns) if not scores]
    answer = get_rewards(
        shared_client(url),
        query=[solution_strs[i] for i in alone],
        prompts=None,
        labels=[_task(ground_truths[i], infos[i]) for i in alone],
        preset=preset,
    )
    columns = {**answer["extra_logs"], "score": answer["rewards"]}
    results = [{**dict.fromkeys(columns, math.nan), "score": sum(scores)} for scores in turns]
    for row, i in enumerate(alone):
        results[i] = {name: float(column[row]) for name, column in columns.items()}
    return results


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

    The scores of the turns add up to the reward of the drawing less 0.01 a turn. verl trains on what the custom reward
    function makes of them, so compute_score has to be it.

    Args:
        config: `url`, `preset`, `max_turns` (default 3) and `name`, as in the YAML list of interactions.
    """

    def __init__(self, config: Dict[str, Any]) -> None:
        _refuse({name: value for name, value in config.items() if name not in SETTINGS}, SETTINGS)
        self.config = config
        self.name = config.get("name", "diagram")
        # An episode is forgotten when it is over. verl does not say that one was cut short, so the oldest make room.
        self._episodes: OrderedDict[str, TextEpisode] = OrderedDict()

    async def start_interaction(self, instance_id: Optional[str] = None, **kwargs: Any) -> str:
        """Begin an episode on `task_id`, `task` or `prompt`, the row's interaction_kwargs."""
        instance_id = instance_id or uuid4().hex
        task = _task(None, kwargs)
        if not task:
            raise ValueError("interaction_kwargs must have task_id, task or prompt")
        episode = TextEpisode(
            shared_client(self.config.get("url")),
            preset=self.config.get("preset"),
            max_turns=self.config.get("max_turns", MAX_TURNS),
            action_set="editor",
        )
        await asyncio.to_thread(episode.start, task)
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
        if answer["done"]:
            self._episodes.pop(instance_id, None)
        said = "The episode is over." if answer["done"] else episode.next_message(answer)
        return answer["done"], said, float(answer["reward"]), episode.metrics

    async def calculate_score(self, instance_id: str, **_: Any) -> float:
        """Sum of the rewards of the turns so far, while the episode goes on."""
        return self._episodes[instance_id].total_reward

    async def finalize_interaction(self, instance_id: str, **_: Any) -> None:
        """Forget the episode."""
        self._episodes.pop(instance_id, None)


def _task(truth: Any, info: Mapping[str, Any]) -> Optional[Dict[str, Any]]:
    """Read the task of a row as the server takes a label; None where there is none."""
    asked = last_text(info.get("prompt"), "user")
    return parse_task(truth) or task_of(info) or (parse_task({"prompt": asked}) if asked else None)


def _turn_scores(info: Mapping[str, Any]) -> List[float]:
    """List what an interaction gave for the turns of a rollout: in verl 0.6 and 0.7 `turn_scores`, before the other."""
    rollout = info.get("rollout_reward_scores") or {}
    for scores in (info.get("turn_scores"), rollout.get("user_turn_rewards")):
        if scores is not None and len(scores) > 0:
            return [float(score) for score in scores if score is not None]
    return []


def _refuse(unknown: Mapping[str, Any], known: Sequence[str]) -> None:
    if unknown:
        raise TypeError(
            f"unknown settings {', '.join(map(repr, unknown))}; there are {', '.join(known)}, "
            "and the reward preset is named `preset`"
        )
