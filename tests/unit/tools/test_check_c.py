"""The walls of the tracer: what `make lint` refuses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))

from check_c import MOST_LINES, broken, functions_of  # noqa: E402

SOUND = {
    "base/clock.h": "int clock_read(void) HIDDEN;\n",
    "base/clock.c": '#include "clock.h"\n\nint clock_read(void)\n{\n\treturn 1;\n}\n',
    "hooks/entry.c": (
        '#include "../base/clock.h"\n'
        "EXPORTED int entry(void);\n\n"
        "int entry(void)\n{\n\treturn clock_read();\n}\n"
    ),
}


@pytest.fixture
def told(tmp_path):
    """What is said of some files, together with the sound ones."""

    def tell(**files):
        named = {
            name.replace("__", "/", 1).replace("__", "."): text
            for name, text in files.items()
        }
        for name, text in (SOUND | named).items():
            path = tmp_path / "tracer" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return broken(tmp_path)

    return tell


def test_the_tracer_itself_is_sound():
    """As it is committed."""
    assert broken(ROOT) == []


def test_sound_files(told):
    """Lower rooms may be included, and what is exported needs no header."""
    assert told() == []


def test_an_include_that_leads_up(told):
    """It is named with both files."""
    assert told(base__low__h='#include "../hooks/high.h"\n', hooks__high__h="") == [
        "tracer/base/low.h: includes hooks/high.h, which is not below"
    ]


def test_libraries_do_not_know_each_other(told):
    """They are on one floor."""
    assert told(
        python__one__h='#include "../helpers/other.h"\n', helpers__other__h=""
    ) == ["tracer/python/one.h: includes helpers/other.h, which is not below"]


def test_a_room_without_a_floor(told):
    """Whoever adds one says where it is."""
    assert told(cellar__wine__c="") == [
        "tracer/cellar/wine.c: the room has no floor in tools/check_c.py"
    ]


def test_units_in_a_circle(told):
    """A source file and its header are one."""
    (line,) = told(
        base__one__h="",
        base__one__c='#include "one.h"\n#include "other.h"\n',
        base__other__h='#include "one.h"\n',
    )

    assert line.startswith("tracer: units in a circle: ")
    assert {"base/one", "base/other"} < set(line.replace(" ->", "").split())


def test_a_function_of_another_unit(told):
    """A header is about its own."""
    assert told(base__other__h="\nint clock_read(void) HIDDEN;\n") == [
        "tracer/base/other.h:2: clock_read() is of another unit"
    ]


def test_a_function_that_no_header_declares(told):
    """Others would have to declare it themselves."""
    text = "static int own(void)\n{\n\treturn 0;\n}\n\nint loose(void)\n{\n\treturn own();\n}\n"

    assert told(base__loose__c=text) == [
        "tracer/base/loose.c:6: loose() is in no header of its unit"
    ]


def test_a_long_function(told):
    """Its lines are counted from its head to its last brace."""
    body = "\tcall();\n" * (MOST_LINES - 2)
    text = f"static int lengthy(void)\n{{\n{body}}}\n"

    assert told(base__lengthy__c=text) == [
        f"tracer/base/lengthy.c:1: lengthy() has {MOST_LINES + 1} lines, at most {MOST_LINES}"
    ]


def test_what_is_no_function():
    """Types, variables, tables, pointers, assembler and uses of macros."""
    text = """
/* int comment(void) { */
#define MACRO(name) \\
	int name(void) {
typedef int kind(void);
struct thing {
	int (*call)(void);
};
static struct thing table[] = {{"} int text(void) {", make('{')}};
static int (*pointer)(void);
_Static_assert(sizeof(int) == 4, "so");
__asm__("call: { ret");
static __attribute__((constructor(101))) void
find(int one,
     int other)
{
	if (one) {
		return;
	}
}
"""

    assert [(one.name, one.line, one.lines) for one in functions_of(text)] == [
        ("find", 13, 8)
    ]
