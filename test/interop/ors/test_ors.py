"""The real openreward client plays episodes against a running server, named by CANVAS_GYM_URL."""

import asyncio
import json
import math
import urllib.request

import aiohttp
import pytest
from cutting_proxy import cutting_proxy
from openreward import AsyncOpenReward, OpenReward
from openreward.api.environments.types import Message, TextBlock
from openreward.api.errors import ScoreGroupUnsupported, SessionTerminatedError, ToolCallError
from servers import Server

TASK_ID = "train.pipeline.1.3"


def box(shape_id: str, x: int, text: str) -> dict:
    return {"id": shape_id, "shape": "rectangle", "x": x, "y": 360, "w": 200, "h": 80, "text": text}


BOXES = [box("a", 120, "Record"), box("b", 500, "Review"), box("c", 880, "Edit Episode")]
CALLS = [("create_shape", each) for each in BOXES] + [
    ("connect", {"from_id": "a", "to_id": "b"}),
    ("connect", {"from_id": "b", "to_id": "c"}),
]
ACTIONS = [{"type": "create_shape", **each} for each in BOXES] + [
    {"type": "connect", "from": "a", "to": "b"},
    {"type": "connect", "from": "b", "to": "c"},
]
WHOLE = json.dumps({"actions": ACTIONS})


@pytest.fixture(scope="module")
def environment():
    with OpenReward() as client:
        yield client.environments.get("diagram")


@pytest.fixture
def session(environment):
    with environment.session(task=task_of(environment)) as opened:
        yield opened


def task_of(environment, **spec):
    """The task that BOXES answer."""
    task = environment.get_task("train", 0)
    task.task_spec = {"task_id": TASK_ID, **spec}
    return task


def reward_of(url: str, completion: str) -> float:
    """What the server's own route gives for a whole completion."""
    body = json.dumps({"task_id": TASK_ID, "completion": completion}).encode()
    request = urllib.request.Request(f"{url}/reward", body, {"content-type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["reward"]


def test_splits_and_counts(environment):
    splits = environment.list_splits()
    assert {"train", "val", "test_iid", "test_real"} <= set(splits)
    assert environment.num_tasks("test_real") == len(environment.list_tasks("test_real")) == 44
    assert environment.num_tasks("train") >= 1000


def test_tasks_are_flat_and_hold_no_answer(environment):
    tasks = environment.get_task_range("train", 0, 40)
    specs = [task.task_spec for task in tasks]
    assert len({spec["task_id"] for spec in specs}) == 40
    assert len({tuple(spec) for spec in specs}) == 1
    assert all(not isinstance(value, (dict, list)) for spec in specs for value in spec.values())
    assert "expect" not in specs[0]
    assert environment.get_task("train", 7).task_spec == specs[7]
    assert environment.get_task_range("test_real", -2)[1].task_spec == environment.get_task("test_real", 43).task_spec
    assert tasks[0].environment_name == "diagram"


@pytest.mark.parametrize("provider", [None, "openai", "anthropic", "google", "openrouter"])
def test_tools_in_every_format(environment, session, provider):
    shared = environment.list_tools(format=provider)
    assert shared == session.list_tools(format=provider)
    assert len(shared) == 9
    assert environment.terminal_tool().name == "answer"
    assert session.is_assistant_message_final()


def test_prompt_and_messages(session):
    prompt = session.get_prompt()
    assert prompt[0].text.startswith("Make a pipeline of these boxes: Record, Review, Edit Episode.")
    assert "1200 x 800" in prompt[1].text
    system, user = session.get_messages()
    assert (system.role, user.role) == ("system", "user")
    assert user.blocks == prompt[:1] and system.blocks == prompt[1:]
    assert [message["role"] for message in session.get_messages(format="openai")] == ["system", "user"]
    assert session.version()["version"]


def test_single_call_episode(url, session):
    out = session.call_tool("submit_diagram", {"actions": ACTIONS})
    assert out.finished and out.reward == reward_of(url, WHOLE) > 0.9
    assert out.metadata["node"] == 1.0 and out.metadata["edge"] == 1.0
    assert "Reward" in out.blocks[0].text
    with pytest.raises(ToolCallError) as error:
        session.call_tool("submit_diagram", {"actions": ACTIONS})
    assert error.value.reason == "episode_finished"


def test_episode_of_many_calls(url, session):
    for name, arguments in CALLS:
        out = session.call_tool(name, arguments)
        assert out.reward is None and not out.finished
    out = session.call_tool("submit_diagram")
    assert out.finished and out.reward == reward_of(url, WHOLE)


@pytest.mark.parametrize("completion", [WHOLE, f"Here it is:\n```json\n{WHOLE}\n```", "I cannot draw.", ""])
def test_plain_answer_is_scored_as_a_completion(url, session, completion):
    out = session.call_terminal_tool(completion)
    assert out.finished and out.reward == reward_of(url, completion)


def test_plain_answer_after_calls_submits_the_drawing(url, session):
    for name, arguments in CALLS:
        session.call_tool(name, arguments)
    out = session.call_terminal_tool("The diagram is finished.")
    assert out.finished and out.reward == reward_of(url, WHOLE)


def test_model_faults_cost_reward_and_nothing_else(session):
    out = session.call_tool("connect", {"from_id": "a", "to_id": "nowhere"})
    assert not out.finished and "does not exist" in out.blocks[0].text
    out = session.call_tool("submit_diagram", {"actions": "no list"})
    assert out.finished and out.reward == 0.0


def test_unknown_tool(session):
    with pytest.raises(ToolCallError) as error:
        session.call_tool("create_shap", {})
    assert error.value.reason == "not_found" and "create_shape" in error.value.detail


def test_long_answer_with_blanks_comes_whole(session):
    lost = [{"type": "connect", "from": f"  the  place  no {i} 漢字 😀", "to": "x"} for i in range(150)]
    text = session.call_tool("submit_diagram", {"actions": lost}).blocks[0].text
    assert len(text) > 8192
    for i in range(20):
        assert f"  the  place  no {i} 漢字 😀" in text


def test_task_of_ones_own(environment):
    task = environment.get_task("train", 0)
    task.task_spec = {"prompt": "a cat and a dog", "reward": "weak"}
    with environment.session(task=task) as session:
        assert session.get_prompt()[0].text == "a cat and a dog"
        assert session.call_terminal_tool('{"actions": []}').reward == 1.0
    with environment.session(task=task) as session:
        assert session.call_terminal_tool("no").reward == 0.0


def test_group_scoring_is_not_offered(session):
    assert session.supports_score_group() is False
    with pytest.raises(ScoreGroupUnsupported):
        session.score_group([[Message(role="assistant", blocks=[TextBlock(text=WHOLE)])]])
    assert session.call_tool("select", {"ids": []}).reward is None


@pytest.mark.parametrize(
    ("split", "index", "status"),
    [("nope", 0, 400), ("train", -1, 400), ("test_real", 44, 400)],
)
def test_refusals(environment, split, index, status):
    with pytest.raises(aiohttp.ClientResponseError) as error:
        environment.get_task(split, index)
    assert error.value.status == status
    with pytest.raises(aiohttp.ClientResponseError) as error, environment.session(split=split, index=index):
        pass
    assert error.value.status == status


def test_environment_that_is_not_there():
    with OpenReward() as client, pytest.raises(aiohttp.ClientResponseError) as error:
        client.environments.get("diagram", variant="nope").list_splits()
    assert error.value.status == 404


def test_environment_under_its_name(url):
    with OpenReward() as client:
        environment = client.environments.get("diagram", variant="diagram")
        assert environment.num_tasks("val") == 1600
        with environment.session(split="val", index=3) as session:
            assert session.get_prompt() and session.list_tools()
            assert session.call_terminal_tool(WHOLE).finished


def test_deleted_session_is_said_to_be_gone(url, environment):
    with environment.session(task=task_of(environment)) as session:
        request = urllib.request.Request(f"{url}/delete", b"", {"X-Session-ID": session.sid})
        urllib.request.urlopen(request).close()
        with pytest.raises(SessionTerminatedError):
            session.call_tool("select", {"ids": []})


def test_two_sessions_stay_apart(url, environment):
    with environment.session(task=task_of(environment)) as one, environment.session(task=task_of(environment)) as two:
        assert one.sid != two.sid
        for name, arguments in CALLS:
            one.call_tool(name, arguments)
            two.call_tool("create_shape", box("a", 0, "wrong"))
        assert one.call_tool("submit_diagram").reward == reward_of(url, WHOLE)
        assert two.call_tool("submit_diagram").reward < 0.3


def test_many_sessions_at_once(url):
    expected = reward_of(url, WHOLE)

    async def episode(environment, task, right: bool) -> float:
        async with environment.session(task=task) as session:
            for name, arguments in CALLS if right else CALLS[:1]:
                await session.call_tool(name, arguments)
            return (await session.call_tool("submit_diagram")).reward

    async def play() -> list[float]:
        client = AsyncOpenReward()
        environment = client.environments.get("diagram")
        task = await environment.get_task("train", 0)
        task.task_spec = {"task_id": TASK_ID}
        try:
            return await asyncio.gather(*(episode(environment, task, i % 2 == 0) for i in range(64)))
        finally:
            await client.environments.aclose()

    rewards = asyncio.run(play())
    assert all(math.isfinite(reward) for reward in rewards)
    assert rewards[0::2] == [expected] * 32
    assert len(set(rewards[1::2])) == 1 and rewards[1] < expected


@pytest.mark.parametrize("cut_after", [b"\n\n", b"event: end\nda"], ids=["behind the id", "within the answer"])
def test_a_broken_connection_loses_and_doubles_nothing(url, environment, cut_after):
    """The client comes back with the id of its call and gets the answer; the call ran once."""
    with cutting_proxy(url) as proxy, OpenReward() as client:
        through = client.environments.get("diagram", base_url=proxy.url)
        with through.session(task=task_of(environment)) as session:
            proxy.arm(cut_after)
            assert session.call_tool("create_shape", BOXES[0]).blocks[0].text.startswith("The canvas holds 1 shape(s)")
            assert proxy.cuts == 1 and proxy.requests.count("POST /call") == 2
            proxy.arm(cut_after)
            out = session.call_tool("submit_diagram", {"actions": ACTIONS[1:]})
            assert proxy.cuts == 2 and proxy.requests.count("POST /call") == 4
            assert out.finished and out.reward == reward_of(url, WHOLE)


def test_a_busy_server_is_asked_again_and_the_call_runs_once(url, environment):
    with cutting_proxy(url) as proxy, OpenReward() as client:
        through = client.environments.get("diagram", base_url=proxy.url)
        with through.session(task=task_of(environment)) as session:
            proxy.refuse("POST /call")
            assert session.call_tool("create_shape", BOXES[0]).blocks[0].text.startswith("The canvas holds 1 shape(s)")
            assert proxy.refusals == 1 and proxy.requests.count("POST /call") == 2


def test_a_server_of_two_processes(environment):
    """Each request of a client may reach another process."""

    async def episode(base_url: str) -> float:
        client = AsyncOpenReward()
        through = client.environments.get("diagram", base_url=base_url)
        try:
            async with through.session(task=task_of(environment)) as session:
                await asyncio.gather(*(session.call_tool(name, arguments) for name, arguments in CALLS[:3]))
                await asyncio.gather(*(session.call_tool(name, arguments) for name, arguments in CALLS[3:]))
                return (await session.call_tool("submit_diagram")).reward
        finally:
            await client.environments.aclose()

    async def play(base_url: str) -> list[float]:
        return await asyncio.gather(*(episode(base_url) for _ in range(8)))

    with Server("--workers", "2") as server:
        assert asyncio.run(play(server.url)) == [reward_of(server.url, WHOLE)] * 8
