"""The environment as a Gymnasium environment, `CanvasGym/TextToDiagram-v0`.

    import gymnasium
    import canvas_gym.gymnasium  # registers it

    env = gymnasium.make("CanvasGym/TextToDiagram-v0", url="http://127.0.0.1:8000", level=1, max_turns=3)
    observation, info = env.reset(seed=7)
    observation, reward, terminated, truncated, info = env.step('{"actions": [...]}')

`gymnasium.make_vec` imports this module in each process for `canvas_gym.gymnasium:CanvasGym/TextToDiagram-v0`.
Left out: the render mode `human`, since there is no window.
"""

from __future__ import annotations

from typing import Any, Dict, Mapping, Optional, SupportsFloat, Tuple

from ._api import Info, Observation, State
from ._checks import framework
from ._episode import take_turn
from .describe import describe_canvas, describe_feedback
from .replicas import connect

with framework("gymnasium"):
    import gymnasium
    import numpy as np
    from gymnasium import spaces
    from gymnasium.error import ResetNeeded

    from ._png import decode_png
    from ._text_space import UnicodeText

__all__ = ["ENV_ID", "CanvasEnv", "UnicodeText"]

ENV_ID = "CanvasGym/TextToDiagram-v0"

MAX_COMPLETION_LENGTH = 262_144  # characters; what the server takes, in bytes
MAX_SEED = 2**53
RESET_OPTIONS = frozenset({"task_id", "split", "family", "level", "index", "task", "prompt", "episode_id"})
NAMED_TASK = frozenset({"task_id", "task", "prompt"})
DRAWN_TASK = frozenset({"split", "family", "level", "index"})


class CanvasEnv(gymnasium.Env[Dict[str, Any], Any]):
    """Draw the diagram that a text asks for.

    ## Action space
    `UnicodeText`: what a model writes, e.g. `'{"actions": [{"type": "create_shape", ...}]}'`. `{"actions": [...]}` or a
    list, as Python objects, are taken as well. Bad output, also what JSON cannot hold (NaN, great size or depth), is a
    low reward with reasons, never an exception.

    ## Observation space
    `Dict`; texts are cut at `max_text_length` characters.

    | key            | space                                | what it is                                             |
    |----------------|--------------------------------------|--------------------------------------------------------|
    | `prompt`       | UnicodeText                          | what to draw                                           |
    | `canvas`       | UnicodeText                          | shapes and arrows, one a line; canvas pixels           |
    | `feedback`     | UnicodeText                          | faults of the last action, lost points; one a line     |
    | `turn`         | Discrete(max_turns + 1)              | turns taken so far                                     |
    | `total_reward` | Box(-11, 1, shape (1,), float64)     | sum of the rewards of the episode so far               |

    ## Rewards
    In an episode of one turn R(canvas), in [0, 1]; of several, its change less 0.01 a turn. `reward` names the preset.

    ## Start of an episode
    A task of the suite that `split`, `family` and `level` allow, drawn with this environment's random generator, so
    that equal seeds give equal episodes. `reset(options={...})` overrides, for one episode, what `__init__` was given;
    an option that is None counts as not given.

    ## End of an episode
    `terminated`: the task's own end (submitted). `truncated`: an outside limit (`max_turns` in an episode of several).
    `info["stop_reason"]` names it.

    ## Info
    The server's `info` without what it does not have, and `canvas`, `reward_components`, `stop_reason`.

    ## Errors
    ResponseError where the server refuses, e.g. an unknown task; ConnectionFailed where it does not answer.

    Args:
        url: Where the server is, or several with commas between; None stands for CANVAS_GYM_URL, and without that for
            http://127.0.0.1:8000.
        split: Split of the suite, e.g. `train`.
        family: Family of tasks, e.g. `flowchart`.
        level: Difficulty, 1 to 5.
        task_id: Always this task.
        task: Always this inline task.
        prompt: Always this free prompt.
        reward: Reward preset, default graded.
        action_set: `core` or `editor`.
        max_turns: Turns of an episode.
        max_text_length: Longest text of an observation, characters.
        render_mode: None, `rgb_array` ([height, width, 3] of uint8, as large as the task's canvas) or `ansi`.
        timeout: Seconds that one attempt of a request may take.
        retries: How often a failed request is repeated.
        headers: Sent with every request.
    """

    metadata = {"render_modes": ["rgb_array", "ansi"], "render_fps": 1}  # noqa: RUF012 -- as Gymnasium declares it

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        split: Optional[str] = None,
        family: Optional[str] = None,
        level: Optional[int] = None,
        task_id: Optional[str] = None,
        task: Optional[Mapping[str, Any]] = None,
        prompt: Optional[str] = None,
        reward: Optional[str] = None,
        action_set: Optional[str] = None,
        max_turns: int = 1,
        max_text_length: int = 4096,
        render_mode: Optional[str] = None,
        timeout: float = 60.0,
        retries: int = 4,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ValueError(f"render_mode must be None, 'rgb_array' or 'ansi', and is {render_mode!r}")
        self.render_mode = render_mode
        self._client = connect(url, timeout=timeout, retries=retries, headers=headers)
        named = {"task_id": task_id, "task": task, "prompt": prompt}
        self._choice = {"split": split, "family": family, "level": level, **named}
        self._rules: Dict[str, Any] = {"reward": reward, "action_set": action_set, "max_turns": max_turns}
        self._max_text_length = max_text_length
        self._state: Optional[State] = None
        self._is_over = False
        self._observation: Optional[Observation] = None
        self.action_space = UnicodeText(MAX_COMPLETION_LENGTH)
        self.observation_space = spaces.Dict(
            {
                "prompt": UnicodeText(max_text_length),
                "canvas": UnicodeText(max_text_length),
                "feedback": UnicodeText(max_text_length),
                "turn": spaces.Discrete(max_turns + 1),
                "total_reward": spaces.Box(-11.0, 1.0, (1,), np.float64),
            }
        )

    def reset(
        self, *, seed: Optional[int] = None, options: Optional[Dict[str, Any]] = None
    ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Seed of this environment's random generator, which draws the task.
            options: Any of task_id, split, family, level, index, task, prompt, episode_id, for this episode alone.
        """
        super().reset(seed=seed)
        unknown = sorted(set(options or {}) - RESET_OPTIONS)
        if unknown:
            raise ValueError(f"no reset option {', '.join(unknown)}; there are {', '.join(sorted(RESET_OPTIONS))}")
        drawn = int(self.np_random.integers(MAX_SEED))
        fields = _chosen(self._choice, options or {})
        if not NAMED_TASK & set(fields):
            fields["seed"] = drawn
        answer = self._client.reset(**fields, **self._rules)
        self._state, self._is_over = answer["state"], answer["done"]
        return self._answered(answer["observation"], answer["info"], None)

    def step(self, action: Any) -> Tuple[Dict[str, Any], SupportsFloat, bool, bool, Dict[str, Any]]:
        """Take a turn with what a model wrote."""
        if self._state is None or self._is_over:
            raise ResetNeeded("Call reset() before step(), also after the end of an episode")
        answer = take_turn(self._client, self._state, action)
        self._state, self._is_over = answer["state"], answer["done"]
        observation, info = self._answered(answer["observation"], answer["info"], answer["stop_reason"])
        return observation, float(answer["reward"]), answer["terminated"], answer["truncated"], info

    def render(self) -> Any:
        """Draw the canvas: an array for `rgb_array`, a text for `ansi`, None without a render mode."""
        if self._state is None or self._observation is None:
            raise ResetNeeded("Call reset() before render()")
        if self.render_mode == "rgb_array":
            size = self._observation["canvas_size"]
            picture = decode_png(self._client.render(state=self._state, format="png", canvas_size=size))
            return _fit(picture, round(size["h"]), round(size["w"]))
        if self.render_mode == "ansi":
            seen = self._observation
            head = f"{seen['prompt']}\nturn {seen['turn']} of {seen['max_turns']}, reward {seen['total_reward']:.3f}"
            return f"{head}\n{describe_canvas(seen['canvas'])}"
        return None

    def close(self) -> None:
        """Close the connections. The environment may be used again."""
        self._client.close()

    def _answered(
        self, seen: Observation, info: Info, stop_reason: Optional[str]
    ) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        self._observation = seen
        texts = {
            "prompt": seen["prompt"],
            "canvas": describe_canvas(seen["canvas"]),
            "feedback": describe_feedback(seen, info),
        }
        observation: Dict[str, Any] = {name: text[: self._max_text_length] for name, text in texts.items()}
        observation["turn"] = np.int64(seen["turn"])
        observation["total_reward"] = np.array([seen["total_reward"]], np.float64)
        extra = {"canvas": seen["canvas"], "reward_components": seen["reward_components"], "stop_reason": stop_reason}
        # Vector environments batch infos key by key and cannot mix None with other kinds of values.
        return observation, {name: value for name, value in {**info, **extra}.items() if value is not None}


def _chosen(always: Mapping[str, Any], now: Mapping[str, Any]) -> Dict[str, Any]:
    """Choose the task: a named one leaves no room for what draws one, nor the other way around."""
    given = {name: value for name, value in now.items() if value is not None}
    if NAMED_TASK & set(given):
        overridden = NAMED_TASK | DRAWN_TASK
    elif DRAWN_TASK & set(given):
        overridden = NAMED_TASK
    else:
        overridden = frozenset()
    kept = {name: value for name, value in always.items() if value is not None and name not in overridden}
    return {**kept, **given}


def _fit(picture: Any, height: int, width: int) -> Any:
    """Bring a picture to the size of the canvas, so that all frames of an episode are equally large.

    A drawing that leaves the canvas has a larger picture, which is made smaller by leaving out rows and columns; what
    is missing is white.
    """
    step = max(picture.shape[0] / height, picture.shape[1] / width, 1.0)
    rows = np.arange(int(picture.shape[0] / step)) * step
    columns = np.arange(int(picture.shape[1] / step)) * step
    frame = np.full((height, width, 3), 255, np.uint8)
    frame[: len(rows), : len(columns)] = picture[rows.astype(int)][:, columns.astype(int)]
    return frame


if ENV_ID not in gymnasium.registry:
    gymnasium.register(id=ENV_ID, entry_point="canvas_gym.gymnasium:CanvasEnv")
