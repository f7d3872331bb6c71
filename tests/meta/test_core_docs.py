"""The docstrings of the compiled module are those of its stub."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import vestige
from vestige import _core, core  # noqa: TID251 - it is what is looked at
from vestige.record import _collector, _kernel
from vestige.relay import _relay

PACKAGE = Path(vestige.__file__).parent
STUBS = {
    _core: PACKAGE / "_core.pyi",
    _collector: PACKAGE / "record/_collector.pyi",
    _kernel: PACKAGE / "record/_kernel.pyi",
    _relay: PACKAGE / "relay/_relay.pyi",
}


def documented(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield the names of public classes, members and functions with their docstrings."""
    for node in ast.parse(STUBS[module].read_text()).body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef) or node.name[0] == "_":
            continue
        yield node.name, ast.get_docstring(node) or ""
        for member in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(member, ast.FunctionDef) and member.name[0] != "_":
                yield f"{node.name}.{member.name}", ast.get_docstring(member) or ""


@pytest.mark.parametrize(
    ("module", "name", "text"),
    [(module, *one) for module in STUBS for one in documented(module)],
    ids=lambda value: getattr(value, "__name__", value).split("\n")[0],
)
def test_a_docstring_is_that_of_the_stub(
    module: ModuleType, name: str, text: str
) -> None:
    """Word by word, and there is one."""
    owner, _, member = name.partition(".")
    thing = getattr(module, owner)
    if member:
        thing = inspect.getattr_static(thing, member)
        thing = getattr(thing, "__func__", thing)

    assert text
    assert inspect.getdoc(thing) == text


def test_all_of_the_module_is_described() -> None:
    """What it exports is in the stub."""
    names = {name for name, _ in documented(_core)}

    assert set(core.__all__) <= names
