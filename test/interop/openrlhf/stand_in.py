"""OpenRLHF's rollouts without what its root imports, and a stand-in for tokenizer and model."""

import importlib
import sys
import types
from importlib.metadata import distribution
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Dict, List


def load(module: str) -> Any:
    """A module of OpenRLHF, without running the `__init__` of the packages above it."""
    root = Path(str(distribution("openrlhf").locate_file("")))
    parts = module.split(".")
    for depth in range(1, len(parts)):
        name = ".".join(parts[:depth])
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*parts[:depth]))]
        sys.modules.setdefault(name, package)
    return importlib.import_module(module)


class Tokenizer:
    """Code points as tokens."""

    def __call__(self, text: str, **_: Any) -> Dict[str, Any]:
        return {"input_ids": [SimpleNamespace(tolist=lambda: [ord(char) for char in text])]}

    def decode(self, tokens: List[int], **_: Any) -> str:
        return "".join(map(chr, tokens))


class Engine:
    """Says one answer after the other, with the token that ends them, and keeps what it read."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.read: List[str] = []

    async def generate(self, tokens: List[int], *_: Any, **__: Any) -> Any:
        self.read.append("".join(map(chr, tokens)))
        text = f"{self.answers.pop(0)}<|im_end|>"
        output = SimpleNamespace(token_ids=[ord(char) for char in text], text=text, logprobs=None, finish_reason="stop")
        return SimpleNamespace(outputs=[output])


def sampling() -> SimpleNamespace:
    return SimpleNamespace(max_tokens=100, logprobs=None)
