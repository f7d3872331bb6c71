"""Sessions record functions of the kernel, where it takes probes (``make other-kernels``)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import why_no_places
from support.session_daemon import SessionDaemon, say
from vestige.record.backends.kernel.tracefs import Tracefs

REASON = why_no_places()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))
FUNCTION = "cmdline_proc_show"
"""What the kernel calls when somebody reads /proc/cmdline."""
COUNT = 20
NAMES = ("shown", "called_entry", "called_exit")


def test_a_session_has_as_many_events_as_the_kernel_counts(
    daemon: SessionDaemon, tmp_path: Path
) -> None:
    """Of a place, and of entries and exits of a function; nothing is left."""
    say(
        daemon,
        f"create s --output={tmp_path / 't'}",
        f"enable-event -k --probe={FUNCTION} shown",
        f"enable-event -k --function={FUNCTION} called",
        "start",
    )
    for _ in range(COUNT):
        Path("/proc/cmdline").read_bytes()
    say(daemon, "stop")
    tracefs = Tracefs()
    profile = tracefs.read("kprobe_profile").split()
    group = next(one for one in tracefs.names("events") if one.startswith("vestige_"))
    say(daemon, "destroy s")
    left = tracefs.read("kprobe_events")
    tracefs.close()
    events = list(vestige.open(tmp_path / "t"))
    found = Counter(one.name for one in events)

    # Numbers of the kernel: names of three probes, with hits and misses.
    hits = [int(one) for one in profile if one.isdigit()][:2]
    assert {name: found[name] for name in NAMES} == dict.fromkeys(NAMES, hits[0])
    assert hits[0] >= COUNT
    assert {one.payload["ip"] for one in events} == {events[0].payload["ip"]}
    assert group not in left


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (f"--probe={FUNCTION}+1", "Probe point is not an instruction boundary"),
        ("--probe=no_such_function", "Invalid probed address or symbol"),
        ("--function=notify_die", "Failed to register probe event"),
        ("--probe=0x10", "no code at 0x10"),
    ],
)
def test_a_place_that_cannot_be_is_refused(
    daemon: SessionDaemon, words: str, why: str
) -> None:
    """With the kernel's reason."""
    say(daemon, "create s --no-output")
    done = daemon.lttng("enable-event", "-k", words, "p")

    assert done.status == 43
    assert why in done.err
