"""A checkpoint of the trainer opens in transformers: the same logits, the same tokens, the same completions."""

import shutil
from pathlib import Path
from typing import Any, Dict, List

import pytest
import torch
from compare import assert_equal_logits
from conftest import Ours
from transformers import AutoModelForCausalLM, AutoTokenizer, Qwen3ForCausalLM

UNSEEN = [
    "Zygote Quux -> Flumph",
    'a "b" {c}',
    "naïve Größe 7.5 \u00e9\u4e2d\U0001f600",
    "  two  spaces\n\n",
    "x" * 200,
]


@pytest.fixture(scope="module")
def model(checkpoint: Path) -> Any:
    return AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32).eval()


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Path) -> Any:
    return AutoTokenizer.from_pretrained(checkpoint)


@pytest.fixture(scope="module")
def pairs(tokenizer: Any, examples: List[Dict[str, Any]]) -> List[Dict[str, List[int]]]:
    return [
        {
            "prompt_ids": tokenizer(example["prompt"])["input_ids"],
            "completion_ids": tokenizer(example["completion"], add_special_tokens=False)["input_ids"],
        }
        for example in examples
    ]


def test_the_logits_are_equal(
    model: Any, checkpoint: Path, pairs: List[Dict[str, List[int]]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert isinstance(model, Qwen3ForCausalLM)
    assert_equal_logits("the trainer's checkpoint", model, Ours(checkpoint), pairs, capsys)


def test_the_tokenizer_gives_equal_ids(tokenizer: Any, checkpoint: Path, examples: List[Dict[str, Any]]) -> None:
    texts = [*UNSEEN, *(example[key] for example in examples for key in ("prompt", "completion"))]
    ids = [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
    assert Ours(checkpoint).ask(texts=texts)["ids"] == ids
    assert [tokenizer.decode(each) for each in ids] == texts


def test_greedy_completions_are_equal(model: Any, checkpoint: Path, pairs: List[Dict[str, List[int]]]) -> None:
    prompts = [pair["prompt_ids"] for pair in pairs[:8]]
    ours = Ours(checkpoint).ask(prompts=prompts, max_new_tokens=60)["greedy"]
    for prompt, found in zip(prompts, ours):
        with torch.inference_mode():
            written = model.generate(torch.tensor([prompt]), do_sample=False, max_new_tokens=60)
        assert written[0, len(prompt) :].tolist() == found


def test_saved_by_transformers_it_loads_with_the_same_result(
    model: Any, tokenizer: Any, checkpoint: Path, pairs: List[Dict[str, List[int]]], tmp_path: Path
) -> None:
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    assert not (tmp_path / "trainer_state.json").exists()
    questions: Any = {"texts": UNSEEN, "pairs": pairs[:8], "prompts": [pair["prompt_ids"] for pair in pairs[:4]]}
    assert Ours(tmp_path).ask(**questions) == Ours(checkpoint).ask(**questions)


def test_a_checkpoint_without_its_tokenizer_is_refused_by_name(checkpoint: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(checkpoint, tmp_path / "copy")
    (copy / "tokenizer.json").unlink()
    assert "tokenizer.json" in Ours(copy).ask()["error"]
