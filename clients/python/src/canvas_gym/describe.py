"""What a model or a person reads of a turn: the canvas as a list, and what was said about the last action."""

from __future__ import annotations

from ._api import Canvas, Info, Observation

__all__ = ["describe_canvas", "describe_feedback"]


def describe_canvas(canvas: Canvas) -> str:
    """List the shapes and arrows of a canvas, one a line; pixels from the top left corner.

    >>> a = {"id": "a", "shape": "rectangle", "x": 80, "y": 80.5, "w": 160, "h": 80, "text": "Client"}
    >>> print(describe_canvas({"shapes": [a], "arrows": [{"from": "a", "to": "a", "text": ""}]}))
    rectangle a at 80,80.5 size 160x80 "Client"
    arrow a -> a
    >>> print(describe_canvas({"shapes": [], "arrows": []}))
    (empty)
    """
    shapes = [
        f"{shape['shape']} {shape['id']} at {shape['x']:g},{shape['y']:g} size {shape['w']:g}x{shape['h']:g}"
        + _quoted(shape["text"])
        for shape in canvas["shapes"]
    ]
    arrows = [f"arrow {arrow['from']} -> {arrow['to']}{_quoted(arrow['text'])}" for arrow in canvas["arrows"]]
    return "\n".join(shapes + arrows) or "(empty)"


def describe_feedback(observation: Observation, info: Info) -> str:
    """List the faults of the last action, why points were lost, and what looks wrong, one a line."""
    said = [error["message"] for error in observation["errors"]]
    said += [reason["message"] for reason in info["reasons"]]
    said += [lint["message"] for lint in observation["lints"]]
    return "\n".join(said)


def _quoted(text: str) -> str:
    return f' "{text}"' if text else ""
