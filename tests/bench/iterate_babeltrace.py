"""Touch five fields of each event with Babeltrace 1's Python module, or what stands in."""

from __future__ import annotations

import sys

import babeltrace


def main() -> None:
    """Read the trace given on the command line."""
    traces = babeltrace.TraceCollection()
    traces.add_traces_recursive(sys.argv[1], "ctf")
    count = 0
    total = 0
    for event in traces.events:
        fields = event["ip"] ^ event["vpid"] ^ event["vtid"]
        total ^= hash(event.name) ^ event.timestamp ^ fields
        count += 1
    print(count, total)


if __name__ == "__main__":
    main()
