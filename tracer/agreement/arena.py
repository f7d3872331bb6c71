"""The arena: the memory that traced programs share with the collector.

It holds numbers of chunks and slots, which begin at 1, and offsets, no addresses. What each member is
for, and who may write it when, is in ``docs/formats/arena.md``.
"""

from __future__ import annotations

from .packet import PACKET
from .terms import (
    BYTE,
    CHARACTER,
    NAME_OF_THREAD,
    U8,
    U32,
    U64,
    Constant,
    Enumeration,
    Kind,
    Member,
    Structure,
    Value,
)

__all__ = [
    "CHUNK",
    "CHUNK_FLAGS",
    "CLASS",
    "CONSTANTS",
    "CONTROL",
    "FLAGS",
    "LEDGER",
    "REASONS",
    "SHARED",
    "SLOT",
    "SLOT_FLAGS",
    "STATES",
    "STRUCTURES",
    "UNREACHED",
]

SPARES = 64
MOST_UNREACHED = 32
NAME_OF_PROGRAM = 64
DIRECTORY_BYTES = 3072
"""A path that is longer, which few programs take, is not noted."""
ATOMIC = "_Atomic"
LIFE = Kind("union arena_life", "[u8; 64]", "64s", 64)
HEADER = Kind("struct packet", "Packet", f"{PACKET.size}s", PACKET.size, aligned=8)

CONSTANTS = (
    Constant("ARENA_MAGIC", "VESTARN1"),
    Constant("ARENA_ALIGNMENT", 64 << 10, about="All parts begin at multiples of it."),
    Constant("ARENA_SPARES", SPARES, about="Most chunks of a slot."),
    Constant("ARENA_MOST_CLASSES", 4096),
    Constant(
        "ARENA_UNREACHED",
        MOST_UNREACHED,
        about="Programs that cannot be recorded, until the collector has read of them.",
    ),
)

STATES = Enumeration(
    "arena_state",
    "ARENA_",
    (
        Value("CLOSED", 1, about="Nothing more is recorded."),
        Value(
            "FULL",
            2,
            about="The recording has reached its size: what finds no room is dropped at "
            "once.",
        ),
    ),
    about="Bits of the state.",
)
SLOT_FLAGS = Enumeration(
    "slot_flags",
    "SLOT_",
    (
        Value(
            "OF_CPU",
            1,
            about="No thread's: all threads on a CPU, which is its `vtid`, write to its "
            "ring.",
        ),
    ),
    about="Bits of a slot's flags.",
)
FLAGS = Enumeration(
    "arena_flags",
    "ARENA_",
    (
        Value("OVERWRITE", 1, about="The oldest packets make room for new ones."),
        Value(
            "HANDED_OVER",
            2,
            about="The collector has stopped, and another one is about to begin.",
        ),
        Value(
            "RINGS_OVERWRITE",
            4,
            about="A ring that is full gives up its oldest chunk.",
        ),
    ),
    about="Bits of the flags.",
)
CHUNK_FLAGS = Enumeration(
    "chunk_flags",
    "CHUNK_",
    (
        Value("KEEP", 1, about="Overwrite mode takes others away."),
        Value(
            "DOUBTFUL",
            2,
            about="An interrupted record was completed by another one, and may be written "
            "here once more: no other thread should have the chunk soon.",
        ),
        Value(
            "CONTINUES",
            4,
            about="The record goes on in the next chunk, and the packet with it.",
        ),
        Value(
            "CONTINUED", 8, about="It begins with the rest of that of the chunk before."
        ),
    ),
    about="Bits of a chunk's flags.",
)

REASONS = Enumeration(
    "unreached_reason",
    "UNREACHED_",
    (
        Value(
            "WITHDRAWN",
            0,
            about="It was not started: what was last told of the process does not hold.",
        ),
        Value(
            "ELSEWHERE",
            about="Below its root directory the tracer's libraries are not there.",
        ),
        Value("STATIC", about="It has no dynamic linker."),
        Value("USER", about="It runs with the rights of another user."),
        Value("GROUP", about="The same, of another group."),
        Value("CAPABILITIES", about="Its file gives it capabilities."),
        Value("MACHINE", about="It is for another machine, or another size of words."),
        Value("LIBRARY", about="It has another C library."),
        Value(
            "ENVIRONMENT",
            about="Its environment lacks the tracer, and is too long to be changed.",
        ),
        Value("MEMORY", about="It cannot get at the arena where it is."),
    ),
    about="Why a program that another one starts is not recorded.",
)

UNREACHED = Structure(
    "arena_unreached",
    (
        Member(
            "number",
            U32,
            qualifier=ATOMIC,
            about="How many were told before it, and 1, once what follows is there.",
        ),
        Member("reason", U32, about="Of enum unreached_reason."),
        Member("process", U32, about="Its ID, as who tells of it sees it."),
        Member(
            "parent",
            U32,
            about="Where its own ID is not known, which is 0 then: that of who starts it.",
        ),
        Member("pid_namespace", U64, about="As in a slot."),
        Member("name", CHARACTER, NAME_OF_PROGRAM),
    ),
    about="A program that will not be recorded, as whoever starts it tells.",
)
ENTRY = Kind(
    "struct arena_unreached",
    "ArenaUnreached",
    f"{UNREACHED.size}s",
    UNREACHED.size,
    aligned=8,
)

CONTROL = Structure(
    "arena_control",
    (
        Member("magic", CHARACTER, 8),
        Member("fingerprint", U64, about="Of this agreement."),
        Member("uuid", U8, 16),
        Member("arena_bytes", U64),
        Member("shared_at", U64),
        Member("ledgers_at", U64),
        Member("rules_at", U64),
        Member("rules_bytes", U64, about="0: no rules."),
        Member("slots_at", U64),
        Member("classes_at", U64),
        Member("classes_bytes", U64, about="Of the text after the table of classes."),
        Member("chunks_at", U64),
        Member("chunk_bytes", U32),
        Member("chunk_count", U32),
        Member("slot_count", U32),
        Member("ring_chunks", U32, about="How many chunks a slot may hold."),
        Member(
            "wait_ns",
            U64,
            about="How long a thread waits while the collector makes no progress.",
        ),
        Member("state", U32, qualifier=ATOMIC, about="Of enum arena_state."),
        Member(
            "progress",
            U32,
            qualifier=ATOMIC,
            about="How many chunks were drained in the whole arena.",
        ),
        Member("collector_pid", U32),
        Member("flags", U32, about="Of enum arena_flags."),
        Member("chunks_ready", U32, about="From here on the collector's own."),
        Member("slots_ready", U32),
        Member(
            "first_class",
            U32,
            about="For programs as well: the ID of the first class in the table, another one "
            "in each arena of a recording.",
        ),
        Member(
            "cpu_rings",
            U32,
            about="So many of the first slots have the rings of CPUs; 0: there are none.",
        ),
        Member("max_bytes", U64),
        Member(
            "thread_chunks",
            U32,
            about="So many of all chunks get memory only as threads have slots: one for each.",
        ),
        Member("unused", BYTE, 20),
        Member("life", LIFE, about="Held by the collector."),
        Member(
            "socket",
            U64,
            4,
            about="The collector's own: where one that takes over goes on to serve, name and "
            "token.",
        ),
        Member(
            "mount_namespace",
            U64,
            about="From here on for those who find the arena when its collector was killed: an "
            "inode; 0: unknown.",
        ),
        Member(
            "directory_device",
            U64,
            about="Of the directory of the trace: where it is, and its path.",
        ),
        Member("directory_inode", U64),
        Member(
            "root_device",
            U64,
            about="Of the root directory below which the path is that: chroot(2) makes no "
            "mount namespace.",
        ),
        Member("root_inode", U64),
        Member("directory", CHARACTER, DIRECTORY_BYTES),
        Member("rest", BYTE, 4096 - 328 - DIRECTORY_BYTES),
    ),
    about="At the beginning of the arena; programs can only read it.",
)

SHARED = Structure(
    "arena_shared",
    (
        Member(
            "free_slots",
            U64,
            qualifier=ATOMIC,
            about="Stacks: a tag that grows with each change in the upper half, the first "
            "number in the lower one; `next_free` leads on.",
        ),
        Member("unused_1", BYTE, 56),
        Member("free_chunks", U64, qualifier=ATOMIC),
        Member("unused_2", BYTE, 56),
        Member("free_chunk_count", U32, qualifier=ATOMIC),
        Member(
            "slots_high",
            U32,
            qualifier=ATOMIC,
            about="The highest slot that was claimed; one that dies while it claims may "
            "lack.",
        ),
        Member(
            "lost",
            U64,
            qualifier=ATOMIC,
            about="Records lost by threads without a slot.",
        ),
        Member(
            "slot_waiters",
            U32,
            qualifier=ATOMIC,
            about="Threads that wait for a slot: on the number in `free_slots`, a futex. Those "
            "that are killed meanwhile stay counted.",
        ),
        Member("unused_3", BYTE, 44),
        Member(
            "doorbell",
            U32,
            qualifier=ATOMIC,
            about="Futexes: the collector sleeps on the first if the second is set.",
        ),
        Member("asleep", U32, qualifier=ATOMIC),
        Member("unused_4", BYTE, 56),
        Member("class_lock", LIFE),
        Member(
            "class_count",
            U32,
            qualifier=ATOMIC,
            about="Stored last, when a class is complete.",
        ),
        Member("class_text_used", U32),
        Member(
            "class_text_ready",
            U32,
            qualifier=ATOMIC,
            about="How much of the text has memory; the collector's.",
        ),
        Member(
            "unreached_count",
            U32,
            qualifier=ATOMIC,
            about="How many programs were told of that cannot be recorded, ever.",
        ),
        Member(
            "unreached",
            ENTRY,
            MOST_UNREACHED,
            about="The last of those: number n is at n % ARENA_UNREACHED.",
        ),
        Member("rest", BYTE, 4096 - 336 - MOST_UNREACHED * UNREACHED.size),
    ),
    about="At the beginning of what programs write to.",
)

SLOT = Structure(
    "arena_slot",
    (
        Member("life", LIFE),
        Member(
            "cur",
            U64,
            qualifier=ATOMIC,
            about="The sequence number of the present chunk in the upper half, its number "
            "in the lower one: as one word, it only grows.",
        ),
        Member(
            "lost",
            U64,
            qualifier=ATOMIC,
            about="Records lost, and when.",
        ),
        Member("first_lost", U64, qualifier=ATOMIC),
        Member("last_lost", U64, qualifier=ATOMIC),
        Member(
            "taken",
            U32,
            qualifier=ATOMIC,
            about="Chunks taken from the ledger's spares, and from the pool, ever.",
        ),
        Member("popped", U32, qualifier=ATOMIC),
        Member(
            "waiting",
            U32,
            qualifier=ATOMIC,
            about="Whether the thread waits on the ledger's `consumed`.",
        ),
        Member("next_free", U32, qualifier=ATOMIC),
        Member(
            "claimed", U32, qualifier=ATOMIC, about="Set when what follows is there."
        ),
        Member("vpid", U32),
        Member("vtid", U32),
        Member("flags", U32, about="Of enum slot_flags."),
        Member("pid_namespace", U64, about="An inode; 0 where it is unknown."),
        Member("procname", CHARACTER, NAME_OF_THREAD),
        Member(
            "process_start",
            U64,
            about="When recording began in the process: that tells namesakes apart.",
        ),
        Member(
            "gone",
            U64,
            qualifier=ATOMIC,
            about="Where rings overwrite: the last chunk that the ring has no more, since the "
            "thread has given it up, or the collector has taken it.",
        ),
        Member("rest", BYTE, 512 - 168),
    ),
    about="A thread's place.",
)

LEDGER = Structure(
    "arena_ledger",
    (
        Member(
            "consumed",
            U32,
            qualifier=ATOMIC,
            about="A futex: chunks of the slot drained, ever.",
        ),
        Member(
            "given",
            U32,
            qualifier=ATOMIC,
            about="Those that came back as spares, and those that went to the pool, ever.",
        ),
        Member("returned", U32, qualifier=ATOMIC),
        Member(
            "generation", U32, qualifier=ATOMIC, about="How often the slot was used."
        ),
        Member(
            "drained_seq",
            U64,
            about="The last chunk that is wholly in a file. How much of a file that is, the "
            "collector notes where no program can write.",
        ),
        Member(
            "taken_from",
            U64,
            about="Where rings overwrite, and the collector's own: the first and the last of the "
            "chunks that it took, or was about to.",
        ),
        Member("taken_to", U64),
        Member("unused", BYTE, 88),
        Member(
            "spares",
            U32,
            SPARES,
            qualifier=ATOMIC,
            about="The nth chunk that was given is at n % ARENA_SPARES.",
        ),
        Member("rest", BYTE, 128),
    ),
    about="What the collector notes for a slot; programs can only read it.",
)

CHUNK = Structure(
    "arena_chunk",
    (
        Member(
            "committed",
            U32,
            qualifier="volatile",
            about="Bytes from the chunk's start up to which all records are whole: 0 while "
            "it is not in use, the size of this structure when it is empty.",
        ),
        Member(
            "epoch",
            U32,
            qualifier="volatile",
            about="In the ring of a CPU: the time of the last record, without the bits that "
            "compact headers have. One word with `committed`.",
        ),
        Member("next_free", U32, qualifier=ATOMIC),
        Member("prev", U32, about="The chunk that the slot filled before, or 0."),
        Member("seq", U64, qualifier=ATOMIC, about="1 and up, in each use of a slot."),
        Member("flags", U32, about="Of enum chunk_flags."),
        Member("owner", U32, qualifier=ATOMIC, about="A slot, or 0."),
        Member(
            "lost",
            U64,
            about="The slot's losses when the chunk was taken into use, and when those "
            "were that came since the chunk before; 0: none came.",
        ),
        Member("first_lost", U64),
        Member("last_lost", U64),
        Member(
            "least_end",
            U64,
            about="The packet does not end before this. Code that goes on with a record "
            "that another completed may store an earlier time, in a chunk that is complete.",
        ),
        Member(
            "before",
            U32,
            about="In the ring of a thread: what `committed` of the chunk before was when "
            "the thread left it. If it is less later, somebody else has changed it.",
        ),
        Member("unused", BYTE, 20),
        Member(
            "packet",
            HEADER,
            about="The thread fills the times, the IDs and the name, the collector all of "
            "it, in a copy. Records follow.",
        ),
    ),
    about="The head of a chunk.",
)

CLASS = Structure(
    "arena_class",
    (
        Member("digest", U64, 2),
        Member("text_at", U32, about="In the text after the table."),
        Member("text_size", U32),
        Member("process", U32, about="Its ID, as it sees it."),
        Member("unused", U32),
    ),
    about="An event class that programs have registered.",
)

STRUCTURES = (CONTROL, UNREACHED, SHARED, SLOT, LEDGER, CHUNK, CLASS)
