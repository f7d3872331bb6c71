"""Where probes are, as texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from vestige import SelectionError
from vestige.control.kernel_places import place_text, read_place


@pytest.mark.parametrize(
    ("kind", "text", "again"),
    [
        ("probe", "do_exit", "do_exit"),
        ("probe", "do_exit+16", "do_exit+0x10"),
        ("function", "0xffff10", "0xffff10"),
        ("userspace-probe", "/bin/a:f", "elf:/bin/a:f"),
        ("userspace-probe", r"elf:/a\:b:f", r"elf:/a\:b:f"),
        ("userspace-probe", r"/a\\b:f", r"elf:/a\\b:f"),
        ("userspace-probe", "sdt:/bin/a:p:q", "sdt:/bin/a:p:q"),
    ],
)
def test_a_place_that_is_shown_means_the_same(kind, text, again):
    """What a rule shows can be given to another one."""
    place = read_place(text, kind)
    assert place_text(place) == again
    assert read_place(again, kind) == place


def test_programs_are_found_as_shells_find_them(tmp_path, monkeypatch):
    """By their name in PATH, or from the present directory; a link stays one."""
    (tmp_path / "link").symlink_to("/bin/sh")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    for text in ("link:f", "./link:f"):
        assert read_place(text, "userspace-probe")["path"] == str(tmp_path / "link")
    with pytest.raises(SelectionError, match="no program 'nothing' is in PATH"):
        read_place("nothing:f", "userspace-probe")
    # The daemon says whether a file is there, and can be read.
    assert read_place("./no:f", "userspace-probe")["path"] == str(Path.cwd() / "no")


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("probe", None, "location=None: expected SYMBOL, SYMBOL+OFFSET or an addr"),
        ("probe", "a b", "location='a b': expected SYMBOL"),
        ("function", "f+", "location='f+': expected SYMBOL"),
        ("userspace-probe", "/bin/sh", "expected PATH:FUNCTION, elf:PATH:FUNCTION or"),
        ("userspace-probe", "sdt:/bin/sh:p", "expected PATH:FUNCTION"),
        ("tracepoint", "f", "expected a rule of type 'probe', 'function', 'users"),
        ("all", "", "expected a rule of type 'probe'"),
    ],
)
def test_what_is_no_place_is_refused(kind, text, expected):
    """And so is a place where there is none."""
    with pytest.raises(SelectionError, match=re.escape(expected)):
        read_place(text, kind)
