"""GRPO with TRL; Unsloth takes the same reward function.

pip install './clients/python[trl]'
"""

import os

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from canvas_gym import Client
from canvas_gym.datasets import mixed_tasks, prompt_rows
from canvas_gym.trl import reward_function

count = int(os.environ.get("TASKS", "1000"))
rows = Dataset.from_list(list(prompt_rows(mixed_tasks(Client(), level=1, count=count))))
trainer = GRPOTrainer(
    os.environ.get("MODEL", "Qwen/Qwen3-0.6B"),
    reward_funcs=reward_function(),  # both find the server by CANVAS_GYM_URL
    train_dataset=rows,
    args=GRPOConfig(
        output_dir="trl-grpo",
        bf16=torch.cuda.is_available(),
        max_completion_length=1024,
        chat_template_kwargs={"enable_thinking": False},  # or four times the tokens: thoughts are cut otherwise
        max_steps=int(os.environ.get("STEPS", "-1")),
    ),
)
trainer.train()
