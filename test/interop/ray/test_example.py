"""The example for Ray, run as it is."""

import ast
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "clients/python/examples/ray_scores.py"


def test_its_drawing_has_a_good_reward() -> None:
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    good, bad, *again = ast.literal_eval(lines[-1])
    assert good > 0.9 > bad and again == [good, bad]
