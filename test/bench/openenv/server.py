"""The reference server: OpenEnv's own HTTP server around the plain-Python twin of the rules, in its fastest form.

Run by `npm run bench` as: python -m uvicorn server:app --workers 1 --log-level warning   (in this folder).
Fastest form means: uvloop and httptools are installed, and `step_async` is overridden, so that the library does not hand
every step to a thread pool. The HTTP route /step has no episode, so the prompt travels in the action.
"""

import sys
from pathlib import Path
from typing import Any, Optional

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State
from pydantic import Field

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import article


class DrawAction(Action):
    prompt: str
    completion: str


class DrawObservation(Observation):
    errors: list[str] = Field(default_factory=list)


class DrawEnvironment(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._state = State()

    def reset(self, seed: Optional[int] = None, episode_id: Optional[str] = None, **_: Any) -> DrawObservation:
        self._state = State(episode_id=episode_id)
        return DrawObservation(done=False, reward=None)

    def step(self, action: DrawAction, timeout_s: Optional[float] = None, **_: Any) -> DrawObservation:
        self._state.step_count += 1
        result = article.score(action.prompt, action.completion)
        errors = result.drawing.errors if result.drawing else [result.parse_error or ""]
        return DrawObservation(done=True, reward=result.reward, errors=errors)

    async def step_async(self, action: DrawAction, timeout_s: Optional[float] = None, **_: Any) -> DrawObservation:
        return self.step(action)

    @property
    def state(self) -> State:
        return self._state


app = create_app(DrawEnvironment, DrawAction, DrawObservation, env_name="draw")
