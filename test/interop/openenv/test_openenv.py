"""OpenEnv's own clients, validator and graders against our server."""

import asyncio
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
from drawing import ARROWS, BOXES, DRAWING, SHAPES, TASK_ID
from openenv.core.env_server.mcp_types import CallToolAction
from openenv.core.generic_client import GenericAction, GenericEnvClient
from openenv.core.mcp_client import MCPToolClient
from openenv.validation.graders.runtime import (
    ObservationSchemaGrader,
    RewardWellFormedGrader,
    StateContractGrader,
)
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import RuntimePlan
from servers import Server

URL = os.environ["CANVAS_GYM_URL"].rstrip("/")
ROOT = Path(__file__).resolve().parents[3]


def test_async_single_turn():
    async def play():
        async with GenericEnvClient(base_url=URL) as env:
            start = await env.reset(task_id=TASK_ID, episode_id="ep-1")
            assert start.reward is None and start.done is False
            assert "Record" in start.observation["prompt"]
            assert await env.state() == {"episode_id": "ep-1", "step_count": 0}
            end = await env.step(DRAWING)
            assert end.done is True and type(end.reward) is float and end.reward > 0.95
            assert end.observation["reward_components"]["edge"] == 1
            assert end.metadata["terminated"] is True and end.metadata["truncated"] is False
            assert await env.state() == {"episode_id": "ep-1", "step_count": 1}

    asyncio.run(play())


def test_sync_several_turns():
    with GenericEnvClient(base_url=URL).sync() as env:
        env.reset(task_id=TASK_ID, max_turns=4, action_set="editor")
        rewards = []
        for actions in (BOXES[:1], BOXES[1:], ARROWS, [{"type": "done"}]):
            result = env.step(GenericAction(actions=actions))
            rewards.append(result.reward)
        assert result.done is True
        assert result.observation["total_reward"] == pytest.approx(sum(rewards))
        assert sum(rewards) > 0.9
        assert env.state()["step_count"] == 4


def test_a_seed_is_an_episode():
    with GenericEnvClient(base_url=URL).sync() as env:
        seven, again, eight = (env.reset(seed=seed, split="train") for seed in (7, 7, 8))
        assert seven.observation == again.observation != eight.observation


@pytest.mark.parametrize(
    "action",
    [
        {"actions": json.dumps(DRAWING)},
        {"message": f"Here it is: {json.dumps(DRAWING)}"},
        {"actions": DRAWING},
        {"actions": DRAWING["actions"], "metadata": {"from": "test"}},
    ],
    ids=["text", "message", "object", "metadata"],
)
def test_what_models_send(action):
    with GenericEnvClient(base_url=URL).sync() as env:
        env.reset(task_id=TASK_ID)
        assert env.step(action).reward > 0.8


@pytest.mark.parametrize("action", [{}, {"foo": 1}, {"actions": 7}, {"message": "I cannot draw."}])
def test_bad_output_is_graded(action):
    with GenericEnvClient(base_url=URL).sync() as env:
        env.reset(task_id=TASK_ID)
        result = env.step(action)
        assert result.reward == 0 and result.done is True and result.observation["errors"]


def test_bad_use_is_an_error_and_the_session_goes_on():
    with GenericEnvClient(base_url=URL).sync() as env:
        with pytest.raises(RuntimeError, match="EXECUTION_ERROR"):
            env.step(DRAWING)
        with pytest.raises(RuntimeError, match="EXECUTION_ERROR"):
            env.reset(task_id="nope")
        with pytest.raises(RuntimeError, match="VALIDATION_ERROR"):
            env.reset(reward="best")
        env.reset(task_id=TASK_ID)
        assert env.step(DRAWING).done is True
        with pytest.raises(RuntimeError, match="EXECUTION_ERROR"):
            env.step(DRAWING)


def test_many_clients_each_with_a_session_of_its_own():
    async def play(number: int):
        async with GenericEnvClient(base_url=URL) as env:
            await env.reset(seed=number, split="train", episode_id=f"e{number}")
            result = await env.step(DRAWING if number % 2 else {"message": "no"})
            assert result.done is True
            assert await env.state() == {"episode_id": f"e{number}", "step_count": 1}

    async def all_of_them():
        await asyncio.gather(*(play(number) for number in range(128)))

    asyncio.run(all_of_them())


def test_a_client_that_finds_no_place_is_told_so_and_may_come_again():
    with Server("--max-sockets", "1") as server:
        with GenericEnvClient(base_url=server.url).sync() as first:
            first.reset(task_id=TASK_ID)
            with pytest.raises(RuntimeError, match="CAPACITY_REACHED"):
                with GenericEnvClient(base_url=server.url).sync() as second:
                    second.reset(task_id=TASK_ID)
            assert first.step(DRAWING).done is True
        with GenericEnvClient(base_url=server.url).sync() as third:
            third.reset(task_id=TASK_ID)
            assert third.step(DRAWING).reward > 0.95


def test_new_session_of_a_client():
    async def play():
        async with GenericEnvClient(base_url=URL) as env:
            other = await env.new_session()
            await env.reset(task_id=TASK_ID, episode_id="one")
            await other.reset(task_id=TASK_ID, episode_id="two")
            assert (await env.state())["episode_id"] == "one"
            assert (await other.state())["episode_id"] == "two"

    asyncio.run(play())


def test_tool_client():
    """Its tools go over HTTP, its reset, step and state over a socket: one session on the server."""

    async def play():
        async with MCPToolClient(base_url=URL) as env:
            tools = {tool.name: tool for tool in await env.list_tools()}
            assert {"start_diagram", "create_shape", "connect", "submit_diagram"} <= set(tools)
            assert tools["connect"].input_schema["type"] == "object"
            await env.reset(task_id=TASK_ID, episode_id="tools")
            for shape in SHAPES:
                told = await env.call_tool("create_shape", **shape)
                assert told["finished"] is False and told["reward"] is None
            step = await env.step(CallToolAction(tool_name="connect", arguments={"from_id": "a", "to_id": "b"}))
            assert step.observation.tool_name == "connect" and step.done is False
            assert (await env.state()).step_count == 4
            end = await env.call_tool("submit_diagram", actions=ARROWS[1:])
            assert end["finished"] is True and end["reward"] > 0.9
            with pytest.raises(RuntimeError, match="Tool not found"):
                await env.call_tool("fly")

    asyncio.run(play())


def openenv(*arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "openenv.cli", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_validate_url():
    done = openenv("validate", "--url", URL, "--json")
    report = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout
    assert report["passed"] is True and report["mode"] == "simulation"
    assert [item["id"] for item in report["criteria"] if not item["passed"]] == []
    assert len(report["criteria"]) == 6


def test_validate_static():
    done = openenv("validate", "server/deploy", "--level", "static")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASS  static.manifest" in done.stdout


@pytest.mark.parametrize(
    ("options", "actions"),
    [
        ({"task_id": TASK_ID}, [DRAWING]),
        (
            {"max_turns": 3, "action_set": "editor"},
            [{"actions": BOXES}, {"message": "?"}, {"actions": [{"type": "done"}]}],
        ),
        ({}, [{"anything": "at all"}]),
    ],
    ids=["one turn", "several turns", "bad output"],
)
def test_runtime_graders(options, actions):
    plan = RuntimePlan.model_validate(
        {
            "plan_schema_version": "1",
            "reset": {"episode_id": "probe-1", "seed": 7, "options": options},
            "actions": actions,
        }
    )
    evidence = collect_runtime_evidence(URL, plan, episode_timeout_s=30, request_timeout_s=5)
    assert evidence.failure_reason is None
    assert sum(exchange.operation == "step" for exchange in evidence.exchanges) == len(actions)
    manifest = types.SimpleNamespace(reward=types.SimpleNamespace(range=(-1.01, 1.0)))
    subject = types.SimpleNamespace(runtime_evidence=evidence, manifest=manifest)
    for grader in (RewardWellFormedGrader(), ObservationSchemaGrader(), StateContractGrader()):
        result = grader.run(subject)
        assert result.status.value == "pass", (result.check_id, result.evidence)
