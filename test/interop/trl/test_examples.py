"""The examples for TRL, run as they are for one step, on a copy of the small checkpoint that has a chat template."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import trl
from transformers import AutoModelForCausalLM, AutoTokenizer

EXAMPLES = Path(__file__).parents[3] / "clients/python/examples"
CONTEXT = 16_384


@pytest.fixture(scope="module")
def chat_model(checkpoint: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The checkpoint as a user's own: with Qwen3's template, room for what tools say, and answers that soon end."""
    folder = str(tmp_path_factory.mktemp("chat-model"))
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    tokenizer.chat_template = (Path(trl.__file__).parent / "chat_templates/qwen3.jinja").read_text()
    tokenizer.add_special_tokens({"eos_token": "<|im_end|>"})
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    model.resize_token_embeddings(len(tokenizer))
    talk = [{"role": "user", "content": "Draw."}, {"role": "assistant", "content": '{"actions":[]}'}]
    ids = tokenizer(tokenizer.apply_chat_template(talk, tokenize=False), return_tensors="pt")["input_ids"]
    with torch.no_grad():  # the token that ends an answer follows any other, about one time in ten
        seen = model(input_ids=ids, output_hidden_states=True)
        mean = seen.hidden_states[-1][0].mean(dim=0)
        logit = seen.logits[0].logsumexp(dim=-1).mean() - 2
        model.get_input_embeddings().weight[tokenizer.eos_token_id] = mean * logit / mean.square().sum()
    model.config.max_position_embeddings = CONTEXT
    model.config.eos_token_id = model.generation_config.eos_token_id = tokenizer.eos_token_id
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


@pytest.mark.parametrize(("name", "reward"), [("trl_grpo", "graded_reward"), ("trl_environment", "DiagramEnvironment")])
def test_one_step(name: str, reward: str, chat_model: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py")],
        cwd=tmp_path,
        env={**os.environ, "MODEL": chat_model, "TASKS": "8", "STEPS": "1"},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-4000:]
    assert f"rewards/{reward}/mean" in said
    assert list(tmp_path.glob("trl-*/checkpoint-1/model.safetensors")), said[-4000:]
