"""What the recorder and the tracer agree on: described once, and the same for all of them."""

from __future__ import annotations

import runpy
import shutil
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest

from support.compilers import PROGRAMS, run_tool
from vestige.expressions.code import Operation
from vestige.record import _agreement
from vestige.record.backends.in_process.packets import PACKET
from vestige.record.backends.in_process.tracer import tracer_environment
from vestige.record.rules.choices import FunctionTracing
from vestige.record.rules.options import RecordingOptions

ROOT = PROGRAMS.parent.parent
HEADER = ROOT / "tracer/agreement/arena.h"
"""It includes the other one."""

needs_compiler = pytest.mark.skipif(
    shutil.which("gcc") is None, reason="not installed: gcc"
)


@pytest.fixture(scope="module")
def tool():
    """The names of tools/make_agreement.py, and so the description."""
    before = list(sys.path)
    yield runpy.run_path(str(ROOT / "tools/make_agreement.py"))
    sys.path[:] = before


@pytest.fixture(scope="module")
def structures(tool):
    """The structures of the description, by their names in C."""
    arena, filters, packet = tool["arena"], tool["filters"], tool["packet"]
    found = (
        packet.PACKET,
        filters.INSTRUCTION,
        filters.RULES_HEAD,
        filters.RULE_HEAD,
        *arena.STRUCTURES,
    )
    return {one.name: one for one in found}


def printed(tmp_path, expressions):
    """Compile a program with the header; return the numbers that it prints."""
    source = tmp_path / "printed.c"
    lines = "".join(
        f'\tprintf("%lld\\n", (long long) ({one}));\n' for one in expressions
    )
    source.write_text(
        f'#include <stdio.h>\n#include "{HEADER}"\n'
        f"int main(void)\n{{\n{lines}\treturn 0;\n}}\n"
    )
    warnings = ["-Wall", "-Wextra", "-Wconversion", "-Werror"]
    run_tool(["gcc", "-std=gnu11", *warnings, "-o", tmp_path / "printed", source])
    return [int(line) for line in run_tool([tmp_path / "printed"]).split()]


@needs_compiler
def test_structures_are_as_long_in_c_as_they_are_described(tmp_path, structures):
    """And their members lie where the others look for them."""
    expressions, expected = [], []
    for name, structure in structures.items():
        for member, offset in structure.offsets():
            expressions.append(f"offsetof(struct {name}, {member.name})")
            expected.append(offset)
        expressions.append(f"sizeof(struct {name})")
        expected.append(structure.size)

    assert printed(tmp_path, expressions) == expected


@pytest.mark.parametrize("name", ["packet", "instruction", "rules_head", "rule_head"])
def test_python_knows_where_members_lie(structures, name):
    """Of what the recorder reads and writes."""
    structure = structures[name]
    offsets = {member.name: offset for member, offset in structure.offsets()}

    assert getattr(_agreement, f"{name.upper()}_OFFSETS") == offsets
    assert getattr(_agreement, f"{name.upper()}_SIZE") == structure.size


@pytest.mark.parametrize(
    "name",
    [
        "PACKET",
        "RULES_HEAD",
        "RULE_HEAD",
        "INSTRUCTION_INTEGER",
        "INSTRUCTION_REAL",
        "INSTRUCTION_TEXT",
    ],
)
def test_formats_have_the_size_of_their_structures(name):
    """In the standard sizes of `struct`, without any gap."""
    size = getattr(
        _agreement, f"{name.split('_INT')[0].split('_REAL')[0].split('_TEXT')[0]}_SIZE"
    )

    assert struct.calcsize("=" + getattr(_agreement, f"{name}_FORMAT")) == size


def test_a_packet_is_unpacked_member_by_member():
    """Each from its own offset."""
    values = PACKET.unpack(bytes(range(PACKET.size)))
    offsets = _agreement.PACKET_OFFSETS

    assert len(values) == len(offsets)
    assert values[1] == bytes(range(offsets["uuid"], offsets["stream_id"]))
    assert values[-1][0] == offsets["procname"]


@needs_compiler
def test_event_ids_and_operations_are_the_same_numbers(tmp_path, tool):
    """An ID is a place in the table of the recorder."""
    events = tool["events"].EVENTS
    ids = printed(
        tmp_path,
        [*(f"EVENT_{one.constant}" for one in events), "EVENT_CLASSES"],
    )
    operations = printed(tmp_path, [f"OP_{one.name}" for one in Operation])

    assert ids == list(range(len(events) + 1))
    assert [one.name for one in events] == [name for name, *_ in _agreement.EVENTS]
    assert operations == [int(one) for one in Operation]


@needs_compiler
def test_fields_are_as_long_as_what_writes_them(tmp_path, tool):
    """The room that a record gets, and how far its fields reach."""
    expressions, expected = [], []
    for layout in tool["events"].layouts():
        long = [one for one in layout.fields if one.has_length or not one.kind.size]
        name = layout.name.upper()
        sizes = ", ".join(str(10 + number) for number, _ in enumerate(long))
        room = f"{name}_FIELDS_SIZE({sizes})" if long else f"{name}_FIELDS_SIZE"
        words = ["at"]
        for one in layout.fields:
            if one in long:
                words += ["bytes", f"{10 + long.index(one)}"]
            else:
                words.append("bytes" if one.length else "1")
        expressions.append(
            f"({{ char at[256]; const char bytes[64] = {{0}}; (void) bytes; "
            f"encode_{layout.name}({', '.join(words)}) - at - (long) ({room}); }})"
        )
        expected.append(0)

    assert printed(tmp_path, expressions) == expected


@pytest.mark.skipif(shutil.which("rustc") is None, reason="not installed: rustc")
def test_structures_are_laid_out_alike_in_rust(tmp_path, structures):
    """The compiler checks each offset."""
    printer = sys.modules["agreement.rust_module"].rust_structure
    source = tmp_path / "agreement.rs"
    text = "\n".join(map(printer, structures.values()))
    source.write_text(
        f"#![deny(missing_docs)]\n//! All.\n\n{text}".replace(
            "    pub ", "    /// One.\n    pub "
        )
    )
    words = ["--edition=2021", "--crate-type=lib", "--emit=metadata"]
    run_tool(["rustc", *words, "-o", tmp_path / "all.rmeta", source])


class TestDescriptions:
    """What a description says, and what it must not say."""

    def test_remarks_do_not_change_the_fingerprint(self, tool, monkeypatch):
        """But what a program can see does."""
        before = tool["fingerprint"]()
        packet = tool["packet"]
        other = replace(packet.PACKET, about="Something else.")
        monkeypatch.setattr(packet, "PACKET", other)
        assert tool["fingerprint"]() == before

        monkeypatch.setattr(
            packet, "PACKET", replace(other, members=other.members[:-1])
        )
        assert tool["fingerprint"]() != before

    def test_the_fingerprint_covers_the_arena(self, tool, monkeypatch):
        """A tracer that looks for a number elsewhere records nothing."""
        before = tool["fingerprint"]()
        arena = tool["arena"]
        first, second, *others = arena.CHUNK.members
        moved = replace(arena.CHUNK, members=(second, first, *others))
        monkeypatch.setattr(arena, "CHUNK", moved)

        assert tool["fingerprint"]() != before

    def test_members_leave_no_gap(self, structures):
        """Compilers would fill it as they like."""
        packet = structures["packet"]
        gap = replace(packet, members=(packet.members[0], packet.members[3]))

        with pytest.raises(ValueError, match="stream_instance_id is not aligned at 4"):
            list(gap.offsets())
        with pytest.raises(ValueError, match="has 12 bytes, which leaves a gap"):
            _ = gap.size

    def test_words_are_those_of_the_options(self):
        """In the order of the numbers that the tracer gives them."""
        assert set(_agreement.FUNCTION_TRACING_WORDS) == set(get_args(FunctionTracing))
        assert _agreement.CLOCK_KIND_WORDS == ("monotonic", "counter")

    def test_all_words_are_written(self):
        """Each once, and the directory last."""
        directory = Path("/a directory")
        memory = {"arena": "/a", "arena-id": 1, "socket": "", "token": ""}
        memory["inherited"] = ""
        text = tracer_environment(
            directory, RecordingOptions(), memory, is_counter=True
        )["VESTIGE_TRACER"]
        head, *words = text.partition(f" {_agreement.SETTINGS_TAIL}")[0].split(" ")
        names = [word.partition("=")[0] for word in words]

        assert head == _agreement.SETTINGS_HEAD.split()[0]
        assert names == ["agreement", *_agreement.SETTINGS]
        assert text.endswith(" directory=/a directory")


def test_it_is_imported_in_no_time():
    """No library is loaded for it, and no class is made."""
    code = (
        "import sys; before = set(sys.modules); import vestige.record._agreement; "
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )

    assert "vestige._core" not in done.stdout
    assert "dataclasses" not in done.stdout
