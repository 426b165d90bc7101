"""Stand-ins for the tokenizer and the model of OpenRLHF's rollouts."""

from types import SimpleNamespace
from typing import Any, Dict, List


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
