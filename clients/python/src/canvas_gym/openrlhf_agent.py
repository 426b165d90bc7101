"""Several turns for OpenRLHF: a file that holds this line goes to `--train.agent_func_path`.

    from canvas_gym.openrlhf_agent import AgentExecutor

See canvas_gym.openrlhf for labels and settings. Needs OpenRLHF, whose base classes these are.
"""

from __future__ import annotations

from typing import Any

from canvas_gym._checks import framework
from canvas_gym.openrlhf import DiagramAgent

with framework("openrlhf"):
    from openrlhf.utils.agent import AgentInstanceBase, MultiTurnAgentExecutor

__all__ = ["AgentExecutor", "AgentInstance"]


class AgentInstance(DiagramAgent, AgentInstanceBase):
    """One episode."""


class AgentExecutor(MultiTurnAgentExecutor):
    """Plays an AgentInstance for each prompt."""

    def __init__(self, *_args: Any, **_kwargs: Any) -> None:
        super().__init__(AgentInstance)
