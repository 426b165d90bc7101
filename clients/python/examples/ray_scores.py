"""Scores a batch with Ray over several servers; one of them may die. `pip install canvas-gym ray`"""

import os

import ray

from canvas_gym.ray import score

urls = os.environ.get("CANVAS_GYM_URL", "http://127.0.0.1:8000").split(",")
ray.init(num_cpus=2)
task_ids = [f"train.pipeline.1.{i}" for i in range(200)]
print(score(urls, ["I cannot draw."] * 200, task_ids=task_ids)["rewards"][:3])
