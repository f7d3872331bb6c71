"""`vestige convert --debug-info` gives the function and line that addr2line gives."""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from support.catalogue import Recordings
from support.compilers import (
    run_tool,
    split_by_build_id,
    split_by_debug_link,
    split_debug_file,
)
from support.lttng import DEBUG_INFO_CONTEXTS, STATE_DUMP_EVENTS, Channel, Program
from support.peers import Frame, addr2line
from support.recipes import Recording, Workshop
from support.text_events import (
    DebugInfo,
    Mapping,
    PrintedEvent,
    ProcessImages,
    iter_events,
)
from support.vestige_command import comparing_peer_with_itself, convert

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("addr2line_peer"),
    pytest.mark.skipif(
        comparing_peer_with_itself(),
        reason="Babeltrace 2 leaves many of these fields empty",
    ),
]

TRACEPOINT_MACHINERY = re.compile(r"(lttng_ust_|__)tracepoint_cb_")
PROVIDER_HEADER = re.compile(r"_tp\.h:\d+$")
CLONE_SUFFIX = re.compile(
    r" \[clone [^]]*\]| \(\.[\w.]+\)|\.(cold|isra|part|constprop)[.\d]*$"
)
SHORT = "short"
FULL = "full"


@dataclass(frozen=True)
class Resolved:
    """An event whose `ip` lies in one of our binaries, and where it lies."""

    event: PrintedEvent
    mapping: Mapping
    debug_info: DebugInfo

    @property
    def address(self) -> int:
        """Return the address within the binary."""
        return self.mapping.address(self.event.ip)


def resolved_events(recording: Recording, *options: str) -> list[Resolved]:
    """Return the events in our own binaries with the debug info that Vestige prints."""
    printed = convert(recording.trace, "--debug-info", *options)
    assert printed.status == 0, printed.stderr.decode(errors="replace")
    ours = {path.resolve() for path in recording.binaries}
    images = ProcessImages()
    found = []
    for event in iter_events(printed.stdout):
        images.apply(event)
        mapping = images.find(event)
        if mapping is not None and mapping.path in ours:
            assert event.debug_info is not None
            found.append(Resolved(event, mapping, event.debug_info))
    assert found, "the recording has no event in its own binaries"
    return found


def expected_source(frames: list[Frame], style: str = SHORT) -> str:
    """Return the innermost place that is not inlined tracepoint machinery."""
    inlined, outermost = frames[:-1], frames[-1]
    location = next((f for f in inlined if not is_machinery(f)), outermost).location
    if location.startswith("??") or location.endswith((":?", ":0")):
        return ""
    return location if style == FULL else location.rpartition("/")[2]


def expected_function(frames: list[Frame]) -> str:
    """Return the name of the function that is really there, not inlined."""
    name = CLONE_SUFFIX.sub("", frames[-1].function)
    return "" if name == "??" else name


def is_machinery(frame: Frame) -> bool:
    """Tell whether an inlined frame is LTTng's, expanded from a provider's header.

    For C++ addr2line puts the ELF symbol in the place of the innermost function's name,
    so the header counts as well as the name.
    """
    return bool(
        TRACEPOINT_MACHINERY.match(frame.function)
        or PROVIDER_HEADER.search(frame.location)
    )


@cache
def function_symbols(binary: Path) -> dict[int, set[str]]:
    """Return the demangled names of the functions that start at each address."""
    names: dict[int, set[str]] = defaultdict(set)
    for line in run_tool(["nm", "-C", "--defined-only", binary]).decode().splitlines():
        address, kind, name = line.split(" ", 2)
        if kind in "tTwWi":
            names[int(address, 16)].add(CLONE_SUFFIX.sub("", name))
    return names


def covering_names(binary: Path, address: int) -> set[str]:
    """Return the names of the ELF symbol that covers an address.

    GCC gives no linkage name to functions that are local to a file; DWARF then has
    `operator()` where the symbol has the whole name. Either is right.
    """
    symbols = function_symbols(binary)
    return symbols[max(start for start in symbols if start <= address)]


SYMBOLIZERS = ("addr2line", "llvm-addr2line")
"""The peers: an answer must be that of one of them.

addr2line of Binutils 2.40 misses inlined functions in the DWARF 5 of Clang, and takes the
file of a line program that never sets one from the unit instead of the table; LLVM's does
neither.
"""


def assert_like_addr2line(
    found: list[Resolved],
    unstripped: dict[Path, Path] | None = None,
    style: str = SHORT,
) -> None:
    """Compare function and source line of each event, all differences in one message."""
    by_binary: dict[Path, list[Resolved]] = defaultdict(list)
    for resolved in found:
        by_binary[resolved.mapping.path].append(resolved)
    wrong: set[str] = set()
    for path, events in by_binary.items():
        binary = (unstripped or {}).get(path, path)
        addresses = [resolved.address for resolved in events]
        peers = [
            addr2line(binary, addresses, tool)
            for tool in SYMBOLIZERS
            if shutil.which(tool)
        ]
        for resolved in events:
            answers = [
                _differences(resolved, frames[resolved.address], binary, style)
                for frames in peers
            ]
            if all(answers):
                wrong |= answers[0]
    assert not wrong, "\n".join(sorted(wrong))


def _differences(
    resolved: Resolved, frames: list[Frame], binary: Path, style: str
) -> set[str]:
    actual, address = resolved.debug_info, resolved.address
    name, _, offset = actual.func.rpartition("+")
    where = f"{binary.name} {address:#x}"
    wrong = set()
    expected = expected_function(frames)
    if name != expected and name not in covering_names(binary, address):
        wrong.add(f"{where}: function {expected!r} expected, not {name!r}")
    elif name and address - int(offset, 16) not in function_symbols(binary):
        wrong.add(f"{where}: {name} does not start {offset} before")
    if (source := expected_source(frames, style)) != actual.src:
        wrong.add(f"{where}: line {source!r} expected, not {actual.src!r}")
    return wrong


@pytest.mark.parametrize(
    "name", ["shapes", "functions", "functions-fast", "forking", "toolchains"]
)
def test_resolves_functions_and_lines(recordings: Recordings, name: str) -> None:
    """Every event in our binaries has addr2line's function and source line."""
    assert_like_addr2line(resolved_events(recordings(name)))


def test_gives_full_paths(recordings: Recordings) -> None:
    """With --debug-info-full-path, binaries and sources have their directories."""
    found = resolved_events(recordings("shapes"), "--debug-info-full-path")
    assert_like_addr2line(found, style=FULL)
    expected = {f"{r.mapping.path}+{r.address:#x}" for r in found}
    assert {r.debug_info.bin for r in found} == expected


def test_names_the_binary_and_the_offset_in_it(recordings: Recordings) -> None:
    """`bin` is the file's name and the distance from where it is loaded."""
    found = resolved_events(recordings("shapes"))
    expected = {f"{r.mapping.path.name}+{r.address:#x}" for r in found}
    assert {r.debug_info.bin for r in found} == expected


def test_renames_the_field(recordings: Recordings) -> None:
    """With --debug-info-field-name the structure has that name."""
    found = resolved_events(recordings("shapes"), "--debug-info-field-name=place")
    assert {r.debug_info.field for r in found} == {"place"}


def test_follows_libraries_that_share_a_base_address(recordings: Recordings) -> None:
    """After dlclose and dlopen at the same base, events belong to the library loaded then."""
    found = resolved_events(recordings("reload"))
    inside = [r for r in found if r.event.name == "reload:inside"]
    assert len({r.mapping.base for r in inside}) == 1
    seen = set()
    for resolved in inside:
        library = re.search(r'library = "(\w+)"', resolved.event.rest)
        assert library is not None
        info = resolved.debug_info
        seen.add((library[1], info.bin.partition("+")[0], info.src.partition(":")[0]))
    assert seen == {
        ("alpha", "libalpha.so", "reload_alpha.c"),
        ("bravo", "libbravo.so", "reload_bravo.c"),
    }
    assert_like_addr2line(found)


@pytest.fixture(scope="module")
def stripped(workshop: Workshop) -> Stripped:
    """The same program stripped in several ways, recorded together."""
    return Stripped.record(workshop)


@dataclass(frozen=True)
class Stripped:
    """Stripped programs, their debug files, and unstripped copies for addr2line."""

    recording: Recording
    unstripped: dict[Path, Path]
    debug_directory: Path

    @classmethod
    def record(cls, workshop: Workshop) -> Stripped:
        """Build one program a way of finding its debug file, and record all."""
        directory = workshop.directory / "stripped"
        debug_directory = directory / "debug"
        programs = {way: directory / way / f"by-{way}" for way in _WAYS}
        unstripped: dict[Path, Path] = {}
        for number, (way, program) in enumerate(programs.items()):
            # The run path makes each program's build ID another one.
            distinct = [f"-Wl,-rpath,/nowhere/{number}"]
            built = workshop.toolchain.build_program(
                "greeting", program.parent, distinct
            )
            built.rename(program)
            unstripped[program] = directory / "unstripped" / program.name
            unstripped[program].parent.mkdir(exist_ok=True)
            shutil.copy(program, unstripped[program])
            _strip(way, program, debug_directory)
        runs = [Program([program, "argument"]) for program in programs.values()]
        events = ["greeting:*", *STATE_DUMP_EVENTS]
        channel = Channel(contexts=DEBUG_INFO_CONTEXTS, events=events)
        trace = workshop.record("stripped-trace", runs, [channel])
        return cls(
            Recording(trace, list(programs.values())), unstripped, debug_directory
        )

    def events(self, way: str, *options: str) -> list[Resolved]:
        """Return the events of the program that was stripped this way."""
        found = resolved_events(self.recording, *options)
        return [r for r in found if r.mapping.path.name == f"by-{way}"]


_WAYS = (
    "build-id",
    "link-beside",
    "link-dot-debug",
    "link-global",
    "wrong-crc",
    "nothing",
)
_FOUND_WAYS = _WAYS[:4]


def _strip(way: str, program: Path, debug_directory: Path) -> None:
    beside = program.parent
    mirrored = debug_directory / program.parent.relative_to("/")
    if way == "build-id":
        split_by_build_id(program, debug_directory)
    elif way == "nothing":
        split_debug_file(program, beside / "elsewhere" / "lost.debug")
    else:
        places = {"link-dot-debug": beside / ".debug", "link-global": mirrored}
        debug_file = split_by_debug_link(program, places.get(way, beside))
        if way == "wrong-crc":
            debug_file.write_bytes(debug_file.read_bytes() + b"changed")


@pytest.mark.parametrize("way", _FOUND_WAYS)
def test_finds_separate_debug_files(stripped: Stripped, way: str) -> None:
    """Stripped programs resolve by build ID and by debug link in its three places."""
    found = stripped.events(way, f"--debug-info-dir={stripped.debug_directory}")
    assert_like_addr2line(found, stripped.unstripped)


def test_searches_several_debug_directories(stripped: Stripped, tmp_path: Path) -> None:
    """Directories joined by colons are searched one after another."""
    directories = f"{tmp_path}:{stripped.debug_directory}"
    found = stripped.events("build-id", f"--debug-info-dir={directories}")
    assert_like_addr2line(found, stripped.unstripped)


@pytest.mark.parametrize("way", ["wrong-crc", "nothing"])
def test_does_not_use_a_debug_file_that_does_not_belong(
    stripped: Stripped, way: str
) -> None:
    """With a wrong checksum, or without any debug file, only the binary is named."""
    found = stripped.events(way, f"--debug-info-dir={stripped.debug_directory}")
    assert all(r.debug_info.bin.startswith(f"by-{way}+0x") for r in found)
    assert {r.debug_info.src for r in found} == {""}


def test_looks_below_the_target_prefix(stripped: Stripped, tmp_path: Path) -> None:
    """Binaries are taken from the target prefix, and only from there."""
    way = "link-dot-debug"
    program = next(p for p in stripped.recording.binaries if p.name == f"by-{way}")
    copied = tmp_path / program.parent.relative_to("/")
    shutil.copytree(program.parent, copied)
    prefix = f"--debug-info-target-prefix={tmp_path}"
    assert_like_addr2line(stripped.events(way, prefix), stripped.unstripped)
    absent = stripped.events("link-beside", prefix)
    assert {r.debug_info.src for r in absent} == {""}


def test_does_not_use_a_binary_of_another_build(
    stripped: Stripped, tmp_path: Path
) -> None:
    """When the recorded build ID is not the file's, the file is not used at all."""
    way = "build-id"
    program = next(p for p in stripped.recording.binaries if p.name == f"by-{way}")
    copied = tmp_path / program.parent.relative_to("/")
    copied.mkdir(parents=True)
    shutil.copy("/bin/true", copied / program.name)
    prefix = f"--debug-info-target-prefix={tmp_path}"
    found = stripped.events(way, prefix, f"--debug-info-dir={tmp_path / 'empty'}")
    assert {(r.debug_info.func, r.debug_info.src) for r in found} == {("", "")}
