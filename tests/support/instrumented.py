"""Programs with tracepoints, compiled against Vestige's headers, and their records."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import vestige
from support.compilers import PROGRAMS, run_tool
from support.recorded import record_command, without_losses
from vestige.record.development import compile_flags, link_flags

__all__ = ["TRACEPOINTS", "Sources", "payloads", "record_instrumented", "records"]

TRACEPOINTS = PROGRAMS / "tracepoints"
SECONDS = 60.0
TRACERS_OWN = (
    "lttng_ust_statedump:",
    "lttng_ust_lib:",
    "lttng_ust_cyg_profile",
    "vestige:",
)


@dataclass(frozen=True)
class Sources:
    """Compiles into a directory.

    Args:
        directory: Where objects, libraries and programs go, and where sources may be.
        compiler: The compiler and its first options.
        has_lttng: Whether LTTng's own headers are wanted, and its library.
    """

    directory: Path
    compiler: Sequence[str] = ("gcc", "-g", "-O1")
    has_lttng: bool = False

    @property
    def _flags(self) -> list[str]:
        own = [] if self.has_lttng else compile_flags()
        return [*own, f"-I{self.directory}", f"-I{TRACEPOINTS}", f"-I{PROGRAMS}"]

    @property
    def libraries(self) -> list[str]:
        """What documentation and makefiles link."""
        own = [] if self.has_lttng else link_flags()
        return [*own, "-llttng-ust", "-ldl", "-lpthread"]

    def write(self, name: str, text: str) -> Path:
        """Write a source file into the directory."""
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path

    def compile(self, source: str | Path, *flags: str, name: str = "") -> Path:
        """Compile a source of the directory or of tests/programs to an object file."""
        path = self._find(source)
        target = self.directory / (name or f"{path.stem}.o")
        self.run(*self.compiler, "-c", *self._flags, *flags, "-o", target, path)
        return target

    def link(self, name: str, *words: str | Path) -> Path:
        """Link a program, or with -shared a library, out of objects and flags."""
        target = self.directory / name
        self.run(*self.compiler, "-o", target, *words)
        return target

    def build(self, name: str, *sources: str | Path, flags: Sequence[str] = ()) -> Path:
        """Compile sources and link them to a program."""
        objects = [self.compile(source, *flags) for source in sources]
        return self.link(name, *flags, *objects, *self.libraries)

    def _find(self, source: str | Path) -> Path:
        places = (self.directory / source, TRACEPOINTS / source, PROGRAMS / source)
        return next(path for path in places if path.is_file())

    def run(self, *words: str | Path) -> bytes:
        """Run a tool, or a program, in the directory; return what it printed."""
        return run_tool(list(words), self.directory)


def record_instrumented(
    output: Path,
    program: Sequence[str | Path],
    *options: str,
    environment: Mapping[str, str] | None = None,
    status: int = 0,
) -> Path:
    """Record a program, which must end with a status; return the trace."""
    command = record_command(output, program, "--quiet", *options)
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        env={**os.environ, **(environment or {})},
    )
    assert (done.returncode, without_losses(done.stderr)) == (status, "")
    return output


def records(trace: Path) -> list[vestige.Event]:
    """Return the event records of a trace's tracepoints, which must be undamaged."""
    opened = vestige.open(trace)
    found = [
        event for event in opened if not (event.name or "").startswith(TRACERS_OWN)
    ]
    assert not opened.damage
    assert not opened.losses
    return found


def payloads(trace: Path) -> list[tuple[str | None, dict[str, object]]]:
    """Return names and payloads of the event records of a trace's tracepoints."""
    return [(event.name, dict(event.payload)) for event in records(trace)]
