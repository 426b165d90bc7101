"""The environment for verifiers (0.4 and later) and PRIME-RL, as a taskset with an environment of its own.

    vf-eval canvas-gym-verifiers --env.taskset.url http://127.0.0.1:8000 --env.taskset.level 1 ...

In PRIME-RL's TOML: `[orchestrator.train.source.env.taskset]`, `id = "canvas-gym-verifiers"`. An id names a top-level
module, which is `canvas_gym_verifiers`; in Python, `load_environment(url=..., level=1, max_turns=3)` is the same. The
environment plays the user: after each turn but the last it shows the canvas and what to change. The reward `diagram` is
the sum of the turns' rewards. A failure of the server fails the episode and is never a reward.
"""

from __future__ import annotations

import asyncio
from typing import Any, Iterator, Optional, cast

from ._api import Family, Level, Preset, Split
from ._checks import framework
from ._episode import TextEpisode
from ._remote import shared_client
from .datasets import INSTRUCTIONS, mixed_tasks, suite_tasks, system_message

with framework("verifiers"):
    import verifiers.v1 as vf

__all__ = ["DiagramEnv", "DiagramTaskset", "load_environment"]

TASKSET_ID = "canvas-gym-verifiers"


class DiagramData(vf.TaskData):
    """A task of the suite and the rules of its episode."""

    task_id: str
    url: Optional[str]
    preset: Optional[Preset]
    max_turns: int


class DiagramConfig(vf.TasksetConfig):
    """Which tasks there are, and how they are played."""

    id: str = TASKSET_ID
    url: Optional[str] = None
    """Where the server is, or several addresses with commas between; None stands for CANVAS_GYM_URL."""
    split: Split = "train"
    family: Optional[Family] = None
    level: Optional[int] = None
    """Difficulty, 1 to 5; a flag gives text, which only a plain int is made of."""
    count: int = 1000
    """Tasks at most."""
    offset: int = 0
    """Tasks to pass over first."""
    preset: Optional[Preset] = None
    """Reward preset, default graded."""
    max_turns: int = 1
    """Turns of an episode."""
    instructions: str = INSTRUCTIONS
    """System prompt."""


class DiagramTask(vf.Task[DiagramData]):
    """A diagram to draw."""

    @property
    def key(self) -> str:
        """The suite's own id."""
        return self.data.task_id


class DiagramTaskset(vf.Taskset[DiagramTask, DiagramConfig]):
    """Tasks of the suite; of all families in turn, unless the settings name one."""

    def load(self) -> Iterator[DiagramTask]:
        """Read the tasks from the server, page by page."""
        config = self.config
        client, level = shared_client(config.url), cast("Optional[Level]", config.level)
        cut: Any = {"split": config.split, "level": level, "count": config.count, "offset": config.offset}
        family = config.family
        tasks = mixed_tasks(client, **cut) if family is None else suite_tasks(client, family=family, **cut)
        for task in tasks:
            data = DiagramData(
                id=task["task_id"],
                name=task["task_id"],
                prompt=task["prompt"],
                system_prompt=system_message(config.instructions, task["canvas"]) or None,
                task_id=task["task_id"],
                url=config.url,
                preset=config.preset,
                max_turns=config.max_turns,
            )
            yield DiagramTask(data, config.task)


class DiagramEnvConfig(vf.SingleAgentEnvConfig):
    """One agent, by default one that only talks and runs here."""

    taskset: DiagramConfig = DiagramConfig()
    agent: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"}, runtime={"type": "subprocess"})


class DiagramEnv(vf.Env[DiagramEnvConfig]):
    """Plays a task with an agent that answers in words."""

    async def run(self, task: vf.Task, agents: vf.Agents) -> None:
        """Play one episode."""
        data = task.data
        episode = TextEpisode(shared_client(data.url), preset=data.preset, max_turns=data.max_turns)
        await asyncio.to_thread(episode.start, {"task_id": data.task_id})
        async with agents.agent.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                answer = await asyncio.to_thread(episode.play, segment.last_reply)
                if answer["done"]:
                    break
                segment = await interaction.turn(episode.next_message(answer))
        trace = interaction.trace
        if not trace.errors:
            trace.record_reward("diagram", episode.total_reward)
            trace.record_metrics(episode.metrics)


def load_environment(**settings: Any) -> DiagramEnv:
    """Make the environment; the settings are those of DiagramConfig."""
    return DiagramEnv(DiagramEnvConfig(taskset=DiagramConfig(**settings)))
