"""Runs the examples of the Python package as a user does."""

import subprocess
import sys
from pathlib import Path
from typing import List

EXAMPLES = Path(__file__).parents[3] / "clients/python/examples"


def run_example(name: str) -> List[str]:
    """The lines that `examples/NAME.py` prints; it must end well."""
    command = [sys.executable, str(EXAMPLES / f"{name}.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
