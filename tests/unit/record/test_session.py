"""A session takes a recording through its steps, whoever records."""

from __future__ import annotations

import errno

import pytest

from vestige import ProgramError, RecordError
from vestige.record.collected import Collected
from vestige.record.session import Session
from vestige.record.trace_directory import TraceDirectory


class Notes:
    """A back end that notes what it is asked for, and may fail at it."""

    def __init__(self, **failures):
        self.verbs = []
        self.failures = failures

    def __getattr__(self, verb):
        def do():
            self.verbs.append(verb)
            if verb in self.failures:
                raise self.failures[verb]
            return Collected(packets=3)

        return do


def record_to(path, backend, after=lambda: None):
    """Take a recording through all its steps, and do something after them."""
    with Session(TraceDirectory(path), backend) as session:
        session.prepare()
        (path / "metadata").touch()
        session.start()
        session.stop()
        after()


def test_each_verb_is_called_once_and_in_order(tmp_path):
    """And the states have names."""
    backend = Notes()
    states = []

    with Session(TraceDirectory(tmp_path / "trace"), backend) as session:
        for step in (session.prepare, session.start, session.stop):
            states.append(session.state)
            result = step()
        states.append(session.state)
    session.close()

    assert result.packets == 3
    assert [*states, session.state] == [
        "created",
        "prepared",
        "recording",
        "stopped",
        "closed",
    ]
    assert backend.verbs == ["prepare", "start", "stop", "close"]
    assert (tmp_path / "trace").is_dir()


@pytest.mark.parametrize("steps", [["start"], ["prepare", "stop"], ["prepare"] * 2])
def test_a_step_out_of_order_is_refused(tmp_path, steps):
    """The error says how far the recording is; the back end is not asked."""
    backend = Notes()
    session = Session(TraceDirectory(tmp_path / "trace"), backend)
    *before, last = steps
    for step in before:
        getattr(session, step)()

    with pytest.raises(
        RecordError, match=r"the session is (created|prepared): expected"
    ):
        getattr(session, last)()

    assert backend.verbs == before


FAILURES = [
    RecordError("no memory"),
    ProgramError("app", FileNotFoundError(errno.ENOENT, "No such file")),
    OSError(errno.ENOSPC, "No space left on device"),
]


@pytest.mark.parametrize("verb", ["prepare", "start"])
@pytest.mark.parametrize("failure", FAILURES, ids=lambda one: type(one).__name__)
def test_a_recording_that_cannot_begin_leaves_no_trace(tmp_path, verb, failure):
    """The error is one of recording, and what is open is given back."""
    backend = Notes(**{verb: failure})
    path = tmp_path / "trace"

    with pytest.raises((RecordError, ProgramError)) as caught:
        record_to(path, backend)

    assert caught.value is failure or str(caught.value).endswith(
        "cannot hold a trace: No space left on device"
    )
    assert backend.verbs[-1] == "close"
    assert not path.exists()


def test_a_directory_that_was_there_stays(tmp_path):
    """Only what the recording put there is removed."""
    with pytest.raises(RecordError, match="no memory"):
        record_to(tmp_path, Notes(start=RecordError("no memory")))

    assert list(tmp_path.iterdir()) == []


def test_what_was_recorded_stays_though_something_fails_later(tmp_path):
    """Once it has stopped, the trace is the user's."""
    path = tmp_path / "trace"

    def fail():
        raise OSError(errno.EIO, "later")

    with pytest.raises(OSError, match="later"):
        record_to(path, Notes(), fail)

    assert (path / "metadata").exists()
