"""Where the addresses of traces lie, and which files have names for them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import vestige
from support.recordings import DATA, DEMO, DEMO_DEBUG_INFO, RELOAD_DEBUG_INFO
from vestige.analysis import debug_packages
from vestige.analysis.debug_info import Absence, examine_debug_info
from vestige.analysis.debug_packages import debug_package_commands
from vestige.components.sources.ctf_fs import CtfFsSource
from vestige.debuginfo import DebugFileFinder, DebugSource, Resolver


def examined(path, options):
    """Return the report on a trace."""
    return examine_debug_info(
        CtfFsSource([path]), Resolver(DebugFileFinder.of(options))
    )


def objects_of(report):
    """Return the objects of the only process by their file names."""
    (process,) = report.processes
    return {Path(one.mapping.path).name: one for one in process.objects}


@pytest.mark.parametrize(
    ("path", "options"),
    [(DEMO / "trace", DEMO_DEBUG_INFO), (DATA / "reload", RELOAD_DEBUG_INFO)],
)
def test_counts_are_those_of_the_events_themselves(path, options):
    """Counts are those of the events themselves."""
    report = examined(path, options)
    (process,) = report.processes
    expected, with_line, with_function = Counter(), Counter(), Counter()
    absent = 0
    for event in vestige.open(path, debug_info=options).events():
        place = event.debug_info
        if isinstance(place, vestige.Unresolved):
            absent += 1
            continue
        name = place.binary.mapping.path
        expected[name] += 1
        with_line[name] += bool(place.line)
        with_function[name] += bool(place.function)

    assert {one.mapping.path: one.events for one in process.objects if one.events} == (
        expected
    )
    for one in process.objects:
        assert one.events_with_line == with_line[one.mapping.path]
        assert one.events_with_function == with_function[one.mapping.path]
    assert sum(one.events for one in process.absent) == absent
    assert report.events == sum(expected.values()) + absent
    assert report.events_without_address == 0


def test_libraries_at_one_base_are_told_apart():
    """Libraries at one base are told apart."""
    objects = objects_of(examined(DATA / "reload", RELOAD_DEBUG_INFO))

    alpha, bravo = objects["libalpha.so"], objects["libbravo.so"]
    assert alpha.mapping.base == bravo.mapping.base
    assert (alpha.events, bravo.events) == (12, 12)
    assert len(alpha.places) == 3
    assert alpha.files.source is DebugSource.BUILD_ID
    assert Path(alpha.names_from).parts[-2:] == (
        alpha.mapping.build_id.hex()[:2],
        f"{alpha.mapping.build_id.hex()[2:]}.debug",
    )


def test_events_around_the_life_of_an_object_say_so():
    """Events around the life of an object say so."""
    (process,) = examined(DATA / "reload", RELOAD_DEBUG_INFO).processes

    assert process.name == "reload"
    assert [(one.absence, one.events) for one in process.absent] == [
        (Absence.BEFORE, 17),
        (Absence.AFTER, 6),
    ]


def test_a_trace_without_state_dump_says_so():
    """A trace without state dump says so."""
    report = examined(DATA / "threads-pid", DEMO_DEBUG_INFO)

    assert [process.vpid for process in report.processes] == [68, 69]
    for process in report.processes:
        assert not process.objects
        (absent,) = process.absent
        assert absent.absence is Absence.NO_STATE_DUMP
        assert (absent.events, len(absent.addresses)) == (88, 3)


def test_a_trace_without_addresses_has_no_processes():
    """A trace without addresses has no processes."""
    report = examined(DATA / "hello", DEMO_DEBUG_INFO)

    assert not report.processes
    assert (report.events, report.events_without_address) == (4, 4)


def test_each_place_tried_is_told_for_an_object_without_names():
    """Each place tried is told for an object without names."""
    options = DEMO_DEBUG_INFO._replace(
        debug_directories=(Path("/nonexistent"),),
        target_prefixes=(("/", Path("/nonexistent")),),
    )
    shop = objects_of(examined(DEMO / "trace", options))["shop"]

    assert shop.names_from is None
    assert shop.events_with_function == 0
    assert shop.shortfalls == {"file missing": shop.events}
    assert len(shop.files.attempts) >= 2
    assert {attempt.outcome.name for attempt in shop.files.attempts} == {"MISSING"}


class TestPackages:
    """The command that brings a debug file."""

    def ask(self, monkeypatch, tool, answer, paths):
        """Ask a package manager that gives an answer."""
        asked = []

        def run(command):
            asked.append(command)
            return answer

        monkeypatch.setattr(
            debug_packages.shutil, "which", lambda name: name if name == tool else None
        )
        monkeypatch.setattr(debug_packages, "_run", run)
        return debug_package_commands(paths), asked

    def test_debian(self, monkeypatch):
        """Debian."""
        answer = (
            "libc6:amd64: /lib/x86_64-linux-gnu/libc.so.6\n"
            "diversion by dash from: /bin/sh\n"
            "coreutils, other: /bin/ls\n"
        )
        paths = ["/usr/lib/x86_64-linux-gnu/libc.so.6", "/bin/ls", "/opt/x*"]
        commands, asked = self.ask(monkeypatch, "dpkg-query", answer, paths)

        assert commands == {
            "/usr/lib/x86_64-linux-gnu/libc.so.6": "apt install libc6-dbg",
            "/bin/ls": "apt install coreutils-dbgsym",
        }
        assert not any("*" in word for word in asked[0])

    def test_fedora(self, monkeypatch):
        """Fedora."""
        commands, asked = self.ask(monkeypatch, "rpm", "glibc\n", ["/lib64/libc.so.6"])

        assert commands == {"/lib64/libc.so.6": "dnf debuginfo-install glibc"}
        assert asked[0][:2] == ["rpm", "-qf"]

    def test_no_package_or_no_manager(self, monkeypatch):
        """No package or no manager."""
        message = "file /x is not owned by any package\n"
        assert self.ask(monkeypatch, "rpm", message, ["/x"])[0] == {}
        assert self.ask(monkeypatch, "none", "", ["/x"]) == ({}, [])
