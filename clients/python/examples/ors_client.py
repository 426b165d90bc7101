"""ORS, the Open Reward Standard; nothing of ours is needed.

pip install openreward
"""

import os

url = os.environ.get("CANVAS_GYM_URL") or "http://127.0.0.1:8000"
os.environ.update(OPENREWARD_API_URL=url, OPENREWARD_SESSION_URL=url, OPENREWARD_API_KEY="none")

from openreward import OpenReward  # noqa: E402  (reads the addresses when it is imported)

LABELS = ["Record", "Review", "Edit Episode"]
box = {"type": "create_shape", "shape": "rectangle", "y": 360, "w": 200, "h": 80}
drawn = [{**box, "id": label, "x": 120 + 380 * i, "text": label} for i, label in enumerate(LABELS)]
drawn += [{"type": "connect", "from": a, "to": b} for a, b in zip(LABELS, LABELS[1:])]

with OpenReward() as client:
    environment = client.environments.get("diagram")
    task = environment.get_task("train", 0)
    task.task_spec = {"task_id": "train.pipeline.1.3"}  # instead of the first of the split
    with environment.session(task=task) as session:
        print(session.get_prompt()[0].text)
        result = session.call_tool("submit_diagram", {"actions": drawn})
        print(result.reward, result.finished)
