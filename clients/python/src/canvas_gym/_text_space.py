"""A Gymnasium space of texts of any characters, which also works in the shared memory of `AsyncVectorEnv`."""

from __future__ import annotations

import string
from typing import Any, Dict, Sequence, Tuple

import numpy as np
from gymnasium import spaces
from gymnasium.vector.utils import create_shared_memory, read_from_shared_memory, write_to_shared_memory

__all__ = ["UnicodeText"]

MAX_SAMPLE_LENGTH = 256
ENCODING = "utf-32-le"


class UnicodeText(spaces.Text):
    """Texts of any characters, from the empty one to `max_length` characters.

    `gymnasium.spaces.Text` wants its characters listed, which for a model's output means all of Unicode.
    Samples are short and of printable ASCII; masks are not supported.
    """

    def __init__(self, max_length: int, seed: Any = None) -> None:
        super().__init__(max_length, min_length=0, charset=string.printable, seed=seed)

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Draw a text of up to 256 printable characters."""
        if mask is not None or probability is not None:
            raise ValueError("a text of any characters cannot be sampled with a mask")
        length = int(self.np_random.integers(min(self.max_length, MAX_SAMPLE_LENGTH) + 1))
        return "".join(self.np_random.choice(list(string.printable), size=length))

    def contains(self, x: Any) -> bool:
        """Tell whether `x` is a text that is not too long."""
        return isinstance(x, str) and len(x) <= self.max_length

    @property
    def character_set(self) -> Any:
        """All of Unicode."""
        return _Characters()

    @property
    def character_list(self) -> Any:
        """All of Unicode, in the order of the code points."""
        return _Characters()

    def character_index(self, char: str) -> Any:
        """Position of a character in `character_list`: its code point."""
        return np.int32(ord(char))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnicodeText) and self.max_length == other.max_length

    def __hash__(self) -> int:
        return hash((UnicodeText, self.max_length))

    def __repr__(self) -> str:
        return f"UnicodeText({self.max_length})"


class _Characters(Sequence[str]):
    """All of Unicode as a sequence, without holding it."""

    def __len__(self) -> int:
        return 0x110000

    def __getitem__(self, index: Any) -> Any:
        return chr(int(index))

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and len(value) == 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Characters)

    def __hash__(self) -> int:
        return hash(_Characters)


class _SharedTexts(Sequence[str]):
    """The texts of all environments as they are in shared memory at the moment; a deep copy of it is a tuple of them.

    Gymnasium reads shared memory once and then relies on what it read to follow the memory, as arrays do.
    """

    def __init__(self, rows: Any) -> None:
        self._rows = rows

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:
        row = self._rows[index]
        return row[1 : 1 + row[0]].tobytes().decode(ENCODING, "surrogatepass")

    def __deepcopy__(self, memo: Dict[int, Any]) -> Tuple[str, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return repr(tuple(self))


def _rows_of(space: UnicodeText, memory: Any) -> Any:
    """[environments, 1 + max_length]: the length of each text, then its code points."""
    return np.frombuffer(memory.get_obj(), np.int32).reshape(-1, 1 + space.max_length)


@create_shared_memory.register(UnicodeText)
def _create(space: UnicodeText, n: int = 1, ctx: Any = None) -> Any:
    return ctx.Array("i", n * (1 + space.max_length))


@read_from_shared_memory.register(UnicodeText)
def _read(space: UnicodeText, shared_memory: Any, n: int = 1) -> Any:
    return _SharedTexts(_rows_of(space, shared_memory))


@write_to_shared_memory.register(UnicodeText)
def _write(space: UnicodeText, index: int, value: str, shared_memory: Any) -> None:
    points = np.frombuffer(value.encode(ENCODING, "surrogatepass"), np.int32)
    row = _rows_of(space, shared_memory)[index]
    row[1 : 1 + len(points)] = points
    row[0] = len(points)
