"""Touch five fields of each event with Vestige."""

from __future__ import annotations

import sys

import vestige


def main() -> None:
    """Read the trace given on the command line."""
    count = 0
    total = 0
    for event in vestige.open(sys.argv[1], debug_info=False):
        name = event.name
        time = event.timestamp
        ip = event["ip"]
        vpid = event["vpid"]
        vtid = event["vtid"]
        total ^= hash(name) ^ (time or 0) ^ ip ^ vpid ^ vtid
        count += 1
    print(count, total)


if __name__ == "__main__":
    main()
