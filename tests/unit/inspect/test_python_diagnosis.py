"""Why a Python program is not recorded, and what is missing of one that is."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from support.compilers import run_tool
from support.python_programs import copied_package, record_python
from support.recorded import record_command, run_recorded
from vestige.inspect.python_detection import has_python
from vestige.inspect.python_diagnosis import why_without_python
from vestige.record.summary.python_holes import _tells_profilers, _unprofiled

PLAIN = ("/usr/lib/libc.so.6", "/usr/bin/python3.11")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("python3.8", "Python 3.8 is not recorded: functions and the log are from"),
        ("libpython3.10.so.1.0", "Python 3.10 is not recorded"),
        ("libpypy3.9-c.so", "PyPy is not recorded"),
        ("pypy3", "PyPy is not recorded"),
        ("python3.13t", "Python 3.13t is not recorded"),
        ("python3.11", None),
        ("libpython3.13.so.1.0", None),
        ("python3", None),
    ],
)
def test_the_interpreter_is_the_reason(name, reason):
    """By the name of its file."""
    objects = ["/lib/libc.so.6", f"/opt/{name}"]
    found = why_without_python(["app"], objects)

    assert has_python(objects)
    assert found is None if reason is None else found.startswith(reason)


def test_one_that_can_be_recorded_is_no_reason():
    """Another one beside it may be old."""
    assert why_without_python(["app"], ["/opt/python3.8", "/opt/python3.12"]) is None
    assert not has_python(["/lib/libc.so.6", "/usr/bin/pythonista"])


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["-I", "app.py"], "I"),
        (["-bE", "app.py"], "E"),
        (["-X", "dev", "-S", "-c", "pass"], "S"),
        (["-Wd", "-sI"], "I"),
        (["--check-hash-based-pycs", "-E"], "E"),
        (["-W", "-I", "app.py"], None),
        (["-c", "pass", "-I"], None),
        (["-mtimeit", "-S"], None),
        (["app.py", "-I"], None),
        (["-Xdev", "--", "-I"], None),
        (["-"], None),
        ([], None),
    ],
)
def test_the_options_of_the_interpreter_are_the_reason(arguments, option):
    """Those of the program are not."""
    found = why_without_python([sys.executable, *arguments], PLAIN)

    if option is None:
        assert found is None
    else:
        name = Path(sys.executable).name
        assert found is not None
        assert found.startswith(f"'{name} -{option}' ")


def test_a_script_names_its_interpreter(tmp_path):
    """With options, also behind env."""
    for line in ("/usr/bin/python3 -I", "/usr/bin/env -S python3 -I"):
        script = tmp_path / "script"
        script.write_text(f"#!{line}\n")
        script.chmod(0o755)

        assert "python3 -I" in str(why_without_python([str(script)], PLAIN))
    script.write_text("#!\n")
    assert why_without_python([str(script)], PLAIN) is None
    assert why_without_python(["/absent"], PLAIN) is None


@pytest.mark.parametrize(
    "options", [[], ["--python-functions"], ["-e", "lttng_python:*"]]
)
def test_the_closing_lines_tell_it(tmp_path, options):
    """In place of advice that would not help."""
    interpreter = (sys.executable, "-I")
    done = record_python(tmp_path, "pass", *options, interpreter=interpreter)

    assert "-I' takes nothing from the environment" in done.stderr
    assert "--python-functions records" not in done.stderr


def test_an_interpreter_that_others_start_gets_a_guess(tmp_path):
    """Nobody knows its options."""
    command = ["sh", "-c", f"'{sys.executable}' -I -c pass; true"]
    done = run_recorded(tmp_path / "trace", command, "--python-functions")

    assert "startup module did not run in Python" in done.stderr


def test_a_package_without_its_extension_is_the_reason(tmp_path):
    """However the program was started: nothing else would help."""
    copied_package(tmp_path, "_native*")
    for interpreter in ([sys.executable], [sys.executable, "-I"]):
        trace = tmp_path / f"trace-{len(interpreter)}"
        words = record_command(
            trace, [*interpreter, "-c", "pass"], "--python-functions"
        )
        done = subprocess.run(
            words,
            env={**os.environ, "PYTHONPATH": str(tmp_path)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )

        assert "vestige: no function calls: the extension of" in done.stderr
        assert "was not built: install Python's headers" in done.stderr
        assert "startup module" not in done.stderr


TWICE = r"""
#include <Python.h>
int main(void)
{
	for (int life = 0; life < 2; life++) {
		Py_Initialize();
		PyRun_SimpleString("def f():\n    pass\nf()\n");
		if (Py_FinalizeEx() != 0)
			return 1;
	}
	return 0;
}
"""


@pytest.mark.skipif(shutil.which("gcc") is None, reason="not installed: gcc")
def test_a_second_interpreter_of_a_program_is_told(tmp_path):
    """Its functions are not recorded, and the closing lines say so."""
    library = sysconfig.get_config_var("LDLIBRARY") or ""
    directory = sysconfig.get_config_var("LIBDIR") or ""
    if not (Path(directory) / library).is_file() or not library.endswith(".so"):
        pytest.skip("not there: Python as a shared library")
    (tmp_path / "twice.c").write_text(TWICE)
    include = sysconfig.get_path("include")
    run_tool(
        ["gcc", "-o", tmp_path / "twice", tmp_path / "twice.c", f"-I{include}",
         str(Path(directory) / library), f"-Wl,-rpath,{directory}"],
    )  # fmt: skip
    command = ["env", f"PYTHONHOME={sys.base_prefix}", str(tmp_path / "twice")]
    done = run_recorded(tmp_path / "trace", command, "--python-functions")

    assert done.returncode == 0
    assert "functions of Python are missing in process " in done.stderr
    assert "the program has initialized Python again" in done.stderr


def test_modules_of_cython_with_a_profile_are_told(tmp_path):
    """By what they import; others are not."""
    module = tmp_path / "fast.cpython-311-x86_64-linux-gnu.so"
    module.write_bytes(b"\x7fELF\0cython_runtime\0PyThreadState_EnterTracing\0")
    other = tmp_path / "plain.cpython-311-x86_64-linux-gnu.so"
    other.write_bytes(b"\x7fELF\0cython_runtime\0")
    empty = tmp_path / "empty.cpython-311-x86_64-linux-gnu.so"
    empty.write_bytes(b"")
    library = tmp_path / "libfast.so"
    library.write_bytes(module.read_bytes())
    paths = [str(path) for path in (module, other, empty, library, tmp_path / "no.so")]
    found = [path for path in paths if _tells_profilers(path)]

    assert found == [str(module)]
    assert module.name in next(iter(_unprofiled(found)))
    assert not list(_unprofiled([]))


@pytest.mark.parametrize(
    ("inside", "where"),
    [
        ((), "are missing in process [1-9][0-9]+: this"),
        (
            ("unshare", "-Upfr", "setarch", "-R"),
            "are missing in 2 processes with the ID 1, in PID namespaces of their own: ",
        ),
    ],
)
def test_what_is_missing_is_told_of_each_process(tmp_path, inside, where):
    """A process ID is one process in its PID namespace only."""
    if inside and subprocess.run([*inside, "true"], check=False).returncode:
        pytest.skip("needs unshare(1) and setarch(1), and the right to use them")
    (tmp_path / "greenlet.py").touch()
    (tmp_path / "app.py").write_text("import greenlet\n")
    line = shlex.join([*inside, sys.executable, str(tmp_path / "app.py")])
    command = ["sh", "-c", f"{line}; {line}"]
    done = run_recorded(tmp_path / "trace", command, "--python-functions")
    lines = [line for line in done.stderr.splitlines() if "greenlets are" in line]

    assert len(lines) == (1 if inside else 2)
    assert all(re.search(where, line) for line in lines), lines
