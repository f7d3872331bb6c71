"""The exception tree, the facts of an error and how it is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

import vestige
from vestige import errors
from vestige.errors import (
    CommandError,
    ComponentError,
    DaemonRunsError,
    DebugInfoError,
    DeclarationError,
    FieldValueError,
    ForkError,
    GraphError,
    MissingExtraError,
    NoSuchFieldError,
    NotATraceError,
    ProgramError,
    RecordError,
    SelectionError,
    SessionError,
    StorageError,
    TimestampError,
    TraceFormatError,
    UnknownFieldError,
    VestigeError,
    WriteError,
    WriterClosedError,
    error_context,
)

TREE = {
    VestigeError: (Exception,),
    TraceFormatError: (VestigeError, ValueError),
    NotATraceError: (TraceFormatError,),
    DebugInfoError: (VestigeError, ValueError),
    SelectionError: (VestigeError, ValueError),
    NoSuchFieldError: (VestigeError, KeyError),
    ForkError: (VestigeError, RuntimeError),
    GraphError: (VestigeError, RuntimeError),
    ComponentError: (GraphError,),
    MissingExtraError: (VestigeError, ImportError),
    RecordError: (VestigeError,),
    ProgramError: (RecordError,),
    WriteError: (VestigeError,),
    DeclarationError: (WriteError, ValueError),
    FieldValueError: (WriteError, ValueError),
    UnknownFieldError: (WriteError, ValueError),
    TimestampError: (WriteError, ValueError),
    WriterClosedError: (WriteError, ValueError),
    StorageError: (WriteError,),
    CommandError: (VestigeError,),
    SessionError: (VestigeError,),
    DaemonRunsError: (VestigeError,),
}


@pytest.mark.parametrize("error", TREE, ids=lambda error: error.__name__)
def test_each_class_stands_in_its_place_in_the_tree(error):
    """Callers catch by the direct bases that the module documents."""
    assert error.__bases__ == TREE[error]


def test_the_tree_holds_every_exported_class_and_no_other():
    """A new class must be added to the tree above; the package offers all of them."""
    others = {error_context}
    exported = {getattr(errors, name) for name in errors.__all__} - others

    assert exported == set(TREE)
    assert exported <= {getattr(vestige, name) for name in vestige.__all__}


@pytest.mark.parametrize(
    ("path", "offset", "place"),
    [
        (None, None, ""),
        (None, 7, "byte 7"),
        ("a/stream", None, "a/stream"),
        ("a/stream", 0, "a/stream, byte 0"),
        (Path("a/stream"), 4096, "a/stream, byte 4096"),
    ],
)
def test_the_place_names_what_is_known(path, offset, place):
    """File and byte offset, each only when there is one; byte 0 is an offset too."""
    error = TraceFormatError("no packet begins here", path=path, offset=offset)

    assert error.place() == place
    assert str(error) == (f"{place}: " if place else "") + "no packet begins here"


def test_the_facts_are_attributes():
    """A program needs no parsing of messages."""
    error = DebugInfoError("cut", path=Path("lib.so"), offset=64)

    assert (error.message, error.path, error.offset) == ("cut", "lib.so", 64)
    assert error.contexts == []


def test_contexts_are_printed_outermost_first_before_the_place():
    """The last one added is the outermost: what the person asked for."""
    error = TraceFormatError("bad label", path="metadata", offset=3)
    with (
        pytest.raises(TraceFormatError) as caught,
        error_context("opening the trace"),
        error_context("reading the metadata"),
    ):
        raise error

    assert caught.value is error
    assert error.contexts == ["reading the metadata", "opening the trace"]
    assert str(error) == (
        "opening the trace: reading the metadata: metadata, byte 3: bad label"
    )


def test_other_errors_pass_a_context_unchanged():
    """Only Vestige's own errors carry contexts."""
    error = ValueError("mine")
    with pytest.raises(ValueError, match=r"^mine$") as caught, error_context("working"):
        raise error

    assert caught.value is error
    assert caught.value.args == ("mine",)


@pytest.mark.parametrize(("given", "status"), [({}, None), ({"exit_code": 2}, 2)])
def test_a_failed_command_knows_its_exit_status(given, status):
    """Or leaves it to the verb."""
    error = CommandError("no such verb", **given)

    assert (error.exit_code, str(error)) == (status, "no such verb")
