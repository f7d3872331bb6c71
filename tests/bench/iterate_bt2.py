"""Touch five fields of each event with Babeltrace 2's own Python module."""

from __future__ import annotations

import sys

import bt2


def main() -> None:
    """Read the trace given on the command line."""
    count = 0
    total = 0
    for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
        if type(message) is not bt2._EventMessageConst:
            continue
        event = message.event
        context = event.common_context_field
        name = event.name
        time = message.default_clock_snapshot.ns_from_origin
        ip = int(context["ip"])
        vpid = int(context["vpid"])
        vtid = int(context["vtid"])
        total ^= hash(name) ^ time ^ ip ^ vpid ^ vtid
        count += 1
    print(count, total)


if __name__ == "__main__":
    main()
