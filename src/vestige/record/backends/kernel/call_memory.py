"""What is in memory to which arguments of system calls lead, and who writes it down.

Addresses of sockets, sets of descriptors, events: as LTTng 2.13 has them, some when a
call begins and some when it ends (``x86-64-syscalls_pointers_override.h`` of its
modules). Addresses of ``bind``, ``sendto``, ``recvfrom`` and those that
``getsockname`` and ``getpeername`` return are in addition to these.
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Literal

__all__ = [
    "MOST_EVENTS",
    "MOST_POLLED",
    "CallMemory",
    "Length",
    "Part",
    "call_memory",
]

MOST_POLLED, MOST_EVENTS = 512, 341
"""Elements of arrays that are read: those of a page."""
_POLLED_BYTES, _EVENT_BYTES = 8, 12
"""Of ``struct pollfd``; of ``struct epoll_event``, which is packed on x86-64."""
_ADDRESS_BYTES = 28
"""Of an address of a socket that is read (``struct sockaddr_in6``)."""
_MOST_DESCRIPTORS = 1024
"""In a set (``FD_SETSIZE``)."""
RESULT = -1
"""In place of an argument: what the call returns."""


class Length(NamedTuple):
    """How many bytes are read."""

    kind: Literal["fixed", "items", "bits", "told"]
    """So many; elements, of which an argument is the number; bits, of which it is; as
    many as the first part says."""

    most: int
    """Bytes, elements or bits: more of these are left out, of bits all."""

    argument: int = 0
    """Its number; :data:`RESULT`."""

    unit: int = 1
    """Bytes of an element."""


class Part(NamedTuple):
    """Memory that is read."""

    pointer: int
    """The number of the argument that leads to it."""

    length: Length


class CallMemory(NamedTuple):
    """What is read when a call begins, or when it ends."""

    parts: tuple[Part, ...]
    when: Literal["always", "succeeded", "found", "found or told"] = "always"
    """When anything is told: at all calls, at those that return no error, at those that
    return more than zero; without any part at the others."""

    needed: int | None = None
    """The number of an argument without which nothing is told."""

    argument: int | None = None
    """The number of one that is told, too, since the event has it not."""

    most_found: int | None = None
    """The number of an argument that is not exceeded by what the call returns."""


_ADDRESS = Length("told", _ADDRESS_BYTES)
_NUMBER = Length("fixed", 4)
_SET = Length("bits", _MOST_DESCRIPTORS, 0)
_SETS = tuple(Part(pointer, _SET) for pointer in (1, 2, 3))
_POLLED = (Part(0, Length("items", MOST_POLLED, 1, _POLLED_BYTES)),)
_EVENTS = (Part(1, Length("items", MOST_EVENTS, RESULT, _EVENT_BYTES)),)
_POLL = CallMemory(_POLLED)
_POLL_END = CallMemory(_POLLED, "found or told", argument=1, most_found=1)
_SELECT_END = CallMemory(_SETS, "found or told", argument=4)


def _address(pointer: int, length: int) -> CallMemory:
    """Return an address of a socket that a call gets."""
    part = Part(pointer, Length("items", _ADDRESS_BYTES, length))
    return CallMemory((part,), needed=pointer)


def _told_address(pointer: int, length: int) -> CallMemory:
    """Return one that it returns, with its length."""
    parts = Part(length, _NUMBER), Part(pointer, _ADDRESS)
    return CallMemory(parts, "succeeded", needed=pointer)


def _two_descriptors(pointer: int) -> CallMemory:
    return CallMemory((Part(pointer, Length("fixed", 8)),), "succeeded")


_AT_ENTRY = {
    "accept": CallMemory((Part(2, _NUMBER),), needed=2),
    "accept4": CallMemory((Part(2, _NUMBER),), needed=2),
    "bind": _address(1, 2),
    "connect": _address(1, 2),
    "epoll_ctl": CallMemory((Part(3, Length("fixed", _EVENT_BYTES)),), needed=3),
    "poll": _POLL,
    "ppoll": _POLL,
    "pselect6": CallMemory(_SETS),
    "select": CallMemory(_SETS),
    "sendto": _address(4, 5),
}
_AT_EXIT = {
    "accept": _told_address(1, 2),
    "accept4": _told_address(1, 2),
    "epoll_pwait": CallMemory(_EVENTS, "found"),
    "epoll_pwait2": CallMemory(_EVENTS, "found"),
    "epoll_wait": CallMemory(_EVENTS, "found"),
    "getpeername": _told_address(1, 2),
    "getsockname": _told_address(1, 2),
    "pipe": _two_descriptors(0),
    "pipe2": _two_descriptors(0),
    "poll": _POLL_END,
    "ppoll": _POLL_END,
    "pselect6": _SELECT_END,
    "recvfrom": _told_address(4, 5),
    "select": _SELECT_END,
    "socketpair": _two_descriptors(3),
}


def call_memory(name: str, *, is_end: bool) -> CallMemory | None:
    """Return what is read of a call.

    Args:
        name: The kernel's name of the call.
        is_end: Whether when it ends; else when it begins.

    Returns:
        It; ``None``: nothing.
    """
    return (_AT_EXIT if is_end else _AT_ENTRY).get(name)
