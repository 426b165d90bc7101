"""A plugin of pytest that every suite runs with: what all of them take."""

import os

import pytest


@pytest.fixture(scope="session")
def url() -> str:
    """Address of the server under test, without a slash at its end."""
    return os.environ["CANVAS_GYM_URL"].rstrip("/")
