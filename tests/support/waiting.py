"""Waiting for a condition, with a deadline."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable

_POLL_SECONDS = 0.01
PATIENCE = float(os.environ.get("VESTIGE_TEST_PATIENCE", "1"))
"""How many times as long one waits where all is slow (``tools/other_kernels.py``)."""


class DeadlineExpiredError(Exception):
    """A condition did not become true in time."""


def wait_until(condition: Callable[[], bool], what: str, seconds: float) -> None:
    """Return as soon as `condition()` is true.

    Args:
        condition: A cheap test without side effects.
        what: What is awaited, for the message.
        seconds: How long to wait at most.

    Raises:
        DeadlineExpiredError: When the condition is still false after `seconds`.
    """
    seconds *= PATIENCE
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise DeadlineExpiredError(f"{what}: not within {seconds:g} s")
        select.select([], [], [], _POLL_SECONDS)
