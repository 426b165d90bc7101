"""The environment for SkyRL, as a text environment of SkyRL-Gym with the id `canvas_gym`.

    import canvas_gym.skyrl  # registers it; in the entry point that Ray runs

    environment.env_class=canvas_gym
    +environment.skyrl_gym.canvas_gym.url=http://127.0.0.1:8000

Rows have `prompt`, `env_class` and, as the task, `extra_info.task_id`, else `reward_spec.ground_truth` (an id, or
`{"task_id": ...}`, `{"task": ...}` as JSON text), else the prompt itself; `skyrl_rows` makes them. Where SkyRL takes no
configuration of an environment of one's own, the variable CANVAS_GYM_URL says where the server is. A failure of the
server raises, after 9 tries of up to a minute each, and is never a reward.
"""

from __future__ import annotations

from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple

from ._api import PublicTask
from ._checks import framework
from ._episode import TextEpisode, last_text, parse_task, task_of
from ._remote import shared_client
from .datasets import DATA_SOURCE, INSTRUCTIONS, chat_prompt

with framework("skyrl"):
    import skyrl_gym
    from skyrl_gym.envs import registration
    from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput

__all__ = ["ENV_ID", "DiagramEnv", "skyrl_rows"]

ENV_ID = "canvas_gym"
SETTINGS = ("url", "preset", "max_turns", "action_set")

Messages = List[Dict[str, str]]


class DiagramEnv(BaseTextEnv):  # type: ignore[misc, unused-ignore]
    """Draw what a text asks for; after each turn but the last the model is shown the canvas and what to change.

    In an episode of one turn the reward is that of the drawing, in [0, 1]; of several, its change less 0.01 a turn.

    Args:
        env_config: `url`, `preset`, `max_turns` and `action_set`; all may be missing, and others are refused.
        extras: The row. Its `max_turns`, which SkyRL sets, counts where env_config has none.
    """

    def __init__(
        self, env_config: Optional[Mapping[str, Any]] = None, extras: Optional[Mapping[str, Any]] = None
    ) -> None:
        super().__init__()
        config, self._row = dict(env_config or {}), dict(extras or {})
        unknown = [name for name in config if name not in SETTINGS]
        if unknown:
            raise ValueError(
                f"env_config must have none but {', '.join(SETTINGS)}, and has {', '.join(map(repr, unknown))}"
            )
        self.max_turns = int(config.get("max_turns") or self._row.get("max_turns") or 1)
        self._episode = TextEpisode(
            shared_client(config.get("url")),
            preset=config.get("preset"),
            max_turns=self.max_turns,
            action_set=config.get("action_set"),
        )

    def init(self, prompt: Messages) -> Tuple[Messages, Dict[str, Any]]:
        """Begin; the prompt stays as it is."""
        extra = self._row.get("extra_info") or {}
        truth = (self._row.get("reward_spec") or {}).get("ground_truth")
        self._episode.start(task_of(extra) or parse_task(truth) or {"prompt": last_text(prompt, "user")})
        self.turns = 0
        return prompt, {}

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Play what the model wrote."""
        answer = self._episode.play(action)
        self.turns += 1
        seen: Messages = [] if answer["done"] else [{"role": "user", "content": self._episode.next_message(answer)}]
        return BaseTextEnvStepOutput(
            observations=seen,
            reward=float(answer["reward"]),
            done=answer["done"],
            metadata={
                "stop_reason": answer["stop_reason"],
                "errors": [error["code"] for error in answer["observation"]["errors"]],
            },
        )

    def get_metrics(self) -> Dict[str, Any]:
        """Components of the reward, turns taken, and reward of the drawing; SkyRL logs their means."""
        return self._episode.metrics


def skyrl_rows(tasks: Iterable[PublicTask], *, system: str = INSTRUCTIONS) -> Iterator[Dict[str, Any]]:
    """Make rows of SkyRL's data sets from tasks of the suite."""
    for task in tasks:
        yield {
            "data_source": DATA_SOURCE,
            "prompt": chat_prompt(task["prompt"], system, task["canvas"]),
            "env_class": ENV_ID,
            "reward_spec": {"method": "rule", "ground_truth": task["task_id"]},
            "extra_info": {"split": task["split"], "task_id": task["task_id"]},
        }


if ENV_ID not in registration.registry:
    skyrl_gym.register(id=ENV_ID, entry_point="canvas_gym.skyrl:DiagramEnv")
