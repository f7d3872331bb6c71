"""Probes of the kernel as people write them."""

from __future__ import annotations

import os
import sys

import pytest

from vestige.errors import SelectionError
from vestige.record import RecordingOptions
from vestige.record.rules.kernel_probes import parse_kernel_probe

PYTHON = os.path.realpath(sys.executable)


@pytest.mark.parametrize(
    ("text", "kind", "name", "location"),
    [
        (
            f"elf:{PYTHON}:main",
            "userspace-probe",
            "main",
            {"type": "function", "path": PYTHON, "function": "main"},
        ),
        (
            f"begin={PYTHON}:main",
            "userspace-probe",
            "begin",
            {"type": "function", "path": PYTHON, "function": "main"},
        ),
        (
            r"sdt:/no\:where/=x:python:line",
            "userspace-probe",
            "python:line",
            {
                "type": "tracepoint",
                "path": "/no:where/=x",
                "provider": "python",
                "probe": "line",
            },
        ),
        (
            "vfs_read",
            "probe",
            "vfs_read",
            {"type": "symbol", "name": "vfs_read", "offset": 0},
        ),
        (
            "here=ext4:ext4_sync_file+0x10",
            "probe",
            "here",
            {"type": "symbol", "name": "ext4:ext4_sync_file", "offset": 16},
        ),
        ("0xff", "probe", "0xff", {"type": "address", "address": 255}),
        (
            "vfs_read+010",
            "probe",
            "vfs_read+010",
            {"type": "symbol", "name": "vfs_read", "offset": 8},
        ),
        (
            "function:vfs_read",
            "function",
            "vfs_read",
            {"type": "symbol", "name": "vfs_read", "offset": 0},
        ),
    ],
)
def test_places_are_in_programs_or_in_the_kernel(text, kind, name, location):
    """With a name in front, or the one of what is there."""
    probe = parse_kernel_probe(text)

    assert (probe.kind, probe.name, probe.location) == (kind, name, location)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "=",
        ":x",
        "a=b=c",
        "elf:x",
        "elf:x:",
        "sdt:x:y",
        "a b",
        "vfs_read+",
        "/x:",
        "x+08",
    ],
)
def test_what_is_no_place_is_refused(text):
    """With what is expected."""
    with pytest.raises(SelectionError, match=r"expected \[NAME=\]PLACE"):
        parse_kernel_probe(text)


def test_a_place_that_there_is_not_is_refused_before_anything_starts():
    """As options are made."""
    with pytest.raises(SelectionError, match="nowhere: cannot be read"):
        RecordingOptions(kernel_probes=("elf:/nowhere:main",))
    assert RecordingOptions(kernel_probes=("vfs_read",)).is_kernel_recorded
