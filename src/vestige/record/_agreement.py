"""What the recorder and the tracer agree on.

Made by ``tools/make_agreement.py`` from ``tracer/agreement``: change it there, then say
``make agreement``.
"""

# ruff: noqa: E501 - as it is printed
from __future__ import annotations

AGREEMENT = "df2255232ffde00c"
"""That of the description; it goes with each recording."""

PACKET_MAGIC = 3_254_525_889
"""CTF 1.8.3, section 5.1."""
STREAM_CLASS = 0
"""Of the rings of threads."""
STREAM_CLASS_OF_CPUS = 1
PROCNAME_SIZE = 16
PLACE_SIZE = 6
"""Of `ip`, `addr` and `call_site`."""
ID_SIZE = 4
CPU_ID_SIZE = 2
HEADER_CLASS_BITS = 8
"""The compact event header: bits of class, then the lower bits of the time. Bits are counted from the least significant one on little-endian machines, from the other end on big-endian ones."""
HEADER_TIME_BITS = 24
HEADER_EXTENDED = 255
"""In place of the class, which follows in 32 bits, with all of the time."""
COMPACT_HEADER_SIZE = 4
EXTENDED_HEADER_SIZE = 13
MOST_COUNTERS = 8
"""Of one recording."""
COUNTER_PREFIX = "perf:thread:"
MOST_APPLICATION_CONTEXTS = 16
"""In each record of a recording."""
MOST_APPLICATION_OPERANDS = 6
"""Different ones in a filter."""
LONGEST_APPLICATION_NAME = 255
"""With its prefix."""
APPLICATION_PREFIX = "$app."
EXPRESSION_DEPTH = 24
"""Values on the stack."""
MOST_INSTRUCTIONS = 2_048
"""Of one filter."""
RULES_MAGIC = "VESTRUL1"
LARGEST_RULES = 4_194_304
"""Bytes of the file of rules."""
MOST_RULES = 4_096
LEVEL_FUNCTION = 12
"""Log levels of events that have none of their own, see lttng-ust(3)."""
LEVEL_LINE = 13
MOST_PATTERNS = 256
"""Patterns of functions, of both lists."""
MOST_LIBRARY_PATTERNS = 64
"""Patterns of library calls."""
LIBRARY_PATTERNS_SIZE = 4_096
"""Bytes of all of them, with a zero."""
PATTERN_TEXT_SIZE = 16_384
"""Bytes of all of them, each with a zero."""
METADATA_FILE = "metadata"
ARENA_FILE = ".arena-data"
"""Where there is no shared memory; hidden, so that readers leave it alone."""
ARENA_IN_DIRECTORY = "."
ARENAS_FILE = ".arena"
"""Names the arenas of a recording."""
REFUSALS_FILE = ".refused"
"""Lines of tracers that do not agree with the recorder: see settings.py."""
LARGEST_REFUSALS = 65_536
"""Bytes from which on none is added."""
PLANS_DIRECTORY = ".plans"
"""Has a plan for each object, named after its build ID: see plan.py."""
OPEN_SUFFIX = ".open"
RING_PREFIX = "ring-"
LOST_STREAM = "lost"
"""The data stream of what no other could tell."""
SKIPPED_MARK = "lttng-ust"
"""In the place of a fingerprint: a provider or an event is not recorded."""
SKIPPED_DAMAGED = "damaged"
"""Its description has a size, a name or an address that no header makes."""
SKIPPED_MAJOR = "major"
"""Its provider is of an unknown version."""
SKIPPED_FIELDS = "fields"
"""Its fields are of an unknown kind."""
SKIPPED_READERS = "readers"
"""No reader takes its fields: two have one name, or labels begin at their end."""
SKIPPED_ALIGNMENT = "alignment"
"""Its fields are aligned, as on other machines."""
SKIPPED_SIGNATURE = "signature"
"""Its tracepoint has other arguments than its probe takes."""
SKIPPED_CLASS = "class"
"""There are too many classes."""
SKIPPED_LENGTH = "length"
"""A sequence of it was cut: the type of its length cannot tell of all elements."""
SKIPPED_MEMORY = "memory"
"""There is no memory for it."""
UNPATCHED_MARK = "patch"
"""In the place of a fingerprint: no entry of an object was rewritten."""
UNPATCHED_PLAN = "plan"
"""Its plan is damaged."""
UNPATCHED_BYTES = "bytes"
"""It is not what was planned."""
UNPATCHED_MEMORY = "memory"
"""There is no memory near it."""
UNPATCHED_POLICY = "policy"
"""Its code may not be written to."""
UNPATCHED_THREADS = "threads"
"""Other threads run already."""
UNPATCHED_SHADOW = "shadow"
"""The processor keeps return addresses, which cannot be replaced."""
UNPATCHED_COPIES = "copies"
"""The program copies its stacks, and return addresses with them."""
UNPATCHED_LATE = "late"
"""Its plan did not come in time."""
SETTINGS_VARIABLE = "VESTIGE_TRACER"
OFF_VARIABLE = "VESTIGE_TRACER_OFF"
"""Makes the tracer inert, and keeps it out of programs that clear their environment."""
SETTINGS_HEAD = "2 agreement="
"""Before the fingerprint."""
SETTINGS_TAIL = "directory="
"""The last word: it may hold spaces."""
SMALLEST_PACKET = 4_096
"""Packets are whole pages of the arena."""
LARGEST_PACKET = 1_073_741_824
PROBES_FILE = "probes"
"""In the directory of plans."""
PROBES_MAGIC = "VESTPRB1"
PROBE_PROVIDER = "vestige_probe"
"""Of their events."""
PLAN_PROBED = 1
"""Flag of a planned function: it is that of a probe."""
MOST_PROBES = 256
MOST_PROBE_VALUES = 16
"""Of one probe, without the result."""
LONGEST_PROBE_TEXT = 255
"""Bytes of a string that are read at most."""
PROBE_HAS_ENTRY = 1
"""Flag: there is an event at the entry."""
PROBE_HAS_RESULT = 2
"""Flag: there is one at the exit."""
PROBE_HAS_CALLS = 4
"""Flag: calls of the function are recorded, too."""

PACKET_FORMAT = "I16sIQQQQQQQII16s"
PACKET_SIZE = 104
PACKET_OFFSETS = {
    "magic": 0,
    "uuid": 4,
    "stream_id": 20,
    "stream_instance_id": 24,
    "timestamp_begin": 32,
    "timestamp_end": 40,
    "content_size": 48,
    "packet_size": 56,
    "packet_seq_num": 64,
    "events_discarded": 72,
    "vpid": 80,
    "vtid": 84,
    "procname": 88,
}
"""The packet header and the packet context. All sizes are in bits, as CTF has them."""

INSTRUCTION_INTEGER_FORMAT = "HHIq"
INSTRUCTION_REAL_FORMAT = "HHId"
INSTRUCTION_TEXT_FORMAT = "HHIII"
INSTRUCTION_SIZE = 16
INSTRUCTION_OFFSETS = {
    "operation": 0,
    "reserved": 2,
    "index": 4,
    "value": 8,
}
"""An instruction of a filter."""

RULES_HEAD_FORMAT = "8sII"
RULES_HEAD_SIZE = 16
RULES_HEAD_OFFSETS = {
    "magic": 0,
    "size": 8,
    "rule_count": 12,
}
"""Before all rules."""

RULE_HEAD_FORMAT = "IiiIIIII"
RULE_HEAD_SIZE = 32
RULE_HEAD_OFFSETS = {
    "size": 0,
    "first_level": 4,
    "last_level": 8,
    "pattern_count": 12,
    "patterns_size": 16,
    "instruction_count": 20,
    "text_size": 24,
    "reserved": 28,
}
"""Before each rule. Its patterns follow, each ended by a zero: that of the names that are chosen, then those of names that are not; then instructions, and their text. All three parts are a multiple of eight bytes."""

PLAN_HEADER_FORMAT = "8sQII64s"
PLAN_HEADER_SIZE = 88
PLAN_HEADER_OFFSETS = {
    "magic": 0,
    "size": 8,
    "functions": 16,
    "build_id_size": 20,
    "build_id": 24,
}
"""How a plan begins."""

PLAN_FUNCTION_FORMAT = "QQBBBB4s24s"
PLAN_FUNCTION_SIZE = 48
PLAN_FUNCTION_OFFSETS = {
    "address": 0,
    "place": 8,
    "replaced_size": 16,
    "code_size": 17,
    "fixups": 18,
    "flags": 19,
    "padding": 20,
    "replaced": 24,
}
"""A function; its code and its fixups come after it."""

PLAN_FIXUP_FORMAT = "IIQ"
PLAN_FIXUP_SIZE = 16
PLAN_FIXUP_OFFSETS = {
    "at": 0,
    "padding": 4,
    "target": 8,
}
"""A number that depends on where the code lies."""

PROBES_HEADER_FORMAT = "8sQII"
PROBES_HEADER_SIZE = 24
PROBES_HEADER_OFFSETS = {
    "magic": 0,
    "size": 8,
    "probes": 16,
    "padding": 20,
}
"""How the file begins."""

PROBE_HEAD_FORMAT = "QIIII64s208s"
PROBE_HEAD_SIZE = 296
PROBE_HEAD_OFFSETS = {
    "address": 0,
    "build_id_size": 8,
    "values": 12,
    "flags": 16,
    "padding": 20,
    "build_id": 24,
    "name": 88,
}
"""A probe."""

PROBE_VALUE_FORMAT = "BBBBIq64s"
PROBE_VALUE_SIZE = 80
PROBE_VALUE_OFFSETS = {
    "place": 0,
    "type": 1,
    "size": 2,
    "number": 3,
    "padding": 4,
    "offset": 8,
    "name": 16,
}
"""A value of it."""

PACKET_HEADER = (
    "integer { size = 32; align = 8; signed = false; base = 10; } magic;",
    "integer { size = 8; align = 8; signed = false; base = 16; } uuid[16];",
    "integer { size = 32; align = 8; signed = false; base = 10; } stream_id;",
    "integer { size = 64; align = 8; signed = false; base = 10; } stream_instance_id;",
)
PACKET_CONTEXT = (
    "integer { size = 64; align = 8; signed = false; base = 10; map = clock.{clock}.value; } timestamp_begin;",
    "integer { size = 64; align = 8; signed = false; base = 10; map = clock.{clock}.value; } timestamp_end;",
    "integer { size = 64; align = 8; signed = false; base = 10; } content_size;",
    "integer { size = 64; align = 8; signed = false; base = 10; } packet_size;",
    "integer { size = 64; align = 8; signed = false; base = 10; } packet_seq_num;",
    "integer { size = 64; align = 8; signed = false; base = 10; } events_discarded;",
    "integer { size = 32; align = 8; signed = false; base = 10; } vpid;",
    "integer { size = 32; align = 8; signed = false; base = 10; } vtid;",
    "integer { size = 8; align = 8; signed = true; base = 10; encoding = UTF8; } procname[16];",
)
PACKET_CONTEXT_OF_CPUS = (
    "integer { size = 64; align = 8; signed = false; base = 10; map = clock.{clock}.value; } timestamp_begin;",
    "integer { size = 64; align = 8; signed = false; base = 10; map = clock.{clock}.value; } timestamp_end;",
    "integer { size = 64; align = 8; signed = false; base = 10; } content_size;",
    "integer { size = 64; align = 8; signed = false; base = 10; } packet_size;",
    "integer { size = 64; align = 8; signed = false; base = 10; } packet_seq_num;",
    "integer { size = 64; align = 8; signed = false; base = 10; } events_discarded;",
    "integer { size = 32; align = 8; signed = false; base = 10; } cpu_id;",
)
"""In TSDL, CTF 1.8.3, section 7; the name of the clock is to be filled in."""

EVENTS: tuple[tuple[str, int, int | None, str], ...] = (
    (
        "lttng_ust_cyg_profile_fast:func_entry",
        12,
        6,
        "integer { size = 48; align = 8; signed = false; base = 16; } _addr;",
    ),
    ("lttng_ust_cyg_profile_fast:func_exit", 12, 0, ""),
    (
        "lttng_ust_cyg_profile:func_entry",
        12,
        12,
        "integer { size = 48; align = 8; signed = false; base = 16; } _addr; integer { size = 48; align = 8; signed = false; base = 16; } _call_site;",
    ),
    (
        "lttng_ust_cyg_profile:func_exit",
        12,
        12,
        "integer { size = 48; align = 8; signed = false; base = 16; } _addr; integer { size = 48; align = 8; signed = false; base = 16; } _call_site;",
    ),
    ("lttng_ust_statedump:start", 13, 0, ""),
    (
        "lttng_ust_statedump:procname",
        13,
        17,
        "integer { size = 8; align = 8; signed = true; base = 10; encoding = UTF8; } _procname[17];",
    ),
    (
        "lttng_ust_statedump:bin_info",
        13,
        None,
        "integer { size = 64; align = 8; signed = false; base = 16; } _baddr; integer { size = 64; align = 8; signed = false; base = 10; } _memsz; string _path; integer { size = 8; align = 8; signed = false; base = 10; } _is_pic; integer { size = 8; align = 8; signed = false; base = 10; } _has_build_id; integer { size = 8; align = 8; signed = false; base = 10; } _has_debug_link;",
    ),
    (
        "lttng_ust_statedump:build_id",
        13,
        None,
        "integer { size = 64; align = 8; signed = false; base = 16; } _baddr; integer { size = 64; align = 8; signed = false; base = 10; } __build_id_length; integer { size = 8; align = 8; signed = false; base = 16; } _build_id[__build_id_length];",
    ),
    (
        "lttng_ust_statedump:debug_link",
        13,
        None,
        "integer { size = 64; align = 8; signed = false; base = 16; } _baddr; integer { size = 32; align = 8; signed = false; base = 10; } _crc; string _filename;",
    ),
    ("lttng_ust_statedump:end", 13, 0, ""),
    (
        "lttng_ust_lib:load",
        13,
        None,
        "integer { size = 64; align = 8; signed = false; base = 16; } _baddr; integer { size = 64; align = 8; signed = false; base = 10; } _memsz; string _path; integer { size = 8; align = 8; signed = false; base = 10; } _has_build_id; integer { size = 8; align = 8; signed = false; base = 10; } _has_debug_link;",
    ),
    (
        "lttng_ust_lib:build_id",
        13,
        None,
        "integer { size = 64; align = 8; signed = false; base = 16; } _baddr; integer { size = 64; align = 8; signed = false; base = 10; } __build_id_length; integer { size = 8; align = 8; signed = false; base = 16; } _build_id[__build_id_length];",
    ),
    (
        "lttng_ust_lib:debug_link",
        13,
        None,
        "integer { size = 64; align = 8; signed = false; base = 16; } _baddr; integer { size = 32; align = 8; signed = false; base = 10; } _crc; string _filename;",
    ),
    (
        "lttng_ust_lib:unload",
        13,
        8,
        "integer { size = 64; align = 8; signed = false; base = 16; } _baddr;",
    ),
    (
        "ust_baddr:init",
        13,
        None,
        "integer { size = 64; align = 8; signed = false; base = 16; } _baddr; string _sopath; integer { size = 64; align = 8; signed = true; base = 10; } _size; integer { size = 64; align = 8; signed = true; base = 10; } _mtime;",
    ),
    (
        "ust_baddr:push",
        13,
        None,
        "integer { size = 64; align = 8; signed = false; base = 16; } _baddr; string _sopath; integer { size = 64; align = 8; signed = true; base = 10; } _size; integer { size = 64; align = 8; signed = true; base = 10; } _mtime;",
    ),
    (
        "ust_baddr:pop",
        13,
        8,
        "integer { size = 64; align = 8; signed = false; base = 16; } _baddr;",
    ),
    (
        "vestige_python:code",
        13,
        None,
        "integer { size = 64; align = 8; signed = false; base = 16; } _baddr; integer { size = 64; align = 8; signed = false; base = 10; } _memsz; string _path; string _func; integer { size = 32; align = 8; signed = false; base = 10; } _line;",
    ),
    (
        "vestige_python:func_entry",
        12,
        6,
        "integer { size = 48; align = 8; signed = false; base = 16; } _addr;",
    ),
    (
        "vestige_python:func_exit",
        12,
        6,
        "integer { size = 48; align = 8; signed = false; base = 16; } _addr;",
    ),
    (
        "vestige_python:coroutine_entry",
        12,
        15,
        "integer { size = 48; align = 8; signed = false; base = 16; } _addr; integer { size = 64; align = 8; signed = false; base = 16; } _id; integer { size = 8; align = 8; signed = false; base = 10; } _is_resumed;",
    ),
    (
        "vestige_python:coroutine_exit",
        12,
        15,
        "integer { size = 48; align = 8; signed = false; base = 16; } _addr; integer { size = 64; align = 8; signed = false; base = 16; } _id; integer { size = 8; align = 8; signed = false; base = 10; } _is_suspended;",
    ),
    ("vestige_python:not_recorded", 13, None, "string _what; string _reason;"),
    (
        "vestige_library:function",
        13,
        None,
        "integer { size = 48; align = 8; signed = false; base = 16; } _addr; string _name;",
    ),
)
"""Name, log level, bytes of the fields if they are always the same, and fields in
TSDL, in the order of the IDs."""
FIELDS_WITH_ARGUMENTS = {
    "vestige_python:func_entry": "string _arguments;",
    "vestige_python:func_exit": "string _result;",
    "vestige_python:coroutine_entry": "string _arguments;",
    "vestige_python:coroutine_exit": "string _result;",
}
"""Further fields, where arguments of Python functions are recorded."""

CONTEXTS: tuple[tuple[str, int, str, str], ...] = (
    (
        "ip",
        6,
        "integer { size = 48; align = 8; signed = false; base = 16; } _ip;",
        "address of the code that made the event",
    ),
    (
        "vpid",
        4,
        "integer { size = 32; align = 8; signed = true; base = 10; } _vpid;",
        "process ID, as the process sees it",
    ),
    (
        "vtid",
        4,
        "integer { size = 32; align = 8; signed = true; base = 10; } _vtid;",
        "thread ID, as the process sees it",
    ),
    (
        "procname",
        17,
        "integer { size = 8; align = 8; signed = true; base = 10; encoding = UTF8; } _procname[17];",
        "name of the thread",
    ),
    (
        "cpu_id",
        2,
        "integer { size = 16; align = 8; signed = false; base = 10; } _cpu_id;",
        "number of the CPU",
    ),
    (
        "pthread_id",
        8,
        "integer { size = 64; align = 8; signed = false; base = 10; } _pthread_id;",
        "POSIX thread ID, of pthread_self(3)",
    ),
    (
        "cgroup_ns",
        8,
        "integer { size = 64; align = 8; signed = false; base = 10; } _cgroup_ns;",
        "inode of the control group namespace",
    ),
    (
        "ipc_ns",
        8,
        "integer { size = 64; align = 8; signed = false; base = 10; } _ipc_ns;",
        "inode of the interprocess communication namespace",
    ),
    (
        "mnt_ns",
        8,
        "integer { size = 64; align = 8; signed = false; base = 10; } _mnt_ns;",
        "inode of the mount point namespace",
    ),
    (
        "net_ns",
        8,
        "integer { size = 64; align = 8; signed = false; base = 10; } _net_ns;",
        "inode of the network namespace",
    ),
    (
        "pid_ns",
        8,
        "integer { size = 64; align = 8; signed = false; base = 10; } _pid_ns;",
        "inode of the process ID namespace",
    ),
    (
        "time_ns",
        8,
        "integer { size = 64; align = 8; signed = false; base = 10; } _time_ns;",
        "inode of the time namespace",
    ),
    (
        "user_ns",
        8,
        "integer { size = 64; align = 8; signed = false; base = 10; } _user_ns;",
        "inode of the user namespace",
    ),
    (
        "uts_ns",
        8,
        "integer { size = 64; align = 8; signed = false; base = 10; } _uts_ns;",
        "inode of the host name namespace",
    ),
    (
        "vuid",
        4,
        "integer { size = 32; align = 8; signed = false; base = 10; } _vuid;",
        "real user ID, as the process sees it",
    ),
    (
        "vgid",
        4,
        "integer { size = 32; align = 8; signed = false; base = 10; } _vgid;",
        "real group ID, as the process sees it",
    ),
    (
        "veuid",
        4,
        "integer { size = 32; align = 8; signed = false; base = 10; } _veuid;",
        "effective user ID, as the process sees it",
    ),
    (
        "vegid",
        4,
        "integer { size = 32; align = 8; signed = false; base = 10; } _vegid;",
        "effective group ID, as the process sees it",
    ),
    (
        "vsuid",
        4,
        "integer { size = 32; align = 8; signed = false; base = 10; } _vsuid;",
        "saved set-user-ID, as the process sees it",
    ),
    (
        "vsgid",
        4,
        "integer { size = 32; align = 8; signed = false; base = 10; } _vsgid;",
        "saved set-group-ID, as the process sees it",
    ),
)
"""Name, bytes, field in TSDL, and what it tells, in the order of records."""

COUNTER_FIELD = "integer { size = 64; align = 8; signed = false; base = 10; } {name};"
"""In TSDL; the name is to be filled in."""
APPLICATION_FIELDS = 'enum : integer { size = 8; align = 8; signed = true; base = 10; } { "_none" = 0, "_int8" = 1, "_int16" = 2, "_int32" = 3, "_int64" = 4, "_uint8" = 5, "_uint16" = 6, "_uint32" = 7, "_uint64" = 8, "_float" = 9, "_double" = 10, "_string" = 11 } _{name}_tag; variant <_{name}_tag> { struct { } align(1) _none; integer { size = 8; align = 8; signed = true; base = 10; } _int8; integer { size = 16; align = 8; signed = true; base = 10; } _int16; integer { size = 32; align = 8; signed = true; base = 10; } _int32; integer { size = 64; align = 8; signed = true; base = 10; } _int64; integer { size = 8; align = 8; signed = false; base = 10; } _uint8; integer { size = 16; align = 8; signed = false; base = 10; } _uint16; integer { size = 32; align = 8; signed = false; base = 10; } _uint32; integer { size = 64; align = 8; signed = false; base = 10; } _uint64; floating_point { exp_dig = 8; mant_dig = 24; align = 8; } _float; floating_point { exp_dig = 11; mant_dig = 53; align = 8; } _double; string _string; } _{name};'
"""The same of a context of an application."""
COUNTERS_OF_KERNEL = (
    "page-fault",
    "faults",
    "major-faults",
    "minor-faults",
    "context-switches",
    "cs",
    "cpu-clock",
    "task-clock",
)
COUNTERS_OF_PROCESSOR = (
    "cpu-cycles",
    "cycles",
    "instructions",
    "cache-references",
    "cache-misses",
    "branch-instructions",
    "branches",
    "branch-misses",
    "bus-cycles",
    "stalled-cycles-frontend",
    "idle-cycles-frontend",
    "stalled-cycles-backend",
    "idle-cycles-backend",
    "L1-dcache-loads",
    "L1-dcache-load-misses",
    "L1-dcache-stores",
    "L1-dcache-store-misses",
    "L1-dcache-prefetches",
    "L1-dcache-prefetch-misses",
    "L1-icache-loads",
    "L1-icache-load-misses",
    "L1-icache-stores",
    "L1-icache-store-misses",
    "L1-icache-prefetches",
    "L1-icache-prefetch-misses",
    "LLC-loads",
    "LLC-load-misses",
    "LLC-stores",
    "LLC-store-misses",
    "LLC-prefetches",
    "LLC-prefetch-misses",
    "dTLB-loads",
    "dTLB-load-misses",
    "dTLB-stores",
    "dTLB-store-misses",
    "dTLB-prefetches",
    "dTLB-prefetch-misses",
    "iTLB-loads",
    "iTLB-load-misses",
    "branch-loads",
    "branch-load-misses",
)

SETTINGS = (
    "arena",
    "arena-id",
    "socket",
    "token",
    "inherited",
    "clock",
    "contexts",
    "entries",
    "exits",
    "events",
    "follow-fork",
    "recorder",
    "include",
    "exclude",
    "plans",
    "library-calls",
    "library-entries",
    "library-exits",
    "plan-wait",
    "python",
)
"""The words, in the order in which they are written."""
FUNCTION_TRACING_WORDS = ("off", "fast", "verbose")
CLOCK_KIND_WORDS = ("monotonic", "counter")
UNREACHED_REASONS = {
    0: "WITHDRAWN",
    1: "ELSEWHERE",
    2: "STATIC",
    3: "USER",
    4: "GROUP",
    5: "CAPABILITIES",
    6: "MACHINE",
    7: "LIBRARY",
    8: "ENVIRONMENT",
    9: "MEMORY",
}
"""Why a program that another one starts is not recorded."""
PROBE_PLACES = {
    0: "REGISTER",
    1: "VECTOR",
    2: "STACK",
    3: "NOTHING",
    4: "RESULT",
}
"""Where a value is."""
PROBE_TYPES = {
    0: "SIGNED",
    1: "UNSIGNED",
    2: "POINTER",
    3: "FLOAT",
    4: "TEXT",
}
"""What it is."""
