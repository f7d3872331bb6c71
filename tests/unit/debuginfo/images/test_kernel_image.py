"""Addresses of the kernel: functions from the trace, lines from that very kernel."""

from __future__ import annotations

from pathlib import Path

import pytest

import vestige
from support.pretend_kernels import PretendKernel, write_kernel_addresses
from support.vestige_command import vestige as run_vestige
from vestige.debuginfo import DebugInfoOptions

BIAS = 0x1A400000
MODULE = 0xFFFFFFFFC0100000
ENVIRONMENT = {
    "domain": "kernel",
    "kernel_text": "0xffffffff81000000",
    "kernel_build_id": "bb" * 20,
    "kernel_release": "9.9.9",
    "kernel_symbols_0": "ffffffff81000100 40 schedule;"
    "ffffffff81000200 40 __traceiter_sched_switch",
    "kernel_symbols_1": f"{MODULE + 0x40:x} 20 probe loop;"
    f"{MODULE + 0x9000:x} 20 bpf_prog_0123 bpf",
    "kernel_modules_2": f"{MODULE:x} 1000 loop cccc",
}
SCHEDULE, TRACING = 0xFFFFFFFF81000104, 0xFFFFFFFF81000210


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> PretendKernel:
    """A kernel that is not loaded where it was linked."""
    return PretendKernel.make(tmp_path_factory.mktemp("kernel"), BIAS)


def all_addresses(kernel: PretendKernel) -> list[int]:
    """Return each address of its functions."""
    return [
        address
        for begin, size in kernel.functions().values()
        for address in range(begin, begin + size)
    ]


def options(folder: Path) -> DebugInfoOptions:
    """Look for files in one folder alone."""
    return DebugInfoOptions(debug_directories=(folder,))


def test_lines_come_from_the_file_of_that_kernel(
    kernel: PretendKernel, tmp_path: Path
) -> None:
    """At each address of its code, whatever it is loaded at."""
    addresses = all_addresses(kernel)
    events = [("kmem_kmalloc", {"call_site": one}, ()) for one in addresses]
    path = write_kernel_addresses(tmp_path / "t", kernel.environment(), events)
    functions = kernel.functions()
    seen = 0
    for event in vestige.open(path, debug_info=options(kernel.path.parent)):
        place = event.debug_info
        begin, size = functions[place.function]
        assert begin + place.offset == event["call_site"]
        assert place.offset < size
        assert (place.file, place.line) == kernel.line_of(event["call_site"])
        seen += 1
    assert seen == len(addresses)


@pytest.mark.parametrize("build_id", ["ab" * 20, "no hexadecimal digits", ""])
def test_another_kernel_gives_no_lines(
    kernel: PretendKernel, tmp_path: Path, build_id: str
) -> None:
    """The trace tells functions all the same."""
    begin, _ = kernel.functions()["middle"]
    path = write_kernel_addresses(
        tmp_path / "t",
        kernel.environment(build_id=build_id),
        [("kmem_kmalloc", {"call_site": begin + 1}, ())],
    )
    [event] = vestige.open(path, debug_info=options(kernel.path.parent))
    place = event.debug_info
    assert (place.function, place.offset, place.line) == ("middle", 1, None)


def test_symbols_can_be_packed(kernel: PretendKernel, tmp_path: Path) -> None:
    """Lines are there without the file, and functions where nothing was packed."""
    functions = kernel.functions()
    (inner, _), (middle, _) = functions["innermost"], functions["middle"]
    sites = [("kmem_kmalloc", {"call_site": middle + 1}, (inner,))]
    path = write_kernel_addresses(tmp_path / "t", kernel.environment(), sites)
    found = run_vestige(
        *("debuginfo", path, "--pack", f"--debug-info-dir={kernel.path.parent}")
    )
    assert found.status == 0, found.stderr
    trace = vestige.open(path, debug_info=options(tmp_path / "empty"))
    [event] = trace
    place = event.debug_info
    assert (place.file, place.line) == kernel.line_of(middle + 1)
    [caller] = trace.kernel_places(event)
    assert (caller.function, caller.line) == ("innermost", None)


@pytest.mark.parametrize(
    ("fields", "stack", "function"),
    [
        ({"call_site": SCHEDULE, "ptr": 5}, (TRACING,), "schedule"),
        ({"function": TRACING}, (TRACING, SCHEDULE), "schedule"),
        ({}, (TRACING, MODULE + 0x44), "probe"),
        ({"ip": MODULE + 0x9001}, (), "bpf_prog_0123"),
    ],
)
def test_an_event_is_where_something_was_done(
    tmp_path: Path, fields: dict[str, int], stack: tuple[int, ...], function: str
) -> None:
    """Else where its call stack is, without what records; else what is to be called."""
    path = write_kernel_addresses(tmp_path / "t", ENVIRONMENT, [("e", fields, stack)])
    [event] = vestige.open(path)
    assert event.debug_info.function == function


def test_all_of_a_stack_has_places(tmp_path: Path) -> None:
    """Those of modules, too; what is no function has a reason."""
    stack = (TRACING, SCHEDULE, MODULE + 0x44, MODULE + 0x9002, 0xFFFF888000000000)
    path = write_kernel_addresses(tmp_path / "t", ENVIRONMENT, [("e", {}, stack)])
    trace = vestige.open(path)
    [event] = trace
    *places, nothing = trace.kernel_places(event)
    found = [(one.binary.mapping.path, one.function, one.offset) for one in places]
    assert found == [
        ("[kernel]", "__traceiter_sched_switch", 0x10),
        ("[kernel]", "schedule", 4),
        ("[loop]", "probe", 4),
        ("[bpf]", "bpf_prog_0123", 2),
    ]
    assert str(nothing) == "no object mapped there"
    assert trace.kernel_places(event, "tid") == [nothing]
    with pytest.raises(KeyError):
        trace.kernel_places(event, "absent")


def test_names_are_shown(tmp_path: Path) -> None:
    """In place of addresses; these stay for who asks, and in Babeltrace's layout."""
    stack = (TRACING, SCHEDULE, MODULE + 0x44, 0xFFFF888000000000)
    fields = {"function": SCHEDULE - 4, "ptr": 0x10}
    path = write_kernel_addresses(tmp_path / "t", ENVIRONMENT, [("e", fields, stack)])

    def text(*words: object) -> str:
        return run_vestige(*words, path).stdout.decode()

    shown = text("view")
    assert "function=schedule ptr=0x10" in shown
    names = "__traceiter_sched_switch+0x10 schedule+0x4 loop:probe+0x4"
    assert f"[{names} 0xFFFF888000000000]" in shown
    assert "0xFFFFFFFF81000104" in text("view", "--no-debug-info")
    assert "schedule" not in text("convert")
    place = 'bin = "[kernel]+0x104", func = "schedule+0x4", src = ""'
    assert place in text("convert", "--debug-info")
