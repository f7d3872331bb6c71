"""Each cell of the table of rules has a test."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "record.md"
KINDS = ("names", "exclusions", "levels", "fields", "contexts")
CHOSEN = "tests/oracle/test_filters.py"
PAIRS = "tests/oracle/test_rules_of_sources.py"
OWN = "tests/unit/record/test_rules_of_sources.py"
TESTS = {
    "tracepoints": {
        "names": (CHOSEN, "test_the_same_events_are_taken"),
        "exclusions": (CHOSEN, "test_the_same_events_are_taken"),
        "levels": (CHOSEN, "test_the_same_events_are_taken"),
        "fields": (CHOSEN, "test_random_filters"),
        "contexts": (CHOSEN, "test_the_same_events_pass"),
    },
    "tracepoints of programs compiled with LTTng-UST": {
        "names": (CHOSEN, "test_rules_of_a_program_compiled_with_lttng"),
        "exclusions": (CHOSEN, "test_rules_of_a_program_compiled_with_lttng"),
        "levels": (CHOSEN, "test_rules_of_a_program_compiled_with_lttng"),
        "fields": (CHOSEN, "test_a_program_compiled_with_lttng"),
        "contexts": (CHOSEN, "test_contexts_of_a_program_compiled_with_lttng"),
    },
    "function calls": dict.fromkeys(KINDS, (PAIRS, "test_function_calls")),
    "memory (`--libc`)": dict.fromkeys(KINDS, (PAIRS, "test_memory")),
    "mutexes (`--pthread`)": dict.fromkeys(KINDS, (PAIRS, "test_mutexes")),
    "dynamic linker (`--dl`)": dict.fromkeys(KINDS, (PAIRS, "test_plugins")),
    "functions of Python": dict.fromkeys(
        KINDS, (OWN, "test_rules_for_programs_in_python")
    ),
    "tracepoints of Python": dict.fromkeys(
        KINDS, (OWN, "test_rules_for_python_tracepoints")
    ),
    "loggers of Python": dict.fromkeys(
        KINDS, (OWN, "test_rules_for_programs_in_python")
    ),
    "base addresses (`ust_baddr`)": dict.fromkeys(
        KINDS[:3],
        (
            "tests/unit/record/rules/test_events.py",
            "test_conditions_hold_for_all_events",
        ),
    ),
    "state dump, loaded objects": {},
}


def rows():
    """Return the cells of the table by event source and kind of rule."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("| event source "))
    found = {}
    for line in lines[head + 2 :]:
        if not line.startswith("|"):
            break
        source, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        found[source] = dict(zip(KINDS, cells, strict=True))
    return found


def test_each_cell_has_a_test():
    """And each test is for a cell that promises something."""
    promised = {
        source: {
            kind
            for kind, cell in cells.items()
            if cell not in {"no", "always recorded"}
        }
        for source, cells in rows().items()
    }

    assert promised == {source: set(tests) for source, tests in TESTS.items()}


def test_the_tests_are_there():
    """By their names."""
    for path, name in {test for tests in TESTS.values() for test in tests.values()}:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        names = {one.name for one in tree.body if isinstance(one, ast.FunctionDef)}
        assert name in names, (path, name)
