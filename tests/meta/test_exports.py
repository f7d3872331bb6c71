"""What the packages export: it exists, is in order and is documented."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest

import vestige
from vestige import errors

MODULES = sorted(
    found.name
    for found in pkgutil.walk_packages(vestige.__path__, "vestige.")
    if not found.name.endswith(("._core", ".__main__"))
)
PUBLIC = [name for name in vestige.__all__ if not name.startswith("_")]
ERRORS = [getattr(errors, name) for name in errors.__all__ if name != "error_context"]


def load(name: str) -> ModuleType:
    """Import a module."""
    return importlib.import_module(name)


def has_docstring(thing: object) -> bool:
    """Tell whether there is any text."""
    return bool((inspect.getdoc(thing) or "").strip())


def public_members(kind: type) -> list[str]:
    """Return the functions and properties that a class itself defines for its users."""
    return [
        name
        for name, member in vars(kind).items()
        if not name.startswith("_")
        and (
            inspect.isroutine(member)
            or inspect.isdatadescriptor(member)
            or isinstance(member, staticmethod | classmethod)
        )
        and not inspect.ismemberdescriptor(member)
    ]


def test_the_public_names_are_sorted() -> None:
    """Words in capitals, classes, the rest: the order that ruff keeps in each module."""
    assert vestige.__all__ == sorted(vestige.__all__)


@pytest.mark.parametrize("name", ["vestige", *MODULES])
def test_what_a_module_exports_is_there(name: str) -> None:
    """No name in `__all__` is misspelt, gone or stated twice."""
    module = load(name)
    exported = getattr(module, "__all__", [])

    assert [word for word in exported if not hasattr(module, word)] == []
    assert len(exported) == len(set(exported))


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_is(name: str) -> None:
    """Each module has a docstring."""
    assert has_docstring(load(name))


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_object_and_its_members_have_docstrings(name: str) -> None:
    """Compiled classes too."""
    thing = getattr(vestige, name)
    assert has_docstring(thing)
    if inspect.isclass(thing):
        members = public_members(thing)
        missing = [word for word in members if not has_docstring(getattr(thing, word))]
        assert missing == []


def test_every_error_is_public() -> None:
    """Whoever uses the package can catch each of them."""
    assert {error.__name__ for error in ERRORS} <= set(vestige.__all__)


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_in_the_one_tree(error: type[Exception]) -> None:
    """All errors have one base, and the drawing of the tree has each of them."""
    drawing = (errors.__doc__ or "").partition("::")[2]

    assert issubclass(error, errors.VestigeError)
    assert error.__name__ in drawing


def test_no_error_class_is_hidden() -> None:
    """The tree has no member outside of `errors`."""
    defined = {error for error in ERRORS if error.__module__ == errors.__name__}
    tree, pending = set(), [errors.VestigeError]
    while pending:
        error = pending.pop()
        tree.add(error)
        pending += error.__subclasses__()

    assert {
        error for error in tree if error.__module__.startswith("vestige")
    } == defined
