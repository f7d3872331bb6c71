"""What a user says about where debug information is."""

from __future__ import annotations

from pathlib import Path

import pytest

from vestige.debuginfo import DEBUG_DIRECTORIES, DebugFileFinder, DebugInfoOptions


@pytest.fixture(autouse=True)
def no_variable(monkeypatch):
    """The environment of the tests names no directory."""
    monkeypatch.delenv("VESTIGE_DEBUG_PATH", raising=False)


def test_the_default_is_that_of_gdb():
    """One directory, in which distributions install debug files."""
    assert DebugInfoOptions().directories() == DEBUG_DIRECTORIES
    assert (Path("/usr/lib/debug"),) == DEBUG_DIRECTORIES


def test_the_environment_names_other_directories(monkeypatch):
    """In place of the default; empty ones do not count."""
    monkeypatch.setenv("VESTIGE_DEBUG_PATH", "/a::/b:")

    assert DebugInfoOptions().directories() == (Path("/a"), Path("/b"))


def test_an_empty_variable_names_nothing(monkeypatch):
    """As if it were not there."""
    monkeypatch.setenv("VESTIGE_DEBUG_PATH", "")

    assert DebugInfoOptions().directories() == DEBUG_DIRECTORIES


@pytest.mark.parametrize("directories", [(), (Path("/c"),)])
def test_options_outweigh_the_environment(monkeypatch, directories):
    """Also when they name no directory at all."""
    monkeypatch.setenv("VESTIGE_DEBUG_PATH", "/a")

    options = DebugInfoOptions(debug_directories=directories)

    assert options.directories() == directories
    assert DebugFileFinder.of(options).debug_directories == directories


def test_servers_are_not_asked_unless_wanted(monkeypatch):
    """Whatever the environment says."""
    monkeypatch.setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1")

    assert DebugFileFinder.of(DebugInfoOptions()).debuginfod is None
    assert DebugFileFinder.of(DebugInfoOptions(debuginfod=True)).debuginfod is not None
