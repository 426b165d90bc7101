"""What the project's README tells a user of a framework to type."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import List

README = Path(__file__).parents[3] / "README.md"


def readme_blocks(heading: str, language: str) -> List[str]:
    """The fenced blocks of a language under a heading, with the server under test for HOST."""
    page = README.read_text(encoding="utf-8")
    parts = re.split(r"^### ", page, flags=re.MULTILINE)
    (part,) = [part for part in parts if part.startswith(f"{heading}\n")]
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", part, re.MULTILINE | re.DOTALL)
    assert blocks, f"no {language} under {heading}"
    return [block.replace("http://HOST", os.environ["CANVAS_GYM_URL"].rstrip("/")) for block in blocks]


def run_python_line(line: str, folder: Path) -> None:
    """Run `python -c "..."` as a shell would, with this Python."""
    assert line.startswith("python ")
    command = f'exec "{sys.executable}" {line[len("python ") :]}'
    subprocess.run(["bash", "-c", command], cwd=folder, timeout=180, check=True)
