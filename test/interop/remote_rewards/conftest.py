"""What the tests of this folder share: the server, drawings, and packages without what their roots import."""

import importlib
import json
import os
import sys
import types
import urllib.request
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

TASK_ID = "train.pipeline.1.3"
GOOD = json.dumps(
    {
        "actions": [
            {
                "type": "create_shape",
                "id": "a",
                "shape": "rectangle",
                "x": 120,
                "y": 360,
                "w": 200,
                "h": 80,
                "text": "Record",
            },
            {
                "type": "create_shape",
                "id": "b",
                "shape": "rectangle",
                "x": 500,
                "y": 360,
                "w": 200,
                "h": 80,
                "text": "Review",
            },
            {
                "type": "create_shape",
                "id": "c",
                "shape": "rectangle",
                "x": 880,
                "y": 360,
                "w": 200,
                "h": 80,
                "text": "Edit Episode",
            },
            {"type": "connect", "from": "a", "to": "b"},
            {"type": "connect", "from": "b", "to": "c"},
        ]
    }
)
PROSE = "I cannot draw."


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["CANVAS_GYM_URL"].rstrip("/")


@pytest.fixture(scope="session")
def reward_of(url: str) -> Callable[[str], float]:
    """What the environment itself gives an answer to the task."""

    def ask(completion: str) -> float:
        body = json.dumps({"task_id": TASK_ID, "completion": completion}).encode()
        request = urllib.request.Request(f"{url}/reward", body, {"content-type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as response:
            return json.load(response)["reward"]

    return ask


def load(distribution_name: str, module: str) -> Any:
    """A module of an installed distribution, without running the `__init__` of the packages above it."""
    root = Path(str(distribution(distribution_name).locate_file("")))
    parts = module.split(".")
    for depth in range(1, len(parts)):
        name = ".".join(parts[:depth])
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*parts[:depth]))]
        sys.modules.setdefault(name, package)
    return importlib.import_module(module)
