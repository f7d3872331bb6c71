"""`vestige report --kernel` beside sums over what Babeltrace 2 prints."""

from __future__ import annotations

import json
import re
from collections import defaultdict

import pytest

from support.kernel_traces import random_records, write_kernel_trace
from support.peers import babeltrace
from vestige.cli.main import main

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("babeltrace_peer")]
LINE = re.compile(
    r"\[(\d+)\.(\d{9})\] \([^)]*\) (?:\S+ )?(\w+): \{ cpu_id = (\d+) \}, \{(.*)\}"
)
PAIR = re.compile(r"(syscall|irq_handler)_(entry|exit)_?(\w*)")
FIELD = re.compile(r'(\w+) = (?:"([^"]*)"|(-?\d+))')


def printed(path):
    """Yield CPU, time, name and fields of all events, as Babeltrace 2 prints them."""
    text = babeltrace(path, "--clock-seconds").stdout.decode()
    for line in text.splitlines():
        found = LINE.search(line)
        assert found is not None, line
        seconds, part, name, cpu, fields = found.groups()
        values = {
            key: int(number) if number else word
            for key, word, number in FIELD.findall(fields)
        }
        yield int(cpu), int(seconds) * 10**9 + int(part), name, values


def plain_sums(path):
    """Work out the sums step by step: times that threads ran, waited, and of spans."""
    ran, waited, spans = (defaultdict(list) for _ in range(3))
    current, woken, begun = {}, {}, {}
    for cpu, time, name, fields in printed(path):
        if name == "sched_switch":
            if cpu in current:
                thread, since = current[cpu]
                ran[cpu, thread].append(time - since)
            thread = fields["next_tid"]
            current[cpu] = thread, time
            if thread in woken:
                waited[thread].append(time - woken.pop(thread))
        elif name == "sched_waking":
            woken[fields["tid"]] = time
        elif found := PAIR.fullmatch(name):
            kind, end, call = found.groups()
            key = (
                (cpu, fields["irq"])
                if kind == "irq_handler"
                else (current[cpu][0], call)
            )
            if end == "entry":
                begun[key] = time
            elif key in begun:
                spans[key[1]].append(time - begun.pop(key))
    return ran, waited, spans


@pytest.mark.parametrize("seed", [1, 2])
def test_sums_are_those_of_what_babeltrace_prints(tmp_path, capsys, seed):
    """Of CPUs, threads, system calls and interrupts."""
    path = write_kernel_trace(tmp_path / "kernel", random_records(seed, 3000))
    ran, waited, spans = plain_sums(path)
    assert main(["report", "--kernel", "--json", str(path)]) == 0
    [facts] = json.loads(capsys.readouterr().out)["machines"]

    assert {
        one["cpu"]: (one["running_ns"], one["idle_ns"]) for one in facts["cpus"]
    } == {
        cpu: (
            sum(sum(times) for (at, who), times in ran.items() if at == cpu and who),
            sum(ran.get((cpu, 0), ())),
        )
        for cpu in {at for at, _ in ran}
    }
    for one in facts["threads"]:
        own = [
            time
            for (_, who), times in ran.items()
            if who == one["tid"]
            for time in times
        ]
        assert (one["running_ns"], one["turns"]) == (sum(own), len(own))
        assert one["wakeups"] == len(waited[one["tid"]])
        assert one["latency_max_ns"] == max(waited[one["tid"]], default=None)
    assert len(facts["threads"]) > 5
    sums = {
        one["number"] or one["name"].removeprefix("syscall "): one
        for one in facts["system_calls"] + facts["interrupts"]
    }
    assert {
        name: (one["count"], one["total_ns"], one["max_ns"])
        for name, one in sums.items()
    } == {
        str(name): (len(times), sum(times), max(times)) for name, times in spans.items()
    }
