"""A text environment of SkyRL-Gym. `pip install canvas-gym skyrl-gym`"""

import os

import skyrl_gym

import canvas_gym.skyrl  # noqa: F401  (registers it)

url = os.environ.get("CANVAS_GYM_URL", "http://127.0.0.1:8000")
env = skyrl_gym.make("canvas_gym", env_config={"url": url}, extras={"extra_info": {"task_id": "train.pipeline.1.3"}})
prompt, _ = env.init([{"role": "user", "content": "Draw the pipeline."}])
print(prompt[-1]["content"])
print(env.step('{"actions": []}'))
