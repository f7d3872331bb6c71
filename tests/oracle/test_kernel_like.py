"""A trace like that of a kernel prints the bytes that Babeltrace 2 prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.kernel_like import write_kernel_like
from support.peers import babeltrace
from support.vestige_command import convert

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]


def test_hundreds_of_classes_on_several_processors_print_alike(tmp_path: Path) -> None:
    """Short times wrap, packets end anywhere, and rounds repeat records later."""
    trace = tmp_path / "trace"
    write_kernel_like(trace, classes=300, records=3000, packet_size=1 << 15, rounds=2)

    expected, actual = babeltrace(trace), convert(trace)

    assert expected.status == actual.status == 0
    assert actual.stdout == expected.stdout
    assert actual.stdout.count(b"\n") == 6000
