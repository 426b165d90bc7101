"""A text environment of SkyRL-Gym.

pip install './clients/python[skyrl]'
"""

import json

import skyrl_gym

import canvas_gym.skyrl
from canvas_gym import Client

LABELS = ["Record", "Review", "Edit Episode"]
box = {"type": "create_shape", "shape": "rectangle", "y": 360, "w": 200, "h": 80}
drawn = [{**box, "id": label, "x": 120 + 380 * i, "text": label} for i, label in enumerate(LABELS)]
drawn += [{"type": "connect", "from": a, "to": b} for a, b in zip(LABELS, LABELS[1:])]
ANSWER = json.dumps({"actions": drawn})  # what a model writes

[row] = canvas_gym.skyrl.skyrl_rows([Client().task(task_id="train.pipeline.1.3")])
env = skyrl_gym.make("canvas_gym", env_config={}, extras=row)  # env_config={"url": ...}, or CANVAS_GYM_URL
prompt, _ = env.init(row["prompt"])
print(prompt[-1]["content"])
print(env.step(ANSWER))
