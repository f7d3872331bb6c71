"""`vestige query`, `list-plugins` and `help CLASS`."""

from __future__ import annotations

import pytest

from support.recordings import DATA
from vestige.cli.render.values import value_lines
from vestige.components.registry import BUILT_IN, PLUGINS

TRACE = DATA / "hello" / "ust" / "uid" / "0" / "64-bit"


def test_an_answer_is_printed(run):
    """With all parameters, the last of a name."""
    status, text, errors = run(
        *("query", "src.ctf.fs", "babeltrace.support-info", "-p", "type=file"),
        *("-p", f'input="{TRACE}",type="directory"'),
    )

    assert (status, errors) == (0, "")
    assert text == "group: 4eb40191-747b-4010-a2fd-59bdd2b62dc3\nweight: 0.750000\n"


def test_the_metadata_of_a_trace_are_printed(run, tmp_path):
    """On standard output, or to a file."""
    path = tmp_path / "metadata"
    status, text, _ = run("convert", "-o", "ctf-metadata", TRACE)

    assert status == 0
    assert text.startswith("/* CTF 1.8 */\n\ntypealias integer")
    assert run("convert", "-o", "ctf-metadata", TRACE, "-w", path) == (0, "", "")
    assert path.read_text() == text


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["source.ctf.sea", "x"], 2, "there is no class 'source.ctf.sea'"),
        (["ctf.fs", "x"], 2, "there is no class 'ctf.fs'"),
        (["src.ctf.fs", "x"], 2, "it knows babeltrace.support-info, babeltrace.trace"),
        (["sink.utils.dummy", "x"], 2, "does not know the object 'x'; it knows none"),
        (["src.ctf.fs", "metadata-info"], 2, "the parameter 'path' is missing"),
        (["src.ctf.fs", "metadata-info", "-p", "path=1"], 2, "'path' is a string"),
        (["src.ctf.fs", "metadata-info", "-p", "path=a,b=1"], 2, "no parameter 'b'"),
        (["src.ctf.fs", "metadata-info", "-p", "path=none"], 1, "cannot read the meta"),
    ],
)
def test_questions_without_an_answer_are_errors(run, words, status, message):
    """What is wrong with them is wrong usage; a trace that is not there is not."""
    found, text, errors = run("query", *words)

    assert (found, text) == (status, "")
    assert message in errors


@pytest.mark.parametrize(
    ("value", "lines"),
    [
        ({}, ["{ }"]),
        ([], ["[ ]"]),
        ({"b": [], "a": {}, "c": None}, ["a: { }", "b: [ ]", "c: null"]),
        ([True, 1.5, "x", -3], ["- yes", "- 1.500000", "- x", "- -3"]),
        ([{"a": [1]}], ["- ", "  a: ", "    - 1"]),
    ],
)
def test_values_are_lines(value, lines):
    """Names in order, parts further to the right."""
    assert list(value_lines(value)) == lines


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_class_is_listed_and_described(run, name):
    """With its parameters; every plugin has a description."""
    plugin = name.split(".")[1]
    status, text, _ = run("help", name)

    assert status == 0
    assert text.startswith(f"{name}:\n  Description: ")
    assert f"  {name}: " in run("list-plugins")[1]
    assert f"Description: {PLUGINS[plugin]}\n" in run("help", plugin)[1]


def test_help_of_nothing_names_the_commands(run):
    """As for any unknown word."""
    status, _, errors = run("help", "source.ctf.sea")

    assert status == 2
    assert "unknown command 'source.ctf.sea'" in errors
