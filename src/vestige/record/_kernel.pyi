"""Stub of the compiled module that collects what the kernel records.

The binding is ``crates/vestige-kernel-python``; what it binds is
``crates/vestige-kernel``.
"""

from collections.abc import Mapping, Sequence
from typing import TypeAlias, final

__all__ = [
    "CpuOutcome",
    "__interface__",
    "__version__",
    "collect",
    "drop_rights",
    "open_tracefs",
]

__version__: str
__interface__: bytes

_Operation: TypeAlias = tuple[str, int, int]
"""Its kind and two numbers: see :func:`collect`."""

_Tells: TypeAlias = tuple[str, int, int]
"""What records tell besides, and where: ``new_thread`` (places of its ID and its flags
of clone(2)), ``kernel_stack`` (those of the number of addresses and of these),
``user_stack`` (that of the addresses, and 0).
"""

_Event: TypeAlias = tuple[int, int | None, Sequence[_Operation], _Tells | None]
"""Its ID in the kernel, that of its class in the trace (``None``: it is not there),
what its fields are made of, and what it tells.
"""

_Cpu: TypeAlias = tuple[int, int, int, int, int]
"""Its number; descriptors of its pages, its statistics, its data file and its index."""

_OwnRecord: TypeAlias = tuple[int, int, bytes]
"""Value of the clock, class, context and fields."""

def collect(
    recording: tuple[bytes, int, int, int],
    events: Sequence[_Event],
    groups: Mapping[int, int],
    cpus: Sequence[_Cpu],
    own: tuple[int, Sequence[_OwnRecord]],
    control: int,
) -> list[CpuOutcome]:
    """Collect the events of all CPUs, each by a thread, until it is to end.

    Operations are ``copy`` (place, bytes), ``subtract`` (place, number), ``text`` and
    ``relative_text`` (place of the word that leads to it), ``sequence`` and
    ``relative_sequence`` (the same, bytes of an element), ``line`` (place),
    ``request_bits`` (place, bytes), ``zeros`` (bytes), ``groups`` (places of the IDs of
    parent and child), ``kernel_stack`` and ``user_stack`` (of the thread then, if they
    are recorded). Places are bytes from the beginning of the kernel's record.

    Args:
        recording: The UUID of the trace, how many classes it has, bytes of a page, the
            value of the clock where it begins.
        events: What is recorded.
        groups: Thread groups by thread, as far as they are known.
        cpus: The CPUs; all descriptors are taken and closed.
        own: Records to be put among those of the CPU of that number, by their times.
        control: A socket, which is taken. Its other end gets a byte once all threads
            are there, and says the end: by 8 bytes, the value of the clock then
            (little-endian), or by being closed.

    Returns:
        What became of each CPU's, in their order.

    Raises:
        OSError: No thread can be started.
        ValueError: An operation has no such kind, or the UUID not 16 bytes.
    """

@final
class CpuOutcome:
    """What became of a CPU's events."""

    @property
    def records(self) -> int:
        """Event records in files."""

    @property
    def lost(self) -> int:
        """Event records that are not, as the trace tells."""

    @property
    def packets(self) -> int:
        """Packets in files."""

    @property
    def bytes(self) -> int:
        """Bytes of packets in files."""

    @property
    def damaged(self) -> int:
        """Pages and records of the kernel that made no sense."""

    @property
    def failure(self) -> str | None:
        """Why not all could be read or written."""

def open_tracefs() -> int:
    """Open the kernel's file system of tracing where nobody else sees it.

    Returns:
        A descriptor of its topmost directory. It is mounted nowhere, and gone when that
        is closed; what is made in it is not.

    Raises:
        OSError: The kernel has none, is older than 5.2, or forbids it.
    """

def drop_rights(user: int, group: int) -> None:
    """Give up all rights of this process for good.

    It may have one thread only.

    Args:
        user: The ID of the user that it becomes.
        group: That of the group.

    Raises:
        OSError: The system refuses it; some rights may be gone.
    """
