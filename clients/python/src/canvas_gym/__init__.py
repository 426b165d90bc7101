"""Client of the canvas-gym environment server, and adapters for RL frameworks.

>>> from canvas_gym import Client
>>> Client("http://127.0.0.1:8000", timeout=10)
Client('http://127.0.0.1:8000', timeout=10, retries=4)

An adapter is a module of its own and is imported by name, since each needs the framework it is for:
`canvas_gym.gymnasium`, `canvas_gym.datasets`, and those listed in the README.
"""

from . import _api as types
from ._version import __version__
from .client import Client
from .errors import CanvasGymError, ConnectionFailed, ResponseError
from .replicas import connect

__all__ = ["CanvasGymError", "Client", "ConnectionFailed", "ResponseError", "__version__", "connect", "types"]
