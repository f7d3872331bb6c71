"""Addresses in modules of the kernel: lines from the file of that module."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path

import pytest

import vestige
from support.compilers import run_tool
from support.pretend_kernels import write_kernel_addresses
from support.pretend_modules import BUILD_ID, PretendModule
from support.vestige_command import vestige as run_vestige
from vestige.debuginfo import DebugInfoOptions

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the module is compiled for x86-64"
)
LOADED = {
    ".text": 0xFFFFFFFFC0100000,
    # What is done once is anywhere else, also below.
    ".init.text": 0xFFFFFFFFC0080000,
    ".exit.text": 0xFFFFFFFFC0100800,
}


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> PretendModule:
    """A module that is loaded."""
    return PretendModule.make(tmp_path_factory.mktemp("module"), LOADED)


def options(*folders: Path) -> DebugInfoOptions:
    """Look for files in some folders alone."""
    return DebugInfoOptions(debug_directories=folders)


def installed(module: PretendModule, folder: Path, *words: str) -> Path:
    """Put the module where distributions do, through a tool's standard output."""
    below = folder / "lib" / "modules" / "9.9.9-pretend" / "kernel" / "drivers"
    below.mkdir(parents=True)
    suffix = {"xz": ".xz", "zstd": ".zst", "gzip": ".gz"}.get(words[0], "")
    target = below / f"pretend-module.ko{suffix}"
    target.write_bytes(run_tool([*words, module.path]))
    return folder


def sites(module: PretendModule) -> list[int]:
    """Return each address of its functions."""
    return [
        address
        for begin, size in module.functions().values()
        for address in range(begin, begin + size)
    ]


@pytest.mark.parametrize(
    "words", [("cat",), ("xz", "-c"), ("zstd", "-qc"), ("gzip", "-c")]
)
def test_lines_come_from_the_file_of_that_module(
    module: PretendModule, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """In each section, wherever that is, with inlined calls; compressed or not."""
    try:
        folder = installed(module, tmp_path / "debug", *words)
    except subprocess.SubprocessError as error:  # pragma: no cover - no such tool
        pytest.skip(str(error))
    addresses = sites(module)
    # addr2line takes its time for each, and two of a section tell as much.
    asked = addresses if words == ("cat",) else addresses[::9]
    events = [("kmem_kmalloc", {"call_site": one}, ()) for one in asked]
    path = write_kernel_addresses(tmp_path / "t", module.environment(), events)
    functions = module.functions()
    seen = set()
    for event in vestige.open(path, debug_info=options(folder)):
        place, address = event.debug_info, event["call_site"]
        begin, size = functions[place.function]
        assert begin + place.offset == address
        assert place.offset < size
        levels = [(one.function, one.line) for one in place.frames]
        assert (levels or [(place.function, place.line)]) == module.chain(address)
        seen.add(place.function)
    assert seen == {"probe", "starts", "ends"}


@pytest.mark.parametrize("build_id", ["ab" * 20, "", "no digits"])
def test_another_module_of_that_name_gives_no_lines(
    module: PretendModule, tmp_path: Path, build_id: str
) -> None:
    """The trace tells functions all the same."""
    begin, _ = module.functions()["probe"]
    path = write_kernel_addresses(
        tmp_path / "t",
        module.environment(build_id=build_id),
        [("kmem_kmalloc", {"call_site": begin + 1}, ())],
    )
    [event] = vestige.open(path, debug_info=options(module.path.parent))
    place = event.debug_info
    assert (place.function, place.offset, place.line) == ("probe", 1, None)


@pytest.mark.parametrize(
    "sections", ["", f"{LOADED['.text']:x} .text.other pretend_module"]
)
def test_sections_that_are_not_told_have_functions(
    module: PretendModule, tmp_path: Path, sections: str
) -> None:
    """Such as in traces of a kernel that hides where they are."""
    begin, _ = module.functions()["probe"]
    path = write_kernel_addresses(
        tmp_path / "t",
        {**module.environment(), "kernel_sections_2": sections},
        [("kmem_kmalloc", {"call_site": begin + 1}, ())],
    )
    [event] = vestige.open(path, debug_info=options(module.path.parent))
    place = event.debug_info
    assert (place.function, place.line) == ("probe", None)


def test_a_module_that_is_loaded_again_is_elsewhere(
    module: PretendModule, tmp_path: Path
) -> None:
    """Both are known, each with its build ID."""
    again, told = 0xFFFFFFFFC0300000, module.environment()
    begin, size = module.functions()["probe"]
    moved = again + begin - LOADED[".text"]
    told["kernel_symbols_3"] = f"{moved:x} {size:x} probe pretend_module"
    told["kernel_modules_4"] = f"{again:x} 9000 pretend_module {'ab' * 20}"
    told["kernel_sections_5"] = f"{again:x} .text pretend_module"
    events = [("e", {"call_site": one + 2}, ()) for one in (begin, moved)]
    path = write_kernel_addresses(tmp_path / "t", told, events)
    opened = vestige.open(path, debug_info=options(module.path.parent))
    first, second = (event.debug_info for event in opened)
    assert (first.function, second.function) == ("probe", "probe")
    assert (first.offset, second.offset) == (2, 2)
    assert first.line is not None
    assert second.line is None


def test_symbols_can_be_packed(module: PretendModule, tmp_path: Path) -> None:
    """Lines of all sections are there without the file, functions of what is new."""
    functions = module.functions()
    (probe, _), (starts, _) = functions["probe"], functions["starts"]
    events = [
        ("kmem_kmalloc", {"call_site": one + 1}, (starts,)) for one in (probe, starts)
    ]
    path = write_kernel_addresses(tmp_path / "t", module.environment(), events)
    folder = f"--debug-info-dir={module.path.parent}"
    found = run_vestige("debuginfo", path, "--pack", folder)
    assert found.status == 0, found.stderr
    trace = vestige.open(path, debug_info=options(tmp_path / "empty"))
    for event in trace:
        place = event.debug_info
        [(name, line), *_] = module.chain(event["call_site"])
        levels = [(one.function, one.line) for one in place.frames]
        assert (levels or [(place.function, place.line)])[0] == (name, line)
        [stacked] = trace.kernel_places(event)
        assert (stacked.function, stacked.line) == ("starts", None)


def test_offsets_in_sections_are_looked_up(
    module: PretendModule, tmp_path: Path
) -> None:
    """Also in the debug file of a module, and by default in the first long section."""
    folder = installed(module, tmp_path / "debug", "xz", "-c")
    [packed] = folder.rglob("*.xz")
    loaded = module.functions()["starts"][0] + 3
    offset = f"{loaded - LOADED['.init.text']:#x}"
    lines = [f"{name}:{line}" for name, line in module.chain(loaded)]

    def levels(*words: str | Path) -> list[str]:
        text = run_vestige("symbolize", "-fi", *words).stdout.decode().splitlines()
        places = [one.rpartition(":")[2].split()[0] for one in text[1::2]]
        return [
            f"{name}:{place}" for name, place in zip(text[::2], places, strict=True)
        ]

    assert levels("-e", packed, "-j", ".init.text", offset) == lines
    stripped = tmp_path / "stripped.ko"
    run_tool(["strip", "-g", "-o", stripped, module.path])
    by_id = tmp_path / "debug" / ".build-id" / BUILD_ID[:2]
    by_id.mkdir(parents=True)
    kept = by_id / f"{BUILD_ID[2:]}.debug"
    run_tool(["objcopy", "--only-keep-debug", module.path, kept])
    words = ("-e", stripped, f"--debug-info-dir={folder}", "-j", ".init.text", offset)
    assert levels(*words) == lines
    probe = module.functions()["probe"][0]
    first = [f"{name}:{line}" for name, line in module.chain(probe + 1)]
    assert levels("-e", module.path, "1") == first


def test_what_is_in_no_section_has_no_name(module: PretendModule) -> None:
    """A wrong name of a section is an error that tells the right ones."""
    found = run_vestige("symbolize", "-v", "-e", module.path, "ffff")
    assert b"not an address of code" in found.stdout + found.stderr or (
        found.status == 0 and b"??" in found.stdout
    )
    found = run_vestige("symbolize", "-e", module.path, "-j", ".data", "0")
    assert found.status == 1
    message = "no section with code is called '.data': those are .text, .init.text"
    assert message in found.stderr.decode()
