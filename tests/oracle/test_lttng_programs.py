"""Programs that were compiled with LTTng-UST's headers, in the forms that they come in."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from support.instrumented import Sources, payloads, record_instrumented
from support.lttng import (
    Channel,
    Program,
    can_use_name_spaces,
    missing_requirement,
)
from support.recorded import record_command, run_recorded

pytestmark = [pytest.mark.oracle, pytest.mark.usefixtures("headers")]

PROBES = "#define LTTNG_UST_TRACEPOINT_CREATE_PROBES\n"
POINTS = "#define LTTNG_UST_TRACEPOINT_DEFINE\n"
APART = f"{POINTS}#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE\n"
HEADER = '#include "forms-tp.h"\n'
PROVIDER = """
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER forms
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./forms-tp.h"
#if !defined(FORMS_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FORMS_TP_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(forms, step, LTTNG_UST_TP_ARGS(int, number, const char *, text),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(int, number, number)
		lttng_ust_field_sequence_text(char, text, text, size_t, strlen(text))))
#endif
#include <lttng/tracepoint-event.h>
"""
PROGRAM = """
#include <string.h>
#include "forms-tp.h"
#include <dlfcn.h>
#include <lttng/tracef.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **arguments)
{
	void *package = count > 1 ? dlopen(arguments[1], RTLD_NOW) : (void *) 0;

	lttng_ust_tracepoint(forms, step, 1, "one");
	lttng_ust_tracef("%d", 2);
	if (!fork()) {
		lttng_ust_tracepoint(forms, step, 3, "three");
		return 0;
	}
	wait((void *) 0);
	if (package)
		dlclose(package);
	lttng_ust_tracepoint(forms, step, 4, "four");
	return count > 1 && !package;
}
"""
OWN_PROBES = """
#include <stdio.h>
#include <string.h>
#include "forms-tp.h"

static int first, second, numbers[3];
#define CALLED(function) ((void (*)(void)) (function))
#define ADD(event, function, data, signature) \
	lttng_ust_tracepoint_provider_register("forms", event, function, data, signature)
#define REMOVE(event, function, data) \
	lttng_ust_tracepoint_provider_unregister("forms", event, function, data)

static void probe(void *data, int number, const char *text)
{
	numbers[0]++;
	*(int *) data += number * (int) strlen(text);
}

static void unfit(void *data, long number)
{
	*(int *) data -= 1000;
}

static void step(int number)
{
	lttng_ust_tracepoint(forms, step, number, "four");
	printf("%d %d\\n", first, second);
}

int main(void)
{
	const char fits[] = "int, number, const char *, text";

	step(1);
	printf("%d\\n", ADD("step", CALLED(probe), &first, fits));
	printf("%d\\n", ADD("step", CALLED(probe), &first, fits));
	step(2);
	printf("%d\\n", ADD("step", CALLED(probe), &second, fits));
	printf("%d\\n", ADD("step", CALLED(unfit), &second, "long, number"));
	printf("%d\\n", ADD("other", CALLED(probe), &second, fits));
	step(3);
	printf("%d\\n", REMOVE("step", CALLED(probe), &first));
	printf("%d\\n", REMOVE("step", CALLED(probe), &first));
	step(4);
	printf("%d\\n", REMOVE("step", CALLED(probe), &second));
	step(5);
	return 0;
}
"""
ALL = [
    ("forms:step", {"number": 1, "_text_length": 3, "text": "one"}),
    ("lttng_ust_tracef:event", {"_msg_length": 1, "msg": "2"}),
    ("forms:step", {"number": 3, "_text_length": 5, "text": "three"}),
    ("forms:step", {"number": 4, "_text_length": 4, "text": "four"}),
]
COMMON = "-llttng-ust-common"
FORMS = {
    "usual": (),
    "not position-independent": ("-no-pie", "-fno-pie"),
    "readers inlined": ("-D_LGPL_SOURCE", COMMON),
    "readers inlined, not position-independent": (
        "-D_LGPL_SOURCE",
        "-no-pie",
        "-fno-pie",
        COMMON,
    ),
    "common library first": ("-Wl,--no-as-needed", COMMON),
}


@pytest.fixture(scope="module")
def headers():
    """Skips where LTTng, or its headers, are not installed."""
    if reason := missing_requirement():
        pytest.skip(reason)


def compiled(directory, *flags, probes=PROBES + POINTS):
    """Compile the program and what its probes are in."""
    build = Sources(directory, ("gcc", "-g", "-O1", "-w"), has_lttng=True)
    build.write("forms-tp.h", PROVIDER)
    build.write("forms.c", PROGRAM)
    build.write("probes.c", f"#include <string.h>\n{probes}{HEADER}")
    objects = [build.compile(name, *flags) for name in ("forms.c", "probes.c")]
    return build, objects


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    """The program in its usual form."""
    build, objects = compiled(tmp_path_factory.mktemp("usual"))
    return build.link("forms", *objects, *build.libraries)


@pytest.mark.parametrize("form", FORMS)
def test_each_form_is_recorded(tmp_path, form):
    """Whatever a program has of LTTng's library in its own code and memory."""
    flags = FORMS[form]
    build, objects = compiled(tmp_path, *flags)
    program = build.link("forms", *flags, *objects, *build.libraries, *flags)
    record_instrumented(tmp_path / "trace", [program])

    assert payloads(tmp_path / "trace") == ALL


def test_probes_in_an_archive_are_recorded(tmp_path):
    """The linker takes them out of it."""
    build, (program, probes) = compiled(tmp_path)
    build.run("ar", "rcs", tmp_path / "libprobes.a", probes)
    linked = build.link("forms", program, tmp_path / "libprobes.a", *build.libraries)
    record_instrumented(tmp_path / "trace", [linked])

    assert payloads(tmp_path / "trace") == ALL


@pytest.mark.parametrize("is_preloaded", [True, False])
def test_probes_in_a_package_are_recorded(tmp_path, is_preloaded):
    """While it is loaded; a program without it does nothing."""
    build, objects = compiled(tmp_path, probes=APART)
    program = build.link("forms", *objects, *build.libraries)
    build.write("package.c", f"#include <string.h>\n{PROBES}{HEADER}")
    package = build.compile("package.c", "-fPIC")
    package = build.link("package.so", "-shared", package, *build.libraries)
    if is_preloaded:
        environment = {"LD_PRELOAD": str(package)}
        record_instrumented(tmp_path / "a", [program], environment=environment)
        assert payloads(tmp_path / "a") == ALL
    else:
        record_instrumented(tmp_path / "a", [program, package])
        assert payloads(tmp_path / "a") == ALL[:-1]
    record_instrumented(tmp_path / "b", [program])
    assert payloads(tmp_path / "b") == [ALL[1]]


def test_messages_are_recorded_where_the_points_are_in_the_program(tmp_path):
    """A program that defines its tracepoints before it includes tracef.h has some of that."""
    build, _ = compiled(tmp_path)
    build.write("forms.c", f"{APART}{PROGRAM}")
    program = build.link("forms", build.compile("forms.c"), *build.libraries)
    record_instrumented(tmp_path / "trace", [program])

    assert payloads(tmp_path / "trace") == [ALL[1]]


def test_a_message_that_cannot_be_made_is_no_event(tmp_path):
    """As under LTTng: the C locale has no such character."""
    messages = """
        lttng_ust_tracef("%lc", 0x2603);
        lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO, "%lc", 0x2603);
        lttng_ust_tracef("%d", 2);"""
    main = PROGRAM.replace('lttng_ust_tracef("%d", 2);', messages)
    build, (_, probes) = compiled(tmp_path)
    build.write("forms.c", f"#include <lttng/tracelog.h>\n{main}")
    program = build.compile("forms.c")
    record_instrumented(
        tmp_path / "trace", [build.link("forms", program, probes, *build.libraries)]
    )

    assert payloads(tmp_path / "trace") == ALL


@pytest.mark.parametrize(
    "wrapper",
    ["fork", "dl", "cyg-profile", "cyg-profile-fast", "libc-wrapper", "fd"],
)
def test_small_libraries_of_lttng_run_with_it(tmp_path, usual, wrapper):
    """They look for symbols of LTTng's library, and some have events of their own."""
    name = f"liblttng-ust-{wrapper}.so.1"
    environment = {"LD_PRELOAD": name}
    trace = record_instrumented(tmp_path / "trace", [usual], environment=environment)
    names = ("forms:", "lttng_ust_tracef:")

    assert [one for one in payloads(trace) if one[0].startswith(names)] == ALL


def test_arguments_must_agree(tmp_path):
    """A probe that takes others is not called, which is said, and listed."""
    build, (_, probes) = compiled(tmp_path)
    build.write("forms-tp.h", PROVIDER.replace("int, number,", "long, number,"))
    program = build.compile("forms.c")
    apart = build.write("points.c", f"#include <string.h>\n{APART}{HEADER}")
    build.write("forms-tp.h", PROVIDER)
    build.write("probes.c", f"#include <string.h>\n{PROBES}{HEADER}")
    probes = build.compile("probes.c")
    build.write("forms-tp.h", PROVIDER.replace("int, number,", "long, number,"))
    linked = build.link(
        "forms", program, build.compile(apart), probes, *build.libraries
    )
    done = run_recorded(tmp_path / "trace", [linked])

    assert done.returncode == 0
    assert payloads(tmp_path / "trace") == [ALL[1]]
    assert done.stderr.count("forms:step (LTTng-UST): the tracepoint has other") == 1


def test_probes_that_a_program_brings_are_called(tmp_path):
    """As by LTTng's library, and what else has the tracepoint still records it."""
    build, (_, probes) = compiled(tmp_path)
    build.write("own.c", OWN_PROBES)
    library = "-llttng-ust-tracepoint"
    own = build.compile("own.c")
    linked = build.link("own", own, probes, library, *build.libraries)
    theirs = subprocess.run([linked], capture_output=True, text=True, check=True)
    command = record_command(tmp_path / "trace", [linked], "--quiet")
    ours = subprocess.run(command, capture_output=True, text=True, check=True)
    command = record_command(tmp_path / "none", [linked], "--quiet", "-e", "no:*")
    unchosen = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ours.stdout == theirs.stdout == unchosen.stdout
    assert "20 12" in theirs.stdout
    assert [one["number"] for _, one in payloads(tmp_path / "trace")] == [1, 2, 3, 4, 5]


def test_both_record_a_program_that_keeps_lttng(tmp_path, usual, lttng):
    """The session daemon sees it, and so does Vestige."""
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    command = record_command(ours, [usual], "--quiet", "--keep-lttng")
    # In a child, LTTng needs a library of its own.
    program = Program(command, preload=["liblttng-ust-fork.so.1"])
    channel = Channel(events=["forms:*", "lttng_ust_tracef:*"])
    lttng.record(theirs, [program], [channel])

    assert payloads(ours) == ALL
    assert payloads(theirs) == ALL


def hiding(upper: Path, names: Mapping[Path, Sequence[str]]) -> str:
    """Return shell commands that take files out of folders, in a name space of their own."""
    commands = [f"mkdir -p {upper}", f"mount -t tmpfs none {upper}"]
    for number, (folder, patterns) in enumerate(names.items()):
        above, work = upper / f"above-{number}", upper / f"work-{number}"
        layers = f"lowerdir={folder},upperdir={above},workdir={work}"
        files = " ".join(f"{folder}/{pattern}" for pattern in patterns)
        commands += [
            f"mkdir {above} {work}",
            f"mount -t overlay -o {layers} none {folder}",
            f"rm -rf {files}",
        ]
    return " && ".join(commands)


@pytest.mark.skipif(not can_use_name_spaces(), reason="needs name spaces (root)")
@pytest.mark.parametrize("form", ["usual", "common library first"])
def test_lttng_need_not_be_there(tmp_path, form):
    """A program that was copied to a machine without it."""
    flags = FORMS[form]
    build, objects = compiled(tmp_path, *flags)
    program = build.link("forms", *flags, *objects, *build.libraries, *flags)
    library = subprocess.run(
        ["gcc", "-print-file-name=liblttng-ust.so"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    folder = Path(library).resolve().parent
    script = hiding(
        tmp_path / "upper",
        {
            folder: ("*lttng*", "liburcu*"),
            Path("/usr/bin"): ("lttng*", "babeltrace*"),
            Path("/usr/include"): ("lttng", "urcu*"),
        },
    )
    hidden = ["unshare", "--mount", "sh", "-c", f'{script} || exit 77; "$@"', "sh"]
    without = subprocess.run([*hidden, program], capture_output=True, check=False)
    if without.returncode == 77:
        pytest.skip("no overlay file system here")
    listed = subprocess.run(
        [*hidden, "ls", folder, "/usr/bin", "/usr/include"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert not [name for name in listed.stdout.split() if "lttng" in name]
    command = record_command(tmp_path / "trace", [program], "--quiet")
    done = subprocess.run([*hidden, *command], capture_output=True, check=False)

    assert without.returncode == 127
    assert (done.returncode, done.stderr) == (0, b"")
    assert payloads(tmp_path / "trace") == ALL
