"""The debug-info filter and its parameters."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

from support.recordings import DATA, DEMO, DEMO_DEBUG_INFO, RELOAD_DEBUG_INFO
from vestige import core
from vestige.cli.main import main
from vestige.components.filters.debug_info import DebugInfoFilter, DebugInfoOptions
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.debuginfo import (
    STATE_EVENT_NAMES,
    Place,
    Reason,
    Unresolved,
)
from vestige.debuginfo.places import (
    resolver,
)
from vestige.expressions import compile_filter
from vestige.graph import Selection, mux


def processed(options, path=DEMO / "trace", pattern="discount:applied"):
    """Return (event, place) of the events of a trace behind a filter."""
    component = DebugInfoFilter(options)
    found = []
    for merge in mux(
        CtfFsSource([path]).streams,
        Selection(patterns=(pattern,)),
        component.needed_events,
    ):
        component.process(merge)
        shown = merge.shown()
        found += [
            (shown.event(index), shown.place(index)) for index in range(len(shown))
        ]
    return found


def test_it_needs_the_events_that_change_process_images():
    """Also when nobody wants to see them; and those that tell what a process is."""
    names = {"lttng_ust_statedump:procname"}
    assert DebugInfoFilter().needed_events == STATE_EVENT_NAMES | names
    assert {"lttng_ust_lib:load", "lttng_ust_statedump:bin_info"} <= STATE_EVENT_NAMES


def test_the_defaults():
    """Those of Babeltrace 2."""
    options = DebugInfoOptions()

    assert DebugInfoFilter().options == options
    assert (options.debug_directories, options.target_prefixes) == (None, ())
    assert (options.field_name, options.full_path) == ("debug_info", False)


def test_every_event_of_the_program_gets_its_place():
    """From the objects and debug files of the demo, as event and merge tell it."""
    found = processed(DEMO_DEBUG_INFO, pattern="[!l]*")

    assert len(found) == 42
    assert {type(place) for _, place in found} == {Place}
    assert all(event.debug_info is place for event, place in found)
    assert {(place.function, place.file, place.line) for _, place in found} == {
        ("main", "shop.c", 79),
        ("packer", "shop.c", 63),
        ("refuse", "shop.c", 52),
        ("price_of", "pricing.c", 36),
        ("discount", "discount.c", 13),
        ("discount", "discount.c", 21),
    }


@pytest.mark.parametrize(
    ("trace", "options"),
    [(DEMO / "trace", DEMO_DEBUG_INFO), (DATA / "reload", RELOAD_DEBUG_INFO)],
)
@pytest.mark.parametrize("full_path", [False, True])
def test_tables_of_the_core_and_others_give_the_same(
    capfd, monkeypatch, trace, options, full_path
):
    """Places made from rows, one by one, are those that the core makes together."""
    options = options._replace(full_path=full_path)
    words = ["convert", str(trace), "--debug-info-dir"]
    words += [os.fspath(one) for one in options.debug_directories]
    words += ["--debug-info-target-prefix", os.fspath(options.target_prefixes[0][1])]
    words += ["--debug-info-full-path"] if full_path else []
    places = [place for _, place in processed(options, trace, "*")]
    assert main(words) == 0
    text = capfd.readouterr().out
    asked = []

    def refuse(*given):
        asked.append(given)
        return False

    monkeypatch.setattr(resolver, "_add_in_bulk", refuse)

    assert [place for _, place in processed(options, trace, "*")] == places
    assert main(words) == 0
    assert capfd.readouterr().out == text
    assert asked
    assert 'src = "' in text


def test_an_address_has_one_object_for_its_place():
    """Made when it is asked for, and kept."""
    places = [place for _, place in processed(DEMO_DEBUG_INFO, pattern="[!l]*")]

    # The program runs once, so an address is in one image.
    assert len({id(place) for place in places}) == len(set(places)) > 1


def test_without_debug_files_dynamic_symbols_are_left():
    """A function, no line, and the reason why."""
    options = DEMO_DEBUG_INFO._replace(debug_directories=())
    (_, place), *_ = processed(options)

    assert (place.function, place.file, place.line) == ("discount", None, None)
    assert place.binary.offset == 0x1A42
    assert place.shortfall.reason is Reason.NO_LINE


def test_without_the_target_the_object_is_not_found():
    """A build ID leads to the debug file all the same."""
    options = DEMO_DEBUG_INFO._replace(target_prefixes=(("/", Path("/nonexistent")),))
    (_, place), *_ = processed(options)

    assert (place.function, place.line) == ("discount", 13)


def test_a_trace_without_contexts_gets_no_places():
    """There is no address to look for."""
    assert {place for _, place in processed(None, DATA / "hello", "*")} == {None}


def test_an_address_in_no_object_is_unresolved():
    """The trace has no state dump."""
    found = processed(None, DATA / "fields", "fields:*_pair")

    assert [place for _, place in found] == [Unresolved(Reason.NO_STATE_DUMP)] * 2


def test_what_was_seen_before_a_change_belongs_to_the_image_before_it():
    """Within one merge, one address is in two libraries in turn."""
    found = processed(RELOAD_DEBUG_INFO, DATA / "reload", "reload:inside")

    assert [(place.function, place.line) for _, place in found] == [
        *[("alpha_step", 8)] * 3,
        *[("bravo_step", found[3][1].line)] * 3,
    ] * 2
    assert {Path(place.file).name for _, place in found} == {
        "reload_alpha.c",
        "reload_bravo.c",
    }


def test_processes_do_not_share_their_images():
    """Two traces with one process each, read together with a third one."""
    reload_places = [
        str(place)
        for _, place in processed(RELOAD_DEBUG_INFO, DATA / "reload", "reload:inside")
    ]
    component = DebugInfoFilter(RELOAD_DEBUG_INFO)
    streams = CtfFsSource([DATA / "reload", DATA / "threads-pid"]).streams
    places = {}
    for merge in mux(streams):
        component.process(merge)
        for event in merge.events():
            places.setdefault(event.name, []).append(str(event.debug_info))

    assert places["reload:inside"] == reload_places
    assert len(places["threads:begin"]) == 8
    assert not any("reload" in place for place in places["threads:begin"])


@pytest.mark.parametrize("name", ["debug_info", "where"])
def test_the_structure_is_a_field_of_the_common_context(name):
    """Behind those that were recorded, and in pickled events, too."""
    options = DEMO_DEBUG_INFO._replace(field_name=name)
    (event, place), *_ = processed(options)
    field = event[name]

    assert list(field) == ["bin", "func", "src"]
    assert field["func"].startswith("discount+0x")
    assert field["src"] == f"{place.file}:{place.line}"
    for one in (event, pickle.loads(pickle.dumps(event))):  # noqa: S301 - our own
        assert one[name] == one.context[name] == one[f"context.{name}"] == field
        assert name in one
        assert name in one.keys()  # noqa: SIM118 - the names
        assert list(one.context)[-1] == name
        assert name not in one.payload
        assert one.debug_info == place
    assert event.debug_info is place


def test_expressions_can_name_the_structure():
    """Of records of merges; those of other stream classes lack it."""
    named = compile_filter('$ctx.where.func == "discount+*" && before > 1000')
    unknown = compile_filter('$ctx.nowhere.func == "*"')
    options = DEMO_DEBUG_INFO._replace(field_name="where")
    component = DebugInfoFilter(options)
    (merge,) = mux(CtfFsSource([DEMO / "trace"]).streams)
    component.process(merge)
    expected = [
        event.file_offset
        for event in merge.events()
        if event.get("where", {}).get("func", "").startswith("discount+")
        and event.get("before", 0) > 1000
    ]
    streams = [stream.handle for stream in CtfFsSource([DEMO / "trace"]).streams]
    for code, added, some in [(named, ["where"], True), (unknown, ["where"], False)]:
        record_filter = core.RecordFilter([code], added)
        assert any(any(record_filter.possible(one)) for one in streams) is some

    merge.select(core.RecordFilter([named], ["where"]))
    found = [event.file_offset for event in merge.shown().events()]

    assert found == expected != []


def test_of_fields_of_a_name_the_first_stays():
    """And those of other names stand behind each other."""
    streams = CtfFsSource([DEMO / "trace"]).streams
    (merge,) = mux(streams)
    full = DEMO_DEBUG_INFO._replace(field_name="a", full_path=True)
    short = full._replace(full_path=False)
    for options in (full, short, short._replace(field_name="b")):
        DebugInfoFilter(options).process(merge)
    event = next(one for one in merge.events() if isinstance(one.debug_info, Place))

    assert list(event.context)[-2:] == ["a", "b"]
    assert event["a"]["bin"].startswith("/")
    assert not event["b"]["bin"].startswith("/")
