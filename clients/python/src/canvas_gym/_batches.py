"""Batches of a trainer: its columns cut into what one request may hold, and a check of the numbers that come back."""

from __future__ import annotations

import json
import math
from typing import Any, Dict, Iterator, Mapping, Optional, Sequence

# OpenRLHF and verl load their adapters by path, so nothing that those import is imported by a dot.
from canvas_gym.client import _plain
from canvas_gym.errors import CanvasGymError

__all__ = ["MAX_BYTES", "MAX_ITEMS", "assert_numbers", "assert_scores", "cut"]

MAX_ITEMS = 4096  # the server's limit
MAX_BYTES = 16 * 2**20  # half of the server's limit

Columns = Mapping[str, Optional[Sequence[Any]]]


def cut(columns: Columns, max_items: int, max_bytes: int) -> Iterator[Dict[str, Optional[Sequence[Any]]]]:
    """Cut columns of one length into batches that a request may hold; a column may be None, which it stays.

    Items are measured in JSON, as they are sent. A row that is larger than `max_bytes` is a batch of its own.

    >>> [batch["a"] for batch in cut({"a": ["x", "é", "long"], "b": None}, max_items=9, max_bytes=9)]
    [['x', 'é'], ['long']]
    >>> [batch["a"] for batch in cut({"a": [1, 2, 3]}, max_items=2, max_bytes=99)]
    [[1, 2], [3]]
    """
    present = [column for column in columns.values() if column is not None]
    sizes = [sum(map(_size, row)) for row in zip(*present)]
    start, size = 0, 0
    for end, added in enumerate(sizes):
        if end > start and (end - start == max_items or size + added > max_bytes):
            yield _part(columns, start, end)
            start, size = end, 0
        size += added
    if sizes:
        yield _part(columns, start, len(sizes))


def _part(columns: Columns, start: int, end: int) -> Dict[str, Optional[Sequence[Any]]]:
    return {name: None if column is None else list(column[start:end]) for name, column in columns.items()}


def _size(item: Any) -> int:
    """Bytes of an item in JSON, with the comma."""
    text = json.dumps(item, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return len(text.encode("utf-8", "backslashreplace")) + 1


def assert_numbers(what: str, column: Sequence[Any], size: int, *, has_gaps: bool = False) -> None:
    """Raise where a column is not as many finite numbers as there are texts: a trainer would not notice.

    >>> assert_numbers("rewards", [0.5, None], 2, has_gaps=True)
    >>> assert_numbers("rewards", [0.5, True], 2)
    Traceback (most recent call last):
    canvas_gym.errors.CanvasGymError: the server answered 1 rewards for 2 texts
    """
    good = sum(_is_number(value) or (has_gaps and value is None) for value in column)
    if len(column) != size or good != size:
        raise CanvasGymError(f"the server answered {good} {what} for {size} texts")


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def assert_scores(answer: Mapping[str, Any], size: int) -> None:
    """Raise where /score did not answer a number or None for each text, with the same components for each number."""
    rewards, components = answer["rewards"], answer["components"]
    assert_numbers("rewards", rewards, size, has_gaps=True)
    assert_numbers("lists of components", [len(item) for item in components], size)
    scored = [item for item, reward in zip(components, rewards) if reward is not None]
    for name in {name for item in scored for name in item}:
        assert_numbers(f"numbers {name}", [item.get(name) for item in scored], len(scored))
