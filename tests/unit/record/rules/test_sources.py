"""What rules switch on, and which rules there are for it."""

from __future__ import annotations

import pytest

from vestige.record import EventRule, RecordingOptions

ALL_CALLS = ["vestige_python:func_*", "vestige_python:coroutine_*"]


def own_rules(**options):
    """Return the patterns that options add to those of events."""
    made = RecordingOptions(**options)
    return [rule.text for rule in made.rules()[len(made.given_rules()) :]]


@pytest.mark.parametrize(
    ("event", "helpers", "calls", "collections"),
    [
        ("lttng_ust_libc:*", ("libc",), None, False),
        (
            "lttng_ust_pthread:*lock*,lttng_ust_dl:dlopen",
            ("pthread", "dl"),
            None,
            False,
        ),
        ("lttng_ust_libc:nothing", (), None, False),
        ("lttng_ust_l*:malloc", (), None, False),
        ("*", (), None, False),
        ("vestige_python:func_entry", (), "python", False),
        ("vestige_python:*", (), "python", True),
        ("vestige_python:gc_*", (), None, True),
        ("app:*", (), None, False),
    ],
)
def test_rules_that_name_a_provider_switch_it_on(event, helpers, calls, collections):
    """A pattern for the provider does not, as under LTTng."""
    made = RecordingOptions(events=(event,))

    assert (made.helpers, made.python_functions, made.python_gc) == (
        helpers,
        calls,
        collections,
    )


def test_what_is_switched_on_stays_as_it_is():
    """A rule adds to what options say."""
    made = RecordingOptions(
        events=("lttng_ust_dl:*", "vestige_python:func_*"),
        helpers=("libc",),
        python_functions="all",
    )

    assert made.helpers == ("libc", "dl")
    assert made.python_functions == "all"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"helpers": ("libc",)}, []),
        ({"events": ("app:*",), "helpers": ("libc",)}, ["lttng_ust_libc:*"]),
        ({"events": ("lttng_ust_libc:malloc",), "helpers": ("libc",)}, []),
        ({"events": ("*alloc",), "helpers": ("libc", "dl")}, ["lttng_ust_dl:*"]),
        (
            {"events": (EventRule("*", filter="size > 3"),), "helpers": ("libc", "dl")},
            ["lttng_ust_dl:*"],
        ),
        (
            {
                "events": (EventRule("lttng_ust_libc:*", filter="sise > 3"),),
                "helpers": ("libc",),
            },
            [],
        ),
        ({"events": ("app:*",), "python_functions": "python"}, ALL_CALLS),
        ({"events": ("*:func_entry",), "python_functions": "python"}, []),
        ({"events": ("app:*",), "python_gc": True}, ["vestige_python:gc_*"]),
    ],
)
def test_all_is_recorded_of_what_no_rule_has_a_word_about(options, expected):
    """Where one has, only what it takes."""
    assert own_rules(**options) == expected
