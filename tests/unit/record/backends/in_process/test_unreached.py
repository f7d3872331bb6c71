"""Processes that are not recorded are found, each once."""

from __future__ import annotations

import os
import signal
import subprocess

from support.waiting import wait_until
from vestige.record.backends.in_process import unreached
from vestige.record.backends.in_process.unreached import UnreachedProcesses


def test_those_beyond_what_is_kept_are_counted_once(monkeypatch):
    """However often somebody looks."""
    monkeypatch.setattr(unreached, "MOST_FOUND", 1)
    monkeypatch.setattr(unreached, "GRACE_TICKS", 0)
    # A family of its own: what other tests have started comes and goes.
    script = "sleep 60 & sleep 60 & sleep 60 & wait"
    with subprocess.Popen(["sh", "-c", script], start_new_session=True) as shell:
        looked = UnreachedProcesses(shell.pid, list, lambda *_: False)

        def has_seen_all():
            looked.look()
            return looked.more == 3

        wait_until(has_seen_all, "the shell and its children are seen", 30)
        looked.look()
        after = looked.more, len(looked.found)
        os.killpg(shell.pid, signal.SIGKILL)

    assert after == (3, 1)


def test_a_stopped_process_may_not_have_begun(monkeypatch):
    """As one that a debugger holds at its first instruction."""
    monkeypatch.setattr(unreached, "GRACE_TICKS", 0)
    with subprocess.Popen(["sleep", "60"]) as process:

        def is_found():
            looked = UnreachedProcesses(process.pid, list, lambda *_: False)
            looked.look()
            return process.pid in [one.process for one in looked.found]

        wait_until(is_found, "it is found", 30)
        process.send_signal(signal.SIGSTOP)
        wait_until(lambda: not is_found(), "it is stopped", 30)
        process.send_signal(signal.SIGCONT)
        wait_until(is_found, "it is found again", 30)
        process.kill()
