"""The process that records the kernel, as whoever started it talks to it."""

from __future__ import annotations

import json
import os
import sys

from ...._suppress import suppress
from ...._typing import TYPE_CHECKING
from ..._agreement import OFF_VARIABLE, SETTINGS_VARIABLE

if TYPE_CHECKING:
    from typing import Any

    from .wanted import Wanted

__all__ = [
    "ENDED",
    "NOTHING",
    "READER_ENDED",
    "UNAVAILABLE",
    "CollectorProcess",
    "KernelOrderError",
    "missing_text",
]

UNAVAILABLE = "No kernel tracer available"
"""As LTTng says it."""
NOTHING = "nothing of the kernel is recorded"
ENDED = "its process has ended"
READER_ENDED = "its reader has ended"
_HOME = __file__.rsplit("/", 5)[0]
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from vestige.record.backends.kernel.collector_process import main; main(); "
    # What there is to tidy up, it has.
    "import os; os._exit(0)"
)


def missing_text(why: str) -> str:
    """Say for people that events are missing.

    Args:
        why: The reason.
    """
    return f"of the kernel, events are missing: {why}"


class KernelOrderError(Exception):
    """The process has not done what it was told; the text says why."""


class CollectorProcess:
    """Starts the process, which has the rights of this one.

    It works while this one does something else: :meth:`wait_until_ready` comes before
    all orders.

    Args:
        wanted: What is recorded.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self, wanted: Wanted) -> None:
        to_read, says = os.pipe()
        hears, to_write = os.pipe()
        self._says, self._hears = says, os.fdopen(hears, "rb")
        self._process: int | None = None
        self._is_left = False
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in {"LD_PRELOAD", "LD_AUDIT", SETTINGS_VARIABLE}
        }
        try:
            self._process = os.posix_spawn(
                sys.executable,
                [sys.executable, "-IS", "-c", _PROGRAM, _HOME],
                {**kept, OFF_VARIABLE: "1"},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, to_read, 0),
                    (os.POSIX_SPAWN_DUP2, to_write, 1),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                # Signals of the terminal are for the program.
                setsid=True,
            )
        except BaseException:
            os.close(says)
            self._hears.close()
            raise
        finally:
            os.close(to_read)
            os.close(to_write)
        self.has_ended = False
        """Whether it was asked for something, and was not there any more."""
        self.has_tracer = True
        """Whether it is not the kernel's tracer that is missing."""
        self.problems: list[str] = []
        """What cannot be recorded, and why; for whoever asks to take."""
        self._logger = wanted.logger
        self.directory: str | None = None
        """Where the trace is made, once that is so."""
        self._say(wanted.to_json())

    @property
    def is_there(self) -> bool:
        """Whether it was not told to end."""
        return self._process is not None and not self._is_left

    @property
    def id(self) -> int:
        """Its ID.

        Raises:
            KernelOrderError: It was ended.
        """
        if self._process is None:
            raise KernelOrderError(ENDED)
        return self._process

    def wait_until_ready(self) -> None:
        """Wait until everything is there that it needs.

        Raises:
            KernelOrderError: The kernel cannot be recorded; it has ended.
        """
        answer = self._hear()
        if "ready" not in answer:
            self.has_tracer = answer.get("has_tracer", not answer)
            self.end()
            raise KernelOrderError(answer.get("refused", ENDED))
        self.problems += answer["ready"]
        self.directory = answer["directory"]

    def ask(self, order: str, **facts: Any) -> Any:
        """Tell it to do something, and wait until that is done.

        Args:
            order: What, see :mod:`.collector_process`.
            facts: What belongs to it.

        Returns:
            What it says.

        Raises:
            KernelOrderError: It cannot do it, or has ended.
        """
        if not self.is_there:
            raise KernelOrderError(ENDED)
        self._say({"do": order, **facts})
        answer = self._hear()
        # Without its reader it ends, too, as soon as it notices.
        self.has_ended = not answer or answer.get("failed") == READER_ENDED
        self.problems += answer.get("problems", ())
        if "done" not in answer:
            raise KernelOrderError(answer.get("failed", ENDED))
        return answer["done"]

    def _say(self, facts: dict[str, Any]) -> None:
        # One that has ended is noticed when it is heard.
        with suppress(BrokenPipeError):
            data = json.dumps(facts).encode() + b"\n"
            while data:
                data = data[os.write(self._says, data) :]

    def _hear(self) -> dict[str, Any]:
        line = self._hears.readline()
        # One that is killed may have begun to say something.
        return json.loads(line) if line.endswith(b"\n") else {}

    def leave(self) -> None:
        """Let it end; :meth:`end` waits until it has."""
        if self.is_there:
            self._is_left = True
            os.close(self._says)
            self._hears.close()

    def end(self) -> None:
        """Let it end, and wait until it has left nothing in the kernel.

        The trace is complete then.
        """
        self.leave()
        if self._process is None:
            return
        process, self._process = self._process, None
        with suppress(ChildProcessError):
            _, status = os.waitpid(process, 0)
            if os.WIFSIGNALED(status):
                # Few recordings come here.
                from .tidier import remove_rest  # noqa: PLC0415 - see above

                remove_rest(process)
                self._remove_logger()

    def _remove_logger(self) -> None:
        """Remove the logger's pipe: who writes to one that nobody reads would wait."""
        if self._logger is not None:
            from .logger_pipe import remove_abandoned_pipe  # noqa: PLC0415 - as above

            with suppress(OSError):
                remove_abandoned_pipe(self._logger)
