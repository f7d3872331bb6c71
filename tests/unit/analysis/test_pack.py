"""Symbols are packed with a trace, and read from there without the binaries."""

from __future__ import annotations

import json
import os
import shutil
import warnings
import zlib
from pathlib import Path
from random import Random
from types import SimpleNamespace

import pytest

import vestige
from support.recordings import DATA, DEMO, DEMO_DEBUG_INFO, RELOAD_DEBUG_INFO
from vestige.analysis.debug_info import (
    DebugInfoReport,
    MappedObject,
    ProcessReport,
    examine_debug_info,
)
from vestige.analysis.pack import pack
from vestige.components.filters.debug_info import finder_for
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.debuginfo import (
    DebugSource,
    FoundFiles,
    Mapping,
    Reason,
    Resolver,
    SymbolStoreWarning,
)
from vestige.debuginfo.tables.symbol_store import STORE_NAME
from vestige.errors import SelectionError
from vestige.units import Address, Vpid

NOTHING_HERE = vestige.DebugInfoOptions(
    debug_directories=(), target_prefixes=(("/", Path("/nonexistent")),)
)


def packed(trace, options, output=None, *, full=False):
    """Pack the symbols of a trace; return what was done."""
    source = CtfFsSource([trace])
    resolver = Resolver(finder_for([], options))
    report = examine_debug_info(source, resolver)
    return pack(report, resolver, output or Path(trace) / STORE_NAME, full=full)


def places(trace, options):
    """Return name, function, offset, file, line and frames of each event's place."""
    found = []
    for event in vestige.open(trace, debug_info=options).events():
        place = event.debug_info
        if isinstance(place, vestige.Unresolved):
            found.append((event.name, place))
        else:
            found.append(
                (
                    event.name,
                    place.binary.address,
                    place.binary.offset,
                    place.function,
                    place.offset,
                    place.source_path,
                    place.line,
                    place.column,
                    place.frames,
                    place.linkage_name,
                )
            )
    return found


@pytest.fixture
def demo(tmp_path):
    """A copy of the demo's trace."""
    return shutil.copytree(DEMO / "trace", tmp_path / "demo")


@pytest.fixture
def reload(tmp_path):
    """A copy of a trace in which two libraries have one base in turn."""
    return shutil.copytree(DATA / "reload", tmp_path / "reload")


@pytest.mark.parametrize(
    ("name", "options"), [("demo", DEMO_DEBUG_INFO), ("reload", RELOAD_DEBUG_INFO)]
)
def test_a_packed_trace_reads_as_with_its_files(name, options, request):
    """A packed trace reads as with its files."""
    trace = request.getfixturevalue(name)
    expected = places(trace, options)
    assert places(trace, NOTHING_HERE) != expected

    done = packed(trace, options)

    assert done.objects == 3
    assert places(trace, NOTHING_HERE) == expected
    assert done.size < 8192
    # All of it is read from the store, also where files are here.
    found = [event.debug_info for event in vestige.open(trace, debug_info=options)]
    sources = {
        one.source for one in found if isinstance(one, vestige.Place) and one.function
    }
    assert sources == {DebugSource.PACKED}


def test_the_store_may_be_a_debug_directory(demo, tmp_path):
    """The store may be a debug directory."""
    expected = places(demo, DEMO_DEBUG_INFO)
    packed(demo, DEMO_DEBUG_INFO, tmp_path / "out")
    options = NOTHING_HERE._replace(debug_directories=(tmp_path / "out",))

    assert places(demo, options) == expected


def test_the_store_is_found_from_a_directory_above_and_in_the_trace(demo, tmp_path):
    """The store is found from a directory above and in the trace."""
    expected = places(demo, DEMO_DEBUG_INFO)
    inner = next(demo.rglob("metadata")).parent
    packed(inner, DEMO_DEBUG_INFO)

    assert places(tmp_path, NOTHING_HERE) == expected
    assert places(inner, NOTHING_HERE) == expected


def test_packing_again_without_the_files_keeps_what_was_packed(demo):
    """Packing again without the files keeps what was packed."""
    expected = places(demo, DEMO_DEBUG_INFO)
    packed(demo, DEMO_DEBUG_INFO)
    done = packed(demo, NOTHING_HERE)

    assert done.objects == 0
    assert "/opt/vestige-demo/bin/shop" in done.missing
    assert places(demo, NOTHING_HERE) == expected


def test_a_store_may_serve_several_traces(demo, reload, tmp_path):
    """A store may serve several traces."""
    out = tmp_path / "out"
    packed(demo, DEMO_DEBUG_INFO, out)
    packed(reload, RELOAD_DEBUG_INFO, out)
    options = NOTHING_HERE._replace(debug_directories=(out,))

    wanted = [one[3:] for one in places(demo, DEMO_DEBUG_INFO) if "shop:" in one[0]]
    assert [one[3:] for one in places(demo, options) if "shop:" in one[0]] == wanted
    wanted = places(reload, RELOAD_DEBUG_INFO)
    own = [one for one in wanted if one[0].startswith("reload:")]
    assert own == [
        one for one in places(reload, options) if one[0].startswith("reload:")
    ]


def test_a_store_of_another_trace_gives_no_names(demo, reload):
    """A store of another trace gives no names."""
    packed(demo, DEMO_DEBUG_INFO)
    before = places(reload, NOTHING_HERE)
    shutil.copytree(demo / STORE_NAME, reload / STORE_NAME)

    assert places(reload, NOTHING_HERE) == before


def test_an_object_with_another_build_id_is_not_believed(demo):
    """Even if all else agrees: path, base and size."""
    packed(demo, DEMO_DEBUG_INFO)
    manifest = demo / STORE_NAME / "vestige-symbols" / "manifest.json"
    line = manifest.read_bytes().split(b"\n")[0]
    facts = json.loads(line)
    for one in facts["objects"]:
        if one["build_id"] is not None:
            one["build_id"] = "00" + one["build_id"][2:]
    write_manifest(manifest, facts)
    found = list(vestige.open(demo, debug_info=NOTHING_HERE).events("shop:*"))

    assert {event.debug_info.function for event in found} == {None}
    reasons = {event.debug_info.shortfall.reason for event in found}
    assert reasons == {Reason.FILE_MISSING}


def test_without_build_id_only_the_trace_itself_is_believed(demo, reload):
    """The first event in the plug-in comes before its build ID."""
    packed(demo, DEMO_DEBUG_INFO)

    def load_event(*paths):
        events = vestige.open(paths, debug_info=NOTHING_HERE).events(
            "lttng_ust_lib:load"
        )
        return [
            event.debug_info.function
            for event in events
            if isinstance(event.debug_info, vestige.Place)
            and "libdiscount" in event.debug_info.binary.mapping.path
        ]

    assert load_event(demo) == ["lttng_ust__tracepoints__init"]
    # Beside another trace it cannot be told whose object it is.
    assert load_event(demo, reload) == [None]


def test_whole_debug_files_are_where_other_tools_look(demo, tmp_path):
    """Whole debug files are where other tools look."""
    done = packed(demo, DEMO_DEBUG_INFO, tmp_path / "out", full=True)

    for path in done.files:
        assert path.is_relative_to(tmp_path / "out" / ".build-id")
        assert path.suffix == ".debug"
    assert len(done.files) == 3
    shutil.rmtree(tmp_path / "out" / "vestige-symbols")
    options = NOTHING_HERE._replace(debug_directories=(tmp_path / "out",))
    events = vestige.open(demo, debug_info=options).events("shop:*")
    assert {event.debug_info.source for event in events} == {DebugSource.BUILD_ID}


@pytest.mark.parametrize("above", ["../" * 30, ""])
def test_a_debug_link_of_the_trace_leads_to_no_place_outside(tmp_path, above):
    """A debug link of the trace leads to no place outside."""
    # An object with debug information of its own, so nobody has followed its link.
    path = tmp_path / "program"
    path.write_bytes(b"an object")
    victim = tmp_path / "victim"
    link = (above + str(victim).lstrip("/") if above else str(victim), 0)
    mapping = Mapping(Address(0x1000), 0x1000, str(path), debug_link=link)
    shown = SimpleNamespace(path=str(path), build_id=None)
    files = FoundFiles(shown, shown, DebugSource.OBJECT, ())
    finder = SimpleNamespace(find=lambda _: files, search=lambda _: files)
    resolver = SimpleNamespace(rows=lambda _mapping, _places: ({}, files))
    one = MappedObject(mapping, finder, events=1)
    report = DebugInfoReport(
        [ProcessReport("t", Vpid(1), identity="00", objects=[one])]
    )
    shown.is_pic, shown.bits, shown.link_base = True, 64, 0

    done = pack(report, resolver, tmp_path / "out", full=True)

    assert not victim.exists()
    assert (done.files, done.not_copied) == ([], [str(path)])


def test_whole_files_beside_the_trace_serve_addresses_that_were_not_packed(demo):
    """Whole files beside the trace serve addresses that were not packed."""
    packed(demo, DEMO_DEBUG_INFO, full=True)
    expected = places(demo, DEMO_DEBUG_INFO)
    store = demo / STORE_NAME / "vestige-symbols"
    for path in store.glob("*-*.json"):
        facts = json.loads(path.read_text())
        facts["rows"] = []
        rewrite(store, path, facts)

    own = [one for one in places(demo, NOTHING_HERE) if "shop:" in one[0]]
    assert own
    assert own == [one for one in expected if "shop:" in one[0]]


def test_what_was_not_packed_says_so(demo):
    """What was not packed says so."""
    packed(demo, DEMO_DEBUG_INFO)
    store = demo / STORE_NAME / "vestige-symbols"
    for path in store.glob("*-*.json"):
        facts = json.loads(path.read_text())
        facts["rows"] = []
        rewrite(store, path, facts)

    event = next(iter(vestige.open(demo, debug_info=NOTHING_HERE).events("shop:*")))
    assert event.debug_info.shortfall.reason is Reason.NOT_PACKED


def write_manifest(manifest, facts):
    """Write a manifest with a right checksum."""
    line = json.dumps(facts).encode()
    manifest.write_bytes(line + f"\n{zlib.crc32(line):08x}\n".encode())


def rewrite(store, path, facts):
    """Change the file of an object, and what the manifest says of it."""
    content = json.dumps(facts).encode()
    path.write_bytes(content)
    manifest = store / "manifest.json"
    listed = json.loads(manifest.read_bytes().split(b"\n")[0])
    for one in listed["objects"]:
        if one["file"] == path.name:
            one.update(size=len(content), crc32=zlib.crc32(content))
    write_manifest(manifest, listed)


def truncate(path):
    """Cut a file."""
    path.write_bytes(path.read_bytes()[:-20])


def flip(path):
    """Change a bit."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def to_fifo(path):
    """Put a pipe in the place of a file."""
    path.unlink()
    os.mkfifo(path)


def to_directory(path):
    """Put a directory in the place of a file."""
    path.unlink()
    path.mkdir()


def to_nesting(path):
    """Nest deeper than any parser follows."""
    line = b"[" * 200_000
    path.write_bytes(line + f"\n{zlib.crc32(line):08x}\n".encode())


def to_other_version(path):
    """Be of a version that is not known."""
    write_manifest(path, {"version": 2, "objects": []})


def to_path_outside(path):
    """Name a file elsewhere."""
    write_manifest(
        path, {"version": 1, "objects": [{"file": "../../../../etc/passwd"}]}
    )


def to_odd_types(path):
    """Have other types where something is expected."""
    write_manifest(path, {"version": 1, "objects": {"a": [1, None]}})


@pytest.mark.parametrize(
    "damage",
    [
        truncate,
        flip,
        to_fifo,
        to_directory,
        to_nesting,
        to_other_version,
        to_path_outside,
        to_odd_types,
    ],
)
def test_a_damaged_manifest_is_reported_and_ignored(demo, damage):
    """A damaged manifest is reported and ignored."""
    before = places(demo, NOTHING_HERE)
    packed(demo, DEMO_DEBUG_INFO)
    damage(demo / STORE_NAME / "vestige-symbols" / "manifest.json")

    with pytest.warns(SymbolStoreWarning, match=r"manifest.json: packed symbols are"):
        assert places(demo, NOTHING_HERE) == before


@pytest.mark.parametrize("damage", [truncate, flip, to_fifo, Path.unlink])
def test_a_damaged_object_is_reported_and_the_others_are_used(demo, damage):
    """A damaged object is reported and the others are used."""
    expected = places(demo, DEMO_DEBUG_INFO)
    packed(demo, DEMO_DEBUG_INFO)
    store = demo / STORE_NAME / "vestige-symbols"
    damage(next(store.glob("d7799605*.json")))

    with pytest.warns(SymbolStoreWarning, match=r"d7799605.*packed symbols are not"):
        found = places(demo, NOTHING_HERE)
    own = [one[3] for one in found if one[0].startswith("shop:")]
    assert own
    assert set(own) == {None}
    wanted = [one for one in expected if one[0].startswith("pricing:")]
    assert wanted
    assert [one for one in found if one[0].startswith("pricing:")] == wanted


@pytest.mark.parametrize(
    "change",
    [
        {"rows": [[1, 2]]},
        {"rows": [[0, 99, 0, None, None, None, None, [], 0, None, None]]},
        {"rows": [[0, "x", 0, None, None, None, None, [[1]], 0, None, None]]},
        {"rows": {}},
        {"strings": [1]},
        {"strings": ["\ud800"]},
        {"source": "NO_SUCH"},
        {"bits": 7},
        {"is_pic": None},
        {"version": 9},
        {"build_id": "zz"},
    ],
)
def test_an_object_with_a_right_checksum_may_be_nonsense_all_the_same(demo, change):
    """An object with a right checksum may be nonsense all the same."""
    packed(demo, DEMO_DEBUG_INFO)
    store = demo / STORE_NAME / "vestige-symbols"
    path = next(store.glob("d7799605*.json"))
    rewrite(store, path, {**json.loads(path.read_text()), **change})

    with pytest.warns(SymbolStoreWarning, match=r"d7799605"):
        found = places(demo, NOTHING_HERE)
    assert {one[3] for one in found if one[0].startswith("shop:")} == {None}


def test_an_intact_store_gives_no_warning(demo):
    """An intact store gives no warning."""
    packed(demo, DEMO_DEBUG_INFO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        places(demo, NOTHING_HERE)


def test_the_output_must_be_a_directory(demo, tmp_path):
    """The output must be a directory."""
    (tmp_path / "file").write_text("mine")
    with pytest.raises(SelectionError, match="expected a directory"):
        packed(demo, DEMO_DEBUG_INFO, tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def mutated(value, random):
    """Return a JSON value with something in it changed."""
    if isinstance(value, dict) and value:
        key = random.choice(sorted(value))
        return {**value, key: mutated(value[key], random)}
    if isinstance(value, list) and value and random.random() < 0.9:
        index = random.randrange(len(value))
        return [*value[:index], mutated(value[index], random), *value[index + 1 :]]
    return random.choice(
        [None, True, -1, 1 << 70, 0.5, "", "x\0", "\ud800", [], [[[]]], {}, {"a": 1}, 7]
    )


def test_no_content_of_a_store_is_more_than_a_warning(demo):
    """Changed at random, with right checksums; each change is told or does no harm."""
    packed(demo, DEMO_DEBUG_INFO)
    store = demo / STORE_NAME / "vestige-symbols"
    manifest = store / "manifest.json"
    listed = json.loads(manifest.read_bytes().split(b"\n")[0])
    path = next(store.glob("d7799605*.json"))
    facts = json.loads(path.read_text())
    random = Random(5)  # noqa: S311 - the same changes each time
    told = 0
    for turn in range(120):
        write_manifest(manifest, mutated(listed, random) if turn % 2 else listed)
        if not turn % 2:
            rewrite(store, path, mutated(facts, random))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = list(vestige.open(demo, debug_info=NOTHING_HERE).events("shop:*"))
            str([str(event.debug_info) for event in found])
        assert len(found) > 10
        told += bool(caught)
    assert 40 < told < 120
