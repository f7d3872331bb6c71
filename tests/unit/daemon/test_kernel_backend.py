"""What a daemon asks of the process that records, when it has time for it."""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import pytest

from vestige.daemon import kernel_backend
from vestige.daemon.kernel_backend import KernelBackend
from vestige.daemon.model import Channel, Session


def test_a_session_that_has_ended_is_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Somebody may ask for counts just before it ends."""
    trace = mock.Mock(failure=None, has_ended=False, process=os.getpid())
    trace.take_problems.return_value = []
    trace.counts.return_value = {}
    monkeypatch.setattr(kernel_backend, "SessionTrace", mock.Mock(return_value=trace))
    session = Session("s", 0, 0, "/nowhere", active=True)
    session.kernel_channels["c"] = Channel("c")

    async def main() -> None:
        backend = KernelBackend()
        await backend.apply(session)
        ending = asyncio.ensure_future(backend.forget(session))
        await asyncio.sleep(0)
        # It ends now; this waits for that.
        backend.counts(session)
        backend.hold(session, is_held=True)
        assert await ending is None
        await asyncio.gather(*backend._tasks)

    asyncio.run(main())
    trace.end.assert_called_once()
    trace.refresh.assert_not_called()
    trace.hold.assert_not_called()


def test_what_is_done_at_the_end_comes_after_what_was_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One answer at a time comes from the process."""
    trace = mock.Mock(failure=None, has_ended=False, process=os.getpid())
    trace.take_problems.return_value = []
    trace.counts.return_value = {}
    monkeypatch.setattr(kernel_backend, "SessionTrace", mock.Mock(return_value=trace))
    session = Session("s", 0, 0, "/nowhere", active=True)
    session.kernel_channels["c"] = Channel("c")
    done: list[str] = []
    trace.refresh.side_effect = lambda **_: done.append("counted")
    trace.end.side_effect = lambda: done.append("ended")

    async def main() -> None:
        # One thread: what is given to it is done in order.
        asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        backend = KernelBackend()
        await backend.apply(session)
        backend.counts(session)
        async with backend._lock_of("s"):
            # What was begun waits now, and the end after it.
            await asyncio.sleep(0.01)
            closing = asyncio.ensure_future(backend.close())
            await asyncio.sleep(0)
            await asyncio.to_thread(done.append, "waited")
        await closing

    asyncio.run(main())
    assert done == ["waited", "counted", "ended"]


def test_a_session_that_is_rotated_by_size_is_counted_exactly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Buffers are read before that, and who looks at sizes is told."""
    trace = mock.Mock(failure=None, has_ended=False, process=os.getpid(), chunk_size=0)
    trace.take_problems.return_value = []
    monkeypatch.setattr(kernel_backend, "SessionTrace", mock.Mock(return_value=trace))
    session = Session("s", 0, 0, "/nowhere", active=True, rotation_size=9)
    session.kernel_channels["c"] = Channel("c")

    def count(*, is_read: bool) -> None:
        trace.chunk_size = 9 if is_read else 1

    trace.refresh.side_effect = count

    async def main() -> int:
        told = asyncio.Event()
        backend = KernelBackend()
        backend.on_counted = told.set
        await backend.apply(session)
        assert backend.chunk_size(session) == 0
        await told.wait()
        found = backend.chunk_size(session)
        await backend.forget(session)
        return found

    assert asyncio.run(main()) == 9
