"""The stand-in for the model and the runner of evaluations are those of the suite verifiers_tasksets."""

import os
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "verifiers_tasksets"))


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["CANVAS_GYM_URL"].rstrip("/")
