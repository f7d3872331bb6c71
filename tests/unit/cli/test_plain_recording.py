"""Command lines of ``vestige record`` that need no parser: they mean the same with one."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import pytest

from vestige.cli import plain_recording
from vestige.cli.parser import build_parser
from vestige.cli.plain_recording import plain_options
from vestige.cli.verbs import load_commands

OF_THE_PARSER = {"verb", "run", "exit_statuses", "refuse", "list_contexts"}
"""What the parser adds for itself."""
WORDS = [
    *plain_recording._SETTINGS,
    *plain_recording._HELPERS,
    *plain_recording._VALUES,
    *plain_recording._CONTEXTS,
    *plain_recording._PATTERNS,
]
PROGRAM = ["./app", "-q", "--output", "x"]


@pytest.fixture(scope="module")
def parser():
    """The parser of all that ``vestige record`` takes."""
    return build_parser(load_commands(["record"]))


def by_the_parser(parser, words):
    """Return what the parser makes of a command line; ``None`` if it refuses it."""
    try:
        found = vars(parser.parse_args(["record", *words]))
    except SystemExit:
        return None
    return comparable({k: v for k, v in found.items() if k not in OF_THE_PARSER})


def comparable(values):
    """Return options with paths as text, and lists as tuples."""
    return {
        name: tuple(value)
        if isinstance(value, list | tuple)
        else os.fspath(value)
        if isinstance(value, os.PathLike)
        else value
        for name, value in values.items()
    }


def plainly(words):
    """Return what is read without the parser; ``None`` if it is left to the parser."""
    found = plain_options(words)
    return None if found is None else comparable(vars(found))


@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("value", [[], ["one,two"]], ids=["alone", "with a value"])
@pytest.mark.parametrize("separator", [[], ["--"]], ids=["", "--"])
def test_each_option_means_the_same(parser, word, value, separator):
    """With a value after it, and with none."""
    words = [word, *value, *separator, *PROGRAM]
    found = plainly(words)

    assert found is None or found == by_the_parser(parser, words)
    # Whatever an option takes, one of both ways of giving it is read here.
    assert plainly([word, *PROGRAM]) or plainly([word, "x", *PROGRAM])


@pytest.mark.parametrize("option", ["--output", "--max-size", "--context"])
def test_a_value_may_be_in_the_same_word(parser, option):
    """After a sign."""
    words = [f"{option}=a=b", *PROGRAM]

    assert plainly(words) == by_the_parser(parser, words) is not None


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["-q"],
        ["--"],
        ["-o"],
        ["-o", "-q", "app"],
        ["-otrace", "app"],
        ["-o=trace", "app"],
        ["--output=", "app"],
        ["-qo", "trace", "app"],
        ["--quie", "app"],
        ["--functions", "app"],
        ["--functions=slow", "app"],
        ["--mode=block=1s", "app"],
        ["--max-depth", "3", "app"],
        ["--min-duration=1s", "--python-functions=all", "app"],
        ["-e", "a:b", "app"],
        ["--python", "-e", "logger", "app"],
        ["--help"],
        ["--list-contexts"],
        ["--recover", "trace"],
        ["app", "--", "x"],
        ["--", "--", "app"],
        ["", "app"],
    ],
    ids=" ".join,
)
def test_all_else_is_left_to_the_parser(words):
    """It has rules of its own, and says what is wrong."""
    found = plain_options(words)

    assert found is None or found.program == ""


def test_command_lines_of_any_words_mean_the_same(parser):
    """Those that are read here; the parser is asked for each."""
    chance = random.Random(1)  # noqa: S311 - words, no secrets
    words = [*WORDS, "-c", "vpid", "app", "trace", "--", "-x", "=", "--output=t", "4k"]
    read = 0
    for _ in range(1500):
        line = chance.choices(words, k=chance.randint(1, 6))
        found = plainly(line)
        if found is not None:
            read += 1
            assert found == by_the_parser(parser, line), line
    assert read > 300


def test_a_short_recording_imports_no_more_than_it_uses(tmp_path):
    """These take longer to import than all of the recorder; start-up is what counts."""
    command = [sys.executable, "-X", "importtime", "-m", "vestige", "record"]
    done = subprocess.run(
        [*command, "-o", tmp_path / "trace", "--", "true"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "vestige.record.recorder" in imported
    assert not imported & {
        "argparse",
        "asyncio",
        "dataclasses",
        "enum",
        "json",
        "pathlib",
        "re",
        "shlex",
        "socket",
        "subprocess",
        "typing",
    }
