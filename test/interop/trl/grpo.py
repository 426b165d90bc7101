"""GRPO with TRL on a checkpoint of this project's trainer, rewarded by a running server.

    python test/interop/trl/grpo.py runs/quickstart-.../sft --url http://127.0.0.1:8000 --steps 100 --json curve.json

Prints the reward of every tenth step, and the mean reward of unseen tasks before and after. Runs on a CPU. Left out: a
chat template, which these small models do not have, and saving what was trained.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any, Dict, List, NamedTuple

os.environ.update(HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="", TOKENIZERS_PARALLELISM="false", WANDB_DISABLED="true")

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from canvas_gym import Client
from canvas_gym.datasets import mixed_tasks
from canvas_gym.trl import reward_function

EVALUATED_AT_A_TIME = 100


class Result(NamedTuple):
    """Rewards of the training steps, and of the unseen tasks before and after; means."""

    curve: List[Dict[str, float]]
    before: List[float]
    after: List[float]


class Curve(TrainerCallback):
    """Keeps what the trainer logs of each step."""

    def __init__(self) -> None:
        self.rows: List[Dict[str, float]] = []

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if logs and "reward" in logs:
            self.rows.append({"step": state.global_step, **logs})
            if state.global_step % 10 == 0:
                print(f"step {state.global_step}: reward {logs['reward']:.3f}", flush=True)


def to_text(prompt: str) -> str:
    """What the checkpoint was trained to read, after <bos>, which the tokenizer puts before it."""
    return f"{prompt}\n"


def rows_of(client: Client, split: str, count: int) -> List[Dict[str, str]]:
    tasks = mixed_tasks(client, split=split, level=1, count=count)
    return [{"prompt": to_text(task["prompt"]), "task_id": task["task_id"]} for task in tasks]


def settings(
    folder: str, *, steps: int, batch_size: int, group_size: int, learning_rate: float, seed: int
) -> GRPOConfig:
    """GRPO without a KL term on a CPU. TRL's own defaults for precision and memory are many times slower there."""
    return GRPOConfig(
        output_dir=folder,
        use_cpu=True,
        bf16=False,
        gradient_checkpointing=False,
        per_device_train_batch_size=batch_size,
        num_generations=group_size,
        max_completion_length=256,
        temperature=1.0,
        beta=0.0,
        learning_rate=learning_rate,
        lr_scheduler_type="linear",
        max_steps=steps,
        logging_steps=1,
        save_strategy="no",
        report_to=[],
        seed=seed,
        disable_tqdm=True,
    )


def evaluate(model: Any, tokenizer: Any, client: Client, rows: List[Dict[str, str]], preset: str) -> List[float]:
    """Sample an answer for each row at temperature 1 and return the rewards."""
    torch.manual_seed(0)
    tokenizer.padding_side = "left"
    completions: List[str] = []
    for start in range(0, len(rows), EVALUATED_AT_A_TIME):
        texts = [row["prompt"] for row in rows[start : start + EVALUATED_AT_A_TIME]]
        batch = tokenizer(texts, return_tensors="pt", padding=True)
        inputs = {"input_ids": batch["input_ids"], "attention_mask": batch["attention_mask"]}
        with torch.inference_mode():
            written = model.generate(**inputs, do_sample=True, temperature=1.0, top_k=0, top_p=1.0, max_new_tokens=256)
        answers = written[:, batch["input_ids"].shape[1] :]
        completions += tokenizer.batch_decode(answers, skip_special_tokens=True)
    answer = client.score(completions=completions, context={"task_id": [row["task_id"] for row in rows]}, reward=preset)
    return [reward for reward in answer["rewards"] if reward is not None]


def train(
    checkpoint: str,
    url: str,
    *,
    steps: int,
    learning_rate: float = 5e-4,
    preset: str = "graded",
    tasks: int = 8,
    group_size: int = 8,
    evaluated: int = 200,
    seed: int = 0,
) -> Result:
    """Train a checkpoint and measure it before and after on tasks of `test_iid`."""
    client = Client(url)
    tokenizer = AutoTokenizer.from_pretrained(checkpoint)
    model = AutoModelForCausalLM.from_pretrained(checkpoint, dtype=torch.float32)
    unseen = rows_of(client, "test_iid", evaluated)
    before = evaluate(model, tokenizer, client, unseen, preset) if unseen else []
    curve = Curve()
    with tempfile.TemporaryDirectory() as folder:
        config = settings(
            folder,
            steps=steps,
            batch_size=tasks * group_size,
            group_size=group_size,
            learning_rate=learning_rate,
            seed=seed,
        )
        trainer = GRPOTrainer(
            model=model,
            args=config,
            train_dataset=Dataset.from_list(rows_of(client, "train", tasks * steps)),
            reward_funcs=reward_function(url, preset),
            processing_class=tokenizer,
            callbacks=[curve],
        )
        trainer.train()
    after = evaluate(model.eval(), tokenizer, client, unseen, preset) if unseen else []
    return Result(curve.rows, before, after)


def mean(values: List[float]) -> float:
    return sum(values) / len(values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("checkpoint")
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--learning-rate", type=float, default=5e-4)
    parser.add_argument("--preset", default="graded")
    parser.add_argument("--evaluated", type=int, default=200, help="unseen tasks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="where the figures go")
    options = parser.parse_args()
    start = time.monotonic()
    result = train(
        options.checkpoint,
        options.url,
        steps=options.steps,
        learning_rate=options.learning_rate,
        preset=options.preset,
        evaluated=options.evaluated,
        seed=options.seed,
    )
    rewards = [row["reward"] for row in result.curve]
    tenth = max(1, len(rewards) // 10)
    print(f"training reward {mean(rewards[:tenth]):.3f} -> {mean(rewards[-tenth:]):.3f}, means of {tenth} steps")
    print(f"unseen tasks    {mean(result.before):.3f} -> {mean(result.after):.3f} ({len(result.after)} of test_iid)")
    print(f"{time.monotonic() - start:.0f} s")
    if options.json:
        options.json.write_text(json.dumps(result._asdict()))


if __name__ == "__main__":
    main()
