"""Events of LTTng-UST and functions that the tracer leaves out, and how it says so.

It writes a line to the file of refusals, as a tracer of another build does (see
:mod:`agreement.settings`), with other words in the same places::

    PID lttng-ust REASON NAME

``NAME`` is that of a provider, or of an event with its provider. Where the entries of an object's
functions were not rewritten as planned, it is the object's name::

    PID patch REASON NAME
"""

from __future__ import annotations

from .terms import Constant

__all__ = ["CONSTANTS"]

CONSTANTS = (
    Constant(
        "SKIPPED_MARK",
        "lttng-ust",
        about="In the place of a fingerprint: a provider or an event is not recorded.",
    ),
    Constant(
        "SKIPPED_DAMAGED",
        "damaged",
        about="Its description has a size, a name or an address that no header makes.",
    ),
    Constant("SKIPPED_MAJOR", "major", about="Its provider is of an unknown version."),
    Constant("SKIPPED_FIELDS", "fields", about="Its fields are of an unknown kind."),
    Constant(
        "SKIPPED_READERS",
        "readers",
        about="No reader takes its fields: two have one name, or labels begin at their end.",
    ),
    Constant(
        "SKIPPED_ALIGNMENT",
        "alignment",
        about="Its fields are aligned, as on other machines.",
    ),
    Constant(
        "SKIPPED_SIGNATURE",
        "signature",
        about="Its tracepoint has other arguments than its probe takes.",
    ),
    Constant("SKIPPED_CLASS", "class", about="There are too many classes."),
    Constant(
        "SKIPPED_LENGTH",
        "length",
        about="A sequence of it was cut: the type of its length cannot tell of all elements.",
    ),
    Constant("SKIPPED_MEMORY", "memory", about="There is no memory for it."),
    Constant(
        "UNPATCHED_MARK",
        "patch",
        about="In the place of a fingerprint: no entry of an object was rewritten.",
    ),
    Constant("UNPATCHED_PLAN", "plan", about="Its plan is damaged."),
    Constant("UNPATCHED_BYTES", "bytes", about="It is not what was planned."),
    Constant("UNPATCHED_MEMORY", "memory", about="There is no memory near it."),
    Constant("UNPATCHED_POLICY", "policy", about="Its code may not be written to."),
    Constant("UNPATCHED_THREADS", "threads", about="Other threads run already."),
    Constant(
        "UNPATCHED_SHADOW",
        "shadow",
        about="The processor keeps return addresses, which cannot be replaced.",
    ),
    Constant(
        "UNPATCHED_COPIES",
        "copies",
        about="The program copies its stacks, and return addresses with them.",
    ),
    Constant("UNPATCHED_LATE", "late", about="Its plan did not come in time."),
)
