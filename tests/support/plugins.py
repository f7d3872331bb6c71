"""A program that loads plugins, for tests of what a recording knows of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import vestige
from support.compilers import PROGRAMS, run_tool

__all__ = ["Loads", "Plugins", "build_plugins", "follow"]

FLAGS = ("-gdwarf-4", "-O1", "-fno-inline", "-finstrument-functions")


@dataclass(frozen=True)
class Plugins:
    """Where the program and its plugins are."""

    program: Path
    alpha: Path
    bravo: Path
    charlie: Path
    secret: Path
    """Found only through the RUNPATH of ``libcaller.so``; needs ``depth``."""
    depth: Path
    """Found only through the RUNPATH of ``secret``."""
    broken: Path
    """Has an undefined symbol."""
    orphan: Path
    """Needs a library that is gone."""


def build_plugins(directory: Path) -> Plugins:
    """Compile the program and its plugins."""
    (directory / "lib" / "hidden" / "deep").mkdir(parents=True)
    hidden = directory / "lib" / "hidden"
    made = {
        name: _plugin(directory / f"{name}.so", name)
        for name in ("alpha", "bravo", "charlie")
    }
    depth = _plugin(hidden / "deep" / "libdepth.so", "depth")
    secret = _plugin(
        hidden / "libsecret.so", "secret", needs=depth, runpath="$ORIGIN/deep"
    )
    lost = _plugin(directory / "liblost.so", "lost")
    orphan = _plugin(directory / "orphan.so", "orphan", needs=lost)
    lost.unlink()
    broken = _plugin(directory / "broken.so", "broken", "-DDEPENDS=nobody")
    caller = directory / "lib" / "libcaller.so"
    _compile(caller, "caller", *_library(caller), "-Wl,-rpath,$ORIGIN/hidden")
    program = directory / "loading"
    _compile(
        program, "loading", "-rdynamic", "-pthread", caller, "-Wl,-rpath,$ORIGIN/lib"
    )
    return Plugins(
        program, **made, secret=secret, depth=depth, broken=broken, orphan=orphan
    )


def _plugin(
    path: Path, name: str, *flags: str, needs: Path | None = None, runpath: str = ""
) -> Path:
    more: list[str | Path] = [f"-DNAME={name}", *flags, *_library(path)]
    if needs is not None:
        more += [f"-DDEPENDS={needs.stem.removeprefix('lib')}", needs]
    if runpath:
        more.append(f"-Wl,--enable-new-dtags,-rpath,{runpath}")
    _compile(path, "plugin", *more)
    return path


def _library(path: Path) -> tuple[str, ...]:
    return "-shared", "-fPIC", f"-Wl,-soname,{path.name}"


def _compile(path: Path, source: str, *flags: str | Path) -> None:
    run_tool(["gcc", *FLAGS, "-o", path, PROGRAMS / f"{source}.c", *flags])


@dataclass
class Loads:
    """What a recording tells of the objects of its processes."""

    dumped: list[str] = field(default_factory=list)
    """The names of the objects that were there at the start, for each process."""
    log: list[str] = field(default_factory=list)
    """Loads, unloads and entries of functions, in the order of their times."""
    left: list[str] = field(default_factory=list)
    """The names of the objects that were loaded and not unloaded."""
    bases: dict[str, set[int]] = field(default_factory=dict)
    """Where each object was loaded."""
    places: set[tuple[str | None, str]] = field(default_factory=set)
    """The functions that were entered, with the names of their source files."""


def follow(trace: Path) -> Loads:
    """Read a recording, and check that what it tells of objects does not contradict itself.

    No object is loaded over another, none is unloaded that is not there, and no
    function runs that is in none.
    """
    found = Loads()
    there: dict[tuple[int, int], tuple[str, int]] = {}
    opened = vestige.open(trace)
    for event in opened:
        name = (event.name or "").removeprefix("lttng_ust_")
        fields = event.payload
        process = int(event.context["vpid"])
        if name == "statedump:start":
            for key in [key for key in there if key[0] == process]:
                del there[key]
        elif name in {"statedump:bin_info", "lib:load"}:
            base, size = int(fields["baddr"]), int(fields["memsz"])
            short = Path(fields["path"]).name
            for (other, start), (_, length) in there.items():
                overlaps = start < base + size and base < start + length
                assert other != process or not overlaps, f"{short} over another"
            there[process, base] = (short, size)
            if name == "lib:load":
                found.log.append(f"+{short}")
                found.bases.setdefault(short, set()).add(base)
            else:
                found.dumped.append(short)
        elif name == "lib:unload":
            short, _ = there.pop((process, int(fields["baddr"])))
            found.log.append(f"-{short}")
        elif name.endswith((":func_entry", ":func_exit")):
            address = int(event.context["ip"])
            place = event.debug_info
            assert place.function, hex(address)
            assert place.file, hex(address)
            assert place.line, hex(address)
            assert any(
                other == process and start <= address < start + length
                for (other, start), (_, length) in there.items()
            )
            if name.endswith("entry"):
                found.log.append(place.function)
                found.places.add((place.function, Path(place.file).name))
    assert not opened.damage
    found.left = sorted(
        short for short, _ in there.values() if f"+{short}" in found.log
    )
    return found
