#!/usr/bin/env python3
"""Preset `article` in plain Python: the same rules a second time, as a check on the server and as a yardstick for its speed.

    article.py check VECTORS            compare with every golden vector; prints the count, exits 1 on a difference
    article.py rate VECTORS SECONDS     check, then score the first 200 vectors over and over; prints completions/s as JSON

Standard library only, one process, one thread, no cache: what a careful trainer author would write in an afternoon.
"""
from __future__ import annotations

import json
import math
import re
import sys
import time
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

SHAPE_KINDS = frozenset(("rectangle", "ellipse", "diamond", "text"))
MAX_ACTIONS = 40
MAX_SIDE = 1000
TOLERANCE = 1e-12
TIMED_VECTORS = 200
WORD = re.compile(r"[a-z][a-z0-9_-]+")


class Refused(Exception):
    """An action, or a whole completion, that breaks a rule; the text says which."""


@dataclass(slots=True)
class Box:
    """A shape by its edges, canvas pixels."""

    left: float
    top: float
    right: float
    bottom: float
    label: str


@dataclass(slots=True)
class Drawing:
    boxes: dict[str, Box] = field(default_factory=dict)
    arrow_labels: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Score:
    """`drawing` is None where nothing could be executed; `parse_error` then says why."""

    reward: float
    layout: float | None = None
    semantics: float | None = None
    drawing: Drawing | None = None
    parse_error: str | None = None


def refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


decode = json.JSONDecoder(parse_constant=refuse_constant).decode


def read_json(completion: str) -> Any:
    try:
        return decode(completion)
    except (ValueError, RecursionError):
        pass
    start, end = completion.find("{"), completion.rfind("}")
    if start < 0 or end < start:
        raise Refused("model output does not contain JSON")
    try:
        return decode(completion[start : end + 1])
    except (ValueError, RecursionError):
        raise Refused("invalid JSON") from None


def read_actions(completion: str) -> list[dict[str, Any]]:
    answer = read_json(completion)
    actions = answer.get("actions") if isinstance(answer, dict) else None
    if not isinstance(actions, list):
        raise Refused("missing actions array")
    if not actions:
        raise Refused("actions array is empty")
    if len(actions) > MAX_ACTIONS:
        raise Refused("too many actions")
    if not all(isinstance(action, dict) for action in actions):
        raise Refused("each action must be an object")
    return actions


def name_in(action: dict[str, Any], key: str) -> str:
    value = action.get(key)
    if type(value) is str and value:
        return value
    raise Refused(f"{key} must be a non-empty string")


def number_in(action: dict[str, Any], key: str) -> float:
    value = action.get(key)
    if type(value) is int:  # not isinstance: True is an int there
        try:
            return float(value)
        except OverflowError:
            value = math.inf
    if type(value) is float and math.isfinite(value):
        return value
    raise Refused(f"{key} must be a finite number")


def label_in(action: dict[str, Any]) -> str:
    value = action.get("text", "")
    if type(value) is str:
        return value
    if value is None:
        return ""
    if type(value) is int or (type(value) is float and math.isfinite(value)):
        return str(value)
    raise Refused("text must be a string")


def create_shape(drawing: Drawing, action: dict[str, Any]) -> None:
    shape_id = name_in(action, "id")
    kind = name_in(action, "shape")
    if kind not in SHAPE_KINDS:
        raise Refused(f"unknown shape type: {kind}")
    if shape_id in drawing.boxes:
        raise Refused(f"duplicate shape id: {shape_id}")
    x, y = number_in(action, "x"), number_in(action, "y")
    w, h = number_in(action, "w"), number_in(action, "h")
    if w <= 0 or h <= 0:
        raise Refused("shape width and height must be positive")
    if w > MAX_SIDE or h > MAX_SIDE:
        raise Refused("shape too large")
    drawing.boxes[shape_id] = Box(x, y, x + w, y + h, label_in(action))


def connect(drawing: Drawing, action: dict[str, Any]) -> None:
    source = name_in(action, "from")
    target = name_in(action, "to")
    if source not in drawing.boxes:
        raise Refused(f"arrow source does not exist: {source}")
    if target not in drawing.boxes:
        raise Refused(f"arrow target does not exist: {target}")
    if source == target:
        raise Refused("arrow cannot connect a shape to itself")
    drawing.arrow_labels.append(label_in(action))


HANDLERS = {"create_shape": create_shape, "connect": connect}


def execute(actions: list[dict[str, Any]]) -> Drawing:
    drawing = Drawing()
    for index, action in enumerate(actions):
        try:
            kind = name_in(action, "type")
            handler = HANDLERS.get(kind)
            if handler is None:
                raise Refused(f"unknown action type: {kind}")
            handler(drawing, action)
        except Refused as refused:
            drawing.errors.append(f"action {index}: {refused}")
    return drawing


def layout_of(drawing: Drawing) -> float:
    boxes = list(drawing.boxes.values())
    if not boxes:
        return 0.0
    value = 1.0
    for a, b in combinations(boxes, 2):
        if a.left <= b.right and b.left <= a.right and a.top <= b.bottom and b.top <= a.bottom:
            value -= 0.15
    labelled = sum(1 for box in boxes if box.label.strip())
    value += 0.1 * min(5, labelled)
    value += 0.1 * min(5, len(drawing.arrow_labels))
    return max(0.0, min(1.0, value))


def words_in(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


def semantics_of(prompt: str, drawing: Drawing) -> float:
    important = {word for word in words_in(prompt) if len(word) >= 4}
    if not important:
        return 0.5
    labels = [box.label for box in drawing.boxes.values()]
    return len(important & words_in(" ".join(labels + drawing.arrow_labels))) / len(important)


def score(prompt: str, completion: str) -> Score:
    try:
        actions = read_actions(completion)
    except Refused as refused:
        return Score(0.0, parse_error=str(refused))
    drawing = execute(actions)
    layout, semantics = layout_of(drawing), semantics_of(prompt, drawing)
    reward = 0.0 if drawing.errors else 0.4 + 0.3 * layout + 0.3 * semantics
    return Score(reward, layout, semantics, drawing)


def differences(vector: dict[str, Any]) -> list[str]:
    """Names of the fields in which the score differs from a golden vector."""
    got = score(vector["prompt"], vector["completion"])
    drawing = got.drawing
    exact = {
        "parsed": drawing is not None,
        "parse_error": got.parse_error,
        "errors": drawing and drawing.errors,
        "shapes": drawing and len(drawing.boxes),
        "arrows": drawing and len(drawing.arrow_labels),
    }
    close = {"layout": got.layout, "semantics": got.semantics, "reward": got.reward}
    wrong = [name for name, value in exact.items() if value != vector.get(name)]
    for name, value in close.items():
        want = vector[name]
        if (value is None) != (want is None) or (value is not None and abs(value - want) > TOLERANCE):
            wrong.append(name)
    return wrong


def check(vectors: list[dict[str, Any]]) -> int:
    """Prints each vector that differs and returns how many do."""
    count = 0
    for vector in vectors:
        wrong = differences(vector)
        if wrong:
            count += 1
            print(f"{vector['id']}: {', '.join(wrong)}", file=sys.stderr)
    return count


def rate(vectors: list[dict[str, Any]], seconds: float) -> dict[str, float]:
    pairs = [(vector["prompt"], vector["completion"]) for vector in vectors[:TIMED_VECTORS]]
    for prompt, completion in pairs:
        score(prompt, completion)
    count, start, cpu_start = 0, time.perf_counter(), time.process_time()
    while time.perf_counter() - start < seconds:
        for prompt, completion in pairs:
            score(prompt, completion)
        count += len(pairs)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu_start
    return {"completions_per_s": round(count / wall, 1), "cpu_share": round(cpu / wall, 3)}


def main(arguments: list[str]) -> int:
    mode = arguments[0] if arguments else ""
    if len(arguments) != {"check": 2, "rate": 3}.get(mode):
        print(__doc__, file=sys.stderr)
        return 2
    with open(arguments[1], encoding="utf-8") as lines:
        vectors = [json.loads(line) for line in lines]
    wrong = check(vectors)
    if wrong:
        print(f"{wrong} of {len(vectors)} vectors differ", file=sys.stderr)
        return 1
    result = {"vectors": len(vectors)} | (rate(vectors, float(arguments[2])) if mode == "rate" else {})
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
