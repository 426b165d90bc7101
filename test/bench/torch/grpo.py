"""TRL's side of `rl_step` and `rl_to_equal_reward`: GRPOTrainer on a checkpoint, one step at a time.

    python test/bench/torch/grpo.py CHECKPOINT TASKS.jsonl --url http://127.0.0.1:8000 --threads 2 ...

Reads requests as JSON lines (protocol.py). The first, {"do": "ready"}, is answered with the ids of the first prompts;
each {"do": "step"} lets the trainer take one whole step, and is answered with its seconds, from the request to the end
of the step's log, and its mean reward. TASKS.jsonl has {"task_id", "prompt"} lines, played in their order.

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
from typing import Any, Dict, List, Optional

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


def faster_cache(model: Any, tokenizer: Any, prompts: List[str], group_size: int, max_new_tokens: int) -> Optional[str]:
    """Of the caches for keys and values the faster one here: None for the one that grows, or "static"."""
    tokenizer.padding_side = "left"
    batch = tokenizer([prompt for prompt in prompts for _ in range(group_size)], return_tensors="pt", padding=True)
    seconds: Dict[Optional[str], float] = {}
    for repetition in range(2):  # the first warms up
        for cache in (None, "static"):
            torch.manual_seed(repetition)
            start = time.perf_counter()
            with torch.inference_mode():
                model.generate(
                    batch["input_ids"],
                    attention_mask=batch["attention_mask"],
                    do_sample=True,
                    top_k=0,
                    max_new_tokens=max_new_tokens,
                    cache_implementation=cache,
                )
            seconds[cache] = time.perf_counter() - start
    return min(seconds, key=lambda cache: seconds[cache])


def settings(folder: str, options: argparse.Namespace, cache: Optional[str]) -> GRPOConfig:
    """TRL's defaults for precision and memory (bf16, gradient checkpointing) are five times slower on a CPU."""
    return GRPOConfig(
        output_dir=folder,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=options.tasks_per_step * options.group_size,
        num_generations=options.group_size,
        max_completion_length=options.max_new_tokens,
        cache_implementation=cache,
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
    parser.add_argument("--learning-rate", type=float, required=True)
    for name in ("threads", "steps", "tasks-per-step", "group-size", "max-new-tokens", "warmup-steps", "seed"):
        parser.add_argument(f"--{name}", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows = [json.loads(line) for line in options.tasks.read_text().splitlines()]
    prompts = [row["prompt"] for row in rows[: options.tasks_per_step]]
    tokenizer = AutoTokenizer.from_pretrained(options.checkpoint)
    model = AutoModelForCausalLM.from_pretrained(options.checkpoint, dtype=torch.float32)
    cache = faster_cache(model, tokenizer, prompts, options.group_size, options.max_new_tokens)
    with tempfile.TemporaryDirectory() as folder:
        trainer = GRPOTrainer(
            model=model,
            args=settings(folder, options, cache),
            train_dataset=Dataset.from_list(rows),
            reward_funcs=reward_function(options.url, options.reward),
            processing_class=tokenizer,
            callbacks=[OneAtATime()],
        )
        trainer.remove_callback(PrinterCallback)
        read_request()
        way = f"{cache or 'growing'} cache, {options.threads} threads, AdamW {options.learning_rate}"
        answer({"prompt_ids": tokenizer(prompts)["input_ids"], "way": way})
        trainer.train()


if __name__ == "__main__":
    main()
