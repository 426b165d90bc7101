"""A drawing that is known to be good: three boxes in a row, and the suite's task that asks for them."""

from typing import Any, Dict, List

TASK_ID = "train.pipeline.1.3"


def box(name: str, x: int, text: str) -> Dict[str, Any]:
    """What `create_shape` takes."""
    return {"id": name, "shape": "rectangle", "x": x, "y": 360, "w": 200, "h": 80, "text": text}


SHAPES: List[Dict[str, Any]] = [box("a", 120, "Record"), box("b", 500, "Review"), box("c", 880, "Edit Episode")]
BOXES = [{"type": "create_shape", **shape} for shape in SHAPES]
ARROWS = [{"type": "connect", "from": "a", "to": "b"}, {"type": "connect", "from": "b", "to": "c"}]
DRAWING = {"actions": BOXES + ARROWS}
"""One answer that solves the task; its reward is over 0.95."""
