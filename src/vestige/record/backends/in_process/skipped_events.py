"""Events of LTTng-UST that the tracer leaves out, and why, for people."""

from __future__ import annotations

from collections.abc import Iterable

from ..._agreement import (
    SKIPPED_ALIGNMENT,
    SKIPPED_CLASS,
    SKIPPED_DAMAGED,
    SKIPPED_FIELDS,
    SKIPPED_LENGTH,
    SKIPPED_MAJOR,
    SKIPPED_MEMORY,
    SKIPPED_READERS,
    SKIPPED_SIGNATURE,
)

__all__ = ["skipped_lines"]

REASONS = {
    SKIPPED_DAMAGED: "the description in the program is damaged",
    SKIPPED_MAJOR: "the provider was compiled with headers of LTTng-UST of an unknown "
    "version: expected 2.13 or newer",
    SKIPPED_FIELDS: "fields of a kind that is not known",
    SKIPPED_READERS: "two fields have the same name, or labels of a field begin at a "
    "higher value than they end",
    SKIPPED_ALIGNMENT: "fields that are aligned, as on machines other than x86",
    SKIPPED_SIGNATURE: "the tracepoint has other arguments than the provider takes",
    SKIPPED_CLASS: "the recording has too many kinds of events",
    SKIPPED_MEMORY: "no memory",
    SKIPPED_LENGTH: "a sequence has more elements than the type of its length can tell",
}
_MOST_NAMES = 5


def skipped_lines(skipped: Iterable[tuple[str, str]]) -> list[str]:
    """Say which events of LTTng-UST are not recorded.

    Args:
        skipped: Words that say why, and names of providers or events.

    Returns:
        A line for each reason.
    """
    names: dict[str, list[str]] = {}
    for reason, name in skipped:
        names.setdefault(reason, []).append(name)
    return [_line(reason, found) for reason, found in names.items()]


def _line(reason: str, names: list[str]) -> str:
    # Few recordings have any.
    from ....plain_text import plain  # noqa: PLC0415 - see above

    shown = ", ".join(plain(name) for name in names[:_MOST_NAMES])
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    why = REASONS.get(reason, f"an unknown reason ({plain(reason)})")
    what = "cut" if reason == SKIPPED_LENGTH else "not recorded"
    return f"{what}: {shown}{more} (LTTng-UST): {why}"
