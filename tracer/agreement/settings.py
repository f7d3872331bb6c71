"""The words that the recorder writes for the tracer, in one environment variable.

The variable passes through exec, and so reaches tracers of other builds: an older one in a
program that was started long ago, or one that a program brings along. This much is the
same for all of them, now and later::

    VESTIGE_TRACER="2 agreement=FINGERPRINT name=value ... directory=PATH"

A tracer with another fingerprint reads no other word and writes nothing but one line, to the
file ``.refused`` in the directory, if the recorder has made it::

    PID FINGERPRINT VERSION NAME

``VERSION`` is that of Vestige, ``NAME`` that of the program, up to the end of the line. The first
tracers have no fingerprint, ask for ``1`` as the first word, and take no other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .terms import Choice, Constant

__all__ = ["CHOICES", "CONSTANTS", "SETTINGS", "Setting"]


@dataclass(frozen=True)
class Setting:
    """One word.

    Args:
        name: What comes before the equals sign.
        choice: The words of which the value is one, if it is.
    """

    name: str
    choice: Choice | None = None
    about: str = field(default="", compare=False, repr=False, kw_only=True)


TRACING = Choice("function_tracing", ("off", "fast", "verbose"))
CLOCK = Choice("clock_kind", ("monotonic", "counter"))
CHOICES = (TRACING, CLOCK)

CONSTANTS = (
    Constant("SETTINGS_VARIABLE", "VESTIGE_TRACER"),
    Constant(
        "OFF_VARIABLE",
        "VESTIGE_TRACER_OFF",
        about="Makes the tracer inert, and keeps it out of programs that clear their "
        "environment.",
    ),
    Constant("SETTINGS_HEAD", "2 agreement=", about="Before the fingerprint."),
    Constant("SETTINGS_TAIL", "directory=", about="The last word: it may hold spaces."),
    Constant("SMALLEST_PACKET", 4096, about="Packets are whole pages of the arena."),
    Constant("LARGEST_PACKET", 1 << 30),
)

SETTINGS = (
    Setting(
        "arena",
        about="Path of the file of the arena, which holds no space; or `.` for that in the "
        "directory.",
    ),
    Setting("arena-id", about="Its inode: another file is refused."),
    Setting(
        "socket", about="Name of the abstract socket where the collector gives it."
    ),
    Setting("token", about="What to say there: 32 hexadecimal digits."),
    Setting(
        "inherited",
        about="Descriptor of a socket that leads to the collector, a comma, its inode; empty "
        "without.",
    ),
    Setting("clock", CLOCK),
    Setting("contexts", about="Names with commas between them."),
    Setting("entries", TRACING, about="What is recorded at the entry of functions."),
    Setting("exits", TRACING, about="The same at their exit."),
    Setting(
        "events", about="Those that are recorded when they are asked for: `baddr`."
    ),
    Setting("follow-fork", about="Whether child processes are recorded."),
    Setting("recorder", about="ID of the process that starts the program."),
    Setting("include", about="Patterns of functions with commas between them."),
    Setting("exclude", about="The same of those that are left out."),
    Setting("plans", about="Whether there are plans of objects in the directory."),
    Setting(
        "library-calls",
        about="Patterns of library calls with commas between them; empty without.",
    ),
    Setting(
        "library-entries",
        TRACING,
        about="What is recorded of them when they begin. It is what is recorded of functions, "
        "if that is anything.",
    ),
    Setting("library-exits", TRACING, about="The same when they end."),
    Setting(
        "plan-wait",
        about="For how many milliseconds a program waits for plans that are not there; 0: "
        "it does not ask for any.",
    ),
    Setting("python", about="For vestige.instrument; the tracer leaves it alone."),
)
"""In the order in which they are written: patterns need nothing that comes later."""
