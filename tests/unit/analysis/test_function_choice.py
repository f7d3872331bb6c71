"""Functions of a trace are chosen by the patterns that choose them when recorded."""

from __future__ import annotations

import pytest

from vestige.analysis.function_choice import FunctionChoice
from vestige.analysis.function_names import plain_names
from vestige.analysis.functions import Function
from vestige.debuginfo import Mapping, Place
from vestige.debuginfo.found_files import DebugSource
from vestige.debuginfo.places.place import Binary
from vestige.errors import SelectionError
from vestige.units import Address


def function(name, path, line=None, linkage_name=None, offset=0):
    """Return a function of an object, or of a Python file if it has a line."""
    code = None if line is None else (name, line)
    mapping = Mapping(Address(0), 100, path, is_pic=True, code=code)
    binary = Binary(mapping, Address(0), path, is_pic=True, is_identified=True)
    place = Place(
        binary, DebugSource.TRACE, name, linkage_name=linkage_name, offset=offset
    )
    return Function(name, place, Address(0))


def takes(pattern, *facts, **more):
    """Tell whether a pattern includes a function; exclusion must say the opposite."""
    one = function(*facts, **more)
    included = FunctionChoice([pattern]).takes(one)
    assert FunctionChoice([], [pattern]).takes(one) is not included
    return included


AREA = ("Shape.area", "/srv/app/figures/shapes.py", 3)
DUMPS = ("dumps", "/usr/lib/python3.11/json/__init__.py", 183)
GET = ("get", "/srv/json/.venv/lib/python3.12/site-packages/requests/api.py", 62)


@pytest.mark.parametrize(
    ("pattern", "facts", "expected"),
    [
        ("Shape.area", AREA, True),
        ("shapes.Shape.area", AREA, True),
        ("figures.shapes.*", AREA, True),
        ("app.figures.shapes.Shape.area", AREA, True),
        ("other.Shape.area", AREA, False),
        ("area", AREA, False),
        ("shapes.py:*", AREA, True),
        ("/srv/*:Shape.*", AREA, True),
        ("shapes.py:other", AREA, False),
        ("other.py:*", AREA, False),
        ("json.*", DUMPS, True),
        ("json.dumps", DUMPS, True),
        ("__init__.dumps", DUMPS, False),
        ("python3.11.json.dumps", DUMPS, False),
        ("requests.api.get", GET, True),
        # A directory above those of modules is none.
        ("json.*", GET, False),
        ("api.get", GET, False),
        ("builtins.len", ("len", "builtins", 0), True),
        ("len", ("len", "builtins", 0), True),
        ("time.sleep", ("time.sleep", "time", 0), True),
        ("time:*", ("time.sleep", "time", 0), True),
        ("*.<lambda>", ("main.<locals>.<lambda>", "/a/b.py", 7), True),
        ("*<module>", ("<module>", "<string>", 1), True),
    ],
)
def test_patterns_of_python_functions(pattern, facts, expected):
    """By name, by module, which is in the path, and by file."""
    assert takes(pattern, *facts) is expected


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("parse", "parse", True),
        ("pars", "parse", False),
        ("p?rs[a-e]", "parse", True),
        ("p[!a]rse", "parse", False),
        ("libx.so:parse", "parse", True),
        ("/usr/lib/*:parse", "parse", True),
        ("liby.so:parse", "parse", False),
        ("parse", "parse.constprop.0", True),
        ("parse", "parse.isra.0.cold", True),
        ("main", "main.main", False),
        ("shapes::Circle::*", "shapes::Circle::area(double) const", True),
        ("shapes::Circle::area", "shapes::Circle::area() const", True),
        ("std::vector::push_back", "std::vector<int, A<B> >::push_back(int&&)", True),
        ("ns::twice", "int ns::twice<int>(int)", True),
        ("(anonymous namespace)::f", "(anonymous namespace)::f(int)", True),
        ("A::operator()", "A::operator()(int) const", True),
        ("f(int)", "f(int)", True),
    ],
)
def test_patterns_of_compiled_functions(pattern, name, expected):
    """Two colons name no object; parameters may be there, and need not."""
    assert takes(pattern, name, "/usr/lib/libx.so.1.2") is expected


def test_linkage_names_count():
    """As the linker has them."""
    assert takes("_ZN1a1bEv", "a::b()", "/app", linkage_name="_ZN1a1bEv")


def test_functions_that_have_no_name():
    """They go by what is shown of them, and have no object."""
    unknown = Function("0x1000", None, Address(0x1000))
    assert FunctionChoice(["0x1000"]).takes(unknown)
    assert not FunctionChoice(["*:0x1000"]).takes(unknown)


def test_exclusion_wins():
    """Whatever is included."""
    choice = FunctionChoice(["Shape.*"], ["shapes.py:*"])
    assert not choice.takes(function(*AREA))


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (AREA, True),
        (DUMPS, False),
        (GET, False),
        (("f", "/usr/lib64/python3/dist-packages/yaml/a.py", 1), False),
        (("f", "/home/me/.pyenv/versions/3.13/lib/python3.13t/re/a.py", 1), False),
        (("f", "/usr/lib/python311.zip/re/a.py", 1), False),
        (("f", "/home/me/pythonic/lib/app.py", 1), True),
        (("_load", "<frozen importlib._bootstrap>", 1), False),
        (("<module>", "<string>", 1), True),
        (("len", "builtins", 0), False),
        (("compiled", "/usr/lib/python3.11/lib-dynload/_json.so"), True),
    ],
)
def test_only_my_code(facts, expected):
    """The library of Python and what is installed are others' code; compiled stays."""
    choice = FunctionChoice(only_my_code=True)
    assert choice.takes(function(*facts)) is expected


@pytest.mark.parametrize("pattern", ["", ":f", "libx.so:", "0x10-0x20", "a:0x1-0x2"])
def test_patterns_that_match_nothing_are_refused(pattern):
    """Before anything is read by them."""
    with pytest.raises(SelectionError, match="expected"):
        FunctionChoice([pattern])


def test_unused_patterns_are_known():
    """Of both kinds, also when another one has decided already."""
    choice = FunctionChoice(["Shape.*", "shapes.*"], ["none", "*.area"])
    choice.takes(function(*AREA))
    assert choice.unused() == ["none"]


@pytest.mark.parametrize("name", ["", "(", "<<<", "f(", "a<b", ")>", "operator", " "])
def test_odd_names(name):
    """A symbol table may hold anything."""
    assert name in plain_names(name)


def test_what_begins_within_a_function_has_not_its_name():
    """As where a strip took names away: it is named by its place."""
    place = ("nginx+0x480", "/usr/sbin/nginx", None, "handle")

    assert not takes("handle", *place, offset=16)
    assert takes("nginx+0x480", *place, offset=16)
