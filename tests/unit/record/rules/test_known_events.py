"""The events that are known beforehand are those that there are."""

from __future__ import annotations

from pathlib import Path

import pytest

from vestige.inspect.elf import open_elf
from vestige.inspect.tracepoints import described_tracepoints
from vestige.instrument import _logging, _pauses
from vestige.record.backends.in_process.tracer import library_path
from vestige.record.rules.helpers import HELPERS
from vestige.record.rules.known_events import KNOWN_EVENTS

KNOWN = {event.name: event for event in KNOWN_EVENTS}


@pytest.mark.parametrize("helper", HELPERS)
def test_helpers(helper):
    """With their levels and fields, as the libraries describe them."""
    with open_elf(Path(library_path()).with_name(f"libvestige-{helper}.so")) as image:
        found = {
            f"{one.provider}:{one.name}": (
                one.log_level,
                {field.name for field in one.fields or ()},
            )
            for one in described_tracepoints(image)
        }

    assert found == {
        name: (event.level, event.fields)
        for name, event in KNOWN.items()
        if name.startswith(f"lttng_ust_{helper}:")
    }


def test_what_programs_in_python_make():
    """The fields of collections and of records of the log."""
    entry = {name for name, _ in _pauses._ENTRY}
    log = {name for name, _ in _logging._FIELDS}

    assert KNOWN["vestige_python:gc_entry"].fields == entry
    assert KNOWN["vestige_python:gc_exit"].fields == {n for n, _ in _pauses._EXIT}
    assert KNOWN["lttng_python:event"].fields == log | {"traceback"}


def test_what_the_tracer_makes():
    """Fields are read out of their declarations."""
    assert KNOWN["lttng_ust_cyg_profile:func_exit"].fields == {"addr", "call_site"}
    assert KNOWN["lttng_ust_cyg_profile_fast:func_exit"].fields == set()
    assert KNOWN["lttng_ust_statedump:build_id"].fields == {"baddr", "build_id"}
    assert "path" in KNOWN["lttng_ust_lib:load"].fields
    assert KNOWN["vestige_python:coroutine_entry"].fields == {
        "addr",
        "id",
        "is_resumed",
    }
