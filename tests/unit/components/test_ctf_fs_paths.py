"""Where traces are written: the names that Babeltrace 2 gives."""

from __future__ import annotations

import pytest

from vestige.components.sinks.ctf_fs_paths import stream_name, trace_path, unused_path

LTTNG = {
    "tracer_name": "lttng-ust",
    "tracer_major": 2,
    "tracer_minor": 13,
    "hostname": "host",
    "trace_name": "auto",
    "trace_creation_datetime": "20261127T010203+0100",
    "domain": "ust",
    "tracer_buffering_scheme": "uid",
    "tracer_buffering_id": 1000,
    "architecture_bit_width": 64,
}
PROCESS = {
    "tracer_buffering_scheme": "pid",
    "procname": "app",
    "vpid": 5,
    "vpid_datetime": "20261127T010204+0100",
}
SESSION = "host/auto-20261127T010203+0100"


@pytest.mark.parametrize(
    ("name", "environment", "path"),
    [
        ("", {}, "trace"),
        ("a/b", {}, "a/b"),
        ("/../a/./b//", {}, "__/a/_/b"),
        ("n", LTTNG, f"{SESSION}/ust/uid/1000/64-bit"),
        ("n", LTTNG | PROCESS, f"{SESSION}/ust/pid/app-5-20261127T010204+0100"),
        ("n", LTTNG | {"domain": "kernel"}, f"{SESSION}/kernel"),
        ("n", LTTNG | {"domain": "other"}, "n"),
        ("n", LTTNG | {"tracer_minor": 10}, "n"),
        ("n", LTTNG | {"tracer_name": "barectf"}, "n"),
        ("n", LTTNG | {"trace_creation_datetime": "20261399T010203"}, "n"),
        ("n", LTTNG | {"tracer_buffering_id": "none"}, "n"),
    ],
)
def test_a_trace_goes_where_its_tracer_put_it(name, environment, path):
    """By its environment, else by its name."""
    assert trace_path(name, environment) == path


def test_data_streams_have_names_of_their_own():
    """None is that of the metadata."""
    taken = set()
    for path in ("x/s", "y/s", "metadata", "", "a/.."):
        taken.add(stream_name(path, taken))

    assert taken == {"s", "s-0", "metadata-0", "stream", "stream-0"}


def test_long_names_are_cut(tmp_path):
    """File systems take no longer ones; characters stay whole."""
    long = "n" * 239 + "é" * 100
    path = trace_path(f"a/{long}", {})
    assert path == "a/" + "n" * 239
    assert stream_name(f"x/{long}", ()) == "n" * 239
    (tmp_path / path).mkdir(parents=True)
    unused_path(tmp_path / path).mkdir()


def test_what_exists_is_not_written_over(tmp_path):
    """A number makes another path."""
    (tmp_path / "t").touch()
    (tmp_path / "t-0").mkdir()

    assert unused_path(tmp_path / "t") == tmp_path / "t-1"
    assert unused_path(tmp_path / "u") == tmp_path / "u"
