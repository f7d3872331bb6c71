"""IDs of threads in a PID namespace, as the kernel's events have them.

Nobody in the namespace is told these. But the event ``signal_generate`` has the ID of
the thread that gets a signal, and the number that its sender gave it: so each thread
gets one that does nothing, and what the kernel says of it is read (Linux,
``kernel/signal.c``, ``include/trace/events/signal.h``).
"""

from __future__ import annotations

import ctypes
import os
import re
import secrets
import signal
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from .proc_files import read_file
from .tracefs import Instance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .tracefs import Tracefs

__all__ = ["all_machine_ids", "machine_ids"]

_EVENT = ("signal", "signal_generate")
_SIGNALS = (signal.SIGURG, signal.SIGWINCH)
"""Which do nothing where nobody handles them, nor waits for them: those get none."""
_AT_ONCE = 2048
"""Threads of which the buffer has room for an event each."""
_CALL = {"x86_64": 297, "aarch64": 240}
"""The number of rt_tgsigqueueinfo(2)."""
_WAITING = frozenset({b"128", b"137", b"177", b"421"})
"""The numbers of rt_sigtimedwait(2), which sigwait(3) calls, too: on x86_64, on
aarch64, and of 32-bit programs on both. While a thread waits, ``/proc`` does not say
that it holds back what it waits for."""
_SENT = re.compile(
    r"\berrno=(-?\d+) code=-1 comm=.* pid=(\d+) grp=\d+ res=-?\d+$", re.MULTILINE
)
_QUEUED = -1
_ALL = (1 << 64) - 1
_INFO_BYTES = 128
_STATUS = re.compile(
    rb"^Tgid:\t(\d+)$.*^TracerPid:\t0$.*^SigBlk:\t([0-9a-f]+)$"
    rb".*^SigCgt:\t([0-9a-f]+)$",
    re.MULTILINE | re.DOTALL,
)
"""Of a thread that no debugger would be told about."""


def machine_ids(
    tracefs: Tracefs, threads: Iterable[int], *, are_own: bool = True
) -> dict[int, int]:
    """Return the IDs that threads have outside of all PID namespaces.

    Args:
        tracefs: Where their events are.
        threads: Their IDs here. Each gets a signal that does nothing.
        are_own: Whether they are the recorder's: a signal that they hold back is no
            harm then. Others may wait for it.

    Returns:
        By the ID here, those that could be found; none where ``/proc`` is of another
        namespace or the kernel does not tell; without those that would notice.
    """
    number = _CALL.get(os.uname().machine)
    try:
        if number is None or os.readlink("/proc/self") != str(os.getpid()):
            return {}
        instance = Instance(tracefs, "of-ids")
    except OSError:
        return {}
    try:
        mask = 0 if are_own else _ALL
        return _ids(instance, number, list(dict.fromkeys(threads)), mask)
    except OSError:
        return {}
    finally:
        with suppress(OSError):
            instance.remove()


def all_machine_ids(
    tracefs: Tracefs, known: Mapping[int, int]
) -> tuple[dict[int, int], int]:
    """Return the IDs of all threads that are in the namespace.

    Args:
        tracefs: As :func:`machine_ids` has it.
        known: Those of threads of the recorder.

    Returns:
        As there, and of how many threads there is none.
    """
    threads: list[int] = []
    for process in sorted(int(one) for one in os.listdir("/proc") if one.isdigit()):
        with suppress(OSError):
            threads += sorted(map(int, os.listdir(f"/proc/{process}/task")))
    rest = [one for one in threads if one not in known]
    found = {**known, **machine_ids(tracefs, rest, are_own=False)}
    rest = [one for one in threads if one not in found]
    return found, sum(os.path.exists(f"/proc/{one}") for one in rest)


def _ids(
    instance: Instance, number: int, threads: list[int], mask: int
) -> dict[int, int]:
    if instance.enable([_EVENT]):
        return {}
    kinds = " || ".join(f"sig == {int(one)}" for one in _SIGNALS)
    instance.write(
        "events/signal/signal_generate/filter", f"({kinds}) && code == {_QUEUED}"
    )
    found = {}
    for begin in range(0, len(threads), _AT_ONCE):
        part = threads[begin : begin + _AT_ONCE]
        found.update(_told(instance, number, part, mask))
        # To open it so empties it.
        instance.write("trace", "")
    return found


def _told(
    instance: Instance, number: int, threads: list[int], mask: int
) -> dict[int, int]:
    # Others send signals, too.
    first = secrets.randbelow(1 << 29)
    instance.record(is_on=True)
    for at, thread in enumerate(threads):
        _send(number, thread, first + at, mask)
    instance.record(is_on=False)
    told = {
        int(sent): int(thread) for sent, thread in _SENT.findall(instance.read("trace"))
    }
    return {
        thread: told[first + at]
        for at, thread in enumerate(threads)
        if first + at in told
    }


def _send(number: int, thread: int, token: int, mask: int) -> None:
    """Send a thread a signal with a number; one that would notice gets none.

    It may have ended, and its ID be somebody else's by now.

    Args:
        number: That of the system call.
        thread: The thread.
        token: The number.
        mask: Which signals are not sent where they are held back.
    """
    with suppress(OSError):
        is_waiting = _waits_for_signals(thread)
        found = _STATUS.search(read_file(f"/proc/{thread}/status"))
        # Again: it may have begun before that was read.
        if found is None or is_waiting or _waits_for_signals(thread):
            return
        noticed = int(found[2], 16) & mask | int(found[3], 16)
        kind = next((one for one in _SIGNALS if not noticed >> (one - 1) & 1), None)
        if kind is None:
            return
        info = (ctypes.c_int * (_INFO_BYTES // 4))(int(kind), token, _QUEUED)
        call = ctypes.CDLL(None).syscall
        call(
            ctypes.c_long(number),
            ctypes.c_long(int(found[1])),
            ctypes.c_long(thread),
            ctypes.c_long(int(kind)),
            ctypes.byref(info),
        )


def _waits_for_signals(thread: int) -> bool:
    """Tell whether a thread is in a call that returns once it gets a signal."""
    words = read_file(f"/proc/{thread}/syscall", is_small=True).split()
    return bool(words) and words[0] in _WAITING
