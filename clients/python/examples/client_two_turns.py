"""Two turns with nothing but the standard library: draw, read what to change, change it. `pip install canvas-gym`"""

import os

from canvas_gym import Client

client = Client(os.environ.get("CANVAS_GYM_URL", "http://127.0.0.1:8000"))
turn = client.reset(prompt="a client that sends a request to a server", action_set="editor", max_turns=2)
print(turn["observation"]["prompt"])

box = {"type": "create_shape", "shape": "rectangle", "y": 100, "w": 160, "h": 80}
drawn = [{**box, "id": "a", "x": 100, "text": "client"}, {**box, "id": "b", "x": 180, "text": "server"}]
turn = client.step(state=turn["state"], action={"actions": drawn})
print(turn["reward"], [lint["message"] for lint in turn["observation"]["lints"]])

mended = [{"type": "move_shape", "id": "b", "x": 500, "y": 100}, {"type": "connect", "from": "a", "to": "b"}]
turn = client.step(state=turn["state"], action={"actions": [*mended, {"type": "done"}]})
print(turn["reward"], turn["observation"]["total_reward"])
