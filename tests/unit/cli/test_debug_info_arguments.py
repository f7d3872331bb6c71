"""The options that say where debug files are, and how functions are named."""

from __future__ import annotations

import subprocess
import sys

import pytest

from support.recordings import DATA, DEMO

TRACE = DEMO / "trace"
DEBUG = f"--debug-info-dir={DEMO / 'debug'}"
ROOT = f"--debug-info-target-prefix={DEMO / 'root'}"
NETWORK = ("http.client", "ssl", "urllib.request", "socket")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch):
    """The environment of the tests names neither directories nor servers."""
    for name in ("VESTIGE_DEBUG_PATH", "DEBUGINFOD_URLS"):
        monkeypatch.delenv(name, raising=False)


def discounts(run, *options):
    """Return what `convert` prints of the first discount."""
    status, text, errors = run("convert", *options, TRACE)
    line = next(line for line in text.splitlines() if " discount:applied: " in line)
    assert (status, errors) == (0, "")
    return line


def test_debug_directories_come_from_the_environment(run, monkeypatch):
    """Where the option is not given."""
    monkeypatch.setenv("VESTIGE_DEBUG_PATH", f"/nowhere:{DEMO / 'debug'}")

    assert 'src = "discount.c:13"' in discounts(run, ROOT)
    assert 'src = ""' in discounts(run, ROOT, "--debug-info-dir=/nowhere")


def test_several_prefixes_are_tried(run, tmp_path):
    """Sysroots and maps, in their order."""
    plugins = DEMO / "root/opt/vestige-demo/plugins"
    prefixes = [
        f"--debug-info-target-prefix={tmp_path}",
        f"--debug-info-target-prefix=/opt/vestige-demo/plugins={plugins}",
    ]

    found = discounts(run, DEBUG, *prefixes, "--debug-info-full-path")

    assert f'bin = "{plugins}/libdiscount.so+0x1a42"' in found


@pytest.mark.parametrize("verb", ["view", "convert"])
@pytest.mark.parametrize("text", ["", "app=/srv", "/app="])
def test_a_prefix_that_says_nothing_is_wrong_usage(run, verb, text):
    """With the option's name and what was expected."""
    status, _, errors = run(verb, f"--debug-info-target-prefix={text}", TRACE)

    assert status == 2
    assert "--debug-info-target-prefix" in errors
    assert "neither a directory nor OLD=NEW" in errors


def test_the_form_of_names_implies_debug_info(run):
    """As the older options do."""
    assert "debug_info = {" in discounts(run, "--no-demangle")


def test_a_component_takes_a_prefix_with_any_name(run, tmp_path):
    """Its parameter is a directory, as in Babeltrace 2, also with a ``=`` in it."""
    odd = tmp_path / "a=b"
    odd.symlink_to(DEMO / "root")

    found = discounts(
        run,
        "-c",
        "filter.lttng-utils.debug-info",
        "-p",
        f'target-prefix="{odd}",debug-info-dir="{DEMO / "debug"}",full-path=yes',
    )

    assert f'bin = "{odd}/opt/vestige-demo/plugins/libdiscount.so+0x1a42"' in found


def imported_by(*words):
    """Run a command line in a process of its own; return what it has imported."""
    program = (
        "import sys\n"
        "from vestige.cli.main import main\n"
        "status = main(sys.argv[1:])\n"
        "print(*sys.modules, file=sys.stderr)\n"
        "sys.exit(status)\n"
    )
    command = [sys.executable, "-c", program, *map(str, words)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return set(done.stderr.splitlines()[-1].split())


def test_text_needs_neither_network_nor_debug_files():
    """Start-up takes as long as all that is read of a small trace."""
    imported = imported_by("convert", DATA / "hello")

    assert not imported & {*NETWORK, "numpy", "tempfile", "vestige.debuginfo"}


def test_debug_files_need_no_network():
    """Unless servers are to be asked."""
    without = imported_by("convert", DEBUG, ROOT, TRACE)
    cached = imported_by("convert", "--debuginfod", DEBUG, ROOT, TRACE)

    assert "vestige.debuginfo.files.finder" in without & cached
    assert not without & {*NETWORK, "numpy", "vestige.debuginfo.files.debuginfod"}
    assert not cached & {*NETWORK, "numpy"}


def test_debuginfod_without_a_server_says_so(run):
    """Nothing would be downloaded, and nobody would know why."""
    status, text, errors = run("convert", "--debuginfod", TRACE)

    assert status == 0
    assert "debug_info = {" in text
    assert errors == "vestige: warning: --debuginfod: DEBUGINFOD_URLS names no server\n"
