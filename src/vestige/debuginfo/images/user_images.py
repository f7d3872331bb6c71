"""What programs had mapped whose call stacks are in traces of the kernel.

A trace of the kernel has addresses of all programs. What was there, one that Vestige
recorded tells itself (``user_threads_N`` and ``user_objects_N`` of its environment).
Else traces of these programs do, if they are of the same machine and are read with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from ... import core
from ..._suppress import suppress
from ...units import Address, Vpid
from ..unresolved import Reason, Unresolved
from .image import Mapping, ProcessImage, ProcessImages

__all__ = ["UserImages"]

_PERCENT = re.compile(rb"%([0-9a-f]{2})")
_WORDS_OF_THREAD = 4
_END_OF_IMAGES = 1 << 32
_DIGITS = 10
"""Of an ID, at most."""
_Machine = tuple[bytes | None, str]


class UserImages:
    """Finds the images of programs for traces of the kernel.

    Args:
        traces: Gives process spaces of data streams, their traces, and the UUID of
            their clock; there may be more of them later.
        images: Gives the images of the processes of a process space.
    """

    def __init__(
        self,
        traces: Callable[[], Iterable[tuple[int, core.TraceClass, bytes | None]]],
        images: Callable[[int], ProcessImages],
    ) -> None:
        self._traces = traces
        self._images = images
        self._seen: dict[int, core.TraceClass] = {}
        self._own: dict[int, dict[Vpid, ProcessImage]] = {}
        self._processes: dict[int, dict[Vpid, Vpid]] = {}
        self._kernels: dict[int, _Machine] = {}
        self._programs: dict[_Machine, set[int]] = {}

    def look(self) -> list[tuple[int, Vpid]]:
        """Look at the traces again.

        Returns:
            Of which processes more is known, with their process spaces.
        """
        changed: list[tuple[int, Vpid]] = []
        for space, trace, clock in self._traces():
            if self._seen.get(space) is trace:
                continue
            self._seen[space] = trace
            environment = trace.environment
            # That is one boot of one machine.
            machine = clock, str(environment.get("hostname", ""))
            if environment.get("domain") == "kernel":
                self._kernels[space] = machine
                self._own[space], self._processes[space] = _told(environment)
                changed += [(space, vpid) for vpid in self._own[space]]
            else:
                self._programs.setdefault(machine, set()).add(space)
        return changed

    def threads(self) -> dict[tuple[int, int], Vpid]:
        """Return the processes of threads that traces of kernels tell of.

        Returns:
            By process space and thread ID; of threads that had the same ID, one.
        """
        return {
            (space, int(words[0])): Vpid(int(words[3]))
            for space in self._kernels
            for words in _entries(self._seen[space].environment, "user_threads_")
            if _is_thread(words)
        }

    def is_kernel(self, space: int) -> bool:
        """Tell whether a process space is that of a kernel.

        Args:
            space: The process space.
        """
        return space in self._kernels

    def same(self, space: int, vpid: Vpid) -> list[tuple[int, Vpid]]:
        """Return what a process is in traces of kernels.

        Args:
            space: The process space of programs.
            vpid: One of these programs.

        Returns:
            Process spaces, and what stands for the process there.
        """
        machines = [one for one, spaces in self._programs.items() if space in spaces]
        found = []
        for kernel, machine in self._kernels.items():
            if machine in machines:
                known = self._processes[kernel].items()
                own = [one for one, process in known if process == vpid]
                found += [(kernel, one) for one in (vpid, *own)]
        return found

    def find_range(
        self, space: int, vpid: Vpid, address: Address
    ) -> tuple[Mapping | Unresolved, Address]:
        """Look up the object at an address, and how far the answer holds.

        Args:
            space: The process space of a kernel.
            vpid: A process of that machine, or what stands for an image.
            address: An address in it.

        Returns:
            The mapping, or why there is none, and the last address of which the same
            is true.
        """
        last = Address((1 << 64) - 1)
        why = Unresolved(Reason.NO_STATE_DUMP)
        own = self._own[space].get(vpid)
        if own is not None:
            found, last = own.find_range(address)
            if found is not None:
                return found, last
            why = Unresolved(Reason.NO_OBJECT)
        vpid = self._processes[space].get(vpid, vpid)
        for other in self._programs.get(self._kernels[space], ()):
            there, until = self._images(other).find_range(vpid, address)
            last = min(last, until)
            if not isinstance(there, Unresolved):
                return there, last
            if there.reason is not Reason.NO_STATE_DUMP:
                why = there
        return why, last


def _told(
    environment: dict[str, int | str],
) -> tuple[dict[Vpid, ProcessImage], dict[Vpid, Vpid]]:
    """Return the images that a trace of the kernel tells of, and their processes."""
    images: dict[Vpid, ProcessImage] = {}
    processes: dict[Vpid, Vpid] = {}
    for words in _entries(environment, "user_threads_"):
        # What makes no sense is left out.
        with suppress(ValueError):
            _, _, number, process = words
            processes[_image(number)] = Vpid(int(process))
    for words in _entries(environment, "user_objects_"):
        with suppress(ValueError):
            number, base, size, build_id, path = words
            mapping = Mapping(
                Address(int(base, 16)),
                int(size, 16),
                _PERCENT.sub(_character, path.encode()).decode(errors="replace"),
                build_id=None if build_id == "-" else bytes.fromhex(build_id),
            )
            images.setdefault(_image(number), ProcessImage()).map_object(mapping)
    return images, processes


def _entries(environment: dict[str, int | str], begin: str) -> Iterator[list[str]]:
    for name, text in environment.items():
        if name.startswith(begin) and isinstance(text, str):
            yield from (one.split(" ") for one in text.split(";"))


def _is_thread(words: list[str]) -> bool:
    """Tell whether words are thread, time, image and process."""
    return len(words) == _WORDS_OF_THREAD and all(
        one.isdecimal() and len(one) <= _DIGITS for one in (words[0], words[3])
    )


def _image(number: str) -> Vpid:
    """Return what stands for a process image of the kernel (``user_stacks.rs``).

    Raises:
        ValueError: It is no number of one.
    """
    if not (number.isdecimal() and int(number) < _END_OF_IMAGES):
        raise ValueError(number)
    return Vpid(-2 - int(number))


def _character(found: re.Match[bytes]) -> bytes:
    return bytes([int(found[1], 16)])
