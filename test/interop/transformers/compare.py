"""Logits of the trainer and of transformers on the same tokens."""

from typing import Any, Dict, List

import pytest
import torch
from conftest import Ours

TOLERANCE = 1e-4


def theirs(model: Any, pair: Dict[str, List[int]]) -> torch.Tensor:
    """Logits before each completion token, [K, V]."""
    prompt, completion = pair["prompt_ids"], pair["completion_ids"]
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([prompt + completion])).logits[0]
    return logits[len(prompt) - 1 : -1].float()


def assert_equal_logits(
    what: str, model: Any, ours: Ours, pairs: List[Dict[str, List[int]]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Compares, and prints the largest difference."""
    answers = ours.ask(pairs=pairs)
    assert "error" not in answers, answers
    differences, sizes = [], []
    for pair, found in zip(pairs, answers["logits"]):
        wanted = theirs(model, pair)
        differences.append(float((torch.tensor(found) - wanted).abs().max()))
        sizes.append(float(wanted.abs().max()))
    with capsys.disabled():
        print(f"\n{what}: logits up to {max(sizes):.1f} differ by {max(differences):.1e} at most, {len(pairs)} lists")
    assert max(differences) < TOLERANCE
    assert max(sizes) > 0.5  # else a difference could not be seen
