"""Components and connections: the words of `convert --run-args`, and what `run` prints."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from support.recordings import DATA

pytestmark = pytest.mark.oracle

TRACES = [
    *(DATA / name / "ust" / "uid" / "0" / "64-bit" for name in ("hello", "lost")),
    DATA / "fields" / "ust" / "uid" / "0" / "64-bit",
    *sorted((DATA / "threads-pid" / "ust" / "pid").iterdir()),
]
TIMES = ["1795245627.8718975", "1795245629", "1795245620", "4102444800"]

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "TZ": "UTC", "HOME": "/nonexistent"}


def peer(*words):
    """Return what Babeltrace 2 writes on standard output."""
    return subprocess.run(
        ["babeltrace2", *map(str, words)],
        capture_output=True,
        check=True,
        env=ENVIRONMENT,
    ).stdout


def ours(*words):
    """Return what Vestige writes on standard output."""
    done = subprocess.run(
        [sys.executable, "-m", "vestige", *map(str, words)],
        capture_output=True,
        check=False,
        env={**ENVIRONMENT, "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


HELLO = TRACES[0]


@pytest.mark.parametrize(
    "words",
    [
        [HELLO],
        [DATA / "hello", DATA / "threads-pid"],
        [f"{DATA}/threads-pid/"],
        [HELLO, "-p", "trace-name=mine", "-l", "WARN", DATA / "fields", "-lE"],
        [HELLO, "--begin=abc", "--clock-gmt", "--end", "x'y\\z\""],
        [HELLO, "--clock-gmt", "--timerange=[a,b]", "--no-delta", "--clock-date"],
        [HELLO, "--clock-offset=-3", "--clock-force-correlate", "--clock-offset-ns=1"],
        [HELLO, "--names=args,ctx,scope", "--color=never", "--fields=all,trace:vpid"],
        [HELLO, "--names=none", "-f", "callsite", "--clock-cycles", "--clock-seconds"],
        [HELLO, "--names=all,payload", "-w", "/tmp/a b", "-o", "text"],
        [HELLO, "-o", "ctf", "--output=/tmp/out", "--retry-duration=7"],
        [HELLO, "-o", "dummy", "-c", "flt.a.b", "-p", "x=1, y=[2]", "-c", "flt.a.b"],
        [HELLO, "-c", "muxer:flt.a.b", "-c", "pretty:sink.a.b", "-lI", "-p", "a=b"],
        ["-c", "src.a.b", "-c", r"x\:y:src.a.b", "-c", "trimmer:filter.a.b", "-b", "1"],
        [HELLO, "--debug-info-dir=/a:/b", "--debug-info-target-prefix", "/p q"],
        [HELLO, "--debug-info-full-path", "--debug-info", "-i", "ctf"],
        ["net://localhost/host/h/s", "-i", "lttng-live", "--names=context"],
        ["-c", "src.a.b", "--retry-duration", "5", "-c", "sink.a.b", "-l", "D"],
        [HELLO, "-c", "sink.text.pretty", "-p", "color=never", DATA / "fields"],
    ],
)
@pytest.mark.parametrize("option", ["--run-args", "--run-args-0"])
def test_the_words_of_run_are_those_of_the_peer(words, option):
    """Byte for byte, quotes and escapes included."""
    assert ours("convert", option, *words) == peer("convert", option, *words)


def test_run_prints_what_convert_prints():
    """With the words that it was told."""
    options = ["--begin=1795245627.8718975", "--names=all", "--clock-date"]
    paths = [DATA / "hello", DATA / "threads-pid", DATA / "lost"]
    words = ours("convert", "--run-args-0", *options, *paths).decode().split("\0")

    assert ours("run", *words) == ours("convert", *options, *paths)


@pytest.mark.parametrize("seed", range(24))
def test_random_plans_print_what_the_peer_prints(seed):
    """Sources, muxers and ranges of time in any order."""
    words = _random_plan(random.Random(seed))  # noqa: S311 - not for secrets

    assert ours("run", *words) == peer("run", *words)


def _random_plan(chance):
    """Return the words of a plan: a tree of muxers and trimmers above a sink."""
    words, connections = [], []
    names = iter(range(1000))

    def add(class_name, params=None):
        name = f"c{next(names)}"
        words.extend(["-c", f"{name}:{class_name}"])
        if params:
            words.extend(["-p", params])
        return name

    def places(last, count):
        """Add filters that add fields."""
        for number in range(count):
            params = f"debug-info-field-name=places{number},full-path=yes"
            name = add("filter.lttng-utils.debug-info", params)
            connections.append(f"{last}:{name}")
            last = name
        return last

    def tree(depth, traces):
        """Add what gives messages of some traces.

        Return its last part, and whether a trimmer is in it: one behind another is more
        than the peer can do, which cannot move the first one to its beginning.
        """
        if depth and len(traces) > 1:
            middle = chance.randrange(1, len(traces))
            upper = [
                tree(depth - 1, part) for part in (traces[:middle], traces[middle:])
            ]
        else:
            upper = [
                (add("source.ctf.fs", f'inputs=["{one}"]'), False) for one in traces
            ]
        last = add("filter.utils.muxer")
        connections.extend(f"{one}:{last}" for one, _ in upper)
        is_trimmed = any(one for _, one in upper)
        if not (is_trimmed or chance.randrange(3)):
            begin, end = sorted(chance.sample(TIMES, 2), key=float)
            bounds = [
                f'begin="{begin}"',
                f'end="{end}"',
                f'begin="{begin}",end="{end}"',
            ]
            name = add("filter.utils.trimmer", f"gmt=yes,{chance.choice(bounds)}")
            connections.append(f"{last}:{name}")
            return name, True
        return last, is_trimmed

    traces = chance.sample(TRACES, chance.randrange(1, len(TRACES) + 1))
    last, is_trimmed = tree(2, traces)
    if not is_trimmed:
        # Where a range begins, the peer forgets what was loaded before.
        last = places(last, chance.randrange(3))
    sink = add("sink.text.pretty", "no-delta=yes,clock-gmt=yes,clock-date=yes")
    connections.append(f"{last}:{sink}")
    for one in connections:
        words.extend(["-x", one])
    return words


@pytest.mark.parametrize("params", ["step=+0", "step=+7,hide-zero=yes"])
@pytest.mark.parametrize("trace", TRACES, ids=[one.name for one in TRACES])
def test_counts_are_those_of_the_peer(trace, params):
    """Of all types of messages."""
    words = ["convert", trace, "-c", "sink.utils.counter", "-p", params]

    assert ours(*words) == peer(*words)


@pytest.mark.parametrize("params", ["with-uuid=yes", "compact=yes,with-metadata=no"])
@pytest.mark.parametrize("trace", TRACES[1:4], ids=[one.name for one in TRACES[1:4]])
def test_details_are_those_of_the_peer(trace, params):
    """Byte for byte: metadata, messages, fields."""
    words = ["convert", trace, "-c", "sink.text.details", "-p", params]

    assert ours(*words) == peer(*words)


@pytest.mark.parametrize("trace", TRACES, ids=[one.name for one in TRACES])
@pytest.mark.parametrize(
    ("question", "params"),
    [
        ("metadata-info", 'path="{}"'),
        ("babeltrace.trace-infos", 'inputs=["{}"]'),
        ("babeltrace.trace-infos", 'inputs=["{}"], clock-class-offset-s=7'),
        ("babeltrace.support-info", 'input="{}",type="directory"'),
        ("babeltrace.support-info", 'input="{}/..",type="directory"'),
        ("babeltrace.support-info", 'input="{}",type="string"'),
    ],
)
def test_answers_are_those_of_the_peer(trace, question, params):
    """Byte for byte."""
    words = ["query", "src.ctf.fs", question, "-p", params.format(trace)]

    assert ours(*words) == peer(*words)
