"""The server's address."""

import os

import pytest


@pytest.fixture(scope="session")
def url() -> str:
    return os.environ["CANVAS_GYM_URL"].rstrip("/")
