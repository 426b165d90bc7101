"""Rows for NeMo Gym and for verifiers' `nemo_gym` taskset, one a line.

`python nemo_gym_rows.py > rows.jsonl`; in verifiers then `dataset = "rows.jsonl"` and `task.resources_url`.
"""

import json
import os

from canvas_gym import Client

env = Client(os.environ.get("CANVAS_GYM_URL", "http://127.0.0.1:8000"))

tools = [{"type": "function", **tool["function"]} for tool in env.tools()["openai"]]
for task in env.tasks(split="train", level=1, limit=100)["tasks"]:
    question = [{"role": "user", "content": task["prompt"]}]
    row = {"responses_create_params": {"input": question, "tools": tools}, "task_id": task["task_id"]}
    print(json.dumps(row))
