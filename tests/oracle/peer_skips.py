"""Cases where the peer itself fails, one entry a line, with the reason.

A case is `(recording, options)`, both as the tests name them. A comparison whose case is
listed here is skipped; any other abort of the peer fails the test, so that a new entry
is a decision and not an accident.
"""

from __future__ import annotations

PEER_ABORTS: dict[tuple[str, tuple[str, ...]], str] = {}


def skip_reason(recording: str, options: tuple[str, ...]) -> str | None:
    """Return why the peer cannot be compared with in this case, or None."""
    return PEER_ABORTS.get((recording, options))
