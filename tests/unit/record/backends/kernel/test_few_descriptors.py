"""The processes that record the kernel, where they may have few files open."""

from __future__ import annotations

from pathlib import Path

import pytest

import vestige
from support.kernel_channels import kernel_wanted
from support.kernel_tracer import instances, why_not
from vestige.record.backends.kernel import process_link
from vestige.record.backends.kernel.process_link import (
    CollectorProcess,
    KernelOrderError,
)
from vestige.record.backends.kernel.rules import KernelRule
from vestige.record.backends.kernel.wanted import ChannelWanted

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=f"not root: {REASON}")
FEW = 24
CHANNELS = [
    ChannelWanted(f"channel{one}", [KernelRule("tracepoint", "sched_switch")], 64 << 10)
    for one in range(8)
]
"""Their files are more, even on one CPU."""


def limit_descriptors(monkeypatch: pytest.MonkeyPatch, most: str) -> None:
    """Let the process have few at first, and as many as something says at most."""
    limit = (
        "import resource; of = resource.RLIMIT_NOFILE; "
        f"resource.setrlimit(of, ({FEW}, {most})); "
    )
    monkeypatch.setattr(process_link, "_PROGRAM", limit + process_link._PROGRAM)


def test_as_many_are_opened_as_are_needed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Shells begin with 1,024, which channels on a large machine are beyond."""
    limit_descriptors(monkeypatch, "resource.getrlimit(of)[1]")
    process = CollectorProcess(kernel_wanted(tmp_path / "kernel", CHANNELS))
    try:
        process.wait_until_ready()
        process.ask("start", left_out=[])
        process.ask("end")
    finally:
        process.end()

    streams = vestige.open(tmp_path / "kernel").streams
    assert len(streams) >= len(CHANNELS)


def test_nothing_is_left_where_no_more_may_be(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It says so, and its instances are gone with it."""
    limit_descriptors(monkeypatch, str(FEW))
    process = CollectorProcess(kernel_wanted(tmp_path / "kernel", CHANNELS))
    maker = f"vestige-{process.id}-"
    with pytest.raises(KernelOrderError, match="Too many open files"):
        process.wait_until_ready()

    assert [one for one in instances() if one.startswith(maker)] == []
    assert not (tmp_path / "kernel").exists()
