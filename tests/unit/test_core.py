"""The door to the Rust core, and the event records that come through it."""

from __future__ import annotations

import ast
import math
import re
import struct
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

import vestige
from support.ctf_writer import Event, Packet, Trace
from support.recordings import DATA, open_demo
from vestige import (
    EnumerationValue,
    Place,
    Unresolved,
    _core,  # noqa: TID251 - the door is compared with what is behind it
    core,
)
from vestige.debuginfo import DebugSource, Reason

PACKAGE = Path(vestige.__file__).parent


def events_of(name, pattern="*"):
    """Return event records of a recording."""
    return list(vestige.open(DATA / name).events(pattern))


def fields_of(name, pattern):
    """Return the payloads of event records of a recording."""
    return [event.payload.to_dict() for event in events_of(name, pattern)]


class TestDoor:
    """One module imports the extension."""

    def test_an_extension_of_another_version_is_refused(self, monkeypatch):
        """Its calls would fail in odd ways."""
        monkeypatch.setattr(core, "__version__", "99.0")

        with pytest.raises(ImportError, match=r"vestige 99\.0 .*version 0\.1\.0"):
            core._check_version()

    def test_the_versions_of_both_parts_agree(self):
        """The extension is built from the manifest of the workspace."""
        manifest = (PACKAGE.parent.parent / "Cargo.toml").read_text()
        [version] = re.findall(r'^version = "(.*)"$', manifest, flags=re.MULTILINE)

        assert _core.__version__ == vestige.__version__ == version

    def test_an_extension_of_another_interface_is_refused(self, monkeypatch):
        """It was built before a method was changed: a call of it would be a TypeError."""
        changed = _core.__interface__.replace(b"def begin(", b"def begun(")
        monkeypatch.setattr(core, "_interface", changed)

        with pytest.raises(ImportError, match="build it again with 'make'") as refused:
            core._check_interface()
        assert refused.value.name == "vestige._core"
        assert "\n" not in str(refused.value)

    def test_docstrings_are_no_interface(self):
        """Whoever changes one needs no build."""
        assert b"def begin(" in _core.__interface__
        assert b"Whether the traces tell of code objects" not in _core.__interface__

    def test_without_its_description_an_extension_is_taken(self, monkeypatch, tmp_path):
        """Some packagers leave it out."""
        monkeypatch.setattr(core, "__file__", str(tmp_path / "core.py"))

        core._check_interface()

    def test_the_command_line_says_it_in_one_line(self):
        """With the status of an error."""
        code = (
            "import vestige._core as compiled; compiled.__interface__ = b'';"
            "from vestige.cli.main import main; raise SystemExit(main(['view', '.']))"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=False
        )

        assert (done.returncode, done.stdout) == (3, "")
        assert done.stderr.startswith("vestige: error: the compiled part of Vestige is")
        assert done.stderr.count("\n") == 1

    def test_no_other_module_imports_the_extension(self):
        """So a missing extension is reported once and clearly."""
        importers = {
            module.name
            for module in PACKAGE.rglob("*.py")
            for node in ast.walk(ast.parse(module.read_text()))
            if isinstance(node, ast.ImportFrom | ast.Import)
            and any("_core" in name for name in names_of(node))
        }

        assert importers == {"core.py"}

    def test_it_lets_every_compiled_class_through(self):
        """What the extension offers and nothing else."""
        names = {*core.__all__, "__interface__", "__version__"}
        assert names == set(_core.__all__)


def names_of(node):
    """Return the module and the names of an import."""
    return [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]


class TestIdentity:
    """What an event record says about itself."""

    def test_name_class_and_log_level(self):
        """All three stand in the metadata."""
        [first], [second] = (
            events_of("fields", f"fields:{name}")
            for name in ("first_pair", "second_pair")
        )

        assert (first.name, first.class_id, first.log_level) == (
            "fields:first_pair",
            10,
            0,
        )
        assert (second.name, second.class_id, second.log_level) == (
            "fields:second_pair",
            11,
            14,
        )

    def test_time_in_three_forms(self):
        """Nanoseconds since the epoch, a datetime in UTC, raw cycles."""
        event = events_of("hello")[1]

        assert event.timestamp == 1_795_245_627_871_897_527
        assert event.datetime == datetime(2026, 11, 21, 7, 20, 27, 871_897, tzinfo=UTC)
        assert event.datetime.tzinfo is UTC
        assert event.cycles == 1_900_661_823_201

    def test_the_offset_leads_to_the_record_in_its_file(self):
        """The payload's text stands in the file between this record and the next."""
        first, second, *_ = events_of("hello")
        data = Path(first.stream.path).read_bytes()

        assert b"good morning\0" in data[first.file_offset : second.file_offset]
        # LTTng writes the first header of a stream in its extended form.
        assert struct.unpack_from("<HIQ", data, first.file_offset) == (
            0xFFFF,
            first.class_id,
            first.cycles,
        )

    def test_the_stream_names_its_trace_and_file(self):
        """It is the same object for all events of the stream."""
        first, *others = events_of("hello")

        assert first.stream.name == "channel0_0"
        assert first.stream.path == str(
            DATA / "hello" / "ust" / "uid" / "0" / "64-bit" / "channel0_0"
        )
        assert first.stream.trace.name == "demo/ust/uid/0/64-bit"
        assert all(event.stream is first.stream for event in others)

    def test_a_stream_without_a_clock_has_no_times(self, tmp_path):
        """None, and no time at the epoch."""
        (tmp_path / "metadata").write_text(
            "/* CTF 1.8 */ trace { major = 1; minor = 8; byte_order = le; };\n"
            'event { name = "e"; fields := struct {\n'
            "integer { size = 8; } a; }; };\n"
        )
        (tmp_path / "stream").write_bytes(b"\x07")
        [event] = vestige.open(tmp_path)

        assert (event.timestamp, event.datetime, event["a"]) == (None, None, 7)
        assert event.log_level is None

    def test_its_representation_shows_name_time_and_payload(self):
        """As a person needs it at the prompt."""
        assert repr(events_of("hello")[0]) == (
            "<Event greeting:said timestamp=1795245627871895064 "
            "{'number': -1, 'text': 'good morning'}>"
        )


class TestFields:
    """Access to fields by name."""

    def test_payload_then_context_are_searched(self):
        """The payload's fields first, those of the common context too."""
        event = events_of("threads-pid")[0]

        assert (event["worker"], event["vpid"], event["vtid"]) == (1, 68, 75)
        assert "worker" in event
        assert "vpid" in event

    def test_the_payload_hides_a_context_field_of_the_same_name(self):
        """The state dump's procname event has both."""
        event = events_of("reload", "lttng_ust_statedump:procname")[0]

        assert event["procname"] == event.payload["procname"] == "reload"
        assert event.context["procname"] == "reload-ust"

    def test_an_unknown_field_is_a_key_error(self):
        """As with a dictionary, in every scope."""
        event = events_of("hello")[0]

        for scope in (event, event.payload, event.context, event.specific_context):
            with pytest.raises(KeyError, match="nothing"):
                scope["nothing"]
            assert "nothing" not in scope

    def test_get_gives_a_default(self):
        """None unless it is stated."""
        event = events_of("hello")[0]

        for scope in (event, event.payload, event.context):
            assert scope.get("nothing") is None
            assert scope.get("nothing", 5) == 5
        assert event.get("number", 5) == event.payload.get("number", 5) == -1

    def test_packet_fields_are_a_scope_of_their_own(self):
        """Those that only describe the packet are no fields of the event."""
        event = events_of("hello")[0]

        assert event["cpu_id"] == event["packet_context.cpu_id"] == 0
        assert "packet_size" not in event
        assert "packet_context.packet_size" not in event
        assert event.packet_context["cpu_id"] == 0
        assert event.packet_context["packet_size"] == 4096 * 8
        assert list(event.packet_context) == [
            "timestamp_begin",
            "timestamp_end",
            "content_size",
            "packet_size",
            "packet_seq_num",
            "events_discarded",
            "cpu_id",
        ]

    def test_a_scope_is_a_mapping(self):
        """In the order of the metadata."""
        payload = events_of("hello")[0].payload
        expected = {"number": -1, "text": "good morning"}

        assert dict(payload) == payload.to_dict() == dict(payload.items()) == expected
        assert list(payload) == list(payload.keys()) == ["number", "text"]
        assert list(payload.values()) == [-1, "good morning"]
        assert len(payload) == 2
        assert repr(payload) == repr(expected)

    def test_a_scope_that_the_trace_does_not_have_is_empty(self):
        """No context was recorded."""
        event = events_of("hello")[0]

        assert (len(event.context), event.context.to_dict()) == (0, {})
        assert event.specific_context.to_dict() == {}
        assert isinstance(event.packet_context, Mapping)

    def test_an_event_outlives_its_trace(self):
        """Its buffer lives as long as it does."""
        event = next(iter(vestige.open(DATA / "hello")))

        assert event["text"] == "good morning"


class TestDecoding:
    """Each kind of field becomes the Python value it means."""

    @pytest.mark.parametrize(
        ("field", "lowest", "highest"),
        [
            ("i8", -128, 127),
            ("u8", 0, 255),
            ("i16", -(1 << 15), (1 << 15) - 1),
            ("u16", 0, (1 << 16) - 1),
            ("i32", -(1 << 31), (1 << 31) - 1),
            ("u32", 0, (1 << 32) - 1),
            ("i64", -(1 << 63), (1 << 63) - 1),
            ("u64", 0, (1 << 64) - 1),
        ],
    )
    def test_integers_up_to_their_limits(self, field, lowest, highest):
        """The recording holds the extremes of every size."""
        values = [fields[field] for fields in fields_of("fields", "fields:integers")]

        assert (min(values), max(values)) == (lowest, highest)
        assert {type(value) for value in values} == {int}

    def test_integers_in_network_byte_order(self):
        """What the program stored as it lies in its memory, read the other way round."""
        native = fields_of("fields", "fields:integers")
        swapped = fields_of("fields", "fields:network")

        assert [fields["u32"] for fields in swapped] == [
            int.from_bytes(fields["u32"].to_bytes(4, "little"), "big")
            for fields in native
        ]
        assert [fields["i64"] for fields in swapped] == [
            int.from_bytes(
                fields["i64"].to_bytes(8, "little", signed=True), "big", signed=True
            )
            for fields in native
        ]

    def test_reals(self):
        """Single precision is widened exactly; extremes and infinities stay."""
        narrow, wide = (
            [fields[size] for fields in fields_of("fields", "fields:reals")]
            for size in ("narrow", "wide")
        )

        assert wide[4:6] == [0.1, 1 / 3]
        assert narrow[4] == struct.unpack("f", struct.pack("f", 0.1))[0]
        assert (min(narrow), max(narrow)) == (-math.inf, math.inf)
        assert 5e-324 in wide
        assert 1.7976931348623157e308 in wide
        assert [math.isnan(value) for value in narrow].count(True) == 2
        assert [math.isnan(value) for value in wide].count(True) == 2

    def test_negative_zero_keeps_its_sign(self):
        """Equal to zero, and yet another number."""
        _, negative, *_ = fields_of("fields", "fields:reals")

        assert [math.copysign(1, negative[size]) for size in ("narrow", "wide")] == [
            -1,
            -1,
        ]
        assert negative["wide"] == 0

    def test_arrays_are_lists_and_text_arrays_strings(self):
        """A text ends at its NUL, or with the array."""
        first, second, third, *_ = fields_of("fields", "fields:arrays")

        assert first == {
            "numbers": [-32768, -1, 1, 32767],
            "words": [0, 0xDEADBEEF, 0xFFFFFFFF],
            "swapped": [128, -1, 256, -129],
            "swapped_words": [0, 0xEFBEADDE, 0xFFFFFFFF],
            "letters": "eight888",
            "one": [101],
        }
        assert (second["letters"], third["letters"]) == ("nul", "")

    def test_sequences_have_the_length_that_was_recorded(self):
        """Also none at all; the length itself is a field."""
        all_fields = fields_of("fields", "fields:sequences")

        assert [len(fields["numbers"]) for fields in all_fields] == [
            0, 1, 2, 3, 7, 8, 39, 40, 7, 8,
        ]  # fmt: skip
        assert [fields["_numbers_length"] for fields in all_fields] == [
            len(fields["swapped"]) for fields in all_fields
        ]
        assert all_fields[2]["letters"] == "AB"
        assert all_fields[2]["swapped"] == [1 << 56, -(1 << 56) - 1]

    def test_strings_that_are_no_utf_8_give_back_their_bytes(self):
        """With surrogate escapes, as file names in Python."""
        texts = [fields["text"] for fields in fields_of("fields", "fields:strings")]

        assert "grüß gott" in texts
        assert any(
            text.encode(errors="surrogateescape") == b"broken \xff\xfe utf-8 \xc3"
            for text in texts
        )
        assert any(
            text.encode(errors="surrogateescape") == bytes(range(1, 256))
            for text in texts
        )

    def test_enumerations_know_all_their_labels(self):
        """None for a value between ranges, two where ranges overlap."""
        found = {
            int(fields["degrees"]): fields["degrees"].labels
            for fields in fields_of("fields", "fields:enumerations")
        }

        assert found == {
            -(1 << 31): (),
            -41: (),
            -40: ("FROST",),
            -1: ("FROST",),
            0: ("ZERO", "MILD"),
            1: ("MILD",),
            14: ("MILD",),
            15: ("MILD", "WARM"),
            20: ("MILD", "WARM"),
            21: ("WARM",),
            30: ("WARM",),
            31: (),
            100: ('a "quoted" name',),
            (1 << 31) - 1: (),
        }

    def test_unsigned_enumerations_reach_their_largest_value(self):
        """A range to 4294967295 is not taken for one to -1."""
        states = {
            fields["state"]: fields["state"].label
            for fields in fields_of("fields", "fields:enumerations")
        }

        assert states[0xFFFFFFFF] == "HUGE"
        assert states[3_999_999_999] is None
        assert all(isinstance(state, EnumerationValue) for state in states)

    def test_an_event_without_fields(self):
        """An empty payload."""
        [event] = events_of("fields", "fields:nothing")

        assert (len(event.payload), event.payload.to_dict()) == (0, {})

    def test_nested_structures_arrays_and_variants(self, tmp_path):
        """Structures become dictionaries, arrays of arrays lists of lists."""
        members = """
            struct { uint8_t x; struct { uint16_t y; } inner; } point;
            uint8_t grid[2][3];
            uint8_t n; struct { uint8_t k; } rows[n];
            enum : uint8_t { number = 1, text = 2 } tag;
            variant <tag> { uint8_t number; string text; } choice;
        """
        payload = b"\x01\x02\x00" + bytes(range(6)) + b"\x02\x08\x09" + b"\x02word\0"
        trace = Trace([members], streams={"s": [Packet([Event(5, payload)])]})
        [event] = vestige.open(trace.write(tmp_path))

        assert event.payload.to_dict() == {
            "point": {"x": 1, "inner": {"y": 2}},
            "grid": [[0, 1, 2], [3, 4, 5]],
            "n": 2,
            "rows": [{"k": 8}, {"k": 9}],
            "tag": 2,
            "choice": "word",
        }
        assert event["tag"].label == "text"
        assert event["point"]["inner"]["y"] == 2


class TestDebugInfo:
    """The place of an event's code, from the demo."""

    def test_a_place_has_function_file_and_line(self):
        """The line is the one of the tracepoint in the program's source."""
        event = next(iter(open_demo().events("discount:applied")))
        place = event.debug_info

        assert isinstance(place, Place)
        assert (place.function, place.offset) == ("discount", 0xE2)
        assert (place.file, place.line) == ("discount.c", 13)
        assert place.binary.mapping.path == "/opt/vestige-demo/plugins/libdiscount.so"
        assert place.binary.offset == 0x1A42
        source = (PACKAGE / "demo" / "src" / "discount.c").read_text().splitlines()
        assert "lttng_ust_tracepoint(discount, applied" in source[place.line - 1]

    def test_inlined_calls_are_frames(self):
        """Innermost first, each with its own line."""
        event = next(iter(open_demo().events("shop:order_received")))

        assert [(frame.function, frame.line) for frame in event.debug_info.frames] == [
            ("receive", 79),
            ("main", 96),
        ]

    @pytest.mark.parametrize(
        ("pattern", "source"),
        [
            ("shop:*", DebugSource.BUILD_ID),
            ("discount:*", DebugSource.BUILD_ID),
            ("pricing:*", DebugSource.DEBUG_LINK),
        ],
    )
    def test_each_object_has_its_own_debug_file(self, pattern, source):
        """The demo keeps two of them under build IDs and one behind a debug link."""
        places = [event.debug_info for event in open_demo().events(pattern)]

        assert places
        assert {place.source for place in places} == {source}

    def test_a_process_without_state_dump_says_so(self):
        """An answer that explains itself, and no error."""
        [event] = events_of("fields", "fields:nothing")

        assert event.debug_info == Unresolved(Reason.NO_STATE_DUMP)

    def test_an_event_without_address_has_none(self):
        """The trace has no ip context."""
        assert [event.debug_info for event in events_of("hello")] == [None] * 4
