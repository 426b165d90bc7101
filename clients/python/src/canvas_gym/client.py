"""Client of the server's HTTP API, on the standard library alone.

    client = Client("http://127.0.0.1:8000")
    started = client.reset(seed=7)
    turn = client.step(state=started["state"], action='{"actions": [...]}')
    print(turn["reward"], turn["info"]["reasons"])

The methods are those of `Api`, one for each route. Every request may be repeated safely, since the server keeps
nothing, so failed ones are. A client may be shared by threads, used after a fork, and pickled: connections are opened
when they are needed and never travel. Left out: proxies from the environment, redirects, compression.
"""

from __future__ import annotations

import base64
import json
import os
import random
import re
import ssl
import time
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union
from urllib.parse import SplitResult, quote, unquote, urlencode, urlsplit, urlunsplit

from ._api import Api, Operation
from ._exchange import Answer, Connections, StaleError, ask, read, time_left
from ._version import __version__
from .errors import ConnectionFailed, ResponseError, to_response_error

__all__ = ["DEFAULT_URL", "Client", "public_url", "split_urls"]

DEFAULT_URL = "http://127.0.0.1:8000"
URL_VARIABLE = "CANVAS_GYM_URL"

RETRIED_STATUSES = frozenset({408, 429, 502, 503, 504})
FIRST_DELAY_S = 0.2
MAX_DELAY_S = 5.0
MAX_RETRY_AFTER_S = 60.0


class Client(Api):
    """The server at `url`; a path in it is kept, so that a server behind `https://host/gym/` is reached.

    Methods raise ResponseError when the server refuses or fails, and ConnectionFailed when it cannot be reached.

    Args:
        url: Where the server is, `http` or `https`. A user and password in it are sent as basic authentication and are
            in no message. None stands for the first address in the environment variable CANVAS_GYM_URL, and without
            that for http://127.0.0.1:8000; `canvas_gym.connect` makes one client of several addresses.
        timeout: Seconds that one attempt may take, connecting and reading the whole answer included.
        connect_timeout: Seconds of it that connecting may take.
        retries: How often a request is repeated after a lost connection, 408, 429, 502, 503 or 504. The waits between
            are 0.2 s, 0.4 s, 0.8 s, ... up to 5 s, each up to a half longer or shorter by chance, and at least what
            `Retry-After` asks for, up to 60 s.
        headers: Sent with every request, e.g. `{"authorization": "Bearer ..."}`.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        timeout: float = 60.0,
        connect_timeout: float = 5.0,
        retries: int = 4,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        parts = _parse(split_urls(None)[0] if url is None else url)
        assert_patience(timeout, connect_timeout, retries)
        self.url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])).rstrip("/")
        self.timeout = timeout
        self.connect_timeout = connect_timeout
        self.retries = retries
        self.headers = dict(headers or {})
        self._full_url = urlunsplit(parts)
        self._host = parts.hostname or ""
        self._is_tls = parts.scheme == "https"
        self._port = (443 if self._is_tls else 80) if parts.port is None else parts.port
        self._tls: Optional[ssl.SSLContext] = None
        self._prefix = parts.path.rstrip("/")
        self._login = _basic(parts.username, parts.password)
        self._connections = Connections()

    def close(self) -> None:
        """Close the idle connections. The client may be used again."""
        self._connections.close()

    def __repr__(self) -> str:
        return f"Client({self.url!r}, timeout={self.timeout}, retries={self.retries})"

    def __getstate__(self) -> Dict[str, Any]:
        kept = {name: getattr(self, name) for name in ("timeout", "connect_timeout", "retries", "headers")}
        return {"url": self._full_url, **kept}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _call(self, operation: Operation, fields: Mapping[str, Any]) -> Any:
        target = self._prefix + _target(operation, fields)
        body = _body(operation, fields)
        headers = {"accept": operation.accept, "user-agent": f"canvas-gym-python/{__version__}"}
        if body is not None:
            headers["content-type"] = "application/json"
        headers.update(self._login)
        headers.update(self.headers)
        answer = self._send(operation.method, target, body, headers)
        if not 200 <= answer.status < 300:  # noqa: PLR2004
            raise self._refused(answer)
        if operation.answer == "bytes":
            return answer.body
        if operation.answer == "text":
            return answer.body.decode()
        try:
            return json.loads(answer.body)
        except ValueError:
            raise self._refused(answer) from None

    def _refused(self, answer: Answer) -> ResponseError:
        return to_response_error(self.url, answer.status, answer.body, answer.media_type, answer.retry_after_s)

    def _send(self, method: str, target: str, body: Optional[bytes], headers: Dict[str, str]) -> Answer:
        """Repeat a request until it is answered, refused, or has failed once more than `retries` times."""
        for tried in range(self.retries + 1):
            said: Optional[float] = None
            try:
                answer = self._attempt(method, target, body, headers)
                if answer.status not in RETRIED_STATUSES or tried == self.retries:
                    return answer
                said = answer.retry_after_s
            except (OSError, HTTPException) as error:
                if tried == self.retries:
                    raise ConnectionFailed(self.url + target[len(self._prefix) :], _reason(error)) from error
            time.sleep(_delay(tried, said))
        raise AssertionError("unreachable")

    def _attempt(self, method: str, target: str, body: Optional[bytes], headers: Dict[str, str]) -> Answer:
        """One attempt; one more on a new connection where the other side had closed the kept one meanwhile."""
        end = time.monotonic() + self.timeout
        kept = self._connections.take()
        if kept is not None:
            try:
                return self._exchange(kept, method, target, body, headers, end)
            except StaleError:
                pass
        return self._exchange(self._connect(end), method, target, body, headers, end)

    def _exchange(
        self,
        connection: HTTPConnection,
        method: str,
        target: str,
        body: Optional[bytes],
        headers: Dict[str, str],
        end: float,
    ) -> Answer:
        """Send a request, read the whole answer, and keep the connection if it may be used again."""
        try:
            response = ask(connection, method, target, body, headers, end)
            answer = read(response)
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._connections.give(connection)
        return answer

    def _connect(self, end: float) -> HTTPConnection:
        timeout = min(time_left(end), self.connect_timeout)
        if self._is_tls:
            if self._tls is None:
                self._tls = ssl.create_default_context()
            connection: HTTPConnection = HTTPSConnection(self._host, self._port, timeout=timeout, context=self._tls)
        else:
            connection = HTTPConnection(self._host, self._port, timeout=timeout)
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        return connection


def split_urls(url: Union[str, Sequence[str], None]) -> List[str]:
    """List the addresses of a text with commas between, or of a list; None stands for CANVAS_GYM_URL or DEFAULT_URL.

    >>> split_urls("http://a:8000, http://b:8000")
    ['http://a:8000', 'http://b:8000']
    """
    given = os.environ.get(URL_VARIABLE, "") if url is None else url
    parts = given.split(",") if isinstance(given, str) else given
    listed = [part.strip() for part in parts if part.strip()]
    return listed or ([DEFAULT_URL] if url is None else [])


def assert_patience(timeout: float, connect_timeout: float, retries: int) -> None:
    """Raise ValueError where a limit can never be kept.

    >>> assert_patience(60, 5, -1)
    Traceback (most recent call last):
    ValueError: retries must be at least 0, and is -1
    """
    for name, seconds in [("timeout", timeout), ("connect_timeout", connect_timeout)]:
        if not seconds > 0:
            raise ValueError(f"{name} must be over 0 seconds, and is {seconds}")
    if retries < 0:
        raise ValueError(f"retries must be at least 0, and is {retries}")


def public_url(url: str) -> str:
    """Leave out the user and the password of an address.

    >>> public_url("http://ann:secret@a:8000")
    'http://a:8000'
    """
    return re.sub(r"^(\w+://)?.*@", r"\1", url)


def _parse(url: str) -> SplitResult:
    """Take an address apart; what is wrong is said without the password."""
    shown = public_url(url)
    if "," in url:
        raise ValueError(f"url must be one address, and is {shown!r}; canvas_gym.connect() takes several")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"url must begin with http:// or https:// and name a host, and is {shown!r}")
    if parts.query or parts.fragment:
        raise ValueError(f"url must not have a query or a fragment, and is {shown!r}")
    try:
        _ = parts.port
    except ValueError:
        raise ValueError(f"url must have a port from 0 to 65535 or none, and is {shown!r}") from None
    return parts


def _basic(user: Optional[str], password: Optional[str]) -> Dict[str, str]:
    if user is None:
        return {}
    pair = f"{unquote(user)}:{unquote(password or '')}".encode()
    return {"authorization": "Basic " + base64.b64encode(pair).decode()}


def _target(operation: Operation, fields: Mapping[str, Any]) -> str:
    """Make path and query of a request.

    >>> from ._api import OPERATIONS
    >>> _target(OPERATIONS["task"], {"task_id": "a/b"})
    '/tasks/a%2Fb'
    >>> _target(OPERATIONS["tasks"], {"split": "val", "level": None, "limit": 2})
    '/tasks?split=val&limit=2'
    """
    path = operation.path.format_map({name: quote(str(fields[name]), safe="") for name in operation.path_fields})
    query = [(name, fields[name]) for name in operation.query_fields if fields.get(name) is not None]
    return path + ("?" + urlencode(query) if query else "")


def _body(operation: Operation, fields: Mapping[str, Any]) -> Optional[bytes]:
    if operation.method == "GET":
        return None
    sent = {
        name: fields[name]
        for name in operation.body_fields
        if fields.get(name) is not None or name in operation.required_fields
    }
    text = json.dumps(sent, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_plain)
    return text.encode("utf-8", "backslashreplace")  # a lone surrogate, which UTF-8 has no bytes for, as JSON's escape


def _plain(value: Any) -> Any:
    """Turn a NumPy or torch value into Python's own; what they offer for it is `tolist`."""
    tolist = getattr(value, "tolist", None)
    if tolist is None:
        raise TypeError(f"{type(value).__name__} is no JSON value")
    return tolist()


def _delay(tried: int, said: Optional[float]) -> float:
    own = min(MAX_DELAY_S, FIRST_DELAY_S * 2.0**tried) * random.uniform(0.5, 1.5)  # noqa: S311
    return max(own, min(said or 0.0, MAX_RETRY_AFTER_S))


def _reason(error: BaseException) -> str:
    return str(error) or type(error).__name__
