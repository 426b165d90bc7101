"""Rows for NeMo Gym and for verifiers' `nemo_gym` taskset, one a line.

    pip install ./clients/python
    python clients/python/examples/nemo_gym_rows.py > rows.jsonl

In verifiers then `dataset = "rows.jsonl"` and `task.resources_url`.
"""

import json

from canvas_gym import Client
from canvas_gym.datasets import chat_prompt, mixed_tasks

client = Client()  # CANVAS_GYM_URL, or http://127.0.0.1:8000

tools = [{"type": "function", **tool["function"]} for tool in client.tools()["openai"]]
for task in mixed_tasks(client, level=1, count=100):
    asked = chat_prompt(task["prompt"], "Draw with the tools, then call submit_diagram.", task["canvas"])
    row = {"responses_create_params": {"input": asked, "tools": tools}, "task_id": task["task_id"]}
    print(json.dumps(row))
