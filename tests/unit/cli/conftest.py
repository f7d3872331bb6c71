"""Fixtures for the tests of the command line."""

from __future__ import annotations

import pytest

from vestige.cli.main import main


@pytest.fixture
def run(capfd, monkeypatch):
    """Return a function that runs a command line: status, output, errors."""
    for name in ("NO_COLOR", "BABELTRACE_TERM_COLOR", "PAGER"):
        monkeypatch.delenv(name, raising=False)

    def run(*words):
        capfd.readouterr()
        try:
            status = main([str(word) for word in words])
        except SystemExit as stop:
            status = stop.code
        return status, *capfd.readouterr()

    return run
