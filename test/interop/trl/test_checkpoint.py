"""A checkpoint of this project's trainer in transformers: the same model, the same tokens, the same answers."""

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from grpo import to_text
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen3ForCausalLM

EXAMPLES = 64


@pytest.fixture(scope="module")
def tokenizer(checkpoint: str) -> Any:
    return AutoTokenizer.from_pretrained(checkpoint)


@pytest.fixture(scope="module")
def model(checkpoint: str) -> Any:
    return AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32).eval()


@pytest.fixture(scope="module")
def examples(run_folder: Path) -> Any:
    lines = (run_folder / "teach/dataset.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines[:EXAMPLES]]


def test_it_is_a_qwen3_of_half_a_million_weights(model: Any, checkpoint: str) -> None:
    assert isinstance(model, Qwen3ForCausalLM) and model.dtype == torch.float32
    config = json.loads((Path(checkpoint) / "config.json").read_text())
    assert config["model_type"] == "qwen3" and model.num_parameters() > 400_000
    assert model.lm_head.weight is model.model.embed_tokens.weight


def test_a_text_begins_with_bos_and_comes_back(tokenizer: Any, examples: Any) -> None:
    for example in examples:
        for text in (example["prompt"] + "\n", example["completion"]):
            ids = tokenizer(text)["input_ids"]
            assert ids[0] == tokenizer.bos_token_id and tokenizer.bos_token_id not in ids[1:]
            assert tokenizer.decode(ids, skip_special_tokens=True) == text


def test_it_predicts_what_it_was_trained_on(model: Any, tokenizer: Any, examples: Any) -> None:
    """Any difference of layout (RoPE, norms, heads, ties) would make this no better than chance."""
    losses = []
    for example in examples:
        prompt = tokenizer(to_text(example["prompt"]))["input_ids"]
        answer = tokenizer(example["completion"], add_special_tokens=False)["input_ids"] + [tokenizer.eos_token_id]
        ids = torch.tensor([prompt + answer])
        labels = torch.tensor([[-100] * len(prompt) + answer])
        with torch.inference_mode():
            losses.append(float(model(input_ids=ids, labels=labels).loss))
    mean = sum(losses) / len(losses)
    assert mean < 0.3 * math.log(model.config.vocab_size), mean
