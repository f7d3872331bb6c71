"""The control library, and a daemon that says what it should not."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.strange_daemon import strange_daemon

SESSION = {
    "name": "s",
    "output": "/trace",
    "active": True,
    "created": 1.5e9,
    "buffers": "uid",
    "trackers": {"vpid": ["5", "x"], "vuid": None, "vgid": []},
    "agents": {"JUL": [{"name": "a"}], "NONE": [1], "LOG4J": []},
    "channels": {
        "c": {
            "name": "c",
            "attributes": {"subbuf_size": 4096, "blocking_timeout": -1},
            "rules": [
                {"name": "r", "filter": "x", "exclusions": ["a", "b"]},
                {"name": "r2", "filter": None, "exclusions": []},
            ],
        }
    },
}
TRIGGER = {
    "name": "t",
    "owner_uid": 0,
    "condition": {
        "type": "event-rule-matches",
        "rule": {"type": "user-tracepoint", "name": "*", "exclusions": ["y"]},
        "captures": [
            {
                "type": "element",
                "index": 1,
                "of": {"type": "payload-field", "name": "f"},
            }
        ],
    },
    "action": {"type": "list", "actions": [{"type": "notify"}]},
}
ANSWERS = {
    "list": {"sessions": [SESSION, SESSION]},
    "programs": {
        "programs": [
            {
                "pid": 5,
                "events": [
                    {
                        "name": "e",
                        "level": 3,
                        "fields": [{"name": "f", "type": "integer"}],
                    },
                    {"name": "g"},
                ],
            }
        ]
    },
    "list-triggers": {"triggers": [TRIGGER]},
    "list-snapshot-outputs": {"outputs": [{"number": 1, "name": "o", "path": "/o"}]},
    "save": {"documents": {"../outside": "<sessions/>", "inside": "<sessions/>"}},
}


def answer_to(line: bytes) -> bytes:
    """Return what a daemon would say."""
    verb = json.loads(line)["verb"]
    answer = ANSWERS.get(verb, SESSION)
    return json.dumps({"version": 1, "number": 1, "answer": answer}).encode() + b"\n"


@pytest.fixture
def ask(short_folder, tmp_path: Path):
    """Run a program against a daemon that speaks by a function."""

    def asked(
        program: Path, say: Callable[[bytes], bytes]
    ) -> subprocess.CompletedProcess[str]:
        with strange_daemon(short_folder, say) as environment:
            return subprocess.run(
                [program, tmp_path / "saved"],
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=100,
                check=False,
            )

    return asked


INVALID_PROTOCOL, CONNECT_FAIL = -152, -30


@pytest.mark.parametrize(
    ("said", "code"),
    [
        (b"", CONNECT_FAIL),
        (b"\n", INVALID_PROTOCOL),
        (b"nonsense\n", INVALID_PROTOCOL),
        (b'{"version": 1, "answer"', CONNECT_FAIL),
        (b'{"version": 2, "answer": {}}\n', INVALID_PROTOCOL),
        (b'{"version": 1, "answer": {}} {}\n', INVALID_PROTOCOL),
        (b'{"version": 1}\n', INVALID_PROTOCOL),
        (b'{"version": 1, "refusal": "SESS_NOT_FOUND"}\n', -23),
        (b'{"version": 1, "refusal": "NEVER HEARD OF"}\n', -11),
        (b'{"version": 1, "refusal": 5}\n', INVALID_PROTOCOL),
        (b'{"version": 1, "answer": "\\u0000"}\n', INVALID_PROTOCOL),
        (b'{"version": 1, "answer": "\\ud83d"}\n', INVALID_PROTOCOL),
        (b"[" * 100_000 + b"\n", INVALID_PROTOCOL),
        (b'{"version": 1, "answer": []}\n', 0),
        (b'{"version": 1, "answer": null}\n', 0),
    ],
)
def test_answers_that_are_none(
    build_with_sanitizers, ask, said: bytes, code: int
) -> None:
    """Each is told by its code, and nothing is read amiss."""
    done = ask(build_with_sanitizers("hostile"), lambda _: said)

    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines()[-1] == f"start {code}"


def test_more_values_than_there_may_be(build, ask) -> None:
    """They are not kept."""
    many = b'{"version": 1, "answer": [' + b"0," * 5_000_000 + b"0]}\n"

    done = ask(build("hostile"), lambda line: many if b'"start"' in line else b"\n")

    assert done.stdout.splitlines()[-1] == f"start {INVALID_PROTOCOL}"


def test_a_line_without_an_end(build, ask) -> None:
    """It is given up at its largest size."""
    endless = b"x" * (33 << 20)

    done = ask(build("hostile"), lambda line: endless if b'"start"' in line else b"\n")

    assert done.stdout.splitlines()[-1] == f"start {CONNECT_FAIL}"


def test_members_of_other_types(build_with_sanitizers, ask) -> None:
    """What is changed at random in right answers does no harm."""
    program = build_with_sanitizers("hostile")
    choose = random.Random(17)  # noqa: S311 - the same each time
    pieces = [
        b"null",
        b"true",
        b"-1",
        b"1e999",
        b"[]",
        b"{}",
        b'"\\udc80"',
        b"18446744073709551615",
        b'""',
        b"[[[]]]",
    ]

    def changed(line: bytes) -> bytes:
        said = bytearray(answer_to(line)[:-1])
        words = [
            b"null",
            b"true",
            b'"c"',
            b"4096",
            b"[]",
            b'"r"',
            b"1500000000.0",
            b'["a", "b"]',
            b'"notify"',
            b'"element"',
        ]
        for _ in range(choose.randrange(1, 4)):
            old = choose.choice(words)
            at = said.find(old, choose.randrange(len(said)))
            if at >= 0:
                said[at : at + len(old)] = choose.choice(pieces)
        return bytes(said) + b"\n"

    for _ in range(25):
        done = ask(program, changed)
        assert (done.stderr, done.returncode) == ("", 0)


def test_bytes_changed_at_random(build_with_sanitizers, ask) -> None:
    """Nor does what is no JSON any more."""
    program = build_with_sanitizers("hostile")
    choose = random.Random(18)  # noqa: S311 - the same each time

    def damaged(line: bytes) -> bytes:
        said = bytearray(answer_to(line)[:-1])
        for _ in range(choose.randrange(1, 6)):
            said[choose.randrange(len(said))] = choose.randrange(256)
        return bytes(said).replace(b"\n", b" ") + b"\n"

    for _ in range(25):
        done = ask(program, damaged)
        assert (done.stderr, done.returncode) == ("", 0)


def test_right_answers(build_with_sanitizers, ask, tmp_path: Path) -> None:
    """All of them can be looked at; a name of a session does not lead out of a directory."""
    done = ask(build_with_sanitizers("hostile"), answer_to)

    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.splitlines()[-1] == "start 0"
    assert not (tmp_path / "outside.lttng").exists()
