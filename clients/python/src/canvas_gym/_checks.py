"""What is refused before anything is sent: a framework that is not installed, settings and columns that cannot be."""

from __future__ import annotations

from contextlib import contextmanager
from typing import Any, Iterator, Optional, get_args

# OpenRLHF and verl load their adapters by path, so nothing that those import is imported by a dot.
from canvas_gym._api import Preset

__all__ = ["assert_columns", "assert_preset", "framework"]


@contextmanager
def framework(extra: str) -> Iterator[None]:
    """Import a framework in here; where it is missing, the error says how to install it.

    >>> with framework("ray"):
    ...     import no_such_module
    Traceback (most recent call last):
    ModuleNotFoundError: No module named 'no_such_module'; in a checkout: pip install './clients/python[ray]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        how = f"{error.msg}; in a checkout: pip install './clients/python[{extra}]'"
        raise ModuleNotFoundError(how, name=error.name) from error


def assert_preset(preset: Optional[str]) -> None:
    """Refuse a reward preset that there is not.

    >>> assert_preset("grade")
    Traceback (most recent call last):
    ValueError: preset must be one of weak, article, stronger, graded, and is 'grade'
    """
    if preset is not None and preset not in get_args(Preset):
        raise ValueError(f"preset must be one of {', '.join(get_args(Preset))}, and is {preset!r}")


def assert_columns(size: int, **columns: Any) -> None:
    """Refuse columns that do not have an item for each completion; None is no column.

    >>> assert_columns(2, task=None, task_id="train.pipeline.1.3")
    Traceback (most recent call last):
    TypeError: task_id must be a list, with an item for each completion, and is 'train.pipeline.1.3'
    >>> assert_columns(2, task_id=["train.pipeline.1.3"])
    Traceback (most recent call last):
    ValueError: task_id must be as long as the completions, 2, and is 1 long
    """
    for name, column in columns.items():
        if column is None:
            continue
        if isinstance(column, (str, bytes, dict)) or not hasattr(column, "__len__"):
            raise TypeError(f"{name} must be a list, with an item for each completion, and is {column!r:.80}")
        if len(column) != size:
            raise ValueError(f"{name} must be as long as the completions, {size}, and is {len(column)} long")
