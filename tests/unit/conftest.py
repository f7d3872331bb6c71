"""Fixtures for all unit tests."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from pathlib import Path

import pytest

NOBODY = 65_534


@pytest.fixture
def time_zone(monkeypatch):
    """Return a function that changes the time zone of this process until the test ends."""

    def change(name):
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield change
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def utc(time_zone):
    """Let the local time be UTC."""
    time_zone("UTC")


@pytest.fixture
def unprivileged():
    """Give a directory to a user who is not root; root may read everything."""
    directory = Path(tempfile.mkdtemp())
    if os.geteuid() != 0:
        yield directory
    else:
        os.chown(directory, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        yield directory
        os.seteuid(0)
    for secret in directory.rglob("*"):
        secret.chmod(0o700)
    shutil.rmtree(directory)
