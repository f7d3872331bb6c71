"""Refuse C that breaks the walls of the tracer, or of the control library.

Each folder of ``tracer`` and of ``control`` is a room. A room includes what is on the floors below it, and no
other; units include each other in no circle; a header declares what its own unit defines; a
function has no more lines than one can overlook.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
FLOORS = (
    # What both sides agree on, and what programs include.
    ("agreement", "include"),
    # What knows nothing of records: system calls, locks, texts, the process, the settings.
    ("base",),
    # The memory that is shared with the collector.
    ("arena",),
    # The data stream of a thread: chunks, records, contexts.
    ("stream",),
    # What is loaded where.
    ("objects",),
    # Which functions and which events are recorded.
    ("rules",),
    # Where programs come in; what starts it all.
    ("hooks",),
    # What LTTng-UST offers to programs; entries of functions that are rewritten.
    ("lttng", "patch"),
    # What programs link to find the tracer.
    ("link",),
    # Other libraries, and a program; they meet the tracer at run time.
    ("audit", "close", "cost", "helpers", "python"),
)
"""The rooms, from below; those on one floor do not know each other."""
CONTROL_FLOORS = (
    # What programs include.
    ("include",),
    # Lines of JSON there and back, errors, texts.
    ("protocol",),
    # What a session consists of.
    ("channels",),
    # Whole sessions: their life, their outputs, who records.
    ("sessions",),
    # What is done when something happens, and who is told.
    ("triggers",),
)
HOUSES = {"tracer": FLOORS, "control": CONTROL_FLOORS}
Floors = tuple[tuple[str, ...], ...]
MOST_LINES = 60
"""Of a function, with its head."""
OTHERS_NAMES = frozenset({"main", "snprintf", "vsnprintf"})
"""Functions that the C library declares."""

SPACE = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:.*\\\n)*.*$", re.MULTILINE)
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)(?=\s|;|$|\))")
INCLUDE = re.compile(
    r'^#include (?:"([^"]+)"|<((?:vestige|lttng)/[^>]+)>)', re.MULTILINE
)
NAME = re.compile(r"\b(\w+)\s*\(")


class Function(NamedTuple):
    """A function that is declared or defined.

    Attributes:
        name: Its name.
        line: Where it begins.
        head: All before its body, without attributes.
        lines: How many lines its definition has; 0 for a declaration.
    """

    name: str
    line: int
    head: str
    lines: int

    @property
    def is_static(self) -> bool:
        """Whether only its file can call it, or each file has one."""
        return re.search(r"\bstatic\b", self.head) is not None


class File(NamedTuple):
    """A source file.

    Attributes:
        house: The folder of all rooms, ``tracer`` or ``control``.
        path: Below that.
        text: What is in it.
        includes: Files below that folder that it includes.
        functions: What it declares and defines.
    """

    house: str
    path: PurePosixPath
    text: str
    includes: tuple[PurePosixPath, ...]
    functions: tuple[Function, ...]

    @property
    def room(self) -> str:
        """The folder."""
        return self.path.parts[0]

    @property
    def unit(self) -> str:
        """The room, and the name without its ending."""
        return str(self.path.with_suffix(""))


def blanked(text: str) -> str:
    """Return C without comments, texts and directives, with all lines where they were."""

    def blank(found: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", found[0])

    return DIRECTIVE.sub(blank, SPACE.sub(blank, text))


def functions_of(text: str) -> Iterator[Function]:
    """Yield what a file declares and defines outside of any braces."""
    code = blanked(text)
    begin, depth, head, opened = 0, 0, "", 0
    for found in re.finditer(r"[{};]", code):
        if found[0] == "{":
            if depth == 0:
                head, opened = code[begin : found.start()], begin
            depth += 1
            continue
        depth -= found[0] == "}"
        if depth:
            continue
        if found[0] == ";":
            head, opened = code[begin : found.start()], begin
        begin = found.end()
        skipped = len(head) - len(head.lstrip())
        line = code.count("\n", 0, opened + skipped) + 1
        last = code.count("\n", 0, found.start()) + 1
        name = function_name(head)
        if name:
            lines = last - line + 1 if found[0] == "}" else 0
            yield Function(name, line, head, lines)


def function_name(head: str) -> str | None:
    """Return the name of the function that something declares, if it is one."""
    plain = ATTRIBUTE.sub(" ", head)
    is_other = re.match(
        r"\s*(typedef|struct \w+\s*$|enum|union|_Static_assert|__asm__)", plain
    )
    found = NAME.search(plain)
    if found is None or is_other or "=" in plain[: found.start()]:
        return None
    # A pointer to a function, or what a macro makes.
    if not plain[: found.start()].strip() or plain[found.end() :].lstrip().startswith(
        "*"
    ):
        return None
    return found[1]


def read(tracer: Path, path: Path) -> File:
    """Read a source file."""
    text = path.read_text(encoding="utf-8")
    below = PurePosixPath(path.relative_to(tracer).as_posix())
    includes = []
    for near, public in INCLUDE.findall(text):
        target = (path.parent / near).resolve() if near else tracer / "include" / public
        if target.is_relative_to(tracer):
            includes.append(PurePosixPath(target.relative_to(tracer).as_posix()))
    return File(tracer.name, below, text, tuple(includes), tuple(functions_of(text)))


def climbs(files: Sequence[File], floors_of: Floors = FLOORS) -> Iterator[str]:
    """Yield each include that does not lead down."""
    floors = {room: floor for floor, rooms in enumerate(floors_of) for room in rooms}
    for file in files:
        if file.room not in floors:
            yield f"{file.house}/{file.path}: the room has no floor in tools/check_c.py"
            continue
        for target in file.includes:
            room = target.parts[0]
            if (
                room != file.room
                and floors.get(room, len(floors_of)) >= floors[file.room]
            ):
                yield f"{file.house}/{file.path}: includes {target}, which is not below"


def circles(files: Sequence[File]) -> Iterator[str]:
    """Yield a circle of units, if there is one."""
    graph: dict[str, set[str]] = {}
    for file in files:
        # Headers of programs include each other, and themselves, on purpose.
        if file.room == "include":
            continue
        targets = {str(target.with_suffix("")) for target in file.includes}
        graph.setdefault(file.unit, set()).update(targets - {file.unit})
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        yield f"{files[0].house}: units in a circle: {' -> '.join(reversed(error.args[1]))}"


def strangers(files: Sequence[File]) -> Iterator[str]:
    """Yield what is declared elsewhere than in the header of its unit."""
    by_path = {file.path: file for file in files}
    # What programs call is declared for them, whichever unit does it.
    public = frozenset(
        name
        for file in files
        if file.house == "control" and file.room == "include"
        for name in NAME.findall(blanked(file.text))
    )
    for file in files:
        if file.room in {"agreement", "include"}:
            continue
        is_header = file.path.suffix == ".h"
        twin = by_path.get(file.path.with_suffix(".c" if is_header else ".h"))
        if is_header:
            yield from misdeclared(file, twin)
        else:
            yield from undeclared(file, twin, public)


def misdeclared(header: File, source: File | None) -> Iterator[str]:
    """Yield what a header declares and its unit does not define."""
    defined = {
        one.name
        for file in (header, source)
        if file
        for one in file.functions
        if one.lines
    }
    for one in header.functions:
        if not one.lines and "weak" not in one.head and one.name not in defined:
            yield f"{header.house}/{header.path}:{one.line}: {one.name}() is of another unit"


def undeclared(
    source: File, header: File | None, public: frozenset[str] = frozenset()
) -> Iterator[str]:
    """Yield what a unit defines for others, and its header does not declare."""
    declared = {one.name for one in header.functions} if header else set()
    declared |= public
    for one in source.functions:
        if not one.lines or one.is_static or one.name in declared | OTHERS_NAMES:
            continue
        # What is exported is found by its name; what assembler calls is declared for it.
        own = rf"\b(EXPORTED|PyMODINIT_FUNC)\b[^;{{}}]*\b{one.name}\b|\b{one.name}\([^;{{}}]*\)\s+HIDDEN"
        if not re.search(own, source.text):
            yield f"{source.house}/{source.path}:{one.line}: {one.name}() is in no header of its unit"


def long_functions(files: Sequence[File]) -> Iterator[str]:
    """Yield each function that is too long."""
    for file in files:
        for one in file.functions:
            if one.lines > MOST_LINES:
                yield f"{file.house}/{file.path}:{one.line}: {one.name}() has {one.lines} lines, at most {MOST_LINES}"


def broken(root: Path) -> list[str]:
    """Return a line for each law that is broken."""
    lines: list[str] = []
    for name, floors in HOUSES.items():
        house = (root / name).resolve()
        files = [read(house, path) for path in sorted(house.rglob("*.[ch]"))]
        for law in (circles, strangers, long_functions):
            lines += law(files)
        lines[0:0] = climbs(files, floors)
    return lines


def main() -> int:
    """Print what is broken; return 1 if something is."""
    lines = broken(ROOT)
    for line in lines:
        print(line)
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
