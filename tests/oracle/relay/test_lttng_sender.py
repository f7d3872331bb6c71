"""Debian's session daemon and consumer send to our relay daemon, and to LTTng's."""

from __future__ import annotations

import re
import shutil
from itertools import count

import pytest

from support.lttng import can_use_name_spaces
from support.peers import babeltrace
from support.ports import free_ports
from support.recipes import Workshop
from support.relay_daemon import RunningRelay
from support.vestige_command import vestige

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.usefixtures("babeltrace_peer"),
    pytest.mark.skipif(
        shutil.which("lttng-relayd") is None, reason="not installed: lttng-relayd"
    ),
    pytest.mark.skipif(
        not can_use_name_spaces(), reason="nothing would end the relay daemon"
    ),
]

MANY = 3000
DATE = re.compile(r"\d{8}[-T]\d{6}([+-]\d{4})?")
NAMES = (f"sent{number}" for number in count())
WORDS = re.compile(r'text = "([^"]*)"')


@pytest.fixture(scope="module")
def ours(tmp_path_factory):
    """Our relay daemon: its ports, and where it writes."""
    relay = RunningRelay(tmp_path_factory.mktemp("ours"))
    yield (relay.control, relay.data), relay.output
    status, said = relay.end()
    assert (status, said) == (0, "")


@pytest.fixture
def theirs(lttng, tmp_path):
    """LTTng's."""
    *ports, live = free_ports(3)
    options = [
        f"--{name}-port=tcp://127.0.0.1:{port}"
        for name, port in zip(("control", "data", "live"), [*ports, live], strict=True)
    ]
    output = tmp_path / "theirs"
    lttng.run(["lttng-relayd", "--daemonize", *options, f"--output={output}"])
    return ports, output


def record(lttng, program, flood, ports, *, buffers="uid", middle=()):
    """Record two runs of a program, with commands in between, and many events."""
    control, data = ports
    name = next(NAMES)
    urls = [f"--ctrl-url=tcp://127.0.0.1:{control}"]
    lttng.run(["lttng", "create", name, *urls, f"--data-url=tcp://127.0.0.1:{data}"])
    # The shortest one: the channel's monitor is of no use here.
    channel = ["lttng", "enable-channel", "-u", "c", f"--buffers-{buffers}"]
    lttng.run([*channel, "--subbuf-size=4k", "--num-subbuf=64"])
    # LTTng's consumer does not always send more than a packet of metadata anew.
    is_long = ("regenerate", "metadata") not in middle
    rules = "greeting:*,flood:*" if is_long else "greeting:*"
    lttng.run(["lttng", "enable-event", "-u", "-c", "c", rules])
    lttng.run(["lttng", "start"])
    lttng.run([program, "before"])
    for command in middle:
        lttng.run(["lttng", *command])
    lttng.run([program, "after"])
    lttng.run([flood, str(MANY)])
    lttng.run(["lttng", "destroy"])
    return name


def layout(output, name):
    """Return the files of a session, without dates and process IDs."""
    [folder] = output.glob(f"*/{name}-*")
    files = (str(one.relative_to(folder)) for one in folder.rglob("*") if one.is_file())
    # A program may have run on one processor or another.
    masked = {re.sub(r"c_\d+", "c_N", DATE.sub("DATE", name)) for name in files}
    return folder, {re.sub(r"-\d+-DATE", "-PID-DATE", name) for name in masked}


@pytest.mark.parametrize(
    ("buffers", "middle", "expected"),
    [
        ("uid", [("regenerate", "metadata")], ["before", "after"]),
        ("uid", [("rotate",), ("rotate",)], ["before", "after"]),
        ("uid", [("clear",)], ["after"]),
        ("pid", [("rotate",)], ["before", "after"]),
    ],
    ids=["plain", "rotated", "cleared", "of-processes"],
)
def test_both_relays_write_the_same_files(
    lttng, ours, theirs, tmp_path, buffers, middle, expected
):
    """Both readers find all events in them, and their texts are equal."""
    workshop = Workshop(lttng, tmp_path)
    programs = [workshop.program(name) for name in ("greeting", "flood")]
    names = []
    for ports, output in (ours, theirs):
        name = record(lttng, *programs, ports, buffers=buffers, middle=middle)
        folder, files = layout(output, name)
        names.append(files)
        text = babeltrace(folder).stdout.decode()
        assert vestige("convert", folder).stdout.decode() == text
        words = [word for word in WORDS.findall(text) if word in {"before", "after"}]
        assert words == expected
        if ("regenerate", "metadata") not in middle:
            assert text.count(" flood:drop: ") == MANY

    assert names[0] == names[1]
