"""Stopping what runs with Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time

import pytest

from vestige.graph.interruption import GraphInterruption, Interruption


def test_a_part_that_does_not_end_is_interrupted_by_one_ctrl_c(monkeypatch) -> None:
    """After a while, in which it could have ended by itself."""
    monkeypatch.setattr(Interruption, "PATIENCE_SECONDS", 0.01)
    limit = time.monotonic() + 20

    def run() -> None:
        with Interruption():
            signal.raise_signal(signal.SIGINT)
            while time.monotonic() < limit:
                pass

    with pytest.raises(KeyboardInterrupt):
        run()


def test_a_part_that_ends_is_not() -> None:
    """What runs stops there, and nothing comes later."""
    with Interruption() as interruption:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(GraphInterruption):
            interruption.check()
        assert interruption._timer is None


def test_a_second_ctrl_c_right_behind_the_first_is_one_interruption(
    monkeypatch,
) -> None:
    """As when a program and its process group both get it: the timer has not begun."""

    def interrupted(_: threading.Timer) -> None:
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(threading.Timer, "start", interrupted)
    with pytest.raises(KeyboardInterrupt), Interruption():
        signal.raise_signal(signal.SIGINT)
