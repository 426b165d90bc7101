"""TRL with tools: the model calls create_shape, connect, ... and the environment rewards the drawing.

pip install './clients/python[trl]'
"""

import os

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from canvas_gym import Client
from canvas_gym.datasets import mixed_tasks, prompt_rows
from canvas_gym.trl import DiagramEnvironment

count = int(os.environ.get("TASKS", "1000"))
rows = Dataset.from_list(list(prompt_rows(mixed_tasks(Client(), level=1, count=count), system="")))
trainer = GRPOTrainer(
    os.environ.get("MODEL", "Qwen/Qwen3-0.6B"),
    environment_factory=DiagramEnvironment,  # finds the server by CANVAS_GYM_URL, and tells the size of the canvas
    train_dataset=rows,
    args=GRPOConfig(
        output_dir="trl-environment",
        bf16=torch.cuda.is_available(),
        max_completion_length=4096,  # of all turns together, with what the tools answer
        chat_template_kwargs={"enable_thinking": False},
        max_steps=int(os.environ.get("STEPS", "-1")),
    ),
)
trainer.train()
