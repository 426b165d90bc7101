"""One side of a comparison: requests as JSON lines on stdin, an answer to each as a JSON line on stdout."""

from __future__ import annotations

import json
import os
import resource
import sys
from typing import Any, Dict, Optional

_ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what libraries print goes to stderr, where it cannot be taken for an answer


def read_request() -> Optional[Dict[str, Any]]:
    """The next request; None once the other side has closed the pipe."""
    line = sys.stdin.readline()
    return json.loads(line) if line else None


def answer(value: Dict[str, Any]) -> None:
    """Answer the request, with the most memory this process has had so far (MiB)."""
    peak_rss_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    _ANSWERS.write(json.dumps({**value, "peak_rss_mb": peak_rss_mb}) + "\n")
    _ANSWERS.flush()
