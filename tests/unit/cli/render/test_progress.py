"""The progress bar."""

from __future__ import annotations

import io

import pytest

from vestige.cli.render.progress import ProgressBar


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        """Say so."""
        return True


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        """Tell the time."""
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """A clock, and a terminal of 80 columns with colours."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Clock()


def lines(stream):
    """Return what was drawn, drawing by drawing."""
    return stream.getvalue().split("\r\x1b[K")[1:]


def test_it_draws_fraction_events_and_rate(clock):
    """On one line that is no longer than the terminal is wide."""
    stream = Terminal()
    bar = ProgressBar("export", stream=stream, clock=clock)
    clock.now = 2.0
    bar.update(0.5, 3_000_000)

    assert lines(stream) == [
        "export \x1b[32m" + "━" * 15 + "\x1b[0m" + " " * 15 + "  50%  "
        "3,000,000 events, 1,500,000/s"
    ]


def test_no_color(clock, monkeypatch):
    """NO_COLOR is respected."""
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    bar = ProgressBar("export", stream=stream, clock=clock)
    clock.now = 1.0
    bar.update(1.0, 10)

    assert lines(stream) == ["export " + "━" * 30 + " 100%  10 events, 10/s"]


def test_a_quick_command_draws_nothing(clock):
    """Neither at the beginning nor at the end."""
    stream = Terminal()
    with ProgressBar("export", stream=stream, clock=clock) as bar:
        clock.now = 0.2
        bar.update(0.9, 10)

    assert stream.getvalue() == ""


def test_it_is_not_drawn_more_often_than_people_read(clock):
    """Ten times a second."""
    stream = Terminal()
    bar = ProgressBar("export", stream=stream, clock=clock)
    for step in range(1000):
        clock.now = 1 + step / 1000
        bar.update(step / 1000, step)

    assert len(lines(stream)) in {9, 10, 11}


def test_it_is_erased_at_the_end_and_before_an_error(clock):
    """The last thing it writes leaves an empty line."""
    stream = Terminal()

    def work():
        with ProgressBar("export", stream=stream, clock=clock) as bar:
            clock.now = 1.0
            bar.update(None, 7)
            raise ValueError("bad")

    with pytest.raises(ValueError, match="bad"):
        work()
    assert lines(stream) == ["export: 7 events, 7/s", ""]


@pytest.mark.parametrize("terminal", ["dumb", "none"])
def test_nothing_is_drawn_where_nobody_looks(clock, monkeypatch, terminal):
    """A file, a pipe, or a terminal that cannot erase."""
    monkeypatch.setenv("TERM", "dumb" if terminal == "dumb" else "xterm")
    stream = Terminal() if terminal == "dumb" else io.StringIO()
    bar = ProgressBar("export", stream=stream, clock=clock)
    clock.now = 5.0
    bar.update(0.5, 10)
    bar.close()

    assert stream.getvalue() == ""
    assert not bar.enabled


@pytest.mark.parametrize("columns", ["10", "40", "52"])
def test_narrow_terminals(clock, monkeypatch, columns):
    """The bar gives way, then the text is cut: a wrapped line could not be erased."""
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("NO_COLOR", "1")
    stream = Terminal()
    bar = ProgressBar("export", stream=stream, clock=clock)
    clock.now = 1.0
    bar.update(2.0, 3_000_000)

    [line] = lines(stream)
    assert len(line) < int(columns)
    assert line.startswith("export 100%"[: len(line)]) or "━" in line
