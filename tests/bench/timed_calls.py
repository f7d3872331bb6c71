"""Calls Python functions many times, and prints the time of each call."""

from __future__ import annotations

import sys
import time

ROUNDS = 10


def leaf() -> None:
    """Do nothing: what is measured is the call."""


def run(count: int) -> float:
    """Return the nanoseconds of a call."""
    started = time.perf_counter_ns()
    for _ in range(count):
        leaf()
    return (time.perf_counter_ns() - started) / count


def fibonacci(n: int) -> int:
    """Return a number of the sequence, by calls."""
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def main() -> None:
    """Print ``NAME=VALUE``."""
    calls = int(sys.argv[1])
    print(f"leaf={min([run(calls // ROUNDS) for _ in range(ROUNDS)])}")
    started = time.perf_counter_ns()
    fibonacci(20)
    print(f"fibonacci={(time.perf_counter_ns() - started) / 21891}")


if __name__ == "__main__":
    main()
