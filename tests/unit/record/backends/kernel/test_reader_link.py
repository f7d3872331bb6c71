"""The process that reads the kernel's buffers: it ends, or is ended."""

from __future__ import annotations

import os
import signal
from typing import NoReturn

import pytest

from vestige.record.backends.kernel import reader_link
from vestige.record.backends.kernel.reader_link import ReaderLink


def sleep_for_ever(_trace: object, _control: object, _now: object) -> NoReturn:
    """As one whose disk does not answer."""
    while True:
        signal.pause()


def end_at_once(_trace: object, _control: object, _now: object) -> NoReturn:
    """As it should."""
    os._exit(0)


def is_there(process: int) -> bool:
    """Tell whether a child is there, ended or not."""
    try:
        os.waitpid(process, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def test_one_that_ends_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is left of it."""
    monkeypatch.setattr(reader_link, "run_reader", end_at_once)
    link = ReaderLink(None, lambda: 0)  # type: ignore[arg-type]

    link.close()

    assert not is_there(link.process)


def test_one_that_does_not_end_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """After some time, so that whoever records does not wait for ever."""
    monkeypatch.setattr(reader_link, "run_reader", sleep_for_ever)
    monkeypatch.setattr(reader_link, "LONGEST_END", 0.05)
    monkeypatch.setattr(reader_link, "LONGEST_KILL", 60.0)
    link = ReaderLink(None, lambda: 0)  # type: ignore[arg-type]

    link.close()

    assert not is_there(link.process)
