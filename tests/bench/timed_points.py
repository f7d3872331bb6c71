"""Calls a tracepoint many times, and prints the time of each call."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from vestige.instrument import span, tracepoint

CALLS = 10_000
ROUNDS = 50

point = tracepoint("bench:request", path=str, status=int)
work = span("bench:work")


def best(run: Callable[[range], None]) -> float:
    """Return the least time of a call."""
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter_ns()
        run(range(CALLS))
        times.append((time.perf_counter_ns() - started) / CALLS)
    return min(times)


def nothing(count: range) -> None:
    """Do what the others do beside."""
    for _ in count:
        pass


def by_name(count: range) -> None:
    """Give the fields by their names."""
    for _ in count:
        point(path="/", status=200)


def in_span(count: range) -> None:
    """Enter and leave a span."""
    for _ in count:
        with work:
            pass


def log(count: range) -> None:
    """Write to a log that nobody reads."""
    logger = logging.getLogger("bench")
    logger.propagate = False
    logger.addHandler(logging.NullHandler())
    for _ in count[: CALLS // ROUNDS]:
        logger.warning("%d items", 5)


def main() -> None:
    """Print ``NAME=VALUE``."""
    loop = best(nothing)
    print(f"point={best(by_name) - loop}")
    print(f"span={best(in_span) - loop}")
    print(f"log={best(log) * ROUNDS}")


if __name__ == "__main__":
    main()
