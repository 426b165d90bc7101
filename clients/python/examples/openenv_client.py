"""OpenEnv's own client. `pip install openenv`; nothing of ours is needed."""

import os

from openenv.core.generic_client import GenericEnvClient

with GenericEnvClient(base_url=os.environ.get("CANVAS_GYM_URL", "http://127.0.0.1:8000")).sync() as env:
    start = env.reset(seed=7, split="train", level=1)
    print(start.observation["prompt"])
    end = env.step({"actions": '{"actions": [...]} or whatever a model wrote'})
    print(end.reward, end.done, [error["message"] for error in end.observation["errors"]])
