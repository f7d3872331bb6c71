"""The independent tools that Vestige is compared with: Babeltrace 2 and addr2line."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PEER_SECONDS = 120.0
BABELTRACE_VERSION = "2.0.4"


@dataclass(frozen=True)
class Output:
    """What a tool printed and how it ended."""

    stdout: bytes
    stderr: bytes
    status: int

    @property
    def aborted(self) -> bool:
        """Tell whether a signal ended the tool."""
        return self.status < 0 or self.status > 128

    @property
    def warnings(self) -> list[bytes]:
        """Return the loss warnings among the lines on standard error."""
        return [
            line for line in self.stderr.splitlines() if line.startswith(b"WARNING:")
        ]


@dataclass(frozen=True)
class Frame:
    """One line of `addr2line`: a function, inlined or not, and a place in it."""

    function: str
    location: str


def run_peer(
    argv: Sequence[str | Path],
    *,
    environment: Mapping[str, str] | None = None,
    text: bytes = b"",
    seconds: float = PEER_SECONDS,
) -> Output:
    """Run a tool to its end with a fixed locale and time zone UTC unless told otherwise."""
    settings = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC", **(environment or {})}
    done = subprocess.run(
        [os.fspath(word) for word in argv],
        env=settings,
        input=text,
        capture_output=True,
        timeout=seconds,
        check=False,
    )
    return Output(done.stdout, done.stderr, done.returncode)


def babeltrace_version() -> str | None:
    """Return the version of the installed Babeltrace 2, or None."""
    if shutil.which("babeltrace2") is None:
        return None
    first = run_peer(["babeltrace2", "--version"]).stdout.decode().split()
    return first[1] if len(first) > 1 else None


def missing_babeltrace() -> str | None:
    """Return why Babeltrace 2 cannot serve as a peer, or None when it can."""
    version = babeltrace_version()
    if version is None:
        return "babeltrace2 is not installed (Debian package babeltrace2)"
    if version != BABELTRACE_VERSION:
        return f"babeltrace2 is {version}; the expected text is that of {BABELTRACE_VERSION}"
    return None


def missing_addr2line() -> str | None:
    """Return why addr2line cannot serve as a peer, or None when it can."""
    if shutil.which("addr2line") is None:
        return "addr2line is not installed (Debian package binutils)"
    return None


def babeltrace(
    trace: Path, *options: str, environment: Mapping[str, str] | None = None
) -> Output:
    """Print `trace` with Babeltrace 2."""
    return run_peer(["babeltrace2", *options, trace], environment=environment)


def addr2line(
    binary: Path, addresses: Iterable[int], tool: str = "addr2line"
) -> dict[int, list[Frame]]:
    """Return the frames of each address in `binary`, innermost first.

    Args:
        binary: A file with debug information.
        addresses: Addresses as the binary's own tables use them.
        tool: `addr2line` or another program with the same options and output.
    """
    wanted = sorted(set(addresses))
    text = "".join(f"{address:#x}\n" for address in wanted).encode()
    argv: list[str | Path] = [tool, "-a", "-f", "-i", "-C", "-e", binary]
    done = run_peer(argv, text=text)
    if done.status != 0:
        raise RuntimeError(done.stderr.decode(errors="replace"))
    return _parse_frames(done.stdout.decode().splitlines())


def _parse_frames(lines: Sequence[str]) -> dict[int, list[Frame]]:
    frames: dict[int, list[Frame]] = {}
    current: list[Frame] = []
    rest = iter(lines)
    for line in rest:
        if line.startswith("0x"):
            current = frames.setdefault(int(line, 16), [])
        else:
            current.append(Frame(line, next(rest).partition(" (discriminator")[0]))
    return frames
