"""Events that are in a recording for its readers, not for the person who made it."""

from __future__ import annotations

__all__ = ["is_recorder_event"]

_PROVIDERS = {"lttng_ust_statedump", "lttng_ust_lib", "lttng_ust_dl", "ust_baddr"}
_NAMES = {"vestige_python:code"}
_ASKED_FOR = "lttng_ust_dl"
"""Our recorder makes these only where somebody wants to see them."""


def is_recorder_event(name: str | None, *, is_ours: bool) -> bool:
    """Tell whether an event says where objects and functions are in memory.

    Args:
        name: The full name of the event.
        is_ours: Whether Vestige recorded it.

    Returns:
        Whether it does nothing else.
    """
    if name is None:
        return False
    provider = name.partition(":")[0]
    if is_ours and provider == _ASKED_FOR:
        return False
    return provider in _PROVIDERS or name in _NAMES
