"""The verbs of channels and contexts say and return what LTTng's do."""

from __future__ import annotations

import pytest

ROUNDED = "Warning: The subbuf size (5000) is rounded to the next power of 2 (8192)\n"


@pytest.fixture
def daemon(daemon):
    """A daemon with a session and a channel."""
    daemon.lttng("create", "s1")
    daemon.lttng("enable-channel", "-u", "c1")
    return daemon


def test_a_channel_has_the_defaults_of_its_buffering_scheme(daemon):
    """512 KiB for a user, 16 KiB for a process; four of them."""
    assert "Sub-buffer size:  524288 bytes" in daemon.lttng("list", "s1").out
    daemon.lttng("create", "s2")
    daemon.lttng("enable-channel", "-u", "--buffers-pid", "c")
    shown = daemon.lttng("list", "s2").out
    assert "Buffering scheme: per-process" in shown
    assert "Sub-buffer size:  16384 bytes\n      Sub-buffer count: 4\n" in shown


def test_sizes_are_rounded_up_with_a_warning(daemon):
    """To powers of two; the size of files up to that of a sub-buffer."""
    done = daemon.lttng("enable-channel", "-u", "c2", "--subbuf-size=5000")
    assert done == (0, "ust channel c2 enabled for session s1\n", ROUNDED)
    done = daemon.lttng(
        "enable-channel", "-u", "c3", "--num-subbuf=3", "--tracefile-size=4k"
    )
    assert done.status == 0
    assert done.err == (
        "Warning: The number of subbuffers (3) is rounded to the next power of 2 (4)\n"
        "Warning: Tracefile size rounded up from (4096) to subbuffer size (524288)\n"
    )


def test_all_attributes_are_shown(daemon):
    """Timers with their units, limits by name."""
    daemon.lttng(
        *("enable-channel", "-u", "c2", "--subbuf-size=4k", "--num-subbuf=8"),
        *("--switch-timer=1s", "--read-timer=200ms", "--monitor-timer=0"),
        *("--blocking-timeout=inf", "--tracefile-size=1M", "--tracefile-count=3"),
    )
    shown = daemon.lttng("list", "s1", "-c", "c2").out
    assert (
        "      Event-loss mode:  discard\n"
        "      Sub-buffer size:  4096 bytes\n"
        "      Sub-buffer count: 8\n"
        "      Switch timer:     1000000 us\n"
        "      Read timer:       200000 us\n"
        "      Monitor timer:    inactive\n"
        "      Blocking timeout: infinity\n"
        "      Trace file count: 3 per stream\n"
        "      Trace file size:  1048576 bytes\n"
        "      Output mode:      mmap\n"
    ) in shown


def test_the_monitor_timer_is_kept(daemon, tmp_path):
    """In the list, in XML and where the session is saved; with its units."""
    given = {"250000": 250_000, "2s": 2_000_000, "1500ms": 1_500_000, "1h": 3.6e9}
    for number, value in enumerate(given):
        words = ("enable-channel", "-u", f"m{number}", f"--monitor-timer={value}")
        assert daemon.lttng(*words).status == 0
    daemon.lttng("save", "s1", f"--output-path={tmp_path}")
    saved = (tmp_path / "s1.lttng").read_text()
    shown = daemon.lttng("--mi", "xml", "list", "s1").out
    listed = daemon.lttng("list", "s1").out
    for microseconds in map(int, given.values()):
        tag = f"<monitor_timer_interval>{microseconds}</monitor_timer_interval>"
        assert tag in shown
        assert tag in saved
        assert f"      Monitor timer:    {microseconds} us\n" in listed


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ("c1", 4, "Warning: Channel c1: UST channel already exist (session s1)"),
        ("a/b", 1, 'Invalid channel name: "a/b"'),
        (".a", 1, 'Invalid channel name: ".a"'),
        ("c --subbuf-size=0", 1, "Wrong value in --subbuf-size parameter: 0"),
        ("c --subbuf-size=abc", 1, "Wrong value in --subbuf-size parameter: abc"),
        *(
            (
                f"c --{timer}-timer={value}",
                1,
                f"Wrong value for --{timer}-timer parameter: {value}",
            )
            for timer in ("switch", "read", "monitor")
            for value in ("x", "-1")
        ),
        ("c --num-subbuf=1 --overwrite", 1, "Channel c: Invalid parameter"),
        ("c --num-subbuf=4194304", 1, "Channel c: Invalid parameter"),
        ("c --subbuf-size=4096G", 1, "Channel c: Invalid parameter"),
        ("c --subbuf-size=16G --num-subbuf=8", 1, "Channel c: Invalid parameter"),
        ("c --buffers-pid", 1, "Channel c: Buffer type mismatch for session"),
        ("c --buffers-global", 1, "Buffer type not supported for domain -u"),
        ("c --output=splice", 1, "Channel c: Operation not supported"),
        ("c --blocking-timeout=inf --overwrite", 1, "You cannot specify --overwrite"),
        ("c --tracefile-count=3", 1, "Missing option --tracefile-size"),
        ("c -s nosuch", 1, "Channel c: Session name not found (session nosuch)"),
        ("", 1, "Missing channel name."),
        ("-k c", 1, "Only one domain must be specified."),
        ("-j c", 2, "Unrecognized argument used with 'enable-channel' command"),
    ],
)
def test_a_channel_that_cannot_be_is_refused(daemon, words, status, text):
    """With the statuses of LTTng."""
    done = daemon.lttng("enable-channel", "-u", *words.split())
    assert (done.status, done.out) == (status, "")
    assert text in done.err


def test_a_small_subbuffer_is_rounded_and_then_refused(daemon):
    """It must have a page."""
    done = daemon.lttng("enable-channel", "-u", "c", "--subbuf-size=1000")
    assert done.status == 1
    assert done.err.endswith("Error: Channel c: Invalid parameter (session s1)\n")


def test_channels_are_disabled_and_enabled(daemon):
    """Several with commas; one that is not there makes the status 4."""
    done = daemon.lttng("disable-channel", "-u", "c1,nosuch")
    assert done.status == 4
    assert done.out == "ust channel c1 disabled for session s1\n"
    assert done.err == "Error: Channel nosuch: UST channel not found (session s1)\n"
    assert "- c1: [disabled]" in daemon.lttng("list", "s1").out
    assert daemon.lttng("enable-channel", "-u", "c1").status == 0


def test_after_a_start_channels_and_contexts_are_fixed(daemon):
    """New ones are refused, even when the session is stopped."""
    daemon.lttng("start")
    daemon.lttng("stop")
    late = daemon.lttng("enable-channel", "-u", "late")
    assert late.status == 1
    assert "Tracing has already been started once" in late.err
    context = daemon.lttng("add-context", "-u", "-t", "vtid")
    assert context == (
        4,
        "",
        "Error: vtid: Tracing has already been started once\n",
    )


@pytest.mark.parametrize(
    ("words", "status", "out", "err"),
    [
        ("-t vpid", 0, "ust context vpid added to all channels\n", ""),
        ("-t ip -c c1", 0, "ust context ip added to channel c1\n", ""),
        (
            "-t perf:thread:instructions",
            0,
            "ust context perf:thread:instructions added to all channels\n",
            "",
        ),
        ("-t $app.p:c", 0, "ust context $app.p:c added to all channels\n", ""),
        ("-t tid", 4, "", "Error: tid: UST invalid context\n"),
        ("-t perf:cpu:cs", 4, "", "Error: perf:cpu:cs: UST invalid context\n"),
        ("-t bogus", 3, "", "Error: Unknown context type bogus\n"),
        (
            "-t perf:thread:raw:r0110:name:more",
            *(3, "", "Error: Unknown context type perf:thread:raw:r0110:name:more\n"),
        ),
        ("-t ip -c nosuch", 4, "", "Error: ip: UST channel not found\n"),
        ("", 1, "", "Error: Missing mandatory -t TYPE\n"),
    ],
)
def test_contexts_are_added_or_refused(daemon, words, status, out, err):
    """As in LTTng."""
    assert daemon.lttng("add-context", "-u", *words.split()) == (status, out, err)


def test_a_context_is_added_once(daemon):
    """Others of the same command are added all the same."""
    daemon.lttng("add-context", "-u", "-t", "vpid")
    done = daemon.lttng("add-context", "-u", "-t", "vpid", "-t", "procname")
    assert done == (
        4,
        "ust context procname added to all channels\n",
        "Error: vpid: UST context already exist\n",
    )


def test_inclusion_sets_are_as_the_document_says(daemon):
    """A full set is emptied first; then values come and go."""
    daemon.lttng("track", "-u", "--vpid=3,4,7,10,13")
    daemon.lttng("track", "-u", "--vpid=1,15,16")
    daemon.lttng("untrack", "-u", "--vpid=3,7,10,13")
    daemon.lttng("track", "-u", "--vuid=root,1")
    shown = daemon.lttng("status").out
    assert "  Virtual process IDs:  4, 1, 15, 16\n" in shown
    assert "  Virtual user IDs:     `root`, 1\n" in shown
    assert "  Virtual group IDs:    all\n" in shown
    emptied = daemon.lttng("untrack", "-u", "--vpid", "--all")
    assert emptied.out == "Virtual process ID tracking policy set to `exclude all`\n"
    assert "Virtual process IDs:  none" in daemon.lttng("status").out
    filled = daemon.lttng("track", "-u", "--all", "--vpid")
    assert filled.out == "Virtual process ID tracking policy set to `include all`\n"


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ("track -u --vpid=-3", 1, "-3 is not a valid virtual process ID value"),
        ("track -u --vpid=abc", 1, "expected an integer"),
        ("track -u --vuid=no-such-user", 1, "User `no-such-user` was not found"),
        ("track -u --vgid=no-such", 1, "Group `no-such` was not found"),
        ("track -u --uid=3", 1, "The user ID process attribute cannot be tracked"),
        ("track -u --vpid=3 --all", 1, "The --all option cannot be used with a list"),
        ("track -u", 1, "At least one process attribute must be specified"),
        ("track --vpid=3", 1, "Please specify a domain (--kernel/--userspace)."),
        ("untrack -u --vpid=99", 0, "Warning: 99 is not in the virtual process ID"),
    ],
)
def test_values_that_cannot_be_tracked_are_told(daemon, words, status, text):
    """As errors, or as a warning where nothing is to be done."""
    done = daemon.lttng(*words.split())
    assert done.status == status
    assert text in done.err
