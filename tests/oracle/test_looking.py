"""Programs of others and services in Python: what was planted in them is found."""

from __future__ import annotations

import vestige
from support.patched import needs_patching
from support.python_programs import record_python
from support.recorded import run_recorded

MILLISECOND = 1_000_000
PLANTED = 300 * MILLISECOND
"""How long the planted request takes at least, nanoseconds."""
BLOB = 3_000_000
STATEMENTS = """
create table t(a integer primary key, b text);
insert into t values (1, 'one'), (2, 'two');
select length(randomblob(3000000));
select count(*) from t;
"""
SERVER = """
import threading, time, urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

def refill_cache():
    time.sleep(0.3)

def handle(number):
    if number == 17:
        refill_cache()
    return str(sum(range(number))).encode()

class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        body = handle(int(self.path[1:]))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *_):
        pass

server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, args=(0.01,)).start()
def get(number):
    url = f"http://127.0.0.1:{server.server_port}/{number}"
    return urllib.request.urlopen(url).read()
with ThreadPoolExecutor(4) as clients:
    list(clients.map(get, range(24)))
server.shutdown()
"""
SERVICE = """
import asyncio
import vestige.instrument

request = vestige.instrument.span("app:request")

async def fetch(number):
    await asyncio.sleep(0.3 if number == 17 else 0)

async def serve(number):
    with request():
        await fetch(number)

async def main():
    await asyncio.gather(*(serve(number) for number in range(24)))

asyncio.run(main())
"""


@needs_patching
def test_sqlite_as_it_is_installed(tmp_path):
    """Each statement is prepared once, and one of them takes much memory."""
    options = ["-P", "sqlite3_prepare_v2", "--patch-in", "libsqlite3.so.0", "--libc"]

    done = run_recorded(
        tmp_path / "trace", ["sqlite3", ":memory:", STATEMENTS], *options
    )

    assert done.stdout.split() == [str(BLOB), "2"], done.stderr
    trace = vestige.open(tmp_path / "trace")
    prepared = trace.calls("sqlite3_prepare_v2").count()
    assert prepared >= STATEMENTS.count(";")
    largest = max(trace.memory().sites, key=lambda one: one.longest_block)
    assert largest.longest_block >= BLOB
    assert "libsqlite3" in str(largest.site)
    assert largest.live == 0


def test_a_server_with_threads(tmp_path):
    """The slow request is the longest call, and what it waited for is inside."""
    done = record_python(tmp_path, SERVER, "--python-functions", "--only-my-code")

    assert done.returncode == 0, done.stderr
    trace = vestige.open(tmp_path / "trace")
    handled = trace.calls("handle")
    assert handled.count() == 24
    [slow] = handled.longest(1)
    inside = {call.function.name: call.duration for call in slow.inside().calls}
    assert inside["refill_cache"] >= PLANTED
    assert slow.thread in trace.threads()


def test_a_service_of_coroutines(tmp_path):
    """A span waited, although its functions hardly ran."""
    done = record_python(tmp_path, SERVICE, "--python-functions", "--only-my-code")

    assert done.returncode == 0, done.stderr
    [span] = vestige.open(tmp_path / "trace").call_tree().spans
    assert (span.name, span.calls) == ("app:request", 24)
    assert span.elapsed.longest >= PLANTED
    assert span.running.total <= span.elapsed.total - PLANTED
