"""What sessions of Python programs record of the kernel is what commands record."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import why_no_places, why_not
from support.recorded import build_program
from support.session_daemon import SECONDS, SessionDaemon, say, session_daemon
from vestige.control import ChannelStatistics, RecordingEventRule
from vestige.control.watching import Watch
from vestige.record.backends.kernel import counters

REASON = why_not()
needs_tracer = pytest.mark.skipif(
    REASON is not None, reason=f"no kernel tracer: {REASON}"
)
needs_program = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)
COUNT = 50


@pytest.fixture(scope="module")
def daemon() -> Iterator[SessionDaemon]:
    """A daemon that is that of this process, too."""
    with session_daemon() as one, pytest.MonkeyPatch.context() as patched:
        for name, value in one.environment.items():
            patched.setenv(name, value)
        started = one.start()
        assert started.returncode == 0, started.stderr
        yield one


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that makes a system call in a function, again and again."""
    return build_program(tmp_path_factory.mktemp("program"), "system_calls")


def run(program: str) -> int:
    """Run it; return its process ID."""
    with subprocess.Popen([program, str(COUNT)]) as process:
        assert process.wait(SECONDS) == 0
    return process.pid


def described(output: Path, process: int) -> Counter[tuple[object, ...]]:
    """Return what a trace has of a process, without times and places in memory."""
    return Counter(
        (
            one.name,
            *(f"{name}={value}" for name, value in one.payload.items() if name != "ip"),
            *map(str, one.context.items()),
        )
        for one in vestige.open(output)
        if one.context["pid"] == process
    )


@needs_tracer
@needs_program
def test_python_and_commands_record_the_same(daemon, program, tmp_path):
    """Of tracepoints, system calls and probes, with contexts, at the same time."""
    where = f"{program}:call"
    with vestige.Session("python", output=tmp_path / "python") as session:
        channel = session.kernel.add_channel("ch", subbuf_size="2M", num_subbuf=2)
        channel.enable_event("sched_process_*", filter='comm == "system_calls"')
        channel.enable_event("getpriority", type="syscall")
        channel.enable_event("call", type="userspace-probe", location=where)
        channel.add_context("pid", "procname")
        session.kernel.track(uid=os.getuid())
        say(
            daemon,
            f"create commands --output={tmp_path / 'commands'}",
            "enable-channel -k ch --subbuf-size=2M --num-subbuf=2",
            'enable-event -k -c ch sched_process_* --filter=comm=="system_calls"',
            "enable-event -k -c ch --syscall getpriority",
            f"enable-event -k -c ch --userspace-probe={where} call",
            "add-context -k -c ch -t pid -t procname",
            f"track -k --uid={os.getuid()}",
            "start",
        )
        session.start()
        process = run(program)
        assert session.stop() == (0, 0, None, ())
        say(daemon, "stop", "destroy commands")
        counted = session.kernel.statistics()["ch"].events
    found = described(tmp_path / "python", process)
    assert found == described(tmp_path / "commands", process)
    names = Counter(dict.fromkeys({name for name, *_ in found}, 0))
    for (name, *_), count in found.items():
        names[name] += count
    expected = ("call", "syscall_entry_getpriority", "syscall_exit_getpriority")
    assert {name: names[name] for name in expected} == dict.fromkeys(expected, COUNT)
    assert names["sched_process_exit"] == 1
    assert counted == len(vestige.open(tmp_path / "python"))


@needs_tracer
@pytest.mark.usefixtures("daemon")
def test_what_was_asked_for_can_be_read(tmp_path):
    """Rules, contexts and sets, at any time; also after the end."""
    mapped = Path("/proc/self/maps").read_text().split()
    library = next(one for one in mapped if "/libc.so" in one)
    with vestige.Session("s", output=tmp_path / "t") as session:
        kernel = session.kernel
        channel = kernel.add_channel("ch", subbuf_size="5k", num_subbuf=3)
        assert (channel.subbuf_size, channel.num_subbuf) == (8192, 4)
        assert (channel.overwrite, channel.is_enabled) == (False, True)
        channel.enable_event("sched_*", type="all", filter="$ctx.tid == 1")
        channel.enable_event("f", type="userspace-probe", location=f"{library}:malloc")
        channel.disable_event("sched_*", type="syscall")
        channel.add_context("pid", "procname")
        kernel.add_context("tid")
        kernel.track(pid=[3, 4], uid="root")
        kernel.untrack(pid=3, vgid="*")
        session.start()
        session.stop()
        channel.disable()
    assert channel.rules == (
        RecordingEventRule("sched_*", True, filter="$ctx.tid == 1"),
        RecordingEventRule("sched_*", False, "syscall", filter="$ctx.tid == 1"),
        RecordingEventRule("f", True, "userspace-probe", f"elf:{library}:malloc"),
    )
    assert channel.contexts == ("pid", "procname", "tid")
    assert not channel.is_enabled
    assert kernel.channels["ch"].rules == channel.rules
    assert session.channels == {}
    everybody = dict.fromkeys(("pid", "vpid", "uid", "vuid", "gid", "vgid"))
    only = {"pid": ("4",), "uid": ("root",), "vgid": ()}
    assert kernel.tracked == {**everybody, **only}
    assert kernel.gaps == ()
    assert kernel.statistics()["ch"].discarded == 0


@needs_tracer
@pytest.mark.usefixtures("daemon")
def test_channels_of_both_domains_are_counted_apart(tmp_path):
    """They may have the same name; who watches and notebooks see both."""
    with vestige.Session("s", output=tmp_path / "t") as session:
        session.enable_event("a:*")
        session.kernel.enable_event("getpid", type="syscall")
        session.kernel.track(pid=os.getpid())
        session.start()
        os.getpid()
        session.stop()
        shown = session._repr_html_()
        look = Watch(session.client).look()
        [seen] = [one for one in look.sessions if one.name == "s"]
    counted = session.kernel.statistics()["channel0"]
    assert counted.events == len(session.trace()) > 0
    watched = {one.name: one.counts.events for one in seen.channels}
    assert watched == {"kernel/channel0": counted.events, "channel0": 0}
    assert session.statistics() == {"channel0": ChannelStatistics(0, 0, 0, 0)}
    for label, rules in (
        ("kernel channel channel0", "getpid"),
        ("channel channel0", "a:*"),
    ):
        assert f"{label}</th><td style='text-align:left'>{rules}<" in shown


@needs_tracer
@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize(
    ("do", "error", "text"),
    [
        (
            lambda k: k.enable_event("x", filter="prio >"),
            "FILTER_INVAL",
            "session 's': event 'x': Invalid filter bytecode: filter 'prio >', column",
        ),
        (
            lambda k: k.enable_event(
                "f", type="userspace-probe", location="/no/such:f"
            ),
            "PROBE_LOCATION_INVAL",
            "/no/such: cannot be read: No such file",
        ),
        (
            lambda k: k.enable_event("f", type="probe", location="no_such_function"),
            "KERN_ENABLE_FAIL",
            "event 'f': Enable kernel event failed: no probe",
        ),
        (
            lambda k: k.add_channel("ch").add_context("pid", "bogus"),
            "KERN_CONTEXT_FAIL",
            "session 's': channel 'ch': context 'bogus': Add kernel context failed",
        ),
        (lambda k: k.add_context("ip"), "KERN_CONTEXT_FAIL", "context 'ip': "),
        (lambda k: k.track(gid="no-such"), "GROUP_NOT_FOUND", "'s': gid no-such: "),
        (lambda k: k.add_channel("a/b"), "INVALID_CHANNEL_NAME", "channel 'a/b': "),
        (
            lambda k: k.add_channel("ch").disable_event("x", type="probe"),
            "NO_EVENT",
            "channel 'ch': event 'x': Event not found",
        ),
    ],
)
def test_refusals_have_a_name(do, error, text):
    """And say what was asked."""
    with (
        vestige.Session("s", has_output=False) as session,
        pytest.raises(vestige.SessionError) as raised,
    ):
        do(session.kernel)
    assert raised.value.name == error
    assert text in str(raised.value)


@needs_tracer
@pytest.mark.usefixtures("daemon")
def test_a_counter_that_this_machine_has_not_is_refused():
    """With the reason."""
    name = f"perf:cpu:raw:r{'f' * 16}:none"
    reason = counters.why_not(name)
    assert reason is not None
    with (
        vestige.Session("s", has_output=False) as session,
        pytest.raises(vestige.SessionError) as raised,
    ):
        session.kernel.add_context(name)
    assert raised.value.name == "KERN_CONTEXT_UNAVAILABLE"
    assert raised.value.detail == reason


@needs_tracer
@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("sched_swich", "tracepoint", "called 'sched_swich'; there are 'sched_switch'"),
        ("syscall_exit_openat", "tracepoint", "enable_event('openat', type='syscall')"),
        ("opnat", "syscall", "no system call of this kernel is called 'opnat'"),
        ("no_such*", "all", "tracepoint or system call of this kernel matches 'no_s"),
    ],
)
def test_a_rule_that_matches_nothing_is_odd(name, kind, text):
    """It may wait for a module; where it was made is in the warning."""
    with vestige.Session(has_output=False) as session:
        with pytest.warns(vestige.VestigeWarning) as caught:
            session.kernel.enable_event(name, type=kind)
        assert len(session.kernel.channels["channel0"].rules) == 1 + (kind == "all")
    [warning] = caught
    assert text in str(warning.message)
    assert warning.filename == __file__


@pytest.mark.usefixtures("daemon")
@pytest.mark.parametrize(
    ("do", "text"),
    [
        (lambda s: s.kernel.enable_event("a", type="sycall"), "type='sycall': expect"),
        (lambda s: s.kernel.enable_event("a", type="probe"), "location=None: expected"),
        (lambda s: s.kernel.enable_event("a", location="f"), "location='f': expected"),
        (lambda s: s.kernel.add_channel(subbuf_size="big"), "'big': expected a number"),
        (
            lambda s: s.enable_event("a", domain="kernel"),
            "'log4j', 'python'; events of the kernel: session.kernel.enable_event",
        ),
    ],
)
def test_what_is_no_value_is_never_asked(do, text):
    """Whether the kernel can be recorded or not."""
    with (
        vestige.Session("s", has_output=False) as session,
        pytest.raises(vestige.SelectionError) as raised,
    ):
        do(session)
    assert text in str(raised.value)


@needs_tracer
@pytest.mark.usefixtures("daemon")
def test_what_there_is_is_listed():
    """As ``list --kernel`` has it."""
    with vestige.Session(has_output=False) as session:
        assert session.kernel.unavailable_because() is None
        assert "sched_switch" in session.kernel.tracepoints()
        assert "openat" in session.kernel.syscalls()


@pytest.mark.skipif((why := why_no_places()) is not None, reason=str(why))
@pytest.mark.usefixtures("daemon")
def test_functions_of_the_kernel_are_recorded(tmp_path):
    """Where it takes probes (``make other-kernels``)."""
    function = "cmdline_proc_show"
    with vestige.Session("s", output=tmp_path / "t") as session:
        session.kernel.enable_event("place", type="probe", location=function)
        session.kernel.enable_event("call", type="function", location=function)
        session.kernel.track(pid=os.getpid())
        session.start()
        Path("/proc/cmdline").read_bytes()
        session.stop()
    found = Counter(one.name for one in session.trace())
    assert found == dict.fromkeys(("place", "call_entry", "call_exit"), 1)


def test_without_the_kernel_it_is_said_why(monkeypatch):
    """With the reason as a value; user space goes on."""
    is_root = os.geteuid() == 0
    with session_daemon() as home:
        for name, value in home.environment.items():
            monkeypatch.setenv(name, value)
        home.start("--no-kernel")
        with vestige.Session("s", has_output=False) as session:
            reason = session.kernel.unavailable_because()
            with pytest.raises(vestige.SessionError) as raised:
                session.kernel.enable_event("sched_switch")
            session.enable_event("a:*")
            assert session.kernel.channels == session.kernel.statistics() == {}
    if is_root:
        assert reason == raised.value.detail
        assert reason == "the session daemon was started with --no-kernel"
        assert str(raised.value) == (
            "session 's': event 'sched_switch': Kernel tracer not available: " + reason
        )
    else:
        assert reason == raised.value.message
        assert "requires a root lttng-sessiond daemon" in reason
    assert raised.value.name == (
        "KERNEL_NOT_AVAILABLE" if is_root else "NEED_ROOT_SESSIOND"
    )
