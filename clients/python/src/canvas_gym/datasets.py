"""Rows of datasets, in the shapes that TRL, verl and what reads the same take.

    from datasets import Dataset
    from canvas_gym import Client
    from canvas_gym.datasets import mixed_tasks, prompt_rows

    train = Dataset.from_list(list(prompt_rows(mixed_tasks(Client(), level=1, count=1000))))

`prompt_rows` and `verl_rows` are tasks of the suite, read from a server. The others turn answers that have a reward
into rows for SFT, DPO and KTO; `canvas-gym export` writes the same from the log of a run. The keys of a dataset's rows
never differ, and a nested task is JSON text, since Arrow wants one schema. Nothing here imports `datasets`.
"""

from __future__ import annotations

import json
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Tuple, TypedDict, Union, get_args

from ._api import INSTRUCTIONS, Api, CanvasSize, Family, Level, PublicTask, Split

__all__ = [
    "INSTRUCTIONS",
    "Sample",
    "chat_prompt",
    "message_rows",
    "mixed_tasks",
    "preference_rows",
    "prompt_completion_rows",
    "prompt_rows",
    "suite_tasks",
    "system_message",
    "unpaired_rows",
    "verl_rows",
    "write_jsonl",
]

DATA_SOURCE = "text_to_diagram"
INTERACTION = "diagram"
PAGE = 500

Message = Dict[str, str]
Row = Dict[str, Any]


class _Sample(TypedDict):
    task_id: str
    prompt: str
    completion: str
    reward: Optional[float]


class Sample(_Sample, total=False):
    """An answer to a task and its reward; None where the server could not score it."""

    # Drawing area of the task, which the system message tells
    canvas: CanvasSize


def suite_tasks(
    client: Api,
    *,
    split: Split = "train",
    family: Optional[Family] = None,
    level: Optional[Level] = None,
    count: Optional[int] = None,
    offset: int = 0,
) -> Iterator[PublicTask]:
    """List tasks of the suite in its order, page by page.

    Args:
        client: The server.
        split: Split of the suite.
        family: Only this family.
        level: Only this level.
        count: How many at most; None for all. The training split has billions.
        offset: How many to pass over first.
    """
    end = None if count is None else offset + count
    while end is None or offset < end:
        limit = PAGE if end is None else min(PAGE, end - offset)
        page = client.tasks(split=split, family=family, level=level, limit=limit, offset=offset)["tasks"]
        yield from page
        offset += len(page)
        if len(page) < limit:
            return


def mixed_tasks(
    client: Api, *, split: Split = "train", level: Optional[Level] = None, count: int = 1000, offset: int = 0
) -> Iterator[PublicTask]:
    """List tasks of all families in turn, where `suite_tasks` lists one family after the other.

    Args:
        client: The server.
        split: Split of the suite.
        level: Only this level.
        count: How many at most; a family that ends early is left out from there on.
        offset: How many to pass over first.
    """
    sizes = {
        family: client.tasks(split=split, family=family, level=level, limit=1)["total"] for family in get_args(Family)
    }
    first, passed = _row_of(sizes.values(), offset)
    last, _ = _row_of(sizes.values(), offset + count - 1)
    columns = [
        suite_tasks(client, split=split, family=family, level=level, count=last + 1 - first, offset=first)
        for family, size in sizes.items()
        if size > first
    ]
    in_turn = (task for row in zip_longest(*columns) for task in row if task is not None)
    return islice(in_turn, passed, passed + count)


def _row_of(sizes: Iterable[int], position: int) -> Tuple[int, int]:
    """Find the row that a task is in where columns of these sizes are read row by row, and its place in that row.

    >>> [_row_of([1, 3], position) for position in range(5)]
    [(0, 0), (0, 1), (1, 0), (2, 0), (3, 0)]
    """
    row = 0
    left = sorted(sizes)
    while left and position >= (left[0] - row) * len(left):
        position -= (left[0] - row) * len(left)
        row = left.pop(0)
    return (row + position // len(left), position % len(left)) if left else (row, 0)


def chat_prompt(prompt: str, system: str = INSTRUCTIONS, canvas: Optional[CanvasSize] = None) -> List[Message]:
    r"""Make the messages that ask for a diagram.

    >>> chat_prompt("Draw a box.", system="")
    [{'role': 'user', 'content': 'Draw a box.'}]
    >>> chat_prompt("Draw a box.", "Be terse.", {"w": 1200, "h": 800})[0]
    {'role': 'system', 'content': 'Be terse.\nThe canvas is 1200 x 800 pixels.'}
    """
    said, user = system_message(system, canvas), {"role": "user", "content": prompt}
    return [{"role": "system", "content": said}, user] if said else [user]


def system_message(system: str = INSTRUCTIONS, canvas: Optional[CanvasSize] = None) -> str:
    """Add the size of the canvas to a system message; "" stays as it is.

    Args:
        system: The message.
        canvas: Drawing area of the task, pixels; None where it is not known.
    """
    if not system or canvas is None:
        return system
    return f"{system}\nThe canvas is {canvas['w']:g} x {canvas['h']:g} pixels."


def prompt_rows(tasks: Iterable[PublicTask], *, system: str = INSTRUCTIONS) -> Iterator[Row]:
    """Make prompt-only rows, as GRPO takes them; `task_id` is handed on to the reward function."""
    for task in tasks:
        prompt = chat_prompt(task["prompt"], system, task["canvas"])
        yield {"prompt": prompt, "task_id": task["task_id"], "split": task["split"]}


def verl_rows(tasks: Iterable[PublicTask], *, system: str = INSTRUCTIONS) -> Iterator[Row]:
    """Make rows as verl takes them, for `compute_score` and for the interaction of canvas_gym.verl.

    verl reads Parquet, and JSON lines in a file whose name ends in `.json`.
    """
    for index, task in enumerate(tasks):
        task_id, split = task["task_id"], task["split"]
        yield {
            "data_source": DATA_SOURCE,
            "prompt": chat_prompt(task["prompt"], system, task["canvas"]),
            "ability": "diagram",
            "reward_model": {"style": "rule", "ground_truth": _compact({"task_id": task_id})},
            "extra_info": {
                "split": split,
                "index": index,
                "task_id": task_id,
                "interaction_kwargs": {"name": INTERACTION, "task_id": task_id},
            },
        }


def prompt_completion_rows(
    samples: Iterable[Sample], *, threshold: float = 0.5, system: str = INSTRUCTIONS
) -> Iterator[Row]:
    """Make rows for SFT on the completion, of the answers whose reward is at least `threshold`."""
    for sample in samples:
        if _is_good(sample, threshold):
            yield {"prompt": _asked(sample, system), "completion": _answer(sample)}


def message_rows(samples: Iterable[Sample], *, threshold: float = 0.5, system: str = INSTRUCTIONS) -> Iterator[Row]:
    """Make rows for SFT on whole conversations, of the answers whose reward is at least `threshold`."""
    for sample in samples:
        if _is_good(sample, threshold):
            yield {"messages": [*_asked(sample, system), *_answer(sample)]}


def unpaired_rows(samples: Iterable[Sample], *, threshold: float = 0.5, system: str = INSTRUCTIONS) -> Iterator[Row]:
    """Make rows for KTO: every answer that has a reward, and whether it is at least `threshold`.

    >>> box: Sample = {"task_id": "t", "prompt": "Draw a box.", "completion": "{}", "reward": 0.25}
    >>> next(unpaired_rows([box], system=""))["label"]
    False
    """
    for sample in samples:
        if sample["reward"] is not None:
            label = _is_good(sample, threshold)
            yield {"prompt": _asked(sample, system), "completion": _answer(sample), "label": label}


def preference_rows(samples: Iterable[Sample], *, margin: float = 0.0, system: str = INSTRUCTIONS) -> Iterator[Row]:
    """Make rows for DPO: of each task the answers of highest and lowest reward, if they differ by more than `margin`.

    Args:
        samples: Answers, rewarded with one preset.
        margin: Difference of rewards.
        system: System message, "" for none.
    """
    pairs: Dict[str, Tuple[float, Sample, float, Sample]] = {}
    for sample in samples:
        reward = sample["reward"]
        if reward is None:
            continue
        high, best, low, worst = pairs.get(sample["task_id"], (reward, sample, reward, sample))
        if reward > high:
            high, best = reward, sample
        if reward < low:
            low, worst = reward, sample
        pairs[sample["task_id"]] = (high, best, low, worst)
    for high, best, low, worst in pairs.values():
        if high - low > margin:
            yield {"prompt": _asked(best, system), "chosen": _answer(best), "rejected": _answer(worst)}


def write_jsonl(path: Union[str, Path], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as JSON lines and return how many there were."""
    count = 0
    with Path(path).open("w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
            count += 1
    return count


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _is_good(sample: Sample, threshold: float) -> bool:
    return sample["reward"] is not None and sample["reward"] >= threshold


def _asked(sample: Sample, system: str) -> List[Message]:
    return chat_prompt(sample["prompt"], system, sample.get("canvas"))


def _answer(sample: Sample) -> List[Message]:
    return [{"role": "assistant", "content": sample["completion"]}]
