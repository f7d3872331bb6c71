"""Iterators over events: threads, closing, garbage and the end."""

from __future__ import annotations

import gc
import threading
from itertools import islice

import pytest

import vestige
from support.ctf_writer import Packet, Trace, numbered
from support.recordings import DATA
from vestige.core import EventIterator

COUNT = 40_000
THREADS = 4


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Two streams of many packets: enough for several merges."""
    directory = tmp_path_factory.mktemp("many")
    streams = {
        name: [
            Packet(numbered(500, start=start, step=1000))
            for start in range(first, first + COUNT // 2, 500)
        ]
        for name, first in (("a", 0), ("b", COUNT // 2))
    }
    Trace(streams=streams).write(directory)
    return vestige.open(directory)


def together(job):
    """Run a job in some threads that begin together; return what each returns."""
    barrier = threading.Barrier(THREADS)
    results = []

    def run():
        barrier.wait()
        results.append(job())

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return results


def test_each_event_goes_to_exactly_one_thread(many):
    """None is lost and none comes twice, whoever reads the next part."""
    for _ in range(5):
        iterator = iter(many)
        taken = together(lambda one=iterator: [event["value"] for event in one])

        assert sorted(value for part in taken for value in part) == list(range(COUNT))


def test_closing_while_threads_read(many):
    """Each of them ends; none gets an event after that."""
    iterator = iter(many)
    first = next(iterator)

    def job():
        taken = [event["value"] for event in islice(iterator, 2000)]
        iterator.close()
        gc.collect()
        return taken + [event["value"] for event in iterator]

    taken = [value for part in together(job) for value in part]

    assert len(taken) == len(set(taken)) <= COUNT
    assert first["value"] not in taken
    assert next(iterator, None) is None


def test_a_closed_iterator_ends_the_reading():
    """What it reads from is closed, once."""
    ended = []

    def merges():
        try:
            yield from vestige.open(DATA / "hello").merges()
        finally:
            ended.append(True)

    iterator = EventIterator(merges())
    assert next(iterator).name == "greeting:said"
    iterator.close()
    iterator.close()

    assert ended == [True]
    assert list(iterator) == []


def test_an_error_of_the_reading_reaches_one_thread():
    """The others are at the end."""

    class BrokenError(Exception):
        """A reading that goes wrong."""

    def merges():
        raise BrokenError
        yield

    iterator = EventIterator(merges())

    def job():
        try:
            return list(iterator)
        except BrokenError:
            return "broken"

    assert sorted(map(str, together(job))) == ["[]", "[]", "[]", "broken"]


def test_the_reading_cannot_ask_for_its_own_events():
    """As a generator, it is an error and no endless wait."""
    made = []

    def merges():
        next(made[0])
        yield

    made.append(EventIterator(merges()))
    with pytest.raises(ValueError, match="already executing"):
        next(made[0])


def test_a_cycle_through_an_iterator_is_collected(many):
    """The collector sees what it reads from, also while threads take from others."""
    freed = []

    class Probe:
        """Knows its end."""

        def __del__(self):
            freed.append(True)

    def merges(holder):
        holder["probe"] = Probe()
        yield from many.merges()

    def job():
        for _ in range(20):
            holder = {}
            holder["iterator"] = EventIterator(merges(holder))
            next(holder["iterator"])
            del holder
            gc.collect()
        return True

    assert together(job) == [True] * THREADS
    gc.collect()
    assert len(freed) == 20 * THREADS


def test_what_is_no_merge_is_refused():
    """A TypeError, as everywhere in Python."""
    with pytest.raises(TypeError):
        EventIterator(7)
    with pytest.raises(TypeError):
        next(EventIterator(["merge"]))
