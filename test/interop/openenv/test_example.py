"""The example for OpenEnv, run as it is."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "clients/python/examples/openenv_client.py"


def test_its_drawing_has_a_good_reward() -> None:
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "Record, Review, Edit Episode" in lines[0]
    reward, is_over, errors = lines[1].split(" ", 2)
    assert float(reward) > 0.9 and (is_over, errors) == ("True", "[]")
