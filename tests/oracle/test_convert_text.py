"""`vestige convert` prints the bytes that Babeltrace 2 prints."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

import pytest

from oracle.peer_skips import skip_reason
from support.catalogue import RECORDERS, Recordings
from support.peers import babeltrace
from support.vestige_command import convert

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]

SHOWN_DIFFERENCES = 20

OPTIONS: tuple[tuple[str, ...], ...] = (
    ("--clock-cycles",),
    ("--clock-date",),
    ("--clock-gmt",),
    ("--clock-seconds",),
    ("--clock-date", "--clock-gmt"),
    ("--clock-date", "--clock-seconds"),
    ("--clock-cycles", "--clock-seconds", "--no-delta"),
    ("--clock-offset=3600",),
    ("--clock-offset=-86400", "--clock-date", "--clock-gmt"),
    ("--clock-offset-ns=123456789", "--clock-seconds"),
    ("--clock-offset=2", "--clock-offset-ns=-1500000001"),
    ("--no-delta",),
    ("--color=never",),
    ("--color=always",),
    ("--color=always", "--names=all", "--fields=all"),
    ("--fields=all",),
    ("--fields=trace",),
    ("--fields=trace:hostname",),
    ("--fields=trace:domain",),
    ("--fields=trace:procname,trace:vpid",),
    ("--fields=loglevel",),
    ("--fields=emf",),
    ("--fields=loglevel,emf,trace:domain",),
    ("--fields=callsite",),
    ("--names=all",),
    ("--names=none",),
    ("--names=payload",),
    ("--names=context",),
    ("--names=scope",),
    ("--names=header",),
    ("--names=scope,header",),
    ("--names=none", "--fields=loglevel", "--clock-seconds", "--no-delta"),
    ("--input-format=ctf",),
    ("-i", "ctf", "-f", "all", "-n", "all"),
    ("--output-format=text",),
    ("--output-format=dummy",),
)
RECORDINGS_WITH_OPTIONS = ("fields", "processes-pid", "losses")


def assert_same_output(
    recordings: Recordings,
    name: str,
    options: tuple[str, ...] = (),
    environment: Mapping[str, str] | None = None,
) -> None:
    """Compare standard output byte for byte, and the loss warnings line by line."""
    if reason := skip_reason(name, options):
        pytest.skip(reason)
    trace = recordings(name).trace
    expected = babeltrace(trace, *options, environment=environment)
    assert expected.status == 0, (
        f"babeltrace2 ended with {expected.status}: see peer_skips.py"
    )
    actual = convert(trace, *options, environment=environment)
    if actual.stdout != expected.stdout:
        pytest.fail(_explain(expected.stdout, actual.stdout), pytrace=False)
    assert actual.warnings == expected.warnings
    assert actual.status == expected.status, actual.stderr.decode(errors="replace")


@pytest.mark.parametrize("name", RECORDERS)
def test_prints_every_recording_like_babeltrace(
    recordings: Recordings, name: str
) -> None:
    """Text and loss warnings of each kind of recording are the same."""
    assert_same_output(recordings, name)


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
@pytest.mark.parametrize("name", RECORDINGS_WITH_OPTIONS)
def test_takes_the_options_of_babeltrace(
    recordings: Recordings, name: str, options: tuple[str, ...]
) -> None:
    """Each option, and some together, changes the text in the same way."""
    assert_same_output(recordings, name, options)


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "America/St_Johns", "EST5EDT"])
@pytest.mark.parametrize(
    "options", [(), ("--clock-date",), ("--clock-gmt",)], ids=" ".join
)
def test_prints_local_time(
    recordings: Recordings, zone: str, options: tuple[str, ...]
) -> None:
    """Times of day follow the zone in TZ, also where it is no whole hour from UTC."""
    assert_same_output(recordings, "losses", options, {"TZ": zone})


def test_writes_to_a_file(recordings: Recordings, tmp_path: Path) -> None:
    """With --output the text goes to the file and nothing to standard output."""
    trace = recordings("fields").trace
    expected = babeltrace(trace, f"--output={tmp_path / 'expected'}")
    actual = convert(trace, f"--output={tmp_path / 'actual'}")
    assert actual.stdout == expected.stdout == b""
    assert (tmp_path / "actual").read_bytes() == (tmp_path / "expected").read_bytes()


def test_merges_several_traces(recordings: Recordings) -> None:
    """Traces given together are printed as one, ordered by time."""
    first, second, last = (
        recordings(n).trace for n in ("greeting", "forking", "processes-pid")
    )
    expected = babeltrace(last, str(first), str(second))
    actual = convert(last, str(first), str(second))
    if actual.stdout != expected.stdout:
        pytest.fail(_explain(expected.stdout, actual.stdout), pytrace=False)


def test_reads_a_trace_directory_itself(recordings: Recordings) -> None:
    """A path that holds the metadata file is read like one above it."""
    metadata = next(recordings("fields").trace.rglob("metadata"))
    assert convert(metadata.parent).stdout == babeltrace(metadata.parent).stdout


def _explain(expected: bytes, actual: bytes) -> str:
    old, new = (
        text.decode(errors="replace").splitlines() for text in (expected, actual)
    )
    counts = f"{len(old)} lines expected, {len(new)} printed"
    changed = [pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]]
    pairs = changed[: SHOWN_DIFFERENCES // 2]
    lines = difflib.unified_diff(
        [pair[0] for pair in pairs],
        [pair[1] for pair in pairs],
        "babeltrace2",
        "vestige",
        n=0,
    )
    return "\n".join([counts, *lines])
