"""A file that is laid out as that of a kernel, and traces at its addresses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from vestige import ctf

from .compilers import run_tool

__all__ = ["PretendKernel", "write_kernel_addresses"]

_SOURCE = """\
int counter;
void __attribute__((noinline)) innermost(void)
{
    counter++;
}
void __attribute__((noinline)) middle(void)
{
    innermost();
    counter++;
}
void _start(void)
{
    middle();
    counter++;
}
"""
_TEXT = 0xFFFFFFFF81000000
BUILD_ID = "aa" * 20
FLAGS = (
    *("-g", "-O1", "-mcmodel=kernel", "-fno-pic", "-no-pie", "-nostdlib", "-static"),
    *("-fcf-protection=none", "-fno-optimize-sibling-calls"),
    *(f"-Wl,-Ttext={_TEXT:#x}", f"-Wl,--build-id=0x{BUILD_ID}"),
)


class PretendKernel(NamedTuple):
    """A program that is linked to where kernels are, and loaded elsewhere."""

    path: Path
    bias: int
    """What is added to the addresses of the file."""

    @classmethod
    def make(cls, folder: Path, bias: int) -> PretendKernel:
        """Compile it; the lowest of its segments is no code."""
        source = folder / "kernel.c"
        source.write_text(_SOURCE)
        path = folder / "vmlinux"
        run_tool(["gcc", *FLAGS, "-o", path, source])
        return cls(path, bias)

    def functions(self) -> dict[str, tuple[int, int]]:
        """Return begin and size of each function, where it is loaded."""
        lines = run_tool(["nm", "-S", self.path]).decode().splitlines()
        words = (line.split() for line in lines)
        return {
            one[3]: (int(one[0], 16) + self.bias, int(one[1], 16))
            for one in words
            if len(one) == 4 and one[2] in "tT"
        }

    def line_of(self, address: int) -> tuple[str, int]:
        """Return file and line of a loaded address, as addr2line knows them."""
        place = f"{address - self.bias:#x}"
        text = run_tool(["addr2line", "-e", self.path, place]).decode()
        path, _, line = text.strip().partition(":")
        return Path(path).name, int(line.split()[0])

    def environment(self, *, build_id: str = BUILD_ID) -> dict[str, str]:
        """Return what a recording tells of it."""
        entries = [
            f"{begin:x} {size:x} {name}"
            for name, (begin, size) in self.functions().items()
        ]
        return {
            "domain": "kernel",
            "kernel_release": "9.9.9-pretend",
            "kernel_build_id": build_id,
            "kernel_text": f"{_TEXT + self.bias:#x}",
            "kernel_symbols_0": ";".join(entries),
        }


def write_kernel_addresses(
    path: Path,
    environment: dict[str, str],
    events: Iterable[tuple[str, dict[str, int], Sequence[int]]],
) -> Path:
    """Write a trace of a kernel.

    Args:
        path: Its directory.
        environment: What it tells of the kernel.
        events: Names, addresses in the payload, call stacks.
    """
    address = ctf.integer(64, base=16)
    with ctf.Writer(
        path,
        environment=environment,
        packet_context={"cpu_id": "u32"},
        event_context={"tid": "s32", "callstack_kernel": ctf.array(address)},
    ) as writer:
        stream = writer.stream("channel0_0", cpu_id=0)
        for time, (name, fields, stack) in enumerate(events):
            kind = writer.event_class(f"{name}_{time}", dict.fromkeys(fields, address))
            context = {"tid": 7, "callstack_kernel": [*stack]}
            stream.write(kind, time, context, **fields)
    return path
