"""Several servers behind one client, so that a dead one loses nothing.

    client = Replicas(["http://10.0.0.1:8000", "http://10.0.0.2:8000"])
    turn = client.step(state=state, action=text)

Servers keep nothing, so any of them may answer any request, also the next turn of an episode; where states are signed
they need the same secret. A request goes to the servers in turn; one that does not answer, or that answers 408, 429,
502, 503 or 504, is passed over, and the request goes to the next. One that did not answer is asked after the others for
ten times as long as that took, at least 10 s, and one that said `Retry-After` for as long as it said; then it has its
turns again. Left out: health checks, weights.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from ._api import Api, Operation
from .client import MAX_RETRY_AFTER_S, RETRIED_STATUSES, Client, _delay, assert_patience, split_urls
from .errors import CanvasGymError, ConnectionFailed, ResponseError

__all__ = ["Replicas", "connect", "is_outage"]

MIN_REST_S = 10.0
REST_FACTOR = 10.0  # so a server that hangs costs no more than a tenth of the time


class Replicas(Api):
    """The servers at `urls`, as one.

    Args:
        urls: Where the servers are.
        timeout: Seconds that one attempt may take.
        connect_timeout: Seconds of it that connecting may take.
        retries: How often all of them are tried again after all have failed; the waits between are those of Client.
        headers: Sent with every request.
    """

    def __init__(
        self,
        urls: Sequence[str],
        *,
        timeout: float = 60.0,
        connect_timeout: float = 5.0,
        retries: int = 4,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        if not urls:
            raise ValueError("urls must name at least one server")
        assert_patience(timeout, connect_timeout, retries)
        self.timeout = timeout
        self.connect_timeout = connect_timeout
        self.retries = retries
        self.headers = dict(headers or {})
        self._full_urls = list(urls)
        self._clients = [
            Client(url, timeout=timeout, connect_timeout=connect_timeout, retries=0, headers=headers) for url in urls
        ]
        self.urls = [client.url for client in self._clients]
        self._rests_until = [0.0] * len(self._clients)
        self._begin()

    def _begin(self) -> None:
        """Begin with any of the servers: processes begin at different ones, and threads take turns."""
        self._pid = os.getpid()
        self._turn = itertools.count(random.randrange(len(self._clients)))  # noqa: S311

    def close(self) -> None:
        """Close the idle connections. The client may be used again."""
        for client in self._clients:
            client.close()

    def __repr__(self) -> str:
        return f"Replicas({self.urls!r}, timeout={self.timeout}, retries={self.retries})"

    def __getstate__(self) -> Dict[str, Any]:
        kept = {name: getattr(self, name) for name in ("timeout", "connect_timeout", "retries", "headers")}
        return {"urls": self._full_urls, **kept}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def _call(self, operation: Operation, fields: Mapping[str, Any]) -> Any:
        failure: Optional[CanvasGymError] = None
        for tried in range(self.retries + 1):
            if failure is not None:
                time.sleep(_delay(tried - 1, getattr(failure, "retry_after_s", None)))
            for i in self._in_turn():
                began = time.monotonic()
                try:
                    answer = self._clients[i]._call(operation, fields)
                except ConnectionFailed as error:
                    failure = error
                    self._rest(i, max(MIN_REST_S, REST_FACTOR * (time.monotonic() - began)))
                except ResponseError as error:
                    if error.status not in RETRIED_STATUSES:
                        raise
                    failure = error
                    self._rest(i, min(error.retry_after_s or 0.0, MAX_RETRY_AFTER_S))
                else:
                    self._rests_until[i] = 0.0
                    return answer
        assert failure is not None  # noqa: S101 -- there is at least one server
        raise failure

    def _rest(self, i: int, seconds: float) -> None:
        self._rests_until[i] = time.monotonic() + seconds

    def _in_turn(self) -> List[int]:
        """Give the order in which the servers are asked: in turn, those that rest last, the longest at the end."""
        if self._pid != os.getpid():
            self._begin()
        count, first, now = len(self._clients), next(self._turn), time.monotonic()
        order = [(first + i) % count for i in range(count)]
        return sorted(order, key=lambda i: max(0.0, self._rests_until[i] - now))


def connect(
    url: Union[str, Sequence[str], None] = None,
    *,
    timeout: float = 60.0,
    connect_timeout: float = 5.0,
    retries: int = 4,
    headers: Optional[Mapping[str, str]] = None,
) -> Union[Client, Replicas]:
    """Make a client of one server, or of several.

    Args:
        url: One address, several divided by commas, or a list; None stands for the environment variable CANVAS_GYM_URL,
            and without that for http://127.0.0.1:8000.
        timeout: Seconds that one attempt may take.
        connect_timeout: Seconds of it that connecting may take.
        retries: How often a failed request is repeated.
        headers: Sent with every request, e.g. `{"authorization": "Bearer ..."}`.

    >>> connect("http://a:8000")
    Client('http://a:8000', timeout=60.0, retries=4)
    >>> connect("http://a:8000, http://b:8000", retries=2)
    Replicas(['http://a:8000', 'http://b:8000'], timeout=60.0, retries=2)
    """
    urls = split_urls(url)
    if len(urls) == 1:
        return Client(urls[0], timeout=timeout, connect_timeout=connect_timeout, retries=retries, headers=headers)
    return Replicas(urls, timeout=timeout, connect_timeout=connect_timeout, retries=retries, headers=headers)


def is_outage(error: CanvasGymError) -> bool:
    """Tell whether the server or the way to it failed, so that the same request may succeed later.

    A refusal (4xx) is none: what was asked has to change.

    >>> is_outage(ConnectionFailed("http://a", "refused")), is_outage(ResponseError(503, "internal", ""))
    (True, True)
    >>> is_outage(ResponseError(404, "unknown_task", "no task x"))
    False
    """
    if isinstance(error, ResponseError):
        return error.status in RETRIED_STATUSES or error.status >= 500  # noqa: PLR2004
    return isinstance(error, ConnectionFailed)
