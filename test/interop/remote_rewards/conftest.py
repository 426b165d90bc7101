"""What the tests of this folder share: answers to a task of the suite, and what the environment gives for them."""

import json
import urllib.request
from collections.abc import Callable

import pytest
from drawing import DRAWING, TASK_ID
from partial_import import load

__all__ = ["GOOD", "PROSE", "TASK_ID", "load", "reward_of"]

GOOD = json.dumps(DRAWING)
PROSE = "I cannot draw."


@pytest.fixture(scope="session")
def reward_of(url: str) -> Callable[[str], float]:
    """What the environment itself gives an answer to the task."""

    def ask(completion: str) -> float:
        body = json.dumps({"task_id": TASK_ID, "completion": completion}).encode()
        request = urllib.request.Request(f"{url}/reward", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)["reward"]

    return ask
