"""Scores a batch with Ray over several servers; one of them may die.

pip install './clients/python[ray]'
"""

import json

import ray

from canvas_gym.ray import score

LABELS = ["Record", "Review", "Edit Episode"]
box = {"type": "create_shape", "shape": "rectangle", "y": 360, "w": 200, "h": 80}
drawn = [{**box, "id": label, "x": 120 + 380 * i, "text": label} for i, label in enumerate(LABELS)]
drawn += [{"type": "connect", "from": a, "to": b} for a, b in zip(LABELS, LABELS[1:])]
ANSWER = json.dumps({"actions": drawn})  # what a model writes

ray.init(num_cpus=2)
urls = None  # ["http://10.0.0.1:8000", ...], or CANVAS_GYM_URL with commas between
print(score(urls, [ANSWER, "I cannot draw."] * 100, task_ids=["train.pipeline.1.3"] * 200)["rewards"][:4])
