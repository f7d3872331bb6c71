"""What programs and a session daemon say to each other, and where they meet.

A program connects to the socket in the run directory of the daemon (``SOCK_SEQPACKET``), says who
it is, and gets a whole recording, again after each change. Each message begins with a head.
"""

from __future__ import annotations

from .terms import (
    CHARACTER,
    I32,
    U16,
    U32,
    U64,
    Constant,
    Enumeration,
    Member,
    Structure,
    Value,
)

__all__ = ["CAPTURES", "CONSTANTS", "JOINING", "MESSAGES", "STRUCTURES"]

CONSTANTS = (
    Constant("REGISTRATION_VERSION", 2, about="Another one is refused on both sides."),
    Constant("RUN_VARIABLE", "VESTIGE_RUNDIR", about="Names another run directory."),
    Constant("REGISTER_VARIABLE", "VESTIGE_REGISTER", about="0: do not register."),
    Constant(
        "REGISTER_TIMEOUT_VARIABLE",
        "LTTNG_UST_REGISTER_TIMEOUT",
        about="Milliseconds for which a program waits before it begins; -1 is for ever.",
    ),
    Constant(
        "BLOCKING_VARIABLE",
        "LTTNG_UST_ALLOW_BLOCKING",
        about="Set: threads wait for room where a channel says so.",
    ),
    Constant("REGISTER_TIMEOUT", 3000, about="As many, by default."),
    Constant("SYSTEM_RUN_FOLDER", "/var/run/lttng", about="The run directory of root."),
    Constant(
        "USER_RUN_FOLDER", ".lttng", about="That of a user, in the home directory."
    ),
    Constant("REGISTRATION_SOCKET", "vestige-sock-1", about="In the run directory."),
    Constant(
        "REGISTRATION_PAGE",
        "vestige-wait-1",
        about="As above: its first word grows when a daemon begins.",
    ),
    Constant(
        "REGISTRATION_TRACER",
        "vestige-tracer-1",
        about="As above: has the path of the tracer, for programs that have none.",
    ),
    Constant(
        "REGISTRATION_CALL",
        "vestige-wait-1-",
        about="In shared memory, with a user's number: a page as above, for all places.",
    ),
    Constant("MOST_CHANNELS", 16, about="To which a program records at once."),
    Constant("LARGEST_WORDS", 8192, about="Bytes of the words of a recording."),
    Constant("MOST_WATCHES", 4096, about="Rules of triggers, and counters of these."),
    Constant("MOST_CAPTURES", 256, about="Of one of them."),
    Constant("LARGEST_MATCH", 4096, about="Bytes of a match with its head."),
    Constant("LONGEST_EVENT_NAME", 512, about="With its zero."),
    Constant("LONGEST_FIELD_NAME", 256, about="As above."),
)

MESSAGES = Enumeration(
    "message_kind",
    "MESSAGE_",
    (
        Value("HELLO", value=1, about="From the program, first of all."),
        Value(
            "DONE",
            about="From the program: what was asked for is done, or why it is not.",
        ),
        Value("EVENT", about="From the program: an event that it has."),
        Value("FIELD", about="From the program: a field of the event before."),
        Value("RECORD", about="Record this: a whole recording."),
        Value("STOP", about="Record nothing more to a memory."),
        Value("DUMP", about="Describe the state of the process there once more."),
        Value("LIST", about="Say which events there are; the answer ends with DONE."),
        Value("GO", about="The program may begin. It is not answered."),
        Value("WATCH", about="Tell at once of events that match rules of triggers."),
    ),
    about="What a message is.",
)

JOINING = Enumeration(
    "joining_status",
    "JOINING_",
    (
        Value("DONE", about="It is as it was asked for."),
        Value("BUSY", about="As many others go on as can."),
        Value("FAILED", about="The memory cannot be had, or the words are malformed."),
    ),
    about="What became of a request.",
)

CAPTURES = Enumeration(
    "capture_kind",
    "CAPTURE_",
    (
        Value("FIELD", about="A field."),
        Value("ELEMENT", about="An element of a field."),
        Value("CONTEXT", about="A context."),
    ),
    about="What is told of an event.",
)

HEAD = Structure(
    "message_head",
    (
        Member("kind", U16),
        Member("version", U16),
        Member("size", U32, about="Bytes of the message, with this."),
        Member("generation", U32, about="Of the request that is made, or answered."),
        Member("status", U32, about="Of an answer, or what a request needs beside."),
    ),
    about="Before each message.",
)

HELLO = Structure(
    "message_hello",
    (
        Member("fingerprint", U64, about="Of the agreement."),
        Member("pid_namespace", U64, about="Its inode; 0: unknown."),
        Member(
            "arenas",
            U64,
            16,
            about="The inodes of the memories that it records to; 0: no more.",
        ),
        Member("vpid", U32, about="As the process sees it."),
        Member("bits", U32, about="Of an address."),
        Member("name", CHARACTER, 16, about="Of the program."),
    ),
    about="Who a program is. Its user and its process ID are what the kernel says.",
)

RECORD = Structure(
    "message_record",
    (
        Member("words_size", U32, about="Bytes of the words, which follow."),
        Member(
            "rules_size", U32, about="Bytes of the rules, in a file that comes along."
        ),
    ),
    about="The words are those of the environment of a recording.",
)

STOP = Structure(
    "message_stop",
    (Member("arena", U64, about="Its inode."),),
    about="Which memory is meant, also by DUMP.",
)

WATCH = Structure(
    "message_watch",
    (
        Member(
            "rules_size", U32, about="Bytes of the rules, in a file that comes along."
        ),
        Member("count", U32, about="Of the rules; each has a watch, behind all rules."),
        Member("capture_count", U32, about="Of all watches, behind these."),
        Member("text_size", U32, about="Bytes of their names, behind them."),
    ),
    about="All rules of triggers. With the first come a pipe, and memory for counters.",
)

WATCH_HEAD = Structure(
    "watch_head",
    (
        Member("token", U64, about="What matches call the rule."),
        Member("counter", U32, about="Of matches that found no room."),
        Member(
            "capture_count",
            U32,
            about="Of those that follow those of the watch before.",
        ),
    ),
    about="What is to be told of events that match a rule.",
)

CAPTURE_HEAD = Structure(
    "capture_head",
    (
        Member("kind", U32, about="See enum capture_kind."),
        Member("index", U32, about="Of an element."),
        Member("offset", U32, about="Of the name, in the text."),
        Member("length", U32, about="Of the name."),
    ),
    about="A value that is to be told.",
)

MATCH_HEAD = Structure(
    "match_head",
    (
        Member("token", U64),
        Member(
            "size", U32, about="Bytes of the captures, which follow in MessagePack."
        ),
        Member("reserved", U32),
    ),
    about="An event matches: what is written to the pipe for matches, at once.",
)

EVENT = Structure(
    "message_event",
    (
        Member("level", I32),
        Member("is_recorded", U32),
        Member("name", CHARACTER, 512, about="With that of its provider."),
    ),
    about="An event that a program has.",
)

FIELD = Structure(
    "message_field",
    (
        Member("kind", U32, about="As enum vestige_field_kind has it."),
        Member("flags", U32, about="As enum vestige_field_flags has it."),
        Member("name", CHARACTER, 256),
    ),
    about="A field of an event.",
)

STRUCTURES = (
    *(HEAD, HELLO, RECORD, STOP, EVENT, FIELD, WATCH, WATCH_HEAD, CAPTURE_HEAD),
    MATCH_HEAD,
)
