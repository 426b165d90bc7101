"""A stand-in for the model: an OpenAI-compatible chat endpoint whose replies a test writes.

It answers streamed and whole requests, and keeps the bodies it was sent.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = dict[str, Any]
"""An assistant message: `content`, or `tool_calls` as (name, arguments) pairs."""
Policy = Callable[[list[dict[str, Any]]], Reply]
"""What the model says to a conversation."""

USAGE = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}


def text(content: str) -> Reply:
    return {"role": "assistant", "content": content}


def calls(*pairs: tuple[str, dict[str, Any]]) -> Reply:
    tool_calls = [
        {
            "index": i,
            "id": f"call_{name}_{i}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for i, (name, arguments) in enumerate(pairs)
    ]
    return {"role": "assistant", "content": None, "tool_calls": tool_calls}


def _chunk(choices: list[dict[str, Any]], **extra: Any) -> bytes:
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, **extra}
    return f"data: {json.dumps(body)}\n\n".encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "_Server"

    def log_message(self, *args: Any) -> None:
        """Says nothing."""

    def _send(self, body: bytes, media_type: str) -> None:
        self.send_response(200)
        self.send_header("content-type", media_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self) -> None:
        self._send(b'{"object": "list", "data": [{"id": "m", "object": "model"}]}', "application/json")

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.requests.append(request)
        message = self.server.policy(request["messages"])
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        if request.get("stream"):
            body = b"".join(
                [
                    _chunk([{"index": 0, "delta": message, "finish_reason": None}]),
                    _chunk([{"index": 0, "delta": {}, "finish_reason": reason}]),
                    _chunk([], usage=USAGE),
                    b"data: [DONE]\n\n",
                ]
            )
            self._send(body, "text/event-stream")
            return
        choice = {"index": 0, "finish_reason": reason, "message": message}
        answer = {
            "id": "c",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [choice],
            "usage": USAGE,
        }
        self._send(json.dumps(answer).encode(), "application/json")


class _Server(ThreadingHTTPServer):
    policy: Policy
    requests: list[dict[str, Any]]


@contextmanager
def serve(policy: Policy) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Serves a policy; gives its base URL and the requests it gets."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.policy, server.requests = policy, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", server.requests
    finally:
        server.shutdown()
        server.server_close()
