"""An agent that calls functions, with any OpenAI-style endpoint: the tools come from GET /tools, and a message is an action.

pip install ./clients/python openai
OPENAI_BASE_URL=... OPENAI_API_KEY=... MODEL=... python clients/python/examples/tool_calls.py
"""

import os

from openai import OpenAI

from canvas_gym import Client
from canvas_gym.datasets import chat_prompt

client, model = Client(), OpenAI()
tools = client.tools()["openai"]
turn = client.reset(task_id="train.pipeline.1.3", action_set="editor", max_turns=20)
asked = turn["observation"]
messages = chat_prompt(asked["prompt"], "Draw with the tools, then call submit_diagram.", asked["canvas_size"])
while not turn["done"]:
    answer = model.chat.completions.create(model=os.environ.get("MODEL", "default"), messages=messages, tools=tools)
    message = answer.choices[0].message.model_dump(exclude_none=True)
    if not message.get("tool_calls"):
        break  # it has no more to draw
    turn = client.step(state=turn["state"], action=message)
    told = "\n".join(error["message"] for error in turn["observation"]["errors"]) or "ok"
    messages.append(message)
    messages += [{"role": "tool", "tool_call_id": call["id"], "content": told} for call in message["tool_calls"]]
print(turn["state"]["value"], turn.get("stop_reason"))
