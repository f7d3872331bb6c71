"""What `convert` is asked for, as the words of `run`."""

from __future__ import annotations

import argparse

import pytest

from support.recordings import DATA
from vestige.cli.commands.convert import ConvertCommand
from vestige.cli.component_words import shell_quoted
from vestige.cli.ordered_options import ordered_items

TRACE = DATA / "hello" / "ust" / "uid" / "0" / "64-bit"
SOURCE = [
    *("--component", "auto-disc-source-ctf-fs:source.ctf.fs"),
    *("--params", f'inputs=["{TRACE}"]'),
]
MUXER = ["--component", "muxer:filter.utils.muxer"]


def words(run, *options):
    """Return the words that a command line of `convert` stands for."""
    status, text, errors = run("convert", "--run-args-0", *options)

    assert (status, errors) == (0, "")
    return text.split("\0")


def test_a_path_is_a_source_a_muxer_and_text(run):
    """With the names of Babeltrace 2."""
    assert words(run, TRACE) == [
        *SOURCE,
        *("--component", "pretty:sink.text.pretty"),
        *MUXER,
        *("--connect", "auto-disc-source-ctf-fs:muxer", "--connect", "muxer:pretty"),
    ]


def test_live_sessions_are_sources_of_their_own(run):
    """In the places of their URLs; options of clocks are for traces in files."""
    first, second = "net://a/host/b/c", "net4://a:7/host/b/d/"
    source = "auto-disc-source-ctf-lttng-live"
    found = words(run, first, TRACE, "--clock-offset=1", second)
    assert found[:12] == [
        *("--component", f"{source}:source.ctf.lttng-live"),
        *("--params", f'inputs=["{first}"]', *SOURCE[:2]),
        *("--params", "clock-class-offset-s=1"),
        *("--params", f'inputs=["{TRACE}"]'),
        *("--component", f"{source}-0:source.ctf.lttng-live"),
    ]
    assert found[12:14] == ["--params", f'inputs=["{second}"]']


def test_named_components_stand_where_they_do_there(run):
    """Sources beside that of the path, filters after the implied ones, one sink."""
    found = words(
        run,
        *("-c", "muxer:flt.a.b", "-p", "x=1", TRACE, "-c", "src.a.b", "--begin=1"),
        *("-c", "sink.a.b", "-lI"),
    )

    assert found == [
        *("--component", "muxer:flt.a.b", "--params", "x=1"),
        *("--component", "src.a.b:src.a.b"),
        *("--component", "sink.a.b:sink.a.b", "--log-level", "I"),
        *SOURCE,
        *("--component", "muxer-0:filter.utils.muxer"),
        *("--component", "trimmer:filter.utils.trimmer", "--params", 'begin="1"'),
        *("--connect", r"src\.a\.b:muxer-0"),
        *("--connect", "auto-disc-source-ctf-fs:muxer-0"),
        *("--connect", "muxer-0:trimmer", "--connect", "trimmer:muxer"),
        *("--connect", r"muxer:sink\.a\.b"),
    ]


def test_options_that_are_ours_are_parameters_that_are_ours(run):
    """So that `run` does the same."""
    found = words(
        run,
        *(TRACE, "--event=a:*,b", "--event=c", "--no-demangle", "--strict"),
        *("--debug-info-target-prefix=/x=/y", "--debug-info-target-prefix=/z"),
    )

    assert found[0] == "--strict"
    assert "names=" + '["a:*", "b", "c"]' in found
    assert "demangle=no" in found
    assert 'target-prefixes=["/x=/y", "/z"]' in found


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-c", "hello:sink.a.b", "-c", "hello:source.c.d"], "two components called"),
        ([TRACE, "-o", "ctf"], "-o ctf needs --output"),
        ([TRACE, "-o", "ctf", "-w", "x", "--no-delta"], "which of two sinks"),
        ([TRACE, "-c", "sink.a.b", "-o", "text"], "'sink.a.b' and 'pretty'"),
        (["-i", "lttng-live", "net://a/host/b/c", "--clock-offset=1"], "no options of"),
        (["-i", "lttng-live", "-c", "src.a.b"], "-i lttng-live needs one URL"),
        (["-c", "filter.a.b"], "there is no source"),
        ([TRACE, "--stream-intersection"], "--stream-intersection has no words"),
        (["-c", "source.plugin.component.class"], "expected [NAME:]TYPE.PLUGIN.CLASS"),
    ],
)
def test_what_contradicts_itself_is_refused(run, options, message):
    """Before a path is looked at."""
    status, text, errors = run("convert", "--run-args", *options)

    assert (status, text) == (2, "")
    assert message in errors


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("", "''"),
        ("a-b_c.d:e,f/g@h%i+j=k", "a-b_c.d:e,f/g@h%i+j=k"),
        ("a b", "'a b'"),
        ("it's", "'it'\"'\"'s'"),
        ("é", "'é'"),
    ],
)
def test_words_are_quoted_where_a_shell_needs_it(word, quoted):
    """As Babeltrace 2 does."""
    assert shell_quoted(word) == quoted


def test_options_are_taken_in_their_order():
    """In all forms in which options can be written."""
    parser = argparse.ArgumentParser()
    ConvertCommand().configure(parser)
    line = ["-vlW", "a", "--begin=1", "--end", "2", "-w=x", "-dv", "-", "--", "-v"]

    assert [tuple(one) for one in ordered_items(parser, line)] == [
        ("verbose", ""),
        ("log_level", "W"),
        ("", "a"),
        ("begin", "1"),
        ("end", "2"),
        ("output", "x"),
        ("debug", ""),
        ("verbose", ""),
        ("", "-"),
        ("", "-v"),
    ]
