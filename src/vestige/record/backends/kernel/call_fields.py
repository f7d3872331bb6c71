"""Fields of system calls that are made of memory to which their arguments lead.

Names, widths and order are those of LTTng 2.13's modules
(``syscalls_pointers_override.h`` and that of x86-64). Of the flags of poll and epoll,
LTTng leaves out the last one each (``POLLNVAL``, ``EPOLLHUP``), which are here.
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NOWHERE", "CallField", "call_fields"]

NOWHERE = 1 << 16
"""In place of where memory is put behind a record, if nobody reads it: no record is as
long, and its fields are empty."""
_WORD = 4
_RESULT = "ret"


class CallField(NamedTuple):
    """A field that is made of memory."""

    declared: str
    """In TSDL."""

    kind: str
    """The operation, see :class:`vestige.record._kernel.Collector`."""

    part: int = 0
    """The number of the part of memory."""

    bytes: int = 0

    def operation(self, at: int) -> tuple[str, int, int]:
        """Return how it is made.

        Args:
            at: Where memory is put behind a record.
        """
        return f"memory:{self.kind}", at + self.part * _WORD, self.bytes


def _integer(size: int, more: str = "signed = 0; base = 10;") -> str:
    return f"integer {{ size = {size}; align = 8; {more} }}"


_UNSIGNED, _HEX = "signed = 0; base = 10;", "signed = 0; base = 16;"
_SIGNED, _NETWORK = "signed = 1; base = 10;", "signed = 0; base = 10; byte_order = be;"


def _flags(*names: str) -> str:
    """Return the lowest bits of a byte."""
    flag = "integer { size = 1; align = 1; signed = 0; base = 10; }"
    rest = flag.replace("size = 1", f"size = {8 - len(names)}")
    bits = " ".join(f"{flag} _{name};" for name in names)
    return f"struct {{ {bits} {rest} _padding; }} _events;"


_POLLFD = (
    f"struct {{ {_integer(32, _SIGNED)} _fd; {_integer(16, _HEX)} _raw_events; "
    + _flags("POLLIN", "POLLPRI", "POLLOUT", "POLLERR", "POLLHUP", "POLLNVAL")
    + " }"
)
_EPOLL_EVENT = (
    f"struct {{ struct {{ {_integer(64, _HEX)} _u64; {_integer(32, _SIGNED)} _fd; }} "
    f"_data_union; {_integer(32, _HEX)} _raw_events; "
    + _flags("EPOLLIN", "EPOLLPRI", "EPOLLOUT", "EPOLLERR", "EPOLLHUP")
    + " }"
)
_EXCEEDS = CallField(f"{_integer(8)} _overflow;", "exceeds")
_SETS = tuple(
    CallField(
        f"{_integer(8)} __{name}_length; {_integer(8, _HEX)} _{name}[__{name}_length];",
        "set",
        number,
    )
    for number, name in enumerate(("readfds", "writefds", "exceptfds"))
)
_COUNT = f"{_integer(32)} _fds_length;"
_POLL_COUNT = CallField(_COUNT, "poll_count")
_POLLED = CallField(f"{_POLLFD} _fds[_fds_length];", "polled")
_POLL_END = (
    CallField(f"{_integer(32)} _nfds;", "argument", bytes=4),
    CallField(_COUNT, "poll_end_count"),
    _EXCEEDS,
    CallField(f"{_POLLFD} _fds[_fds_length];", "poll_end"),
)
_SELECT_END: tuple[str | CallField, ...] = (
    _RESULT,
    _EXCEEDS,
    CallField(f"{_integer(64, _HEX)} _tvp;", "argument", bytes=8),
    *_SETS,
)
_EVENTS_END: tuple[str | CallField, ...] = (
    _RESULT,
    CallField(_COUNT, "event_count"),
    _EXCEEDS,
    CallField(f"{_EPOLL_EVENT} _fds[_fds_length];", "events"),
)


def _address(port: str, part: int) -> CallField:
    four = f"{_integer(32)} __v4addr_length; {_integer(8)} _v4addr[__v4addr_length];"
    six = (
        f"{_integer(32)} __v6addr_length; "
        f"{_integer(16, _NETWORK)} _v6addr[__v6addr_length];"
    )
    return CallField(
        f"{_integer(16)} _family; {_integer(16, _NETWORK)} _{port}; {four} {six}",
        "address",
        part,
    )


def _two(name: str) -> CallField:
    return CallField(f"{_integer(32, _SIGNED)} _{name}[2];", "fixed", bytes=8)


def _told(name: str) -> CallField:
    """Return a number to which an argument leads."""
    return CallField(f"{_integer(32, _SIGNED)} _{name};", "fixed", bytes=4)


_FIELDS: dict[str, tuple[str | CallField, ...]] = {
    "sys_enter_accept": ("fd", "upeer_sockaddr", _told("upeer_addrlen")),
    "sys_enter_accept4": ("fd", "upeer_sockaddr", _told("upeer_addrlen"), "flags"),
    "sys_enter_bind": ("fd", "umyaddr", "addrlen", _address("sport", 0)),
    "sys_enter_connect": ("fd", "uservaddr", "addrlen", _address("dport", 0)),
    "sys_enter_epoll_ctl": (
        *("epfd", "op", "fd"),
        CallField(f"{_EPOLL_EVENT} _event;", "event"),
    ),
    "sys_enter_poll": ("timeout_msecs", "nfds", _POLL_COUNT, _EXCEEDS, _POLLED),
    "sys_enter_ppoll": (
        *("tsp", "sigmask", "sigsetsize", "nfds"),
        *(_POLL_COUNT, _EXCEEDS, _POLLED),
    ),
    "sys_enter_pselect6": ("n", _EXCEEDS, "tsp", "sig", *_SETS),
    "sys_enter_select": ("n", _EXCEEDS, "tvp", *_SETS),
    "sys_enter_sendto": (
        *("fd", "buff", "len", "flags", "addr", "addr_len"),
        _address("dport", 0),
    ),
    **{
        f"sys_exit_{name}": (_RESULT, _told("upeer_addrlen"), _address("sport", 1))
        for name in ("accept", "accept4")
    },
    **{
        f"sys_exit_{name}": _EVENTS_END
        for name in ("epoll_wait", "epoll_pwait", "epoll_pwait2")
    },
    **{
        f"sys_exit_{name}": (_RESULT, _told("usockaddr_len"), _address("sport", 1))
        for name in ("getsockname", "getpeername")
    },
    **{f"sys_exit_{name}": (_RESULT, _two("fildes")) for name in ("pipe", "pipe2")},
    **{f"sys_exit_{name}": (_RESULT, *_POLL_END) for name in ("poll", "ppoll")},
    "sys_exit_recvfrom": (_RESULT, _told("addr_len"), _address("sport", 1)),
    **{f"sys_exit_{name}": _SELECT_END for name in ("select", "pselect6")},
    "sys_exit_socketpair": (_RESULT, _two("socket")),
}


def call_fields(event: str) -> Sequence[str | CallField] | None:
    """Return the fields of a call that are not as the kernel's event has them.

    Args:
        event: The kernel's name of the event.

    Returns:
        All fields in their order: names of the kernel's, and what is made of memory;
        ``None``: it is as it is.
    """
    return _FIELDS.get(event)
