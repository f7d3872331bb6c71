"""Calls a Python function many times, and prints the time of each call."""

import sys
import time


def leaf() -> None:
    """Do nothing: what is measured is the call."""


def run(count: int) -> float:
    """Return the nanoseconds of a call."""
    started = time.perf_counter_ns()
    for _ in range(count):
        leaf()
    return (time.perf_counter_ns() - started) / count


if __name__ == "__main__":
    CALLS = int(sys.argv[1])
    print(f"calls={CALLS}")
    print(f"call={min(run(CALLS // 10) for _ in range(10))}")
