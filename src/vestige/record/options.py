"""What a recording holds, and how much of it."""

from __future__ import annotations

from typing import Any, NamedTuple, Self

from ..errors import SelectionError
from .events import FunctionTracing, Selection, select
from .function_patterns import encode_patterns

__all__ = ["CONTEXTS", "PAGE", "RecordingOptions"]

CONTEXTS = ("ip", "vpid", "vtid", "procname", "cpu_id")
"""Contexts that event records may carry, in the order in which they are written."""
PAGE = 4096
"""Packets are whole pages, since they are mapped."""
LARGEST_PACKET = 1 << 30
"""As the tracer has it."""


class _Values(NamedTuple):
    # A data class would do, but to import those takes longer than many programs run.

    functions: FunctionTracing | None = None
    """Which events the entry and exit of functions make.

    ``fast`` has the address at the entry only; ``verbose`` has address and place of the
    call at both, which needs half as much space again and survives losses. ``None``
    is ``fast``, or what ``events`` says.
    """

    events: tuple[str, ...] = ()
    """Patterns of the events that are recorded; empty: all but base addresses.

    The state dump and the events of loaded objects are always there.
    """

    follow_fork: bool = True
    """Whether child processes are recorded, too."""

    include: tuple[str, ...] = ()
    """Patterns of the functions whose calls are recorded; empty: of all.

    ``[OBJECT:]NAME`` with ``*``, ``?`` and ``[...]``, or ``[OBJECT:]0xSTART-0xEND``.
    """

    exclude: tuple[str, ...] = ()
    """Patterns of functions whose calls are not recorded, whatever ``include`` says."""

    contexts: tuple[str, ...] = ("ip", "vpid")
    """What each record carries beside its fields, of :data:`CONTEXTS`.

    Source lines need ``ip`` and ``vpid``. Packets name their process and thread anyway.
    """

    packet_size: int = 256 * 1024
    """Bytes of a packet: what a thread fills before it writes them to the file."""


class RecordingOptions(_Values):
    """What a recording holds.

    Raises:
        SelectionError: A value is none that the option takes.
    """

    __slots__ = ()

    def __new__(cls, *values: Any, **named: Any) -> Self:
        """Refuse what the tracer would not take."""
        made = super().__new__(cls, *values, **named)
        made._check()
        return made

    def _check(self) -> None:
        if self.functions not in {None, "fast", "verbose", "off"}:
            raise SelectionError(
                f"functions={self.functions!r}: expected fast, verbose or off"
            )
        self.selection()
        self.function_patterns()
        for name in self.contexts:
            if name not in CONTEXTS:
                raise SelectionError(
                    f"no context '{name}': expected some of {', '.join(CONTEXTS)}"
                )
        if self.packet_size % PAGE or not PAGE <= self.packet_size <= LARGEST_PACKET:
            raise SelectionError(
                f"packets of {self.packet_size} bytes: expected a multiple of {PAGE}, "
                f"up to {LARGEST_PACKET}"
            )

    def selection(self) -> Selection:
        """Work out which events the tracer writes.

        Returns:
            The events.

        Raises:
            SelectionError: A pattern matches none.
        """
        return select(self.events, self.functions)

    def function_patterns(self) -> tuple[str, str]:
        """Return ``include`` and ``exclude`` as the tracer reads them.

        Returns:
            Both, each one word.

        Raises:
            SelectionError: A pattern can match no function, or there are too many.
        """
        return encode_patterns(self.include, self.exclude)
