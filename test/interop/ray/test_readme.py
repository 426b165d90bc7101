"""The README's lines for Ray, run as they are."""

import subprocess
import sys
from pathlib import Path

from readme import readme_blocks

from canvas_gym import Client


def test_its_lines_give_the_reward_of_the_environment(url: str, tmp_path: Path) -> None:
    """In a process of their own, since they start Ray and leave it to end with Python."""
    (code,) = readme_blocks("Ray", "python")
    expected = Client(url).reward(task_id="train.pipeline.1.3", completion='{"actions": []}')
    check = f"\nassert answer == {{'rewards': [{expected['reward']!r}], 'components': [{expected['components']!r}]}}"
    subprocess.run([sys.executable, "-c", code + check], cwd=tmp_path, timeout=180, check=True)
