"""Arguments of system calls: how wide they are, and which are texts.

The kernel's events have 8 bytes for each argument; LTTng's fields are as wide as the C
type. A few of LTTng's differ from the C type, in their names, or in how they are shown
(``x86-64-syscalls_*`` of LTTng 2.13).
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING, NamedTuple
from .enumerations import CLONE_FLAGS, POLL_OPERATIONS
from .formats import EventFormat, FieldFormat

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "ENTRY",
    "EXIT",
    "NUMBER",
    "Argument",
    "argument",
    "content_bytes",
    "content_name",
    "has_unread_texts",
    "is_content",
    "is_text",
    "texts",
]

ENTRY = "sys_enter_"
"""How the kernel's names of events of arguments begin."""
EXIT = "sys_exit_"
"""The same of what calls return."""

NUMBER = "__syscall_nr"
"""The field with the number of the call, which LTTng does not have."""

_FOUR_SIGNED = frozenset(
    {"int", "pid_t", "clockid_t", "key_t", "mqd_t", "s32", "__s32", "int32_t"}
    | {"key_serial_t", "timer_t", "rwf_t"}
)
_FOUR = frozenset(
    {"unsigned int", "unsigned", "uid_t", "gid_t", "qid_t", "u32", "__u32", "uint32_t"}
)
_TWO = frozenset({"umode_t", "unsigned short", "old_uid_t", "old_gid_t"})
_EIGHT_SIGNED = frozenset({"long", "off_t", "loff_t", "ssize_t", "s64"})

_TEXTS = frozenset(
    {"filename", "pathname", "oldname", "newname", "path", "specialfile"}
    | {"new_root", "put_old", "dev_name", "dir_name", "from_pathname", "to_pathname"}
    | {"library", "name", "type", "u_name", "uname", "name_user"}
    | {"_type", "_fs_name"}
)
"""Arguments of the type ``char *`` that lead to texts which the call reads, and which
LTTng reads, too."""


_TEXT_BYTES = 512
"""Of a text at most, as ``bpf_trace_printk`` has it. Linux 7.3 does 165 at most."""


class Argument(NamedTuple):
    """LTTng's field of an argument or of what a call returns."""

    name: str
    bytes: int
    is_signed: bool = False
    base: int = 10
    declared: str = ""
    """In TSDL, what it is instead of a plain integer."""


_CALLS: dict[str, dict[str, Argument]] = {
    "sys_enter_accept4": {"flags": Argument("flags", 4, is_signed=True, base=16)},
    "sys_enter_clone": {
        "clone_flags": Argument("flags", 8, base=16, declared=CLONE_FLAGS),
        "newsp": Argument("newsp", 8, base=16),
        "parent_tidptr": Argument("parent_tid", 8, base=16),
        "child_tidptr": Argument("child_tid", 8, base=16),
    },
    "sys_enter_connect": {"addrlen": Argument("addrlen", 4, is_signed=True, base=16)},
    "sys_enter_epoll_ctl": {
        "op": Argument("op_enum", 4, is_signed=True, declared=POLL_OPERATIONS)
    },
    "sys_enter_ftruncate": {"length": Argument("length", 8)},
    "sys_enter_getcpu": {"unused": Argument("tcache", 8, base=16)},
    "sys_enter_mmap": {
        "addr": Argument("addr", 8, base=16),
        "prot": Argument("prot", 4, is_signed=True),
        "flags": Argument("flags", 4, is_signed=True),
        "fd": Argument("fd", 4, is_signed=True),
        "off": Argument("offset", 8, is_signed=True),
    },
    "sys_enter_pselect6": {"tsp": Argument("tvp", 8, base=16)},
    "sys_exit_mmap": {"ret": Argument("ret", 8, base=16)},
}
"""By the kernel's events and fields, what is not as the C type says."""


def _plain(c_type: str) -> str:
    return c_type.removeprefix("const ").strip()


def argument(event: EventFormat, field: FieldFormat) -> Argument:
    """Return what LTTng's field of an argument is.

    Args:
        event: The kernel's event of a call.
        field: The argument, or what the call returns.
    """
    if (known := _CALLS.get(event.name, {}).get(field.name)) is not None:
        return known
    if not event.name.startswith(ENTRY):
        return Argument(field.name, field.bytes, field.is_signed)
    if "*" in field.c_type:
        return Argument(field.name, field.bytes, base=16)
    plain = _plain(field.c_type)
    is_signed = plain in _FOUR_SIGNED or plain in _EIGHT_SIGNED
    if plain in _FOUR_SIGNED or plain in _FOUR:
        return Argument(field.name, 4, is_signed)
    return Argument(field.name, 2 if plain in _TWO else field.bytes, is_signed)


def is_text(event: str, field: FieldFormat) -> bool:
    """Tell whether an argument leads to a text.

    Args:
        event: The kernel's name of the event.
        field: The argument.
    """
    if _plain(field.c_type) != "char *" or field.name not in _TEXTS:
        return False
    # There, it is where the answer goes.
    return event not in {"sys_enter_newuname", "sys_enter_uname"}


def texts(event: EventFormat) -> list[tuple[FieldFormat, int | None]]:
    """Return the arguments that lead to texts.

    Args:
        event: An event of the kernel.

    Returns:
        Each, and where the record says where its text is; ``None``: the kernel does not
        read it.
    """
    if event.system != "syscalls" or not event.name.startswith(ENTRY):
        return []
    return [
        (field, event.at(content_name(field)))
        for field in event.fields
        if is_text(event.name, field)
    ]


def content_name(argument: FieldFormat) -> str:
    """Return the kernel's name of the field with that to which an argument leads.

    Linux has them since 6.19 (``kernel/trace/trace_syscalls.c``), for some arguments.
    """
    return f"__{argument.name}_val"


def is_content(event: EventFormat, field: FieldFormat) -> bool:
    """Tell whether a field of a call is that to which another one leads.

    Args:
        event: The kernel's event of a call.
        field: The field.
    """
    return any(field.name == content_name(one) for one in event.fields)


def content_bytes(events: Iterable[EventFormat]) -> int:
    """Return how much events should have of that to which arguments lead.

    Args:
        events: The events that are wanted.

    Returns:
        Bytes; 0 if none has a text that is wanted.
    """
    are_told = (at is not None for event in events for _, at in texts(event))
    return _TEXT_BYTES if any(are_told) else 0


def has_unread_texts(event: EventFormat) -> bool:
    """Tell whether the kernel leaves out a text to which an argument leads."""
    return any(at is None for _, at in texts(event))
