"""The verbs of recording event rules say and return what LTTng's do."""

from __future__ import annotations

import pytest


@pytest.fixture
def daemon(daemon):
    """A daemon with a session and a rule."""
    daemon.lttng("create", "s1")
    daemon.lttng("enable-event", "-u", "a:b")
    return daemon


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (["a:c"], "ust event a:c created in channel channel0\n"),
        (
            ["x:y,x:z"],
            (
                "ust event x:y created in channel channel0\n"
                "ust event x:z created in channel channel0\n"
            ),
        ),
        ([r"x\,y"], "ust event x,y created in channel channel0\n"),
        (
            ["x:*", "--exclude", "x:y,x:z*"],
            'ust event x:* excluding "x:y", "x:z*" created in channel channel0\n',
        ),
        (["a:b", "--filter", "n > 5"], "Event a:b: Filter 'n > 5' successfully set\n"),
        (["a:b", "--loglevel=WARNING"], "ust event a:b created in channel channel0\n"),
        (["-a"], "All ust events are enabled in channel channel0\n"),
        (["-a", "--filter", "n>1"], "Filter 'n>1' successfully set\n"),
        (["-c", "other", "a:b"], "ust event a:b created in channel other\n"),
    ],
)
def test_rules_are_made(daemon, words, out):
    """Each name is a rule of its own."""
    assert daemon.lttng("enable-event", "-u", *words) == (0, out, "")


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (
            ["a:b"],
            55,
            "Event a:b: UST event already enabled (channel channel0, session s1)",
        ),
        (
            ["a:b", "-s", "nosuch"],
            23,
            "Session name not found (channel channel0, session nosuch)",
        ),
        (["a:b", "--exclude", "a:c"], 1, "Exclusions can only be used with a globbing"),
        (["al*", "-x", "a*"], 1, "a* excludes all events from al*"),
        (["a:b", "--loglevel=BOGUS"], 97, "Unknown loglevel BOGUS"),
        (["--syscall", "open"], 5, "Event type not available for user-space tracing"),
        ([], 1, "Missing event name(s)."),
        ([""], 1, "Missing event name(s)."),
    ],
)
def test_rules_that_cannot_be_are_refused(daemon, words, status, text):
    """With the statuses of LTTng."""
    done = daemon.lttng("enable-event", "-u", *words)
    assert (done.status, done.out) == (status, "")
    assert text in done.err


def test_a_wrong_filter_is_refused_with_its_column(daemon):
    """The number is LTTng's, the reason is ours."""
    done = daemon.lttng("enable-event", "-u", "a:b", "--filter", "n * 2")
    assert done.status == 106
    reason, error = done.err.splitlines()
    assert "arithmetic is not supported" in reason
    assert error == (
        "Error: Event a:b: Invalid filter bytecode (channel channel0, session s1, "
        "filter 'n * 2')"
    )


def test_the_state_of_rules_is_shown(daemon):
    """With levels, exclusions and filters."""
    daemon.lttng("enable-event", "-u", "x*", "-x", "xy,xz", "--loglevel=INFO")
    daemon.lttng("enable-event", "-u", "y", "--loglevel-only=ERR", "-f", "n > 1")
    daemon.lttng("disable-event", "-u", "a:b")
    assert daemon.lttng("list", "s1").out.endswith(
        "    Recording event rules:\n"
        "      a:b (type: tracepoint) [disabled]\n"
        "      x* (loglevel <= TRACE_INFO (6)) (type: tracepoint) [enabled] "
        "[exclusions: xy, xz]\n"
        "      y (loglevel == TRACE_ERR (3)) (type: tracepoint) [enabled] "
        "[filter: 'n > 1']\n\n"
    )


def test_rules_are_disabled_by_name_or_all(daemon):
    """By the exact pattern; and an enabled one of the same conditions comes back."""
    done = daemon.lttng("disable-event", "-u", "a:b")
    text = "ust a:b of type any disabled in channel channel0 for session s1\n"
    assert done == (0, text, "")
    assert daemon.lttng("enable-event", "-u", "a:b").status == 0
    done = daemon.lttng("disable-event", "-u", "-a")
    assert done.out == "All ust events of type any are disabled in channel channel0\n"
    done = daemon.lttng("disable-event", "-u", "nosuch")
    assert done.status == 76
    assert done.err == (
        "Error: nosuch of type any : UST event not found (channel channel0, session s1)\n"
    )


def test_with_other_channels_one_must_be_named(daemon):
    """Status 83, for both verbs."""
    daemon.lttng("enable-channel", "-u", "other")
    for verb in ("enable-event", "disable-event"):
        done = daemon.lttng(verb, "-u", "a:b")
        assert done.status == 83
        assert "(channel <default>, session s1)" in done.err


def test_rules_of_loggers_have_a_channel_of_their_own(daemon):
    """In the domain of user space, and rules in the domain of the framework."""
    done = daemon.lttng("enable-event", "-j", "my.Logger", "--loglevel=SEVERE")
    assert done == (0, "jul event my.Logger enabled\n", "")
    shown = daemon.lttng("list", "s1").out
    assert "- lttng_jul_channel: [enabled]" in shown
    assert shown.endswith(
        "=== Domain: java.util.logging (JUL) ===\n\nEvents (Logger name):\n"
        "---------------------\n"
        "    - my.Logger [enabled] (loglevel <= JUL_SEVERE)\n\n"
    )
    assert (
        "  - UST global\n  - JUL (Java Util Logging)\n"
        in daemon.lttng("list", "-d", "s1").out
    )
