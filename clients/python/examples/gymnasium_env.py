"""A Gymnasium environment. `pip install canvas-gym gymnasium`"""

import os

import gymnasium

import canvas_gym.gymnasium  # noqa: F401  (registers it)

url = os.environ.get("CANVAS_GYM_URL", "http://127.0.0.1:8000")
env = gymnasium.make("CanvasGym/TextToDiagram-v0", url=url, level=1, render_mode="rgb_array")
observation, info = env.reset(seed=7)
print(observation["prompt"])
observation, reward, terminated, truncated, info = env.step('{"actions": []}')
print(reward, terminated, truncated, env.render().shape)
env.close()
