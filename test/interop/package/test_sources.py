"""The sources of the Python package and of these tests: lint, format, types; and what an installed copy is."""

import importlib.metadata
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "clients" / "python"
TESTS = [str(ROOT / "test" / "python"), str(ROOT / "test" / "interop")]


def run(command: List[str], cwd: Path = PACKAGE) -> None:
    done = subprocess.run([sys.executable, "-m", *command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=["lint", "format"])
def test_ruff_finds_nothing(arguments: List[str]) -> None:
    run(["ruff", *arguments, "--no-cache", "."])


def test_tests_are_formatted_and_hold_no_faults() -> None:
    config = ["--no-cache", "--config", str(PACKAGE / "pyproject.toml")]
    run(["ruff", "format", "--check", *config, *TESTS])
    run(["ruff", "check", *config, "--select", "E,F,W,I,B,PIE", "--ignore", "B905,PIE800", *TESTS])


def test_types_hold_under_strict_rules(tmp_path: Path) -> None:
    run(["mypy", "--cache-dir", str(tmp_path)])


def test_users_get_the_types(tmp_path: Path) -> None:
    """What a user writes is checked against the installed package."""
    (tmp_path / "good.py").write_text(
        "from canvas_gym import Client\n"
        "turn = Client().step(action='{}', prompt='Draw a box.')\n"
        "reward: float = turn['reward']\n"
    )
    (tmp_path / "bad.py").write_text(
        "from canvas_gym import Client\n"
        "Client().reset(level=9)\n"
        "Client().step(prompt='no action')\n"
        "Client().reset()['rewards']\n"
    )
    run(["mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "good.py"], tmp_path)
    with pytest.raises(AssertionError, match="Found 3 errors"):
        run(["mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), "bad.py"], tmp_path)


def test_it_needs_nothing_and_offers_extras() -> None:
    metadata = importlib.metadata.metadata("canvas-gym")
    required = importlib.metadata.requires("canvas-gym") or []
    assert required and all("extra ==" in requirement for requirement in required)
    extras = set(metadata.get_all("Provides-Extra") or [])
    assert extras == {"gymnasium", "datasets", "trl", "verifiers", "verl", "openrlhf", "skyrl", "ray"}
    assert importlib.metadata.distribution("canvas-gym").read_text("entry_points.txt") is None
    assert metadata["Requires-Python"] == ">=3.9" and metadata["License-Expression"] == "MIT"
