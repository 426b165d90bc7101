"""The example for ORS, run as it is."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "clients/python/examples/ors_client.py"


def test_its_drawing_has_a_good_reward() -> None:
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "Record, Review, Edit Episode" in lines[0]
    reward, finished = lines[1].split()
    assert float(reward) > 0.9 and finished == "True"
