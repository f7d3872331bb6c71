"""What the headers make of programs: machine code, warnings, limits."""

from __future__ import annotations

import re
import shutil

import pytest

import vestige
from support.compilers import BuildError
from support.instrumented import (
    TRACEPOINTS,
    Sources,
    payloads,
    record_instrumented,
    records,
)
from support.recorded import run_recorded

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)

WARNINGS = ["-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-pedantic", "-Werror"]
COMPILERS = [
    "gcc -std=c99",
    "gcc -std=gnu11",
    "gcc -std=gnu17 -O2 -Wstrict-prototypes -Wmissing-prototypes -Wundef",
    "clang -std=c99",
    "clang -std=gnu17 -O2",
    "g++ -x c++ -std=c++11",
    "g++ -x c++ -std=c++17 -O2",
    "g++ -x c++ -std=c++20",
    "clang++ -x c++ -std=c++11",
    "clang++ -x c++ -std=c++17",
    "clang++ -x c++ -std=c++20 -O2",
]
NARROW = """
#include "emon-tp.h"
int expensive(void);
void plain(void);
void plain(void) { lttng_ust_tracepoint(emon, mark, expensive()); }
"""


@pytest.fixture
def sources(tmp_path):
    """A directory for one program."""
    return Sources(tmp_path)


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize(
    "name", ["odd-tp.c", "odd.c", "emon-app.c", "messages.c", "types.c"]
)
def test_users_see_no_warnings(tmp_path, compiler, name):
    """With the warnings of careful people turned into errors."""
    words = compiler.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"not installed: {words[0]}")
    Sources(tmp_path, words).compile(name, *WARNINGS)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [["-O1"], ["-O2"], ["-O3"], ["-O2", "-fPIC"]])
def test_a_disabled_tracepoint_is_one_test_and_one_branch(tmp_path, compiler, flags):
    """In front of all that it would do, and its arguments are behind the branch."""
    if shutil.which(compiler) is None or shutil.which("objdump") is None:
        pytest.skip(f"not installed: {compiler} or objdump")
    sources = Sources(tmp_path, (compiler,))
    sources.write("narrow.c", NARROW)
    made = sources.compile("narrow.c", *flags)
    code = sources.run("objdump", "-dr", "--no-show-raw-insn", made).decode()
    body = code[code.index("<plain>:") :]
    steps = re.findall(r"^ +\w+:\t(.*)$", body, re.MULTILINE)
    branch = next(n for n, one in enumerate(steps) if re.match(r"j\w+ ", one))
    before = steps[: branch + 1]
    loads = [one for one in before if "(%r" in one and not one.startswith("lea")]
    # Compilers that expect it in another object look its address up.
    looked_up = "GOTPCREL" in body[: body.index(before[-1])]

    assert "expensive" in body
    assert "call" not in " ".join(before)
    assert len([one for one in before if re.match(r"cmp|test", one)]) == 1
    assert len(loads) == 1 + looked_up
    # One makes room on the stack.
    assert len(before) <= 4 + 2 * looked_up


def test_arguments_of_a_disabled_tracepoint_are_not_evaluated(tmp_path, sources):
    """Neither without the tracer nor without the provider."""
    sources.write(
        "effects.c",
        """
        #include <stdio.h>
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
        #include "emon-tp.h"
        int main(void)
        {
            int calls = 0;
            lttng_ust_tracepoint(emon, mark, ++calls);
            printf("%d", calls);
            return 0;
        }
        """,
    )
    program = sources.build("effects", "effects.c")

    assert sources.run(program) == b"0"
    assert run_recorded(tmp_path / "trace", [program], "-q").stdout == "0"


def test_a_tracepoint_at_the_end_of_a_function_is_in_it(tmp_path, sources):
    """Its place is not the caller's, though a compiler would like to jump."""
    sources.write(
        "tail.c",
        """
        #define LTTNG_UST_TRACEPOINT_CREATE_PROBES
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #include "emon-tp.h"
        __attribute__((noinline)) static void last(int number)
        {
            lttng_ust_tracepoint(emon, mark, number);
        }
        __attribute__((noinline)) static void never(int number)
        {
            lttng_ust_tracepoint(emon, mark, number);
            __builtin_trap();
        }
        int main(int argc, char **argv)
        {
            (void) argv;
            last(1);
            if (argc > 1)
                never(2);
            return 0;
        }
        """,
    )
    program = Sources(tmp_path, ("gcc", "-g", "-O3")).build("tail", "tail.c")
    trace = record_instrumented(tmp_path / "trace", [program, "and"], status=132)
    places = [(e.debug_info.function, e.debug_info.line) for e in records(trace)]

    assert places == [("last", 7), ("never", 11)]


def test_names_may_have_254_characters(tmp_path, sources):
    """Provider and name together; more is an error when the program is compiled."""
    text = (TRACEPOINTS / "emon-tp.h").read_text().replace("./emon-tp.h", "./long.h")
    provider, longest = "p" * 100, "n" * 154
    for name in (longest, longest + "n"):
        sources.write(
            "long.h", text.replace("emon,", f"{provider},").replace("mark,", f"{name},")
            .replace("PROVIDER emon", f"PROVIDER {provider}"),
        )  # fmt: skip
        sources.write(
            "long.c",
            f"""
            #define LTTNG_UST_TRACEPOINT_CREATE_PROBES
            #define LTTNG_UST_TRACEPOINT_DEFINE
            #include "long.h"
            int main(void) {{ lttng_ust_tracepoint({provider}, {name}, 1); return 0; }}
            """,
        )
        if name == longest:
            program = sources.build("long", "long.c")
            trace = record_instrumented(tmp_path / "trace", [program])
        else:
            with pytest.raises(BuildError, match="is too long"):
                sources.build("long", "long.c")

    assert payloads(trace) == [(f"{provider}:{longest}", {"number": 1})]


def test_a_program_can_ask_whether_it_is_traced(tmp_path, sources, monkeypatch):
    """With a variable of its own, as lttng-ust(3) has it."""
    # Where no session daemon is.
    monkeypatch.setenv("VESTIGE_RUNDIR", str(tmp_path))
    sources.write(
        "asks.c",
        """
        #include <stdio.h>
        #define LTTNG_UST_TRACEPOINT_CREATE_PROBES
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #include "emon-tp.h"
        int lttng_ust_loaded __attribute__((weak));
        int main(void)
        {
            lttng_ust_tracepoint(emon, mark, 1);
            printf("%d", lttng_ust_loaded);
            return 0;
        }
        """,
    )
    program = sources.build("asks", "asks.c")

    assert sources.run(program) == b"0"
    assert run_recorded(tmp_path / "trace", [program], "-q").stdout == "1"


def test_more_classes_than_the_compact_header_tells(tmp_path, sources):
    """The records of later ones have the long header."""
    # The compact one tells 255.
    numbers = range(300)
    events = "".join(
        f"LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(crowd, one, crowd, e{n}, "
        "LTTNG_UST_TP_ARGS(int, a))\n"
        for n in numbers
    )
    text = (TRACEPOINTS / "emon-tp.h").read_text().replace("./emon-tp.h", "./crowd.h")
    head, _, rest = text.partition("LTTNG_UST_TRACEPOINT_EVENT(")
    tail = rest[rest.index("#endif") :]
    sources.write(
        "crowd.h",
        head.replace("PROVIDER emon", "PROVIDER crowd")
        + "LTTNG_UST_TRACEPOINT_EVENT_CLASS(crowd, one, LTTNG_UST_TP_ARGS(int, a),"
        "LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, a, a)))\n" + events + tail,
    )
    calls = "".join(f"lttng_ust_tracepoint(crowd, e{n}, {n});\n" for n in numbers)
    sources.write(
        "crowd.c",
        f"""
        #define LTTNG_UST_TRACEPOINT_CREATE_PROBES
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #include "crowd.h"
        int main(void) {{ {calls} return 0; }}
        """,
    )
    program = sources.build("crowd", "crowd.c")
    found = payloads(record_instrumented(tmp_path / "trace", [program]))

    assert found == [(f"crowd:e{n}", {"a": n}) for n in numbers]


def test_names_that_are_macros_of_the_compiler_s_own(tmp_path, sources):
    """Arguments may have the names of everything in the headers."""
    sources.write(
        "names.h",
        """
        #undef LTTNG_UST_TRACEPOINT_PROVIDER
        #define LTTNG_UST_TRACEPOINT_PROVIDER names
        #undef LTTNG_UST_TRACEPOINT_INCLUDE
        #define LTTNG_UST_TRACEPOINT_INCLUDE "./names.h"
        #if !defined(NAMES_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
        #define NAMES_H
        #include <lttng/tracepoint.h>
        LTTNG_UST_TRACEPOINT_EVENT(names, at,
            LTTNG_UST_TP_ARGS(int, probe, int, event, int, tracer, int, length, int, type,
                              int, name, int, provider, int, size, int, at, int, record),
            LTTNG_UST_TP_FIELDS(
                lttng_ust_field_integer(int, probe, probe)
                lttng_ust_field_integer(int, event, event + tracer + length + type + name)
                lttng_ust_field_integer(int, name, provider + size + at)
                lttng_ust_field_integer(int, int_, record)
                lttng_ust_field_integer(int, stream, record)))
        #endif
        #include <lttng/tracepoint-event.h>
        """,
    )
    sources.write(
        "names.c",
        """
        #define LTTNG_UST_TRACEPOINT_CREATE_PROBES
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #include "names.h"
        int main(void)
        {
            lttng_ust_tracepoint(names, at, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
            return 0;
        }
        """,
    )
    program = sources.build("names", "names.c")
    found = payloads(record_instrumented(tmp_path / "trace", [program]))

    assert found == [
        (
            "names:at",
            {"probe": 1, "event": 20, "name": 24, "int_": 10, "stream": 10},
        )
    ]


OLD_NAMES = """
#include <lttng/tracef.h>
#include <lttng/tracelog.h>
int main(void)
{
    tracelog(TRACE_ERR, "%s", "by its old name");
    tracef("%d", 1);
    return 0;
}
"""


def test_old_names_are_there_unless_they_are_not_wanted(tmp_path, sources):
    """A program may have a function called tracepoint then."""
    sources.write("old.c", OLD_NAMES)
    sources.write(
        "own.c",
        """
        #include "emon-tp.h"
        static int tracepoint(int tracef) { return tracef; }
        int main(void) { return tracepoint(0); }
        """,
    )
    program = sources.build("old", "old.c")
    trace = record_instrumented(tmp_path / "trace", [program])
    names = [name for name, _ in payloads(trace)]

    assert names == [
        "lttng_ust_tracelog:LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR",
        "lttng_ust_tracef:event",
    ]
    sources.compile("own.c", "-DLTTNG_UST_COMPAT_API_VERSION=1")
    with pytest.raises(BuildError, match=r"own\.c"):
        sources.compile("own.c")


def test_a_provider_header_in_a_block_of_c(tmp_path):
    """As some programs in C++ include all headers of theirs that C shares."""
    sources = Sources(tmp_path, ("g++", "-g"))
    sources.write(
        "block.cpp",
        """
        extern "C" {
        #define LTTNG_UST_TRACEPOINT_CREATE_PROBES
        #define LTTNG_UST_TRACEPOINT_DEFINE
        #include "emon-tp.h"
        }
        int main() { lttng_ust_tracepoint(emon, mark, 1); return 0; }
        """,
    )
    program = sources.build("block", "block.cpp")
    found = payloads(record_instrumented(tmp_path / "trace", [program]))

    assert found == [("emon:mark", {"number": 1})]


@pytest.mark.parametrize("compiler", [("gcc", "-g"), ("g++", "-g", "-x", "c++")])
@pytest.mark.parametrize(
    ("header", "define"),
    [
        ("vestige/context.h", "LTTNG_UST_TRACEPOINT_DEFINE"),
        ("lttng/tracef.h", "LTTNG_UST_TRACEPOINT_DEFINE"),
        ("lttng/tracelog.h", "TRACEPOINT_DEFINE"),
        ("lttng/tracepoint.h", "TRACEPOINT_DEFINE"),
    ],
)
def test_a_header_may_come_before_tracepoints_are_defined(
    tmp_path, compiler, header, define
):
    """It includes what looks for that."""
    sources = Sources(tmp_path, compiler)
    sources.write(
        "order.c",
        f"""
        #include <{header}>
        #define LTTNG_UST_TRACEPOINT_CREATE_PROBES
        #define {define}
        #include "emon-tp.h"
        int main(void) {{ lttng_ust_tracepoint(emon, mark, 1); return 0; }}
        """,
    )
    program = sources.compile("order.c")
    linked = Sources(tmp_path, compiler[:2]).link("order", program, *sources.libraries)
    found = payloads(record_instrumented(tmp_path / "trace", [linked]))

    assert found == [("emon:mark", {"number": 1})]


def test_a_message_that_cannot_be_made_is_no_event(tmp_path, sources):
    """The C locale has no such character; what comes after it is recorded."""
    sources.write(
        "messages.c",
        """
        #include <lttng/tracef.h>
        #include <lttng/tracelog.h>
        int main(void)
        {
            lttng_ust_tracef("%lc", 0x2603);
            lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO, "%lc", 0x2603);
            lttng_ust_tracef("%s", "");
            return 0;
        }
        """,
    )
    program = sources.build("messages", "messages.c")
    found = payloads(record_instrumented(tmp_path / "trace", [program]))

    assert found == [("lttng_ust_tracef:event", {"_msg_length": 0, "msg": ""})]


LONG_MESSAGES = """
#include <lttng/tracef.h>
#include <stdlib.h>
#include <string.h>
static char text[3000001];
static void message(size_t length)
{
    memset(text, 'x', length);
    text[length] = 0;
    lttng_ust_tracef("%s", text);
}
int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        message((size_t) atol(argv[i]));
    return 0;
}
"""


@pytest.mark.parametrize("lengths", [["400000", "1"], ["1", "500000", "500000", "2"]])
def test_a_long_record_needs_a_buffer_that_may_be_so_large(tmp_path, sources, lengths):
    """Its packets are a part of it."""
    sources.write("long.c", LONG_MESSAGES)
    program = sources.build("long", "long.c")
    run_recorded(tmp_path / "trace", [program, *lengths], "--buffer-size=64M")
    found = payloads(tmp_path / "trace")

    assert [payload["msg"] for _, payload in found] == ["x" * int(n) for n in lengths]


def test_a_record_that_no_buffer_holds_is_counted(tmp_path, sources):
    """Those before and behind it are there."""
    sources.write("long.c", LONG_MESSAGES)
    program = sources.build("long", "long.c")
    trace = tmp_path / "trace"
    run_recorded(trace, [program, "3", "3000000", "4"])
    opened = vestige.open(trace)
    texts = [event.payload["msg"] for event in opened.events("lttng_ust_tracef:*")]

    assert texts == ["xxx", "xxxx"]
    assert sum(loss.count for loss in opened.losses) == 1


ONE_FIELD = """
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER one
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./one.h"
#if !defined(ONE_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define ONE_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_ENUM(one, nothing, LTTNG_UST_TP_ENUM_VALUES())
LTTNG_UST_TRACEPOINT_EVENT(one, field, LTTNG_UST_TP_ARGS(int, a),
    LTTNG_UST_TP_FIELDS(FIELD))
#endif
#include <lttng/tracepoint-event.h>
"""
ONE_PROGRAM = """
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "one.h"
int main(void) { lttng_ust_tracepoint(one, field, 7); return 0; }
"""


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("lttng_ust_field_integer(__int128, a, a)", "field a: an integer of more than"),
        ("lttng_ust_field_float(long double, a, a)", "field a: neither float nor"),
        ("lttng_ust_field_array(__int128, b, NULL, 2)", "field b: an integer of more"),
    ],
)
def test_fields_that_no_reader_knows_are_errors(sources, field, message):
    """Of the compiler: one of them would make the whole trace unreadable."""
    sources.write("one.h", ONE_FIELD.replace("(FIELD)", f"({field})"))
    sources.write("one.c", ONE_PROGRAM)

    with pytest.raises(BuildError, match=message):
        sources.compile("one.c")


def test_an_enumeration_without_labels_is_an_integer(tmp_path, sources):
    """The trace can be read."""
    field = "lttng_ust_field_enum(one, nothing, int, a, a)"
    sources.write("one.h", ONE_FIELD.replace("(FIELD)", f"({field})"))
    sources.write("one.c", ONE_PROGRAM)
    program = sources.build("one", "one.c")
    found = payloads(record_instrumented(tmp_path / "trace", [program]))

    assert found == [("one:field", {"a": 7})]


@pytest.mark.parametrize("options", [[], ["-e", "one:*", "--filter", "a == 7"]])
@pytest.mark.parametrize("kind", ["uint8_t", "int8_t"])
def test_a_length_that_its_type_does_not_hold(tmp_path, sources, options, kind):
    """The record is lost and counted; the others can be read, also by the peer."""
    field = (
        "lttng_ust_field_integer(int, a, 7) "
        f'lttng_ust_field_sequence_text(char, text, "some bytes", {kind}, a)'
    )
    sources.write("one.h", ONE_FIELD.replace("(FIELD)", f"({field})"))
    calls = "".join(
        f"lttng_ust_tracepoint(one, field, {length});" for length in (3, 256, -1, 0, 10)
    )
    sources.write(
        "one.c", ONE_PROGRAM.replace("lttng_ust_tracepoint(one, field, 7);", calls)
    )
    program = sources.build("one", "one.c")
    trace = tmp_path / "trace"
    run_recorded(trace, [program], *options)
    opened = vestige.open(trace)
    texts = [event.payload["text"] for event in opened.events("one:*")]

    assert texts == ["som", "", "some bytes"]
    if shutil.which("babeltrace2"):
        assert sources.run("babeltrace2", trace).decode().count("one:field") == 3
    assert sum(loss.count for loss in opened.losses) == 2


MARKERS = "".join(
    f"#define STAP_PROBE{count or ''}({', '.join(['provider', 'name', *names])}) "
    f'printf("%s:%s {count}\\n", #provider, #name)\n'
    for count in range(11)
    for names in [[f"a{number}" for number in range(count)]]
)
"""In place of SystemTap's header: each marker prints its name and its arguments' number."""
MARKED = """
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "marked-tp.h"
int main(void)
{
	lttng_ust_tracepoint(marked, none);
	lttng_ust_tracepoint(marked, two, 1, 2);
	lttng_ust_tracepoint(marked, ten, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
	return 0;
}
"""


def marked_header() -> str:
    """Return a provider with events of no, two and ten arguments."""
    pairs = [f"int, a{number}" for number in range(10)]
    events = "".join(
        f"LTTNG_UST_TRACEPOINT_EVENT(marked, {name}, LTTNG_UST_TP_ARGS("
        f"{', '.join(pairs[:count])}), LTTNG_UST_TP_FIELDS())\n"
        for name, count in (("none", 0), ("two", 2), ("ten", 10))
    )
    return (
        "#undef LTTNG_UST_TRACEPOINT_PROVIDER\n"
        "#define LTTNG_UST_TRACEPOINT_PROVIDER marked\n"
        "#undef LTTNG_UST_TRACEPOINT_INCLUDE\n"
        '#define LTTNG_UST_TRACEPOINT_INCLUDE "./marked-tp.h"\n'
        "#if !defined(MARKED_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)\n"
        "#define MARKED_TP_H\n#include <lttng/tracepoint.h>\n"
        f"{events}#endif\n#include <lttng/tracepoint-event.h>\n"
    )


@pytest.mark.parametrize("is_wanted", [True, False])
def test_tracepoints_have_markers_of_systemtap(sources, is_wanted):
    """Whether the tracepoint is on or not; when the program asks for them."""
    (sources.directory / "sys").mkdir()
    sources.write("sys/sdt.h", MARKERS)
    sources.write("marked-tp.h", marked_header())
    sources.write("marked.c", MARKED)
    flags = ["-DLTTNG_UST_HAVE_SDT_INTEGRATION"] if is_wanted else []
    program = sources.build("marked", "marked.c", flags=flags)
    expected = b"marked:none 0\nmarked:two 2\nmarked:ten 10\n" if is_wanted else b""

    assert sources.run(program) == expected


PLUGIN = """
#include <lttng/ust-clock.h>
#include <lttng/ust-getcpu.h>
static uint64_t now(void) { return 1; }
static const char *name(void) { return "slow"; }
static int fill(char *uuid) { uuid[LTTNG_UST_UUID_STR_LEN - 1] = 0; return 0; }
static int processor(void) { return 0; }
void lttng_ust_getcpu_plugin_init(void) { }
void lttng_ust_clock_plugin_init(void)
{
	int taken = 0;

	taken += !lttng_ust_trace_clock_set_read64_cb(now);
	taken += !lttng_ust_trace_clock_set_freq_cb(now);
	taken += !lttng_ust_trace_clock_set_uuid_cb(fill);
	taken += !lttng_ust_trace_clock_set_name_cb(name);
	taken += !lttng_ust_trace_clock_set_description_cb(name);
	taken += !lttng_ust_enable_trace_clock_override();
	taken += !lttng_ust_getcpu_override(processor);
	if (taken)
		__builtin_abort();
}
int main(void) { lttng_ust_clock_plugin_init(); return 0; }
"""


@pytest.mark.parametrize("compiler", ["gcc -std=c99", "g++ -x c++ -std=c++11"])
def test_plugins_for_clocks_compile(tmp_path, compiler):
    """What they offer is refused."""
    words = compiler.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"not installed: {words[0]}")
    sources = Sources(tmp_path, words)
    sources.write("plugin.c", PLUGIN)
    made = sources.compile("plugin.c", *WARNINGS)

    sources.run(Sources(tmp_path, words[:1]).link("plugin", made))
