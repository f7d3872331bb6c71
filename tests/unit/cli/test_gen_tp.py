"""`vestige gen-tp` makes tracepoint providers of templates, as `lttng-gen-tp` does."""

from __future__ import annotations

import shutil

import pytest

from support.instrumented import Sources, payloads, record_instrumented
from vestige.cli.main import main

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

TEMPLATE = """\
# A comment of the template.
#include <stdint.h>
#comment, too
#define TEXT const char *

// LTTNG_UST_TRACEPOINT_EVENT(of_a_comment, event,
LTTNG_UST_TRACEPOINT_EVENT(
    // the provider
    sample, /* the event */ message,
    LTTNG_UST_TP_ARGS(TEXT, text, uint8_t, number),
    LTTNG_UST_TP_FIELDS(
        lttng_ust_field_string(text, text)
        lttng_ust_field_integer(uint8_t, number, number)
    )
)
LTTNG_UST_TRACEPOINT_LOGLEVEL(sample, message, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)
"""
PROGRAM = """
#include "{header}"
int main(void) {{ lttng_ust_tracepoint(sample, message, "made", 7); return 0; }}
"""


@pytest.fixture(autouse=True)
def template(tmp_path, monkeypatch):
    """A template in the present directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("CC", "CFLAGS", "CPPFLAGS"):
        monkeypatch.delenv(name, raising=False)
    path = tmp_path / "sample.tp"
    path.write_text(TEMPLATE)
    return path


def test_all_three_files_are_made(tmp_path, capfd):
    """Named like the template, and a program records with them."""
    assert main(["gen-tp", "sample.tp"]) == 0
    assert capfd.readouterr() == ("", "")
    sources = Sources(tmp_path)
    sources.write("main.c", PROGRAM.format(header="sample.h"))
    objects = [sources.compile("main.c"), tmp_path / "sample.o"]
    program = sources.link("program", *objects, *sources.libraries)
    trace = record_instrumented(tmp_path / "trace", [program])

    assert payloads(trace) == [("sample:message", {"text": "made", "number": 7})]
    assert "#comment" not in (tmp_path / "sample.h").read_text()


def test_only_what_is_asked_for_is_made(tmp_path):
    """Under other names and in other places."""
    (tmp_path / "made").mkdir()
    assert main(["gen-tp", "-o", "made/tp.h", "-o", "tp-source.c", "sample.tp"]) == 0
    sources = Sources(tmp_path)
    sources.write("main.c", PROGRAM.format(header="made/tp.h"))
    flags = [f"-I{tmp_path}/made"]
    program = sources.build("program", "main.c", "tp-source.c", flags=flags)

    assert not list(tmp_path.glob("sample.[hco]"))
    assert payloads(record_instrumented(tmp_path / "trace", [program]))


def test_the_environment_chooses_compiler_and_flags(monkeypatch, capfd):
    """-v tells the command."""
    monkeypatch.setenv("CC", "gcc -pipe")
    monkeypatch.setenv("CFLAGS", "-fPIC '-DA=\"a b\"'")
    monkeypatch.setenv("CPPFLAGS", "-DB")

    assert main(["gen-tp", "-v", "sample.tp"]) == 0
    command = capfd.readouterr().err.splitlines()[-1]
    assert "gcc -pipe -c -DB -fPIC '-DA=\"a b\"' -I" in command


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no definition: expected LTTNG_UST_TRACEPOINT_EVENT"),
        ("// LTTNG_UST_TRACEPOINT_EVENT(a, b,", "no definition"),
        (
            (
                "LTTNG_UST_TRACEPOINT_EVENT(one, a, )\n/*\n*/\n"
                "LTTNG_UST_TRACEPOINT_ENUM(two, b, )"
            ),
            "line 4: LTTNG_UST_TRACEPOINT_ENUM of provider 'two': a template has one",
        ),
        (b"\xff", "no text in UTF-8"),
    ],
)
def test_wrong_templates_are_told(template, capsys, text, message):
    """And nothing is made."""
    template.write_bytes(text if isinstance(text, bytes) else text.encode())

    assert main(["gen-tp", "sample.tp"]) == 1
    assert message in capsys.readouterr().err
    assert not list(template.parent.glob("*.[hco]"))


def test_what_does_not_compile_is_told(template, capfd):
    """With what the compiler said."""
    template.write_text(TEMPLATE.replace("uint8_t, number),", "no_such_type, number),"))

    assert main(["gen-tp", "sample.tp"]) == 1
    told = capfd.readouterr().err
    assert "no_such_type" in told
    assert "sample.c: the compiler failed" in told


def test_a_compiler_that_is_missing_is_told(capsys, monkeypatch):
    """Only the object file needs one."""
    monkeypatch.setenv("PATH", "/nowhere")

    assert main(["gen-tp", "-o", "sample.h", "sample.tp"]) == 0
    assert main(["gen-tp", "sample.tp"]) == 1
    assert "no C compiler" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [["-o", "a.x", "a.tp"], ["-o", "a.h", "a.tp", "b.tp"], ["a.c"], []],
    ids=" ".join,
)
def test_wrong_usage(words):
    """Names tell what is made."""
    with pytest.raises(SystemExit) as stopped:
        main(["gen-tp", *words])

    assert stopped.value.code == 2


def test_a_template_that_is_not_there(capsys):
    """Is named."""
    assert main(["gen-tp", "none.tp"]) == 1
    assert "none.tp: No such file" in capsys.readouterr().err
