"""The page in a real browser: what it shows is what the trace holds."""

from __future__ import annotations

import threading
from contextlib import contextmanager

import pytest

import vestige
from support.call_traces import code, enter, leave, packet, write_calls
from support.pages import opened, until
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.debuginfo import DebugFileFinder, Resolver
from vestige.page.served_trace import Opener, ServedTrace
from vestige.page.server import PageServer
from vestige.plain_text import plain

pytestmark = pytest.mark.browser

MS = 1_000_000
HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror=alert(1)>"
REVERSED = "\u202egnp.exe"
HANDLE, PARSE, SLOW, ODD, TURNED = 0x10000, 0x20000, 0x30000, 0x40000, 0x50000
NAMES = {
    HANDLE: "handle",
    PARSE: "parse",
    SLOW: "slow_path",
    ODD: HOSTILE,
    TURNED: REVERSED,
}
SLOW_BEGIN, SLOW_TIME = 61 * MS, 25 * MS


@contextmanager
def served(path, *, is_followed=False):
    """Serve the page of a trace."""
    opener = Opener(
        "a trace",
        lambda: CtfFsSource([path]),
        lambda _: Resolver(DebugFileFinder()),
        lambda _: None,
        (path / ".arena").exists,
        is_followed=is_followed,
    )
    with PageServer(ServedTrace(opener)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def requests_of(vtid, begin, count):
    """Return what a thread records that handles requests."""
    events = []
    for number in range(count):
        at = begin + number * MS
        events += [enter(at, HANDLE), enter(at + 1000, PARSE)]
        events += [leave(at + 200_000), leave(at + 700_000)]
    return packet(events, vtid=vtid)


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    """Write a trace of three threads, one of which is slow once."""
    names = [code(1, base, name) for base, name in NAMES.items()]
    slow = [
        *(enter(60 * MS, HANDLE), enter(SLOW_BEGIN, SLOW)),
        *(enter(62 * MS, ODD), leave(63 * MS), enter(64 * MS, TURNED), leave(65 * MS)),
        *(leave(SLOW_BEGIN + SLOW_TIME), leave(90 * MS)),
    ]
    streams = {
        "a": [packet(names, vtid=11), requests_of(11, 10 * MS, 40)],
        "b": [requests_of(12, 11 * MS, 30), packet(slow, vtid=12)],
        "c": [requests_of(13, 12 * MS, 50)],
    }
    return write_calls(tmp_path_factory.mktemp("page") / "trace", streams)


def test_sums_are_those_of_the_report(browser, trace):
    """In the table of functions, and in the flame graph."""
    with served(trace) as server, opened(browser, server.url) as page:
        page.click("#tab-functions")
        shown = page.evaluate(
            "vestige.sums.map((row) => [vestige.data.functions[row.functionId].name,"
            " row.calls, row.duration, row.self])"
        )
        rows = page.locator("#functions tbody tr").count()

    tree = vestige.open(trace).call_tree()
    expected = [
        [plain(row.function.name), row.calls, row.total, row.self_time]
        for row in tree.functions()
    ]
    assert sorted(shown) == sorted(expected)
    assert rows == len(NAMES)


def point_at(page, moment, row, depth):
    """Move the pointer to a moment in a lane of the timeline; return what the tip says."""
    x, y = page.evaluate(
        """([time, row, depth]) => {
            const { timeline } = vestige;
            const box = document.getElementById("picture").getBoundingClientRect();
            const top = timeline.layout.topOf(row, depth) - timeline.box.scrollTop;
            return [box.x + timeline.xOf(time), box.y + top + 24 + 8];
        }""",
        [moment, row, depth],
    )
    page.mouse.move(x, y)
    return page.locator("#tip").inner_text().splitlines()


def test_a_slow_call_is_found_by_zooming(browser, trace):
    """From all of it down to single calls, with the wheel."""
    with served(trace) as server, opened(browser, server.url) as page:
        begin = int(page.evaluate("vestige.data.meta.begin"))
        middle = SLOW_BEGIN + SLOW_TIME // 2 - begin
        row = page.evaluate("vestige.data.rows.findIndex((row) => row.tid === 12)")
        point_at(page, middle, row, 1)
        for _ in range(4):
            page.mouse.wheel(0, -300)
        until(page, "vestige.view.end - vestige.view.begin < 30e6")
        until(page, "[...vestige.data.tiles.keys()].some((key) => key[0] === '-')")
        until(page, "[...vestige.data.tiles.values()].every((tile) => tile.blocks)")
        until(page, "!vestige.frame")
        tip = point_at(page, middle, row, 1)
        page.mouse.down()
        page.mouse.up()
        until(page, "document.getElementById('details').innerText.length")
        told = page.locator("#details").inner_text()

    assert tip[:2] == ["slow_path", "25 ms"]
    assert "thread 12" in tip[2]
    assert tip[3] == "/srv/app.py:1"
    assert "slow_path" in told


def test_names_are_text_and_nothing_else(browser, trace):
    """Whoever named a function shall not run anything here."""
    with served(trace) as server, opened(browser, server.url) as page:
        page.click("#tab-functions")
        assert page.evaluate("window.broken") is None
        assert HOSTILE in page.locator("#functions").inner_text()
        page.fill("#search", "img src")
        until(page, "vestige.view.matches?.size === 1")


def test_a_recording_that_grows(browser, tmp_path):
    """The page shows what has come, and that nothing more comes."""
    path = write_calls(tmp_path / "trace", {"a": [requests_of(11, 10 * MS, 40)]})
    (path / ".arena").touch()
    more = requests_of(12, 90 * MS, 20).encode()
    with served(path) as server, opened(browser, server.url) as page:
        span = page.evaluate("vestige.data.span")
        (path / "b").write_bytes(more)
        until(page, f"vestige.data.span > {span}")
        rows = page.evaluate("vestige.data.rows.map((row) => [row.tid, row.calls])")

    assert sorted(rows) == [[11, 80], [12, 40]]


def test_a_recording_that_is_followed(browser, tmp_path):
    """The last seconds are shown, until somebody looks elsewhere."""
    begins = (10 * MS, 15_000 * MS)
    packets = [requests_of(11, begin, 2) for begin in begins]
    path = write_calls(tmp_path / "trace", {"a": packets})
    (path / ".arena").touch()
    shown = (
        "[vestige.view.end - vestige.view.begin, vestige.view.end, vestige.view.span]"
    )
    with (
        served(path, is_followed=True) as server,
        opened(browser, server.url) as page,
    ):
        wide, end, span = page.evaluate(shown)
        assert (wide, end) == (10_000 * MS, span)
        (path / "b").write_bytes(requests_of(12, 17_000 * MS, 2).encode())
        until(page, f"vestige.view.span > {span}")
        wide, end, span = page.evaluate(shown)
        assert (wide, end) == (10_000 * MS, span)
        page.evaluate("vestige.view.fit()")
        (path / "c").write_bytes(requests_of(13, 19_000 * MS, 2).encode())
        until(page, f"vestige.view.span > {span}")
        wide, end, span = page.evaluate(shown)
        assert (wide, end) == (span, span)


@pytest.mark.parametrize(
    ("streams", "rows"),
    [
        ({"a": [packet([])]}, 0),
        ({"a": [packet([enter(5, HANDLE), leave(5)])]}, 1),
        ({"a": [packet([code(5, HANDLE, "f")])]}, 1),
        ({f"s{n}": [requests_of(n + 1, n, 3)] for n in range(200)}, 200),
    ],
    ids=["nothing", "one call of no time", "no call", "200 threads"],
)
def test_other_traces(browser, tmp_path, streams, rows):
    """Each is shown."""
    path = write_calls(tmp_path / "trace", streams)
    with served(path) as server, opened(browser, server.url, is_dark=True) as page:
        assert page.evaluate("vestige.data.rows.length") == rows
