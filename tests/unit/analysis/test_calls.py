"""Call trees from synthetic traces: what is known is exact, what is not is marked."""

from __future__ import annotations

import random
import struct

import pytest

import vestige
from support.call_traces import (
    PlainCalls,
    enter,
    leave,
    packet,
    state,
    write_calls,
)
from support.ctf_writer import Packet
from support.recordings import open_demo
from vestige.analysis import FunctionKind, call_tree

A, B, C, D = 0x1000, 0x2000, 0x3000, 0x4000


def read(path):
    """Rebuild the calls of a trace."""
    return call_tree(vestige.open(path, debug_info=False))


def shape(node):
    """Return the callees of a node as nested tuples."""
    return tuple(
        (
            callee.function.address
            if callee.function.kind is FunctionKind.FUNCTION
            else callee.function.kind,
            callee.calls,
            shape(callee),
        )
        for callee in node.callees.values()
    )


def functions(tree):
    """Return the functions by address."""
    return {one.function.address: one for one in tree.functions()}


def one_thread(tmp_path, events, **facts):
    """Write and read a trace of one thread and one packet."""
    if not facts.get("per_thread", True):
        whole = Packet(events, context=bytes(4))
        return read(write_calls(tmp_path / "trace", {"s": [whole]}, **facts))
    return read(write_calls(tmp_path / "trace", {"s": [packet(events)]}, **facts))


FORMS = {
    "fast": lambda time, function, is_entry: (
        enter(time, function) if is_entry else leave(time)
    ),
    "verbose": lambda time, function, is_entry: (
        enter(time, function, function + 1)
        if is_entry
        else leave(time, function, function + 1)
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_calls_nest(tmp_path, form):
    """Total and own time, calls, and the ends of the range, of each path."""
    make = FORMS[form]
    tree = one_thread(
        tmp_path,
        [
            make(100, A, True),
            make(110, B, True),
            make(120, C, True),
            make(125, C, False),
            make(140, B, False),
            make(150, B, True),
            make(153, B, False),
            make(200, A, False),
        ],
    )
    found = functions(tree)

    assert shape(tree.threads[0].root) == ((A, 1, ((B, 2, ((C, 1, ()),)),)),)
    assert {at: (one.total, one.self_time) for at, one in found.items()} == {
        A: (100, 67),
        B: (33, 28),
        C: (5, 5),
    }
    assert (found[B].shortest, found[B].longest, found[B].mean) == (3, 30, 16.5)
    assert not any(one.uncertain for one in found.values())
    assert (tree.events, tree.other_events) == (8, 0)
    assert tree.threads[0].exits_are_named is (form == "verbose")
    assert (tree.threads[0].vpid, tree.threads[0].vtid) == (77, 1)
    assert (tree.threads[0].begin, tree.threads[0].end) == (100, 200)


def test_time_of_recursion_counts_once(tmp_path):
    """A function that calls itself, and two that call each other."""
    events = [enter(100 + level, (A, B)[level % 2]) for level in range(6)]
    events += [leave(200 + level) for level in range(6)]
    tree = one_thread(tmp_path, events)
    found = functions(tree)

    assert (found[A].calls, found[A].total) == (3, 105)
    assert (found[B].calls, found[B].total) == (3, 103)
    assert found[A].self_time + found[B].self_time == 105
    assert found[A].complete_time == sum(
        (205 - level) - (100 + level) for level in (0, 2, 4)
    )


def test_threads_of_a_cpu_are_told_apart(tmp_path):
    """By the context of each record, over several data streams, as LTTng writes them."""
    streams = {
        "cpu0": [
            Packet(
                [
                    enter(100, A, vtid=1),
                    enter(101, A, vtid=2),
                    enter(103, B, vtid=1),
                    leave(107, A, vtid=2),
                ],
                context=struct.pack("<I", 0),
            )
        ],
        # Thread 1 goes on here.
        "cpu1": [
            Packet(
                [leave(110, B, vtid=1), leave(120, A, vtid=1)],
                context=struct.pack("<I", 1),
            )
        ],
    }
    tree = read(
        write_calls(tmp_path / "trace", streams, per_thread=False, contexts=True)
    )

    assert [thread.vtid for thread in tree.threads] == [1, 2]
    assert [shape(thread.root) for thread in tree.threads] == [
        ((A, 1, ((B, 1, ()),)),),
        ((A, 1, ()),),
    ]
    assert functions(tree)[A].total == 20 + 6
    assert not tree.threads_unknown


def test_threads_that_nothing_tells_apart(tmp_path):
    """No times are made up."""
    streams = {"cpu0": [Packet([enter(1, A), leave(2)], context=bytes(4))]}
    tree = read(write_calls(tmp_path / "trace", streams, per_thread=False))

    assert tree.threads_unknown


def test_the_same_thread_id_again_is_another_thread(tmp_path):
    """Where each thread has a data stream; what the first left open stays its own."""
    streams = {
        "a": [packet([enter(100, A), enter(105, B)])],
        "b": [packet([enter(200, C), leave(210)])],
    }
    tree = read(write_calls(tmp_path / "trace", streams))

    assert [shape(thread.root) for thread in tree.threads] == [
        ((A, 1, ((B, 1, ()),)),),
        ((C, 1, ()),),
    ]
    assert functions(tree)[A].no_exit == 1
    # Up to the last that is known of it.
    assert functions(tree)[A].total == 5


def test_a_start_in_the_middle(tmp_path):
    """Exits without entry are counted, and take nobody else's entry."""
    make = FORMS["verbose"]
    tree = one_thread(
        tmp_path,
        [
            make(100, C, False),
            make(110, B, True),
            make(115, B, False),
            make(120, A, False),
        ],
    )
    found = functions(tree)

    assert (found[C].no_entry, found[A].no_entry) == (1, 1)
    assert (found[C].calls, found[C].total, found[C].mean) == (1, 0, None)
    assert (found[B].complete, found[B].total) == (1, 5)


def test_a_start_in_the_middle_of_fast_records(tmp_path):
    """Nobody knows who is left."""
    tree = one_thread(tmp_path, [leave(100), enter(110, B), leave(115), leave(120)])

    assert tree.threads[0].unknown_exits == 2
    assert [one.calls for one in tree.functions()] == [1]


@pytest.mark.parametrize("named", ["site", "ip"])
def test_calls_that_are_jumped_over(tmp_path, named):
    """The exit of an outer function ends them, without an exit of their own."""
    if named == "site":
        make, facts = FORMS["verbose"], {}
    else:
        facts = {"contexts": True}

        def make(time, function, is_entry):
            one = enter if is_entry else leave
            return one(time, function, vtid=1)

    tree = one_thread(
        tmp_path,
        [
            make(100, A, True),
            make(110, B, True),
            make(120, C, True),
            make(130, D, True),
            make(135, D, False),
            # longjmp() from C to A.
            make(150, A, False),
        ],
        **facts,
    )
    found = functions(tree)

    assert {at: (one.no_exit, one.total) for at, one in found.items()} == {
        A: (0, 50),
        B: (1, 25),
        C: (1, 15),
        D: (0, 5),
    }
    assert found[A].self_time == 25
    assert found[B].mean is None


def test_recursion_and_a_jump_are_told_by_the_call_site(tmp_path):
    """The exit belongs to the call with its site, not to the innermost one."""
    tree = one_thread(
        tmp_path,
        [
            enter(100, A, 1),
            enter(110, A, 2),
            enter(120, A, 2),
            leave(150, A, 1),
        ],
    )
    [found] = tree.functions()

    assert (found.calls, found.complete, found.no_exit) == (3, 1, 2)
    assert (found.longest, found.shortest) == (50, 50)


def test_lost_packets_leave_a_gap(tmp_path):
    """What spans it is marked, and what comes after it is below no call before it."""
    streams = {
        "s": [
            packet([enter(100, A, 1), enter(110, B, 2)], sequence=0),
            packet(
                [
                    enter(200, C, 3),
                    leave(210, C, 3),
                    leave(230, A, 1),
                    enter(240, D, 4),
                    leave(245, D, 4),
                ],
                sequence=2,
            ),
        ]
    }
    tree = read(write_calls(tmp_path / "trace", streams))
    found = functions(tree)

    assert shape(tree.threads[0].root) == (
        (A, 1, ((B, 1, ()),)),
        (FunctionKind.AFTER_LOSS, 0, ((C, 1, ()),)),
        (D, 1, ()),
    )
    assert (found[A].across_loss, found[A].total, found[A].mean) == (1, 130, None)
    # What ran in it after the loss is not its own time.
    assert found[A].self_time == 120
    assert (found[B].no_exit, found[B].total) == (1, 0)
    assert (found[C].complete, found[C].total) == (1, 10)
    assert (found[D].complete, found[D].total) == (1, 5)
    assert [loss.kind for loss in tree.losses] == ["packets"]
    assert tree.threads[0].losses == 1


def test_fast_exits_after_a_gap_end_nothing_before_it(tmp_path):
    """They may be anybody's."""
    streams = {
        "s": [
            packet([enter(100, A), enter(110, B)], sequence=0),
            packet([leave(200), enter(210, C), leave(220), leave(230)], sequence=2),
        ]
    }
    tree = read(write_calls(tmp_path / "trace", streams))
    found = functions(tree)

    assert tree.threads[0].unknown_exits == 2
    assert (found[A].no_exit, found[B].no_exit, found[C].complete) == (1, 1, 1)
    assert (found[A].total, found[C].total) == (10, 10)


def test_events_lost_inside_of_a_packet(tmp_path):
    """Its calls may be those of others, whatever their records look like."""
    streams = {
        "s": [
            packet([enter(100, A, 1)], discarded=0),
            packet([enter(200, B, 2), leave(210, B, 2)], discarded=1, sequence=1),
            packet(
                [enter(300, C, 3), leave(310, C, 3), leave(320, A, 1)],
                discarded=1,
                sequence=2,
            ),
        ]
    }
    tree = read(write_calls(tmp_path / "trace", streams))
    found = functions(tree)

    assert (found[A].across_loss, found[B].across_loss) == (1, 1)
    assert found[C].complete == 1
    assert tree.lost == 1


def test_lttng_loses_events_between_packets(tmp_path):
    """So what is in a packet is sure."""
    streams = {
        "s": [
            packet([enter(100, A, 1)], discarded=0),
            packet([enter(200, B, 2), leave(210, B, 2)], discarded=1, sequence=1),
        ]
    }
    tree = read(write_calls(tmp_path / "trace", streams, tracer="lttng-ust"))

    assert functions(tree)[B].complete == 1


def test_an_address_elsewhere_in_ip_is_not_believed(tmp_path):
    """Exits then end the innermost call."""

    def entry(time, function):
        one = enter(time, function, vtid=1)
        payload = struct.pack("<iiQQ", 77, 1, 0xBAD, function)
        return type(one)(time, payload, 0)

    tree = one_thread(
        tmp_path,
        [entry(100, A), entry(110, B), leave(115, 0xBAD, vtid=1)],
        contexts=True,
    )

    assert functions(tree)[B].complete == 1
    assert not tree.threads[0].exits_are_named


def test_a_clock_that_goes_back_makes_no_time(tmp_path):
    """Durations are never negative."""
    streams = {"s": [packet([enter(200, A), enter(150, B), leave(140), leave(130)])]}
    tree = read(write_calls(tmp_path / "trace", streams))

    assert all(one.total >= 0 and one.self_time >= 0 for one in tree.functions())


def deep(depth):
    """Return the events of a recursion."""
    for level in range(depth):
        yield enter(1000 + level, A)
    for level in range(depth):
        yield leave(1000 + depth + level)


def test_deep_recursion_is_counted_exactly(tmp_path):
    """The tree keeps a bounded number of levels."""
    depth = 20_000
    tree = one_thread(tmp_path, list(deep(depth)))
    [found] = tree.functions()
    levels = max(level for level, _ in tree.root().walk())

    assert (found.calls, found.complete) == (depth, depth)
    assert (found.total, found.self_time) == (2 * depth - 1, 2 * depth - 1)
    assert found.shortest == 1
    assert 100 < levels < 1000


def random_calls(source, count, threads):
    """Make up calls of some threads: events with their thread, in order of time."""
    stacks = {vtid: [] for vtid in threads}
    time = 1000
    while count or any(stacks.values()):
        # Between data streams no tie tells who was first.
        time += source.randint(1, 9)
        vtid = source.choice(threads)
        stack = stacks[vtid]
        if count and (not stack or source.random() < 0.5):
            function = source.choice((A, B, C, D))
            stack.append(function)
            count -= 1
            yield vtid, time, function, True
        elif stack:
            yield vtid, time, stack.pop(), False


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("form", ["fast", "verbose", "contexts"])
def test_any_calls_add_up_as_in_the_plainest_way(tmp_path, seed, form):
    """Over several threads and packets."""
    source = random.Random(seed)  # noqa: S311 - no secret
    threads = [1, 2, 3]
    if form == "contexts":
        per_cpu = {cpu: [] for cpu in range(2)}
        for vtid, time, function, is_entry in random_calls(source, 300, threads):
            one = (enter if is_entry else leave)(time, function, vtid=vtid)
            per_cpu[source.randrange(2)].append(one)
        streams = {
            f"cpu{cpu}": [Packet(events, context=struct.pack("<I", cpu))]
            for cpu, events in per_cpu.items()
        }
        facts = {"per_thread": False, "contexts": True}
    else:
        events = {vtid: [] for vtid in threads}
        for vtid, time, function, is_entry in random_calls(source, 300, threads):
            events[vtid].append(FORMS[form](time, function, is_entry))
        streams = {
            f"thread{vtid}": [
                packet(mine[start : start + 50], vtid=vtid, sequence=start // 50)
                for start in range(0, len(mine), 50)
            ]
            for vtid, mine in events.items()
        }
        facts = {}
    path = write_calls(tmp_path / "trace", streams, **facts)
    plain = PlainCalls.of(vestige.open(path, debug_info=False))
    tree = read(path)
    found = functions(tree)

    assert {at: one.calls for at, one in found.items()} == plain.calls
    assert {at: one.complete for at, one in found.items()} == plain.calls
    assert {at: one.total for at, one in found.items()} == plain.total
    assert {at: one.self_time for at, one in found.items()} == plain.self_time
    assert {at: one.longest for at, one in found.items()} == plain.longest
    paths = {}
    waiting = [((), tree.root())]
    while waiting:
        above, node = waiting.pop()
        for callee in node.callees.values():
            path = (*above, callee.function.address)
            paths[path] = callee.calls
            waiting.append((path, callee))
    assert paths == plain.paths


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("form", ["fast", "verbose"])
def test_no_duration_is_wrong_without_a_mark(tmp_path, seed, form):
    """Packets are lost anywhere; complete calls are those that there were."""
    source = random.Random(seed)  # noqa: S311 - no secret
    true, stack, events = {}, [], []
    for _, time, function, is_entry in random_calls(source, 400, [1]):
        events.append(FORMS[form](time, function, is_entry))
        if is_entry:
            stack.append(time)
        else:
            true.setdefault(function, []).append(time - stack.pop())
    packets = [
        packet(events[start : start + 20], sequence=start // 20)
        for start in range(0, len(events), 20)
    ]
    kept = [one for one in packets if source.random() < 0.7]
    tree = read(write_calls(tmp_path / "trace", {"s": kept}))
    seen = sum(len(one.events) for one in kept)

    counted = 0
    for one in tree.functions():
        durations = true[one.function.address]
        assert one.complete <= len(durations)
        assert one.complete_time <= sum(durations)
        if one.complete:
            assert {one.shortest, one.longest} <= set(durations)
        assert one.self_time <= max(sum(durations), one.total)
        counted += 2 * (one.complete + one.across_loss) + one.no_exit + one.no_entry
    # Each record is in one call, or an exit that nobody knows.
    assert counted + tree.threads[0].unknown_exits == seen
    assert sum(one.complete for one in tree.functions()) > 50


def test_a_trace_names_functions_as_it_was_opened_for():
    """With its own debug files, and the names that it wants."""
    tree = open_demo().call_tree()

    assert [one.function.name for one in tree.functions()] == [
        "price_of",
        "unit_price_of",
        "bulk_price",
    ]
    assert [one.calls for one in tree.functions()] == [12, 12, 12]
    assert tree.functions()[0].function.object == "/opt/vestige-demo/lib/libpricing.so"


def named(tree):
    """Return the number of calls by object and offset."""
    return {one.function.name: one.calls for one in tree.functions()}


def test_an_address_means_what_was_mapped_there_at_the_time(tmp_path):
    """Only what an image change concerns is looked up again."""
    events = [
        # Called before the process tells of its objects.
        enter(90, A),
        leave(95),
        state(100, "start"),
        state(100, "bin_info", A, "/bin/app"),
        state(110, "load", B, "/lib/one.so"),
        enter(120, A + 1),
        enter(130, B + 1),
        leave(140),
        state(150, "unload", B),
        state(160, "load", B, "/lib/two.so"),
        enter(170, B + 1),
        leave(175),
        state(180, "unload", B),
        enter(182, B + 1),
        leave(183),
        state(185, "load", C, "/lib/one.so"),
        enter(190, C + 1),
        leave(195),
        leave(200),
    ]
    tree = one_thread(tmp_path, events)

    # The same function of one.so at two addresses is one function.
    assert named(tree) == {
        "app+0x0": 1,
        "app+0x1": 1,
        "one.so+0x1": 2,
        "two.so+0x1": 1,
        "0x2001": 1,
    }
    assert tree.other_events == 7


def test_another_program_has_no_open_calls(tmp_path):
    """After exec() the thread is the same; contexts tell no difference."""
    events = [
        state(100, "start", vtid=1),
        state(101, "bin_info", A, "/bin/one", vtid=1),
        enter(110, A, vtid=1),
        state(200, "start", vtid=1),
        state(201, "bin_info", B, "/bin/two", vtid=1),
        enter(210, B, vtid=1),
        leave(220, B, vtid=1),
    ]
    tree = one_thread(tmp_path, events, contexts=True, per_thread=False)
    found = functions(tree)

    assert [len(node.callees) for _, node in tree.root().walk()] == [2, 0, 0]
    assert (found[A].no_exit, found[A].total, found[B].complete) == (1, 0, 1)


def test_a_data_stream_passes_from_one_thread_to_the_next(tmp_path):
    """What was lost of the first is no loss of the second."""
    streams = {
        "s": [
            packet([enter(100, A, 1)], vtid=1),
            packet([leave(150, A, 1)], vtid=1, sequence=2),
            packet([enter(200, B, 1), leave(210, B, 1)], vtid=2, sequence=3),
        ]
    }
    tree = read(write_calls(tmp_path / "trace", streams))
    found = functions(tree)

    assert [thread.losses for thread in tree.threads] == [1, 0]
    assert (found[A].across_loss, found[B].complete) == (1, 1)


def test_losses_of_a_cpu_concern_all_threads_that_go_on(tmp_path):
    """Each of them may have lost something; one that begins later has not."""
    whole = {"context": bytes(4)}
    streams = {
        "cpu0": [
            Packet([enter(100, A, vtid=1), enter(101, A, vtid=2)], **whole),
            Packet(
                [
                    leave(200, A, vtid=1),
                    enter(201, B, vtid=3),
                    leave(202, B, vtid=3),
                ],
                sequence=4,
                **whole,
            ),
        ]
    }
    path = write_calls(tmp_path / "trace", streams, contexts=True, per_thread=False)
    tree = read(path)
    found = functions(tree)

    assert [(thread.vtid, thread.losses) for thread in tree.threads] == [
        (1, 1),
        (2, 0),
        (3, 0),
    ]
    assert (found[A].across_loss, found[A].no_exit, found[B].complete) == (1, 1, 1)
