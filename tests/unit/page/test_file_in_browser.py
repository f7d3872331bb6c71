"""The page as one file in a real browser, without a network."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import contextmanager

import pytest

from support.call_traces import HOSTILE_NAME, code, enter, leave, packet, write_calls
from support.kernel_traces import write_kernel_trace
from support.resource_traces import write_resources
from support.viewer_traces import write_hostile_calls
from vestige.plain_text import plain

pytestmark = pytest.mark.browser

MS = 1_000_000
HANDLE, PARSE, SLOW = 0x10000, 0x20000, 0x30000
SLOW_BEGIN, SLOW_TIME = 250 * MS, 7 * MS


def vestige(*words):
    """Run the command; return its output."""
    command = [sys.executable, "-m", "vestige", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@contextmanager
def opened(browser, trace, file, *, is_dark=False):
    """Write the page of a trace, and open it; nothing may be wrong with it."""
    vestige("report", "--to", "html", "-o", file, trace)
    assert file.stat().st_size < 5_000_000
    context = browser.new_context(
        viewport={"width": 1300, "height": 900},
        color_scheme="dark" if is_dark else "light",
        offline=True,
    )
    page = context.new_page()
    told, asked = [], []
    page.on("console", lambda one: told.append(one.text))
    page.on("pageerror", lambda one: told.append(str(one)))
    page.on("request", lambda one: asked.append(one.url))
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-complete]")
    yield page
    context.close()
    assert told == []
    assert [one for one in asked if not one.startswith("data:")] == [file.as_uri()]


def until(page, condition):
    """Wait for a condition that is in the page's own words."""
    page.wait_for_timeout(0)
    for _ in range(1000):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(20)
    raise AssertionError(condition)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Write a trace of two threads and 40,000 calls, one of which is slow."""
    slow = [enter(SLOW_BEGIN - 10, HANDLE), enter(SLOW_BEGIN, SLOW)]
    slow += [leave(SLOW_BEGIN + SLOW_TIME), leave(SLOW_BEGIN + SLOW_TIME + 10)]
    names = [code(1, base, name) for base, name in NAMES.items()]
    streams = {
        "a": [packet(names, vtid=11), requests(11, MS, 10_000)],
        "b": [requests(12, 2 * MS, 10_000), packet(slow, vtid=12)],
    }
    return write_calls(tmp_path_factory.mktemp("page") / "trace", streams)


NAMES = {HANDLE: "handle", PARSE: "parse", SLOW: "slow_path"}


def requests(vtid, begin, count):
    """Return what a thread records that handles requests, one each 20 µs."""
    events = []
    for at in range(begin, begin + count * 20_000, 20_000):
        events += [enter(at, HANDLE), enter(at + 1000, PARSE)]
        events += [leave(at + 6000), leave(at + 15_000)]
    return packet(events, vtid=vtid)


def test_sums_are_those_of_the_report(browser, trace, tmp_path):
    """As ``report --json`` has them, in the table of functions."""
    with opened(browser, trace, tmp_path / "page.html") as page:
        shown = page.evaluate(
            "vestige.sums.map((row) => [vestige.data.functions[row.functionId].name,"
            " row.calls, row.duration, row.self])"
        )

    told = json.loads(vestige("report", "--json", trace))["functions"]
    expected = [
        [one["function"], one["calls"], one["total_ns"], one["self_ns"]] for one in told
    ]
    assert sorted(shown) == sorted(expected)
    assert sum(row[1] for row in shown) == 40_002


def test_a_slow_call_is_found_by_zooming(browser, trace, tmp_path):
    """With the wheel; its tip says what it is, and a click more."""
    with opened(browser, trace, tmp_path / "page.html", is_dark=True) as page:
        begin = int(page.evaluate("vestige.data.meta.begin"))
        middle = SLOW_BEGIN + SLOW_TIME // 2 - begin
        x, y = page.evaluate(
            """(time) => {
                const { timeline, data } = vestige;
                const row = data.rows.findIndex((one) => one.tid === 12);
                const box = document.getElementById("picture").getBoundingClientRect();
                return [box.x + timeline.xOf(time), box.y + timeline.layout.topOf(row, 1) + 32];
            }""",
            middle,
        )
        page.mouse.move(x, y)
        for _ in range(5):
            page.mouse.wheel(0, -300)
        until(page, "vestige.view.end - vestige.view.begin < 20e6 && !vestige.frame")
        page.mouse.move(x + 1, y)
        tip = page.locator("#tip").inner_text().splitlines()
        page.mouse.click(x, y)
        until(page, "document.getElementById('details').innerText.length")
        told = page.locator("#details").inner_text()
        is_dark = page.evaluate("document.documentElement.className")

    assert tip[:2] == ["slow_path", "7 ms"]
    assert "thread 12" in tip[2]
    assert "slow_path" in told
    assert is_dark == "dark"


def test_names_and_losses(browser, tmp_path):
    """Names are text; what was lost is told where it is, and calls without an end."""
    trace = write_hostile_calls(tmp_path / "trace")
    with opened(browser, trace, tmp_path / "page.html") as page:
        page.click("#tab-functions")
        assert plain(HOSTILE_NAME) in page.locator("#functions").text_content()
        assert page.locator("#trouble").inner_text() == "5 events lost"
        losses = page.evaluate(
            """vestige.data.meta.losses.map((loss) => {
                const { timeline, data } = vestige;
                const top = loss.row === null ? 0 : timeline.layout.topOf(loss.row, 0);
                const wide = timeline.xOf(loss.end) - timeline.xOf(loss.begin);
                const found = timeline.lossAt(timeline.xOf(loss.begin) + wide / 2, top + 32);
                return [data.rows[loss.row]?.tid, found?.count];
            })"""
        )
        flags = page.evaluate(
            "vestige.data.blocks.flatMap((level) => [...level.flags])"
            ".reduce((all, one) => all | one, 0)"
        )

    assert losses == [[2, 5]]
    assert flags & 2  # a call without an exit


def test_who_waited(browser, tmp_path):
    """A wait for a mutex is on the row of its thread, with who had it."""
    calls = [
        (0, 8, "lock_req", (16,)),
        (10, 8, "lock_acq", (16, 0)),
        (1 * MS, 9, "lock_req", (16,)),
        (5 * MS, 8, "unlock", (16, 0)),
        (5 * MS + 10, 9, "lock_acq", (16, 0)),
        (6 * MS, 9, "unlock", (16, 0)),
    ]
    write_resources(tmp_path / "trace", calls)
    with opened(browser, tmp_path / "trace", tmp_path / "page.html") as page:
        x, y = page.evaluate(
            """() => {
                const { timeline, data } = vestige;
                const [[row, begin]] = data.meta.waits.rows;
                const box = document.getElementById("picture").getBoundingClientRect();
                return [box.x + timeline.xOf(begin + 1e6), box.y + timeline.layout.topOf(row, 0) + 30];
            }"""
        )
        page.mouse.move(x, y)
        tip = page.locator("#tip").inner_text().splitlines()
        page.fill("#search", "unlock")
        until(page, "document.querySelectorAll('#events tbody tr').length === 2")

    assert tip[0] == "waited 4 ms for a mutex"
    assert "thread 9" in tip[1]
    assert "thread 8 had it" in tip


def test_what_the_scheduler_did(browser, tmp_path):
    """A call has its parts, and the thread a line where it did not run."""
    calls = [code(1, HANDLE, "handle"), enter(10 * MS, HANDLE), leave(20 * MS)]
    write_calls(tmp_path / "trace/ust", {"a": [packet(calls, vtid=11)]})
    waits = {"prev_tid": 11, "prev_state": 1, "next_tid": 0}
    runs = {"prev_tid": 0, "prev_state": 0, "next_tid": 11}
    records = [
        (0, 5 * MS, "sched_switch", runs),
        (0, 12 * MS, "syscall_entry_read", {"fd": 3}),
        (0, 13 * MS, "sched_switch", waits),
        (0, 16 * MS, "sched_waking", {"tid": 11}),
        (0, 17 * MS, "sched_switch", runs),
        (0, 18 * MS, "syscall_exit_read", {"ret": 1}),
    ]
    write_kernel_trace(tmp_path / "trace/kernel", records)
    with opened(browser, tmp_path / "trace", tmp_path / "page.html") as page:
        x, y, drawn = page.evaluate(
            """() => {
                const { timeline, data } = vestige;
                const row = data.rows.findIndex((one) => one.kind === "calls");
                const box = document.getElementById("picture").getBoundingClientRect();
                const time = data.meta.turns.rows[0][1];
                const x = timeline.xOf(time + 1e6);
                const y = timeline.layout.topOf(row, 0);
                const ratio = window.devicePixelRatio;
                const at = [x * ratio, (y + 24 + 17 + 2) * ratio, 1, 1];
                const pen = timeline.canvas.getContext("2d");
                return [box.x + x, box.y + y + 30, [...pen.getImageData(...at).data]];
            }"""
        )
        page.mouse.move(x, y)
        tip = page.locator("#tip").inner_text().splitlines()

    assert tip[0] == "handle"
    assert tip[2:6] == [
        "ran 6 ms (60 %)",
        "waited 1 ms for a CPU",
        "waited 3 ms for other things",
        "3 ms of that in read",
    ]
    # Amber, as other waits.
    assert drawn == [0xD9, 0x8E, 0x04, 0xFF]


def test_on_paper(browser, trace, tmp_path):
    """All threads, the flame graph and the functions, dark on light."""
    with opened(browser, trace, tmp_path / "page.html", is_dark=True) as page:
        page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
        printed = page.evaluate(
            "[document.documentElement.className, vestige.timeline.canvas.clientHeight"
            " >= vestige.timeline.layout.height, document.getElementById('flame').hidden,"
            " document.getElementById('functions').hidden]"
        )
        page.evaluate("window.dispatchEvent(new Event('afterprint'))")
        until(page, "!vestige.frame")
        after = page.evaluate(
            "[document.documentElement.className,"
            " document.getElementById('functions').hidden]"
        )

    assert printed == ["", True, False, False]
    assert after == ["dark", True]


@pytest.mark.parametrize(
    ("streams", "rows"),
    [
        ({"a": [packet([enter(5, HANDLE), leave(5)])]}, 1),
        ({f"s{n}": [requests(n + 1, n, 3)] for n in range(200)}, 200),
    ],
    ids=["one call of no time", "200 threads"],
)
def test_other_traces(browser, tmp_path, streams, rows):
    """Each is shown."""
    trace = write_calls(tmp_path / "trace", streams)
    with opened(browser, trace, tmp_path / "page.html") as page:
        assert page.evaluate("vestige.data.rows.length") == rows
        assert page.evaluate("vestige.timeline.drawn.blocks") > 0
