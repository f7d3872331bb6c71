"""What ``view`` is asked for, as a plan."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from .._typing import TYPE_CHECKING
from ..errors import CommandError, NotATraceError
from ..graph.plan import ComponentSpec, Connection, Plan
from .layout_arguments import BABELTRACE, layout_of
from .time_range_arguments import range_words

if TYPE_CHECKING:
    from typing import Any

    from ..ctf import FoundTrace

__all__ = ["LONG_CALLS", "RECORDING", "SINK", "view_plan"]

URL_BEGINNINGS = ("net://", "net4://", "net6://")
"""What URLs of live sessions begin with."""
RECORDING = "source.vestige.recording"
"""The class of components that read a recording while it is made."""
SINK = "text"
"""Name of the component that writes."""
_MOST_LOOKS = 100
"""How often traces are looked for that are being moved."""
LONG_CALLS = "long-calls"
"""Name of the component that hides short calls."""


def view_plan(
    options: argparse.Namespace,
    paths: Sequence[str],
    patterns: Sequence[str],
    *,
    recorder_events: bool,
) -> Plan:
    """Return what is read, and what it goes through.

    Args:
        options: The parsed command line.
        paths: Where the traces are.
        patterns: Patterns of the events that are shown; all events without one.
        recorder_events: Whether events that only the recorder needs are shown, if no
            pattern says so.
    """
    sources = _sources(options, paths)
    pipe = [ComponentSpec("muxer", "filter.utils.muxer")]
    if times := _times(options):
        gmt = {"gmt": True} if options.clock_gmt else {}
        pipe.append(ComponentSpec("trimmer", "filter.utils.trimmer", {**times, **gmt}))
    if not options.no_debug_info:
        params = _debug_info(options)
        pipe.append(ComponentSpec("places", "filter.lttng-utils.debug-info", params))
    # Behind what it may be about.
    pipe.append(_events(options, patterns, recorder_events=recorder_events))
    least = getattr(options, "min_duration", None)
    if least is not None:
        pipe.append(
            ComponentSpec(LONG_CALLS, "filter.vestige.calls", {"least-ns": least})
        )
    is_short = layout_of(options) != BABELTRACE
    if is_short and _tells_durations(options):
        indent = {"indent": True} if getattr(options, "indent", False) else {}
        pipe.append(ComponentSpec("call-marks", "filter.vestige.call-marks", indent))
    pipe.append(
        ComponentSpec(SINK, "sink.vestige.short" if is_short else "sink.text.pretty")
    )
    pairs = [*((one, pipe[0]) for one in sources), *pairwise(pipe)]
    connections = [Connection(one.name, other.name) for one, other in pairs]
    intersection = getattr(options, "stream_intersection", False)
    return Plan([*sources, *pipe], connections, stream_intersection=intersection)


def _sources(options: argparse.Namespace, paths: Sequence[str]) -> list[ComponentSpec]:
    """Return what is read."""
    is_live = any(path.startswith(URL_BEGINNINGS) for path in paths)
    if not getattr(options, "follow", False):
        if is_live:
            raise CommandError(
                f"{', '.join(paths)}: live sessions are read with --follow", exit_code=2
            )
        return [ComponentSpec("traces", "source.ctf.fs", {"inputs": [*paths]})]
    [path] = paths
    if is_live:
        from ..live import LiveUrl

        url = LiveUrl.parse(path)
        if url is None or url.session is None:
            expected = "expected net://HOST[:PORT]/host/TARGET/SESSION"
            if url is not None:
                expected += f"; 'vestige convert {url.relay}' lists what there is"
            raise CommandError(f"{path}: {expected}", exit_code=2)
        params = {"inputs": [path], "session-not-found-action": "fail"}
        return [ComponentSpec("session", "source.ctf.lttng-live", params)]
    return [
        ComponentSpec(f"recording-{number}", RECORDING, params)
        for number, params in enumerate(_recordings(path), start=1)
    ]


def _recordings(path: str) -> list[dict[str, str]]:
    """Return the parameters of the recordings at or below a path."""
    from ..components.sources.recording_parts import others_of
    from ..ctf import METADATA

    if (Path(path) / METADATA).is_file():
        return [{"path": path}]
    found = _found_recordings(path)
    directories = [one.directory for one in found]
    return [
        {
            "path": str(one.directory),
            "trace-name": one.relative_name or "",
            "read-parts": "/".join(others_of(one.directory, directories)),
        }
        for one in found
    ]


def _found_recordings(path: str) -> list[FoundTrace]:
    """Return the traces below a path, also while they are being moved.

    Raises:
        NotATraceError: There is none, or a directory cannot be listed.
    """
    from ..ctf import find_traces
    from ..record.backends.in_process.recovery import is_left
    from .begun_recording import (
        NEXT,
        PAUSE,
        is_recorded,
        kernel_is_missing,
        wait_for_kernel,
    )

    looks = 0
    while True:
        looks += 1
        is_alive = wait_for_kernel(path, is_left) and looks < _MOST_LOOKS
        try:
            found = find_traces(path)
        except NotATraceError:
            if not (is_alive and is_recorded(path)):
                raise
            time.sleep(PAUSE)
            continue
        found = [one for one in found if one.directory.name != NEXT]
        directories = {one.directory for one in found}
        if not (is_alive and kernel_is_missing(path, directories)):
            return found
        time.sleep(PAUSE)


def _tells_durations(options: argparse.Namespace) -> bool:
    """Tell whether exits say how long their calls took.

    To know it costs time, and programs that read the lines have never got it. So it is
    there where people look, and where calls are followed anyway.
    """
    names = ("indent", "min_duration")
    asked = any(getattr(options, name, None) for name in names)
    return asked or sys.stdout.isatty()


def _times(options: argparse.Namespace) -> dict[str, str]:
    """Return the bounds of the range of time."""
    if not hasattr(options, "begin"):
        return {}
    begin, end = range_words(options)
    bounds = {"begin": begin, "end": end}
    return {name: text for name, text in bounds.items() if text is not None}


def _events(
    options: argparse.Namespace, patterns: Sequence[str], *, recorder_events: bool
) -> ComponentSpec:
    params: dict[str, Any] = {"recorder-events": recorder_events}
    if patterns:
        params["names"] = [*patterns]
    if expressions := getattr(options, "filters", ()):
        params["expressions"] = [*expressions]
    for name in ("threads", "processes"):
        if words := getattr(options, f"origin_{name}", ()):
            params[name] = [*words]
    return ComponentSpec("events", "filter.vestige.events", params)


def _debug_info(options: argparse.Namespace) -> dict[str, Any]:
    params: dict[str, Any] = {
        "debug-info-field-name": options.debug_info_field_name,
        "full-path": options.debug_info_full_path,
        "debuginfod": options.debuginfod,
        "demangle": not options.no_demangle,
    }
    if options.debug_info_dir is not None:
        params["debug-info-dir"] = options.debug_info_dir
    if options.debug_info_target_prefix:
        params["target-prefixes"] = [*options.debug_info_target_prefix]
    return params
