"""What a recording holds, and how much of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..errors import SelectionError

__all__ = ["CONTEXTS", "PAGE", "RecordingOptions"]

CONTEXTS = ("ip", "vpid", "vtid", "procname")
"""Contexts that event records may carry, in the order in which they are written."""
PAGE = 4096
"""Packets are whole pages, since they are mapped."""
LARGEST_PACKET = 1 << 30
"""As the tracer has it."""


@dataclass(frozen=True)
class RecordingOptions:
    """What a recording holds.

    Raises:
        SelectionError: A value is none that the option takes.
    """

    functions: Literal["fast", "verbose", "off"] = "fast"
    """Which events the entry and exit of functions make.

    ``fast`` has the address at the entry only; ``verbose`` has address and place of the
    call at both, which needs three times the space and survives losses.
    """

    contexts: tuple[str, ...] = ("ip", "vpid")
    """What each record carries beside its fields, of :data:`CONTEXTS`.

    Source lines need ``ip`` and ``vpid``. Packets name their process and thread anyway.
    """

    packet_size: int = 256 * 1024
    """Bytes of a packet: what a thread fills before it writes them to the file."""

    def __post_init__(self) -> None:
        """Refuse what the tracer would not take."""
        if self.functions not in {"fast", "verbose", "off"}:
            raise SelectionError(
                f"functions={self.functions!r}: expected fast, verbose or off"
            )
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
