"""What happens to threads while the kernel is recorded, from an instance of its own.

Contexts and inclusion sets need to know whose thread it is that runs, at each record
and on each CPU. So the events that tell it have buffers that no filter touches, and
that are read before the records that come after them.
"""

from __future__ import annotations

import os
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from .formats import read_format
from .proc_facts import UNKNOWN, all_facts
from .tracefs import Instance

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from contextlib import ExitStack
    from typing import Any

    from .formats import EventFormat
    from .proc_facts import ThreadFacts
    from .tracefs import Tracefs

    Told = tuple[int, int, tuple[int, int, tuple[int, int, int], str, Any, Any, bool]]
    """As :class:`vestige.record._kernel.Collector` has a thread."""

__all__ = ["ProcessEvents", "read_threads"]

_SIZE = 1024
"""KiB of a buffer: some thousand new processes between two looks."""
_ALWAYS = frozenset({"process", "ids", "spaces"})
_SPACES = frozenset({"ids", "spaces"})
_TOLD: dict[tuple[str, str], tuple[frozenset[str], tuple[str, ...]]] = {
    ("task", "task_newtask"): (_ALWAYS, ("born", "pid", "comm", "clone_flags")),
    ("task", "task_rename"): (_ALWAYS, ("renamed", "pid", "newcomm")),
    ("sched", "sched_process_exec"): (_ALWAYS, ("executed",)),
    ("sched", "sched_process_exit"): (_ALWAYS, ("ended", "group_dead")),
    **{
        ("syscalls", f"sys_enter_{call}"): (frozenset({"ids"}), (kind, *arguments))
        for call, kind, *arguments in (
            ("setuid", "user_asked", "uid"),
            ("setreuid", "user_asked", "ruid", "euid"),
            ("setresuid", "user_asked", "ruid", "euid", "suid"),
            ("setgid", "group_asked", "gid"),
            ("setregid", "group_asked", "rgid", "egid"),
            ("setresgid", "group_asked", "rgid", "egid", "sgid"),
        )
    },
    **{
        ("syscalls", f"sys_exit_{one}"): (frozenset({"ids"}), ("ids", "ret"))
        for one in (
            *("setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid"),
        )
    },
    ("syscalls", "sys_enter_unshare"): (_SPACES, ("unshared", "unshare_flags")),
    ("syscalls", "sys_enter_setns"): (_SPACES, ("entered", "flags")),
    **{
        ("syscalls", f"sys_exit_{one}"): (_SPACES, ("spaces", "ret"))
        for one in ("setns", "unshare")
    },
}
"""Events, for what they are needed, what they tell and in which fields."""
_UNBLOCKED = os.O_RDONLY | os.O_NONBLOCK
_THREAD_AT = 4


class ProcessEvents:
    """An instance with these events, which records at once.

    Args:
        tracefs: Where it is made.
        clock: The clock of the recording, by the kernel's name.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, tracefs: Tracefs, clock: str) -> None:
        self._sources: set[str] = set()
        self._known = dict(_events(tracefs))
        self._instance = Instance(tracefs, "of-processes")
        try:
            self._instance.write("trace_clock", clock)
            self._instance.write("buffer_size_kb", _SIZE)
            self._instance.record(is_on=True)
        except BaseException:
            self.close()
            raise

    def need(self, sources: Iterable[str]) -> bool:
        """Know more of threads from now on.

        Args:
            sources: What must be known, see :func:`.contexts.source_of`.

        Returns:
            Whether it was not known before: threads are to be read then.
        """
        new = set(sources) - self._sources
        wanted = [key for key, (source, _) in _TOLD.items() if source & new]
        self._instance.enable(one for one in wanted if one in self._known)
        self._sources |= new
        return bool(new)

    def open_files(self, opened: ExitStack) -> list[int]:
        """Open the pages of all CPUs.

        Args:
            opened: Closes them.
        """
        pages = "per_cpu/cpu{}/trace_pipe_raw"
        return [
            self._instance.open_until(opened, pages.format(cpu), _UNBLOCKED)
            for cpu in self._instance.cpus()
        ]

    def events(self) -> list[tuple[int, str, list[int]]]:
        """Return the events, as :class:`vestige.record._kernel.Collector` has them."""
        return [
            (
                event.id,
                _TOLD[key][1][0],
                [_place(event, one) for one in _TOLD[key][1][1:]],
            )
            for key, event in self._known.items()
        ]

    def close(self) -> None:
        """Remove the instance."""
        with suppress(OSError):
            self._instance.remove()


def read_threads(
    now: Callable[[], int], ids: Mapping[int, int] | None = None
) -> list[Told]:
    """Read what is known of all threads.

    Args:
        now: Gives the present value of the clock of the recording.
        ids: In a PID namespace, the IDs that the kernel has for threads; others are
            left out.
    """
    found = all_facts(now)
    if ids is not None:
        found = [
            (ids[thread], time, _for_the_kernel(one, ids))
            for thread, time, one in found
            if thread in ids and one.process in ids
        ]
    return [
        (thread, time, (*one[:3], one.name.decode("latin-1"), *one[4:]))
        for thread, time, one in found
    ]


def _for_the_kernel(facts: ThreadFacts, ids: Mapping[int, int]) -> ThreadFacts:
    """Return facts with the IDs that the kernel has."""
    return facts._replace(
        process=ids[facts.process],
        parent=ids.get(facts.parent, UNKNOWN),
        is_outer=False,
    )


def _events(tracefs: Tracefs) -> Iterator[tuple[tuple[str, str], EventFormat]]:
    for system, name in _TOLD:
        # A kernel without it tells less.
        with suppress(OSError):
            text = tracefs.read(f"events/{system}/{name}/format")
            yield (system, name), read_format(system, name, text)


def _place(event: EventFormat, field: str) -> int:
    """Return where a field is; 0: nowhere."""
    place = event.at(field)
    if place is None and field == "pid":
        return _THREAD_AT
    return place or 0
