"""Programs that were compiled with LTTng-UST's headers, by hand: LTTng is not needed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import vestige
from support.compilers import PROGRAMS, run_tool
from support.instrumented import payloads, record_instrumented, records
from support.recorded import run_recorded
from vestige.record import RecordingOptions, record
from vestige.record.backends.in_process.skipped_events import skipped_lines
from vestige.record.backends.in_process.tracer import (
    can_audit,
    library_path,
    tracer_environment,
)

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)
SOURCES = PROGRAMS / "lttng"
SECONDS = 60.0
HEADERS = PROGRAMS.parent.parent / "tracer/lttng"
FINE = [
    ("sound:fine", {"number": 1, "text": "one"}),
    ("sound:also_fine", {"number": 1}),
    ("later:blobs", {"head": [*b"on"], "_tail_length": 3, "tail": [*b"one"]}),
    ("damaged:fine", {"number": 1, "text": "one"}),
    ("sound:fine", {"number": 20, "text": "twenty"}),
    ("sound:also_fine", {"number": 20}),
    ("later:blobs", {"head": [*b"tw"], "_tail_length": 6, "tail": [*b"twenty"]}),
    ("damaged:fine", {"number": 20, "text": "twenty"}),
]


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Compiles a source, and links it with the library as if it were LTTng's."""
    directory = tmp_path_factory.mktemp("programs")
    library = Path(library_path()).with_name("libvestige-lttng.so")

    def get(name, *flags):
        target = directory / name
        source = SOURCES / f"{name}.c"
        words = ["gcc", "-g", "-O1", f"-I{HEADERS}", *flags, source, library]
        run_tool([*words, "-o", target, "-ldl", "-lpthread"])
        return target

    return get


@pytest.fixture(scope="module")
def handmade(build):
    """A program with sound providers and others."""
    return build("handmade")


def test_events_of_both_versions_are_recorded(tmp_path, handmade):
    """Those that cannot be recorded are left out, and the program ends well."""
    done = run_recorded(tmp_path / "trace", [handmade])

    assert done.returncode == 0
    assert payloads(tmp_path / "trace") == FINE


def test_what_is_left_out_is_said_once(tmp_path, handmade):
    """With the reason, and a few names."""
    done = run_recorded(tmp_path / "trace", [handmade])
    said = [line for line in done.stderr.splitlines() if "LTTng-UST" in line]

    assert len(said) == 5
    assert (
        "vestige: warning: not recorded: damaged:other_arguments (LTTng-UST): the "
        "tracepoint has other arguments than the provider takes"
    ) in said
    assert any("not recorded: too_new, too_old (LTTng-UST): " in line for line in said)


def test_what_no_reader_takes_does_not_spoil_the_trace(tmp_path, build):
    """It is left out and told, or told to readers in another way."""
    done = run_recorded(tmp_path / "trace", [build("unreadable")])
    metadata = (tmp_path / "trace/metadata").read_text()

    assert done.returncode == 0
    assert payloads(tmp_path / "trace") == [("odd:latin", {"label": 1, "text": "one"})]
    assert 'loglevel = 0;\n\tmodel.emf.uri = "http://example.com/?"' in metadata
    assert '{ "caf?" = 1 ... 1 }' in metadata
    assert (
        "not recorded: odd:twice, odd:length, odd:backwards (LTTng-UST): two fields "
        "have the same name, or labels of a field begin at a higher value than they end"
    ) in done.stderr
    assert "not recorded: odd:? (LTTng-UST): the description in the" in done.stderr


def test_a_sequence_is_no_longer_than_its_length_tells(tmp_path, build):
    """Or readers would take the rest of it for other fields; it is said once."""
    done = run_recorded(tmp_path / "trace", [build("short_lengths")])
    said = [line for line in done.stderr.splitlines() if "LTTng-UST" in line]
    found = payloads(tmp_path / "trace")

    assert done.returncode == 0
    assert [name for name, _ in found] == ["short:one", "short:two"] * 4
    for (_, one), (_, two), length in zip(
        found[::2], found[1::2], [3, 2, 0, 5], strict=True
    ):
        assert one["_list_length"] == length == len(one["list"])
        assert one["list"] == [ord("a") + index for index in range(length)]
        assert one["after"] == one["number"]
        assert len(two["first"]) == len(two["second"]) == length
        assert two["between"] == two["after"] == one["number"]
        assert two["text"][:length] == "abcde"[:length]
    assert [len(two["text"]) for _, two in found[1::2]] == [3, 65538, 65536, 5]
    warning = "cut: short:one, short:two (LTTng-UST): a sequence has more elements than"
    assert said == [f"vestige: warning: {warning} the type of its length can tell"]


def test_level_and_uri_are_in_the_metadata(tmp_path, handmade):
    """Those of events without are the usual level, and none."""
    run_recorded(tmp_path / "trace", [handmade])
    levels = {event.name: event.log_level for event in records(tmp_path / "trace")}
    metadata = (tmp_path / "trace/metadata").read_text()

    assert (levels["sound:fine"], levels["sound:also_fine"]) == (4, 13)
    assert metadata.count('model.emf.uri = "http://example.com/fine"') == 1


def test_threads_without_room_lose_only_what_they_record(tmp_path, build):
    """Their first event is counted once, so to make ready for it counts nothing."""
    program = build("waiting_readers")
    options = ["--mode=discard", "--arena-size=1M"]
    done = run_recorded(tmp_path / "trace", [program], *options)

    assert done.returncode == 0
    assert "; no events lost" in done.stderr


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["-e", "sound:*"], ["fine", "also_fine"] * 2),
        (["-e", "sound:*", "--exclude", "*:also_*"], ["fine"] * 2),
        (["-e", "sound:*", "--loglevel", "WARNING"], ["fine"] * 2),
        (["-e", "*:*fine", "--filter", "number > 10"], ["fine", "also_fine", "fine"]),
        (["-e", "sound:*", "--filter", 'text == "o*"'], ["fine"]),
        (["-e", "nothing:*"], []),
    ],
)
def test_rules_choose_events(tmp_path, handmade, options, expected):
    """Names, exclusions, levels and filters, as for all tracepoints."""
    run_recorded(tmp_path / "trace", [handmade], *options)
    names = [event.name.partition(":")[2] for event in records(tmp_path / "trace")]

    assert names == expected


def test_no_auditor_is_needed(tmp_path, handmade, monkeypatch):
    """As with a C library before glibc 2.35: the libraries are preloaded."""
    monkeypatch.setattr(
        "vestige.record.backends.in_process.tracer.can_audit", lambda: False
    )

    assert record([str(handmade)], tmp_path / "trace").status == 0
    assert payloads(tmp_path / "trace") == FINE


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="not installed: valgrind")
def test_events_are_recorded_in_valgrind(tmp_path, handmade):
    """Where there is no auditor either."""
    done = run_recorded(tmp_path / "trace", ["valgrind", "-q", handmade])

    assert done.returncode == 0
    assert payloads(tmp_path / "trace") == FINE


def test_a_package_is_unloaded_while_threads_are_in_it(tmp_path, build):
    """None of them is in code that is gone."""
    package = build("package", "-shared", "-fPIC")
    program = build("unloading")
    options = ["--mode=overwrite", "--max-size=2M"]
    trace = tmp_path / "trace"
    record_instrumented(trace, [program, package, "40"], *options)

    assert {event.name for event in vestige.open(trace)} >= {"package:tick"}


@pytest.mark.skipif(not can_audit(), reason="needs glibc 2.35")
def test_lttng_is_kept_when_that_is_asked_for(tmp_path):
    """Nothing takes its place then: what is preloaded says so to the auditor."""
    preloaded = [
        tracer_environment(
            tmp_path,
            RecordingOptions(keep_lttng=keeps),
            {"arena": ".", "arena-id": 0, "socket": "", "token": "", "inherited": ""},
            is_counter=True,
        )["LD_PRELOAD"]
        for keeps in (False, True)
    ]

    assert "lttng" not in preloaded[0]
    assert "libvestige-lttng-beside.so" in preloaded[1]


def test_a_child_process_is_not_left_with_a_lock(tmp_path):
    """When another thread adds or removes a provider while the program forks."""
    source = tmp_path / "forking.c"
    source.write_text(
        """
        #include <pthread.h>
        #include <sys/wait.h>
        #include <unistd.h>

        void lttng_ust_probe_unregister(void *registered);

        static volatile int is_over;

        static void *remove(void *argument)
        {
            while (!is_over)
                lttng_ust_probe_unregister(argument);
            return argument;
        }

        int main(void)
        {
            pthread_t thread;
            int status = 0;

            pthread_create(&thread, NULL, remove, NULL);
            for (int count = 0; count < 500 && !status; count++) {
                const pid_t child = fork();

                if (!child) {
                    alarm(50);
                    lttng_ust_probe_unregister(NULL);
                    _exit(0);
                }
                waitpid(child, &status, 0);
            }
            is_over = 1;
            pthread_join(thread, NULL);
            return status != 0;
        }
        """
    )
    beside = Path(library_path()).with_name("libvestige-lttng-beside.so")
    program = tmp_path / "forking"
    # In place of LTTng's, which need not be there: it has none of the functions.
    (tmp_path / "empty.c").write_text("int empty;")
    empty = tmp_path / "liblttng-ust.so.1"
    run_tool(["gcc", "-shared", "-fPIC", "-o", empty, tmp_path / "empty.c"])
    run_tool(["gcc", "-pthread", "-o", program, source, beside])
    done = subprocess.run(
        [program],
        env={"LD_LIBRARY_PATH": f"{tmp_path}:{beside.parent}"},
        timeout=SECONDS,
        check=False,
    )

    assert done.returncode == 0


def test_lines_are_short(monkeypatch):
    """Of many events, a few are named."""
    monkeypatch.setenv("NO_COLOR", "1")
    many = [("fields", f"a:{number}") for number in range(12)]

    assert skipped_lines([*many, ("class", "b:c"), ("who knows", "d:e\x1b[2J")]) == [
        "not recorded: a:0, a:1, a:2, a:3, a:4 and 7 more (LTTng-UST): fields of a kind that is not known",
        "not recorded: b:c (LTTng-UST): the recording has too many kinds of events",
        "not recorded: d:e\\e[2J (LTTng-UST): an unknown reason (who knows)",
    ]


def test_events_beyond_the_last_class_are_lost(tmp_path, build):
    """They are counted; the program does not notice."""
    count = 5000
    done = run_recorded(tmp_path / "trace", [build("crowd"), str(count)])
    opened = vestige.open(tmp_path / "trace")
    found = sum(event.name.startswith("crowd:") for event in opened)
    lost = sum(loss.count for loss in opened.losses)

    assert done.returncode == 0
    assert 4000 < found < 4096
    assert found + lost == count
    assert "(LTTng-UST): the recording has too many kinds of events" in done.stderr
