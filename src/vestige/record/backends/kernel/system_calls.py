"""Arguments of system calls: how wide they are, and which are texts.

The kernel's events have 8 bytes for each argument; LTTng's fields are as wide as the C
type.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .formats import FieldFormat

__all__ = ["NUMBER", "argument_bytes", "is_signed", "is_text"]

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
    {"filename", "pathname", "oldname", "newname", "path", "special", "specialfile"}
    | {"new_root", "put_old", "dev_name", "dir_name", "from_pathname", "to_pathname"}
    | {"library", "name", "type", "u_name", "uname"}
    | {"_type", "_description", "_callout_info", "_fs_name", "_key"}
)
"""Arguments of the type ``char *`` that lead to texts which the call reads."""


def _plain(c_type: str) -> str:
    return c_type.removeprefix("const ").strip()


def argument_bytes(field: FieldFormat) -> int:
    """Return how many bytes LTTng's field of an argument has."""
    plain = _plain(field.c_type)
    if plain in _FOUR_SIGNED or plain in _FOUR:
        return 4
    return 2 if plain in _TWO else field.bytes


def is_signed(field: FieldFormat) -> bool:
    """Tell whether LTTng's field of an argument is signed."""
    plain = _plain(field.c_type)
    return plain in _FOUR_SIGNED or plain in _EIGHT_SIGNED


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
