"""Recording programs: what is asked of the tracer, starting it, and closing the trace.

The tracer is a C library that the recorder puts into the program with ``LD_PRELOAD``.
It writes a CTF trace by itself; the recorder writes the metadata before the program
starts, and when it has ended joins what is still in the files of the threads.
"""

from __future__ import annotations

from .contexts import CONTEXTS
from .event_rules import EventRule
from .options import RecordingOptions
from .recorder import Recording, record

__all__ = ["CONTEXTS", "EventRule", "Recording", "RecordingOptions", "record"]
