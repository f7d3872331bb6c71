"""Channels, rules and inclusion sets of the kernel, as LTTng's commands show them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

import vestige
from support.kernel_tracer import why_not
from support.session_daemon import SessionDaemon
from vestige.daemon.xml_reader import parse_xml
from vestige.record.backends.kernel import counters

REASON = why_not()
pytestmark = pytest.mark.skipif(REASON is not None, reason=str(REASON))


def library() -> str:
    """Return the C library that is mapped here."""
    mapped = Path("/proc/self/maps").read_text().split()
    return next(one for one in mapped if "/libc.so" in one)


@pytest.fixture
def daemon(daemon: SessionDaemon) -> SessionDaemon:
    """A daemon with a session."""
    daemon.lttng("create", "s1", "--output=/tmp/s1")
    return daemon


def test_a_channel_has_the_attributes_of_lttng(daemon):
    """Four sub-buffers of 1 MiB, taken out by splice."""
    daemon.lttng("enable-channel", "-k", "--buffers-global", "c")
    shown = daemon.lttng("list", "s1").out
    assert "=== Domain: Linux kernel ===\n\nTracked process attributes\n" in shown
    assert "Buffering scheme" not in shown
    for line in (
        "Sub-buffer size:  1048576 bytes",
        "Sub-buffer count: 4",
        "Read timer:       200000 us",
        "Output mode:      splice",
    ):
        assert f"      {line}\n" in shown


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ("--blocking-timeout=inf", 1, "Retry timeout option not supported for kernel"),
        ("--buffers-uid", 1, "Buffer type not supported for domain -k"),
        ("--buffers-pid", 1, "Buffer type not supported for domain -k"),
        ("--subbuf-size=0", 1, "Wrong value in --subbuf-size parameter: 0"),
        ("--overwrite --num-subbuf=1", 1, "Channel c: Invalid parameter (session s1)"),
        ("-s nosuch", 1, "Channel c: Session name not found (session nosuch)"),
    ],
)
def test_a_channel_that_cannot_be_is_refused(daemon, words, status, text):
    """In LTTng's words."""
    done = daemon.lttng("enable-channel", "-k", "c", *words.split())
    assert (done.status, done.out) == (status, "")
    assert text in done.err
    assert "Linux kernel" not in daemon.lttng("list", "s1").out


def test_both_domains_have_channels_of_the_same_name(daemon):
    """As in LTTng: each is enabled and disabled for itself."""
    daemon.lttng("enable-channel", "-u", "c")
    daemon.lttng("enable-channel", "-k", "c")
    twice = daemon.lttng("enable-channel", "-k", "c")
    said = "Warning: Channel c: Kernel channel already exists (session s1)\n"
    assert twice == (4, "", said)
    daemon.lttng("disable-channel", "-k", "c")
    shown = daemon.lttng("list", "s1").out
    kernel, user = shown.split("=== Domain: User space ===")
    assert "- c: [disabled]" in kernel
    assert "- c: [enabled]" in user
    gone = daemon.lttng("disable-channel", "-k", "d")
    said = "Error: Channel d: Kernel channel not found (session s1)\n"
    assert gone == (4, "", said)


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["x*", "-x", "xy"], 1, "Event name exclusions are not yet implemented for k"),
        (["-f", "prio >", "sched_wakeup"], 106, "Invalid filter bytecode (channel"),
        (["--probe=%", "p"], 1, "Unable to parse probe options"),
        (["--function=+3", "p"], 1, "Unable to parse function probe options"),
        (["--userspace-probe=x", "p"], 1, "Unable to parse userspace probe options"),
        (
            ["--userspace-probe=/no/such:f", "p"],
            1,
            "Cannot find binary at path: /no/such.",
        ),
        (["--userspace-probe=/bin/sh:0x40", "p"], 5, "Userspace probe on address not"),
        (["--userspace-probe=/bin/sh:f+4", "p"], 5, "Userspace probe on symbol+offset"),
        (["--probe=f", "-f", "a == 1", "p"], 1, "not supported for probe events"),
        (["--userspace-probe=/etc/passwd:f", "p"], 138, "not an ELF file (channel"),
        ([f"--userspace-probe={library()}:maloc", "p"], 138, "there are 'malloc', "),
        ([f"--userspace-probe=sdt:{library()}:no:such", "p"], 138, "no probe no:such"),
        (["--probe=no_such_symbol", "p"], 43, "Enable kernel event failed: no probe p"),
        (["--function=no_such", "p"], 43, "Enable kernel event failed: no probe p"),
        (["--probe=f", "--syscall", "p"], 1, "Multiple event type not supported."),
        (["--probe=f"], 1, "Missing event name(s)."),
        (["a", "b"], 1, "Unknown argument: b"),
        (["--probe=f", "--all"], 1, "Missing event name(s)."),
    ],
)
def test_a_rule_that_cannot_be_is_refused(daemon, words, status, text):
    """In LTTng's words; no channel is made for it."""
    done = daemon.lttng("enable-event", "-k", *words)
    assert (done.status, done.out) == (status, "")
    assert text in done.err
    assert "Linux kernel" not in daemon.lttng("list", "s1").out


def test_a_rule_that_waits_is_told(daemon):
    """As in LTTng, a tracepoint may come later; who has mistyped it learns it."""
    done = daemon.lttng("enable-event", "-k", "sched_swich")
    said = "no tracepoint of this kernel is called 'sched_swich'"
    hint = "did you mean 'sched_switch'?"
    made = "kernel event sched_swich created in channel channel0\n"
    assert done == (0, made, f"Warning: {said}; {hint}\n")
    done = daemon.lttng("enable-event", "-k", "--syscall", "opnat")
    assert done.status == 0
    assert "no system call of this kernel is called 'opnat'; did you mean" in done.err


def test_log_levels_are_of_user_space(daemon):
    """The rule is made without one."""
    done = daemon.lttng("enable-event", "-k", "sched_switch", "--loglevel=INFO")
    assert (done.status, done.err) == (
        0,
        "Warning: Kernel loglevels are not supported.\n",
    )


def test_a_rule_that_is_there_is_told(daemon):
    """With LTTng's statuses; all events are two rules."""
    daemon.lttng("enable-event", "-k", "sched_switch")
    done = daemon.lttng("enable-event", "-k", "sched_switch")
    where = "(channel channel0, session s1)"
    said = f"Warning: Kernel event sched_switch already enabled {where}\n"
    assert done == (35, "", said)
    daemon.lttng("enable-event", "-k", "--syscall", "-a")
    assert daemon.lttng("enable-event", "-k", "-a").status == 0
    done = daemon.lttng("enable-event", "-k", "-a")
    assert done == (4, "", f"Warning: Kernel events already enabled {where}\n")


def test_rules_are_disabled_by_type(daemon):
    """The same name may be a tracepoint and a system call."""
    daemon.lttng("enable-event", "-k", "-a")
    done = daemon.lttng("disable-event", "-k", "--syscall", "*")
    where = "in channel channel0 for session s1"
    assert done == (0, f"kernel * of type syscall disabled {where}\n", "")
    shown = daemon.lttng("list", "s1").out
    assert "* (type:syscall) [disabled]" in shown
    assert "(type: tracepoint) [enabled]" in shown
    done = daemon.lttng("disable-event", "-k", "--probe", "*")
    where = "(channel channel0, session s1)"
    assert done == (29, "", f"Error: * of type probe : Event not found {where}\n")
    done = daemon.lttng("disable-event", "-k", "-c", "nosuch", "x")
    assert done.status == 39
    done = daemon.lttng("disable-event", "-k", "--probe", "--syscall", "*")
    assert done.err == "Error: Multiple event type not supported.\n"


def test_contexts_are_those_of_the_kernel(daemon):
    """Adding one twice is none the less done; user space has others."""
    done = daemon.lttng("add-context", "-k", "-t", "pid", "-t", "pid", "-t", "ip")
    added = "kernel context pid added to all channels\n"
    assert done == (4, 2 * added, "Error: ip: Add kernel context failed\n")


def test_counters_that_the_machine_has_are_contexts(daemon, tmp_path):
    """Others are refused with the reason; a saved session has them again."""
    if (why := counters.why_not("perf:cpu:cs")) is not None:
        pytest.skip(why)
    none = f"perf:cpu:raw:r{'f' * 16}:none"
    daemon.lttng("destroy", "s1")
    daemon.lttng("create", "s1", f"--output={tmp_path}/out")
    daemon.lttng("enable-event", "-k", "sched_switch")
    done = daemon.lttng("add-context", "-k", "-t", "perf:cpu:cs", "-t", none)
    added = "kernel context perf:cpu:cs added to all channels\n"
    reason = "Context unavailable on this kernel: this machine has no such counter"
    assert done == (4, added, f"Error: {none}: {reason}\n")
    daemon.lttng("save", "s1", "-o", str(tmp_path))
    daemon.lttng("destroy", "s1")
    done = daemon.lttng("load", "s1", "-i", str(tmp_path))
    assert (done.status, done.err) == (0, "")
    daemon.lttng("start", "s1")
    daemon.lttng("stop", "s1")
    [metadata] = tmp_path.rglob("kernel/metadata")
    assert " _perf_cpu_cs;" in metadata.read_text()


def test_inclusion_sets_are_those_of_the_kernel(daemon):
    """Six of them, which have nothing to do with those of user space."""
    daemon.lttng("track", "-k", "--pid=3,4", "--uid=root")
    daemon.lttng("untrack", "-k", "--vgid", "--all")
    shown = daemon.lttng("list", "s1").out
    assert shown.count("Domain: ") == 1
    for line in (
        "Process IDs:          3, 4",
        "Virtual process IDs:  all",
        "User IDs:             `root`",
        "Virtual user IDs:     all",
        "Group IDs:            all",
        "Virtual group IDs:    none",
    ):
        assert f"  {line}\n" in shown
    done = daemon.lttng("track", "-k", "--gid=no-such")
    assert (done.status, done.err) == (1, "Error: Group `no-such` was not found\n")


def set_up(daemon: SessionDaemon) -> None:
    """Make a session with some of everything."""
    enable = ("enable-event", "-k", "-c", "c")
    daemon.lttng("enable-channel", "-k", "--overwrite", "--output=mmap", "c")
    daemon.lttng(*enable, "sched_switch", "-f", 'prev_comm == "a<b"')
    daemon.lttng(*enable, "--syscall", "openat")
    daemon.lttng(*enable, f"--userspace-probe={library()}:malloc", "allocated")
    daemon.lttng("disable-event", "-k", "-c", "c", "--syscall", "openat")
    daemon.lttng("add-context", "-k", "-t", "procname", "-t", "callstack-kernel")
    daemon.lttng("track", "-k", "--vpid=3,4", "--gid=root")
    daemon.lttng("enable-event", "-u", "x")


def test_a_saved_session_is_loaded_as_it_was(daemon, tmp_path):
    """What is shown of it is the same, and so is what is saved again."""
    set_up(daemon)
    shown = daemon.lttng("list", "s1").out
    assert "      allocated (type: userspace-probe) [enabled]\n" in shown
    machine = daemon.lttng("--mi", "xml", "list", "s1").out
    daemon.lttng("save", "s1", "-o", str(tmp_path))
    text = (tmp_path / "s1.lttng").read_text()
    daemon.lttng("destroy", "s1")
    loaded = daemon.lttng("load", "-i", str(tmp_path), "s1")
    assert loaded == (0, "Session s1 has been loaded successfully\n", "")
    assert daemon.lttng("list", "s1").out == shown
    assert daemon.lttng("--mi", "xml", "list", "s1").out == machine
    daemon.lttng("save", "-f", "-o", str(tmp_path))
    assert (tmp_path / "s1.lttng").read_text() == text


def test_inclusion_sets_change_while_it_records(daemon, tmp_path):
    """Nothing is recorded until there is a value, and then of that process alone."""
    daemon.lttng("create", "s2", f"--output={tmp_path / 'trace'}")
    daemon.lttng("enable-event", "-k", "--syscall", "read,write")
    daemon.lttng("untrack", "-k", "--pid", "--all")
    daemon.lttng("start")
    with subprocess.Popen(
        ["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def say(text: str) -> None:
            process.stdin.write(text)
            process.stdin.flush()
            assert process.stdout.readline() == text

        say("before\n")
        done = daemon.lttng("track", "-k", f"--pid={process.pid}")
        assert done.status == 0
        say("within\n")
        daemon.lttng("untrack", "-k", "--pid", "--all")
        say("after\n")
    daemon.lttng("destroy", "s2")
    found = [*vestige.open(tmp_path / "trace")]
    calls = [one for one in found if one.name.startswith("syscall_")]
    assert {one.context["tid"] for one in calls} == {process.pid}
    written = [one for one in calls if one.name == "syscall_entry_write"]
    assert [one["count"] for one in written] == [len("within\n")]


OF_LTTNG = """<?xml version="1.0" encoding="UTF-8"?>
<sessions><session><name>k</name><domains><domain><type>KERNEL</type>
<buffer_type>GLOBAL</buffer_type><channels><channel><name>c</name>
<enabled>true</enabled><overwrite_mode>DISCARD</overwrite_mode>
<subbuffer_size>262144</subbuffer_size><subbuffer_count>8</subbuffer_count>
<switch_timer_interval>0</switch_timer_interval>
<read_timer_interval>200000</read_timer_interval><output_type>SPLICE</output_type>
<tracefile_size>0</tracefile_size><tracefile_count>0</tracefile_count>
<live_timer_interval>0</live_timer_interval>
<monitor_timer_interval>1000000</monitor_timer_interval>
<blocking_timeout>0</blocking_timeout><events>
<event><name>sched_switch</name><enabled>true</enabled><type>TRACEPOINT</type>
<filter>prev_prio &lt; 3</filter></event>
<event><enabled>true</enabled><type>SYSCALL</type></event>
<event><name>f</name><enabled>true</enabled><type>FUNCTION</type><attributes>
<probe_attributes><symbol_name>do_exit</symbol_name></probe_attributes>
</attributes></event>
<event><name>p</name><enabled>true</enabled><type>PROBE</type><attributes>
<probe_attributes><address>16776976</address></probe_attributes></attributes></event>
<event><name>u</name><enabled>false</enabled><type>USERSPACE_PROBE</type><attributes>
<userspace_probe_tracepoint_attributes><lookup_method>SDT</lookup_method>
<binary_path>/bin/sh</binary_path><provider_name>p</provider_name>
<probe_name>q</probe_name></userspace_probe_tracepoint_attributes></attributes></event>
</events><contexts><context><type>PRIO</type></context></contexts></channel></channels>
<process_attr_trackers><uid_process_attr_tracker><process_attr_values>
<uid><name>root</name></uid></process_attr_values></uid_process_attr_tracker>
</process_attr_trackers></domain></domains><started>false</started>
<output><consumer_output><enabled>true</enabled><destination><path>/tmp/k</path>
</destination></consumer_output></output></session></sessions>"""


def test_a_session_that_lttng_saved_is_loaded(daemon, tmp_path):
    """In the form in which its daemon writes the kernel's domain."""
    path = tmp_path / "k.lttng"
    path.write_text(OF_LTTNG)
    done = daemon.lttng("load", "-i", str(path))
    assert (done.status, done.err) == (0, "")
    shown = daemon.lttng("list", "k").out
    point = "sched_switch (loglevel: TRACE_EMERG (0)) (type: tracepoint)"
    for line in (
        "  User IDs:             `root`",
        "      Sub-buffer size:  262144 bytes",
        f"      {point} [enabled] [filter: 'prev_prio < 3']",
        "      * (type:syscall) [enabled]",
        "      f (type: function) [enabled]\n        offset: 0x0",
        "        symbol: do_exit",
        "      p (type: probe) [enabled]\n        addr: 0xffff10",
        "      u (type: userspace-probe) [disabled]",
        "        Tracepoint:    p:q",
    ):
        assert f"{line}\n" in shown


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("<address>16776976</address>", "", "expected a symbol and an offset from 0"),
        ("SYSCALL", "NOOP", "no event type 'NOOP': expected TRACEPOINT, SYSCALL"),
        ("SPLICE", "NET", "output_type 'NET': expected MMAP or SPLICE"),
        ("<symbol_name>do_exit</symbol_name>", "<address>x</address>", "address: exp"),
        ("userspace_probe_tracepoint_attributes", "other", "event rule 'u': "),
        ("prev_prio &lt; 3", "prev_prio &lt;", "event rule 'sched_switch': "),
        ("PRIO", "IP", "context 'ip': Add kernel context failed"),
        ("<name>root</name>", "<name>no-such</name>", "uid 'no-such': User not found"),
        (">0</blocking", ">7</blocking", "channel 'c': Invalid parameter"),
        (
            ">/bin/sh<",
            ">/no/such<",
            "event rule 'u': /no/such: cannot be read: No such",
        ),
    ],
)
def test_a_document_that_is_none_is_refused(daemon, tmp_path, old, new, text):
    """With what is wrong."""
    path = tmp_path / "k.lttng"
    assert old in OF_LTTNG
    path.write_text(OF_LTTNG.replace(old, new))
    done = daemon.lttng("load", "-i", str(path))
    assert done.status == 1
    assert text in done.err


def test_the_machine_interface_tells_the_kernel(daemon):
    """With LTTng's elements."""
    set_up(daemon)
    shown = daemon.lttng("--mi", "xml", "list", "s1").out
    [session] = parse_xml(shown).all("output/sessions/session")
    kernel, user = session.all("domains/domain")
    assert [kernel.value("type"), user.value("type")] == ["KERNEL", "UST"]
    assert kernel.value("buffer_type") == "GLOBAL"
    rules = kernel.all("channels/channel/events/event")
    types = [one.value("type") for one in rules]
    assert types == ["TRACEPOINT", "SYSCALL", "USERSPACE_PROBE"]
    calls = parse_xml(daemon.lttng("--mi", "xml", "list", "-k", "--syscall").out)
    names = [one.value("name") for one in calls.all("output/events/event")]
    assert "openat" in names


def test_a_link_to_a_program_is_saved_as_one(daemon, tmp_path):
    """It may lead elsewhere when the session is loaded; lists show what is there."""
    link = tmp_path / "link"
    link.symlink_to(library())
    daemon.lttng("enable-event", "-k", f"--userspace-probe={link}:malloc", "m")
    shown = daemon.lttng("list", "s1").out
    assert f"Binary path:   {link.resolve()}\n" in shown
    daemon.lttng("save", "s1", "-o", str(tmp_path))
    saved = (tmp_path / "s1.lttng").read_text()
    assert f"<binary_path>{link}</binary_path>" in saved
