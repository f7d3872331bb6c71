"""A module of the kernel, as one is built, and where its sections were loaded."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from .compilers import run_tool

__all__ = ["BUILD_ID", "PretendModule"]

_SOURCE = """\
extern int outside(int);
static int counter;
static inline __attribute__((always_inline)) int inlined(int value)
{
    return outside(value) + counter++;
}
int probe(int value)
{
    return inlined(value) * 3;
}
__attribute__((section(".init.text"))) int starts(int value)
{
    return outside(value) ? inlined(2) : 4;
}
__attribute__((section(".exit.text"))) void ends(void)
{
    counter = outside(counter);
}
"""
BUILD_ID = "cc" * 20
_FLAGS = ("-g", "-O2", "-c", "-mcmodel=kernel", "-fno-pic", "-fcf-protection=none")


class PretendModule(NamedTuple):
    """A relocatable object with a build ID, and the same code with addresses."""

    path: Path
    """The module, as the kernel loads it."""
    linked: Path
    """What addr2line can be asked of."""
    loaded: Mapping[str, int]
    """Where its sections are."""

    @classmethod
    def make(cls, folder: Path, loaded: Mapping[str, int]) -> PretendModule:
        """Compile it.

        Args:
            folder: Where its files are put.
            loaded: Where its sections are in memory.
        """
        (folder / "source.c").write_text(_SOURCE)
        (folder / "all.ld").write_text("SECTIONS { . = 0x400000; }")
        one, path, linked = (
            folder / name for name in ("one.o", "pretend-module.ko", "linked")
        )
        run_tool(["gcc", *_FLAGS, "-o", one, folder / "source.c"])
        run_tool(["ld", "-r", f"--build-id=0x{BUILD_ID}", "-o", path, one])
        words = ("--defsym=outside=0x10000", "-e", "probe", "-T", folder / "all.ld")
        run_tool(["ld", *words, "-o", linked, path])
        return cls(path, linked, loaded)

    def sections(self) -> dict[str, tuple[int, int]]:
        """Return linked address and size of each section that is loaded."""
        lines = run_tool(["readelf", "-SW", self.linked]).decode().splitlines()
        words = [line.partition("]")[2].split() for line in lines]
        return {
            one[0]: (int(one[2], 16), int(one[4], 16))
            for one in words
            if one and one[0] in self.loaded
        }

    def functions(self) -> dict[str, tuple[int, int]]:
        """Return begin and size of each function, where it is loaded."""
        lines = run_tool(["nm", "-S", self.linked]).decode().splitlines()
        words = [line.split() for line in lines]
        return {
            one[3]: (self._loaded(int(one[0], 16)), int(one[1], 16))
            for one in words
            if len(one) == 4 and one[2] in "tT"
        }

    def _loaded(self, address: int) -> int:
        [found] = [
            self.loaded[name] + address - begin
            for name, (begin, size) in self.sections().items()
            if begin <= address < begin + size
        ]
        return found

    def chain(self, address: int) -> list[tuple[str, int]]:
        """Return function and line of each level at a loaded address, as addr2line."""
        [linked] = [
            begin + address - self.loaded[name]
            for name, (begin, size) in self.sections().items()
            if 0 <= address - self.loaded[name] < size
        ]
        asked = ("-f", "-i", "-e", self.linked, f"{linked:#x}")
        lines = run_tool(["addr2line", *asked]).decode().splitlines()
        places = [one.rpartition(":")[2].split()[0] for one in lines[1::2]]
        return list(zip(lines[::2], map(int, places), strict=True))

    def environment(self, *, build_id: str = BUILD_ID) -> dict[str, str]:
        """Return what a recording tells of it."""
        functions = [
            f"{begin:x} {size:x} {name} pretend_module"
            for name, (begin, size) in self.functions().items()
        ]
        sections = [
            f"{begin:x} {name} pretend_module" for name, begin in self.loaded.items()
        ]
        begin = self.loaded[".text"]
        return {
            "domain": "kernel",
            "kernel_release": "9.9.9-pretend",
            "kernel_symbols_0": ";".join(functions),
            "kernel_modules_1": f"{begin:x} 9000 pretend_module {build_id}",
            "kernel_sections_2": ";".join(sections),
        }
