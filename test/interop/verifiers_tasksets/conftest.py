"""What the tests of this folder share: the server's address, and drawings to play."""

import json
import os
import urllib.request
from typing import Any

import pytest

SHAPES = [
    {"id": "a", "shape": "rectangle", "x": 120, "y": 360, "w": 200, "h": 80, "text": "Record"},
    {"id": "b", "shape": "rectangle", "x": 500, "y": 360, "w": 200, "h": 80, "text": "Review"},
    {"id": "c", "shape": "rectangle", "x": 880, "y": 360, "w": 200, "h": 80, "text": "Edit Episode"},
]
ARROWS = [("a", "b"), ("b", "c")]
TASK = {
    "prompt": "Draw a pipeline: Record, Review, Edit Episode.",
    "expect": {
        "nodes": [{"id": shape["id"], "label": shape["text"]} for shape in SHAPES],
        "edges": [{"from": start, "to": end} for start, end in ARROWS],
    },
}
"""An inline task that the drawing below solves."""
DIAGRAM = {
    "actions": [
        *({"type": "create_shape", **shape} for shape in SHAPES),
        *({"type": "connect", "from": start, "to": end} for start, end in ARROWS),
    ]
}
"""One answer that solves the task."""


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["CANVAS_GYM_URL"].rstrip("/")


def post(url: str, body: dict[str, Any]) -> Any:
    request = urllib.request.Request(url, json.dumps(body).encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as response:
        return json.load(response)


def reward_of(url: str, completion: Any) -> float:
    """What the environment itself gives a completion."""
    return post(f"{url}/reward", {"task": TASK, "completion": completion})["reward"]


@pytest.fixture(scope="session")
def expected(url: str) -> float:
    """What the environment itself gives the drawing."""
    reward = reward_of(url, DIAGRAM)
    assert reward > 0.9
    return reward
