"""A private LTTng: one session daemon, its sessions, and the programs that they record.

`LttngEnvironment` owns every process and directory it creates and ends them all in
`close()`. Where the machine allows it (Linux name spaces, as root), the daemon lives in
its own mount, PID and host name space: it then shares no socket, no shared memory and
no host name with another daemon on the machine, and nothing of it can outlive us.
Elsewhere it runs next to the tests with its own `LTTNG_HOME`, or, for root with a
daemon that runs already, that daemon is used.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import Self

from support.waiting import wait_until

COMMAND_SECONDS = 120.0
PROGRAM_SECONDS = 60.0
START_SECONDS = 120.0

REQUIRED_TOOLS = ("lttng", "lttng-sessiond")
TRACEPOINT_HEADER = "#include <lttng/tracepoint.h>\n"

DL_HELPER = "liblttng-ust-dl.so"
FORK_HELPER = "liblttng-ust-fork.so"
CYG_PROFILE_HELPER = "liblttng-ust-cyg-profile.so"
CYG_PROFILE_FAST_HELPER = "liblttng-ust-cyg-profile-fast.so"

STATE_DUMP_EVENTS = ("lttng_ust_statedump:*", "lttng_ust_lib:*", "lttng_ust_dl:*")
DEBUG_INFO_CONTEXTS = ("ip", "vpid", "vtid")


class LttngError(Exception):
    """A command of LTTng, or a program under it, failed or did not end in time."""


class Buffers(StrEnum):
    """Who shares a channel's ring buffers."""

    PER_USER = "uid"
    PER_PROCESS = "pid"


@dataclass(frozen=True)
class Channel:
    """The options of `lttng enable-channel` that the tests use."""

    name: str = "channel0"
    buffers: Buffers = Buffers.PER_USER
    overwrite: bool = False
    sub_buffer_size: str = ""
    """Such as `4096` or `1M`; empty for LTTng's default."""
    sub_buffer_count: int = 0
    file_size: str = ""
    """Largest size of a data stream file; empty for no limit."""
    file_count: int = 0
    """Most files of a data stream; 0 for no limit."""
    contexts: Sequence[str] = ()
    events: Sequence[str] = ("*",)

    def arguments(self) -> list[str]:
        """Return the options for `lttng enable-channel`."""
        arguments = ["--userspace", f"--buffers-{self.buffers}"]
        arguments.append("--overwrite" if self.overwrite else "--discard")
        if self.sub_buffer_size:
            arguments.append(f"--subbuf-size={self.sub_buffer_size}")
        if self.sub_buffer_count:
            arguments.append(f"--num-subbuf={self.sub_buffer_count}")
        if self.file_size:
            arguments.append(f"--tracefile-size={self.file_size}")
        if self.file_count:
            arguments.append(f"--tracefile-count={self.file_count}")
        return [*arguments, self.name]


@dataclass(frozen=True)
class Program:
    """A program to run while a session records."""

    argv: Sequence[str | Path]
    preload: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: float = PROGRAM_SECONDS


def missing_requirement() -> str | None:
    """Return why LTTng cannot be used here, or None when it can."""
    for tool in REQUIRED_TOOLS:
        if shutil.which(tool) is None:
            return f"{tool} is not installed (Debian package lttng-tools)"
    if shutil.which("gcc") is None:
        return "gcc is not installed"
    probe = subprocess.run(
        ["gcc", "-E", "-x", "c", "-", "-o", os.devnull],
        input=TRACEPOINT_HEADER.encode(),
        capture_output=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    if probe.returncode != 0:
        return (
            "the LTTng-UST headers are not installed (Debian package liblttng-ust-dev)"
        )
    return None


def can_use_name_spaces() -> bool:
    """Tell whether this process may create mount, PID and host name spaces."""
    if shutil.which("unshare") is None or shutil.which("nsenter") is None:
        return False
    probe = subprocess.run(
        [
            "unshare",
            "--mount",
            "--uts",
            "--pid",
            "--fork",
            "mount",
            "-t",
            "tmpfs",
            "none",
            "/run",
        ],
        capture_output=True,
        timeout=COMMAND_SECONDS,
        check=False,
    )
    return probe.returncode == 0


class LttngEnvironment:
    """One session daemon and everything that runs under it.

    Args:
        host_name: The host name that traces shall show; needs name spaces.
        private_directories: Directories replaced by empty ones, for the daemon and its
            programs only; needs name spaces.
    """

    def __init__(
        self, host_name: str = "", private_directories: Sequence[Path] = ()
    ) -> None:
        self.host_name = host_name
        self._private_directories = [
            Path("/run"),
            Path("/dev/shm"),
            *private_directories,
        ]
        self._needs_name_spaces = bool(host_name or private_directories)
        self._home = Path(tempfile.mkdtemp(prefix="lttng-home-"))
        self._daemon: subprocess.Popen[bytes] | None = None
        self._name_space_pid: int | None = None
        self._session_count = 0

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def start(self) -> None:
        """Start the session daemon, or find the one to share, and wait until it answers.

        Raises:
            LttngError: When name spaces are needed and not available.
            DeadlineExpiredError: When the daemon does not answer.
        """
        if can_use_name_spaces():
            self._start_in_name_spaces()
        elif self._needs_name_spaces:
            raise LttngError(
                "a host name or private directories need name spaces (root)"
            )
        elif not self._answers():
            self._daemon = self._spawn(["lttng-sessiond", "--no-kernel"])
        wait_until(self._answers, "lttng-sessiond answers", START_SECONDS)

    def close(self) -> None:
        """End the daemon and every process under it, and remove its directory."""
        if self._daemon is not None:
            for wanted in (signal.SIGTERM, signal.SIGKILL):
                self._signal_daemon(wanted)
                try:
                    self._daemon.wait(timeout=COMMAND_SECONDS)
                    break
                except subprocess.TimeoutExpired:
                    continue
            self._daemon = None
        shutil.rmtree(self._home, ignore_errors=True)

    def run(
        self,
        argv: Sequence[str | Path],
        *,
        environment: Mapping[str, str] | None = None,
        seconds: float = COMMAND_SECONDS,
        check: bool = True,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command where the daemon lives and return what it printed.

        Raises:
            LttngError: When it does not end in time or, with `check`, fails.
        """
        command = self._inside([os.fspath(word) for word in argv], environment or {})
        try:
            done = subprocess.run(
                command,
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise LttngError(
                f"{shlex.join(command)}: still running after {seconds:g} s"
            ) from error
        if check and done.returncode != 0:
            text = (done.stdout + done.stderr).decode(errors="replace")
            raise LttngError(
                f"{shlex.join(command)}: exit status {done.returncode}\n{text}"
            )
        return done

    def run_program(self, program: Program) -> bytes:
        """Run a traced program to its end and return its standard output."""
        environment = {"LTTNG_UST_REGISTER_TIMEOUT": "20000", **program.environment}
        if program.preload:
            environment["LD_PRELOAD"] = ":".join(program.preload)
        done = self.run(program.argv, environment=environment, seconds=program.seconds)
        return done.stdout

    @contextmanager
    def session(
        self, output: Path, channels: Sequence[Channel], name: str = ""
    ) -> Iterator[str]:
        """Record into `output` while the block runs; the trace is complete after it."""
        self._session_count += 1
        name = name or f"session-{self._session_count}"
        self.run(["lttng", "create", name, f"--output={output}"])
        try:
            for channel in channels:
                self._enable(name, channel)
            self.run(["lttng", "start", name])
            yield name
            self.run(["lttng", "stop", name])
        finally:
            self.run(["lttng", "destroy", name])

    def record(
        self,
        output: Path,
        programs: Sequence[Program],
        channels: Sequence[Channel] = (Channel(),),
        name: str = "",
    ) -> Path:
        """Run programs one after another under a session and return the trace directory."""
        with self.session(output, channels, name):
            for program in programs:
                self.run_program(program)
        return output

    def _enable(self, session: str, channel: Channel) -> None:
        self.run(
            ["lttng", "enable-channel", f"--session={session}", *channel.arguments()]
        )
        where = ["--userspace", f"--session={session}", f"--channel={channel.name}"]
        if channel.contexts:
            types = [f"--type={context}" for context in channel.contexts]
            self.run(["lttng", "add-context", *where, *types])
        self.run(["lttng", "enable-event", *where, ",".join(channel.events)])

    def _start_in_name_spaces(self) -> None:
        script = [
            f"mount -t tmpfs none {shlex.quote(str(p))}"
            for p in self._private_directories
        ]
        if self.host_name:
            script.append(f"hostname {shlex.quote(self.host_name)}")
        # The shell stays the first process of the PID name space and reaps orphans.
        script.append("lttng-sessiond --no-kernel & wait; exit 1")
        flags = [
            "--mount",
            "--uts",
            "--pid",
            "--fork",
            "--kill-child=SIGKILL",
            "--mount-proc",
        ]
        self._daemon = self._spawn(["unshare", *flags, "sh", "-ec", "\n".join(script)])
        children = Path(f"/proc/{self._daemon.pid}/task/{self._daemon.pid}/children")
        wait_until(
            lambda: bool(children.read_text().split()), "name spaces", START_SECONDS
        )
        self._name_space_pid = int(children.read_text().split()[0])

    def _spawn(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self._home / "sessiond.log").open("wb") as log:
            return subprocess.Popen(
                command,
                env=self._environment(),
                cwd=self._home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _signal_daemon(self, wanted: signal.Signals) -> None:
        assert self._daemon is not None
        if self._daemon.poll() is None:
            os.killpg(self._daemon.pid, wanted)
        if self._name_space_pid is not None:
            try:
                os.kill(self._name_space_pid, signal.SIGKILL)
            except ProcessLookupError:
                self._name_space_pid = None

    def _answers(self) -> bool:
        return self.run(["lttng", "--no-sessiond", "list"], check=False).returncode == 0

    def _inside(self, argv: list[str], environment: Mapping[str, str]) -> list[str]:
        settings = [f"{key}={value}" for key, value in environment.items()]
        command = ["env", *settings, *argv] if settings else argv
        if self._name_space_pid is None:
            return command
        target = f"--target={self._name_space_pid}"
        return ["nsenter", target, "--mount", "--uts", "--pid", "--wd=/", *command]

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(self._home),
            "LTTNG_HOME": str(self._home),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
        }
