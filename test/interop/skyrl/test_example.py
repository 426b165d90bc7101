"""The example for SkyRL, run as it is."""

import ast
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "clients/python/examples/skyrl_env.py"


def test_its_drawing_has_a_good_reward() -> None:
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "Record, Review, Edit Episode" in lines[0]
    output = ast.literal_eval(lines[1])
    assert output["reward"] > 0.9 and output["done"] and output["metadata"]["errors"] == []
