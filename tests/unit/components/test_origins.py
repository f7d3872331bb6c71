"""Events of some threads or processes only."""

from __future__ import annotations

import pytest

from support.ctf_writer import Event, Packet, Trace
from support.recordings import DATA, DEMO
from vestige import ctf
from vestige.cli.main import main
from vestige.components.filters.origins import choose_origins
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.errors import SelectionError
from vestige.graph import Selection, mux

SHOP = DEMO / "trace"
NAME = {"procname": ctf.array("u8", 16, text=True)}


def chosen(path, threads=(), processes=()):
    """Return thread, process and name of the events that are left of a trace."""
    streams = CtfFsSource([path]).streams
    wanted = dict.fromkeys(streams, Selection())
    narrowed = choose_origins(wanted, threads, processes)
    return [
        (event.thread, event.process, event.process_name)
        for merge in mux(streams, narrowed)
        for event in merge.shown().events()
    ]


EVERYTHING = chosen(SHOP)


@pytest.mark.parametrize("words", [("44",), ("40", "44"), ("45", "44")])
def test_threads_are_chosen_by_their_ids(words):
    """Any of them."""
    expected = [one for one in EVERYTHING if str(one[0]) in words]

    assert chosen(SHOP, words) == expected != []


def test_names_and_ids_of_processes():
    """Names have patterns; one of the words is enough."""
    assert chosen(SHOP, (), ("sh*",)) == EVERYTHING
    assert chosen(SHOP, (), ("other", "40")) == EVERYTHING
    assert chosen(SHOP, (), ("sh",)) == []
    assert chosen(SHOP, ("44",), ("shop",)) == chosen(SHOP, ("44",))


@pytest.mark.parametrize("name", ["a-server-that-serves", "a-server*", "[s?ver]"])
def test_names_are_those_of_the_kernel(tmp_path, name):
    """It has the beginning of a longer one, and some of its own in brackets."""
    of_kernel = {"[s?ver]": "[s?ver]"}.get(name, "a-server-that-s")
    with ctf.Writer(tmp_path / "t", event_context=NAME) as writer:
        event = writer.event_class("e")
        stream = writer.stream("s")
        for time, one in enumerate((of_kernel, "sXver", "a", "s"), 1):
            stream.write(event, time, {"procname": one.encode()})

    assert [who for *_, who in chosen(tmp_path / "t", (name,))] == [of_kernel]


def test_names_are_text_and_no_expression():
    """Whatever is in them."""
    for name in ('" || 1 || "', "\\", 'a"', "\\*"):
        assert chosen(SHOP, (), (name,)) == []


def test_events_that_do_not_tell_are_an_error():
    """With the context that is missing."""
    with pytest.raises(SelectionError, match="thread by vtid: record"):
        chosen(DATA / "hello", ("1",))
    with pytest.raises(SelectionError, match="process by procname"):
        chosen(DATA / "hello", (), ("x",))


def test_of_several_traces_those_that_tell_are_shown(capfd, tmp_path):
    """The others have no event of that thread."""
    event = Event(5, (5).to_bytes(4, "little"))
    Trace(streams={"a": [Packet([event])]}).write(tmp_path)
    words = ["view", "--no-debug-info", "--thread=44"]
    main([*words, str(SHOP)])
    alone = capfd.readouterr().out
    main([*words, str(SHOP), str(tmp_path)])
    both = capfd.readouterr().out

    assert len(both.splitlines()) == len(alone.splitlines()) > 0
