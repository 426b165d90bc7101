"""What the tests of this folder share: parts of verl without what its roots import, which are torch and Ray."""

import importlib
import os
import sys
import types
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest


def load(module: str) -> Any:
    """A module of verl, without running the `__init__` of the packages above it."""
    root = Path(str(distribution("verl").locate_file("")))
    parts = module.split(".")
    for depth in range(1, len(parts)):
        name = ".".join(parts[:depth])
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*parts[:depth]))]
        sys.modules.setdefault(name, package)
    return importlib.import_module(module)


load("verl.interactions.base")


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["CANVAS_GYM_URL"].rstrip("/")
