"""A TCP proxy that breaks connections on purpose.

While it is armed, it passes bytes on until a given text has come back from the server, waits until the client has read
what it got, and cuts that connection. Told to refuse, it answers the next such request as a server that is busy.
"""

import socket
import threading
import time
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

BUSY = b"HTTP/1.1 503 overloaded\r\nretry-after: 0\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


class CuttingProxy:
    """`cuts` counts the connections that were cut, `refusals` the requests that were refused.

    `requests` holds the first line of each request, in order.
    """

    def __init__(self, target: str) -> None:
        url = urlsplit(target)
        self._target = (url.hostname, url.port)
        self._cut_after: bytes | None = None
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.cuts = 0
        self._refused: str | None = None
        self.refusals = 0
        self.requests: list[str] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def arm(self, cut_after: bytes) -> None:
        """Cuts the next connection that answers with this text, behind it."""
        self._cut_after = cut_after

    def refuse(self, request: str) -> None:
        """Refuses the next request with this method and path."""
        self._refused = request

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.create_connection(self._target)
            threading.Thread(target=self._up, args=(client, server), daemon=True).start()
            threading.Thread(target=self._down, args=(server, client), daemon=True).start()

    def _up(self, client: socket.socket, server: socket.socket) -> None:
        while data := _receive(client):
            first = data.split(b"\r\n", 1)[0]
            if first.endswith(b"HTTP/1.1"):
                self.requests.append(first.decode().removesuffix(" HTTP/1.1"))
                if self.requests[-1] == self._refused:
                    self._refused = None
                    self.refusals += 1
                    _send(client, BUSY)
                    break
            if not _send(server, data):
                break
        _close(client, server)

    def _down(self, server: socket.socket, client: socket.socket) -> None:
        seen = b""
        while data := _receive(server):
            text = self._cut_after
            seen = b"" if text is None else seen + data  # only what came since it was armed
            if text is not None and text in seen and self._take_cut():
                behind = len(seen) - seen.index(text) - len(text)
                _send(client, data[: len(data) - behind])
                time.sleep(0.2)
                break
            if not _send(client, data):
                break
        _close(client, server)

    def _take_cut(self) -> bool:
        with self._lock:
            armed = self._cut_after is not None
            self._cut_after = None
            self.cuts += armed
            return armed


def _receive(source: socket.socket) -> bytes:
    try:
        return source.recv(65536)
    except OSError:
        return b""


def _send(target: socket.socket, data: bytes) -> bool:
    try:
        target.sendall(data)
        return True
    except OSError:
        return False


def _close(*sockets: socket.socket) -> None:
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()


@contextmanager
def cutting_proxy(target: str):
    proxy = CuttingProxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
