"""Debug files from servers: a real one, and some that misbehave."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.debug_file_server import DEBUGINFOD, debuginfod, server
from support.ports import free_ports
from support.recordings import DEMO
from support.separate_debug_files import BUILD_ID, MISSING, Target, run
from vestige.cli.main import main
from vestige.debuginfo import (
    AttemptKind,
    DebugFileFinder,
    DebugInfoOptions,
    DebugSource,
    Outcome,
    find,
)
from vestige.debuginfo.files import debuginfod as debuginfod_client
from vestige.debuginfo.files import (
    http_download,
)
from vestige.debuginfo.files.debuginfod import DebuginfodClient, DebuginfodSettings

pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}")

DEADLINE = 60
LONG_ID = "abcdef1234" * 4
DEBUGINFOD_FIND = shutil.which("debuginfod-find")
needs_debuginfod = pytest.mark.skipif(
    not (DEBUGINFOD and DEBUGINFOD_FIND), reason="not installed: debuginfod"
)


class Machine:
    """A stripped library, its debug file kept aside, and a cache."""

    def __init__(self, root: Path):
        self.target = Target(root / "target")
        self.cache = root / "cache"
        self.notices = []
        self.clients = []

    def client(self, *urls, **settings):
        """Make a client of some servers."""
        made = DebuginfodSettings(urls, self.cache, **settings)
        return DebuginfodClient(made, self.notices.append)

    def find(self, client):
        """Search for the library's debug file with a client."""
        prefixes = [("/", self.target.root)]
        finder = DebugFileFinder([], prefixes, debuginfod=client)
        return finder.find(self.target.mapping())

    @property
    def cached(self):
        """The path of the debug file in the cache."""
        return self.cache / BUILD_ID / "debuginfo"

    def files(self):
        """List all files in the cache."""
        return sorted(path.name for path in self.cache.rglob("*") if path.is_file())


@pytest.fixture
def machine(tmp_path):
    """A machine without any debug file."""
    (tmp_path / "target").mkdir()
    machine = Machine(tmp_path)
    machine.target.strip()
    return machine


def redirects(place):
    """Return an answer that sends elsewhere: ``place`` tells where, given the path."""

    def answer(request):
        request.send_response(302)
        request.send_header("Location", place(request.path))
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def sends(content, **headers):
    """Return an answer with this content."""

    def answer(request):
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        for name, value in headers.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(content)

    return answer


def fails(status):
    """Return an answer with this status."""

    def answer(request):
        request.send_response(status)
        request.send_header("Content-Length", "0")
        request.end_headers()

    return answer


def tried(found):
    """List the attempts with servers and cache as (kind of place, outcome)."""
    return [
        ("server" if "://" in attempt.path else "cache", attempt.outcome)
        for attempt in found.attempts
        if attempt.kind is AttemptKind.DEBUGINFOD
    ]


def test_a_file_comes_from_a_server_once(machine):
    """Then it is in the cache, under the name that elfutils gives it."""
    content = machine.target.debug.read_bytes()
    with server(sends(content)) as (url, paths):
        first = machine.find(machine.client(url))
        second = machine.find(machine.client(url))

    assert first.source is second.source is DebugSource.DEBUGINFOD
    assert paths == [f"/buildid/{BUILD_ID}/debuginfo"]
    assert tried(first) == [("server", Outcome.USED)]
    assert tried(second) == [("cache", Outcome.USED)]
    assert machine.cached.read_bytes() == content
    assert machine.files() == ["debuginfo"]
    assert machine.notices == [
        f"downloading {len(content):,} bytes about /usr/bin/ls from {url}{paths[0]}"
    ]


def test_a_file_that_is_there_at_once_is_announced(machine, monkeypatch):
    """The thread that asks may be done before anybody looks at it."""
    monkeypatch.setattr(http_download._Download, "start", http_download._Download.run)
    with server(sends(machine.target.debug.read_bytes())) as (url, _):
        found = machine.find(machine.client(url))

    assert found.source is DebugSource.DEBUGINFOD
    assert [one.split()[0] for one in machine.notices] == ["downloading"]


def test_what_is_here_is_not_asked_for(machine):
    """Servers come last."""
    machine.target.install("/usr/bin/ls.debug")
    with server(fails(404)) as (url, paths):
        found = machine.find(machine.client(url))

    assert found.source is DebugSource.DEBUG_LINK
    assert paths == []


def test_a_file_that_no_server_has_is_not_asked_for_again(machine):
    """For the time that elfutils remembers it too."""
    with server(fails(404)) as (url, paths):
        found = machine.find(machine.client(url, f"{url}/"))
        again = machine.find(machine.client(url))
        (machine.cache / "cache_miss_s").write_text("0")
        later = machine.find(machine.client(url))

    assert tried(found) == [("server", Outcome.MISSING)] * 2
    assert tried(again) == [("cache", Outcome.NOT_ASKED)]
    assert tried(later) == [("server", Outcome.MISSING)]
    assert found.source is DebugSource.SYMBOLS_ONLY
    assert len(paths) == 3


def test_a_dead_server_is_asked_once(machine):
    """The next one is asked, and the first never again."""
    dead = f"http://127.0.0.1:{free_ports(1)[0]}"
    with server(fails(404)) as (url, paths):
        client = machine.client(dead, url)
        client.fetch(b"\1\2\3", "debuginfo", "a", lambda _: None, lambda *_: None)
        found = machine.find(client)

    assert tried(found) == [("server", Outcome.NOT_ASKED), ("server", Outcome.MISSING)]
    assert "Connection refused" in found.attempts[-2].detail
    assert len(paths) == 2
    assert sum("not asked again" in notice for notice in machine.notices) == 1


@pytest.mark.parametrize("status", [403, 500, 503])
def test_a_server_that_fails_is_not_asked_again(machine, status):
    """And its failure is not noted as a file that nobody has."""
    with server(fails(status)) as (url, paths):
        client = machine.client(url)
        found = machine.find(client)
        machine.find(client)

    assert found.attempts[-1].detail == f"HTTP status {status}"
    assert len(paths) == 1
    assert not machine.cached.exists()


def slow_to_answer(_):
    """Say nothing."""
    yield


def slow_header(request):
    """Send a header byte by byte."""
    request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
    while True:
        request.wfile.write(b"x")
        request.wfile.flush()
        yield


def slow_body(request):
    """Send a body byte by byte."""
    request.send_response(200)
    request.end_headers()
    while True:
        request.wfile.write(b"x")
        request.wfile.flush()
        yield


class SlowTime:
    """The time, which goes on while a server is slow, and at no other moment."""

    def __init__(self):
        self.now = 0.0
        self.is_over = threading.Event()

    def monotonic(self):
        """Return the seconds that servers have wasted."""
        return self.now

    def time(self):
        """Return the time of day."""
        return time.time()

    def wasted(self, slow, seconds):
        """Return an answer that takes longer than anybody waits.

        It wastes ``seconds`` in steps of one, whatever the machine does meanwhile.
        """

        def answer(request):
            for _, _ in zip(slow(request), range(seconds), strict=False):
                self.now += 1
            self.now = max(self.now, seconds)
            # Nobody closes the connection before the client has given up.
            self.is_over.wait(DEADLINE)

        return answer


@pytest.fixture
def slow_time(monkeypatch):
    """What clients take for the time."""
    made = SlowTime()
    monkeypatch.setattr(debuginfod_client, "time", made)
    monkeypatch.setattr(http_download, "time", made)
    yield made
    made.is_over.set()


@pytest.mark.parametrize("slow", [slow_to_answer, slow_header, slow_body])
def test_slow_servers_hold_up_a_run_for_the_time_limit_at_most(
    machine, slow_time, slow
):
    """However the time is wasted; each server has its share, and there is no file."""
    content = machine.target.debug.read_bytes()
    answer = slow_time.wasted(slow, 50)
    with server(answer) as (url, _), server(sends(content)) as (good, _):
        client = machine.client(url, good, seconds=100.0)
        found = machine.find(client)

    assert tried(found) == [("server", Outcome.FAILED), ("server", Outcome.USED)]
    assert found.attempts[-2].detail == "not complete within 50.0 s"
    assert not slow_time.is_over.is_set()
    assert machine.files() == ["debuginfo"]


def test_when_the_time_is_over_nobody_is_asked(machine, slow_time):
    """One limit for all files of a run."""
    with server(slow_time.wasted(slow_to_answer, 100)) as (url, paths):
        client = machine.client(url, seconds=100.0)
        machine.find(client)
        client._dead.clear()
        found = machine.find(client)

    assert tried(found) == [("server", Outcome.NOT_ASKED)]
    assert found.attempts[-1].detail == "the 100 s of DEBUGINFOD_TIMEOUT are over"
    assert len(paths) == 1
    assert machine.files() == []


def test_a_server_that_sends_another_file_is_not_believed(machine):
    """Its build ID differs; the file is not kept, the server not asked again."""
    source = machine.target.root / "twice.c"
    other = machine.target.root / "other"
    options = ("-g", "-shared", "-fPIC", "-Wl,--build-id=0x1234abcdef")
    run("gcc", *options, source, "-o", other)
    right = machine.target.debug.read_bytes()
    with (
        server(sends(other.read_bytes())) as (lying, _),
        server(sends(right)) as (honest, _),
    ):
        found = machine.find(machine.client(lying, honest))
        client = machine.client(lying)
        machine.cached.unlink()
        alone = machine.find(client)
        again = machine.find(client)

    assert tried(found) == [
        ("server", Outcome.OTHER_BUILD_ID),
        ("server", Outcome.USED),
    ]
    assert alone.source is DebugSource.SYMBOLS_ONLY
    assert tried(again) == [("server", Outcome.NOT_ASKED)]
    assert machine.files() == []


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"\x7fELF"])
def test_what_is_no_object_file_is_refused(machine, content):
    """As a web page of a proxy that asks to log in."""
    with server(sends(content)) as (url, _):
        found = machine.find(machine.client(url))

    assert tried(found) == [("server", Outcome.UNUSABLE)]
    assert machine.files() == []


def test_a_file_that_ends_early_is_refused(machine):
    """The server has said how long it would be."""
    content = machine.target.debug.read_bytes()

    def answer(request):
        request.send_response(200)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content[:-100])

    with server(answer) as (url, _):
        found = machine.find(machine.client(url))

    assert tried(found) == [("server", Outcome.FAILED)]
    assert found.attempts[-1].detail.startswith("the connection ended after")
    assert machine.files() == []


def endless(request):
    """Send more and more, without saying how much."""
    request.send_response(200)
    request.end_headers()
    for _ in range(1000):
        request.wfile.write(bytes(1 << 16))


@pytest.mark.parametrize("answer", [endless, sends(bytes(200_000))])
def test_a_file_beyond_the_limit_of_size_is_refused(machine, answer):
    """Whether the server says so or not; it is asked for other files."""
    with server(answer) as (url, _):
        client = machine.client(url, largest=100_000)
        found = machine.find(client)
        again = machine.find(client)

    for one in (found, again):
        assert tried(one) == [("server", Outcome.TOO_LARGE)]
    assert "DEBUGINFOD_MAXSIZE (100,000 bytes)" in found.attempts[-1].detail
    assert machine.files() == []


@pytest.mark.parametrize("place", ["file:///etc/passwd", "ftp://127.0.0.1/a"])
def test_a_redirect_out_of_the_web_is_refused(machine, place):
    """A server must not make the client read files of its own machine."""
    with server(redirects(lambda _: place)) as (url, _):
        found = machine.find(machine.client(url))

    assert tried(found) == [("server", Outcome.FAILED)]
    assert machine.files() == []


def test_a_redirect_within_the_web_is_followed(machine):
    """As a federation of servers may use it."""
    content = machine.target.debug.read_bytes()
    with server(sends(content)) as (other, _):
        redirect = redirects(lambda _: f"{other}/elsewhere")
        with server(redirect) as (url, _):
            found = machine.find(machine.client(url))

    assert tried(found) == [("server", Outcome.USED)]


def test_redirects_in_a_circle_end(machine):
    """After a few of them."""
    with server(redirects(lambda path: f"{path}x")) as (url, paths):
        found = machine.find(machine.client(url))

    assert tried(found) == [("server", Outcome.FAILED)]
    assert len(paths) < 10


@pytest.mark.parametrize("url", ["file:///srv/debug", "ftp://127.0.0.1", "nonsense"])
def test_an_address_outside_of_the_web_is_not_asked(machine, url):
    """The log says so."""
    found = machine.find(machine.client(url))

    assert found.attempts[-1].detail == "no address of a web server"


def test_a_damaged_file_in_the_cache_is_replaced(machine):
    """As a full disk or another program leaves it."""
    machine.cached.parent.mkdir(parents=True)
    machine.cached.write_bytes(b"\x7fELF and no more")
    with server(sends(machine.target.debug.read_bytes())) as (url, _):
        found = machine.find(machine.client(url))

    assert tried(found) == [("cache", Outcome.UNUSABLE), ("server", Outcome.USED)]


def test_a_cache_that_cannot_be_written_stops_all_downloads(machine):
    """A file is in the way of its directory."""
    machine.cache.write_text("in the way")
    with server(fails(404)) as (url, paths):
        client = machine.client(url)
        found = machine.find(client)

    assert tried(found) == [("server", Outcome.NOT_ASKED)]
    assert "the cache cannot be written" in found.attempts[-1].detail
    assert paths == []
    assert len(machine.notices) == 1


def test_a_full_disk_stops_all_downloads(machine):
    """The server is not to blame, and nothing is left of the file."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with server(sends(machine.target.debug.read_bytes())) as (url, paths):
        client = machine.client(url)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
        try:
            found = machine.find(client)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        again = machine.find(client)

    assert found.attempts[-1].detail == "the cache cannot be written: File too large"
    assert again.attempts[-1].outcome is Outcome.NOT_ASKED
    assert again.attempts[-1].detail == found.attempts[-1].detail
    assert len(paths) == 1
    assert machine.files() == []


def test_several_readers_may_download_one_file_at_once(machine):
    """Each sees the whole file or none."""
    content = machine.target.debug.read_bytes()

    all_ask = threading.Barrier(4)

    def answer(request):
        all_ask.wait(DEADLINE)
        sends(content)(request)

    with server(answer) as (url, paths), ThreadPoolExecutor(4) as pool:
        clients = [machine.client(url) for _ in range(4)]
        found = list(pool.map(machine.find, clients))

    assert [one.source for one in found] == [DebugSource.DEBUGINFOD] * 4
    assert machine.cached.read_bytes() == content
    assert machine.files() == ["debuginfo"]
    assert len(paths) == 4


@pytest.mark.parametrize("length", [0, 1, 65, 4000])
def test_a_build_id_of_an_odd_length_is_not_asked_for(machine, length):
    """It comes from a trace, and would become a part of a path."""
    client = machine.client("http://127.0.0.1:1")
    log = []

    assert client.fetch(bytes(length), "debuginfo", "a", len, log.append) is None
    assert log == []


def test_the_object_is_asked_for_when_there_is_no_debug_file(machine):
    """It has the names of what it exports."""
    content = machine.target.object.read_bytes()
    machine.target.object.unlink()
    mapping = machine.target.mapping(build_id=bytes.fromhex(BUILD_ID))

    def answer(request):
        is_object = request.path.endswith("/executable")
        (sends(content) if is_object else fails(404))(request)

    with server(answer) as (url, paths):
        finder = DebugFileFinder([], debuginfod=machine.client(url))
        found = finder.find(mapping)

    assert found.source is DebugSource.SYMBOLS_ONLY
    assert found.object is found.debug is not None
    assert [path.rpartition("/")[2] for path in paths] == ["debuginfo", "executable"]


def test_the_settings_are_those_of_elfutils(tmp_path):
    """Names and defaults as in its manual, and bounds where it has none."""
    settings = DebuginfodSettings.of({"HOME": "/home/a"})
    assert settings.urls == ()
    assert settings.cache == Path("/home/a/.cache/debuginfod_client")
    assert (settings.seconds, settings.seconds_per_file) == (90, None)
    assert settings.largest == 4 << 30

    settings = DebuginfodSettings.of(
        {
            "DEBUGINFOD_URLS": "ima:enforcing http://a/ https://b http://a/",
            "XDG_CACHE_HOME": "/cache",
            "DEBUGINFOD_TIMEOUT": "0",
            "DEBUGINFOD_MAXTIME": "7",
            "DEBUGINFOD_MAXSIZE": "0",
        }
    )
    assert settings.urls == ("http://a", "https://b")
    assert settings.cache == Path("/cache/debuginfod_client")
    assert (settings.seconds, settings.seconds_per_file) == (None, 7)
    assert settings.largest == 0

    (tmp_path / ".debuginfod_client_cache").mkdir()
    old = DebuginfodSettings.of({"HOME": str(tmp_path), "XDG_CACHE_HOME": "/cache"})
    assert old.cache == tmp_path / ".debuginfod_client_cache"

    named = DebuginfodSettings.of({"DEBUGINFOD_CACHE_PATH": "/c", "HOME": "/home/a"})
    assert named.cache == Path("/c")


@pytest.mark.parametrize("text", ["", "soon", "nan", "1e999"])
def test_a_setting_that_is_no_number_has_its_default(text):
    """As if it were not there."""
    settings = DebuginfodSettings.of(
        {
            "DEBUGINFOD_TIMEOUT": text,
            "DEBUGINFOD_MAXSIZE": text,
        }
    )

    assert (settings.seconds, settings.largest) == (90, 4 << 30)


def test_without_servers_the_log_names_the_variable(machine, monkeypatch):
    """So that nobody wonders why nothing was asked."""
    monkeypatch.delenv("DEBUGINFOD_URLS", raising=False)
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(machine.cache))
    options = DebugInfoOptions(debug_directories=(), debuginfod=True)

    found = find(machine.target.object, options=options)

    assert found.attempts[-1].reason == "not asked: DEBUGINFOD_URLS is not set"
    assert machine.files() == []


def test_a_supplementary_file_is_downloaded_too(machine):
    """Where the debug file that was found here refers to one that is not."""
    if shutil.which("dwz") is None:
        pytest.skip("not installed: dwz")
    debug = machine.target.path("/usr/bin/.debug/ls.debug")
    machine.target.install("/usr/bin/.debug/ls.debug")
    twin, shared = machine.target.root / "twin", machine.target.root / "shared"
    shutil.copy(debug, twin)
    run("dwz", "-m", shared, debug, twin)
    crc = zlib.crc32(debug.read_bytes())
    digits = run("readelf", "-n", shared).partition("Build ID: ")[2].split()[0]
    content = shared.read_bytes()
    shared.unlink()

    with server(sends(content)) as (url, paths):
        prefixes = [("/", machine.target.root)]
        finder = DebugFileFinder([], prefixes, debuginfod=machine.client(url))
        found = finder.find(machine.target.mapping(debug_link=("ls.debug", crc)))

    assert found.source is DebugSource.DEBUG_LINK
    assert found.supplement.build_id.hex() == digits
    assert paths == [f"/buildid/{digits}/debuginfo"]


def test_the_command_line_asks_and_says_so(tmp_path, monkeypatch, capfd):
    """Only with the option, whatever the environment names."""
    from_build_id = {
        f"{path.parent.name}{path.stem}": path.read_bytes()
        for path in (DEMO / "debug" / ".build-id").rglob("*.debug")
    }

    def answer(request):
        content = from_build_id.get(request.path.split("/")[2])
        (fails(404) if content is None else sends(content))(request)

    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(tmp_path / "cache"))
    monkeypatch.setenv("VESTIGE_DEBUG_PATH", str(tmp_path))
    with server(answer) as (url, paths):
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        assert main(["convert", "--debug-info", str(DEMO / "trace")]) == 0
        without = capfd.readouterr()
        assert paths == []
        assert main(["convert", "--debuginfod", str(DEMO / "trace")]) == 0
        asked = capfd.readouterr()

    assert 'src = "discount.c:13"' not in without.out
    assert 'src = "discount.c:13"' in asked.out
    assert len(paths) == len(set(paths)) >= 2
    assert asked.err.count("vestige: downloading ") == 2
    assert "/opt/vestige-demo/plugins/libdiscount.so from http://127" in asked.err


@needs_debuginfod
def test_a_real_server_and_the_cache_of_its_own_client(tmp_path, monkeypatch):
    """What one client has downloaded the other one finds."""
    offered = tmp_path / "offered"
    offered.mkdir()
    (tmp_path / "twice.c").write_text("int twice(int v) { return 2 * v; }\n")
    options = ("-g", "-shared", "-fPIC", f"-Wl,--build-id=0x{LONG_ID}")
    library = tmp_path / "libtwice.so"
    run("gcc", *options, tmp_path / "twice.c", "-o", library)
    run("objcopy", "--only-keep-debug", library, offered / "libtwice.debug")
    run("strip", library)
    caches = tmp_path / "ours", tmp_path / "theirs"
    search = DebugInfoOptions(debug_directories=(), debuginfod=True)

    with debuginfod(offered, LONG_ID) as url:
        monkeypatch.setenv("DEBUGINFOD_URLS", url)
        monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(caches[0]))
        ours = find(library, options=search)
        monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(caches[1]))
        _debuginfod_find(LONG_ID)

    monkeypatch.setenv("DEBUGINFOD_URLS", "http://127.0.0.1:1")
    theirs = find(library, options=search)
    monkeypatch.setenv("DEBUGINFOD_CACHE_PATH", str(caches[0]))

    assert ours.source is theirs.source is DebugSource.DEBUGINFOD
    assert tried(ours) == [("server", Outcome.USED)]
    assert tried(theirs) == [("cache", Outcome.USED)]
    assert _debuginfod_find(LONG_ID) == str(caches[0] / LONG_ID / "debuginfo")


def _debuginfod_find(build_id):
    command = [str(DEBUGINFOD_FIND), "debuginfo", build_id]
    return subprocess.run(
        command, check=True, capture_output=True, text=True, env=dict(os.environ)
    ).stdout.strip()
