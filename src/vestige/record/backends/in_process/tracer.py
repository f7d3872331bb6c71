"""The tracer's library, and what it gets from the environment."""

from __future__ import annotations

import os

from ...._typing import TYPE_CHECKING
from ...._version import __version__
from ....errors import RecordError
from ....inspect.programs import has_bytes
from ..._agreement import (
    AGREEMENT,
    COUNTER_PREFIX,
    SETTINGS,
    SETTINGS_HEAD,
    SETTINGS_TAIL,
    SETTINGS_VARIABLE,
)
from ...rules.helpers import HELPERS
from ...rules.options import RecordingOptions
from .clock import SECOND
from .python_programs import STARTUP, python_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "can_audit",
    "check_agreement",
    "check_counters",
    "library_path",
    "recording_words",
    "tracer_environment",
]

VARIABLE = SETTINGS_VARIABLE
"""What the tracer reads; it passes on to child processes and through ``exec``."""
LIBRARY = "libvestige-tracer.so"
AUDITOR = "libvestige-audit.so"
"""Reports to the tracer what the dynamic linker maps and unmaps, see rtld-audit(7)."""
CALLS_AUDITOR = "libvestige-audit-calls.so"
"""Does the same, and reports what is bound."""
CLOSER = "libvestige-close.so"
"""Stands in for ``dlclose`` where there is no such interface."""
LIKE_LTTNG = ("libvestige-lttng-tracepoint.so", "libvestige-lttng.so")
"""Take the place of LTTng-UST's libraries, whose names they have."""
BESIDE_LTTNG = "libvestige-lttng-beside.so"
"""Gives LTTng-UST's own library a second probe for each event."""
_NATIVE = os.path.join(
    os.path.dirname(os.path.dirname(os.path.dirname(__file__))), "native"
)
_FIRST_FREE_AUDIT = (2, 35)
"""Before this version of glibc an auditing library slowed each call between objects."""


def library_path() -> str:
    """Return the path of the tracer.

    Returns:
        The path of the shared library.

    Raises:
        RecordError: It is not there, or its path cannot be given to the dynamic linker.
    """
    path = os.path.join(_NATIVE, LIBRARY)
    if not os.path.isfile(path):
        raise RecordError(
            "the tracer is not built: expected it here after 'make' or 'pip install'",
            path=path,
        )
    if " " in path or ":" in path:
        raise RecordError(
            "the dynamic linker takes no path with a space or a colon: "
            "install Vestige elsewhere",
            path=path,
        )
    return path


def check_agreement() -> None:
    """See whether the tracer agrees with the recorder.

    Raises:
        RecordError: It is of another build, or cannot be loaded.
    """
    path = library_path()
    mark = f"{AGREEMENT} {__version__}\0".encode()
    try:
        # To load it takes longer than many programs run, and to read all of it, too.
        if has_bytes(path, mark):
            return
    except OSError as error:
        raise RecordError(f"the tracer cannot be loaded: {error}") from error
    agreement, version = _stated_agreement(path)
    raise RecordError(
        f"the tracer is of another build ({version}, agreement {agreement}): "
        f"expected {__version__}, agreement {AGREEMENT}; build it again",
        path=path,
    )


def _stated_agreement(path: str) -> tuple[str, str]:
    """Load a tracer; return its agreement and its version."""
    import ctypes  # noqa: PLC0415 - only for the message

    try:
        library = ctypes.CDLL(path)
    except OSError as error:
        raise RecordError(f"the tracer cannot be loaded: {error}") from error
    try:
        its = (ctypes.c_char * 128).in_dll(library, "vestige_agreement")
    except ValueError:
        return "none", "an earlier version"
    agreement, _, version = its.value.decode(errors="replace").partition(" ")
    return agreement, version


def check_counters(names: Sequence[str]) -> None:
    """See whether counters can be had here.

    Args:
        names: Contexts, of which only counters matter.

    Raises:
        RecordError: One cannot.
    """
    counters = [name for name in names if name.startswith(COUNTER_PREFIX)]
    if not counters:
        return
    import ctypes  # noqa: PLC0415 - few recordings count anything

    library = ctypes.CDLL(library_path())
    can_count = library.vestige_can_count
    can_count.restype = ctypes.c_bool
    can_count.argtypes = [ctypes.c_char_p]
    for name in counters:
        if not can_count(name.encode()):
            raise RecordError(
                f"'{name}' cannot be counted: expected a processor that counts it (few "
                "virtual machines do), and a kernel that lets programs read it "
                "(/proc/sys/kernel/perf_event_paranoid, .../cpu/rdpmc)"
            )


def recording_words(  # noqa: PLR0913 - facts, by name
    directory: str,
    options: RecordingOptions,
    memory: Mapping[str, object],
    *,
    is_counter: bool,
    frequency: int = SECOND,
    has_plans: bool = False,
    plan_wait: float = 0.0,
) -> str:
    """Return the words by which the tracer knows what to record, as it reads them.

    Args:
        directory: The trace, absolute.
        options: What is recorded.
        memory: Words by which the tracer finds the memory that it writes to.
        is_counter: Whether the clock is the time-stamp counter.
        frequency: Of the clock, in Hz.
        has_plans: Whether the trace has plans for the entries of functions.
        plan_wait: For how many seconds a program waits for a plan that is not there; 0:
            it does not ask.

    Returns:
        One text, in which words are parted by spaces.
    """
    chosen = options.selection()
    of_libraries = options.library_selection()
    include, exclude = options.function_patterns()
    words = {
        "clock": "counter" if is_counter else "monotonic",
        "contexts": ",".join(options.contexts),
        "entries": chosen.entries,
        "exits": chosen.exits,
        "events": "baddr" if chosen.base_addresses else "",
        "follow-fork": int(options.follow_fork),
        "recorder": os.getpid(),
        "include": include,
        "exclude": exclude,
        "plans": int(has_plans),
        "library-calls": options.library_patterns(),
        "library-entries": of_libraries.entries,
        "library-exits": of_libraries.exits,
        "plan-wait": round(plan_wait * 1000) if has_plans else 0,
        "python": python_word(options, frequency),
        **memory,
    }
    return " ".join(
        [
            f"{SETTINGS_HEAD}{AGREEMENT}",
            *(f"{name}={words[name]}" for name in SETTINGS),
            f"{SETTINGS_TAIL}{directory}",
        ]
    )


def tracer_environment(  # noqa: PLR0913 - facts, by name
    directory: str,
    options: RecordingOptions,
    memory: Mapping[str, object],
    *,
    is_counter: bool,
    frequency: int = SECOND,
    has_plans: bool = False,
    plan_wait: float = 0.0,
) -> dict[str, str]:
    """Return the environment of a program that is recorded.

    Args:
        directory: The trace, absolute: where a tracer of another build says so.
        options: What is recorded.
        memory: Words by which the tracer finds the memory that it writes to.
        is_counter: Whether the clock is the time-stamp counter.
        frequency: Of the clock, in Hz.
        has_plans: Whether the trace has plans for the entries of functions.
        plan_wait: For how many seconds a program waits for a plan that is not there; 0:
            it does not ask.

    Returns:
        The environment.

    Raises:
        RecordError: The tracer is not there.
    """
    result = dict(os.environ)
    result[VARIABLE] = recording_words(
        directory,
        options,
        memory,
        is_counter=is_counter,
        frequency=frequency,
        has_plans=has_plans,
        plan_wait=plan_wait,
    )
    if python_word(options, frequency):
        _put_first(result, "PYTHONPATH", STARTUP)
    tracer = library_path()
    if can_audit():
        auditor = AUDITOR if options.library_calls is None else CALLS_AUDITOR
        _put_first(result, "LD_AUDIT", _beside(auditor))
    else:
        _put_first(result, "LD_PRELOAD", _beside(CLOSER))
    for name in _lttng_libraries(keeps=options.keep_lttng):
        _put_first(result, "LD_PRELOAD", _beside(name))
    for name in HELPERS:
        if name in options.helpers:
            _put_first(result, "LD_PRELOAD", _beside(f"libvestige-{name}.so"))
    _put_first(result, "LD_PRELOAD", tracer)
    return result


def _lttng_libraries(*, keeps: bool) -> tuple[str, ...]:
    """Return what is preloaded for programs that were compiled with LTTng-UST."""
    if keeps:
        return (BESIDE_LTTNG,)
    # An auditor has them loaded where they are needed.
    return () if can_audit() else LIKE_LTTNG


def _beside(name: str) -> str:
    return os.path.join(_NATIVE, name)


def _put_first(environment: dict[str, str], variable: str, path: str) -> None:
    others = environment.get(variable)
    environment[variable] = path + (f":{others}" if others else "")


def can_audit() -> bool:
    """Tell whether the dynamic linker can say what it maps and unmaps, at no cost.

    Returns:
        Whether it can; otherwise the tracer looks for itself, at the first call of each
        function.
    """
    try:
        name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
        numbers = tuple(int(part) for part in version.split(".")[:2])
    except (OSError, ValueError):
        # Another C library, which has no such interface.
        return False
    return (
        name == "glibc"
        and numbers >= _FIRST_FREE_AUDIT
        and os.path.isfile(_beside(AUDITOR))
    )
