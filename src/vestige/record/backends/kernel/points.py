"""What of the kernel can be recorded, by LTTng's names, and whether it can at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .lttng_names import lttng_name
from .probes import PREFIX, Probes
from .tracefs import NoKernelTracerError, Tracefs

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LOGGER", "call_names", "check_probe", "tracepoint_names", "why_not"]

LOGGER = "lttng_logger"
"""The event of what is written to the marker, which is in no list of the kernel."""
_CALLS = "syscalls"
"""The kernel's system of system calls."""
_ENTRY = "sys_enter_"


def why_not() -> str | None:
    """Say why the kernel cannot be recorded, ``None`` if it can."""
    try:
        Tracefs().close()
    except NoKernelTracerError as error:
        return str(error)
    return None


def tracepoint_names() -> list[str]:
    """Return the names of all tracepoints, in order.

    Raises:
        OSError: There is no tracefs, or no right to use it.
    """
    names = {
        lttng_name(system, name)
        for system, name in _available()
        if system != _CALLS and not system.startswith(PREFIX)
    }
    return sorted({*names, LOGGER})


def call_names() -> list[str]:
    """Return the names of all system calls, in order.

    Raises:
        OSError: As of :func:`tracepoint_names`.
    """
    return sorted(
        name.removeprefix(_ENTRY)
        for system, name in _available()
        if system == _CALLS and name.startswith(_ENTRY)
    )


def check_probe(kind: str, location: Mapping[str, Any], name: str) -> None:
    """Refuse a probe that this kernel cannot have, by making it for a moment.

    Args:
        kind: One of :data:`~.rules.PROBES`.
        location: Where it is.
        name: What its event is called.

    Raises:
        ValueError: It cannot be; this says why.
        OSError: As above.
    """
    try:
        tracefs = Tracefs()
    except NoKernelTracerError as error:
        raise OSError(str(error)) from error
    probes = Probes(tracefs)
    try:
        probes.add(kind, location, name)
    except NoKernelTracerError as error:
        raise ValueError(str(error)) from error
    finally:
        probes.close()
        tracefs.close()


def _available() -> list[tuple[str, str]]:
    """Return the systems and names of all events that can be switched on."""
    try:
        tracefs = Tracefs()
    except NoKernelTracerError as error:
        raise OSError(str(error)) from error
    try:
        lines = tracefs.read("available_events").splitlines()
    finally:
        tracefs.close()
    found = (line.partition(":") for line in lines)
    return [(system, name) for system, _, name in found if name]
