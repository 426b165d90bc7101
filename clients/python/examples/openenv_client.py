"""OpenEnv's own client; nothing of ours is needed.

pip install openenv
"""

import os

from openenv.core.generic_client import GenericEnvClient

URL = os.environ.get("CANVAS_GYM_URL") or "http://127.0.0.1:8000"
LABELS = ["Record", "Review", "Edit Episode"]
box = {"type": "create_shape", "shape": "rectangle", "y": 360, "w": 200, "h": 80}
drawn = [{**box, "id": label, "x": 120 + 380 * i, "text": label} for i, label in enumerate(LABELS)]
drawn += [{"type": "connect", "from": a, "to": b} for a, b in zip(LABELS, LABELS[1:])]

with GenericEnvClient(base_url=URL).sync() as env:
    start = env.reset(task_id="train.pipeline.1.3")  # or seed=7, split="train", level=1
    print(start.observation["prompt"])
    end = env.step({"actions": drawn})  # or {"actions": TEXT}, whatever a model wrote
    print(end.reward, end.done, [error["message"] for error in end.observation["errors"]])
