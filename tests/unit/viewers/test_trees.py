"""Call trees as folded stacks, files of speedscope and profiles of pprof."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from collections import Counter

import pytest

from support.call_traces import HOSTILE_NAME
from support.recordings import DEMO
from vestige.cli.main import main
from vestige.plain_text import plain
from vestige.viewers.names import shown


def own_times(report):
    """Return the own time of each function of a report, by the name that files have."""
    times = Counter()
    for one in report["functions"]:
        times[shown(one["function"])] += one["self_ns"]
    return +times


def test_folded_stacks_add_up(calls, export, report):
    """Own times by function, read back; no name makes a line or a frame of its own."""
    path, _ = export(calls, "folded")
    times = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        stack, _, value = line.rpartition(" ")
        times[stack.split(";")[-1]] += int(value)

    wanted = Counter()
    for name, value in own_times(report(calls)).items():
        wanted[name.replace(";", ":")] += value
    assert times == wanted
    assert plain(HOSTILE_NAME).replace(";", ":") in times


def test_a_report_writes_the_same_as_an_export(export, tmp_path, capsys):
    """And chooses threads and functions."""
    path, _ = export(DEMO / "trace", "folded")
    main(["report", "--to", "folded", str(DEMO / "trace")])
    assert capsys.readouterr().out == path.read_text()
    out = tmp_path / "out.pb.gz"
    main(["report", "--to", "pprof", "-o", str(out), str(DEMO / "trace")])
    assert gzip.decompress(out.read_bytes())


def check_speedscope(path):
    """Check what the schema cannot; return the profiles and the names of frames."""
    text = path.read_text()
    assert "<" not in text
    facts = json.loads(text)
    frames = [one["name"] for one in facts["shared"]["frames"]]
    assert 0 <= facts["activeProfileIndex"] < len(facts["profiles"])
    return facts["profiles"], frames


def test_speedscope_adds_up(calls, export, report):
    """Stacks begin with the outermost call; weights are own times."""
    path, _ = export(calls, "speedscope")
    profiles, frames = check_speedscope(path)
    times = Counter()
    for profile in profiles:
        assert profile["endValue"] == sum(profile["weights"])
        for stack, weight in zip(profile["samples"], profile["weights"], strict=True):
            times[frames[stack[-1]]] += weight

    assert times == own_times(report(calls))


def test_speedscope_of_a_range_has_each_call(calls, export):
    """Begins and ends are balanced, and their times grow."""
    path, _ = export(calls, "speedscope", "--begin=0", "--end=9000000000")
    profiles, frames = check_speedscope(path)

    opened = 0
    for profile in profiles:
        stack, last = [], 0
        for event in profile["events"]:
            assert event["at"] >= last
            last = event["at"]
            if event["type"] == "O":
                stack.append(event["frame"])
                opened += 1
            else:
                assert stack.pop() == event["frame"]
        assert not stack
    assert opened == 9
    assert shown(HOSTILE_NAME) in frames


def test_pprof_reads_the_same_times(calls, export, report):
    """Each function has its own time and its calls; labels name threads."""
    if shutil.which("go") is None:
        pytest.skip("not installed: go")
    path, _ = export(calls, "pprof")

    def top(what, unit):
        tool = ["go", "tool", "pprof"]
        words = ["-raw", f"-sample_index={what}", f"-unit={unit}", str(path)]
        done = subprocess.run(tool + words, capture_output=True, text=True, check=True)
        return done.stdout

    text = top("self", "ns")
    assert "calls/count self/nanoseconds[dflt]" in text
    names = {
        int(number): name
        for number, name in re.findall(
            r"^ +(\d+): 0x[0-9a-f]+ (?:M=\d+ )?(.*) \S*:\d+:\d+ s=\d+",
            text,
            re.MULTILINE,
        )
    }
    times, counts = Counter(), Counter()
    for count, own, leaf in re.findall(r"^ +(\d+) +(\d+): (\d+)", text, re.MULTILINE):
        times[names[int(leaf)]] += int(own)
        counts[names[int(leaf)]] += int(count)
    facts = report(calls)
    assert +times == own_times(facts)
    assert sum(counts.values()) == sum(one["calls"] for one in facts["functions"])
    assert text.count("thread:[thread ") == len(
        re.findall(r"^ +\d+ +\d+: \d", text, re.MULTILINE)
    )


def test_pprof_has_build_ids(export):
    """Mappings are those of the recording."""
    path, _ = export(DEMO / "trace", "pprof")
    data = gzip.decompress(path.read_bytes())

    assert re.search(rb"\x32.[0-9a-f]{40}", data), "no build ID among the texts"
