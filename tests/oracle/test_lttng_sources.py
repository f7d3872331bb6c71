"""LTTng-UST's own examples and tests are built with Vestige's headers, and recorded.

Set `LTTNG_UST_CHECKOUT` to a checkout of LTTng-UST. Examples are built with their own
makefiles, unchanged; programs of its tests, whose makefiles need the whole build, with a
compiler. docs/reference/lttng-api.md has the list.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.compilers import PROGRAMS
from support.instrumented import records
from support.recorded import record_command
from vestige.record.development import (
    compile_flags,
    link_flags,
    native_directory,
    pkg_config_directory,
)

VARIABLE = "LTTNG_UST_CHECKOUT"
SECONDS = 120

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(
        VARIABLE not in os.environ, reason=f"{VARIABLE} names no checkout of LTTng-UST"
    ),
]


@dataclass(frozen=True)
class Job:
    """A program of the checkout.

    Args:
        directory: Where its sources are.
        build: Shell commands that build it there.
        run: The program and its arguments.
        expected: How many records of which events it makes; any number if negative.
        preload: Libraries to preload.
    """

    directory: str
    build: str
    run: Sequence[str]
    expected: Mapping[str, int] = field(default_factory=dict)
    preload: str = ""


CC = "cc -O2 -Wall -Wextra -Werror $CPPFLAGS -I. -I../../../utils"
CXX = CC.replace("cc", "c++", 1)
END = "$LDFLAGS -llttng-ust -ldl -lpthread"
API1 = "-DLTTNG_UST_COMPAT_API_VERSION=1"
HELLO = {"ust_tests_hello:tptest": 1_000_000, "ust_tests_hello:tptest_sighandler": 0}
MANY = {f"ust_tests_hello_many:tptest_simple{n}": 1 for n in (1, 34)}

JOBS = {
    "doc/examples/easy-ust": Job(
        "doc/examples/easy-ust",
        "make",
        ["./sample"],
        {"sample_component:message": -1},
    ),
    "doc/examples/hello-static-lib": Job(
        "doc/examples/hello-static-lib", "make", ["./hello"], {}
    ),
    "doc/examples/demo": Job(
        "doc/examples/demo",
        "make",
        ["./demo"],
        {"ust_tests_demo:starting": 1, "ust_tests_demo3:done": 1},
        "./lttng-ust-provider-ust-tests-demo.so:./lttng-ust-provider-ust-tests-demo3.so",
    ),
    "doc/examples/demo-tracef": Job(
        "doc/examples/demo-tracef",
        "make",
        ["./demo-tracef"],
        {"lttng_ust_tracef:event": -1},
    ),
    "doc/examples/demo-tracelog": Job(
        "doc/examples/demo-tracelog",
        "make",
        ["./demo-tracelog"],
        {},
    ),
    "doc/examples/gen-tp": Job(
        "doc/examples/gen-tp",
        "make PYTHON= LTTNG_GEN_TP_PATH=$TOOLS/",
        ["./sample"],
        {"sample_tracepoint:message": -1},
    ),
    "doc/examples/cmake-multiple-shared-libraries": Job(
        "doc/examples/cmake-multiple-shared-libraries",
        "cmake -S . -B . -DCMAKE_PREFIX_PATH=$PREFIX && make",
        ["./tester"],
        {},
    ),
    "tests/benchmark": Job(
        "tests/benchmark",
        f"{CC.replace('../../..', '..')} -DTRACING bench.c tp.c -o bench {END}",
        ["./bench", "1", "1"],
        {"ust_tests_benchmark:tpbench": -1},
    ),
    **{
        f"tests/compile/{api}/{name}{' (API 1)' if flags else ''}": Job(
            f"tests/compile/{api}/{name}",
            f"{CXX if 'cxx' in name else CC} {flags} {sources} -o program {END}",
            ["./program"],
            expected,
        )
        for api, flags, name, sources, expected in [
            ("api0", "", "ctf-types", "*.c", {}),
            ("api0", "", "hello", "*.c", HELLO),
            ("api0", "", "hello-many", "*.c", MANY),
            ("api0", "", "hello.cxx", "*.cpp", {}),
            ("api0", "", "same_line_tracepoint", "*.c", {}),
            ("api1", "", "hello", "*.c", HELLO),
            ("api1", API1, "hello", "*.c", HELLO),
            ("api1", "", "hello-many", "*.c", MANY),
            ("api1", API1, "hello-many", "*.c", MANY),
            ("api1", "", "hello.cxx", "*.cpp", {}),
            ("api1", "", "same_line_tracepoint", "*.c", {}),
            ("api1", "", "ust-fields", "*.c", {}),
        ]
    },
}

NOT_SUPPORTED = {
    "doc/examples/clock-override": "a plugin that replaces the clock",
    "doc/examples/getcpu-override": "a plugin that replaces the number of the processor",
    "doc/examples/python": "messages of logging: vestige.instrument has those",
    "doc/examples/java-jul": "Java",
    "doc/examples/java-log4j": "Java",
    "doc/examples/java-log4j2-basic": "Java",
    "doc/examples/java-log4j2-ctx": "Java",
    "doc/examples/java-log4j2-prog": "Java",
    "tests/compile/api1/test-app-ctx": "contexts of a program, by internal headers",
    "tests/regression/abi0-conflict": "two versions of LTTng's own library",
}
"""What is there beside, and what it is about."""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy to build in."""
    copy = tmp_path_factory.mktemp("lttng-ust") / "checkout"
    original = Path(os.environ[VARIABLE])
    for name in ("doc/examples", "tests"):
        shutil.copytree(original / name, copy / name)
    return copy


def variables(tools):
    """Return the environment of builds: what `vestige config` prints."""
    generator = tools / "lttng-gen-tp"
    code = "from vestige.cli.start import entry_point; entry_point()"
    generator.write_text(
        f"#!/bin/sh\nexec {sys.executable} -c '{code}' gen-tp \"$@\"\n"
    )
    generator.chmod(0o755)
    flags = " ".join(compile_flags())
    return {
        **os.environ,
        "CPPFLAGS": flags,
        "CXXFLAGS": flags,
        "LDFLAGS": " ".join(link_flags()),
        "PKG_CONFIG_PATH": str(pkg_config_directory()),
        "PREFIX": str(native_directory()),
        "TOOLS": str(tools),
        "PYTHONPATH": os.pathsep.join(sys.path),
        "LC_ALL": "C",
    }


@pytest.mark.parametrize("name", JOBS)
def test_program_of_lttng(checkout, tmp_path, name):
    """It is built without a change, runs, and its events are there."""
    job = JOBS[name]
    directory = checkout / job.directory
    built = subprocess.run(
        ["sh", "-ec", job.build],
        cwd=directory,
        env=variables(tmp_path),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    trace = tmp_path / "trace"
    done = subprocess.run(
        record_command(trace, job.run, "--quiet", "--buffer-size=4M"),
        cwd=directory,
        env={**os.environ, "LD_PRELOAD": job.preload},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    counts: dict[str, int] = {}
    for event in records(trace):
        counts[event.name] = counts.get(event.name, 0) + 1

    assert counts
    for event, number in job.expected.items():
        assert counts.get(event, 0) == number or (number < 0 < counts[event])


def test_the_list_is_complete():
    """Nothing of the checkout is left out, and documentation has all of it."""
    root = Path(os.environ[VARIABLE])
    found = {
        str(path.relative_to(root))
        for pattern in ("doc/examples/*", "tests/compile/api*/*", "tests/benchmark")
        for path in root.glob(pattern)
        if path.is_dir()
    }
    known = {job.directory for job in JOBS.values()} | set(NOT_SUPPORTED)
    text = (PROGRAMS.parents[1] / "docs/reference/lttng-api.md").read_text()

    assert found - known == set()
    assert [one for one in sorted(known) if f"`{one}`" not in text] == []
