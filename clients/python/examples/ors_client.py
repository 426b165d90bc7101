"""ORS, the Open Reward Standard. `pip install openreward`; nothing of ours is needed."""

import os

url = os.environ.get("CANVAS_GYM_URL", "http://127.0.0.1:8000")
os.environ.update(OPENREWARD_API_URL=url, OPENREWARD_SESSION_URL=url, OPENREWARD_API_KEY="none")

from openreward import OpenReward  # noqa: E402  (reads the addresses when it is imported)

box = {"type": "create_shape", "id": "a", "shape": "rectangle", "x": 80, "y": 80, "w": 160, "h": 80, "text": "A"}
with OpenReward() as client:
    environment = client.environments.get("diagram")
    with environment.session(task=environment.get_task("train", 0)) as session:
        print(session.get_prompt()[0].text)
        result = session.call_tool("submit_diagram", {"actions": [box]})
        print(result.reward, result.finished)
