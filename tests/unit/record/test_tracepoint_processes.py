"""Tracepoints of threads, signal handlers, children, and objects that come and go."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections import Counter

import pytest

from support.instrumented import Sources, payloads, record_instrumented, records
from support.recorded import PreparedTrace
from vestige.record import RecordingOptions

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

DEFINE = """
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
"""


def provider(name, *events):
    """Return the text of a provider header; an event is a name, arguments and fields."""
    definitions = "".join(
        f"LTTNG_UST_TRACEPOINT_EVENT({name}, {event}, LTTNG_UST_TP_ARGS({arguments}), "
        f"LTTNG_UST_TP_FIELDS({fields}))\n"
        for event, arguments, fields in events
    )
    return f"""
        #undef LTTNG_UST_TRACEPOINT_PROVIDER
        #define LTTNG_UST_TRACEPOINT_PROVIDER {name}
        #undef LTTNG_UST_TRACEPOINT_INCLUDE
        #define LTTNG_UST_TRACEPOINT_INCLUDE "./{name}.h"
        #if !defined({name}_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
        #define {name}_H
        #include <lttng/tracepoint.h>
        {definitions}
        #endif
        #include <lttng/tracepoint-event.h>
        """


@pytest.fixture
def sources(tmp_path):
    """A directory for one program."""
    return Sources(tmp_path)


def test_threads_have_streams_of_their_own(tmp_path, sources):
    """All records of all threads, each in its order."""
    program = sources.build("threads", "threads.c", flags=["-pthread"])
    trace = record_instrumented(
        tmp_path / "trace", [program, "8", "1000"], "-c", "vtid"
    )
    found = records(trace)
    steps = {}
    for event in found:
        if event.name == "threads:step":
            steps.setdefault(event.context["vtid"], []).append(event.payload["number"])

    assert len(steps) == 8
    assert all(numbers == list(range(1000)) for numbers in steps.values())
    assert len(found) == 8 * 1002


def test_children_record_for_themselves(tmp_path, sources):
    """Without a helper: each under its own process ID."""
    program = sources.build("forking", "forking.c")
    trace = record_instrumented(tmp_path / "trace", [program, "3"])
    said = Counter((event.name, event.context["vpid"]) for event in records(trace))

    assert sorted(said.values()) == [5, 5, 5, 5]
    assert len({process for _, process in said}) == 4


def test_signal_handlers_interrupt_records(tmp_path, sources):
    """A handler's records lie between those of what it interrupts; none is torn."""
    sources.write(
        "storm.h", provider("storm", ("at", "int, a, const char *, b",
                                      "lttng_ust_field_integer(int, a, a) lttng_ust_field_string(b, b)"))
    )  # fmt: skip
    sources.write(
        "storm.c",
        DEFINE
        + """
        #include <signal.h>
        #include <sys/time.h>
        #include "storm.h"
        static volatile int handled;
        static void on_signal(int number)
        {
            (void) number;
            lttng_ust_tracepoint(storm, at, -1, "in the handler");
            handled++;
        }
        int main(void)
        {
            const struct itimerval often = {{0, 50}, {0, 50}};
            int i;
            signal(SIGALRM, on_signal);
            setitimer(ITIMER_REAL, &often, NULL);
            for (i = 0; i < 200000; i++)
                lttng_ust_tracepoint(storm, at, i, "a text");
            signal(SIGALRM, SIG_IGN);
            lttng_ust_tracepoint(storm, at, handled, "handled");
            return 0;
        }
        """,
    )
    trace = record_instrumented(tmp_path / "trace", [sources.build("storm", "storm.c")])
    found = [payload for _, payload in payloads(trace)]
    last = found.pop()
    plain = [one["a"] for one in found if one["b"] == "a text"]

    assert plain == list(range(200_000))
    assert sum(one["b"] == "in the handler" for one in found) == last["a"]
    assert len(found) == 200_000 + last["a"]


def test_a_text_that_changes_meanwhile_leaves_the_rest_readable(tmp_path, sources):
    """Another thread cuts and lengthens it while it is recorded."""
    sources.write(
        "text.h", provider("text", ("at", "const char *, a, int, b",
                                    "lttng_ust_field_string(a, a) lttng_ust_field_integer(int, b, b)"))
    )  # fmt: skip
    sources.write(
        "text.c",
        DEFINE
        + """
        #include <pthread.h>
        #include <unistd.h>
        #include "text.h"
        static char shared[64] = "0123456789012345678901234567890123456789";
        static volatile int ends;
        static void *change(void *unused)
        {
            while (!ends)
                for (int i = 1; i < 40; i++) {
                    ((volatile char *) shared)[i] = 0;
                    ((volatile char *) shared)[i] = 'x';
                }
            return unused;
        }
        int main(void)
        {
            pthread_t other;
            pthread_create(&other, NULL, change, NULL);
            for (int i = 0; i < 100000; i++) {
                lttng_ust_tracepoint(text, at, shared, i);
                if (i % 5000 == 0)
                    usleep(100); /* The other one may have no processor. */
            }
            ends = 1;
            return pthread_join(other, NULL);
        }
        """,
    )
    program = sources.build("text", "text.c", flags=["-pthread"])
    found = payloads(record_instrumented(tmp_path / "trace", [program]))

    assert [payload["b"] for _, payload in found] == list(range(100_000))
    assert len({payload["a"] for _, payload in found}) > 1


def test_a_provider_that_is_unloaded_takes_its_tracepoints_along(tmp_path, sources):
    """Those in the program are not recorded until it comes again."""
    made = sources.compile("emon-tpp.c", "-fPIC")
    library = sources.link("libtpp.so", "-shared", made)
    sources.write(
        "unload.c",
        f"""
        #include <dlfcn.h>
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
        #include "emon-tp.h"
        int main(void)
        {{
            for (int i = 0; i < 3; i++) {{
                void *library = dlopen("{library}", RTLD_NOW);
                lttng_ust_tracepoint(emon, mark, 2 * i);
                dlclose(library);
                if (lttng_ust_tracepoint_enabled(emon, mark))
                    return 1;
                lttng_ust_tracepoint(emon, mark, 2 * i + 1);
            }}
            return 0;
        }}
        """,
    )
    program = sources.build("unload", "unload.c")
    found = payloads(record_instrumented(tmp_path / "trace", [program]))

    assert [payload["number"] for _, payload in found] == [0, 2, 4]


def test_another_provider_takes_over_from_one_that_is_unloaded(tmp_path, sources):
    """Two libraries have the same."""
    made = sources.compile("emon-tpp.c", "-fPIC")
    names = [sources.link(f"lib{n}.so", "-shared", made) for n in (1, 2)]
    sources.write(
        "two.c",
        f"""
        #include <dlfcn.h>
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
        #include "emon-tp.h"
        int main(void)
        {{
            void *first = dlopen("{names[0]}", RTLD_NOW);
            void *second = dlopen("{names[1]}", RTLD_NOW);
            lttng_ust_tracepoint(emon, mark, 1);
            dlclose(first);
            lttng_ust_tracepoint(emon, mark, 2);
            dlclose(second);
            lttng_ust_tracepoint(emon, mark, 3);
            return 0;
        }}
        """,
    )
    program = sources.build("two", "two.c")
    found = payloads(record_instrumented(tmp_path / "trace", [program]))

    assert [payload["number"] for _, payload in found] == [1, 2]


def test_an_instrumented_library_that_is_unloaded_is_forgotten(tmp_path, sources):
    """Its tracepoints and its provider; another one may lie where it was."""
    made = [
        sources.compile("emon.c", "-fPIC", "-DDEFINES"),
        sources.compile("emon-tpp.c", "-fPIC"),
    ]
    library = sources.link("libemon.so", "-shared", *made)
    sources.write(
        "reload.c",
        f"""
        #include <dlfcn.h>
        int main(void)
        {{
            for (int i = 0; i < 50; i++) {{
                void *library = dlopen("{library}", RTLD_NOW);
                void (*mark)(int) = (void (*)(int)) dlsym(library, "emon_mark");
                mark(i);
                dlclose(library);
            }}
            return 0;
        }}
        """,
    )
    program = sources.build("reload", "reload.c")
    found = payloads(record_instrumented(tmp_path / "trace", [program]))

    assert [payload["number"] for _, payload in found] == list(range(50))


def test_processes_with_one_provider_share_its_classes(tmp_path, sources):
    """Also when they all begin at once."""
    program = sources.build("app", "emon-app.c", "emon-tpp.c", flags=["-DDEFINES"])
    command = "for i in 1 2 3 4 5 6 7 8; do $0 & done; wait"
    trace = record_instrumented(tmp_path / "trace", ["sh", "-c", command, str(program)])
    text = (trace / "metadata").read_text()

    assert text.count('name = "emon:mark"') == 1
    assert [one["number"] for _, one in payloads(trace)].count(2) == 8


def test_versions_of_an_event_are_classes_of_their_own(tmp_path):
    """Two programs have different fields under one name."""
    programs = []
    for kind, value in (("int", "7"), ("double", "2.5")):
        directory = tmp_path / kind
        directory.mkdir()
        sources = Sources(directory)
        field = "float" if kind == "double" else "integer"
        sources.write(
            "versions.h",
            provider("versions", ("at", f"{kind}, a", f"lttng_ust_field_{field}({kind}, a, a)")),
        )  # fmt: skip
        sources.write(
            "main.c",
            DEFINE
            + f"""
            #include "versions.h"
            int main(void) {{ lttng_ust_tracepoint(versions, at, {value}); return 0; }}
            """,
        )
        programs.append(sources.build("main", "main.c"))
    trace = record_instrumented(
        tmp_path / "trace", ["sh", "-c", "$0; $1; $0", *map(str, programs)]
    )

    assert payloads(trace) == [
        ("versions:at", {"a": 7}),
        ("versions:at", {"a": 2.5}),
        ("versions:at", {"a": 7}),
    ]


def test_metadata_survive_a_kill_while_providers_register(tmp_path, sources):
    """Each class is written whole or not at all, and the next process goes on."""
    many = [
        (f"event{number}", "int, a", "lttng_ust_field_integer(int, a, a)")
        for number in range(100)
    ]
    sources.write("many.h", provider("many", *many))
    sources.write(
        "many.c",
        DEFINE
        + """
        #include "many.h"
        int main(void) { lttng_ust_tracepoint(many, event99, 1); return 0; }
        """,
    )
    program = sources.build("many", "many.c")
    for turn in range(10):
        trace = tmp_path / f"trace{turn}"
        prepared = PreparedTrace(trace, RecordingOptions())
        with subprocess.Popen([program], env=prepared.variables) as process:
            time.sleep(0.001 * turn)
            process.kill()
        subprocess.run([program], env=prepared.variables, check=True, timeout=60)
        prepared.close()
        text = (trace / "metadata").read_text()

        assert [text.count(f'name = "many:event{n}"') for n in range(100)] == [1] * 100
        assert ("many:event99", {"a": 1}) in payloads(trace)


def test_constructors_and_destructors_pass_tracepoints(tmp_path):
    """Those of static objects in C++, wherever the provider is in the program."""
    sources = Sources(tmp_path, ("g++", "-g"))
    sources.write(
        "object.cpp",
        """
        #include "emon-tp.h"
        struct Object {
            Object() { lttng_ust_tracepoint(emon, mark, 1); }
            ~Object() { lttng_ust_tracepoint(emon, mark, 4); }
        };
        static Object object;
        __attribute__((constructor)) static void begin(void)
        {
            lttng_ust_tracepoint(emon, mark, 2);
        }
        int main() { lttng_ust_tracepoint(emon, mark, 3); return 0; }
        __attribute__((destructor)) static void end(void)
        {
            lttng_ust_tracepoint(emon, mark, 5);
        }
        """,
    )
    sources.write("provider.cpp", DEFINE + '#include "emon-tp.h"')
    program = sources.build("object", "object.cpp", "provider.cpp")
    found = payloads(record_instrumented(tmp_path / "trace", [program]))

    assert sorted(payload["number"] for _, payload in found) == [1, 2, 3, 4, 5]


def test_children_that_stay_hold_up_no_provider(tmp_path, sources):
    """Made while another thread writes a class: they have its files, and its locks."""
    made = sources.compile("emon-tpp.c", "-fPIC")
    library = sources.link("libtpp.so", "-shared", made)
    sources.write(
        "children.c",
        f"""
        #include <dlfcn.h>
        #include <pthread.h>
        #include <signal.h>
        #include <sys/wait.h>
        #include <unistd.h>
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
        #include "emon-tp.h"
        static volatile int ends;
        static void *load(void *unused)
        {{
            for (int i = 0; i < 3000; i++) {{
                void *library = dlopen("{library}", RTLD_NOW);
                lttng_ust_tracepoint(emon, mark, i);
                dlclose(library);
            }}
            ends = 1;
            return unused;
        }}
        int main(void)
        {{
            pid_t children[1000];
            pthread_t other;
            int count = 0;
            pthread_create(&other, NULL, load, NULL);
            while (!ends && count < 1000) {{
                const pid_t child = fork();
                if (child == 0) {{
                    alarm(50);
                    pause();
                }}
                children[count++] = child;
            }}
            pthread_join(other, NULL);
            for (int i = 0; i < count; i++) {{
                kill(children[i], SIGKILL);
                waitpid(children[i], NULL, 0);
            }}
            return 0;
        }}
        """,
    )
    program = sources.build("children", "children.c", flags=["-pthread"])
    found = payloads(record_instrumented(tmp_path / "trace", [program]))

    assert [payload["number"] for _, payload in found] == list(range(3000))


def test_a_handler_ends_the_program_while_tracepoints_go(tmp_path, sources):
    """Its destructors take tracepoints away, too: nobody waits for the other."""
    sources.write(
        "going.c",
        """
        #include <signal.h>
        #include <stdlib.h>
        #include <sys/time.h>
        #include <vestige/tracepoint-abi.h>

        #define COUNT 5000

        extern const struct vestige_tracer vestige_tracer __attribute__((weak));
        static struct vestige_tracepoint points[COUNT], last;

        static void go(void)
        {
            vestige_tracer.remove_tracepoint(&last);
        }

        static void end(int number)
        {
            (void) number;
            exit(0);
        }

        int main(void)
        {
            const struct itimerval soon = {.it_value = {0, 500}};

            if (!&vestige_tracer)
                return 1;
            for (int index = 0; index <= COUNT; index++) {
                struct vestige_tracepoint *point =
                    index < COUNT ? &points[index] : &last;

                point->struct_size = sizeof(*point);
                point->provider = "none";
                point->name = "none";
                vestige_tracer.add_tracepoint(point);
            }
            atexit(go);
            signal(SIGALRM, end);
            setitimer(ITIMER_REAL, &soon, NULL);
            /* Those that were added first are found last. */
            for (;;)
                vestige_tracer.remove_tracepoint(&points[0]);
        }
        """,
    )
    program = sources.build("going", "going.c")
    record_instrumented(tmp_path / "trace", [program])
