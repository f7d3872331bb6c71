"""Joining programs that run: a session of their own, for as long as it is wanted."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

from ..daemon.client import Client
from ..daemon.run_paths import TRACING_GROUP, daemon_folder
from ..errors import RecordError, SelectionError
from ..record.rules.contexts import context_classes
from ..record.rules.event_rules import (
    HIGHEST,
    LOWEST,
    EventRule,
    compile_rules,
    split_names,
)
from .link import Link
from .processes import (
    check_process,
    has_lttng_ust,
    why_not_registered,
)
from .session import Session, session_on

__all__ = ["LARGEST_BUFFER", "join"]

LONGEST_WAIT = 10.0
"""Seconds for programs of LTTng-UST to find a daemon that was started for them: those
that have lost another one look for the next after five."""
SHORT_WAIT = 0.5
"""Seconds for those that show no tracer."""
SILENT_WAIT = 1.0
PAUSE = 0.05
ALWAYS_RECORDED = ("lttng_ust_statedump:*", "lttng_ust_lib:*")
"""What addresses have names by."""
NUM_SUBBUF = 8
LARGEST_BUFFER = 1 << 36
"""Bytes of the buffer of a CPU that the daemon makes."""
_numbers = count(1)
_OF_PACKETS = {"cpu_id"}
"""Contexts that each packet has."""


def join(  # noqa: PLR0913 - facts, by name
    pids: Sequence[int],
    output: str,
    *,
    rules: Sequence[EventRule] = (),
    contexts: Sequence[str] = ("ip", "vpid"),
    buffer_size: int = 4 << 20,
    waiting: Callable[[Sequence[int]], object] | None = None,
) -> Session:
    """Begin to record programs that run.

    Args:
        pids: Their process IDs.
        output: The directory of the trace, an absolute path.
        rules: What is recorded; all tracepoints if there is none.
        contexts: The fields of each event record.
        buffer_size: Bytes of the buffer of each CPU.
        waiting: Called once with the programs that are still waited for after a
            second.

    Returns:
        The session, which is started. It ends when it is closed, or with this process.

    Raises:
        DaemonRunsError: LTTng's daemon is in the way.
        RecordError: A process cannot be joined.
        SelectionError: A rule or a context is wrong.
        SessionError: The daemon refuses something.
    """
    chosen = [one for rule in rules for one in _conditions(rule)]
    names = [one.name for one in context_classes(contexts)]
    for pid in pids:
        check_process(pid)
    link = Link.to_passing_daemon(TRACING_GROUP)
    try:
        _wait_for(link.client, pids, waiting)
        name = f"record-{os.getpid()}-{next(_numbers)}"
        session = session_on(link, name, output, pids)
    except BaseException:
        link.close()
        raise
    try:
        size = max(buffer_size // NUM_SUBBUF, 4096)
        channel = session.add_channel(subbuf_size=size, num_subbuf=NUM_SUBBUF)
        channel.add_context(*(one for one in names if one not in _OF_PACKETS))
        for rule in chosen:
            channel.enable_event(**rule)
        for pattern in ALWAYS_RECORDED if chosen else ("*",):
            channel.enable_event(pattern)
        session.start()
    except BaseException:
        session.close()
        raise
    return session


def _wait_for(
    client: Client,
    pids: Sequence[int],
    waiting: Callable[[Sequence[int]], object] | None,
) -> None:
    """Wait until programs have registered with the daemon."""
    start = time.monotonic()
    while True:
        registered = {one["pid"] for part in client.listed_programs() for one in part}
        missing = [pid for pid in pids if pid not in registered]
        if not missing:
            return
        for pid in missing:
            check_process(pid)
        waited = time.monotonic() - start
        for pid in missing:
            if waited > (LONGEST_WAIT if has_lttng_ust(pid) else SHORT_WAIT):
                raise RecordError(why_not_registered(pid, daemon_folder()))
        if waiting is not None and waited > SILENT_WAIT:
            waiting(missing)
            waiting = None
        time.sleep(PAUSE)


def _conditions(rule: EventRule) -> Iterator[dict[str, Any]]:
    """Yield a rule as channels take it, for each of its patterns."""
    if rule.is_logger:
        raise SelectionError(
            f"--python -e {rule.pattern}: expected a program that 'vestige record' "
            "starts, not one that runs"
        )
    # It says what is wrong; all patterns have the same levels.
    first, last = compile_rules([rule])[0].levels
    has_least = first == LOWEST and last != HIGHEST
    conditions = {
        "filter": rule.filter,
        "level": last if has_least else None,
        "only_level": None if first == LOWEST else first,
        "exclude": [
            _pattern(name) for names in rule.exclude for name in split_names(names)
        ],
    }
    for name in split_names(rule.pattern):
        yield {"name": _pattern(name), **conditions}


def _pattern(text: str) -> str:
    r"""Return a pattern as programs of LTTng-UST take it, with ``*`` alone."""
    pattern = ""
    characters = iter(text)
    for character in characters:
        if character in "?[":
            raise SelectionError(
                f"'{text}': expected no sign but '*' in patterns for programs that run"
            )
        following = next(characters, "") if character == "\\" else ""
        pattern += (
            f"\\{following}" if following in {"*", "\\"} else following or character
        )
    return pattern
