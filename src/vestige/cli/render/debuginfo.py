"""The report of ``vestige debuginfo``, for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap

from ..._typing import TYPE_CHECKING, NamedTuple
from ...analysis.debug_info import (
    Absence,
    AbsentObject,
    DebugInfoReport,
    MappedObject,
    ProcessReport,
)
from ...debuginfo import KERNEL, DebugSource
from ...plain_text import plain

if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "ReportStyle",
    "command_for",
    "count",
    "json_text",
    "needs_debug_file",
    "report_lines",
    "size",
]

ADVICE = {
    Absence.NO_STATE_DUMP: "record the state dump too: "
    "lttng enable-event -u 'lttng_ust_statedump:*'",
    Absence.BEFORE: "an object is not known before the event that reports it; "
    "for libraries loaded later: lttng enable-event -u 'lttng_ust_lib:*'",
    Absence.AFTER: "",
    Absence.OUTSIDE: "code made at run time, or a library loaded later: "
    "lttng enable-event -u 'lttng_ust_lib:*'",
}
OWN_ADVICE = {
    Absence.NO_STATE_DUMP: "the program had LTTNG_UST_WITHOUT_BADDR_STATEDUMP or "
    "VESTIGE_WITHOUT_BADDR_STATEDUMP in its environment",
    Absence.BEFORE: "an object is not known before the event that reports it",
    Absence.AFTER: "",
    Absence.OUTSIDE: "code made at run time, such as that of a just-in-time compiler",
}
"""For traces of ``vestige record``."""
NO_ADDRESS_ADVICE = "lttng add-context -u -t ip -t vpid"
OWN_NO_ADDRESS_ADVICE = "vestige record -c ip,vpid"

SHORT_SOURCES = {
    DebugSource.SYMBOLS_ONLY: "functions",
    DebugSource.MINI: "functions",
    DebugSource.NONE: "none",
}
"""What an object's source of names gives at best; all others give lines."""

SHORT_ID = 8
"""Digits of a build ID in the table; the list of files has all of them."""
KIBI = 1024
LEAST_PATH = 12


class ReportStyle(NamedTuple):
    """What the report shows."""

    width: int
    """Columns of the terminal."""
    unused_objects: bool = False
    """Whether objects without events are shown."""
    attempts: bool = False
    """Whether all places tried are shown, not only of objects that lack something."""


def needs_debug_file(one: MappedObject) -> bool:
    """Tell whether a debug file would bring what is missing of an object."""
    files = one.files
    if files.source is DebugSource.PACKED:
        return files.debug is not None and not files.debug.has_dwarf
    return files.source in SHORT_SOURCES


def command_for(one: MappedObject, packages: Mapping[str, str]) -> str | None:
    """Return the command that would bring the debug file of an object.

    Args:
        one: The object.
        packages: For paths on this machine the command that installs debug files.
    """
    files = one.files
    command = packages.get(files.host_path)
    if command is not None and files.object is not None:
        return command
    known = one.mapping.build_id or (files.object and files.object.build_id)
    return f"debuginfod-find debuginfo {known.hex()}" if known else None


def report_lines(
    report: DebugInfoReport, packages: Mapping[str, str], style: ReportStyle
) -> Iterator[str]:
    """Write a report for people.

    Args:
        report: The report.
        packages: For paths on this machine the command that installs debug files.
        style: What to show.

    Yields:
        The lines.
    """
    several_traces = len({process.trace for process in report.processes}) > 1
    for process in report.processes:
        yield from _process_lines(process, style, several_traces=several_traces)
        yield ""
    yield from _file_lines(report, packages, style)
    if report.events_without_address:
        number = count(report.events_without_address, "event")
        advice = OWN_NO_ADDRESS_ADVICE if report.is_ours else NO_ADDRESS_ADVICE
        if any(one.vpid == KERNEL for one in report.processes):
            # The kernel finds no call stack at many of its events.
            yield f"{number} without address"
        else:
            yield f"{number} without address; record the contexts: {advice}"
    yield _closing_line(report)


def _closing_line(report: DebugInfoReport) -> str:
    objects = [one for process in report.processes for one in process.objects]
    functions = sum(one.events_with_function for one in objects)
    lines = sum(one.events_with_line for one in objects)
    return (
        f"{count(report.events, 'event')}: "
        f"{_share(lines, report.events)} with a source line, "
        f"{_share(functions, report.events)} with a function"
    )


def _process_lines(
    process: ProcessReport, style: ReportStyle, *, several_traces: bool
) -> Iterator[str]:
    name = f" ({plain(process.name)})" if process.name else ""
    trace = f" of {plain(process.trace)}" if several_traces and process.trace else ""
    who = "the kernel" if process.vpid == KERNEL else f"process {process.vpid}{name}"
    yield f"{who}{trace}: {count(process.events, 'event')}"
    shown = [one for one in process.objects if one.events or style.unused_objects]
    rows = [_row(one) for one in shown]
    rows += [_absent_row(one) for one in process.absent]
    if rows:
        head = ("events", "addresses", "named", "base", "size", "build ID", "object")
        yield from _table([head, *rows], style.width)
    for one in process.absent:
        if advice := _advice(process, one):
            text = f"  {one.absence.value}: {advice}"
            yield from wrap(text, style.width, subsequent_indent="    ")
    hidden = len(process.objects) - len(shown)
    if hidden:
        yield f"  and {count(hidden, 'object')} without events (see --all)"


def _advice(process: ProcessReport, one: AbsentObject) -> str:
    return (OWN_ADVICE if process.is_ours else ADVICE)[one.absence]


def _row(one: MappedObject) -> tuple[str, ...]:
    build_id = one.mapping.build_id
    return (
        f"{one.events:,}",
        f"{len(one.places):,}",
        _named(one),
        f"{one.mapping.base:x}",
        size(one.mapping.size),
        "-" if build_id is None else build_id.hex()[:SHORT_ID],
        plain(one.mapping.path),
    )


def _absent_row(one: AbsentObject) -> tuple[str, ...]:
    text = f"({one.absence.value})"
    return (f"{one.events:,}", f"{len(one.addresses):,}", "none", "-", "-", "-", text)


def _named(one: MappedObject) -> str:
    if not one.events:
        return SHORT_SOURCES.get(one.files.source, "lines")
    for events, what in (
        (one.events_with_line, "lines"),
        (one.events_with_function, "functions"),
    ):
        if events:
            return (
                what if events == one.events else f"{what} {_share(events, one.events)}"
            )
    return "none"


def _table(rows: Sequence[tuple[str, ...]], width: int) -> Iterator[str]:
    """Align columns; the last takes what is left, and loses its middle if it must."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns[:-1]]
    # On a narrow terminal the columns go that the list of files has too.
    dropped: set[int] = set()
    for index in (5, 4, 3):
        room = (
            width
            - 2
            - sum(one + 2 for at, one in enumerate(widths) if at not in dropped)
        )
        if room < max(LEAST_PATH, min(40, max(map(len, columns[-1])))):
            dropped.add(index)
    room = (
        width - 2 - sum(one + 2 for at, one in enumerate(widths) if at not in dropped)
    )
    for row in rows:
        cells = []
        for index, (cell, column) in enumerate(zip(row, widths, strict=False)):
            if index not in dropped:
                left = index in {2, 5}
                cells.append(cell.ljust(column) if left else cell.rjust(column))
        cells.append(_shortened(row[-1], max(room, LEAST_PATH)))
        yield "  " + "  ".join(cells).rstrip()


def _shortened(text: str, room: int) -> str:
    if len(text) <= room:
        return text
    tail = (room - 1) * 2 // 3
    return text[: room - 1 - tail] + "…" + text[-tail:]


def _file_lines(
    report: DebugInfoReport, packages: Mapping[str, str], style: ReportStyle
) -> Iterator[str]:
    """Say once for each object where its names come from, or why there are none."""
    seen: dict[tuple[str, bytes | None], MappedObject] = {}
    for process in report.processes:
        for one in process.objects:
            if one.mapping.code is not None:
                # The trace itself has the names: there is no file to look for.
                continue
            if one.events or style.unused_objects:
                seen.setdefault((one.mapping.path, one.mapping.build_id), one)
    for one in sorted(seen.values(), key=needs_debug_file):
        yield from _object_lines(one, packages, style)
        yield ""


def _object_lines(
    one: MappedObject, packages: Mapping[str, str], style: ReportStyle
) -> Iterator[str]:
    build_id = one.mapping.build_id
    identity = "no build ID" if build_id is None else f"build ID {build_id.hex()}"
    yield f"{plain(one.mapping.path)} ({identity})"
    if one.names_from is not None:
        yield f"  names from {plain(one.names_from)}: {one.files.source.value}"
    elif one.mapping.kernel is not None:
        yield "  functions from the trace"
    else:
        yield "  no names"
    for reason, events in sorted(one.shortfalls.items()):
        yield f"  {count(events, 'event')}: {reason}"
    for problem in one.problems:
        yield f"  problem: {plain(problem)}"
    missing = needs_debug_file(one)
    if missing or one.shortfalls or style.attempts:
        for attempt in one.files.attempts:
            yield f"  tried {plain(str(attempt))}"
    command = command_for(one, packages) if missing else None
    if command is not None:
        yield f"  get it: {command}"


def json_text(report: DebugInfoReport, packages: Mapping[str, str]) -> str:
    """Write a report as JSON.

    Args:
        report: The report.
        packages: For paths on this machine the command that installs debug files.
    """
    return json.dumps(
        {
            "version": 1,
            "events": report.events,
            "events_without_address": report.events_without_address,
            "processes": [
                {
                    "trace": process.trace,
                    "vpid": process.vpid,
                    "name": process.name,
                    "events": process.events,
                    "objects": [_facts(one, packages) for one in process.objects],
                    "without_object": [
                        _absent_facts(process, one) for one in process.absent
                    ],
                }
                for process in report.processes
            ],
            "damage": [found._asdict() for found in report.damage],
        },
        indent=2,
    )


def _facts(one: MappedObject, packages: Mapping[str, str]) -> dict[str, Any]:
    mapping, link = one.mapping, one.mapping.debug_link
    return {
        "path": mapping.path,
        "base": mapping.base,
        "size": mapping.size,
        "build_id": None if mapping.build_id is None else mapping.build_id.hex(),
        "debug_link": None if link is None else {"name": link[0], "crc": link[1]},
        "events": one.events,
        "addresses": len(one.places),
        "events_with_function": one.events_with_function,
        "events_with_line": one.events_with_line,
        "shortfalls": one.shortfalls,
        "problems": one.problems,
        "source": one.files.source.name.lower(),
        "names_from": one.names_from,
        "attempts": [
            {
                "path": attempt.path,
                "kind": attempt.kind.name.lower(),
                "outcome": attempt.outcome.name.lower(),
                "detail": attempt.detail,
            }
            for attempt in one.files.attempts
        ],
        "command": command_for(one, packages) if needs_debug_file(one) else None,
    }


def _absent_facts(process: ProcessReport, one: AbsentObject) -> dict[str, Any]:
    return {
        "reason": one.absence.name.lower(),
        "events": one.events,
        "addresses": len(one.addresses),
        "advice": _advice(process, one) or None,
    }


def _share(part: int, whole: int) -> str:
    if not whole or part == whole:
        return "100 %" if whole else "0 %"
    # Neither all nor nothing is what is almost so.
    return f"{min(max(100 * part / whole, 0.1 if part else 0.0), 99.9):.1f} %"


def size(amount: int) -> str:
    """Write a number of bytes in the unit that suits it."""
    number = float(amount)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if number < KIBI:
            return f"{amount} B" if unit == "B" else f"{number:.1f} {unit}"
        number /= KIBI
    return f"{number:.1f} TiB"


def count(number: int, what: str) -> str:
    """Write a number of things."""
    plural = "es" if what.endswith(("s", "x")) else "s"
    return f"{number:,} {what}{'' if number == 1 else plural}"
