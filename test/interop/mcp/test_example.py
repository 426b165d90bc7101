"""The example for MCP, run as it is."""

import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parents[3] / "clients/python/examples/mcp_client.py"


def test_its_drawing_has_a_good_reward() -> None:
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "['text', 'image']"
    [reward] = [line for line in lines if line.startswith("Reward: ")]
    assert float(reward.split()[1]) > 0.9
