"""Fixtures for all tests: the real LTTng, its recordings, and the peers."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from support.compilers import MissingToolError
from support.lttng import LttngEnvironment, missing_requirement
from support.peers import missing_addr2line, missing_babeltrace
from support.recipes import Workshop
from support.shared_memory import remove_memory_of_recordings

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# Shells without job control let what they start in the background ignore Ctrl-C, and
# that is inherited by the programs that tests end with it.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Indexes of debug information that a test has not made itself are none of its business.
os.environ["VESTIGE_CACHE_SIZE"] = "0"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup() -> Iterator[None]:
    """Skip a test whose fixtures need a tool that is not installed."""
    with skipping_without_tools():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """Skip a test that needs a tool that is not installed."""
    with skipping_without_tools():
        return (yield)


@contextmanager
def skipping_without_tools() -> Iterator[None]:
    """Turn the error of a missing tool into the reason of a skipped test."""
    try:
        yield
    except MissingToolError as error:
        pytest.skip(str(error))


@pytest.fixture(autouse=True, scope="session")
def home_of_recordings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Recordings of tests are no recordings of the person who runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VESTIGE_HOME", str(tmp_path_factory.mktemp("home")))
        yield
    remove_memory_of_recordings(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="session")
def lttng() -> Iterator[LttngEnvironment]:
    """A running LTTng of our own; its tests are skipped where LTTng is missing."""
    if reason := missing_requirement():
        pytest.skip(reason)
    with LttngEnvironment() as environment:
        yield environment


@pytest.fixture(scope="session")
def workshop(
    lttng: LttngEnvironment, tmp_path_factory: pytest.TempPathFactory
) -> Workshop:
    """A directory in which recipes build and record, shared by all tests."""
    return Workshop(lttng, tmp_path_factory.mktemp("workshop"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Debian's Chromium, without a window; started once for a file.

    Playwright has an event loop running as long as it is there: tests of other files
    could start none.
    """
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="it drives the browser"
    )
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no browser")
    with sync_api.sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        started = playwright.chromium.launch(executable_path=chromium, args=options)
        yield started
        started.close()


@pytest.fixture(scope="session")
def babeltrace_peer() -> None:
    """Skips where Babeltrace 2 is missing or of another version."""
    if reason := missing_babeltrace():
        pytest.skip(reason)


@pytest.fixture(scope="session")
def addr2line_peer() -> None:
    """Skips where addr2line is missing."""
    if reason := missing_addr2line():
        pytest.skip(reason)
