"""An episode of turns in words, as the adapters play it: a text in, a reward and what to say next out.

The state stays with the caller: servers keep nothing, so an episode outlives any of them.
"""

from __future__ import annotations

import json
from typing import Any, Dict, List, Mapping, Optional, Sequence, cast

from ._api import Api, InlineTask, Observation, State, StepResponse
from ._checks import assert_preset
from .client import _plain
from .describe import describe_canvas, describe_feedback
from .errors import ResponseError

__all__ = ["TextEpisode", "last_text", "parse_task", "take_turn", "task_columns", "task_of"]

HOW_TO_GO_ON = {
    "editor": """\
Answer with one JSON object of the actions that improve it: {"actions": [...]}. Besides create_shape and connect there \
are move_shape (id, x, y), resize_shape (id, w, h), set_text (id, text), delete_shape (id) and disconnect (from, to). \
When the drawing is finished, answer {"actions": [{"type": "done"}]}.""",
    "core": """\
Answer with one JSON object of the actions that add what is missing: {"actions": [...]}. There are create_shape and \
connect.""",
}
MAX_UNITS = 262_144  # UTF-16 code units; of a longer text the server says that it is too long
UNSENDABLE = ("body_too_large", "too_deep")


class TextEpisode:
    """One episode.

    Args:
        client: The server, or several.
        preset: Reward preset, default graded.
        max_turns: Turns of the episode.
        action_set: `core` or `editor`; None stands for `editor` where there are several turns, else for `core`.
    """

    def __init__(
        self, client: Api, *, preset: Optional[str] = None, max_turns: int = 1, action_set: Optional[str] = None
    ) -> None:
        assert_preset(preset)
        self._client = client
        self._action_set = action_set or ("editor" if max_turns > 1 else "core")
        self._rules: Dict[str, Any] = {"reward": preset, "max_turns": max_turns, "action_set": self._action_set}
        self._state: Optional[State] = None
        self.observation: Optional[Observation] = None
        self.is_over = False

    def start(self, task: Mapping[str, Any]) -> Observation:
        """Begin with a task: fields of /reset that name one."""
        answer = self._client.reset(**task, **self._rules)
        self._state, self.is_over = answer["state"], answer["done"]
        self.observation = answer["observation"]
        return answer["observation"]

    def play(self, action: Any) -> StepResponse:
        """Take a turn with what a model wrote, or with its actions as an object; see `take_turn`."""
        if self._state is None or self.is_over:
            raise RuntimeError("the episode is over or has not begun; call start()")
        answer = take_turn(self._client, self._state, action)
        self._state, self.is_over = answer["state"], answer["done"]
        self.observation = answer["observation"]
        return answer

    def next_message(self, answer: StepResponse) -> str:
        """Say what a turn came to and how to go on: the user's next message."""
        canvas, feedback = answer["observation"]["canvas"], describe_feedback(answer["observation"], answer["info"])
        return f"The canvas:\n{describe_canvas(canvas)}\n\n{feedback}\n\n{HOW_TO_GO_ON[self._action_set]}"

    @property
    def total_reward(self) -> float:
        """Sum of the rewards so far."""
        return 0.0 if self._state is None else float(self._state["total_reward"])

    @property
    def drawing_reward(self) -> float:
        """Reward of the drawing as it stands, in [0, 1]."""
        return 0.0 if self._state is None else float(self._state["value"])

    @property
    def metrics(self) -> Dict[str, float]:
        """Components of the reward, turns taken, and reward of the drawing; all numbers."""
        seen = self.observation
        if seen is None:
            return {}
        return {
            **{name: float(value) for name, value in seen["reward_components"].items()},
            "turns": float(seen["turn"]),
            "drawing_reward": self.drawing_reward,
        }


def take_turn(client: Api, state: State, action: Any) -> StepResponse:
    """Take a turn with what a model wrote, or with its actions as an object.

    What is too large or nested too deep for a request is a bad answer and no failure: as text, the server says so,
    and where the drawing leaves no room for that either, it counts as no answer.
    """
    answer = _try_turn(client, state, action) or _try_turn(client, state, _short_text(action))
    return answer or client.step(state=state, action="")


def _try_turn(client: Api, state: State, action: Any) -> Optional[StepResponse]:
    """Ask for a turn; None where no request can hold it."""
    try:
        return client.step(state=state, action=action)
    except ResponseError as error:
        if error.code not in UNSENDABLE:
            raise
    except (ValueError, RecursionError):  # NaN and depths that no JSON is made of
        if isinstance(action, str):
            raise
    return None


def _short_text(action: Any) -> str:
    """Make a text of an action that any request can hold, and that the server reads as it would the whole."""
    try:
        text = action if isinstance(action, str) else json.dumps(action, ensure_ascii=False, default=_plain)
    except (ValueError, RecursionError):
        return ""
    return text.encode("utf-16-le", "surrogatepass")[: 2 * (MAX_UNITS + 2)].decode("utf-16-le", "ignore")


def task_of(row: Mapping[str, Any]) -> Dict[str, Any]:
    """Read the task that a row of a data set names in `task_id`, else in `task`; {} where it names none.

    >>> task_of({"task_id": "", "task": '{"prompt": "Draw a box."}'}), task_of({"task": "train.pipeline.1.3"})
    ({'task': {'prompt': 'Draw a box.'}}, {'task_id': 'train.pipeline.1.3'})
    >>> task_of({"task_id": None, "task": ""})
    {}
    """
    return parse_task(row.get("task_id")) or parse_task(row.get("task"))


def task_columns(size: int, task_ids: Optional[Sequence[Any]], tasks: Optional[Sequence[Any]]) -> Dict[str, List[Any]]:
    """Make the columns `task_id` and `task` of /score from those of a data set; None where a row names no task."""
    named = [
        task_of({"task_id": task_id, "task": task})
        for task_id, task in zip(task_ids or [None] * size, tasks or [None] * size)
    ]
    return {name: [task.get(name) for task in named] for name in ("task_id", "task")}


def parse_task(label: Any) -> Dict[str, Any]:
    """Read the task that a column of a data set names, as fields of /reset; {} where it names none.

    >>> parse_task("train.pipeline.1.3"), parse_task('{"task_id": "train.pipeline.1.3"}'), parse_task(None)
    ({'task_id': 'train.pipeline.1.3'}, {'task_id': 'train.pipeline.1.3'}, {})
    >>> parse_task({"prompt": "Draw a box."}), parse_task({"task": '{"prompt": "Draw a box."}'})
    ({'task': {'prompt': 'Draw a box.'}}, {'task': {'prompt': 'Draw a box.'}})
    """
    if isinstance(label, str):
        label = label.strip()
        if label.startswith("{"):
            label = json.loads(label)
    if label is None or label == "":
        return {}
    if isinstance(label, str):
        return {"task_id": label}
    if not isinstance(label, Mapping):
        raise TypeError(f"a task must be a task id, an object or its JSON text, and is {type(label).__name__}")
    if label.get("task_id"):
        return {"task_id": label["task_id"]}
    if label.get("task"):
        return parse_task(label["task"])
    if "prompt" in label:
        return {"task": cast("InlineTask", dict(label))}
    raise ValueError("an object that names a task must have task_id, task or prompt")


def last_text(messages: Any, role: str) -> str:
    """Take the text of the last message of a role; a text stays as it is.

    >>> last_text([{"role": "user", "content": "Draw."}, {"role": "assistant", "content": None}], "user")
    'Draw.'
    >>> last_text([{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "image"}]}], "user")
    'a'
    """
    if isinstance(messages, str):
        return messages
    said = [message for message in messages or () if message.get("role") == role]
    content = said[-1].get("content") if said else None
    if isinstance(content, (list, tuple)):
        return "".join(part.get("text") or "" for part in content if isinstance(part, Mapping))
    return content or ""
