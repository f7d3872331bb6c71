"""The clock of programs of LTTng-UST: the system's, or one that a plugin brings.

lttng-ust(3) has a variable for that, ``LTTNG_UST_CLOCK_PLUGIN``, which programs and
their daemon have to have alike. The plugin is loaded into a process of its own: what it
does there ends no daemon.
"""

from __future__ import annotations

import json
import os
import re
import select
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from ...._typing import TYPE_CHECKING
from ....errors import RecordError
from ...process_stat import stat_words
from . import clock_plugin

if TYPE_CHECKING:
    from subprocess import Popen
    from typing import Any

__all__ = ["PLUGIN_VARIABLE", "Clock", "PluginClock", "SessionClock", "chosen_clock"]

PLUGIN_VARIABLE = "LTTNG_UST_CLOCK_PLUGIN"
BOOT = "/proc/sys/kernel/random/boot_id"
"""What LTTng has as UUID of the clock: traces of one boot have the same one."""
LONGEST_START, LONGEST_ANSWER = 5.0, 0.5
"""Seconds for what a plugin does, without those that it waits for a processor."""
LOOK = 0.05
"""Seconds between two looks at what it does."""
MOST_TIMES = 10
"""How often as long it is waited for on a busy machine."""
MOST_ANSWER_BYTES = 65536
SAMPLES = 10
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Clock:
    """The monotonic clock of the system."""

    name = "monotonic"
    description = "Monotonic Clock"
    frequency = 1_000_000_000
    """Its ticks in a second."""

    @property
    def uuid(self) -> str:
        """What tells it from other clocks of its name."""
        with open(BOOT, encoding="ascii") as file:
            return file.read().strip()

    def read(self) -> int:
        """Return its ticks."""
        return time.monotonic_ns()

    def offset(self) -> int:
        """Return how many of its ticks after the begin of 1970 it was 0."""
        best = None
        for _ in range(SAMPLES):
            before = self.read()
            real = time.time_ns()
            after = self.read()
            ticks = real * self.frequency // 1_000_000_000
            if best is None or after - before < best[0]:
                best = (after - before, ticks - (before + after) // 2)
        assert best is not None  # noqa: S101 - the loop has run
        return best[1]

    def close(self) -> None:
        """Let it go."""


class SessionClock(Clock):
    """A clock as a session describes it in all of its traces.

    Args:
        clock: The clock.
        offset: What it was at the begin of 1970, negated.
    """

    def __init__(self, clock: Clock, offset: int) -> None:
        self._clock, self._offset = clock, offset
        self.name, self.description = clock.name, clock.description
        self.frequency = clock.frequency

    @property
    def uuid(self) -> str:
        """What tells it from other clocks of its name."""
        return self._clock.uuid

    def read(self) -> int:
        """Return its ticks."""
        return self._clock.read()

    def offset(self) -> int:
        """Return how many of its ticks after the begin of 1970 it was 0."""
        return self._offset


class PluginClock(Clock):
    """The clock of a plugin.

    Args:
        path: The plugin.

    Raises:
        RecordError: It cannot be loaded, or brings no clock that metadata can describe.
    """

    def __init__(self, path: str) -> None:
        # Hardly anybody has a plugin.
        import subprocess  # noqa: PLC0415 - see above

        # As a library of LTTng-UST may come with the plugin, which need not wait here.
        variables = {**os.environ, "LTTNG_UST_REGISTER_TIMEOUT": "0"}
        self._last = 0
        self._process: Popen[bytes] = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(clock_plugin.__file__)), path],
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._describe(path, self._answer(LONGEST_START))
        except BaseException:
            self.close()
            raise

    def _describe(self, path: str, raw: bytes) -> None:
        try:
            facts: Mapping[str, Any] = json.loads(raw)
        except ValueError:
            raise RecordError(
                f"{PLUGIN_VARIABLE}: expected a plugin that can be loaded", path=path
            ) from None
        if "error" in facts:
            raise RecordError(f"{PLUGIN_VARIABLE}: {facts['error']}", path=path)
        self.name = facts.get("name") or Clock.name
        self.description = facts.get("description") or ""
        self.frequency = facts.get("frequency") or Clock.frequency
        if not _IDENTIFIER.fullmatch(self.name):
            raise RecordError(
                f"{PLUGIN_VARIABLE}: the clock's name is {self.name!r}: expected "
                "letters, digits and '_'",
                path=path,
            )
        self._uuid = None
        if facts.get("uuid") is not None:
            try:
                self._uuid = str(uuid.UUID(facts["uuid"]))
            except ValueError:
                raise RecordError(
                    f"{PLUGIN_VARIABLE}: the clock's UUID is {facts['uuid']!r}: "
                    "expected one as of RFC 4122",
                    path=path,
                ) from None

    @property
    def uuid(self) -> str:
        """What tells it from other clocks of its name."""
        return super().uuid if self._uuid is None else self._uuid

    def read(self) -> int:
        """Return its ticks; if it does not answer, those that it had last."""
        assert self._process.stdin is not None  # noqa: S101 - it was asked for
        with suppress(OSError, ValueError):
            os.write(self._process.stdin.fileno(), b"\n")
            self._last = int(self._answer(LONGEST_ANSWER))
        return self._last

    def _answer(self, longest: float) -> bytes:
        """Return the next line; what there is of it when it takes too long."""
        assert self._process.stdout is not None  # noqa: S101 - it was asked for
        file = self._process.stdout.fileno()
        ready = select.poll()
        ready.register(file, select.POLLIN)
        seconds = 0.0
        looks = round(longest / LOOK) * MOST_TIMES
        _, begin = activity_of(self._process.pid)
        line = b""
        while not line.endswith(b"\n") and len(line) < MOST_ANSWER_BYTES:
            # Looks are counted, not the time: this process may have had no processor.
            if ready.poll(LOOK * 1000):
                part = os.read(file, MOST_ANSWER_BYTES)
                if not part:
                    break
                line += part
                continue
            looks -= 1
            is_runnable, now = activity_of(self._process.pid)
            seconds += 0 if is_runnable else LOOK
            if seconds + now - begin >= longest or looks <= 0:
                # What it says later answers nothing that is asked then.
                self._process.kill()
                break
        return line

    def close(self) -> None:
        """Let it go."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()
        self._process.wait()


def activity_of(process: int) -> tuple[bool, float]:
    """Return whether a process runs or waits for a processor, and how long it has run.

    Args:
        process: Its ID.

    Returns:
        Whether it does, and seconds; proc(5) has both.
    """
    words = stat_words(process)
    if not words:
        return False, 0.0
    ticks = int(words[11]) + int(words[12])
    return words[0] == "R", ticks / os.sysconf("SC_CLK_TCK")


def chosen_clock(
    variables: Mapping[str, str], warn: Callable[[str], None] | None
) -> Clock:
    """Return the clock that programs have.

    Args:
        variables: The environment.
        warn: Is told why a plugin is not used.
    """
    path = variables.get(PLUGIN_VARIABLE)
    if not path:
        return Clock()
    try:
        return PluginClock(path)
    except (RecordError, OSError) as error:
        if warn is not None:
            warn(f"{error}; the metadata describes the monotonic clock")
        return Clock()
