"""Choose few events by two fields: with ``where=``, or with ``--loop`` in Python."""

from __future__ import annotations

import sys

import vestige


def main() -> None:
    """Read the trace given on the command line; the last hundredth of steps is chosen."""
    path, number = sys.argv[1], int(sys.argv[2])
    steps = vestige.open(path, debug_info=False).events("threads:step")
    if "--loop" in sys.argv:
        chosen = [
            event for event in steps if event["number"] >= number and event["vtid"] > 0
        ]
    else:
        chosen = list(steps.events(where=f"number >= {number} && $ctx.vtid > 0"))
    print(len(chosen))


if __name__ == "__main__":
    main()
