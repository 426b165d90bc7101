"""The Python SDK of the Model Context Protocol, as chat programs written in Python use it, against our server."""

import asyncio
import base64
import os
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest
from drawing import SHAPES, TASK_ID
from mcp import Client, ClientSession, MCPError
from mcp.client.streamable_http import streamable_http_client

URL = os.environ["CANVAS_GYM_URL"].rstrip("/") + "/mcp"

Play = Callable[[Any], Awaitable[None]]


async def by_session(play: Play) -> None:
    async with streamable_http_client(URL) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        await play(session)


async def by_client(play: Play) -> None:
    async with Client(URL) as client:
        await play(client)


@pytest.fixture(params=[by_session, by_client], ids=["session", "client"])
def run(request: pytest.FixtureRequest) -> Callable[[Play], None]:
    """Plays with each of the SDK's clients."""
    return lambda play: asyncio.run(request.param(play))


def text_of(result) -> str:
    return "\n".join(part.text for part in result.content if part.type == "text")


def test_draws_a_task_and_sees_it(run):
    async def play(session):
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert {"start_diagram", "create_shape", "connect", "submit_diagram"} <= tools
        start = await session.call_tool("start_diagram", {"task_id": TASK_ID})
        assert "Record" in text_of(start)
        for shape in SHAPES:
            result = await session.call_tool("create_shape", shape)
            assert result.is_error is False
        [picture] = [part for part in result.content if part.type == "image"]
        assert picture.mime_type == "image/png"
        assert base64.b64decode(picture.data).startswith(b"\x89PNG")
        await session.call_tool("connect", {"from_id": "a", "to_id": "b"})
        await session.call_tool("connect", {"from_id": "b", "to_id": "c"})
        end = await session.call_tool("submit_diagram", {})
        assert end.structured_content["finished"] is True
        assert end.structured_content["reward"] > 0.95
        assert "Reward: " in text_of(end)

    run(play)


def test_a_model_that_errs_is_told_how_to_go_on(run):
    async def play(session):
        result = await session.call_tool("create_shape", SHAPES[0])
        assert result.is_error is True and "start_diagram" in text_of(result)
        await session.call_tool("start_diagram", {"prompt": "two boxes"})
        result = await session.call_tool("connect", {"from_id": "a", "to_id": "b"})
        assert result.is_error is True and "does not exist" in text_of(result)

    run(play)


def test_a_tool_that_is_none(run):
    async def play(session):
        with pytest.raises(MCPError, match="Tool not found"):
            await session.call_tool("fly", {})

    run(play)


def test_a_session_ends_with_its_client():
    names: set[str] = set()

    async def keep_name(response: httpx2.Response) -> None:
        names.update(response.headers.get_list("mcp-session-id"))

    async def main():
        async with httpx2.AsyncClient(event_hooks={"response": [keep_name]}) as http:
            async with streamable_http_client(URL, http_client=http) as (read, write):
                async with ClientSession(read, write) as session:
                    await session.initialize()
            [name] = names
            body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
            return await http.post(URL, json=body, headers={"mcp-session-id": name})

    assert asyncio.run(main()).status_code == 404
