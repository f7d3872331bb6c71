"""Write event records with Vestige: one by one, from lists, or from arrays."""

from __future__ import annotations

import array
import sys
import time

from vestige.ctf import Writer

PATH = "/path/to/it"


def main() -> None:
    """Write as many records as are asked for; print seconds."""
    directory, count, way, version = sys.argv[1], int(sys.argv[2]), *sys.argv[3:5]
    numbers = array.array("Q", range(count))
    columns = {"path": [PATH] * count, "status": [200] * count, "size": list(numbers)}
    if way == "arrays":
        offsets = array.array("q", range(0, len(PATH) * (count + 1), len(PATH)))
        texts = (offsets, (PATH * count).encode())
        status = array.array("H", [200]) * count
        columns = {"path": texts, "status": status, "size": numbers}
    start = time.perf_counter()
    with Writer(directory, version=version) as writer:
        stream = writer.stream("stream")
        request = writer.event_class(
            "app:request", {"path": str, "status": "u16", "size": "u64"}
        )
        if way == "single":
            for number in range(count):
                stream.write(request, number, path=PATH, status=200, size=number)
        else:
            stream.write_many(request, numbers, columns)
    print(time.perf_counter() - start)


if __name__ == "__main__":
    main()
