"""A recording from its beginning to its end, and what a back end must do for it."""

from __future__ import annotations

from .._typing import TYPE_CHECKING, Protocol
from ..errors import ProgramError, RecordError
from .collected import Collected
from .trace_directory import TraceDirectory

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

__all__ = ["Backend", "Session"]


class Backend(Protocol):
    """Records programs: a session calls each verb once, in this order."""

    def prepare(self) -> None:
        """Make what programs record to; from here on the trace is readable.

        Raises:
            RecordError: There is no tracer, or no memory.
            OSError: The directory cannot hold a trace.
        """

    def start(self) -> None:
        """Begin to collect what programs record.

        Raises:
            RecordError: It cannot begin.
        """

    def stop(self) -> Collected:
        """Write what programs have recorded, and end the trace.

        Returns:
            What the trace holds.
        """

    def close(self) -> None:
        """Give back what is open, wherever the recording has got to."""


class Session:
    """A recording: ``created``, ``prepared``, ``recording``, ``stopped``, ``closed``.

    As a context manager it is closed at the end. If it ends by an error before it has
    stopped, nothing was recorded, and the directory is as it was before.

    Args:
        directory: The trace.
        backend: What records to it.
    """

    def __init__(self, directory: TraceDirectory, backend: Backend) -> None:
        self._directory = directory
        self._backend = backend
        self.state = "created"
        """How far the recording is."""

    def __enter__(self) -> Self:
        """Return the session."""
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Close it; take away a trace that cannot begin, as on a full disk."""
        has_stopped = self.state == "stopped"
        self.close()
        if has_stopped or not isinstance(error, OSError | ProgramError | RecordError):
            return
        self._directory.take_back()
        if isinstance(error, OSError):
            raise RecordError(
                f"cannot hold a trace: {error.strerror}", path=self._directory.path
            ) from error

    def prepare(self) -> None:
        """Make what programs record to; from here on the trace is readable."""
        self._advance("created", "prepared")
        self._backend.prepare()

    def start(self) -> None:
        """Begin to collect what programs record."""
        self._advance("prepared", "recording")
        self._backend.start()

    def stop(self) -> Collected:
        """End the recording.

        Returns:
            What the trace holds.
        """
        self._advance("recording", "stopped")
        return self._backend.stop()

    def close(self) -> None:
        """Give back what is open; more than once does no harm."""
        if self.state != "closed":
            self.state = "closed"
            self._backend.close()

    def _advance(self, expected: str, state: str) -> None:
        if self.state != expected:
            raise RecordError(f"the session is {self.state}: expected {expected}")
        self.state = state
