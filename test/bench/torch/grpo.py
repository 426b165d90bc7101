"""TRL's side of `rl_step` and `rl_to_equal_reward`: GRPOTrainer on a checkpoint, one step at a time.

    python test/bench/torch/grpo.py CHECKPOINT TASKS.jsonl --url http://127.0.0.1:8000 --threads 2 --learning-rate 5e-4 ...

Reads requests as JSON lines (protocol.py). The first, {"do": "ready"}, is answered with the ids of the first prompts; each
{"do": "step"} lets the trainer take one whole step, and is answered with its seconds, from the request to the end of the
step's log, and its mean reward. TASKS.jsonl has {"task_id", "prompt"} lines, played in their order.

TRL as it is, with the settings that make it fast on a CPU. Left out: KL (beta 0), checkpoints, evaluation.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from protocol import answer, read_request

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="", TOKENIZERS_PARALLELISM="false", WANDB_DISABLED="true")

import torch
from canvas_gym.trl import reward_function
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer


class OneAtATime(TrainerCallback):
    """Lets the trainer go on when it is asked to, and answers when a step is over."""

    def __init__(self) -> None:
        self.start = 0.0

    def wait(self) -> None:
        if read_request() is None:
            sys.exit(0)  # the other side has seen enough
        self.start = time.perf_counter()

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.wait()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if not logs or "reward" not in logs:
            return
        seconds = time.perf_counter() - self.start
        answer({"seconds": seconds, "reward": logs["reward"], "tokens": logs["completions/mean_length"]})
        if state.global_step < state.max_steps:
            self.wait()


def settings(folder: str, options: argparse.Namespace) -> GRPOConfig:
    """TRL's defaults for precision and memory (bf16, gradient checkpointing) are five times slower on a CPU."""
    return GRPOConfig(
        output_dir=folder,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=options.tasks_per_step * options.group_size,
        num_generations=options.group_size,
        max_completion_length=options.max_new_tokens,
        cache_implementation=options.cache,
        temperature=1.0,
        beta=0.0,
        learning_rate=options.learning_rate,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=options.warmup_steps,
        weight_decay=0.0,
        max_grad_norm=1.0,
        max_steps=options.steps,
        shuffle_dataset=False,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        seed=options.seed,
        disable_tqdm=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("checkpoint")
    parser.add_argument("tasks", type=Path)
    parser.add_argument("--url", required=True)
    parser.add_argument("--reward", required=True)
    parser.add_argument("--cache", help="of keys and values: static, or a growing one where it is not given")
    parser.add_argument("--learning-rate", type=float, required=True)
    for name in ("threads", "steps", "tasks-per-step", "group-size", "max-new-tokens", "warmup-steps", "seed"):
        parser.add_argument(f"--{name}", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows = [json.loads(line) for line in options.tasks.read_text().splitlines()]
    tokenizer = AutoTokenizer.from_pretrained(options.checkpoint)
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=AutoModelForCausalLM.from_pretrained(options.checkpoint, dtype=torch.float32),
            args=settings(folder, options),
            train_dataset=Dataset.from_list(rows),
            reward_funcs=reward_function(options.url, options.reward),
            processing_class=tokenizer,
            callbacks=[OneAtATime()],
        )
        trainer.remove_callback(PrinterCallback)
        read_request()
        prompts = [row["prompt"] for row in rows[: options.tasks_per_step]]
        answer({"prompt_ids": tokenizer(prompts)["input_ids"]})
        trainer.train()


if __name__ == "__main__":
    main()
