"""Places where recording is hard: a full disk, a full memory file system, a control group."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from support.waiting import wait_until

__all__ = ["Surroundings", "UnavailableError"]

SECONDS = 120.0
SHARED_MEMORY = "40m"
"""Of the namespace with little of it; with less than 32 MiB an arena would be elsewhere."""
GROUP_BASE = 14 << 20
"""Less than the recorder and a program take in a control group, some 30 MB."""
CGROUPS = Path("/sys/fs/cgroup")


class UnavailableError(Exception):
    """This machine does not have such a place, or not for this user."""


class Surroundings:
    """A place to record in, for a while.

    Args:
        kind: ``disk``: the file system of :attr:`directory` is small; ``memory``: the one
            of shared memory is, and a program can fill it; ``group``: memory is limited;
            others are as they are.
        size: Of the disk, or the room in a control group, KiB.
        directory: Where files may be.

    Raises:
        UnavailableError: When it is entered: there is no such place here.
    """

    def __init__(self, kind: str, size: int, directory: Path) -> None:
        self.directory = directory
        """Where the recording goes."""
        self.filler: Path | None = None
        """A file that a program can make as large as it goes."""
        self._kind = kind
        self._size = size
        self._prefix: list[str] = []
        self._stack = ExitStack()
        self._grow: list[str] = []

    def __enter__(self) -> Self:
        enter: dict[str, Callable[[], None]] = {
            "disk": self._mount_disk,
            "memory": self._limit_memory,
            "group": self._enter_group,
        }
        if self._kind in enter:
            if os.geteuid() != 0:
                raise UnavailableError("only root limits disks and memory")
            with self._stack:
                enter[self._kind]()
                self._stack = self._stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.close()

    def command(self, words: Sequence[str]) -> list[str]:
        """Return the command line that runs another one here.

        It is one process with that, so that signals and IDs are as they would be.
        """
        return [*self._prefix, *words]

    def make_room(self) -> None:
        """Let there be enough of what there was too little of."""
        if self._grow:
            subprocess.run(self._grow, check=True)
        if self._kind == "group":
            self._prefix = []

    def _mount_disk(self) -> None:
        disk = self.directory / "disk"
        disk.mkdir()
        _mount(["-o", f"size={self._size}k", "tmpfs", disk])
        self._stack.callback(lambda: subprocess.run(["umount", "-l", disk], check=True))
        self.directory = disk
        self._grow = ["mount", "-o", "remount,size=300m", str(disk)]

    def _limit_memory(self) -> None:
        """Make a mount namespace; a process keeps it for those that come later."""
        script = (
            f"mount -t tmpfs -o size={SHARED_MEMORY} tmpfs /dev/shm && echo && read _"
        )
        keeper = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", script],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._stack.enter_context(keeper)
        self._stack.callback(keeper.kill)
        assert keeper.stdout is not None
        if keeper.stdout.readline() != b"\n":
            raise UnavailableError("may not mount a file system")
        self._prefix = ["nsenter", f"--mount=/proc/{keeper.pid}/ns/mnt", "--"]
        self.filler = Path("/dev/shm/filler")
        self._grow = [*self._prefix, "rm", "-f", str(self.filler)]

    def _enter_group(self) -> None:
        group = _make_group(self._stack, GROUP_BASE + (self._size << 10))
        script = 'echo $$ >"$0" && exec "$@"'
        self._prefix = ["sh", "-c", script, str(group / "cgroup.procs")]


def _mount(words: Sequence[str | Path]) -> None:
    done = subprocess.run(
        ["mount", "-t", "tmpfs", *words], capture_output=True, check=False
    )
    if done.returncode:
        raise UnavailableError("may not mount a file system")


def _make_group(stack: ExitStack, limit: int) -> Path:
    """Make a control group whose memory is limited, of either version."""
    for base, name in (
        (CGROUPS / "memory", "memory.limit_in_bytes"),
        (CGROUPS, "memory.max"),
    ):
        group = base / f"vestige-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        stack.callback(_remove_group, group)
        with suppress(OSError):
            (group / name).write_text(str(limit), encoding="ascii")
            return group
    raise UnavailableError("memory cannot be limited: no control groups of one's own")


def _remove_group(group: Path) -> None:
    for line in (group / "cgroup.procs").read_text(encoding="ascii").split():
        with suppress(ProcessLookupError):
            os.kill(int(line), signal.SIGKILL)

    def is_removed() -> bool:
        with suppress(OSError):
            group.rmdir()
        return not group.exists()

    wait_until(is_removed, "a control group is empty", SECONDS)
