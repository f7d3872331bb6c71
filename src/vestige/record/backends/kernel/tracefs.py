"""The kernel's tracefs: finding it, and an instance of it that is ours alone.

An instance is a directory below ``instances`` with buffers, events and settings of its
own; making one changes nothing for others (Linux, ``Documentation/trace/ftrace.rst``).
It stays when its maker is killed, so its name says who that was.
"""

from __future__ import annotations

import errno
import itertools
import os
import stat
from contextlib import suppress

from ...._typing import TYPE_CHECKING
from ..._kernel import open_tracefs
from ...process_stat import stat_words

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import ExitStack

__all__ = [
    "PLACES",
    "Instance",
    "NoKernelTracerError",
    "Tracefs",
    "cpu_numbers",
    "is_running_since",
]

PLACES = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")
"""Where it is mounted, as a rule."""
PREFIX = "vestige-"
_PRESENT = "/sys/devices/system/cpu/present"
_MOST_BYTES = 128
"""Of a channel's name, in that of its instance; those of files have 255 at most."""
_MOST_REMOVALS = 10
"""How often an instance is made anew that others remove at once."""
_numbers = itertools.count()
STARTED = 19
"""Which of the words of a process says when it was started (proc_pid_stat(5))."""


class NoKernelTracerError(Exception):
    """The kernel cannot be recorded; the text says why."""


class Tracefs:
    """The file system.

    Raises:
        NoKernelTracerError: There is none, or no right to use it.
    """

    def __init__(self) -> None:
        top = _open_mounted()
        self._top = _open_alone() if top is None else top
        try:
            os.close(self.open("instances", os.O_RDONLY | os.O_DIRECTORY))
        except OSError as error:
            self.close()
            raise NoKernelTracerError(
                f"tracefs has no instances: {error.strerror}"
            ) from error
        try:
            # A kernel that is locked down shows the directories, and no more.
            os.close(self.open("available_events"))
        except OSError as error:
            self.close()
            raise NoKernelTracerError(
                f"tracefs tells of no events: {error.strerror}"
            ) from error

    def close(self) -> None:
        """Give it back."""
        os.close(self._top)

    def open(self, path: str, flags: int = os.O_RDONLY) -> int:
        """Open a file.

        Args:
            path: Below the topmost directory.
            flags: Those of open(2).

        Returns:
            The descriptor.

        Raises:
            OSError: It cannot be opened.
        """
        return os.open(path, flags | os.O_CLOEXEC, dir_fd=self._top)

    def read(self, path: str) -> str:
        """Return the text of a file.

        Raises:
            OSError: It cannot be read.
        """
        with os.fdopen(self.open(path), "rb") as file:
            return file.read().decode("utf-8", "replace")

    def write(self, path: str, value: str | int, *, is_added: bool = False) -> None:
        """Write a setting.

        Args:
            path: The file.
            value: What it is set to.
            is_added: Whether what it is set to stays, too.

        Raises:
            OSError: The kernel refuses it.
        """
        # To cut off what is in ``set_event`` switches all events off.
        descriptor = self.open(path, os.O_WRONLY | (0 if is_added else os.O_TRUNC))
        try:
            os.write(descriptor, str(value).encode())
        finally:
            os.close(descriptor)

    def names(self, path: str) -> list[str]:
        """Return what is in a directory.

        Raises:
            OSError: It cannot be read.
        """
        descriptor = self.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            return sorted(os.listdir(descriptor))
        finally:
            os.close(descriptor)

    def make(self, path: str) -> None:
        """Make a directory.

        Raises:
            OSError: It cannot be made.
        """
        os.mkdir(path, dir_fd=self._top)

    def remove(self, path: str) -> None:
        """Remove a directory.

        Raises:
            OSError: It cannot be removed, as while a file in it is open.
        """
        os.rmdir(path, dir_fd=self._top)

    def remove_abandoned(self) -> list[str]:
        """Remove the instances of recorders that are dead.

        Returns:
            Their names.
        """
        removed = []
        for name in self.names("instances"):
            if name.startswith(PREFIX) and not _is_alive(name):
                # One that is used stays: the kernel refuses it. Its maker may be in
                # another PID namespace.
                with suppress(OSError):
                    self.remove(f"instances/{name}")
                    removed.append(name)
        return removed


class Instance:
    """An instance of this process, which records nothing yet.

    Args:
        tracefs: Where it is made.
        channel: What it is for.

    Raises:
        OSError: It cannot be made.
    """

    def __init__(self, tracefs: Tracefs, channel: str) -> None:
        self._tracefs = tracefs
        started = stat_words(os.getpid())[STARTED]
        self.name = f"{PREFIX}{os.getpid()}-{started}-{_short(channel)}"
        """Its name: process, when that was started, channel."""
        self._path = f"instances/{self.name}"
        self._held = self._make_and_hold()
        os.write(self._held, b"0")

    def _make_and_hold(self) -> int:
        """Make it, and open a file: nobody can remove it while that is open."""
        for _ in range(_MOST_REMOVALS):
            self._tracefs.make(self._path)
            try:
                return self.open("tracing_on", os.O_WRONLY)
            except OSError as error:
                if error.errno not in {errno.ENODEV, errno.ENOENT}:
                    self._tracefs.remove(self._path)
                    raise
            # To recorders in other PID namespaces its maker looks dead.
        raise OSError(errno.ENODEV, "others remove instances of tracefs", self._path)

    def open(self, path: str, flags: int = os.O_RDONLY) -> int:
        """Open a file of it, as :meth:`Tracefs.open` does."""
        return self._tracefs.open(f"{self._path}/{path}", flags)

    def open_until(self, closed: ExitStack, path: str, flags: int = os.O_RDONLY) -> int:
        """Open a file of it.

        Args:
            closed: Closes it.
            path: The file.
            flags: As of :meth:`Tracefs.open`.
        """
        descriptor = self.open(path, flags)
        closed.callback(os.close, descriptor)
        return descriptor

    def read(self, path: str) -> str:
        """Return the text of a file of it."""
        return self._tracefs.read(f"{self._path}/{path}")

    def write(self, path: str, value: str | int, *, is_added: bool = False) -> None:
        """Write a setting of it, as :meth:`Tracefs.write` does."""
        self._tracefs.write(f"{self._path}/{path}", value, is_added=is_added)

    def enable(
        self, events: Iterable[tuple[str, str]]
    ) -> list[tuple[tuple[str, str], str]]:
        """Switch events on.

        Args:
            events: Their systems and names.

        Returns:
            Those that the kernel refused, each with the reason.
        """
        return self._switch("", events)

    def enable_all(self, system: str) -> bool:
        """Switch all events of a system on, at once.

        For each one that is written, the kernel goes through all that there are.

        Args:
            system: The system.

        Returns:
            Whether it has: else it may have refused a few.
        """
        return not self._switch("", [(system, "*")])

    def disable(self, events: Iterable[tuple[str, str]]) -> None:
        """Switch events off.

        Args:
            events: Their systems and names.
        """
        self._switch("!", events)

    def _switch(
        self, sign: str, events: Iterable[tuple[str, str]]
    ) -> list[tuple[tuple[str, str], str]]:
        refused = []
        descriptor = self.open("set_event", os.O_WRONLY | os.O_APPEND)
        try:
            for system, name in events:
                try:
                    os.write(descriptor, f"{sign}{system}:{name}\n".encode())
                except OSError as error:
                    why = error.strerror or str(error)
                    refused.append(((system, name), why))
        finally:
            os.close(descriptor)
        return refused

    def tell_contents(self, most: int) -> None:
        """Say how much of that to which arguments of calls lead events have.

        Args:
            most: Bytes; the kernel takes the number nearest to it that it can do.
        """
        # Before Linux 6.19, events have nothing of it.
        with suppress(FileNotFoundError):
            self.write("syscall_user_buf_size", most)

    def cpus(self) -> list[int]:
        """Return the numbers of the CPUs that are there, switched on or off.

        The kernel has files for all that there might ever be, often some hundred.
        """
        names = self._tracefs.names(f"{self._path}/per_cpu")
        there = _present()
        return sorted(
            number
            for number in (int(name[3:]) for name in names if name[3:].isdigit())
            if there is None or number in there
        )

    def remove(self) -> None:
        """Remove it; it records nothing any more.

        Raises:
            OSError: A file of it is open.
        """
        with suppress(OSError):
            os.write(self._held, b"0")
        os.close(self._held)
        self._tracefs.remove(self._path)

    def record(self, *, is_on: bool) -> None:
        """Let it record, or stop that.

        Raises:
            OSError: The kernel refuses it.
        """
        os.write(self._held, b"1" if is_on else b"0")


def _present() -> set[int] | None:
    """Return the numbers of the CPUs that are there; ``None``: nobody tells."""
    try:
        with open(_PRESENT, encoding="ascii") as file:
            text = file.read()
        return cpu_numbers(text)
    except (OSError, ValueError):
        return None


def cpu_numbers(text: str) -> set[int]:
    """Return the numbers of a list of CPUs, such as ``0-3,8``.

    Args:
        text: The list, as the kernel writes it.

    Raises:
        ValueError: It is none.
    """
    numbers: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers


def _short(channel: str) -> str:
    """Return a name for which there is room behind what says whose it is."""
    raw = channel.encode()
    if len(raw) <= _MOST_BYTES:
        return channel
    return f"{raw[:_MOST_BYTES].decode(errors='ignore')}-{next(_numbers)}"


def _open_mounted() -> int | None:
    """Open it where it is mounted; ``None`` if it is nowhere."""
    for place in PLACES:
        with suppress(OSError):
            top = os.open(place, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            with suppress(OSError):
                found = os.stat("instances", dir_fd=top)
                if stat.S_ISDIR(found.st_mode):
                    return top
            os.close(top)
    return None


def _open_alone() -> int:
    """Open it without mounting it anywhere."""
    try:
        return open_tracefs()
    except OSError as error:
        raise NoKernelTracerError(_why(error)) from error


def _why(error: OSError) -> str:
    if error.errno in {errno.EPERM, errno.EACCES}:
        if os.geteuid() == 0:
            return "tracefs is not mounted, and this container may not mount it"
        return "only root may use tracefs"
    if error.errno == errno.ENODEV:
        return "this kernel has no tracefs"
    if error.errno == errno.ENOSYS:
        return "tracefs is not mounted, and this kernel is older than 5.2"
    return f"tracefs cannot be opened: {error.strerror}"


def _is_alive(name: str) -> bool:
    """Tell whether the maker of an instance goes on."""
    process, _, rest = name.removeprefix(PREFIX).partition("-")
    started = rest.partition("-")[0]
    if not (process.isdigit() and started.isdigit()):
        # Nobody knows who made it.
        return True
    return is_running_since(int(process), started)


def is_running_since(process: int, started: str) -> bool:
    """Tell whether a process that was started then goes on.

    Args:
        process: Its ID.
        started: When, as :func:`stat_words` has it at :data:`STARTED`.
    """
    words = stat_words(process)
    # Of one whose end nobody has waited for, nothing but its number is left.
    return words[STARTED : STARTED + 1] == [started] and words[0] not in {"Z", "X"}
