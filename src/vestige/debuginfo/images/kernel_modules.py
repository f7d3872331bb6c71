"""The code of the kernel's modules, as a trace tells it.

Each section of a module is loaded somewhere else: that with its functions, that with
what is done once and then forgotten. So each section that has functions of the trace is
an object of its own. A module that is unloaded and loaded again has several of one
name; what a function belongs to is the last section that begins before it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Table

from ... import core
from ..._typing import NamedTuple
from ...units import Address
from .image import Mapping
from .kernel_functions import KernelCode, KernelFunction

__all__ = ["module_mappings"]


class _Module(NamedTuple):
    # A module, as it was loaded once.
    begin: int
    size: int
    build_id: bytes


def module_mappings(
    trace: core.TraceClass,
    functions: Table[str, Sequence[KernelFunction]],
    release: str,
) -> Iterator[Mapping]:
    """Yield the code of modules, and of what the kernel calls so, as objects.

    Args:
        trace: What tells where modules and their sections are.
        functions: The functions of each module, by their addresses.
        release: The release of the kernel.

    Yields:
        Objects that do not overlap.
    """
    modules: dict[str, list[_Module]] = {}
    for begin, size, name, build_id in trace.kernel_modules():
        modules.setdefault(name, []).append(_Module(begin, size, build_id))
    sections: dict[str, list[tuple[int, str]]] = {}
    for begin, name, module in sorted(trace.kernel_sections()):
        sections.setdefault(module, []).append((begin, name))
    for name, own in functions.items():
        loaded, places = modules.get(name, []), sections.get(name, [])
        for (base, section), group in _groups(own, loaded, places):
            code = KernelCode(group, release, section=section)
            yield Mapping(
                Address(base),
                group[-1].begin + group[-1].size - base,
                f"[{name}]",
                is_pic=True,
                build_id=_build_id(loaded, base),
                kernel=code,
            )


def _groups(
    functions: Sequence[KernelFunction],
    loaded: Sequence[_Module],
    sections: Sequence[tuple[int, str]],
) -> Iterator[tuple[tuple[int, str | None], list[KernelFunction]]]:
    """Yield functions with the begin and the name of what they are in."""
    found: dict[tuple[int, str | None], list[KernelFunction]] = {}
    begins = [begin for begin, _ in sections]
    for one in functions:
        index = bisect_right(begins, one.begin)
        # Programs of BPF and what traces functions: nobody tells where they begin.
        key: tuple[int, str | None] = (one.begin, None)
        if index:
            key = sections[index - 1]
        elif not sections and (its := _around(loaded, one.begin)):
            key = (its.begin, None)
        found.setdefault(key, []).append(one)
    yield from found.items()


def _around(loaded: Sequence[_Module], address: int) -> _Module | None:
    around = (one for one in loaded if 0 <= address - one.begin < one.size)
    return next(around, None)


def _build_id(loaded: Sequence[_Module], address: int) -> bytes | None:
    # What is done once is loaded elsewhere; then the latest module is as good as any.
    one = _around(loaded, address) or (loaded[-1] if loaded else None)
    return None if one is None else one.build_id or None
