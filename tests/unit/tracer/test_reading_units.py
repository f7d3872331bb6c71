"""The tracer's units that read texts and files, under sanitizers."""

from __future__ import annotations

import fnmatch
import os
import random
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from support.compilers import PROGRAMS, BuildError, run_tool
from vestige.record._agreement import AGREEMENT
from vestige.record.rules.encoding import encode_rules
from vestige.record.rules.event_rules import EventRule, compile_rules

TRACER = Path(__file__).parents[3] / "tracer"
SOURCES = [
    *sorted((TRACER / "base").glob("*.c")),
    *[
        TRACER / "stream" / f"{name}.c"
        for name in (
            *["application", "context", "context_list", "draft", "lone", "memory"],
            *["perf_counter", "state"],
        )
    ],
    *[TRACER / "objects" / f"{name}.c" for name in ("describe", "file")],
    *[TRACER / "arena" / "descriptor.c"],
    *[TRACER / "hooks" / f"{name}.c" for name in ("event_class", "settings_words")],
    *[
        TRACER / "rules" / f"{name}.c"
        for name in (
            *[
                "cxx_names",
                "decision",
                "expression_bind",
                "expression_run",
                "expression_texts",
                "function_names",
            ],
            *["patterns", "rule_file", "rules"],
        )
    ],
]
FLAGS = [
    *["gcc", "-std=gnu11", "-g", "-O1", "-Wall", "-Wextra", "-Werror"],
    *["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
    *[f"-I{TRACER}", f"-I{TRACER / 'include'}", "-pthread"],
]
SECONDS = 60
PT_DYNAMIC = 2


@pytest.fixture(scope="module")
def reading(tmp_path_factory):
    """The program with all of them."""
    folder = tmp_path_factory.mktemp("reading")
    main = folder / "main.o"
    # The tracer has an snprintf() of its own, which is to be compared with the C library's.
    own = ["-Dsnprintf=own_snprintf", "-Dvsnprintf=own_vsnprintf"]
    try:
        run_tool([*FLAGS, "-c", PROGRAMS / "units" / "reading.c", "-o", main])
        run_tool([*FLAGS, *own, main, *SOURCES, "-o", folder / "reading"])
    except BuildError as error:
        if "cannot find" not in str(error):
            raise
        pytest.skip("no library of these sanitizers")

    def run(mode, *files, lines=()):
        done = subprocess.run(
            [folder / "reading", mode, *files],
            input="".join(f"{line}\n" for line in lines),
            capture_output=True,
            text=True,
            errors="surrogateescape",
            timeout=SECONDS,
            check=False,
        )
        assert (done.stderr, done.returncode) == ("", 0)
        return done.stdout.splitlines()

    return run


@pytest.fixture
def chance():
    """The same each time."""
    return random.Random(13)  # noqa: S311 - no secrets here


def test_formats_are_those_of_the_c_library(reading):
    """In a room of any size."""
    assert reading("formats") == []


def test_globs_match_as_those_of_python(reading, chance):
    """Any pattern and name of a few letters, and of what stands for others."""
    cases = {
        ("".join(chance.choices("ab*?[]!c", k=chance.randrange(7))), name)
        for _ in range(4000)
        for name in ["".join(chance.choices("abc[]!", k=chance.randrange(6)))]
    }
    # Python takes a hyphen between others for a range, and so do we; none is in here.
    told = reading("globs", lines=[f"{pattern}\t{name}" for pattern, name in cases])

    assert told == [str(int(fnmatch.fnmatchcase(name, one))) for one, name in cases]


def test_ranges_of_globs(reading):
    """The first and the last are in them."""
    cases = {
        "[a-c]\tc": "1",
        "[a-c]\td": "0",
        "[!a-c]\td": "1",
        "[-a]\t-": "1",
        "[c-a]\tb": "0",
    }

    assert reading("globs", lines=cases) == list(cases.values())


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("", 0),
        (":f", 1),
        ("lib%2eso:f,:g,:=10-20", -1),
        ("lib%2Eso:f,:g,:=10-20", 3),
        ("f", -1),
        (":%4", -1),
        (":=10", -1),
        (":f,", 1),
        (",".join([":f"] * 256), 256),
        (",".join([":f"] * 257), -1),
        (":" + "f" * 16382, 1),
        (":" + "f" * 16383, -1),
    ],
)
def test_lists_of_patterns(reading, line, count):
    """As many as there is room for, or none."""
    assert reading("patterns", lines=[line]) == [str(count)]


def test_contexts_and_counters(reading):
    """By their names; each counter has a number of its own, and there are not many."""
    names = ["vpid", "procname", "vpi", "vpidd", "", "perf:thread:raw:r1A:x"]
    more = [f"perf:thread:raw:r{number}:x" for number in range(40)]
    bad = ["perf:thread:", "perf:thread:raw:r:x", "perf:thread:raw:r" + "1" * 17 + ":x"]
    told = [
        tuple(map(int, line.split()))
        for line in reading("contexts", lines=names + bad + more)
    ]

    assert [size for _, size in told[: len(names)]] == [4, 17, 0, 0, 0, 8]
    assert told[len(names) : len(names) + len(bad)] == [(-1, 0)] * len(bad)
    counters = [number for number, _ in told[len(names) + len(bad) :] if number >= 0]
    assert 1 < len(counters) < 32
    assert len(set(counters)) == len(counters)


HEAD = f"2 agreement={AGREEMENT} "


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            f"{HEAD}arena=/dev/shm/a arena-id=7 entries=fast exits=verbose contexts=ip,vpid directory=/tmp/a b",
            "/dev/shm/a 7  2 3 3 10 /tmp/a b",
        ),
        (f"{HEAD}socket=name directory=/t", " 0 name 0 0 0 0 /t"),
        (f"{HEAD}arena=/a contexts=ip,ip,nonsense directory=/t", "/a 0  0 0 1 6 /t"),
        (f"{HEAD}directory=/t", "no"),
        (f"{HEAD}arena=/a", "no"),
        (f"{HEAD}arena=/a nonsense=1 directory=/t", "no"),
        (f"{HEAD}arena=/a entries=quick directory=/t", "no"),
        (f"{HEAD}arena=/a token=0 directory=/t", "no"),
        (f"{HEAD}arena={'a' * 5000} directory=/t", "no"),
        (f"{HEAD}arena=/a directory=/{'t' * 5000}", "no"),
        (f"{HEAD}socket={'s' * 108} directory=/t", "no"),
        ("2 agreement=0123456789abcdef arena=/a directory=/nowhere", "no"),
        ("", "no"),
    ],
)
def test_settings(reading, line, told):
    """Words that are not known, or too long, are for another tracer."""
    assert reading("settings", lines=[line]) == [told]


def test_damaged_settings(reading, chance):
    """No text is read beyond its end."""
    whole = (
        f"{HEAD}arena=/dev/shm/a arena-id=7 socket=s token={'0f' * 16} clock=counter "
        "contexts=ip,vpid entries=fast exits=off include=a:b,:c exclude=:=1-2 directory=/tmp"
    )
    lines = [damaged(chance, whole.encode()).decode("latin-1") for _ in range(200)]

    assert len(reading("settings", lines=lines)) == len(lines)


def damaged(chance, content):
    """Change, cut out or repeat some bytes, but add no line."""
    content = bytearray(content)
    for _ in range(chance.randint(1, 4)):
        place = chance.randrange(len(content))
        end = place + chance.choice([1, 1, 1, 2, 8, 40])
        content[place:end] = chance.choice(
            [
                bytes(
                    chance.choices(b" ,=:%-09azAZ~\x01\x7f", k=len(content[place:end]))
                ),
                b"",
                content[place:end] * 2,
            ]
        )
        if not content:
            content = bytearray(b" ")
    return bytes(content)


FILTERS = {
    "number == 42": "1 1",
    "number < 0 || real < 0": "1 1",
    "real > 0": "1 0",
    'text == "h*o"': "1 1",
    'text == "hell"': "1 0",
    "bytes[3] == 250": "1 1",
    # Never true: there is no such element, field, or comparison.
    "bytes[4] == 0": "0 0",
    "nonsense == 1": "0 0",
    'number == "text"': "0 0",
    "numbers[2] == 300 && !(choice & 1 == 0)": "1 1",
    "numbers[3] == 0": "1 0",
    "hidden == 9": "1 1",
}


def encoded(tmp_path, rules):
    """Write rules to a file."""
    path = tmp_path / "rules"
    path.write_bytes(encode_rules(compile_rules(rules)))
    return path


@pytest.mark.parametrize(("text", "told"), FILTERS.items())
def test_filters_of_rules(reading, tmp_path, text, told):
    """Whether the event is chosen at all, and whether it passes."""
    path = encoded(tmp_path, [EventRule("units:ev*", filter=text)])

    assert reading("rules", path) == [told]


def test_damaged_rules(reading, tmp_path, chance):
    """None is read beyond its end, whatever its sizes and its code say."""
    whole = encode_rules(
        compile_rules(
            [
                EventRule("other:*"),
                *[EventRule("units:*", filter=one) for one in FILTERS],
            ]
        )
    )
    paths = []
    for number in range(400):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 3)):
            content[chance.randrange(len(content))] = chance.choice([0, 1, 8, 127, 255])
        paths.append(tmp_path / f"damaged-{number}")
        paths[-1].write_bytes(content[: chance.choice([len(content), 8, 200, 1000])])

    told = reading("rules", *paths)

    assert len(told) == len(paths)
    assert {"0 0", "1 1"} <= set(told)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """A library with three functions of that name, one of them static, and a debug link."""
    folder = tmp_path_factory.mktemp("library")
    source = folder / "library.c"
    source.write_text(
        'static __attribute__((noinline, used)) void chosen_static(void) { __asm__(""); }\n'
        "void chosen_one(void) { chosen_static(); }\nvoid chosen_two(void) {}\n"
        "void other(void) {}\n",
        encoding="utf-8",
    )
    path = folder / "library.so"
    run_tool(["gcc", "-shared", "-fPIC", "-O1", source, "-o", path])
    run_tool(["objcopy", "--add-gnu-debuglink", source, path], folder)
    return path


def test_functions_of_an_object(reading, library, tmp_path):
    """From the linker's table, else from that of the dynamic linker."""
    stripped = tmp_path / "stripped.so"
    run_tool(["strip", library, "-o", stripped])
    whole, less, none = reading("objects", library, stripped, __file__)

    assert whole.split()[:3] == ["1", "3", "library.c"]
    assert less.split()[:3] == ["1", "2", "library.c"]
    assert none == "0 0 - 0"


def test_damaged_objects(reading, library, tmp_path, chance):
    """Sections, segments and symbols may lie anywhere, and say anything."""
    whole = library.read_bytes()
    sections = int.from_bytes(whole[40:48], "little")
    paths = []
    for number in range(300):
        content = bytearray(whole)
        # In the headers of the file, of segments and of sections, or somewhere.
        low, high = chance.choice(
            [(16, 64), (64, 600), (sections, len(whole)), (0, len(whole))]
        )
        for _ in range(chance.randint(1, 3)):
            content[chance.randrange(low, high)] = chance.choice([0, 1, 127, 128, 255])
        paths.append(tmp_path / f"damaged-{number}")
        paths[-1].write_bytes(
            content[: chance.choice([len(content)] * 3 + [100, 5000])]
        )

    assert len(reading("objects", *paths)) == len(paths)


def dynamic_section(content: bytes) -> int:
    """Return the address of the dynamic section that a 64-bit ELF file states."""
    first = int.from_bytes(content[32:40], "little")
    count = int.from_bytes(content[56:58], "little")
    for header in range(first, first + 56 * count, 56):
        if int.from_bytes(content[header : header + 4], "little") == PT_DYNAMIC:
            return int.from_bytes(content[header + 16 : header + 24], "little")
    raise AssertionError("no dynamic section")


def test_objects_are_described(reading, tmp_path):
    """By what is mapped, or else by the file; it must be the same object in both."""
    # Its note is the last, and has no padding.
    build_id = "0123456789abcdef0123"
    named = tmp_path / "named.so"
    other = tmp_path / "other.so"
    run_tool(
        [
            *["gcc", "-shared", "-fPIC", "-nostdlib", f"-Wl,--build-id=0x{build_id}"],
            *["-x", "c", "/dev/null", "-o", named],
        ]
    )
    run_tool(["objcopy", "--remove-section=.note.gnu.build-id", named, other])
    dynamic = dynamic_section(named.read_bytes())
    mapped, unmapped = reading("described", str(dynamic), named)
    less, _ = reading("described", str(dynamic), other)

    assert mapped.split()[1:] == unmapped.split()[1:] == [build_id, "same"]
    assert int(mapped.split()[0]) > dynamic
    assert build_id not in less
    assert reading("described", str(dynamic + 8), named) == ["no", "no"]
    assert reading("described", str(dynamic), __file__) == ["no", "no"]


def test_damaged_objects_that_are_loaded(reading, library, tmp_path, chance):
    """Segments and notes may lie anywhere, and say anything."""
    whole = library.read_bytes()
    paths = []
    for number in range(300):
        content = bytearray(whole)
        low, high = chance.choice([(16, 64), (64, 800), (64, 800), (0, len(whole))])
        for _ in range(chance.randint(1, 3)):
            content[chance.randrange(low, high)] = chance.choice([0, 1, 127, 128, 255])
        paths.append(tmp_path / f"loaded-{number}")
        paths[-1].write_bytes(content[: chance.choice([len(content)] * 3 + [100, 300])])
    lines = reading("described", str(dynamic_section(whole)), *paths)

    assert len(lines) == 2 * len(paths)
    assert any(line == "no" for line in lines)
    assert any(line != "no" for line in lines)


@pytest.mark.parametrize(
    ("answer", "times", "mode", "expected"),
    [
        (b"!", 1, 0o600, "found 1"),
        (b"!", 1, 0o644, "no 0"),
        (b"!", 2, 0o600, "no 0"),
        (b"!", 3, 0o600, "no 0"),
        (b"!", 0, 0o600, "no 0"),
        (b"", 0, 0o600, "no 0"),
    ],
)
def test_what_a_socket_gives(reading, tmp_path, answer, times, mode, expected):
    """It is taken if it is one file of this user alone; nothing else stays open."""
    path = tmp_path / "given"
    path.touch()
    path.chmod(mode)
    name = f"vestige-test-{tmp_path.name}-{os.getpid()}"
    file = os.open(path, os.O_RDWR)

    def serve():
        connection, _ = listening.accept()
        with connection:
            connection.recv(16)
            if answer:
                socket.send_fds(connection, [answer], [file] * times)

    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"\0{name}")
        listening.listen()
        thread = threading.Thread(target=serve)
        thread.start()
        found = reading("descriptor", "", "0", name)
        thread.join()
    os.close(file)

    assert found == [expected]


def test_what_is_at_the_path_is_looked_at(reading, tmp_path):
    """It must be the file that is meant, and not a link to it, a pipe or a directory."""
    path = tmp_path / "meant"
    path.touch()
    inode = path.stat().st_ino
    link = tmp_path / "link"
    link.symlink_to(path)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    assert reading("descriptor", path, str(inode), "") == ["found 1"]
    assert reading("descriptor", path, str(inode + 1), "") == ["no 0"]
    assert reading("descriptor", link, str(inode), "") == ["no 0"]
    assert reading("descriptor", pipe, str(pipe.stat().st_ino), "") == ["no 0"]
    assert reading("descriptor", tmp_path, str(tmp_path.stat().st_ino), "") == ["no 0"]
    assert reading("descriptor", tmp_path / "none", str(inode), "") == ["no 0"]


def test_event_record_classes(reading):
    """Each kind of field; what filters alone see is not written."""
    text = "\n".join(reading("classes"))

    # The ID comes from the arena.
    assert text.endswith("7")
    assert 'name = "units:event";' in text
    assert 'model.emf.uri = "http://a/\\"b\\"\\n";' in text
    assert '"a \\"quoted\\\\\\" text" = -5 ... -2' in text
    assert '"next" = -1 ... -1' in text
    # After the last number comes the first.
    assert f'"behind the last" = {-(2**63)} ... {-(2**63)}' in text
    assert "_bytes[4]" in text
    assert "_numbers[__numbers_length]" in text
    assert "hidden" not in text


MAPPED = "4000-6000 r-xp 00001000 fe:01 77         /lib/a b.so (deleted)"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([MAPPED], "4000 1000 77 /lib/a b.so (deleted)"),
        (
            ["1000-2000 r--p 0 00:00 0 ", "", "nonsense", MAPPED],
            "4000 1000 77 /lib/a b.so (deleted)",
        ),
        (
            ["4000-5000 r--p 0 fe:01 7 /a", "5000-5001 r--p ab fe:01 8 /b"],
            "5000 ab 8 /b",
        ),
        (["4000-6000 rw-p 00000000 00:00 0          [heap]"], "no"),
        (["4000-6000 rw-p 00000000"], "no"),
        (["4000-"], "no"),
        ([f"4000-6000 r-xp 0 fe:01 77 /{'a' * 9000}", "x"], "no"),
        (
            [f"0-1 r-xp 0 fe:01 77 /{'a' * 4095}"] * 5 + [MAPPED],
            "4000 1000 77 /lib/a b.so (deleted)",
        ),
        ([], "no"),
    ],
)
def test_the_list_of_what_is_mapped(reading, tmp_path, lines, told):
    """Lines may be cut, too long or of something that is no file."""
    path = tmp_path / "maps"
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    assert reading("maps", path) == [told]
