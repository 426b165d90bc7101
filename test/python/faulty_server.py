"""A server that misbehaves as it is told, and counts what reaches it: connections, requests, headers."""

from __future__ import annotations

import json
import socket
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Optional, Tuple

GOOD = {"status": "healthy", "version": "0"}


class FaultyServer:
    """Answers requests with `answers` in turn, and well once they are used up.

    Each is called with the handler of the request; the functions below make them.
    """

    def __init__(self, *answers: Callable[[Any], None], certificate: Optional[str] = None) -> None:
        self.connections = 0
        self.requests: List[Tuple[str, str]] = []
        self.headers: List[Dict[str, str]] = []
        self.bodies: List[bytes] = []
        self._answers = list(answers)
        self._lock = threading.Lock()
        self._open: List[socket.socket] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 30

            def setup(self) -> None:
                super().setup()
                with owner._lock:
                    owner.connections += 1
                    owner._open.append(self.connection)

            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                with owner._lock:
                    owner.bodies.append(body)
                    owner.requests.append((self.command, self.path))
                    owner.headers.append({name.lower(): value for name, value in self.headers.items()})
                    answer = owner._answers.pop(0) if owner._answers else json_answer(GOOD)
                answer(self)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_: Any) -> None:
                pass

        self._server = Server(("127.0.0.1", 0), Handler)
        scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            scheme = "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def drop_connections(self) -> None:
        """Close what is open without a word, as a server does with idle connections."""
        for connection in self._open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        self._open.clear()

    def __enter__(self) -> FaultyServer:
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()
        self.drop_connections()


def json_answer(value: Any, status: int = 200, **headers: str) -> Callable[[Any], None]:
    """Answer with a JSON document; underscores in names of headers stand for dashes."""
    return bytes_answer(json.dumps(value).encode(), status, **headers)


def bytes_answer(body: bytes, status: int = 200, **headers: str) -> Callable[[Any], None]:
    """Answer with these bytes."""

    def answer(handler: Any) -> None:
        handler.send_response(status)
        for name, value in {"content_length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def refusal(status: int, code: str, **headers: str) -> Callable[[Any], None]:
    """Answer as the server refuses."""
    return json_answer({"error": {"code": code, "message": f"{code}!", "path": ""}, "detail": []}, status, **headers)


def hang_up(handler: Any) -> None:
    """Close the connection without an answer."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def cut(handler: Any) -> None:
    """Close the connection in the middle of the body."""
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"status":')
    handler.wfile.flush()
    hang_up(handler)


def chunked(*parts: bytes, pause_s: float = 0.0) -> Callable[[Any], None]:
    """Answer in chunks, with a pause before each."""

    def answer(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        for part in (*parts, b""):
            time.sleep(pause_s)
            handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            handler.wfile.flush()

    return answer


def until_closed(body: bytes) -> Callable[[Any], None]:
    """Answer without a length: the body ends with the connection."""

    def answer(handler: Any) -> None:
        handler.send_response(200)
        handler.send_header("connection", "close")
        handler.end_headers()
        handler.wfile.write(body)
        handler.close_connection = True

    return answer


def slow_head(lines: int, pause_s: float) -> Callable[[Any], None]:
    """Answer with one line of the head after the other, a pause before each."""

    def answer(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for i in range(lines):
            time.sleep(pause_s)
            handler.wfile.write(b"x-line: %d\r\n" % i)
        handler.wfile.write(b"content-length: 0\r\n\r\n")

    return answer
