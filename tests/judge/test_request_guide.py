"""The guide that follows a request, to the source lines of nginx."""

from __future__ import annotations

import re

import pytest

from support.debian_sources import NGINX
from support.request_guide import play_request_guide, why_no_requests

REASON = why_no_requests()


@pytest.mark.short
@pytest.mark.skipif(REASON is not None, reason=str(REASON))
def test_a_request_is_followed_to_source_lines(tmp_path, built):
    """The function that handles it is within the system calls, with its line."""
    sources = built(NGINX).parent.parent
    *_, followed = play_request_guide(tmp_path, sources)

    assert re.search(
        r"ngx_http_process_request\(\) \{  ngx_http_request\.c:\d+", followed
    ), followed
    assert "syscall_entry_accept4" in followed
    assert "syscall_entry_writev" in followed
