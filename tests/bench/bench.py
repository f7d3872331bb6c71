"""Time Vestige beside Babeltrace 2 on the same traces, in the same run.

Four traces are recorded with LTTng, one like a kernel's and two of small packets are
generated; all are kept in ``bench-out/``. All commands of a row run in turn, A B C A B C ...; a row gives the median
of each, and the median of the ratios. "Bytes alone" is ``cat`` of the same files, with
the text for rows that write it. What is printed is Markdown; it is also written to
``bench-out/table.md``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from bench.measure import Row, compare, measure
from bench.traces import OUTPUT, WORKERS, Shape, shapes

DECODED = (
    *("threads", "ticks", "texts", "kernel"),
    *("barectf", "tiny packets", "sub-buffers"),
)
"""Traces that are decoded and rendered as text."""
PROGRAMS = Path(__file__).resolve().parent
VESTIGE = str(Path(sys.executable).parent / "vestige")
BABELTRACE = "babeltrace2"
SYSTEM_PYTHON = "/usr/bin/python3"
HEADINGS = (
    "job",
    "Vestige",
    "peak",
    "Babeltrace 2.0.4",
    "peak",
    "faster",
    "bytes alone",
)


def rows(traces: Mapping[str, Shape]) -> Iterator[Row]:
    """Return what is compared."""
    for name in DECODED:
        yield _decoding(name, traces[name])
        yield _text(name, traces[name])
    threads = traces["threads"]
    path = str(threads.path())
    yield _pair("threads: text with debug info", "--debug-info", path)
    yield _copying("threads: a copy in CTF 1.8", threads)
    yield _python("threads: Python, five fields of each event", "iterate", path)
    yield _python("threads: the same five fields to Arrow", "columns", path)
    yield _module("threads: the five fields with the module `bt2`", "bt2", path)
    yield _module("threads: with Babeltrace 1's module", "babeltrace", path)
    yield _pair("threads: details", path, *_sink("text.details"))
    yield _pair("threads: counting messages", path, *_sink("utils.counter"))
    passing = (f"--plugin-path={PROGRAMS / 'plugins'}", "--component=filter.pass.All")
    counted = "threads: counting behind a filter in Python"
    yield _pair(counted, *passing, path, *_sink("utils.counter"))
    yield _choice("threads: `where=`, and on the right a Python loop", threads)
    yield _pair(
        "opening 1.5 MB of metadata", "-o", "dummy", str(traces["opening"].path())
    )
    yield _pair("start-up: ten events", str(traces["small"].path()))


def huge_rows(traces: Mapping[str, Shape]) -> Iterator[Row]:
    """Return the rows on a trace of 2 GB: they are about memory."""
    yield _decoding("huge", traces["huge"])
    yield _text("huge", traces["huge"])


def _pair(job: str, *arguments: str, floor: Sequence[str] = ()) -> Row:
    own = [VESTIGE, "convert", *arguments]
    return Row(job, own, [BABELTRACE, *arguments], BABELTRACE, floor)


def _decoding(name: str, shape: Shape) -> Row:
    floor = ["cat", *map(str, shape.files())]
    return _pair(f"{name}: decoding", "-o", "dummy", str(shape.path()), floor=floor)


def _text(name: str, shape: Shape) -> Row:
    files = [*map(str, shape.files()), str(_text_of(shape))]
    return _pair(f"{name}: text", str(shape.path()), floor=["cat", *files])


def _copying(job: str, shape: Shape) -> Row:
    """Return both ways to copy a trace; the copies are removed before the next one."""
    target = OUTPUT / "copy"
    script = 'rm -rf "$1"; exec "$0" convert "$2" -o ctf --output "$1"'
    words = [str(target), str(shape.path())]
    own, peer = (["sh", "-c", script, one, *words] for one in (VESTIGE, BABELTRACE))
    return Row(job, own, peer, BABELTRACE, ["cat", *map(str, shape.files())])


def _text_of(shape: Shape) -> Path:
    """Return a file with the text of a trace."""
    text = OUTPUT / f"{shape.name}.txt"
    if not text.exists():
        measure([VESTIGE, "convert", str(shape.path())], text)
    return text


def _python(job: str, program: str, path: str) -> Row:
    own = [sys.executable, str(PROGRAMS / f"{program}_vestige.py"), path]
    peer = [SYSTEM_PYTHON, str(PROGRAMS / "iterate_bt2.py"), path]
    return Row(job, own, peer, SYSTEM_PYTHON)


def _module(job: str, name: str, path: str) -> Row:
    """Return a loop with a module of Babeltrace's, ours and that of version 2."""
    program = str(PROGRAMS / f"iterate_{name}.py")
    own = [sys.executable, "-m", f"vestige.compat.{name}", program, path]
    peer = [SYSTEM_PYTHON, str(PROGRAMS / "iterate_bt2.py"), path]
    return Row(job, own, peer, SYSTEM_PYTHON)


def _sink(name: str) -> tuple[str, str]:
    return ("--component", f"sink.{name}")


def _choice(job: str, shape: Shape) -> Row:
    """Return two ways to choose a hundredth of the steps of each worker, both Vestige's."""
    program = str(PROGRAMS / "where_vestige.py")
    events = int(shape.name.rpartition("-")[2])
    last = str(events // WORKERS * 99 // 100)
    own = [sys.executable, program, str(shape.path()), last]
    return Row(job, own, [*own, "--loop"], sys.executable)


def main() -> None:
    """Make what is missing, run all rows and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the events")
    parser.add_argument("--runs", type=int, default=3, help="runs of each command")
    parser.add_argument("--only", metavar="WORD", help="rows whose job has this word")
    parser.add_argument("--huge", action="store_true", help="only the trace of 2 GB")
    options = parser.parse_args()
    traces = shapes(300_000 if options.quick else 3_000_000)
    lines = [f"Median of {options.runs} runs.", ""]
    lines += [
        "| " + " | ".join(HEADINGS) + " |",
        "| " + " | ".join("---" for _ in HEADINGS) + " |",
    ]
    for row in huge_rows(traces) if options.huge else rows(traces):
        if options.only is None or options.only in row.job:
            cells = compare(row, options.runs).cells()
            lines.append("| " + " | ".join(cells) + " |")
            print(lines[-1], file=sys.stderr)
    lines += ["", *_legend(traces, huge=options.huge)]
    table = "\n".join(lines)
    name = "table-huge.md" if options.huge else "table.md"
    (OUTPUT / name).write_text(table + "\n", encoding="utf-8")
    print(table)


def _legend(traces: Mapping[str, Shape], *, huge: bool) -> Iterator[str]:
    for name in ("huge",) if huge else DECODED:
        shape = traces[name]
        yield f"- **{name}**: {shape.about}, {shape.size() / 1e6:.0f} MB"


if __name__ == "__main__":
    main()
