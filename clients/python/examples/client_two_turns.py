"""Two turns with nothing but the standard library: draw, read what to change, change it.

pip install ./clients/python
"""

from canvas_gym import Client

client = Client()  # CANVAS_GYM_URL, or http://127.0.0.1:8000
turn = client.reset(task_id="train.pipeline.1.3", action_set="editor", max_turns=2)
print(turn["observation"]["prompt"])

labels = ["Record", "Review", "Edit Episode"]
box = {"type": "create_shape", "shape": "rectangle", "y": 360, "w": 200, "h": 80}
drawn = [{**box, "id": label, "x": 120 + 150 * i, "text": label} for i, label in enumerate(labels)]
turn = client.step(state=turn["state"], action={"actions": drawn})
print("turn 1:", turn["reward"], *(reason["message"] for reason in turn["info"]["reasons"]), sep="\n  ")

mended = [{"type": "move_shape", "id": label, "x": 120 + 380 * i, "y": 360} for i, label in enumerate(labels)]
mended += [{"type": "connect", "from": a, "to": b} for a, b in zip(labels, labels[1:])]
turn = client.step(state=turn["state"], action={"actions": [*mended, {"type": "done"}]})
print("turn 2:", turn["reward"], *(reason["message"] for reason in turn["info"]["reasons"]), sep="\n  ")
print("in all:", turn["observation"]["total_reward"])
