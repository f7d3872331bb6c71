"""The guide that follows a request: nginx as it is installed, and the kernel."""

from __future__ import annotations

import re

import pytest

from support.patched import needs_patching
from support.request_guide import play_request_guide, why_no_requests

REASON = why_no_requests()
pytestmark = [
    needs_patching,
    pytest.mark.skipif(REASON is not None, reason=str(REASON)),
]


def test_a_request_is_followed(tmp_path):
    """From the connection through functions and system calls to the response."""
    recorded, durations, followed, _ = play_request_guide(tmp_path)

    assert "of the kernel" in recorded
    assert "functions patched" in recorded
    found = re.search(
        r"^ngx_http_process_request  .*\n(\d+) calls", durations, re.MULTILINE
    )
    assert found, durations
    assert int(found[1]) > 100
    for column in ("running", "runnable", "blocked", "thread"):
        assert column in durations
    order = [
        "syscall_entry_accept4",
        "syscall_exit_accept4",
        "ngx_http_process_request",
        "syscall_entry_writev",
        "net_dev_queue",
        "syscall_exit_writev",
    ]
    lines = iter(followed.splitlines())
    assert all(any(word in line for line in lines) for word in order), followed
    assert (tmp_path / "served/request.html").stat().st_size > 100_000
