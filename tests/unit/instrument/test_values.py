"""Values of tracepoints: what is of another type than its field."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from os import environ

import pytest

from support.python_programs import SOURCES, events, record_python
from vestige.instrument._checks import check

POINT = """\
    import decimal, enum, fractions, pathlib
    from vestige.instrument import tracepoint

    class Number(enum.IntEnum):
        THREE = 3

    class Index:
        def __index__(self):
            return 7

    point = tracepoint("app:p", i=int, f=float, s=str, y=bytes, b=bool)
"""


def recorded(directory, *lines: str, option: str = "-q"):
    """Record a program that calls the tracepoint; return its end and the fields."""
    code = "\n".join([POINT, *(f"    {line}" for line in lines)])
    done = record_python(directory, code, option)
    fields = [event.payload.to_dict() for event in events(directory, "app:p")]
    return done, fields


@pytest.mark.parametrize(
    ("expression", "field", "expected"),
    [
        ("Number.THREE", "i", 3),
        ("Index()", "i", 7),
        ("True", "i", 1),
        ("2.0", "i", 2),
        ("decimal.Decimal(8)", "i", 8),
        ("fractions.Fraction(14, 2)", "i", 7),
        ("decimal.Decimal('1.5')", "f", 1.5),
        ("fractions.Fraction(1, 4)", "f", 0.25),
        ("Index()", "f", 7.0),
        ("pathlib.Path('/etc/hosts')", "s", "/etc/hosts"),
        ("b'caf\\xc3\\xa9\\xff'", "s", "café\\xff"),
        ("bytearray(b'ab')", "s", "ab"),
        ("'é'", "y", [0xC3, 0xA9]),
        ("pathlib.Path('/e')", "y", [0x2F, 0x65]),
        ("memoryview(b'xy')", "y", [0x78, 0x79]),
        ("5", "b", 1),
        ("''", "b", 0),
        ("[0]", "b", 1),
    ],
)
def test_a_value_is_what_the_language_takes_it_for(
    tmp_path, expression, field, expected
):
    """Without a word."""
    rest = {"i": "0", "f": "0.0", "s": "''", "y": "b''", "b": "False"}
    rest[field] = expression
    call = ", ".join(f"{name}={value}" for name, value in rest.items())
    done, fields = recorded(tmp_path, f"point({call})")

    assert done.stderr == ""
    assert [one[field] for one in fields] == [expected]


def test_scalars_of_numpy_are_recorded(tmp_path):
    """Which are no int, no float and no bool to the language."""
    pytest.importorskip("numpy", reason="numpy is not installed")
    done, fields = recorded(
        tmp_path,
        "import numpy as np",
        "point(np.int64(5), np.float32(1.5), np.str_('x'), np.bytes_(b'z'), np.bool_(True))",
        "point(np.uint8(9), np.float64(2), 'y', np.array([1, 2], dtype='u1'), np.bool_(False))",
    )

    assert done.stderr == ""
    assert [[one[name] for name in "ifsyb"] for one in fields] == [
        [5, 1.5, "x", [0x7A], 1],
        [9, 2.0, "y", [1, 2], 0],
    ]


def test_what_does_not_fit_is_told_once_for_each_field_and_type(tmp_path):
    """And the nearest value is recorded, where there is one."""
    done, fields = recorded(
        tmp_path,
        "for _ in range(3):",
        "    point('1', None, 5, 5, False)",
        "    point(None, '1', 5, 5, False)",
        "point(2.75, 10**400, '', b'', False)",
        "point(decimal.Decimal('1e999999999'), -10**400, '', b'', False)",
        "point(float('nan'), 1j, '', b'', False)",
    )

    assert [line.removeprefix("vestige: app:p: ") for line in done.stderr.splitlines()] == [
        "the field 'i' (int) takes no str; 0 is recorded",
        "the field 'f' (float) takes no NoneType; 0 is recorded",
        "the field 's' (str) takes no int; an empty one is recorded",
        "the field 'y' (bytes) takes no int; an empty one is recorded",
        "the field 'i' (int) takes no NoneType; 0 is recorded",
        "the field 'f' (float) takes no str; 0 is recorded",
        "the field 'i' (int): this float is no whole number; its whole part is recorded",
        "the field 'f' (float): this int is too large; the nearest one is recorded",
        "the field 'i' (int): this Decimal is too large; the nearest one is recorded",
        "the field 'i' (int) takes no float; 0 is recorded",
        "the field 'f' (float) takes no complex; 0 is recorded",
    ]  # fmt: skip
    assert [(one["i"], one["f"]) for one in fields[6:]] == [
        (2, float("inf")),
        ((1 << 63) - 1, float("-inf")),
        (0, 0.0),
    ]


def test_an_interrupt_within_a_value_is_not_swallowed(tmp_path):
    """An exception that is no Exception goes on; others are the value's own matter."""
    done, fields = recorded(
        tmp_path,
        "class Bad:",
        "    def __index__(self): raise KeyboardInterrupt",
        "class Worse:",
        "    def __index__(self): raise RuntimeError",
        "    __float__ = __index__",
        "try:",
        "    point(Bad(), 0, '', b'', False)",
        "except KeyboardInterrupt:",
        "    print('interrupted')",
        "point(Worse(), 0, '', b'', False)",
    )

    assert done.stdout == "interrupted\n"
    assert "takes no Worse" in done.stderr
    assert len(fields) == 1


STRICT = """
from vestige.instrument import span, tracepoint
point = tracepoint("app:p", i=int, s=str)
work = span("app:w", item=int)

def tried(function, *values, **named):
    try:
        function(*values, **named)
    except Exception as error:
        print(type(error).__name__, error)

tried(point, "1", "")
tried(point, 1.5, "")
tried(point, 1 << 63, "")
tried(point, 1)
tried(point, 1, "", 3)
tried(point, 1, other="")
def use():
    with work(item="x"): pass
tried(use)
def use():
    with work: pass
tried(use)
point(1, s="fits")
with work(3): pass
"""
REFUSED = """\
TypeError app:p: the field 'i' (int) takes no str
ValueError app:p: the field 'i' (int): this float is no whole number
OverflowError app:p: the field 'i' (int): this int is too large
TypeError app:p: no value for the field 's'
TypeError app:p: 3 values for 2 fields
TypeError app:p: no field has the name 'other'
TypeError app:w_entry: the field 'item' (int) takes no str
TypeError app:w_entry: no value for the field 'item'
"""


@pytest.mark.parametrize("is_built", [True, False])
def test_strictly_misfits_raise_without_a_recorder(tmp_path, is_built):
    """Also where the extension cannot be loaded."""
    (tmp_path / "program.py").write_text(STRICT)
    hidden = "import sys; sys.modules['vestige.instrument._native'] = None\n"
    command = [
        sys.executable,
        "-c",
        f"{'' if is_built else hidden}exec(open('program.py').read())",
    ]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env={**environ, "VESTIGE_STRICT": "1", "PYTHONPATH": str(SOURCES)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert (done.stdout, done.stderr) == (REFUSED, "")


def test_strictly_misfits_raise_with_a_recorder(tmp_path, monkeypatch):
    """And what fits is recorded."""
    monkeypatch.setenv("VESTIGE_STRICT", "1")
    done = record_python(tmp_path, STRICT, "-q")

    assert done.stdout == REFUSED
    assert [event["s"] for event in events(tmp_path, "app:p")] == ["fits"]
    assert [event.name for event in events(tmp_path, "app:w_*")] == [
        "app:w_entry",
        "app:w_exit",
    ]


FITS: Mapping[str, object] = {"int": 2.0, "float": 7, "str": b"x", "bytes": "x"}


@pytest.mark.parametrize("kind", FITS)
def test_the_check_in_python_takes_what_the_extension_takes(kind):
    """One example each; the refusals are compared above."""
    check("app:p", {"f": kind}, [FITS[kind]], {})
    with pytest.raises(TypeError, match="takes no object"):
        check("app:p", {"f": kind}, [object()], {})
