"""What makes the package pleasant: messages, warnings, pickles, what notebooks show."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections import Counter

import pytest

import vestige
from support.recordings import DATA, copy_trace, open_demo
from vestige import (
    EnumerationValue,
    NoSuchFieldError,
    TraceDamageWarning,
    VestigeWarning,
)
from vestige.advice import nearest
from vestige.values import BitMapValue


def again(thing):
    """Return what comes out of a pickle."""
    return pickle.loads(pickle.dumps(thing))  # noqa: S301 - our own


FACTS = (
    "name",
    "class_id",
    "log_level",
    "timestamp",
    "datetime",
    "cycles",
    "file_offset",
    "debug_info",
    "thread",
    "process",
    "cpu",
    "process_name",
    "packet_context",
)
SCOPES = ("payload", "context", "specific_context")


@pytest.fixture
def hello():
    """Four greetings."""
    return vestige.open(DATA / "hello")


class TestMissingFields:
    """What is said of a field that is not there."""

    def test_the_message_names_the_fields_nearest_first(self, hello):
        """It is a KeyError and a VestigeError, and has the facts."""
        event = next(iter(hello))
        with pytest.raises(KeyError) as caught:
            event["txt"]

        assert isinstance(caught.value, NoSuchFieldError)
        assert str(caught.value) == (
            "there is no field 'txt' in greeting:said; "
            "there are 'text', 'number', 'cpu_id'"
        )
        assert caught.value.fields == ("number", "text", "cpu_id")
        assert str(again(caught.value)) == str(caught.value)

    def test_a_scope_names_its_own(self, hello):
        """And only these."""
        event = next(iter(hello))
        with pytest.raises(NoSuchFieldError, match=r"there are 'number', 'text'$"):
            event.payload["cpu_id"]
        with pytest.raises(NoSuchFieldError, match=r"there is none$"):
            event.context["cpu_id"]

    @pytest.mark.parametrize(
        ("known", "text"),
        [
            ([], "is none"),
            (["b"], "is 'b'"),
            (["b", "ab"], "are 'ab', 'b'"),
            (
                list("ABCDEFGHIJKLM"),
                "are 'A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J' and 3 more",
            ),
            (["d", "c", "ab"], "are 'ab', 'd', 'c'"),
            (["_fini", "frame", "abd", "_init", "work"], "are 'abd' and 4 more"),
        ],
    )
    def test_long_lists_are_cut(self, known, text):
        """To a line that can be read."""
        assert nearest("abc", known) == text


class TestPatterns:
    """Several patterns, and those that nothing matches."""

    def test_several_patterns(self):
        """An event matches any of them, of each call."""
        trace = open_demo()
        both = trace.events("pricing:*", "shop:order_refused")

        names = Counter(event.name for event in trace)
        expected = {
            name: count
            for name, count in names.items()
            if name.startswith("pricing:") or name == "shop:order_refused"
        }
        assert both.counts() == expected
        assert len(expected) > 1
        narrowed = both.events("shop:*", "*:order_*")
        assert set(narrowed.counts()) == {"shop:order_refused"}
        assert again(narrowed).counts() == narrowed.counts()

    def test_a_pattern_that_nothing_matches_is_told(self):
        """With the names that are near, at the line of the caller, once a pattern."""
        trace = open_demo()
        with pytest.warns(VestigeWarning) as caught:
            selection = trace.events("shop:order_refsed", "shop:order_packed", "no:*")

        first, second = caught
        assert str(first.message).startswith(
            "no event matches 'shop:order_refsed'; there are 'shop:order_refused', "
        )
        assert str(second.message).startswith("no event matches 'no:*'; there are ")
        assert first.filename == __file__
        assert set(selection.counts()) == {"shop:order_packed"}

    def test_what_is_selected_already_counts(self):
        """An event that the trace has and the selection has not is not matched."""
        with pytest.warns(VestigeWarning, match="no event matches 'shop:\\*'"):
            empty = open_demo().events("pricing:*").events("shop:*")

        assert list(empty) == []

    @pytest.mark.parametrize("pattern", [7, b"x", ["a:*"]])
    def test_a_pattern_is_text(self, hello, pattern):
        """A list is not taken apart."""
        with pytest.raises(vestige.SelectionError, match="is no pattern"):
            hello.events("greeting:*", pattern)


class TestPickle:
    """Events that leave their process."""

    @pytest.mark.parametrize("name", ["hello", "fields", "reload", "threads-pid"])
    @pytest.mark.parametrize("way", ["pickle", "copy", "twice"])
    def test_an_event_comes_out_as_it_went_in(self, name, way):
        """All facts and fields, of any type."""
        ways = {
            "pickle": again,
            "copy": copy.deepcopy,
            "twice": lambda one: again(copy.copy(one)),
        }
        for event in vestige.open(DATA / name):
            other = ways[way](event)

            assert type(other) is vestige.Event
            for fact in FACTS:
                assert repr(getattr(other, fact)) == repr(getattr(event, fact))
            for scope in SCOPES:
                fields = getattr(event, scope).to_dict()
                assert repr(getattr(other, scope).to_dict()) == repr(fields)
            keys = event.keys()
            assert other.keys() == keys
            assert [repr(other[key]) for key in keys] == [
                repr(event[key]) for key in keys
            ]
            assert "nothing" not in other
            assert other.get("nothing", 1) == 1
            assert repr(other) == repr(event)
            assert other.stream.name == event.stream.name
            assert other.stream.id == event.stream.id
            assert other.stream == event.stream.facts

    def test_a_pickled_event_cannot_be_changed_through_its_fields(self, hello):
        """What it gives are copies."""
        other = again(next(iter(hello)))
        other.payload.to_dict().clear()
        other.packet_context.clear()

        assert other["number"] == -1
        assert other["cpu_id"] == 0

    def test_fields_of_a_scope(self, hello):
        """As a mapping of the same kind."""
        payload = next(iter(hello)).payload
        other = again(payload)

        assert type(other) is type(payload)
        assert dict(other) == dict(payload) == {"number": -1, "text": "good morning"}
        assert ("text" in other, "x" in other, len(other)) == (True, False, 2)
        with pytest.raises(NoSuchFieldError):
            other["x"]

    def test_values_of_enumerations_and_bit_maps(self):
        """They know their names again."""
        one = again(EnumerationValue(3, ["a", "b"]))
        two = copy.deepcopy(BitMapValue(5, ["x"]))

        assert (one, one.labels, two, two.flags) == (3, ("a", "b"), 5, ("x",))

    @pytest.mark.parametrize("arguments", [(), ({}, ()), ({}, (1, 2, 3, 4)), (7, 8)])
    def test_what_is_no_pickle_is_refused(self, arguments):
        """A TypeError, no crash."""
        from vestige.core import copied_event  # noqa: PLC0415 - a helper of pickle

        with pytest.raises(TypeError):
            copied_event(*arguments)

    def test_facts_of_other_types_are_errors(self):
        """When they are asked for."""
        from vestige.core import copied_event  # noqa: PLC0415 - as above

        event = copied_event({"cycles": "many", "packet_names": 3}, ({}, {}, {}, {}))
        with pytest.raises(TypeError):
            _ = event.cycles
        with pytest.raises(TypeError):
            event.keys()


class TestShown:
    """What people see of objects."""

    def test_selections_and_traces(self, hello):
        """Where they are, and what of it."""
        path = DATA / "hello"
        trace = f"<Trace '{path}': 2 data streams>"
        selection = hello.events("greeting:*", "*:said").events(begin=5, end=9)

        assert repr(hello) == trace
        assert repr(selection) == (
            f"<EventSelection of {trace}: "
            "events 'greeting:*' or '*:said' from 5 ns until 9 ns>"
        )
        assert repr(hello[7:]) == f"<EventSelection of {trace}: all events from 7 ns>"

    def test_html_is_escaped(self, tmp_path):
        """Names and values come from a trace that anybody may have written."""
        with vestige.ctf.Writer(tmp_path / "trace") as writer:
            event = writer.event_class("<script>", {"text": str})
            writer.stream("s").write(event, 1, text="<b>&" + "x" * 1000)
        trace = vestige.open(tmp_path / "trace")
        [event] = trace

        for shown in (event, trace, trace.events("<script>")):
            html = shown._repr_html_()
            assert "<table>" in html
            assert "<script>" not in html
            assert "<b>" not in html
            assert len(html) < 3000

    def test_keys_are_completed(self, hello):
        """As IPython asks for them."""
        event = next(iter(hello))

        assert event._ipython_key_completions_() == ["number", "text", "cpu_id"]
        assert event.payload._ipython_key_completions_() == ["number", "text"]

    def test_the_class_of_events_has_its_public_name(self, hello):
        """In messages, too."""
        event = next(iter(hello))
        with pytest.raises(AttributeError, match=r"'vestige\.Event' object"):
            _ = event.nothing

        assert (
            f"{vestige.Event.__module__}.{vestige.Event.__qualname__}"
            == "vestige.Event"
        )

    def test_names_of_streams_are_below_the_trace(self):
        """Those of one in several directories below what is above all."""
        [first, *_] = vestige.open(DATA / "hello").streams
        assert first.name == "channel0_0"
        assert first.path == str(DATA / "hello/ust/uid/0/64-bit/channel0_0")
        names = {stream.name for stream in vestige.open(DATA).streams}
        assert not any(name.startswith(("/", "..")) for name in names)

    @pytest.mark.parametrize("module", [vestige.ctf, vestige.debuginfo])
    def test_modules_list_their_public_names_alone(self, module):
        """Not what they import."""
        names = {name for name in dir(module) if not name.startswith("__")}

        assert names == set(module.__all__)
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = module.nothing


class TestManyBadFiles:
    """A directory in which there is a trace among much else."""

    def test_one_warning_sums_up(self, tmp_path):
        """The rest is listed in the trace."""
        directory = copy_trace("hello", tmp_path / "trace")
        for number in range(200):
            (directory / f"note-{number}").write_text("no packets in here, only text\n")
        with pytest.warns(TraceDamageWarning) as caught:
            trace = vestige.open(directory)

        assert len(caught) == 1
        assert "note-0, byte 0: " in str(caught[0].message)
        assert "; 199 more files cannot be read" in str(caught[0].message)
        assert caught[0].filename == __file__
        assert len(trace.damage) == 200

    def test_the_warnings_have_one_base(self):
        """So that one filter is for all of them."""
        for kind in (TraceDamageWarning, vestige.debuginfo.SymbolStoreWarning):
            assert issubclass(kind, VestigeWarning)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", VestigeWarning)
            vestige.open(DATA / "hello").events("nothing")
