"""A Gymnasium environment.

pip install './clients/python[gymnasium]'
"""

import json

import gymnasium

import canvas_gym.gymnasium  # noqa: F401  (registers it)

LABELS = ["Record", "Review", "Edit Episode"]
box = {"type": "create_shape", "shape": "rectangle", "y": 360, "w": 200, "h": 80}
drawn = [{**box, "id": label, "x": 120 + 380 * i, "text": label} for i, label in enumerate(LABELS)]
drawn += [{"type": "connect", "from": a, "to": b} for a, b in zip(LABELS, LABELS[1:])]
ANSWER = json.dumps({"actions": drawn})  # what a model writes

env = gymnasium.make("CanvasGym/TextToDiagram-v0", render_mode="rgb_array")  # url=..., or CANVAS_GYM_URL
observation, info = env.reset(
    seed=7, options={"task_id": "train.pipeline.1.3"}
)  # without options: any task, by the seed
print(observation["prompt"])
observation, reward, terminated, truncated, info = env.step(ANSWER)
print(reward, terminated, truncated, env.render().shape)
env.close()
