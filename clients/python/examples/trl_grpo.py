"""GRPO with TRL. `pip install canvas-gym trl`; Unsloth takes the same reward function."""

import os

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from canvas_gym import Client
from canvas_gym.datasets import prompt_rows, mixed_tasks
from canvas_gym.trl import reward_function

url = os.environ.get("CANVAS_GYM_URL", "http://127.0.0.1:8000")
rows = Dataset.from_list(
    list(prompt_rows(mixed_tasks(Client(url), level=1, count=int(os.environ.get("TASKS", "1000")))))
)
trainer = GRPOTrainer(
    os.environ.get("MODEL", "Qwen/Qwen3-0.6B"),
    reward_funcs=reward_function(url),
    train_dataset=rows,
    args=GRPOConfig(output_dir="trl-grpo", max_completion_length=512, max_steps=int(os.environ.get("STEPS", "-1"))),
)
trainer.train()
