"""Processes that outlive the program that was recorded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from vestige.record.backends.in_process.background import recording_processes

MAPPING = """
import mmap, sys
with open(sys.argv[1], "r+b") as file:
    memory = mmap.mmap(file.fileno(), 4096)
print("mapped", flush=True)
sys.stdin.read()
"""


def test_a_process_that_has_not_the_memory_does_not_record(tmp_path):
    """Whatever a program has written into a place: it may name any process."""
    memory = tmp_path / "memory"
    memory.write_bytes(bytes(4096))
    inode = memory.stat().st_ino
    space = Path("/proc/self/ns/pid").stat().st_ino
    words = [sys.executable, "-c", MAPPING, str(memory)]
    pipe = subprocess.PIPE
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "mapped\n"
        places = {(process.pid, space), (os.getppid(), space), (os.getpid(), space)}

        assert recording_processes(places, {inode}) == {process.pid}
        assert recording_processes(places, {inode + 1}) == set()
        process.communicate("")
