"""Folders that transformers wrote: those this decoder can compute load with equal logits, others are refused by key."""

from pathlib import Path
from typing import Any, Dict

import pytest
import torch
from compare import assert_equal_logits
from conftest import Ours
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM, Qwen3Config, Qwen3ForCausalLM

SHAPE: Dict[str, Any] = {
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 256,
    "initializer_range": 0.2,
    "tie_word_embeddings": True,
}


@pytest.fixture(scope="module")
def tokenizer(checkpoint: Path) -> Any:
    return AutoTokenizer.from_pretrained(checkpoint)


def written(folder: Path, tokenizer: Any, model: Any, **options: Any) -> Path:
    model.save_pretrained(folder, **options)
    tokenizer.save_pretrained(folder)
    return folder


def qwen3(tokenizer: Any, **changes: Any) -> Any:
    torch.manual_seed(7)
    config = Qwen3Config(vocab_size=len(tokenizer) + 3, **{**SHAPE, "head_dim": 16, **changes})
    model = Qwen3ForCausalLM(config).eval()
    for name, weight in model.named_parameters():
        if "norm" in name:
            torch.nn.init.normal_(weight, 1.0, 0.2)  # gains of 1 would hide one that is left out
    return model


PAIRS = [
    {
        "prompt_ids": torch.randint(0, 300, (length,), generator=torch.Generator().manual_seed(length)).tolist(),
        "completion_ids": torch.randint(0, 300, (30,), generator=torch.Generator().manual_seed(99)).tolist(),
    }
    for length in (1, 7, 32, 120)
]


@pytest.mark.parametrize(
    ("what", "changes", "options"),
    [
        ("float32", {}, {}),
        ("sharded", {}, {"max_shard_size": "100KB"}),
        ("rotary base of a million", {"rope_parameters": {"rope_type": "default", "rope_theta": 1e6}}, {}),
        ("one head for each key", {"num_key_value_heads": 6}, {}),
    ],
)
def test_a_qwen3_loads_with_equal_logits(
    what: str,
    changes: Dict[str, Any],
    options: Dict[str, Any],
    tokenizer: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = qwen3(tokenizer, **changes)
    folder = written(tmp_path, tokenizer, model, **options)
    assert (folder / "model.safetensors.index.json").exists() == (what == "sharded")
    assert_equal_logits(what, model, Ours(folder), PAIRS, capsys)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_weights_of_16_bits_are_read_exactly(
    dtype: Any, tokenizer: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path, tokenizer, qwen3(tokenizer).to(dtype))
    model = Qwen3ForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    assert_equal_logits(str(dtype), model, Ours(folder), PAIRS, capsys)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tie_word_embeddings": False}, "tie_word_embeddings is false"),
        ({"attention_bias": True}, "attention_bias is true"),
        ({"hidden_act": "gelu"}, 'hidden_act is "gelu"'),
        (
            {"rope_parameters": {"rope_type": "linear", "rope_theta": 1e4, "factor": 2.0}},
            'rope_type is "linear"',
        ),
        ({"use_sliding_window": True, "sliding_window": 64, "max_window_layers": 1}, "use_sliding_window is true"),
    ],
)
def test_what_cannot_be_computed_is_refused_by_its_key(
    changes: Dict[str, Any], message: str, tokenizer: Any, tmp_path: Path
) -> None:
    folder = written(tmp_path, tokenizer, qwen3(tokenizer, **changes))
    error = Ours(folder).ask()["error"]
    assert message in error and "config.json" in error


def test_a_llama_is_refused_by_its_type(tokenizer: Any, tmp_path: Path) -> None:
    model = LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), **SHAPE))
    error = Ours(written(tmp_path, tokenizer, model)).ask()["error"]
    assert 'model_type is "llama"' in error
