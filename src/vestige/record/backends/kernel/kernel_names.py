"""Names for the addresses of the kernel's code that a trace has.

They are entries of the trace's environment, in blocks behind the metadata that are
there: so they are where the trace is, whatever is done with it. A trace has those of
its own addresses only. ``/proc/kallsyms`` and ``/proc/modules`` show addresses to whom
the kernel lets see them when the files are opened (Linux, ``kallsyms_show_value``), so
the process that has the rights opens them, and the one that reads has them from it.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from contextlib import suppress

from ...._typing import TYPE_CHECKING, NamedTuple
from ....inspect.build_id import build_id_of_notes
from ..._kernel import kernel_functions, kernel_symbol
from ..environment_text import environment_block
from .module_sections import loaded_modules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["KernelNames", "NameFiles", "kernel_identity", "lowest_code"]

_SYMBOLS = "/proc/kallsyms"
_MODULES = "/proc/modules"
_NOTES = "/sys/kernel/notes"
_MODULE_NOTE = "/sys/module/{}/notes/.note.gnu.build-id"
_BEGIN = 1 << 18
"""Bytes of the symbols among which the first one of the kernel's code is."""
_MOST = 1 << 28
"""Bytes of a file that are read."""


class NameFiles(NamedTuple):
    """Descriptors of what tells names."""

    symbols: int
    modules: int

    @classmethod
    def open(cls) -> NameFiles | None:
        """Open them, for another process; ``None`` where the kernel hides addresses."""
        with suppress(OSError):
            symbols = os.open(_SYMBOLS, os.O_RDONLY | os.O_CLOEXEC)
            try:
                if _text_address(symbols) is not None:
                    return cls(symbols, _open_modules())
            except OSError:
                pass
            os.close(symbols)
        return None

    def close(self) -> None:
        """Close them."""
        os.close(self.symbols)
        os.close(self.modules)


def lowest_code() -> int:
    """Return an address below all code of the kernel and of its modules.

    On x86-64 what is above is code and static data; elsewhere it is the upper half,
    that of the kernel.
    """
    x86 = 0xFFFFFFFF_80000000
    return x86 if os.uname().machine == "x86_64" else 0xFFFF8000_00000000


def kernel_identity() -> Mapping[str, str]:
    """Return what tells which kernel runs, and where its code is.

    Returns:
        Entries for the environment: ``kernel_build_id``, ``kernel_text`` (the address
        of ``_text``); what the kernel does not tell is not there.
    """
    found = {}
    if build_id := _build_id(_NOTES):
        found["kernel_build_id"] = build_id
    with suppress(OSError):
        symbols = os.open(_SYMBOLS, os.O_RDONLY | os.O_CLOEXEC)
        try:
            text = _text_address(symbols)
        finally:
            os.close(symbols)
        if text is not None:
            found["kernel_text"] = f"{text:#x}"
    return found


class KernelNames:
    """Gives names to addresses, each function once.

    Args:
        files: What tells them; they stay those of the caller.
    """

    def __init__(self, files: NameFiles) -> None:
        self._files = files
        self._symbols = b""
        self._symbols_with: list[tuple[str, int, int]] = []
        """The modules that were there when they were read."""
        self._begins: list[int] = []
        self._ends: dict[int, int] = {}
        self._modules: set[tuple[str, int]] = set()
        self._used: set[str] = set()
        self._sections: dict[str, dict[int, str]] = {}
        self._entries = 0
        self.text = ""
        """All that is said, as metadata."""

    def name(self, addresses: Iterable[int]) -> str:
        """Give names to more addresses.

        Args:
            addresses: The addresses; those that are of no function are left out.

        Returns:
            What is said besides of what was said before, as metadata.

        Raises:
            OSError: The symbols cannot be read.
        """
        new = [one for one in addresses if not self._is_known(one)]
        modules = list(loaded_modules(_whole(self._files.modules))) if new else []
        found = self._functions(modules, new) if new else []
        self._ends.update((begin, end) for begin, end, _, _ in found)
        self._begins = sorted(self._ends)
        self._used.update(module for _, _, _, module in found)
        sections = self._new_sections()
        if not found and not sections:
            return ""
        more = self._block(
            (
                f"{begin:x} {end - begin:x} {name} {module}".rstrip()
                for begin, end, name, module in found
            ),
            (
                f"{begin:x} {size:x} {name} {_module_id(name)}".rstrip()
                for name, begin, size in self._new_modules(modules)
            ),
            sections,
        )
        self.text += more
        return more

    def _functions(
        self, modules: list[tuple[str, int, int]], addresses: list[int]
    ) -> list[tuple[int, int, str, str]]:
        """Return the functions in which addresses are.

        To write its symbols, the kernel takes longer than anything else here, and of
        itself and of modules that are there they stay the same. Programs of BPF and
        trampolines come and go.
        """
        if self._symbols and self._symbols_with == modules:
            stay = {"", *(name for name, _, _ in modules)}
            found = kernel_functions(self._symbols, modules, addresses)
            ends = [(begin, end) for begin, end, _, module in found if module in stay]
            if all(_is_within(ends, one) for one in addresses):
                return found
        self._symbols = _whole(self._files.symbols)
        self._symbols_with = modules
        return kernel_functions(self._symbols, modules, addresses)

    def _is_known(self, address: int) -> bool:
        index = bisect_right(self._begins, address)
        return index > 0 and address < self._ends[self._begins[index - 1]]

    def _new_modules(
        self, modules: Iterable[tuple[str, int, int]]
    ) -> list[tuple[str, int, int]]:
        """Return modules that have functions, and what was not said of them."""
        found = [one for one in modules if one[0] in self._used]
        found = [one for one in found if one[:2] not in self._modules]
        self._modules.update(one[:2] for one in found)
        return found

    def _new_sections(self) -> list[str]:
        """Return the sections of modules that have functions."""
        return [
            f"{begin:x} {section} {name}"
            for name in sorted(self._used & self._sections.keys())
            for begin, section in self._sections.pop(name).items()
        ]

    def learn(self, sections: Mapping[str, Iterable[Sequence[int | str]]]) -> None:
        """Know where sections of modules are.

        Args:
            sections: Begin and name of each section, by module.
        """
        for module, own in sections.items():
            known = self._sections.setdefault(module, {})
            known.update((int(begin), str(name)) for begin, name in own)

    def _block(
        self,
        functions: Iterable[str],
        modules: Iterable[str],
        sections: Iterable[str],
    ) -> str:
        said = {
            "kernel_symbols": functions,
            "kernel_modules": modules,
            "kernel_sections": sections,
        }
        text, self._entries = environment_block(said, self._entries)
        return text


def _is_within(parts: list[tuple[int, int]], address: int) -> bool:
    """Tell whether an address is in one of several parts, which are in order."""
    index = bisect_right(parts, address, key=lambda part: part[0])
    return index > 0 and address < parts[index - 1][1]


def _text_address(symbols: int) -> int | None:
    data = b""
    while len(data) < _BEGIN and (more := os.read(symbols, _BEGIN)):
        data += more
    # The last line may not be whole.
    return kernel_symbol(data[: data.rfind(b"\n")], b"_text")


def _open_modules() -> int:
    try:
        return os.open(_MODULES, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        # This kernel has none.
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)


def _whole(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    parts = []
    length = 0
    while length < _MOST and (part := os.read(file, 1 << 20)):
        parts.append(part)
        length += len(part)
    return b"".join(parts)


def _module_id(name: str) -> str:
    return _build_id(_MODULE_NOTE.format(name))


def _build_id(path: str) -> str:
    """Return the build ID in a file of notes, if there is one."""
    with suppress(OSError, ValueError), open(path, "rb") as file:
        return build_id_of_notes(file.read()).hex()
    return ""
