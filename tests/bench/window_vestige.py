"""Make the index of a trace, or time windows of it with one; viewers.py runs this.

Prints as JSON how many windows of 20 ms were read, calls of the median one, and of that
the processor time, milliseconds.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import vestige

WINDOW = 20_000_000
"""Nanoseconds."""
COUNT = 15


def main() -> None:
    """Read windows all over the trace, each from its file again."""
    _, what, path = sys.argv
    intervals = vestige.open(path).intervals()
    if what == "make":
        return
    length = intervals.end - intervals.begin
    found = []
    for number in range(COUNT):
        begin = length * number // COUNT
        start = time.process_time()
        data = intervals.window(begin, begin + WINDOW)
        took = time.process_time() - start
        # A block has 39 bytes.
        found.append((took * 1e3, len(data) // 39))
    times, calls = zip(*found, strict=True)
    median = statistics.median_low(times)
    facts = {"windows": COUNT, "calls": calls[times.index(median)], "ms": median}
    print(json.dumps(facts))


if __name__ == "__main__":
    main()
