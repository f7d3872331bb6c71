"""Decode five fields of each event into Arrow record batches with Vestige."""

from __future__ import annotations

import sys

import vestige

FIELDS = ["timestamp", "event", "ip", "vpid", "vtid"]


def main() -> None:
    """Read the trace given on the command line."""
    trace = vestige.open(sys.argv[1], debug_info=False)
    print(trace.to_arrow(FIELDS).drain())


if __name__ == "__main__":
    main()
