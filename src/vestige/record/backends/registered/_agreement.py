"""What programs and a session daemon say.

Made by ``tools/make_agreement.py`` from ``tracer/agreement``: change it there, then say
``make agreement``.
"""

from __future__ import annotations

from enum import IntEnum

REGISTRATION_VERSION = 2
"""Another one is refused on both sides."""
RUN_VARIABLE = "VESTIGE_RUNDIR"
"""Names another run directory."""
REGISTER_VARIABLE = "VESTIGE_REGISTER"
"""0: do not register."""
REGISTER_TIMEOUT_VARIABLE = "LTTNG_UST_REGISTER_TIMEOUT"
"""Milliseconds for which a program waits before it begins; -1 is for ever."""
BLOCKING_VARIABLE = "LTTNG_UST_ALLOW_BLOCKING"
"""Set: threads wait for room where a channel says so."""
REGISTER_TIMEOUT = 3_000
"""As many, by default."""
SYSTEM_RUN_FOLDER = "/var/run/lttng"
"""The run directory of root."""
USER_RUN_FOLDER = ".lttng"
"""That of a user, in the home directory."""
REGISTRATION_SOCKET = "vestige-sock-1"
"""In the run directory."""
REGISTRATION_PAGE = "vestige-wait-1"
"""As above: its first word grows when a daemon begins."""
REGISTRATION_TRACER = "vestige-tracer-1"
"""As above: has the path of the tracer, for programs that have none."""
REGISTRATION_CALL = "vestige-wait-1-"
"""In shared memory, with a user's number: a page as above, for all places."""
MOST_CHANNELS = 16
"""To which a program records at once."""
LARGEST_WORDS = 8_192
"""Bytes of the words of a recording."""
MOST_WATCHES = 4_096
"""Rules of triggers, and counters of these."""
MOST_CAPTURES = 256
"""Of one of them."""
LARGEST_MATCH = 4_096
"""Bytes of a match with its head."""
LONGEST_EVENT_NAME = 512
"""With its zero."""
LONGEST_FIELD_NAME = 256
"""As above."""


class Message(IntEnum):
    """What a message is."""

    HELLO = 1
    """From the program, first of all."""
    DONE = 2
    """From the program: what was asked for is done, or why it is not."""
    EVENT = 3
    """From the program: an event that it has."""
    FIELD = 4
    """From the program: a field of the event before."""
    RECORD = 5
    """Record this: a whole recording."""
    STOP = 6
    """Record nothing more to a memory."""
    DUMP = 7
    """Describe the state of the process there once more."""
    LIST = 8
    """Say which events there are; the answer ends with DONE."""
    GO = 9
    """The program may begin. It is not answered."""
    WATCH = 10
    """Tell at once of events that match rules of triggers."""


class Joining(IntEnum):
    """What became of a request."""

    DONE = 0
    """It is as it was asked for."""
    BUSY = 1
    """As many others go on as can."""
    FAILED = 2
    """The memory cannot be had, or the words are malformed."""


class Capture(IntEnum):
    """What is told of an event."""

    FIELD = 0
    """A field."""
    ELEMENT = 1
    """An element of a field."""
    CONTEXT = 2
    """A context."""


MESSAGE_HEAD_FORMAT = "HHIII"
MESSAGE_HEAD_SIZE = 16
MESSAGE_HEAD_OFFSETS = {
    "kind": 0,
    "version": 2,
    "size": 4,
    "generation": 8,
    "status": 12,
}
"""Before each message."""

MESSAGE_HELLO_FORMAT = "QQ16QII16s"
MESSAGE_HELLO_SIZE = 168
MESSAGE_HELLO_OFFSETS = {
    "fingerprint": 0,
    "pid_namespace": 8,
    "arenas": 16,
    "vpid": 144,
    "bits": 148,
    "name": 152,
}
"""Who a program is. Its user and its process ID are what the kernel says."""

MESSAGE_RECORD_FORMAT = "II"
MESSAGE_RECORD_SIZE = 8
MESSAGE_RECORD_OFFSETS = {
    "words_size": 0,
    "rules_size": 4,
}
"""The words are those of the environment of a recording."""

MESSAGE_STOP_FORMAT = "Q"
MESSAGE_STOP_SIZE = 8
MESSAGE_STOP_OFFSETS = {
    "arena": 0,
}
"""Which memory is meant, also by DUMP."""

MESSAGE_EVENT_FORMAT = "iI512s"
MESSAGE_EVENT_SIZE = 520
MESSAGE_EVENT_OFFSETS = {
    "level": 0,
    "is_recorded": 4,
    "name": 8,
}
"""An event that a program has."""

MESSAGE_FIELD_FORMAT = "II256s"
MESSAGE_FIELD_SIZE = 264
MESSAGE_FIELD_OFFSETS = {
    "kind": 0,
    "flags": 4,
    "name": 8,
}
"""A field of an event."""

MESSAGE_WATCH_FORMAT = "IIII"
MESSAGE_WATCH_SIZE = 16
MESSAGE_WATCH_OFFSETS = {
    "rules_size": 0,
    "count": 4,
    "capture_count": 8,
    "text_size": 12,
}
"""All rules of triggers. With the first come a pipe, and memory for counters."""

WATCH_HEAD_FORMAT = "QII"
WATCH_HEAD_SIZE = 16
WATCH_HEAD_OFFSETS = {
    "token": 0,
    "counter": 8,
    "capture_count": 12,
}
"""What is to be told of events that match a rule."""

CAPTURE_HEAD_FORMAT = "IIII"
CAPTURE_HEAD_SIZE = 16
CAPTURE_HEAD_OFFSETS = {
    "kind": 0,
    "index": 4,
    "offset": 8,
    "length": 12,
}
"""A value that is to be told."""

MATCH_HEAD_FORMAT = "QII"
MATCH_HEAD_SIZE = 16
MATCH_HEAD_OFFSETS = {
    "token": 0,
    "size": 8,
    "reserved": 12,
}
"""An event matches: what is written to the pipe for matches, at once."""
