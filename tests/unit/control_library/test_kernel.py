"""The kernel's domain by the control library."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from support.kernel_tracer import why_not
from support.session_daemon import SessionDaemon, session_daemon

REASON = why_not()


@pytest.fixture(scope="module")
def without_kernel() -> Iterator[SessionDaemon]:
    """A daemon that does not record the kernel."""
    with session_daemon() as one:
        assert one.start("--no-kernel").returncode == 0
        yield one


@pytest.mark.skipif(REASON is not None, reason=str(REASON))
@pytest.mark.parametrize("builder", ["build", "build_with_sanitizers"])
def test_all_functions_of_the_kernel(request, run, builder) -> None:
    """Each does what it says, and nothing is lost or read amiss."""
    done = run(request.getfixturevalue(builder)("kernel"), "0")

    assert (done.stderr, done.returncode) == ("", 0)


def test_a_daemon_without_the_kernel_refuses(build, without_kernel) -> None:
    """With the code of LTTng's: one for root's daemon, one for others."""
    code = "79" if os.geteuid() else "33"
    done = subprocess.run(
        [build("kernel"), code],
        env={**os.environ, **without_kernel.environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.stderr, done.returncode) == ("", 0)
