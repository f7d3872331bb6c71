"""CTF traces on disk: finding them, their metadata, their data stream files.

A trace is a directory with a ``metadata`` file beside its data stream files. LTTng
makes trees of them: ``ust/uid/UID/64-bit``, ``ust/pid/NAME-PID-TIME``, ``kernel``.
:mod:`.discovery` finds the directories below a path, :mod:`.metadata` builds the model,
:mod:`.trace_files` opens the files and joins them into data streams.
"""

from __future__ import annotations

from .discovery import FoundTrace, find_traces
from .trace_files import DamagedFile, LogicalTrace, StreamFiles, open_traces

__all__ = [
    "DamagedFile",
    "FoundTrace",
    "LogicalTrace",
    "StreamFiles",
    "find_traces",
    "open_traces",
]
