"""Process images: which object was mapped where in a process, as time goes on.

A :class:`ProcessImage` follows state dumps, loads and unloads in the order of the
trace's time, and answers at any moment which object covers an address. It knows nothing
of events (see ``state_events``) and opens no file.

Rules, each for a case that real traces have:

* A state dump replaces the image at its start, not at its end. After ``exec`` the
  process keeps its ID and has other objects: an empty answer for the few events in
  between is better than a wrong one, and a lost end event does no harm.
* Mappings never overlap: whatever a new mapping covers has been unmapped, also when the
  record of that was lost. Where only the size of the file is known, another object may
  lie in the range, and has what is behind its base.
* The same object reported twice at one base (a state dump, then the dynamic linker) is
  one mapping and keeps its build ID; another object at that base replaces it.
* A build ID or debug link may come before its object: it waits for it.
* An object without size (the vDSO) is no mapping.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from ..._typing import TYPE_CHECKING, NamedTuple
from ...units import Address, Vpid
from ..unresolved import Reason, Unresolved

if TYPE_CHECKING:
    from .kernel_functions import KernelCode

__all__ = ["DebugLink", "Mapping", "ProcessImage", "ProcessImages", "SourceCode"]

_END_OF_MEMORY = 1 << 64

SourceCode = tuple[str, int]
"""A function that the trace describes itself: its name and its first line."""

DebugLink = tuple[str, int]
"""The name of a debug file and the CRC-32 of its contents."""


class Mapping(NamedTuple):
    """An object in the memory of a process, as the trace describes it."""

    base: Address
    """Where the object's first segment starts."""

    size: int
    """The number of bytes from the base that belong to the object."""

    path: str
    """The path of the object on the traced machine."""

    is_pic: bool | None = None
    """Whether the code is position-independent; ``None``: the trace does not say."""

    build_id: bytes | None = None
    """The build ID that the trace has recorded."""

    debug_link: DebugLink | None = None
    """The debug link that the trace has recorded."""

    modified: int | None = None
    """When the file was changed last, in seconds since the epoch.

    Where the trace has recorded it (``ust_baddr:*``), ``size`` is the file's size.
    """

    base_is_bias: bool = False
    """Whether ``base`` is the load bias, whatever address the object is linked at."""

    code: SourceCode | None = None
    """A function of an interpreter: ``path`` is that of its source file.

    Each address stands for a line, and ``base`` for the first one.
    """

    kernel: KernelCode | None = None
    """What the trace tells of it, if it is the kernel or a part of it."""

    @property
    def is_measured(self) -> bool:
        """Whether ``size`` is that in memory, and not that of the file."""
        return self.modified is None

    @property
    def end(self) -> int:
        """The first address after the object; never beyond 64 bits."""
        return min(self.base + self.size, _END_OF_MEMORY)

    def covers(self, address: Address) -> bool:
        """Tell whether an address lies in the object.

        Args:
            address: An address in the same process.

        Returns:
            Whether it does.
        """
        return self.base <= address < self.end

    def is_same_object(self, other: Mapping) -> bool:
        """Tell whether another mapping is a second report of this one's object.

        Args:
            other: A mapping in the same process.

        Returns:
            Whether path, size and time of change agree and the two overlap. Bases may
            differ: ``dlopen`` events state the load bias, the others the first segment.
        """
        return (
            (self.path, self.size, self.code) == (other.path, other.size, other.code)
            and self.modified in (None, other.modified)
            and self.base < other.end
            and other.base < self.end
            and (self.base == other.base or self.base_is_bias != other.base_is_bias)
        )


class _Pending:
    # What is known of an object whose mapping has not been reported yet.
    __slots__ = ("build_id", "debug_link")

    def __init__(self) -> None:
        self.build_id: bytes | None = None
        self.debug_link: DebugLink | None = None


class ProcessImage:
    """The objects in the memory of one process, at the present point of the trace."""

    def __init__(self) -> None:
        self.version = 0
        """Grows with each change, so that answers may be kept for one version."""
        self.loader_is_traced = False
        """Whether the process has reported a load or unload by the dynamic linker."""
        self._bases: list[Address] = []
        self._mappings: dict[Address, Mapping] = {}
        self._pending: dict[Address, _Pending] = {}
        self._open_counts: dict[Address, int] = {}

    @property
    def mappings(self) -> tuple[Mapping, ...]:
        """All mappings, in the order of their addresses."""
        return tuple(self._mappings[base] for base in self._bases)

    def find(self, address: Address) -> Mapping | None:
        """Look up the object at an address.

        Args:
            address: An address in this process.

        Returns:
            The mapping that covers it, if there is one.
        """
        return self.find_range(address)[0]

    def find_range(self, address: Address) -> tuple[Mapping | None, Address]:
        """Look up the object at an address, and how far the answer holds.

        Args:
            address: An address in this process.

        Returns:
            The mapping that covers it, if there is one, and the last address up to
            which the same is true.
        """
        index = bisect_right(self._bases, address)
        if index:
            mapping = self._mappings[self._bases[index - 1]]
            if mapping.covers(address):
                return mapping, Address(min(mapping.end, self._base_at(index)) - 1)
        return None, Address(self._base_at(index) - 1)

    def begin_state_dump(self) -> None:
        """Forget all objects: what is there now will be reported again."""
        if self._bases:
            self.version += 1
        self._bases.clear()
        self._mappings.clear()
        self._pending.clear()
        self._open_counts.clear()

    def map_object(self, mapping: Mapping) -> None:
        """Take note that an object is mapped.

        Args:
            mapping: The object; one that covers no memory is ignored.
        """
        if not 0 <= mapping.base < _END_OF_MEMORY or mapping.size <= 0:
            return
        self._open_counts.pop(mapping.base, None)
        known = self._mappings.get(mapping.base)
        if known is not None and mapping.is_same_object(known):
            self._put(_merged(known, mapping))
            return
        if known is not None and _is_less_exact(mapping, known):
            return
        for other in self._overlapping(mapping):
            lower = min(mapping, other, key=lambda one: one.base)
            if lower.is_measured or other.base == mapping.base:
                self._remove(other.base)
        pending = self._pending.pop(mapping.base, _Pending())
        self._put(
            mapping._replace(
                build_id=mapping.build_id or pending.build_id,
                debug_link=mapping.debug_link or pending.debug_link,
            )
        )

    def add_code(self, mapping: Mapping) -> None:
        """Take note of a function of an interpreter.

        Functions are many, and their addresses are new: what was known of others still
        holds, so the version stays.

        Args:
            mapping: The function.
        """
        version = self.version
        is_new = not self._overlapping(mapping)
        self.map_object(mapping)
        if is_new:
            self.version = version

    def open_object(self, mapping: Mapping) -> None:
        """Take note that a call of ``dlopen`` returned an object.

        Args:
            mapping: The object; often one that has been mapped before the call.
        """
        base = mapping.base
        if base in self._open_counts and mapping.is_same_object(self._mappings[base]):
            self._open_counts[base] += 1
            return
        if any(mapping.is_same_object(known) for known in self._overlapping(mapping)):
            return
        self.map_object(mapping)
        if base in self._mappings:
            self._open_counts[base] = 1

    def close_object(self, base: Address) -> None:
        """Take note that ``dlclose`` is called for an object.

        The call releases one reference. The object is unmapped only if ``dlopen`` calls
        brought it in, and as many ``dlclose`` calls have been seen: one that the state
        dump or the dynamic linker reported has other users.

        Args:
            base: The base of the object.
        """
        if base not in self._open_counts:
            return
        self._open_counts[base] -= 1
        if not self._open_counts[base]:
            self.unmap(base)

    def unmap(self, base: Address) -> None:
        """Take note that an object is no longer mapped.

        Args:
            base: The base of the object; an unknown one is ignored.
        """
        self._pending.pop(base, None)
        if base in self._mappings:
            self._remove(base)

    def set_build_id(self, base: Address, build_id: bytes) -> None:
        """Take note of the build ID of an object.

        Args:
            base: The base of the object, which may be reported later.
            build_id: Its build ID; an empty one is ignored.
        """
        if not build_id:
            return
        if base in self._mappings:
            self._put(self._mappings[base]._replace(build_id=build_id))
        else:
            self._pending.setdefault(base, _Pending()).build_id = build_id

    def set_debug_link(self, base: Address, name: str, crc: int) -> None:
        """Take note of the debug link of an object.

        Args:
            base: The base of the object, which may be reported later.
            name: The file name of its debug file; an empty one is ignored.
            crc: The CRC-32 of the debug file; only its lower 32 bits count.
        """
        if not name:
            return
        link = (name, crc & 0xFFFFFFFF)
        if base in self._mappings:
            self._put(self._mappings[base]._replace(debug_link=link))
        else:
            self._pending.setdefault(base, _Pending()).debug_link = link

    def _base_at(self, index: int) -> int:
        return self._bases[index] if index < len(self._bases) else _END_OF_MEMORY

    def _overlapping(self, mapping: Mapping) -> list[Mapping]:
        first = max(bisect_right(self._bases, mapping.base) - 1, 0)
        last = bisect_left(self._bases, mapping.end)
        candidates = [self._mappings[base] for base in self._bases[first:last]]
        return [known for known in candidates if known.end > mapping.base]

    def _put(self, mapping: Mapping) -> None:
        known = self._mappings.get(mapping.base)
        if known == mapping:
            return
        if known is None:
            self._bases.insert(bisect_left(self._bases, mapping.base), mapping.base)
        self._mappings[mapping.base] = mapping
        self.version += 1

    def _remove(self, base: Address) -> None:
        del self._bases[bisect_left(self._bases, base)]
        del self._mappings[base]
        self._open_counts.pop(base, None)
        self.version += 1


class ProcessImages:
    """The images of all processes of one trace."""

    def __init__(self) -> None:
        self._images: dict[Vpid, ProcessImage] = {}

    def of(self, vpid: Vpid) -> ProcessImage:
        """Return the image of a process, which is empty at first.

        Args:
            vpid: The process.

        Returns:
            Its image, to be asked and changed.
        """
        image = self._images.get(vpid)
        if image is None:
            image = self._images[vpid] = ProcessImage()
        return image

    def put(self, vpid: Vpid, image: ProcessImage) -> None:
        """Let an image be that of a process.

        Args:
            vpid: The process.
            image: Its image.
        """
        self._images[vpid] = image

    def find(self, vpid: Vpid, address: Address) -> Mapping | Unresolved:
        """Look up the object at an address of a process.

        Args:
            vpid: The process.
            address: An address in it.

        Returns:
            The mapping, or why there is none.
        """
        return self.find_range(vpid, address)[0]

    def find_range(
        self, vpid: Vpid, address: Address
    ) -> tuple[Mapping | Unresolved, Address]:
        """Look up the object at an address of a process, and how far the answer holds.

        Args:
            vpid: The process.
            address: An address in it.

        Returns:
            The mapping, or why there is none, and the last address of which the same
            is true.
        """
        image = self._images.get(vpid)
        if image is None:
            no_dump = Unresolved(Reason.NO_STATE_DUMP)
            return no_dump, Address(_END_OF_MEMORY - 1)
        mapping, last = image.find_range(address)
        return mapping or Unresolved(Reason.NO_OBJECT), last


def _is_less_exact(mapping: Mapping, known: Mapping) -> bool:
    # The same report again, with the size of the file instead of that in memory.
    return known.is_measured and not mapping.is_measured and mapping.path == known.path


def _merged(known: Mapping, again: Mapping) -> Mapping:
    # The second report fills gaps; it does not contradict the first, except that a
    # linker's report says nothing about position independence of the executable.
    return known._replace(
        is_pic=again.is_pic if known.is_pic is None else known.is_pic,
        build_id=again.build_id or known.build_id,
        debug_link=again.debug_link or known.debug_link,
        base_is_bias=known.base_is_bias and again.base_is_bias,
    )
