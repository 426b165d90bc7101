"""An agent that calls functions, with any OpenAI-style endpoint: the tools come from GET /tools. `pip install canvas-gym openai`"""

import json
import os

from openai import OpenAI

from canvas_gym import Client

env = Client(os.environ.get("CANVAS_GYM_URL", "http://127.0.0.1:8000"))
model = OpenAI()  # OPENAI_BASE_URL, OPENAI_API_KEY

tools = env.tools()["openai"]
turn = env.reset(task_id="train.pipeline.1.3", action_set="editor", max_turns=20)
messages = [{"role": "user", "content": turn["observation"]["prompt"]}]
while not turn["done"]:
    said = model.chat.completions.create(model=os.environ.get("MODEL", "default"), messages=messages, tools=tools)
    message = said.choices[0].message
    messages.append(message.model_dump(exclude_none=True))
    if not message.tool_calls:
        break
    for call in message.tool_calls:
        name, arguments = call.function.name, json.loads(call.function.arguments)
        done = name == "submit_diagram"
        action = [*arguments.get("actions", []), {"type": "done"}] if done else [{"type": name, **arguments}]
        turn = env.step(state=turn["state"], action={"actions": action})
        told = [error["message"] for error in turn["observation"]["errors"]] or ["ok"]
        messages.append({"role": "tool", "tool_call_id": call.id, "content": "\n".join(told)})
print(turn["state"]["value"], turn["stop_reason"])
