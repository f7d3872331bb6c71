"""How events change process images."""

from __future__ import annotations

import pytest

from vestige.debuginfo import STATE_EVENT_NAMES, Mapping, ProcessImages, apply

BIN_INFO = {"baddr": 0x1000, "memsz": 0x1000, "path": "/lib/a.so", "is_pic": 1}
LOAD = {"baddr": 0x1000, "memsz": 0x1000, "path": "/lib/a.so"}
PUSH = {"baddr": 0x1000, "size": 0x1000, "sopath": "/lib/a.so", "mtime": 1377519722}


def after(*events):
    """Return the image of a process after some events."""
    images = ProcessImages()
    for name, fields in events:
        assert apply(images, name, 1, fields)
    return images.of(1)


def test_a_state_dump_maps_objects_with_their_build_ids_and_links():
    """The events of LTTng-UST 2.13 in their order."""
    image = after(
        ("lttng_ust_statedump:start", {}),
        ("lttng_ust_statedump:bin_info", BIN_INFO),
        ("lttng_ust_statedump:build_id", {"baddr": 0x1000, "build_id": [0xAB, 1]}),
        (
            "lttng_ust_statedump:debug_link",
            {"baddr": 0x1000, "crc": 7, "filename": "a.debug"},
        ),
    )

    assert image.mappings == (
        Mapping(0x1000, 0x1000, "/lib/a.so", True, b"\xab\x01", ("a.debug", 7)),
    )


@pytest.mark.parametrize(("is_pic", "expected"), [(0, False), (1, True), (2, False)])
def test_only_one_means_position_independent(is_pic, expected):
    """As the reference reads the field."""
    image = after(("lttng_ust_statedump:bin_info", BIN_INFO | {"is_pic": is_pic}))

    assert image.find(0x1000).is_pic is expected


@pytest.mark.parametrize("family", ["lttng_ust_lib", "lttng_ust_dl"])
def test_build_ids_and_links_of_loads_are_used(family):
    """Both helpers report them after the load."""
    load = "load" if family == "lttng_ust_lib" else "dlopen"
    image = after(
        (f"{family}:{load}", LOAD),
        (f"{family}:build_id", {"baddr": 0x1000, "build_id": b"\xab\x01"}),
        (f"{family}:debug_link", {"baddr": 0x1000, "crc": 7, "filename": "a.debug"}),
    )

    found = image.find(0x1000)
    assert (found.is_pic, found.build_id, found.debug_link) == (
        True,
        b"\xab\x01",
        ("a.debug", 7),
    )


def test_an_unload_of_an_unknown_base_is_no_error():
    """Its load may have been lost."""
    assert after(("lttng_ust_lib:unload", {"baddr": 0x5000})).mappings == ()


def test_dlclose_unmaps_where_the_linker_is_not_traced():
    """It is then the only sign of the end."""
    image = after(
        ("lttng_ust_dl:dlopen", LOAD | {"flags": 2}),
        ("lttng_ust_dl:dlclose", {"baddr": 0x1000}),
    )

    assert image.mappings == ()


def test_dlclose_is_ignored_where_the_linker_is_traced():
    """Destructors run after it, and only the unload is the end."""
    events = [
        ("lttng_ust_lib:load", LOAD | {"baddr": 0x9000, "path": "/lib/b.so"}),
        ("lttng_ust_dl:dlmopen", LOAD | {"nsid": 1}),
        ("lttng_ust_dl:dlclose", {"baddr": 0x1000}),
    ]
    assert after(*events).find(0x1000) is not None

    events.append(("lttng_ust_lib:unload", {"baddr": 0x1000}))
    assert after(*events).find(0x1000) is None


def test_dlclose_of_an_object_of_the_state_dump_is_ignored():
    """Each library with tracepoints opens and closes LTTng's own libraries."""
    image = after(
        ("lttng_ust_statedump:bin_info", BIN_INFO),
        ("lttng_ust_dl:dlopen", LOAD),
        ("lttng_ust_dl:dlclose", {"baddr": 0x1000}),
    )

    assert image.find(0x1000) is not None


@pytest.mark.parametrize("name", ["ust_baddr:init", "ust_baddr:push"])
def test_base_address_events_map_with_the_time_of_change(name):
    """They do not say whether code is position-independent."""
    image = after((name, PUSH))

    assert image.mappings == (
        Mapping(0x1000, 0x1000, "/lib/a.so", modified=1377519722),
    )
    assert after((name, PUSH), ("ust_baddr:pop", {"baddr": 0x1000})).mappings == ()


def test_other_events_are_no_state_events():
    """They change nothing, not even the list of processes."""
    images = ProcessImages()

    assert not apply(images, "lttng_ust_statedump:procname", 1, {"procname": "a"})
    assert not apply(images, "my_app:start", 1, {})


def test_each_event_survives_missing_and_ill_typed_fields():
    """A trace is untrusted input: such events are ignored."""
    good = {**BIN_INFO, **PUSH, "build_id": [1, 2], "crc": 7, "filename": "a.debug"}
    odd = (None, "text", b"\xff", 1.5, -1, 1 << 70, [1, "a"], [256], [], {}, object())
    for name in STATE_EVENT_NAMES:
        for field in good:
            apply(ProcessImages(), name, 1, {k: good[k] for k in good if k != field})
            for value in odd:
                apply(ProcessImages(), name, 1, good | {field: value})


@pytest.mark.parametrize("field", ["baddr", "memsz", "path", "is_pic"])
def test_an_object_without_a_needed_field_is_ignored(field):
    """Nothing is guessed."""
    fields = {name: BIN_INFO[name] for name in BIN_INFO if name != field}

    assert after(("lttng_ust_statedump:bin_info", fields)).mappings == ()
