"""What a call can raise: the server said no, or could not be reached."""

from __future__ import annotations

import json
from typing import Any, Dict, List, Optional, Tuple

__all__ = ["CanvasGymError", "ConnectionFailed", "ResponseError"]


class CanvasGymError(Exception):
    """Whatever this package raises on its own account."""


class ResponseError(CanvasGymError):
    """The server refused (4xx) or failed (5xx).

    Attributes:
        status: HTTP status, e.g. 422.
        code: Stable code of the refusal, e.g. `unknown_task`; `unknown` where something else answered, e.g. a proxy.
        message: What to change.
        detail: Every fault of the request: `type`, `loc`, `msg` and, if it is short, `input`.
        path: Where in the request the first fault is, e.g. `body.task.prompt`; "" for the whole of it.
        retry_after_s: How long the server asks to wait, seconds; None where it does not say.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        detail: Optional[List[Dict[str, Any]]] = None,
        path: str = "",
        retry_after_s: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.detail = [] if detail is None else detail
        self.path = path
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return f"{self.status} {self.code}: {self.message}"

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.status, self.code, self.message, self.detail, self.path, self.retry_after_s)


class ConnectionFailed(CanvasGymError):  # noqa: N818 -- ConnectionError is a name of Python's own
    """No answer came: nothing listens there, the connection broke, or the time was over."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(f"no answer from {url}: {reason}")
        self.url = url
        self.reason = reason

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.url, self.reason)


def to_response_error(
    url: str, status: int, body: bytes, media_type: str = "", retry_after_s: Optional[float] = None
) -> ResponseError:
    """Read the body of a refusal, or say that another server wrote it.

    >>> body = b'{"error": {"code": "unknown_task", "message": "No task x"}, "detail": []}'
    >>> print(to_response_error("http://a", 404, body))
    404 unknown_task: No task x
    >>> print(to_response_error("http://a", 404, b"<h1>Not found</h1>", "text/html"))
    404 unknown: no canvas-gym server at http://a (answered 404 text/html)
    """
    try:
        answer = json.loads(body)
        error = answer["error"]
        code, message = str(error["code"]), str(error["message"])
        return ResponseError(status, code, message, answer.get("detail"), str(error.get("path", "")), retry_after_s)
    except (ValueError, KeyError, TypeError, AttributeError):
        said = f"answered {status} {media_type}".rstrip()
        return ResponseError(status, "unknown", f"no canvas-gym server at {url} ({said})", None, "", retry_after_s)
