"""Fixtures for all unit tests."""

from __future__ import annotations

import time

import pytest


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
