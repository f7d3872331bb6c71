"""Loggers of registered agents: rules for them, and lists of them."""

from __future__ import annotations

import os
import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.agents import PlayedAgent
from vestige.cli.sessiond import main
from vestige.daemon.loggers import agent_plans, logger_filter, logger_rules
from vestige.daemon.model import Channel, Context, EventRule, Session
from vestige.expressions import compile_filter

JUL = 3


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (EventRule("*"), ""),
        (EventRule("a.b*"), 'logger_name == "a.b*"'),
        (EventRule("*", filter="a || b"), "(a || b)"),
        (
            EventRule("a", level_type="RANGE", level=-5, filter="x == 1"),
            '(x == 1) && logger_name == "a" && int_loglevel >= -5',
        ),
        (EventRule("*", level_type="SINGLE", level=20), "int_loglevel == 20"),
        (EventRule('a"b'), r'logger_name == "a\"b"'),
        (EventRule(r"a\*b\\c"), r'logger_name == "a\*b\\c"'),
        (EventRule("a\\b\\"), r'logger_name == "a\\b\\"'),
    ],
)
def test_a_rule_is_a_filter_of_the_events_of_loggers(rule, expected):
    """Its conditions all hold; patterns keep their escapes."""
    assert logger_filter(rule) == expected
    if expected:
        compile_filter(expected)


def test_agents_are_told_of_active_sessions():
    """Enabled rules and contexts of programs; programs get a rule once."""
    rules = [
        EventRule("a"),
        EventRule("a", enabled=False, exclusions=["x"]),
        EventRule("b", enabled=False),
    ]
    contexts = [Context("APP", "$app.mine:one"), Context("VPID", "vpid")]
    channel = Channel("lttng_jul_channel", contexts=contexts)
    session = Session(
        "s", 1, 1, channels={channel.name: channel}, agents={"JUL": rules}
    )
    assert agent_plans(session) == {}
    session.active = True
    plan = agent_plans(session)["JUL"]
    assert [(one.name, one.level) for one in plan.rules] == [("a", -(1 << 31))]
    assert plan.contexts == (("mine", "one"),)
    assert [(one.filter, on) for one, on in logger_rules(session, "JUL")] == [
        ('logger_name == "a"', True),
        ('logger_name == "b"', False),
    ]
    channel.enabled = False
    assert agent_plans(session) == {}


def test_agents_are_told_of_contexts_that_filters_name():
    """Once each, of rules that are enabled: programs fill in no others."""
    rules = [
        EventRule("a", filter="$app.mine:one == 1 || $app.mine:two[3] > x"),
        EventRule("b", enabled=False, filter="$app.mine:three"),
        EventRule("c", filter='$ctx.procname == "$app.no:text"'),
    ]
    contexts = [Context("APP", "$app.mine:one")]
    channel = Channel("lttng_jul_channel", contexts=contexts)
    channels, agents = {channel.name: channel}, {"JUL": rules}
    session = Session("s", 1, 1, active=True, channels=channels, agents=agents)
    plan = agent_plans(session)["JUL"]
    assert plan.contexts == (("mine", "one"), ("mine", "two"))


def test_loggers_of_agents_are_listed(daemon):
    """In text, and for the machine; a program is named by its command line."""
    none = "jul events (Logger name):\n-------------------------\n\nNone\n\n"
    assert daemon.lttng("list", "--jul").out == none
    port = int((daemon.run_folder / "agent.port").read_text())
    played = PlayedAgent(port, JUL, os.getpid())
    assert played.command() == (4, b"")

    def listed(*words):
        with ThreadPoolExecutor() as others:
            future = others.submit(daemon.lttng, *words)
            assert played.command() == (1, b"")
            played.answer_loggers(["root", "app.sub"])
            return future.result().out

    shown = listed("list", "--jul")
    assert f"PID: {os.getpid()} - Name: " in shown
    assert shown.endswith("\n      - root\n      - app.sub\n\n")
    document = listed("--mi", "xml", "list", "--jul")
    assert "<type>JUL</type><buffer_type>PER_PID</buffer_type>" in document
    assert "<event><name>root</name><type>TRACEPOINT</type>" in document
    played.socket.close()


def test_exclusions_are_for_tracepoints(daemon):
    """As LTTng says."""
    daemon.lttng("create", "s", "--no-output")
    done = daemon.lttng("enable-event", "-j", "a*", "-x", "ab")
    text = "Error: Event name exclusions are not yet implemented for jul events\n"
    assert done == (1, "", text)


@pytest.mark.parametrize("port", ["0", "65536", "-1", "abc", ""])
def test_a_port_that_is_none(capsys, port):
    """Is an error before anything is started."""
    assert main([f"--agent-tcp-port={port}"]) == 1
    error = capsys.readouterr().err
    assert error == f"Error: agent-tcp-port = {port}: expected a port from 1 to 65535\n"


def test_a_port_that_is_in_use_leaves_the_rest(home):
    """There is a warning, and the daemon runs without agents."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        started = home.start(f"--agent-tcp-port={port}")
    assert started.returncode == 0
    assert started.stderr == (
        f"Warning: port {port} is in use: loggers of Java and Python are not recorded\n"
    )
    assert home.lttng("list", "-p").status == 0
    assert not (home.run_folder / "agent.port").exists()
