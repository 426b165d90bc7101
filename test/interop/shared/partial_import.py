"""Imports parts of a package whose root imports what a suite does not install, such as torch."""

import importlib
import sys
import types
from importlib.metadata import distribution
from pathlib import Path
from typing import Any


def load(distribution_name: str, module: str) -> Any:
    """A module of an installed distribution, without running the `__init__` of the packages above it."""
    root = Path(str(distribution(distribution_name).locate_file("")))
    parts = module.split(".")
    for depth in range(1, len(parts)):
        name = ".".join(parts[:depth])
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*parts[:depth]))]
        sys.modules.setdefault(name, package)
    return importlib.import_module(module)
