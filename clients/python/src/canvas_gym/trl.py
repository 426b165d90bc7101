"""Reward functions and an environment for TRL's trainers (GRPO, RLOO, online DPO), and for Unsloth, which runs them.

    from canvas_gym.trl import RewardFunction
    trainer = GRPOTrainer(model, reward_funcs=RewardFunction("http://127.0.0.1:8000"), train_dataset=rows, ...)

    from canvas_gym.trl import DiagramEnvironment
    trainer = GRPOTrainer(model, environment_factory=DiagramEnvironment, train_dataset=rows, ...)

Rows come from `canvas_gym.datasets.prompt_rows`. The server is at CANVAS_GYM_URL unless an argument says otherwise.
Neither TRL nor torch is imported, so any version will do. What the server could not score is None, which TRL from 1.6
on leaves out of the training; before that, `RewardFunction(on_outage="raise")` keeps it from being taken for 0.
"""

from __future__ import annotations

import logging
from typing import Any, Callable, Dict, List, Literal, Mapping, Optional, Sequence, Tuple, Union

from ._api import Preset, StepResponse
from ._batches import MAX_BYTES, MAX_ITEMS, assert_scores, cut
from ._checks import assert_columns, assert_preset
from ._episode import TextEpisode, last_text, task_columns, task_of
from ._remote import shared_client
from .client import public_url, split_urls
from .errors import CanvasGymError
from .replicas import is_outage

__all__ = [
    "DiagramEnvironment",
    "DiagramTools",
    "RewardFunction",
    "article_reward",
    "environment_reward",
    "graded_reward",
    "reward_function",
    "stronger_reward",
    "weak_reward",
]

logger = logging.getLogger(__name__)

MAX_CALLS = 100
SUITE_FIELDS = ("seed", "split", "family", "level", "index")

ShapeKind = Literal["rectangle", "ellipse", "diamond", "text"]


class RewardFunction:
    """A reward function: one request to the server for a whole batch. It pickles, and may be called from threads.

    Args:
        url: Where the server is, or several addresses; None stands for CANVAS_GYM_URL.
        preset: Reward preset: graded, article, stronger or weak.
        on_outage: What becomes of a batch when the server does not answer in spite of the retries, and of items that
            it could not score: "none" (the reward is None) or "raise". TRL before 1.6, which Unsloth may bring, takes
            None for 0 where there is no other reward: "raise" is right there.
        timeout: Seconds that one attempt may take.
        retries: How often a failed request is repeated.
        name: What TRL's logs call it.
    """

    def __init__(
        self,
        url: Union[str, Sequence[str], None] = None,
        preset: Preset = "graded",
        *,
        on_outage: Literal["none", "raise"] = "none",
        timeout: float = 60.0,
        retries: int = 4,
        name: Optional[str] = None,
    ) -> None:
        assert_preset(preset)
        if on_outage not in ("none", "raise"):
            raise ValueError(f"on_outage must be 'none' or 'raise', and is {on_outage!r}")
        self.preset = preset
        self.url = url
        self.on_outage = on_outage
        self.timeout = timeout
        self.retries = retries
        self.__name__ = name or f"{preset}_reward"
        self._logged: Tuple[str, ...] = ()
        if url is not None:
            shared_client(url, timeout=timeout, retries=retries)  # says what is wrong with an address

    def __repr__(self) -> str:
        urls = None if self.url is None else ",".join(map(public_url, split_urls(self.url)))
        return f"RewardFunction({urls!r}, {self.preset!r})"

    def __call__(
        self,
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        log_extra: Optional[Callable[[str, List[Any]], None]] = None,
        log_metric: Optional[Callable[[str, float], None]] = None,
        **columns: Any,
    ) -> List[Optional[float]]:
        """Score a batch.

        Args:
            prompts: Texts, or lists of messages.
            completions: Texts, or lists of messages, of which the last of the assistant counts.
            log_extra: Gets every component of the reward as a column, where the trainer offers it. The names begin with
                that of the function.
            log_metric: Gets the mean of every component, where the trainer offers it.
            **columns: Columns of the data set. `task_id`, else `task` (an inline task, or its JSON text), says what to
                score against; where both are missing or empty, the prompt does.

        Returns:
            A reward in [0, 1] for each completion; None where the server failed.
        """
        items = _to_items(prompts, completions, columns)
        rewards: List[Optional[float]] = []
        components: List[Mapping[str, float]] = []
        for batch in cut(items, MAX_ITEMS, MAX_BYTES):
            answer = self._score(batch)
            rewards += answer["rewards"]
            components += answer["components"]
        self._log(rewards, components, log_extra, log_metric)
        return rewards

    def _score(self, batch: Mapping[str, Any]) -> Mapping[str, Any]:
        size = len(batch["completions"])
        try:
            answer = shared_client(self.url, timeout=self.timeout, retries=self.retries).score(
                prompts=batch["prompts"],
                completions=batch["completions"],
                context={"task_id": batch["task_id"], "task": batch["task"]},
                reward=self.preset,
            )
        except CanvasGymError as error:
            if self.on_outage == "raise" or not is_outage(error):
                raise
            logger.warning("%d completions have no reward: %s", size, error)
            return {"rewards": [None] * size, "components": [{}] * size}
        assert_scores(answer, size)
        failed = answer["rewards"].count(None)
        if failed and self.on_outage == "raise":
            raise CanvasGymError(f"the server could not score {failed} of {size} completions")
        return answer

    def _log(
        self,
        rewards: Sequence[Optional[float]],
        components: Sequence[Mapping[str, float]],
        log_extra: Optional[Callable[[str, List[Any]], None]],
        log_metric: Optional[Callable[[str, float], None]],
    ) -> None:
        scored = [item for item, reward in zip(components, rewards) if reward is not None]
        if scored:
            self._logged = tuple(scored[0])
        if log_metric is not None and rewards:
            log_metric(f"{self.__name__}/unscored", 1 - len(scored) / len(rewards))
        for name in self._logged if rewards else ():
            column = [None if reward is None else item[name] for item, reward in zip(components, rewards)]
            if log_extra is not None:  # also of an outage: TRL would show the last batch's column beside this one
                log_extra(f"{self.__name__}/{name}", column)
            if log_metric is not None and scored:
                log_metric(f"{self.__name__}/{name}", sum(item[name] for item in scored) / len(scored))


reward_function = RewardFunction

graded_reward = RewardFunction(preset="graded")
article_reward = RewardFunction(preset="article")
stronger_reward = RewardFunction(preset="stronger")
weak_reward = RewardFunction(preset="weak")


class DiagramTools:
    """The canvas as tools: each call draws, and `submit_diagram` ends the episode.

    For `environment_factory` of TRL 0.29 to 1.7, with `environment_reward` among the reward functions; newer ones take
    DiagramEnvironment, which has its reward with it. TRL makes one for each rollout of a batch and resets it again and
    again, so there is nothing to close: the episode lies in this object, not in the server. With arguments:
    `functools.partial(DiagramTools, preset="article")`.

    Args:
        url: Where the server is, or several addresses; None stands for CANVAS_GYM_URL.
        preset: Reward preset, default graded.
        max_calls: Tool calls an episode may take.
        timeout: Seconds that one attempt of a request may take.
        retries: How often a failed request is repeated.
    """

    def __init__(
        self,
        url: Union[str, Sequence[str], None] = None,
        preset: Optional[Preset] = None,
        max_calls: int = MAX_CALLS,
        timeout: float = 60.0,
        retries: int = 4,
    ) -> None:
        client = shared_client(url, timeout=timeout, retries=retries)
        self._episode = TextEpisode(client, preset=preset, max_turns=max_calls, action_set="editor")
        self._has_failed = False

    def reset(self, **row: Any) -> str:
        """Begin an episode.

        Args:
            **row: A row of the data set. Its task is `task_id`, else `task` (an inline task, or its JSON text), else
                its `prompt`, else one of the suite by `seed`, `split`, `family`, `level` and `index`.

        Returns:
            What TRL adds to the user's message: the request where the prompt does not have it, and how to draw.
        """
        asked = last_text(row.get("prompt"), "user").strip()
        task: Dict[str, Any] = task_of(row) or ({"prompt": asked} if asked else {})
        if not task:
            task = {name: row[name] for name in SUITE_FIELDS if row.get(name) is not None}
        self._has_failed = True  # until the server has answered
        try:
            seen = self._episode.start(task)
        except CanvasGymError as error:
            if not is_outage(error):
                raise
            logger.warning("a rollout has no reward: %s", error)
            return ""
        self._has_failed = False
        size = seen["canvas_size"]
        lines = [] if seen["prompt"].strip() in asked else [seen["prompt"]]
        lines.append(
            f"Draw it with the tools on a canvas of {size['w']:g} x {size['h']:g} pixels, then call submit_diagram."
        )
        return "\n" + "\n".join(lines)

    def create_shape(self, id: str, shape: ShapeKind, x: float, y: float, w: float, h: float, text: str = "") -> str:
        """Create a shape. x and y are its top left corner; the label stands inside it.

        Args:
            id: Shape id: any non-empty string, case-sensitive
            shape: Kind of shape: rectangle, ellipse, diamond, or text (a label without an outline)
            x: Canvas pixels; x grows to the right
            y: Canvas pixels; y grows downwards
            w: Width in canvas pixels, over 0 and at most 1000
            h: Height in canvas pixels, over 0 and at most 1000
            text: Label text

        Returns:
            What the canvas holds now, or what was wrong.
        """
        return self._act("create_shape", id=id, shape=shape, x=x, y=y, w=w, h=h, text=text)

    def connect(self, from_id: str, to_id: str, text: str = "") -> str:
        """Draw an arrow from one shape to another.

        Args:
            from_id: Id of the shape where the arrow begins
            to_id: Id of the shape where the arrow ends
            text: Label text

        Returns:
            What the canvas holds now, or what was wrong.
        """
        return self._act("connect", **{"from": from_id, "to": to_id}, text=text)

    def move_shape(self, id: str, x: float, y: float) -> str:
        """Move a shape: x and y are its new top left corner.

        Args:
            id: Shape id
            x: Canvas pixels; x grows to the right
            y: Canvas pixels; y grows downwards

        Returns:
            What the canvas holds now, or what was wrong.
        """
        return self._act("move_shape", id=id, x=x, y=y)

    def resize_shape(self, id: str, w: float, h: float) -> str:
        """Change the size of a shape.

        Args:
            id: Shape id
            w: Width in canvas pixels, over 0 and at most 1000
            h: Height in canvas pixels, over 0 and at most 1000

        Returns:
            What the canvas holds now, or what was wrong.
        """
        return self._act("resize_shape", id=id, w=w, h=h)

    def set_text(self, id: str, text: str) -> str:
        """Change the label of a shape.

        Args:
            id: Shape id
            text: Label text

        Returns:
            What the canvas holds now, or what was wrong.
        """
        return self._act("set_text", id=id, text=text)

    def delete_shape(self, id: str) -> str:
        """Delete a shape and its arrows.

        Args:
            id: Shape id

        Returns:
            What the canvas holds now, or what was wrong.
        """
        return self._act("delete_shape", id=id)

    def disconnect(self, from_id: str, to_id: str) -> str:
        """Delete the arrows from one shape to another.

        Args:
            from_id: Id of the shape where the arrows begin
            to_id: Id of the shape where the arrows end

        Returns:
            What the canvas holds now, or what was wrong.
        """
        return self._act("disconnect", **{"from": from_id, "to": to_id})

    def select(self, ids: List[str]) -> str:
        """Select shapes. Changes nothing in the picture.

        Args:
            ids: Ids of the shapes; an empty list selects none

        Returns:
            What the canvas holds now, or what was wrong.
        """
        return self._act("select", ids=ids)

    def submit_diagram(self, actions: Optional[List[Dict[str, Any]]] = None) -> str:
        """Submit the drawing. It is scored, and the episode ends.

        Args:
            actions: Actions to run first, in order, e.g. a whole diagram; leave it out if the canvas holds the drawing

        Returns:
            The reward, and where points were lost.
        """
        if actions is None:
            return self._act("done")
        said = self._play({"actions": actions if not isinstance(actions, list) else [*actions, {"type": "done"}]})
        return said if self._episode.is_over else f"{said}\n{self._act('done')}"  # what cannot be read ends it too

    def _reward(self) -> Optional[float]:
        return None if self._has_failed else self._episode.drawing_reward

    def _act(self, kind: str, **fields: Any) -> str:
        return self._play({"actions": [{"type": kind, **fields}]})

    def _play(self, action: Any) -> str:
        if self._has_failed:
            raise CanvasGymError("the server failed in this episode, which has no reward therefore")
        if self._episode.is_over:
            return "The episode is over; nothing was changed."
        try:
            answer = self._episode.play(action)
        except CanvasGymError:
            # What a model does raises nothing, so the server failed. TRL tells the model; the rollout has no reward.
            self._has_failed = True
            raise
        return _describe(answer, self._episode.drawing_reward)


class DiagramEnvironment(DiagramTools):
    """DiagramTools with a reward, which TRL 1.8 and later take from it."""

    def get_reward(self) -> Optional[float]:
        """Reward of the drawing as it stands, in [0, 1]; None where the server failed during the episode."""
        return self._reward()


def environment_reward(environments: Sequence[DiagramTools], **_: Any) -> List[Optional[float]]:
    """Give the rewards of DiagramTools, in TRL 0.29 to 1.7."""
    return [environment._reward() for environment in environments]


def _describe(answer: StepResponse, reward: float) -> str:
    """Say what a call did; why points were lost is said at the end alone."""
    seen = answer["observation"]
    shapes, arrows = len(seen["canvas"]["shapes"]), len(seen["canvas"]["arrows"])
    lines = [error["message"] for error in seen["errors"]]
    lines.append(f"The canvas holds {shapes} shape(s) and {arrows} arrow(s).")
    if answer["done"]:
        lines += [f"Reward: {reward:g}", *(reason["message"] for reason in answer["info"]["reasons"])]
    else:
        lines += [lint["message"] for lint in seen["lints"]]
    return "\n".join(lines)


def _to_items(prompts: Sequence[Any], completions: Sequence[Any], columns: Mapping[str, Any]) -> Dict[str, List[Any]]:
    """Bring the columns of a trainer into the form that /score takes; a named task needs no prompt."""
    size = len(completions)
    assert_columns(
        size, completions=completions, prompts=prompts, task_id=columns.get("task_id"), task=columns.get("task")
    )
    named = task_columns(size, columns.get("task_id"), columns.get("task"))
    asked = [
        last_text(prompt, "user") if task_id is None and task is None else ""
        for prompt, task_id, task in zip(prompts, named["task_id"], named["task"])
    ]
    return {"prompts": asked, "completions": [last_text(said, "assistant") for said in completions], **named}
