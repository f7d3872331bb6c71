"""The verbs of triggers say and return what LTTng's do."""

from __future__ import annotations

import os
import signal
from unittest import mock

import pytest

from support.session_daemon import say
from vestige.daemon.client import Client
from vestige.errors import SessionError

RULE = ["--condition", "event-rule-matches", "--type=user"]
NOTIFY = ["--action", "notify"]


@pytest.fixture
def daemon(daemon):
    """A daemon without triggers."""
    for line in daemon.lttng("list-triggers").out.splitlines():
        if line.startswith("- name: "):
            daemon.lttng("remove-trigger", line.removeprefix("- name: "))
    return daemon


def listed(daemon, *words):
    """Add a trigger and return how it is listed, without what all have."""
    done = daemon.lttng("add-trigger", "--name=t", *words)
    assert (done.status, done.out, done.err) == (0, "Added trigger `t`.\n", "")
    done = daemon.lttng("list-triggers")
    assert (done.status, done.err) == (0, "")
    start, *rest, end = done.out.splitlines()
    assert start == "- name: t"
    assert rest.pop(0) == f"  owner uid: {os.getuid()}"
    assert end == "  errors: none"
    return [one.strip() for one in rest if one.strip() != "errors: none"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "* (type: user tracepoint)"),
        (
            ["--name=a:*", "-x", "a:b", "--exclude-name=a:c", "-f", "n > 3"],
            "a:* (type: user tracepoint, filter: n > 3, exclusions: a:b,a:c)",
        ),
        (["--log-level=.."], "* (type: user tracepoint)"),
        (["-l", "INFO"], "* (type: user tracepoint, log level is INFO)"),
        (["-l", "TRACE_ERR.."], "* (type: user tracepoint, log level at least ERR)"),
        (
            ["-l", "LINE..EMERG"],
            "* (type: user tracepoint, log level at least DEBUG_LINE)",
        ),
    ],
)
def test_rules_are_listed(daemon, words, text):
    """Names, filters, exclusions, levels."""
    shown = listed(daemon, *RULE, *words, *NOTIFY)
    assert shown[:2] == ["condition: event rule matches", f"rule: {text}"]


@pytest.mark.parametrize(
    ("kind", "level", "text"),
    [
        ("jul", "INFO..", "jul:logging, log level at least INFO"),
        ("log4j:logging", "FATAL", "log4j:logging, log level is FATAL"),
        ("python", "DEBUG..CRITICAL", "python:logging, log level at least DEBUG"),
    ],
)
def test_rules_of_loggers(daemon, kind, level, text):
    """All of them take ranges."""
    rule = ["--condition=event-rule-matches", f"--type={kind}", "-n", "log"]
    shown = listed(daemon, *rule, f"--log-level={level}", *NOTIFY)
    assert shown[1] == f"rule: log (type: {text})"


def test_captures_are_listed(daemon):
    """Fields, contexts, elements."""
    fields = ["a", "$ctx.vpid", "$app.p:t", "a[0x10]", "$ctx.x[3]", "$app.p:t[1]"]
    words = [f"--capture={one}" for one in fields]
    shown = listed(daemon, *RULE, *words, *NOTIFY)
    fields[3] = "a[16]"
    assert shown[2:9] == ["captures:", *(f"- {one}" for one in fields)]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["notify", "--rate-policy=every:1"], "notify"),
        (["notify", "--rate-policy", "every:3"], "notify, rate policy: every 3"),
        (
            ["start-session", "s", "--rate-policy=once-after:2"],
            "start session `s`, rate policy: once after 2",
        ),
        (["stop-session", "s"], "stop session `s`"),
        (["rotate-session", "s"], "rotate session `s`"),
        (
            ["snapshot-session", "s", "--path=/a", "-m", "4k", "-n", "m"],
            "snapshot session `s`, path: /a, name: m, max size: 4096",
        ),
        (
            ["snapshot-session", "s", "--url=file:///b"],
            "snapshot session `s`, path: /b",
        ),
        (
            ["snapshot-session", "s", "--url=net://1.2.3.4"],
            "snapshot session `s`, url: net://1.2.3.4",
        ),
    ],
)
def test_actions_are_listed(daemon, words, text):
    """Sessions, outputs, rate policies."""
    *_, start, shown = listed(daemon, *RULE, "--action", *words)
    assert start == "actions:"
    assert shown.removesuffix(" occurrences") == text


CONDITIONS = "Valid condition names are:\nError:   event-rule-matches"
ACTIONS = "Valid action names are:\nError:   notify"
OPERATORS = "operators are not allowed in capture expressions."


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ([], "Missing --condition."),
        (["--action", "notify"], "Missing --condition."),
        ([*RULE], "Need at least one --action."),
        (
            ["--hello"],
            "While parsing argument #2 (`--hello`): Unknown option `--hello`",
        ),
        (
            ["--name"],
            (
                "While parsing argument #2 (`--name`): Missing required argument for "
                "option `--name`"
            ),
        ),
        (
            ["--condition"],
            (
                "While parsing argument #2 (`--condition`): Missing required argument for "
                f"option `--condition`\nError: {CONDITIONS}"
            ),
        ),
        (
            ["--condition=x"],
            (
                "While parsing argument #2 (`--condition=x`): Unknown condition name 'x'\n"
                f"Error: {CONDITIONS}"
            ),
        ),
        (
            [*RULE, "--action", "x"],
            (
                "While parsing argument #5 (`--action`): Unknown action name 'x'\n"
                f"Error: {ACTIONS}"
            ),
        ),
        (
            [*RULE, *NOTIFY, "--rate-policy"],
            (
                "While parsing `notify` action:: While parsing argument #7 "
                "(`--rate-policy`): Missing required argument for option `--rate-policy`"
            ),
        ),
        ([*RULE, *RULE, *NOTIFY], "A --condition was already given."),
        ([*RULE, "--type=user"], "More than one `--type` was specified."),
        ([*RULE, "-na", "-nb"], "Duplicate '--name/-n' given."),
        ([*RULE, "x"], "Unexpected argument 'x'"),
        ([*RULE, *NOTIFY, "x"], "Unexpected argument `x`."),
        ([*RULE, "--action", "stop-session"], "Missing session name."),
        ([*RULE, "-lFOO"], "Failed to parse log level string `FOO`."),
        ([*RULE, "-linfo"], "Failed to parse log level string `info`."),
        ([*RULE, "-l..INFO"], "Failed to parse log level string `..INFO`."),
        ([*RULE, "-lINFO..ERR"], "Failed to parse log level string `INFO..ERR`."),
        ([*RULE, "-Lx"], "Can't use --location with user tracepoint event rules."),
        (
            [*RULE, "-na", "-xb"],
            "Event a: Exclusions can only be used with a globbing pattern",
        ),
        (
            [*RULE, "--capture", "a == 2"],
            f"While parsing expression `a == 2`: Binary {OPERATORS}",
        ),
        (
            [*RULE, "--capture", "!(a || b)"],
            f"While parsing expression `!(a || b)`: Unary {OPERATORS}",
        ),
        (
            [*RULE, "--capture", "--action"],
            f"While parsing expression `--action`: Unary {OPERATORS}",
        ),
        (
            [*RULE, "--capture", "a || b"],
            f"While parsing expression `a || b`: Logical {OPERATORS}",
        ),
        (
            [*RULE, "--capture", "a[3].b"],
            "While parsing expression `a[3].b`: Capturing subfields is not supported.",
        ),
        ([*RULE, "--capture", "5"], "Failed to parse capture expression `5`."),
        (
            [*RULE, "--capture", "$app.p"],
            "Invalid app-specific context field name: missing colon in `p`.",
        ),
        ([*RULE, *NOTIFY, "--rate-policy=every"], "Rate policy format is invalid."),
        (
            [*RULE, *NOTIFY, "--rate-policy=every:"],
            "Failed to parse rate policy value `` as an integer.",
        ),
        ([*RULE, *NOTIFY, "--rate-policy=x:1"], "Rate policy type `x` unknown."),
        (
            [*RULE, *NOTIFY, "--rate-policy=every:0"],
            "Rate policy value `0` must be > 0.",
        ),
        (
            [*RULE, "--action", "snapshot-session", "s", "-m", "1M"],
            (
                "Can't provide a snapshot output max size without a snapshot output "
                "destination."
            ),
        ),
        (
            [*RULE, "--action", "snapshot-session", "s", "--path=net://1.2.3.4/"],
            "Failed to parse 'net://1.2.3.4/' as a local path.",
        ),
        (["--condition=event-rule-matches"], "Event rule requires a --type."),
        (
            ["--condition=event-rule-matches", "--type=x"],
            "Invalid `--type` value: x",
        ),
        (
            ["--condition=event-rule-matches", "--type=kprobe"],
            "Event rule of type kernel kprobe requires a --location.",
        ),
        (
            ["--condition=event-rule-matches", "--type=syscall:x"],
            "Failed to parse syscall type 'syscall:x'.",
        ),
        (["--owner-uid=x", *RULE, *NOTIFY], "Failed to parse `x` as a user id."),
    ],
)
def test_wrong_command_lines(daemon, words, text):
    """What is wrong is said as LTTng says it, and nothing is added."""
    assert daemon.lttng("add-trigger", *words) == (1, "", f"Error: {text}\n")
    assert daemon.lttng("list-triggers").out == ""


def test_names(daemon):
    """One is unique; without one, there is another each time."""
    say(daemon, f"add-trigger --name=t {' '.join(RULE)} --action notify")
    done = daemon.lttng("add-trigger", "--name", "t", *RULE, *NOTIFY)
    text = "Failed to register trigger: Trigger already registered."
    assert (done.status, done.err) == (1, f"Error: {text}\n")
    made = [daemon.lttng("add-trigger", *RULE, *NOTIFY).out for _ in range(2)]
    numbers = [int(one.split("`")[1].removeprefix("trigger")) for one in made]
    assert numbers[1] == numbers[0] + 1
    assert daemon.lttng("remove-trigger", "t").out == "Removed trigger `t`.\n"
    done = daemon.lttng("remove-trigger", "t")
    assert (done.status, done.err) == (
        1,
        "Error: Couldn't find trigger with name `t`.\n",
    )


def test_filters_are_checked(daemon):
    """The daemon says what a filter lacks."""
    done = daemon.lttng("add-trigger", *RULE, "-f", "n >", *NOTIFY)
    assert done.status == 1
    assert done.err.endswith(
        "Error: Failed to register trigger: Invalid filter bytecode.\n"
    )


def test_no_daemon(home):
    """What each verb says."""
    none = "No session daemon is available."
    done = home.lttng("list-triggers")
    assert (done.status, done.err) == (1, f"Error: Error listing triggers: {none}\n")
    done = home.lttng("add-trigger", *RULE, *NOTIFY)
    assert (done.status, done.err) == (
        1,
        f"Error: Failed to register trigger: {none}\n",
    )


def test_machine_interface(daemon):
    """An action that rotates ends LTTng's command; here it has its element."""
    words = ["--name=t", *RULE, "-n", "a", "-l", "ERR.."]
    actions = ["--action", "rotate-session", "s", "--rate-policy=once-after:3"]
    done = daemon.lttng("--mi", "xml", "add-trigger", *words, *actions)
    rule = (
        "<event_rule_user_tracepoint><name_pattern>a</name_pattern><log_level_rule>"
        "<log_level_rule_at_least_as_severe_as><level>3</level>"
        "</log_level_rule_at_least_as_severe_as></log_level_rule>"
        "</event_rule_user_tracepoint>"
    )
    action = (
        "<action_rotate_session><session_name>s</session_name><rate_policy>"
        "<rate_policy_once_after_n><threshold>3</threshold></rate_policy_once_after_n>"
        "</rate_policy></action_rotate_session>"
    )
    assert rule in done.out
    assert f"<action_list><action>{action}</action></action_list>" in done.out
    assert "error_query" not in done.out
    assert done.out.endswith("<success>true</success></command>\n")
    done = daemon.lttng("--mi", "xml", "list-triggers")
    assert "<command" in done.out
    assert "<name>list-trigger</name>" in done.out
    assert f"<action>{action}<error_query_results>" in done.out
    assert done.out.endswith("</triggers></output></command>\n")
    done = daemon.lttng("--mi", "xml", "remove-trigger", "x")
    assert done.out.endswith("<output/><success>false</success></command>\n")


def test_triggers_survive_their_daemon(home):
    """One that was killed leaves them to the next; one that ended does not."""
    assert home.start().returncode == 0
    say(home, f"add-trigger --name=t {' '.join(RULE)} -n a:b --action notify")
    before = home.lttng("list-triggers").out
    home.end(signal.SIGKILL)
    assert home.start().returncode == 0
    assert home.lttng("list-triggers").out == before
    home.end()
    assert home.start().returncode == 0
    assert home.lttng("list-triggers").out == ""


def client_of(daemon):
    """Connect to the daemon."""
    with mock.patch.dict("os.environ", daemon.environment):
        return Client.connect()


def test_triggers_that_only_programs_see(daemon):
    """Commands neither list nor remove what was registered without a name."""
    trigger = {
        "name": "anonymous-1",
        "is_anonymous": True,
        "condition": {"type": "session-rotation-ongoing", "session": "s"},
        "action": {"type": "notify"},
    }
    client = client_of(daemon)
    client.register_trigger(trigger)
    assert [one["is_anonymous"] for one in client.triggers()] == [True]
    assert daemon.lttng("list-triggers").out == ""
    assert "anonymous" not in daemon.lttng("--mi=xml", "list-triggers").out
    assert daemon.lttng("remove-trigger", "anonymous-1").status == 1
    client.ask("unregister-trigger", name="anonymous-1", is_anonymous=True)
    assert client.triggers() == []
    client.close()


@pytest.mark.parametrize("owner", ["-1", "4294967295", "100000000000000000000"])
def test_a_user_that_cannot_be(daemon, owner):
    """Is nobody's trigger."""
    done = daemon.lttng("add-trigger", f"--owner-uid={owner}", *RULE, *NOTIFY)
    assert done.status == 1
    assert daemon.lttng("list-triggers").out == ""


def client_as(daemon, uid):
    """Connect to the daemon as another user."""
    for folder in (daemon.home, daemon.run_folder):
        folder.chmod(0o711)
    (daemon.run_folder / "client-vestige-sessiond").chmod(0o666)
    os.seteuid(uid)
    try:
        return Client.connect(folder=str(daemon.run_folder))
    finally:
        os.seteuid(0)


def refusal(client, verb, **values):
    """Return how the daemon refuses."""
    with pytest.raises(SessionError) as raised:
        client.ask(verb, **values)
    return raised.value.name


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_triggers_of_other_users(daemon):
    """Are root's to add, to see and to remove, and nobody else's."""
    uid = 61234
    user, other = client_as(daemon, uid), client_as(daemon, 61235)
    rule = {"type": "event-rule-matches", "rule": {"type": "user-tracepoint"}}
    trigger = {"name": "t", "condition": rule, "action": {"type": "notify"}}

    def seen(client):
        return [(one["name"], one["owner_uid"]) for one in client.triggers()]

    assert user.register_trigger(trigger)["owner_uid"] == uid
    say(
        daemon,
        f"add-trigger --name=t {' '.join(RULE)} --action=notify",
        f"add-trigger --name=u --owner-uid={uid} {' '.join(RULE)} --action=notify",
    )
    for owner in (0, 61235):
        values = {"trigger": {**trigger, "owner_uid": owner}}
        assert refusal(user, "register-trigger", **values) == "EPERM"
        gone = {"name": "t", "owner_uid": owner}
        assert refusal(user, "unregister-trigger", **gone) == "EPERM"
    assert seen(user) == [("t", uid), ("u", uid)]
    assert seen(other) == []
    assert refusal(other, "unregister-trigger", name="t") == "TRIGGER_NOT_FOUND"
    assert daemon.lttng("list-triggers").out.count("owner uid: ") == 3
    user.unregister_trigger("u")
    say(daemon, f"remove-trigger t --owner-uid={uid}", "remove-trigger t")
    assert (seen(user), seen(other)) == ([], [])
