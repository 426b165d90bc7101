"""Runs the examples in the docstrings of every module that imports without a framework; prints what it left out."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import sys

import canvas_gym

tried = failed = 0
for found in pkgutil.iter_modules(canvas_gym.__path__):
    name = f"canvas_gym.{found.name}"
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("canvas_gym"):
            raise
        print(f"{name}: needs {error.name}")
        continue
    result = doctest.testmod(module)
    failed += result.failed
    tried += result.attempted
result = doctest.testmod(canvas_gym)
failed += result.failed
tried += result.attempted
print(f"{tried} examples, {failed} failed")
sys.exit(1 if failed or tried == 0 else 0)
