"""The Python client of the Model Context Protocol, as chat programs written in Python use it, against our server."""

import asyncio
import base64
import os

import httpx
import pytest
from mcp import ClientSession, McpError
from mcp.client.streamable_http import streamable_http_client

URL = os.environ["CANVAS_GYM_URL"].rstrip("/") + "/mcp"
TASK = "train.pipeline.1.3"


def box(name: str, x: int, text: str) -> dict:
    return {"id": name, "shape": "rectangle", "x": x, "y": 360, "w": 200, "h": 80, "text": text}


def run(play):
    async def main():
        async with streamable_http_client(URL) as (read, write, _):
            async with ClientSession(read, write) as session:
                await session.initialize()
                await play(session)

    asyncio.run(main())


def text_of(result) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


def test_draws_a_task_and_sees_it():
    async def play(session: ClientSession):
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert {"start_diagram", "create_shape", "connect", "submit_diagram"} <= tools
        start = await session.call_tool("start_diagram", {"task_id": TASK})
        assert "Record" in text_of(start)
        for shape in (box("a", 120, "Record"), box("b", 500, "Review"), box("c", 880, "Edit Episode")):
            result = await session.call_tool("create_shape", shape)
            assert result.isError is False
        [picture] = [part for part in result.content if part.type == "image"]
        assert picture.mimeType == "image/png"
        assert base64.b64decode(picture.data).startswith(b"\x89PNG")
        await session.call_tool("connect", {"from_id": "a", "to_id": "b"})
        await session.call_tool("connect", {"from_id": "b", "to_id": "c"})
        end = await session.call_tool("submit_diagram", {})
        assert end.structuredContent["finished"] is True
        assert end.structuredContent["reward"] > 0.95
        assert "Reward: " in text_of(end)

    run(play)


def test_a_model_that_errs_is_told_how_to_go_on():
    async def play(session: ClientSession):
        result = await session.call_tool("create_shape", box("a", 0, "A"))
        assert result.isError is True and "start_diagram" in text_of(result)
        await session.call_tool("start_diagram", {"prompt": "two boxes"})
        result = await session.call_tool("connect", {"from_id": "a", "to_id": "b"})
        assert result.isError is True and "does not exist" in text_of(result)

    run(play)


def test_a_tool_that_is_none():
    async def play(session: ClientSession):
        with pytest.raises(McpError, match="Tool not found"):
            await session.call_tool("fly", {})

    run(play)


def test_a_session_ends_with_its_client():
    async def main():
        async with streamable_http_client(URL) as (read, write, session_id):
            async with ClientSession(read, write) as session:
                await session.initialize()
                name = session_id()
        async with httpx.AsyncClient() as http:
            body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            return await http.post(URL, json=body, headers={"mcp-session-id": name})

    assert asyncio.run(main()).status_code == 404
