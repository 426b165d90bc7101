"""An MCP client that draws, as a chat program does; nothing of ours is needed. For versions 1 and 2 of the SDK.

pip install mcp
"""

import asyncio
import os

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

URL = (os.environ.get("CANVAS_GYM_URL") or "http://127.0.0.1:8000") + "/mcp"
LABELS = ["Record", "Review", "Edit Episode"]
BOX = {"shape": "rectangle", "y": 360, "w": 200, "h": 80}


async def main() -> None:
    async with streamable_http_client(URL) as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        await session.call_tool("start_diagram", {"task_id": "train.pipeline.1.3"})  # or {"prompt": "a box A"}
        for i, label in enumerate(LABELS):
            drawn = await session.call_tool("create_shape", {**BOX, "id": label, "x": 120 + 380 * i, "text": label})
        print([part.type for part in drawn.content])  # text, and the picture as it is now
        for start, end in zip(LABELS, LABELS[1:]):
            await session.call_tool("connect", {"from_id": start, "to_id": end})
        print((await session.call_tool("submit_diagram", {})).content[0].text)


asyncio.run(main())
