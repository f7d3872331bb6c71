"""What is in the trace of a session, by channel."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core import Verifier
from ..errors import NotATraceError, VestigeError
from ..graph import Stream
from ..trace import open as open_trace
from .facts import ChannelStatistics

if TYPE_CHECKING:
    from ..trace import Trace

__all__ = ["channel_of_file", "channel_statistics"]

MOST_LOOKS = 5
_NUMBER = re.compile(r"(?<=.)_\d+$")
"""What ends the name of a data stream file: the CPU, or the number of the file."""
_NUMBERED = re.compile(r"(.+)-\d+")
"""A directory of a trace, where its name was taken."""


def channel_statistics(
    session: dict[str, Any], member: str = "channels"
) -> dict[str, ChannelStatistics]:
    """Return what each channel of a domain has recorded and lost.

    Programs with Vestige's own tracer write data streams of threads, to a directory
    for each channel. In a trace of an earlier version there is one for all: that
    counts where there is one channel, else no number of events is known.

    Args:
        session: As the daemon describes it.
        member: Where it has the channels of the domain.
    """
    channels: dict[str, Any] = session[member]
    # What is sent to a relay daemon is not here.
    output = None if session.get("relay") else session["output"]
    is_kernel = member == "kernel_channels"
    recorded = _recorded(output, list(channels), is_kernel=is_kernel)
    return {
        name: ChannelStatistics(
            recorded[name][0],
            channel["discarded_events"],
            recorded[name][1],
            channel["lost_packets"],
        )
        for name, channel in channels.items()
    }


def _recorded(
    output: str | None, channels: list[str], *, is_kernel: bool
) -> dict[str, tuple[int | None, int]]:
    """Return event records and packets of each channel, as far as they are written."""
    nothing: dict[str, tuple[int | None, int]]
    if output is None:
        return dict.fromkeys(channels, (None, 0))
    nothing = dict.fromkeys(channels, (0, 0))
    try:
        trace = _opened(output)
    except NotATraceError:
        return nothing
    except VestigeError:
        return dict.fromkeys(channels, (None, 0))
    by_channel: dict[str | None, list[Stream]] = defaultdict(list)
    for one in trace.streams:
        # Both domains may have a channel of the same name.
        if (one.trace.parsed.environment.get("domain") == "kernel") != is_kernel:
            continue
        by_channel[_channel_of(one, channels)].append(one)
    of_threads = by_channel[None]
    found = nothing
    for name in channels:
        streams = by_channel[name]
        if len(channels) == 1:
            streams += of_threads
        events, packets = _counted(streams)
        is_known = len(channels) == 1 or not of_threads
        found[name] = (events if is_known else None, packets)
    return found


def _opened(output: str) -> Trace:
    for _ in range(MOST_LOOKS - 1):
        # A chunk that is archived just now is in another directory a moment later.
        with suppress(NotATraceError):
            return open_trace(output, debug_info=False)
    return open_trace(output, debug_info=False)


def _counted(streams: Sequence[Stream]) -> tuple[int | None, int]:
    verifier = Verifier([one.handle for one in streams])
    while verifier.step():
        pass  # Ctrl-C is noticed between two steps.
    return verifier.records, sum(len(one.handle.packet_times) for one in streams)


def _channel_of(stream: Stream, channels: Sequence[str]) -> str | None:
    """Return the channel of a stream; ``None`` where a program's own has no name."""
    is_own = stream.trace.parsed.environment.get("tracer_name") == "vestige"
    return channel_of_file(Path(stream.path), channels, is_own=is_own)


def channel_of_file(path: Path, channels: Sequence[str], *, is_own: bool) -> str | None:
    """Return the channel that a data stream file belongs to.

    Args:
        path: The file.
        channels: Those of its session.
        is_own: Whether Vestige's own tracer has recorded it.

    Returns:
        ``None`` where a program's own has no name.
    """
    if is_own:
        folder = path.parent.name
        # Where one was in use, the next has a number.
        numbered = _NUMBERED.fullmatch(folder)
        names = [folder, numbered[1]] if numbered else [folder]
        return next((one for one in names if one in channels), None)
    of_one_file = _NUMBER.sub("", path.name)
    of_several = _NUMBER.sub("", of_one_file)
    # Names of channels may end with numbers, too.
    return of_one_file if of_one_file in channels else of_several
