"""Probes: events of the kernel that are made for places in programs and in the kernel.

They are defined in ``uprobe_events`` and ``kprobe_events``, for all instances of the
machine (Linux, ``Documentation/trace/uprobetracer.rst`` and ``kprobetrace.rst``). So
their group says who made them, and whoever starts removes those of the dead. Fields
have the names that LTTng gives them: ``ip``; of functions ``parent_ip``, too.
"""

from __future__ import annotations

import itertools
import os
import re
from contextlib import suppress

from ...._typing import TYPE_CHECKING, NamedTuple
from ....errors import RecordError
from ...process_stat import stat_words
from .formats import EventFormat, read_format
from .tracefs import STARTED, NoKernelTracerError, is_running_since

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from ....inspect.probe_places import ProbedFile
    from .tracefs import Tracefs

__all__ = [
    "PREFIX",
    "Definition",
    "Probes",
    "definitions",
    "remove_abandoned",
]

PREFIX = "vestige_"
"""How the names of our groups begin."""
PROGRAMS, KERNEL = "uprobe_events", "kprobe_events"
"""The files where probes are defined."""
_NAMES = {
    "__probe_ip": "ip",
    "__probe_func": "ip",
    "__probe_ret_ip": "parent_ip",
    "parent_ip": "parent_ip",
}
"""What LTTng calls the fields."""
_RETURN_ADDRESS = {"x86_64": "$stack0", "aarch64": "%x30"}
"""Where a function has its return address when it begins."""
_OURS = re.compile(rf"[pr]\d*:({PREFIX}(\d+)_(\d+)/\w+) ")
_ERROR = re.compile(r"error: (.*)\n\s*Command: (.*)")
_SYMBOLS, _MODULES = "/proc/kallsyms", "/proc/modules"
_numbers = itertools.count()


class Definition(NamedTuple):
    """A line that defines a probe."""

    kind: str
    """``p``, or ``r``: where a function returns."""

    place: str
    suffix: str = ""
    """What is added to the name of the event."""

    fields: str = ""

    def line(self, name: str) -> str:
        """Return the line.

        Args:
            name: Group and name of the event.
        """
        return f"{self.kind}:{name} {self.place} {self.fields}".rstrip()


class Probes:
    """The probes of a recorder; they are gone when it is closed.

    Args:
        tracefs: Where they are made.
    """

    def __init__(self, tracefs: Tracefs) -> None:
        self._tracefs = tracefs
        started = stat_words(os.getpid())[STARTED]
        self._group = f"{PREFIX}{os.getpid()}_{started}"
        self._made: dict[str, str] = {}
        self.names: dict[int, str] = {}
        """What the events are called in the trace, by their IDs."""

    def add(
        self, kind: str, location: Mapping[str, Any], name: str
    ) -> list[EventFormat]:
        """Make the probes of a rule.

        Args:
            kind: ``probe``, ``function`` or ``userspace-probe``.
            location: Where, as the words of a command line are parsed.
            name: What their event is called.

        Returns:
            Its event; of a function two, for its entry and its exit.

        Raises:
            NoKernelTracerError: It cannot be had; the text says why.
        """
        if not _is_name(name):
            raise NoKernelTracerError(f"no probe {name!r}: expected another name")
        if kind != "userspace-probe":
            _check_code(location, name)
            # Of several probes at a place, the kernel asks the newest first. One that
            # waits for a function to return replaces the caller's address by its own.
            made = [
                self._add(KERNEL, [one], name + one.suffix)
                for one in reversed(definitions(kind, location))
            ]
            return made[::-1]
        with _opened(location) as (file, places):
            # By a name that the kernel can read, whatever the file is called; and it is
            # the file whose symbols were read.
            path = f"/proc/self/fd/{file.descriptor}"
            lines = [Definition("p", f"{path}:{one}") for one in places]
            return [self._add(PROGRAMS, lines, name)]

    def _add(self, file: str, lines: list[Definition], name: str) -> EventFormat:
        """Define one event, which may be at several places."""
        own = f"p{next(_numbers)}"
        for one in lines:
            line = one.line(f"{self._group}/{own}")
            try:
                self._tracefs.write(file, line + "\n", is_added=True)
            except OSError as error:
                raise NoKernelTracerError(
                    f"no probe {name}: {self._why(file, line, error)}"
                ) from error
            self._made[own] = file
        text = self._tracefs.read(f"events/{self._group}/{own}/format")
        found = read_format(self._group, own, text)
        fields = tuple(
            one._replace(name=_NAMES.get(one.name, one.name)) for one in found.fields
        )
        self.names[found.id] = name
        return found._replace(fields=fields)

    def _why(self, file: str, line: str, error: OSError) -> str:
        if isinstance(error, FileNotFoundError) and not _is_there(self._tracefs, file):
            return _no_probes(file)
        with suppress(OSError):
            for reason, command in _ERROR.findall(self._tracefs.read("error_log")):
                if command.strip() == line:
                    return f"the kernel refuses it: {reason}"
        return f"the kernel refuses it: {error.strerror}"

    def close(self) -> None:
        """Remove them; no instance may record them any more."""
        for own, file in self._made.items():
            with suppress(OSError):
                self._tracefs.write(file, f"-:{self._group}/{own}\n", is_added=True)
        self._made = {}


def definitions(kind: str, location: Mapping[str, Any]) -> list[Definition]:
    """Return what defines probes in the kernel.

    Args:
        kind: ``probe`` or ``function``.
        location: A symbol and an offset, or an address.

    Raises:
        NoKernelTracerError: Nobody knows how on this machine.
    """
    if location["type"] == "address":
        place = f"{location['address']:#x}"
    else:
        offset = location.get("offset", 0)
        place = location["name"] + (f"+{offset}" if offset else "")
    if not re.fullmatch(r"[\w.:$+]+", place):
        raise NoKernelTracerError(f"'{place}': expected a symbol of the kernel")
    if kind == "probe":
        return [Definition("p", place)]
    caller = _RETURN_ADDRESS.get(os.uname().machine)
    if caller is None:
        raise NoKernelTracerError(f"{place}: no functions on this kind of machine")
    return [
        Definition("p", place, "_entry", f"parent_ip={caller}"),
        Definition("r", place, "_exit"),
    ]


class _opened:  # noqa: N801 - it is called as a function is
    """Open a file and find the places of a rule, for a ``with`` block."""

    def __init__(self, location: Mapping[str, Any]) -> None:
        self._location = location
        self._file: ProbedFile | None = None

    def __enter__(self) -> tuple[ProbedFile, list[str]]:
        try:
            # Few recordings have probes.
            from ....inspect.probe_places import (  # noqa: PLC0415 - see above
                ProbedFile,
            )

            self._file = ProbedFile(self._location["path"])
            places = self._file.places(self._location)
        except RecordError as error:
            self.__exit__()
            raise NoKernelTracerError(str(error)) from error
        texts = [
            f"{one.offset:#x}({one.counter:#x})" if one.counter else f"{one.offset:#x}"
            for one in places
        ]
        return self._file, texts

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()


def _check_code(location: Mapping[str, Any], name: str) -> None:
    """Refuse an address where the kernel has no code.

    Newer kernels (seen: 6.1) take it, and wait for a module to be loaded there.

    Raises:
        NoKernelTracerError: It has none there.
    """
    if location["type"] != "address":
        return
    address = location["address"]
    if not any(begin <= address < end for begin, end in _code()):
        raise NoKernelTracerError(f"no probe {name}: no code at {address:#x}")


def _code() -> Iterator[tuple[int, int]]:
    """Yield where code of the kernel and of its modules begins and ends.

    What cannot be read is taken to be everywhere: then the kernel decides.
    """
    edges = {}
    with suppress(OSError), open(_SYMBOLS, encoding="ascii") as file:
        for line in file:
            if line.endswith((" _stext\n", " _etext\n")):
                address, _, symbol = line.split()
                edges[symbol] = int(address, 16)
    begin, end = edges.get("_stext", 0), edges.get("_etext", 0)
    yield (begin, end) if end else (0, 1 << 64)
    with suppress(OSError), open(_MODULES, encoding="ascii") as file:
        for line in file:
            _, size, *_, at = line.split(" (", 1)[0].split()
            yield int(at, 16), int(at, 16) + int(size)


def _no_probes(file: str) -> str:
    what = "programs" if file == PROGRAMS else "itself"
    return f"this kernel can have no probes in {what} (CONFIG_{file.upper()} is off)"


def remove_abandoned(tracefs: Tracefs) -> list[str]:
    """Remove the probes of recorders that are dead.

    Args:
        tracefs: Where they are.

    Returns:
        Their groups and names.
    """
    removed = []
    for file in (PROGRAMS, KERNEL):
        for name, process, started in _abandoned(tracefs, file):
            if not is_running_since(int(process), started):
                # One that is used stays: the kernel refuses it.
                with suppress(OSError):
                    tracefs.write(file, f"-:{name}\n", is_added=True)
                    removed.append(name)
    return removed


def _abandoned(tracefs: Tracefs, file: str) -> Iterator[tuple[str, str, str]]:
    try:
        text = tracefs.read(file)
    except OSError:
        return
    seen = set()
    for line in text.splitlines():
        found = _OURS.match(line)
        # A probe at several places has several lines.
        if found is not None and found[1] not in seen:
            seen.add(found[1])
            yield found[1], found[2], found[3]


def _is_name(text: str) -> bool:
    """Tell whether metadata can have a name as it is."""
    return bool(text) and text.isprintable() and not {'"', "\\"} & {*text}


def _is_there(tracefs: Tracefs, path: str) -> bool:
    try:
        os.close(tracefs.open(path, os.O_PATH))
    except OSError:
        return False
    return True
