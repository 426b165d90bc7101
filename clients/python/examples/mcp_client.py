"""An MCP client that draws, as a chat program does. `pip install mcp`; nothing of ours is needed."""

import asyncio
import os

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

URL = os.environ.get("CANVAS_GYM_URL", "http://127.0.0.1:8000") + "/mcp"
BOX = {"id": "a", "shape": "rectangle", "x": 80, "y": 80, "w": 160, "h": 80, "text": "A"}


async def main() -> None:
    async with streamable_http_client(URL) as (read, write, _), ClientSession(read, write) as session:
        await session.initialize()
        await session.call_tool("start_diagram", {"prompt": "a box A"})
        drawn = await session.call_tool("create_shape", BOX)
        print([part.type for part in drawn.content])  # text, and the picture as it is now
        print((await session.call_tool("submit_diagram", {})).content[0].text)


asyncio.run(main())
