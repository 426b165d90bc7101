"""HTTP requests on kept connections, each within a time limit."""

from __future__ import annotations

import io
import os
import socket
import ssl
import time
from collections import deque
from functools import partial
from http.client import CannotSendRequest, HTTPConnection, HTTPResponse
from typing import Any, Deque, Dict, NamedTuple, Optional

__all__ = ["Answer", "Connections", "StaleError", "ask", "read", "time_left"]

MAX_IDLE = 64
# What is raised where the other side has closed a connection; RemoteDisconnected is a ConnectionResetError.
CLOSED = (ConnectionResetError, BrokenPipeError, CannotSendRequest, ssl.SSLEOFError)


class Answer(NamedTuple):
    """A whole answer."""

    status: int
    body: bytes
    retry_after_s: Optional[float]
    media_type: str


class StaleError(ConnectionError):
    """The other side closed the connection before it began to answer."""


def ask(
    connection: HTTPConnection, method: str, target: str, body: Optional[bytes], headers: Dict[str, str], end: float
) -> HTTPResponse:
    """Send a request and read the head of the answer."""
    connection.sock.settimeout(time_left(end))
    connection.response_class = partial(_timed_response, end=end)  # type: ignore[assignment]
    try:
        connection.request(method, target, body, headers)
        return connection.getresponse()
    except CLOSED as error:
        raise StaleError(str(error)) from error


def read(response: HTTPResponse) -> Answer:
    body = response.read()
    media_type = (response.getheader("content-type") or "").split(";")[0].strip()
    return Answer(response.status, body, _seconds(response.getheader("retry-after")), media_type)


def _timed_response(
    sock: socket.socket, debuglevel: int = 0, *, method: Optional[str] = None, end: float
) -> HTTPResponse:
    """Make a response of which every read, head and body, has what is left of the time."""
    response = HTTPResponse(sock, debuglevel, method=method)
    response.fp = io.BufferedReader(_TimedReads(sock, response.fp.detach(), end))
    return response


class _TimedReads(io.RawIOBase):
    """Reads of a socket until a moment."""

    def __init__(self, sock: socket.socket, raw: io.RawIOBase, end: float) -> None:
        self._sock = sock
        self._raw = raw
        self._end = end

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> Optional[int]:
        self._sock.settimeout(time_left(self._end))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


def time_left(end: float) -> float:
    """Seconds that are left."""
    left = end - time.monotonic()
    if left <= 0:
        raise socket.timeout("timed out")
    return left


class Connections:
    """Idle connections, the last used first. There are never more than threads that sent at the same time."""

    def __init__(self) -> None:
        self._idle: Deque[HTTPConnection] = deque()
        self._pid = os.getpid()

    def take(self) -> Optional[HTTPConnection]:
        if self._pid != os.getpid():  # after a fork the other end is the parent's: let go of our copies
            self._pid = os.getpid()
            self.close()
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def give(self, connection: HTTPConnection) -> None:
        if len(self._idle) < MAX_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread took the last one
                return
            connection.close()

    def __del__(self) -> None:
        self.close()


def _seconds(text: Optional[str]) -> Optional[float]:
    """`Retry-After` in seconds; a date counts as nothing said.

    >>> _seconds("2"), _seconds("Wed, 21 Oct 2026 07:28:00 GMT"), _seconds(None)
    (2.0, None, None)
    """
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None
