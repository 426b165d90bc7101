"""Servers that a test starts, stops and kills, beside the one that the suite is given."""

import os
import re
import shlex
import signal
import subprocess
import urllib.request
from typing import List, Optional


def cli(*arguments: str) -> List[str]:
    """The command line of `canvas-gym` under test: its Node and its build are the runner's choice."""
    return [*shlex.split(os.environ["CANVAS_GYM_CLI"]), *arguments]


class Server:
    """`canvas-gym serve` on a free port; ready once it is made. A context manager that kills it."""

    def __init__(self, *flags: str, secret: Optional[str] = None) -> None:
        env = {**os.environ, **({} if secret is None else {"CANVAS_GYM_SECRET": secret})}
        command = cli("serve", "--port", "0", *flags)
        self.process = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)
        self.url = self._printed_address()
        self.port = int(self.url.rsplit(":", 1)[1])

    def _printed_address(self) -> str:
        """The server listens before it says where; it says the same as long as it runs, so its pipe never fills."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            found = re.search(r"http://[\w.:]+", line)
            if found:
                return found.group()
        raise RuntimeError(f"{self.process.args} ended with {self.process.wait()} before it said its address")

    def requests(self, route: str) -> int:
        """How many requests of a route it has answered with 200."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=5) as answer:
            text = answer.read().decode()
        return sum(map(int, re.findall(rf'requests_total{{route="{route}",[^}}]*status="200"}} (\d+)', text)))

    def halt(self) -> None:
        """Keep it from doing anything, with its connections open, until it is killed."""
        self.process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        """End it at once, also where it is stopped; again is nothing."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
