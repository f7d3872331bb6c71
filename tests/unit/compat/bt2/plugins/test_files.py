"""Plugins in Python on the command line."""

from __future__ import annotations

import pytest

from support.recordings import DATA
from vestige.cli.main import main
from vestige.cli.plugins import FoundPlugins

PLUGINS = f"--plugin-path={DATA / 'plugins'}"
EVENTS = ["-c", "src.sample.Events", "-p", "count=2,first=5,step=10"]


def test_sources_are_found_for_paths(tmp_path, capfd) -> None:
    """A class that knows an input reads it; those of a group go to one component."""
    for name in ("one.sample", "two.sample", "other"):
        (tmp_path / name).touch()
    params = "count=1,first=5,step=1"
    words = ["convert", PLUGINS, str(tmp_path), "-p", params, "--clock-gmt"]

    assert main([*words, "nothing-here"]) == 0
    output = capfd.readouterr()
    assert output.out.count("sampled") == 1
    assert "No trace was found based on input `nothing-here`" in output.err


def test_a_range_of_time_cuts_what_a_source_in_python_gives(capfd) -> None:
    """The second event is after its end."""
    assert main(["convert", PLUGINS, *EVENTS, "--end", "10.01"]) == 0
    assert capfd.readouterr().out.count("sampled") == 1


def test_details_tell_what_was_made(capfd) -> None:
    """Names, and what stream classes support."""
    sink = ["-c", "sink.text.details", "-p", "color=never"]
    assert main(["convert", PLUGINS, *EVENTS, *sink]) == 0

    output = capfd.readouterr().out
    assert "Supports discarded events: Yes" in output
    assert "Supports discarded packets: No" in output
    assert "  Name: stream\n  Trace `sample`:\n" in output


@pytest.mark.parametrize("verb", ["list-plugins", "help"])
def test_plugins_are_described(verb, capfd) -> None:
    """With what they say of themselves."""
    words = ["sample"] if verb == "help" else []
    assert main([verb, PLUGINS, *words]) == 0

    assert (
        f"""\
sample:
  Path: {DATA / "plugins"}/bt_plugin_sample.py
  Version: 1.2.3beta
  Description: Samples
  Source component classes:
    'source.sample.Events': Give some events.
  Filter component classes:
    'filter.sample.Passing': Pass all that comes but events of a name.
  Sink component classes:
    'sink.sample.Telling': Print what comes, message by message.
"""
        in capfd.readouterr().out
    )


def test_a_class_is_described_with_all_that_it_says(tmp_path, capfd) -> None:
    """Behind the ports what its docstring has below the first line; nothing of none."""
    text = FAILING.replace(
        "Iterator):\n    def",
        'Iterator):\n    """One.\n\n    Two.\n      Three.\n    """\n    def',
        2,
    )
    (tmp_path / "bt_plugin_failing.py").write_text(text)
    words = [f"--plugin-path={tmp_path}", "source.failing.Source"]
    assert main(["help", *words]) == 0
    output = capfd.readouterr().out
    assert "  Description: One.\n" in output
    assert output.endswith("\n\nTwo.\n  Three.\n")


def test_an_exception_is_told_with_its_component(capfd) -> None:
    """After what came before it; the exit status is 1."""
    words = [*EVENTS[:2], "-p", "count=2,first=5,step=10,raises-at=3"]
    assert main(["convert", PLUGINS, *words]) == 1

    output = capfd.readouterr()
    assert output.out.count("sampled") == 1
    assert "ValueError: the seventh seal\n" in output.err
    assert "vestige: error: component 'src.sample.Events': failed\n" in output.err


FAILING = """
import os, signal, time
import bt2

class Iterator(bt2._UserMessageIterator):
    def __init__(self, config, port):
        self._class = port.user_data
        trace = self._class.stream_class.trace_class()
        self._stream = trace.create_stream(self._class.stream_class)
        self._next = iter(["beginning", 7, self._component.last])

    def __next__(self):
        what = next(self._next)
        if what == "slow":
            self._next = iter(["slow"])
            what = self._component.slow_event()
        if what == "beginning":
            return self._create_stream_beginning_message(self._stream)
        if what == "exit":
            raise SystemExit(0)
        return self._create_event_message(self._class, self._stream, what)

@bt2.plugin_component_class
class Source(bt2._UserSourceComponent, message_iterator_class=Iterator):
    def __init__(self, config, params, obj):
        how = str(params["how"])
        self.last = {"exit": "exit", "back": 3, "slow": "slow"}.get(how, 8)
        self._events = 0
        self._raises = params["how"] == "end"
        made = self._create_trace_class()
        clock = self._create_clock_class()
        streams = made.create_stream_class(default_clock_class=clock)
        self._add_output_port("out", streams.create_event_class(name="made"))

    def slow_event(self):
        self._events += 1
        if self._events == 2:
            os.kill(os.getpid(), signal.SIGINT)
        if self._events == 200:
            raise RuntimeError("nobody stops it")
        time.sleep(0.03)
        return 7

    def _user_finalize(self):
        if self._raises:
            raise RuntimeError("at last")

    @classmethod
    def _user_query(cls, executor, question, params, method_obj):
        if question == "odd":
            return object()
        raise RuntimeError("asked")

bt2.register_plugin(__name__, "failing")
"""


@pytest.mark.parametrize(
    ("how", "events", "error"),
    [
        ("exit", 1, "SystemExit: 0\n"),
        ("end", 2, "RuntimeError: at last\n"),
    ],
)
def test_no_failure_goes_unsaid(tmp_path, capfd, how, events, error) -> None:
    """A call to end Python, time that goes back, and what is raised at the end."""
    (tmp_path / "bt_plugin_failing.py").write_text(FAILING)
    words = ["-c", "source.failing.Source", "-p", f'how="{how}"']
    assert main(["convert", f"--plugin-path={tmp_path}", *words]) == 1

    output = capfd.readouterr()
    assert output.out.count("made:") == events
    assert error in output.err
    assert "vestige: error: component 'source.failing.Source': failed" in output.err


def test_time_that_goes_back_is_told(tmp_path, capfd) -> None:
    """In one line, without a traceback of what is ours."""
    (tmp_path / "bt_plugin_failing.py").write_text(FAILING)
    words = ["-c", "source.failing.Source", "-p", 'how="back"']
    assert main(["convert", f"--plugin-path={tmp_path}", *words]) == 1

    output = capfd.readouterr()
    assert output.out.count("made:") == 1
    assert output.err == (
        "vestige: error: component 'source.failing.Source': output port 'out': event "
        "'made' at clock value 3, before the 7 of the event in front of it\n"
    )


def test_an_answer_that_is_no_value_is_an_error(tmp_path, capfd) -> None:
    """It is not printed as what Python takes it for."""
    (tmp_path / "bt_plugin_failing.py").write_text(FAILING)
    words = [f"--plugin-path={tmp_path}", "source.failing.Source", "odd"]
    assert main(["query", *words]) == 1

    output = capfd.readouterr()
    assert not output.out
    assert "the answer to 'odd' is no value" in output.err


def test_plugins_of_distributions_are_found(tmp_path, capfd, monkeypatch) -> None:
    """By their entry points; one that cannot be loaded is reported."""
    facts = tmp_path / "tiny-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(
        "[vestige.components]\ntiny = tiny_components\nbad = tiny_bad\n"
    )
    (tmp_path / "tiny_components.py").write_text(FAILING)
    monkeypatch.syspath_prepend(str(tmp_path))
    words = ["-c", "source.failing.Source", "-p", 'how="good"']

    assert main(["convert", *words]) == 0
    output = capfd.readouterr()
    assert output.out.count("made:") == 2
    assert "warning: tiny_bad: cannot be loaded\n" in output.err


def test_paths_without_plugins_are_told(tmp_path, capfd, monkeypatch) -> None:
    """Of those that were asked for: not under the name of Babeltrace 2."""
    (tmp_path / "file").touch()
    words = [f"--plugin-path={tmp_path}:{tmp_path}/file:{tmp_path}/none"]
    monkeypatch.setenv("BABELTRACE_PLUGIN_PATH", f"{tmp_path}/other")
    monkeypatch.setattr(FoundPlugins, "warns", False)
    assert main(["list-plugins", *words]) == 0
    assert not capfd.readouterr().err

    monkeypatch.setattr(FoundPlugins, "warns", True)
    assert main(["list-plugins", *words, *words]) == 0
    assert capfd.readouterr().err == (
        f"vestige: warning: --plugin-path: '{tmp_path}/file' is no folder\n"
        f"vestige: warning: --plugin-path: '{tmp_path}/none' does not exist\n"
    )


def test_a_source_that_waits_for_each_event_can_be_interrupted(tmp_path, capfd) -> None:
    """It is not asked for thousands at once; what it gave is there."""
    (tmp_path / "bt_plugin_failing.py").write_text(FAILING)
    words = ["-c", "source.failing.Source", "-p", 'how="slow"']
    assert main(["convert", f"--plugin-path={tmp_path}", *words]) == 2

    assert 1 < capfd.readouterr().out.count("made:") < 100


def test_what_a_class_raises_when_asked_for_a_path_is_told(tmp_path, capfd) -> None:
    """Else nobody could mend it."""
    (tmp_path / "bt_plugin_failing.py").write_text(FAILING)
    assert main(["convert", f"--plugin-path={tmp_path}", str(tmp_path)]) == 1
    assert "RuntimeError: asked\n" in capfd.readouterr().err


CLOCKS = """
import bt2

class Iterator(bt2._UserMessageIterator):
    def __init__(self, config, port):
        stream_class = port.user_data
        stream = stream_class.trace_class().create_stream(stream_class)
        self._next = iter([self._create_stream_beginning_message(stream)])

    def __next__(self):
        return next(self._next)

@bt2.plugin_component_class
class Source(bt2._UserSourceComponent, message_iterator_class=Iterator):
    def __init__(self, config, params, obj):
        for index, is_absolute in enumerate(params["absolute"]):
            clock = self._create_clock_class(
                name=f"c{index}", origin_is_unix_epoch=bool(is_absolute)
            )
            trace_class = self._create_trace_class()
            stream_class = trace_class.create_stream_class(default_clock_class=clock)
            self._add_output_port(f"out{index}", stream_class)

bt2.register_plugin(__name__, "clocks")
"""


def test_clocks_that_cannot_be_compared_are_refused(tmp_path, capfd) -> None:
    """The muxer and its port are named; those of one kind are merged."""
    (tmp_path / "bt_plugin_clocks.py").write_text(CLOCKS)
    words = ["convert", f"--plugin-path={tmp_path}", "-c", "src.clocks.Source"]

    assert main([*words, "-p", "absolute=[1, 1]"]) == 0
    assert main([*words, "-p", "absolute=[1, 0]"]) == 1
    errors = capfd.readouterr().err
    assert "component 'muxer' (filter.utils.muxer): input port 'in1': " in errors
    assert "the clock 'c1' has an unknown origin, but the clock 'c0' counts" in errors
