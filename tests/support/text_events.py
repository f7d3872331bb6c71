"""Reading back what `babeltrace2` and `vestige convert` print, as far as the tests need it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_EVENT = re.compile(
    r"^\[[^]]*\] \([^)]*\) (?:\S+ )?(?P<name>[\w]+:[\w]+): .*?"
    r"ip = (?P<ip>\d+), vpid = (?P<vpid>\d+)(?P<rest>.*)$"
)
_DEBUG_INFO = re.compile(
    r'(?P<field>\w+) = \{ bin = "(?P<bin>[^"]*)", func = "(?P<func>[^"]*)", '
    r'src = "(?P<src>[^"]*)" \}'
)
_MAPPED = re.compile(r'baddr = (0x[0-9A-F]+), memsz = (\d+), .*?path = "([^"]*)"')
_UNMAPPED = re.compile(r"baddr = (0x[0-9A-F]+)")

_LOADS = ("lttng_ust_statedump:bin_info", "lttng_ust_lib:load")
_UNLOADS = ("lttng_ust_lib:unload",)


@dataclass(frozen=True)
class DebugInfo:
    """The three strings of the `debug_info` structure."""

    bin: str
    func: str
    src: str
    field: str = "debug_info"


@dataclass(frozen=True)
class PrintedEvent:
    """An event with the contexts `ip` and `vpid`."""

    name: str
    ip: int
    vpid: int
    rest: str

    @property
    def debug_info(self) -> DebugInfo | None:
        """Return the debug-info structure, if the event has one."""
        found = _DEBUG_INFO.search(self.rest)
        if found is None:
            return None
        return DebugInfo(found["bin"], found["func"], found["src"], found["field"])

    @property
    def is_state(self) -> bool:
        """Tell whether LTTng-UST itself emitted the event."""
        return self.name.startswith("lttng_ust")


@dataclass(frozen=True)
class Mapping:
    """A binary in the memory of a process."""

    base: int
    size: int
    path: Path
    is_pic: bool

    def address(self, ip: int) -> int:
        """Return the address that the binary's own tables use for `ip`."""
        return ip - self.base if self.is_pic else ip


@dataclass
class ProcessImages:
    """What is mapped where, process by process, as events are read in order.

    Deliberately simple and independent of Vestige: it is what the answers are checked with.
    """

    _mapped: dict[int, dict[int, Mapping]] = field(default_factory=dict)

    def apply(self, event: PrintedEvent) -> None:
        """Follow a load, an unload or the start of a state dump."""
        images = self._mapped.setdefault(event.vpid, {})
        if event.name == "lttng_ust_statedump:start":
            images.clear()
        elif event.name in _LOADS and (found := _MAPPED.search(event.rest)):
            base, size = int(found[1], 16), int(found[2])
            is_pic = "is_pic = 0" not in event.rest
            images[base] = Mapping(base, size, Path(found[3]), is_pic)
        elif event.name in _UNLOADS and (found := _UNMAPPED.search(event.rest)):
            images.pop(int(found[1], 16), None)

    def find(self, event: PrintedEvent) -> Mapping | None:
        """Return the binary that the event's `ip` lies in."""
        for mapping in self._mapped.get(event.vpid, {}).values():
            if mapping.base <= event.ip < mapping.base + mapping.size:
                return mapping
        return None


def iter_events(text: bytes) -> Iterator[PrintedEvent]:
    """Yield the events that have the contexts `ip` and `vpid`, in order."""
    for line in text.decode(errors="replace").splitlines():
        if found := _EVENT.match(line):
            yield PrintedEvent(
                found["name"], int(found["ip"]), int(found["vpid"]), found["rest"]
            )
