"""The package as a whole: sub-modules, `vestige.record`, files from selections."""

from __future__ import annotations

import ast
import csv
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import pytest

import vestige
from support.recordings import DATA
from vestige import _lazy

PACKAGES = ("vestige", "vestige.ctf", "vestige.debuginfo")


def lazy_homes(package):
    """Return what a package imports for type checkers: the module of each name."""
    tree = ast.parse(Path(package.__file__).read_text())
    [block] = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return {
        alias.asname or alias.name: "." * node.level + (node.module or "")
        for node in block.body
        for alias in node.names
    }


@pytest.mark.parametrize("name", PACKAGES)
def test_names_come_from_where_type_checkers_look(name):
    """The table of homes and the imports for type checkers say the same."""
    package = importlib.import_module(name)
    typed = lazy_homes(package)
    modules = set(getattr(package, "_MODULES", ()))
    homes = {
        word: importlib.util.resolve_name(home if home[0] == "." else f".{home}", name)
        for word, home in package._HOMES.items()
    }
    looked_up = {
        word: importlib.util.resolve_name(home, name) if home[0] == "." else home
        for word, home in typed.items()
        if word not in modules
    }

    assert homes == looked_up
    assert {word for word in typed if word in modules} == modules
    assert {*homes, *modules} <= set(package.__all__)


@pytest.mark.parametrize("name", vestige._MODULES)
def test_modules_are_there_after_one_import(name):
    """In a new interpreter, whatever else was imported; none of them before its use."""
    code = (
        "import sys, vestige\n"
        f"assert 'vestige.{name}' not in sys.modules\n"
        f"assert '{name}' in dir(vestige)\n"
        f"module = vestige.{name}\n"
        f"assert module is sys.modules['vestige.{name}'], module\n"
        "assert module.__doc__\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_the_package_imports_little():
    """Itself, its version, how names are found, and what that needs of typing."""
    code = (
        "import sys; before = set(sys.modules); import vestige\n"
        "print(*sorted(n for n in set(sys.modules) - before if 'vestige' in n))"
    )
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    assert run.stdout.decode().split() == [
        "vestige",
        "vestige._lazy",
        "vestige._named_tuples",
        "vestige._typing",
        "vestige._version",
    ]


def test_a_name_that_is_not_there_is_an_attribute_error():
    """As of any module, and not of the helper."""
    get, names = _lazy.lazy_names("vestige", {}, ())
    with pytest.raises(
        AttributeError, match="module 'vestige' has no attribute 'nothing'"
    ):
        get("nothing")
    assert "nothing" not in names()
    with pytest.raises(ImportError, match="cannot import name 'nothing'"):
        from vestige import nothing  # noqa: F401, PLC0415 - what is tried


ORDERS = {
    "alone": "import vestige",
    "package": "import vestige.record",
    "name of it": "from vestige.record import RecordingOptions",
    "module of it": "import vestige.record.rules.options",
    "from": "from vestige import record; assert record is vestige.record",
    "as": "import vestige.record as other; assert other is vestige.record",
    "function": "from vestige.record import record",
    "name": "vestige.record; import vestige.record.recorder",
    "after open": "vestige.open; from vestige.record import Recording",
    "reload": "import importlib, vestige.record; importlib.reload(vestige.record)",
}


@pytest.mark.parametrize("order", ORDERS)
def test_record_can_be_called_in_any_order_of_imports(order):
    """Before and after; what is in the package stays there."""
    code = (
        f"import vestige\n{ORDERS[order]}\n"
        "import vestige, inspect\n"
        "for _ in range(2):\n"
        "    assert callable(vestige.record)\n"
        "    assert list(inspect.signature(vestige.record).parameters)[:3] == "
        "['command', 'directory', 'options']\n"
        "    from vestige.record import EventRule, RecordingOptions\n"
        "    assert vestige.record.EventRule is EventRule\n"
        "try:\n    vestige.record('ls', 'trace')\n"
        "except vestige.SelectionError as error:\n    assert 'is no command' in str(error)\n"
        "else:\n    raise SystemExit('not called')\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_recording_and_opening(tmp_path):
    """One call each; options by name."""
    program = [
        sys.executable,
        "-c",
        "import vestige.instrument as v; v.tracepoint('a:b', n=int)(n=7)",
    ]
    recording = vestige.record(program, tmp_path / "trace", events=("a:*",))
    trace = vestige.open(recording)

    assert recording.status == 0
    assert recording.options.events == ("a:*",)
    [event] = trace.events("a:b")
    assert event["n"] == 7
    assert event.process == event["vpid"]
    assert isinstance(event.thread, int)


@pytest.mark.parametrize("command", ["ls", b"ls", [], Path("ls")])
def test_a_command_is_a_list(command, tmp_path):
    """A text would be taken letter by letter."""
    with pytest.raises(vestige.SelectionError, match="is no command"):
        vestige.record(command, tmp_path / "trace")
    assert not (tmp_path / "trace").exists()


def test_options_that_there_are_not(tmp_path):
    """A TypeError, as for any call, and no directory."""
    with pytest.raises(TypeError, match="colour"):
        vestige.record(["true"], tmp_path / "trace", colour="red")
    with pytest.raises(vestige.SelectionError, match="mode"):
        vestige.record(["true"], tmp_path / "trace", mode="red")
    assert not (tmp_path / "trace").exists()


def test_the_signature_is_that_of_the_function():
    """The call passes everything on."""
    assert str(inspect.signature(vestige.record)) == str(
        inspect.signature(vestige.record.record)
    )


class TestFiles:
    """Files straight from a selection."""

    @pytest.fixture
    def hello(self):
        """Four greetings."""
        return vestige.open(DATA / "hello").events("greeting:*")

    def test_parquet(self, hello, tmp_path):
        """With chosen columns and options."""
        parquet = pytest.importorskip("pyarrow.parquet")
        path = tmp_path / "hello.parquet"

        assert hello.to_parquet(path, ["number", "timestamp"], times="integer") == 4
        table = parquet.read_table(path)
        assert table.column_names == ["number", "timestamp"]
        assert table["timestamp"].to_pylist() == [one.timestamp for one in hello]

    def test_text(self, hello, tmp_path):
        """CSV and JSON Lines."""
        assert hello.to_csv(tmp_path / "a.csv", ["number", "text"]) == 4
        assert hello.to_jsonl(str(tmp_path / "a.jsonl"), ["number", "text"]) == 4

        with (tmp_path / "a.csv").open(newline="") as file:
            rows = [(int(row["number"]), row["text"]) for row in csv.DictReader(file)]
        lines = map(json.loads, (tmp_path / "a.jsonl").read_text().splitlines())
        assert rows == [(one["number"], one["text"]) for one in lines]
        assert rows == [(one["number"], one["text"]) for one in hello]

    def test_text_to_standard_output(self, hello, capfd):
        """Without a path."""
        assert hello.to_csv(columns=["number"]) == 4
        assert capfd.readouterr().out.split() == ["number", "-1", "1", "2", "9"]

    def test_errors_are_those_of_columns(self, hello, tmp_path):
        """No file is left."""
        with pytest.raises(
            vestige.SelectionError, match="there is no column 'nothing'"
        ):
            hello.to_csv(tmp_path / "a.csv", ["nothing"])
        with pytest.raises(OSError, match="nowhere"):
            hello.to_jsonl(tmp_path / "nowhere" / "a.jsonl")
        assert list(tmp_path.iterdir()) == []

    def test_dask(self):
        """The same rows, in parts."""
        pytest.importorskip("dask.dataframe")
        trace = vestige.open(DATA / "threads-pid", debug_info=False)
        frame = trace.to_dask(["event", "thread"], npartitions=3).compute()

        assert list(frame["thread"]) == [event.thread for event in trace]
        assert list(frame["event"]) == [event.name for event in trace]

    def test_counting(self, hello):
        """One number under each of its names."""
        assert len(hello) == hello.count() == sum(hello.counts().values()) == 4
