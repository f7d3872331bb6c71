"""Enumerations of arguments of system calls, in TSDL (CTF 1.8.3, 4.1.8).

Numbers are the kernel's (``include/uapi/linux/sched.h``, ``eventpoll.h`` and
``signal.h`` for x86-64 and arm64, where they are the same).
"""

from __future__ import annotations

from ...._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CLONE_FLAGS", "POLL_OPERATIONS", "enumeration"]

_SIGNAL_BITS = 8
"""Those of the flags of clone(2) that are the signal which tells a child's end."""
_WORD_BITS = 64

_SIGNALS = {
    "SIGHUP": 1,
    "SIGINT": 2,
    "SIGQUIT": 3,
    "SIGILL": 4,
    "SIGTRAP": 5,
    "SIGABRT": 6,
    "SIGBUS": 7,
    "SIGFPE": 8,
    "SIGKILL": 9,
    "SIGUSR1": 10,
    "SIGSEGV": 11,
    "SIGUSR2": 12,
    "SIGPIPE": 13,
    "SIGALRM": 14,
    "SIGTERM": 15,
    "SIGSTKFLT": 16,
    "SIGCHLD": 17,
    "SIGCONT": 18,
    "SIGSTOP": 19,
    "SIGTSTP": 20,
    "SIGTTIN": 21,
    "SIGTTOU": 22,
    "SIGURG": 23,
    "SIGXCPU": 24,
    "SIGXFSZ": 25,
    "SIGVTALRM": 26,
    "SIGPROF": 27,
    "SIGWINCH": 28,
    "SIGIO": 29,
    "SIGPWR": 30,
    "SIGSYS": 31,
}
_CLONE_OPTIONS = {
    "CLONE_VM": 0x100,
    "CLONE_FS": 0x200,
    "CLONE_FILES": 0x400,
    "CLONE_SIGHAND": 0x800,
    "CLONE_PIDFD": 0x1000,
    "CLONE_PTRACE": 0x2000,
    "CLONE_VFORK": 0x4000,
    "CLONE_PARENT": 0x8000,
    "CLONE_THREAD": 0x10000,
    "CLONE_NEWNS": 0x20000,
    "CLONE_SYSVSEM": 0x40000,
    "CLONE_SETTLS": 0x80000,
    "CLONE_PARENT_SETTID": 0x100000,
    "CLONE_CHILD_CLEARTID": 0x200000,
    "CLONE_DETACHED": 0x400000,
    "CLONE_UNTRACED": 0x800000,
    "CLONE_CHILD_SETTID": 0x1000000,
    "CLONE_NEWCGROUP": 0x2000000,
    "CLONE_NEWUTS": 0x4000000,
    "CLONE_NEWIPC": 0x8000000,
    "CLONE_NEWUSER": 0x10000000,
    "CLONE_NEWPID": 0x20000000,
    "CLONE_NEWNET": 0x40000000,
    "CLONE_IO": 0x80000000,
    "CLONE_CLEAR_SIGHAND": 0x100000000,
}
_EPOLL_OPERATIONS = {"EPOLL_CTL_ADD": 1, "EPOLL_CTL_DEL": 2, "EPOLL_CTL_MOD": 3}


def enumeration(integer: str, names: Mapping[str, int]) -> str:
    """Return the TSDL of an enumeration.

    Args:
        integer: What its integer is, such as ``size = 8; align = 8;``.
        names: Its labels, and their values.

    Returns:
        The type, to be formatted once more: its braces are doubled.
    """
    labels = ", ".join(f'"{name}" = {value}' for name, value in names.items())
    return f"enum : integer {{{{ {integer} }}}} {{{{ {labels} }}}}"


def _clone_flags() -> str:
    """Return a word as a structure of two enumerations, the lowest bits first."""
    signal = enumeration(
        f"size = {_SIGNAL_BITS}; align = 1; signed = 0; base = 16;", _SIGNALS
    )
    options = enumeration(
        f"size = {_WORD_BITS - _SIGNAL_BITS}; align = 1; signed = 0; base = 16;",
        {name: value >> _SIGNAL_BITS for name, value in _CLONE_OPTIONS.items()},
    )
    return f"struct {{{{ {signal} _exit_signal; {options} _options; }}}} align(8) {{}};"


CLONE_FLAGS = _clone_flags()
"""The flags of clone(2), with ``{}`` for their name."""

POLL_OPERATIONS = (
    enumeration("size = 32; align = 8; signed = 1;", _EPOLL_OPERATIONS) + " {};"
)
"""What epoll_ctl(2) is to do, with ``{}`` for its name."""
