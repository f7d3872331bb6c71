"""The face of the Rust core. Only :mod:`vestige.core` imports it.

Bulk work on untrusted bytes happens here, without the interpreter lock: parsing
metadata, finding and decoding event records, merging, rendering text, reading ELF and
DWARF. What is decided is decided in Python.
"""

from collections.abc import (
    Callable,
    Container,
    ItemsView,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
    ValuesView,
)
from collections.abc import (
    Set as AbstractSet,
)
from datetime import datetime
from os import PathLike
from typing import Any, Final, Self, TypeAlias, final

from typing_extensions import disjoint_base

__all__ = [
    "AnswerWriter",
    "BlockLevels",
    "CallFold",
    "ChromeCalls",
    "ClockSnapshot",
    "ColumnLayout",
    "CopyLayout",
    "DataFile",
    "DataStream",
    "DetailsRenderer",
    "EncodedPacket",
    "Event",
    "EventCounter",
    "EventIterator",
    "EventLayout",
    "EventMessage",
    "EventTable",
    "FieldBase",
    "FieldsView",
    "FunctionPlan",
    "IndexedTable",
    "IntervalIndex",
    "LockFold",
    "MemoryFold",
    "Merge",
    "MergeBuilder",
    "MergeCopy",
    "MergeMuxer",
    "MessageCounter",
    "MessageEvent",
    "MessageIterator",
    "Muxer",
    "NumberFieldBase",
    "ObjectFile",
    "PerfettoWriter",
    "PlaceColumn",
    "PlaceFormat",
    "RecordFilter",
    "Repair",
    "StreamWriter",
    "StructureFieldBase",
    "SymbolTable",
    "TextRenderer",
    "ThreadNames",
    "TraceClass",
    "Trimmer",
    "UnitIndex",
    "Verifier",
    "__interface__",
    "__version__",
    "copied_event",
    "copied_fields",
    "demangle",
    "file_crc32",
    "packet_of_notice",
    "set_most_open_files",
]

__interface__: Final[bytes]
__version__: Final[str]

@final
class TraceClass:
    """Parsed metadata (CTF 1.8.3, section 7; CTF2-SPEC-2.0, section 5)."""

    @staticmethod
    def parse(metadata: bytes, *, path: str | None = None) -> TraceClass:
        """Parse the bytes of a metadata file, packetised or plain.

        Args:
            metadata: The file's content.
            path: Its path, for the error message.

        Returns:
            The trace class.

        Raises:
            TraceFormatError: With the line (CTF 2: the fragment and the path in it)
                that is wrong and what was expected there.
        """

    def has_places(self, stream_class: int, name: str) -> bool:
        """Tell whether filters give records of a stream class a place.

        Args:
            stream_class: Index of the stream class.
            name: The name of the field in which it is.
        """

    @staticmethod
    def parse_partial(
        metadata: bytes,
    ) -> tuple[TraceClass | None, tuple[str, int | None, int | None] | None]:
        """Parse the bytes of a metadata file as far as they go.

        Returns:
            The trace class, if any data stream can be read with it. If something is
            wrong, the message, its byte offset, and that of its line.
        """

    @staticmethod
    def usable_metadata(metadata: bytes) -> bytes | None:
        """Return metadata as far as they can be used, or ``None``."""

    def with_clock_offset(self, seconds: int, nanoseconds: int) -> TraceClass:
        """Return the same trace class with all clocks moved.

        Raises:
            SelectionError: A clock would leave the 64 bits of its nanoseconds.
        """

    def describe(self) -> dict[str, Any]:
        """Return all of it as nested dictionaries, for :mod:`vestige.ctf`."""

    @property
    def uuid(self) -> bytes | None:
        """The UUID, 16 bytes; in CTF 2 that of the metadata."""

    @property
    def identity(self) -> bytes | None:
        """What the parts of a trace share: UUID, in CTF 2 namespace, name and UID."""

    @property
    def environment(self) -> dict[str, int | str]:
        """The entries of the trace environment."""

    def kernel_functions(self) -> list[tuple[int, int, str, str]]:
        """Return the functions of the kernel that the trace names.

        Returns:
            Begin, bytes, name and module of each (empty: the kernel itself), by their
            addresses.
        """

    def kernel_modules(self) -> list[tuple[int, int, str, bytes]]:
        """Return the modules of the kernel that the trace names.

        Returns:
            Begin, bytes, name and build ID of each (empty: nobody knows).
        """

    def kernel_sections(self) -> list[tuple[int, str, str]]:
        """Return the sections with code of the modules that the trace names.

        Returns:
            Begin, name and module of each.
        """

    @property
    def class_count(self) -> int:
        """The number of stream classes and event record classes."""

@final
class DataFile:
    """A data stream file with its packets."""

    @staticmethod
    def open(
        trace_class: TraceClass,
        path: str,
        *,
        index: bytes | None = None,
        changes: bool = False,
    ) -> DataFile:
        """Open a data stream file and find its packets.

        Args:
            trace_class: Its metadata.
            path: A regular file; anything else is refused without waiting for it.
            index: The content of its LTTng index file. One that does not describe the
                file exactly is not used.
            changes: Whether it has one packet that a tracer is writing; it is read at
                once then.

        Returns:
            The file.

        Raises:
            TraceFormatError: Not even the first packet can be read.
        """

    @staticmethod
    def open_part(trace_class: TraceClass, path: str, start: int, end: int) -> DataFile:
        """Open the packets in a part of a data stream file, which grows.

        Args:
            trace_class: Its metadata.
            path: A regular file.
            start: Byte offset at which a packet begins.
            end: Byte offset behind the last packet.

        Raises:
            TraceFormatError: Not a single packet can be read.
        """

    @staticmethod
    def of_bytes(
        trace_class: TraceClass, path: str, data: bytes | bytearray
    ) -> DataFile:
        """Find the packets of a data stream file in memory.

        Args:
            trace_class: Its metadata.
            path: What stands for its path in messages.
            data: Its content.

        Raises:
            TraceFormatError: Not a single packet can be read.
        """

    @property
    def end(self) -> int | None:
        """The end that its last packet states, cycles."""

    @property
    def path(self) -> str:
        """Path of the file."""

    @property
    def sequence_number(self) -> int | None:
        """Sequence number of its first packet."""

    @property
    def last_written(self) -> tuple[int, int | None] | None:
        """Sequence number and end (cycles) of its last packet with event records."""

    @property
    def damage(
        self,
    ) -> list[tuple[str, int, int, str, str, int | None, int | None, int | None]]:
        """What is wrong between and with its packets, as far as headers tell."""

    @property
    def size(self) -> int:
        """Size when it was opened, bytes."""

    @property
    def stream_class(self) -> int:
        """Index of its stream class."""

    @property
    def stream_instance(self) -> int | None:
        """ID of its data stream, when the packets carry one."""

    @property
    def beginning(self) -> int | None:
        """Clock value at its beginning, cycles."""

    @property
    def packets(
        self,
    ) -> list[tuple[int, int, int | None, int | None, int | None, int | None]]:
        """Offset, size (bytes), beginning, end (cycles), discarded events, number."""

@final
class DataStream:
    """The packets of one stream class and instance, in time order."""

    def __new__(
        cls,
        trace_class: TraceClass,
        files: Sequence[DataFile],
        *,
        trace_name: str,
        trace_index: int,
        process_space: int = 0,
        class_index: int | None = None,
        path: str | None = None,
    ) -> DataStream:
        """Join files to a data stream.

        Args:
            trace_class: The metadata of the trace.
            files: The files; a packet that stands in two is read once.
            trace_name: Name of the trace, for text.
            trace_index: Index of the trace among those that are read together.
            process_space: Where its process IDs count: the same number for all streams
                of a trace, or of a PID namespace in it if the trace has several.
            class_index: Index of its stream class, if there is no file yet.
            path: Path of what will be its first file, likewise.
        """

    def following(
        self, trace_class: TraceClass, file: DataFile | None = None
    ) -> DataStream:
        """Return the next part of this data stream, which grows.

        Args:
            trace_class: The metadata, which may have more event record classes by now.
            file: Packets that are in none of the parts before; none if there are none.
        """

    def nanoseconds(self, cycles: int) -> int | None:
        """Return nanoseconds from the clock's origin; ``None`` without a clock."""

    def time_range(self) -> tuple[int, int] | None:
        """Return when the first packet begins and the last one ends, nanoseconds.

        Where the tracer is known to write a wrong end, it is the time of the last event
        record. ``None`` when the packets do not tell.
        """

    @property
    def beginning(self) -> int | None:
        """When the first packet begins, nanoseconds from the clock's origin."""

    @property
    def origin(self) -> int:
        """A number that no other data stream has, but all parts of one that grows."""

    @property
    def clock(self) -> dict[str, Any] | None:
        """The clock class, as :meth:`TraceClass.describe` describes it."""

    @property
    def has_clock(self) -> bool:
        """Whether its event records have a time."""

    @property
    def packet_times(self) -> list[tuple[int | None, int | None, int]]:
        """Beginning, end (nanoseconds) and size (bytes) of each packet, in order."""

    @property
    def class_id(self) -> int:
        """ID of its stream class."""

    @property
    def paths(self) -> list[str]:
        """Paths of its files."""

    @property
    def size(self) -> int:
        """Bytes of its files."""

    @property
    def uses_call_stacks(self) -> bool:
        """Whether some of its event records are understood by calls before them only.

        These are exits of functions without a field that names the function.
        """

    @property
    def process_space(self) -> int:
        """Where its process IDs count, as it was given."""

    @property
    def packet_damage(self) -> list[tuple[Any, ...]]:
        """What is wrong with the packets, as far as their beginnings tell.

        As the damage in :attr:`Merge.notices`.
        """

    @property
    def packet_count(self) -> int:
        """The number of packets."""

@final
class EventCounter:
    """Counts event records by class, without decoding their fields."""

    def __new__(cls) -> EventCounter: ...
    def add(self, merge: Merge) -> None:
        """Count the event records of a merge."""

    @property
    def counts(self) -> dict[str | None, int]:
        """The number of event records by the name of their class, sorted by name."""

    @property
    def time_span(self) -> tuple[int, int] | None:
        """The earliest and the latest time, nanoseconds; ``None`` without any."""

@final
class ThreadNames:
    """Knows what threads are called, where packets or common contexts tell it."""

    def __new__(cls) -> ThreadNames:
        """Make an object that knows no names."""

    def add(self, merge: Merge) -> None:
        """Take the names that a merge tells: a thread has the last one."""

    def find(self, space: int, vpid: int, vtid: int) -> str | None:
        """Return the name of a thread, by process space, process ID and thread ID."""

    def rows(self) -> list[tuple[int, int, int, str]]:
        """Return process space, process ID (-1 if not told), thread ID and name."""

@final
class EventTable:
    """Counts event records by class and thread, and matches beginnings and ends."""

    def __new__(
        cls,
        pairs: Sequence[
            tuple[
                Sequence[str],
                Sequence[str],
                tuple[str, str] | None,
                str | None,
                str,
                bool,
                str,
            ]
        ] = ...,
        *,
        longest: int = 0,
        switch: tuple[str, str, str] | None = None,
    ) -> EventTable:
        """Make a table.

        Args:
            pairs: What belongs together: names of event record classes that begin and
                that end something; the fields of both that have the same value; the
                field of the beginning that names its group; within what they belong
                together (``thread``, ``cpu``, ``process`` or ``everything``); whether
                there may be several at once, one within the other; and what times are
                kept apart by (``none``, ``key`` or ``who``).
            longest: How many of the longest of each pair are kept.
            switch: Name of the records that have a thread that runs on their CPU from
                then on, the field that has it, and the field with its name.

        Raises:
            ValueError: There is no such reach or grouping.
        """

    def add(self, merge: Merge) -> None:
        """Take the event records of a merge."""

    def finish(self) -> None:
        """End the reading: what is open has no end."""

    def pairs(
        self,
    ) -> list[
        tuple[
            tuple[
                int,
                tuple[int, int | None, int | None, int | None, int | None] | None,
                str | None,
                str | None,
            ],
            tuple[int, int, int, int, int, int, int],
            tuple[
                list[tuple[int, int]],
                list[
                    tuple[
                        int,
                        int,
                        tuple[int, int | None, int | None, int | None, int | None],
                    ]
                ],
            ],
        ]
    ]:
        """Return what is known of each pair, then of each group of those with groups.

        Index of the pair; who, key and name of the group. Then how many have both ends,
        their time, the shortest and the longest, nanoseconds; how many have no end, no
        beginning, and how many have both with losses in between. Then indexes of
        buckets with numbers, and of the longest, longest first: duration, time of the
        beginning, and who, as in :meth:`rows`.
        """

    def running(self) -> list[tuple[int, int, int, str | None, int, int]]:
        """Return how long each thread ran on each CPU between two switches.

        Process space, CPU, thread ID, name of the thread, nanoseconds, how many times.
        """

    def totals(self) -> list[tuple[str | None, int, int, int]]:
        """Return for each name of classes the records: number, first time, last time.

        Times are nanoseconds from the origin of the clock; of no records they are none.
        """

    def rows(
        self,
    ) -> list[
        tuple[
            int,
            tuple[int, int | None, int | None, int | None, int | None],
            str | None,
            int,
            int,
            int,
        ]
    ]:
        """Return the records by name and thread, in no order.

        Of each row the index of the name in :meth:`totals`; process space, process ID,
        thread ID, else the number of the CPU, else a number of the data stream; the
        name of the process, where contexts tell it; number of records, time of the
        first and of the last one.
        """

    @property
    def left_out(self) -> int:
        """How many records are in no row, since there are too many threads."""

@final
class LockFold:
    """Follows mutexes through the events of calls that lock them.

    Args:
        calls: Names of the events of ``pthread_mutex_lock`` before and after it, of
            ``pthread_mutex_trylock`` and of ``pthread_mutex_unlock``, with the integers
            of the payload of each: the address, and but for the first the status.
        longest: How many of the longest waits are kept.

    Raises:
        ValueError: There are more than four integers.
    """

    def __new__(
        cls, calls: Sequence[tuple[str, Sequence[str]]], longest: int
    ) -> LockFold: ...
    def begin(
        self, merge: Merge
    ) -> tuple[
        list[tuple[int, int]], list[tuple[tuple[int, int | None, int | None], int]]
    ]:
        """Begin a merge; return what is new.

        Numbers of places, each with the index of an event record that has it; then
        process space, process ID and thread ID of threads, each with the index of its
        first event record.
        """

    def advance(self, sites: Sequence[int], are_taken: Sequence[bool]) -> None:
        """Go through the merge.

        Args:
            sites: The number of the site of each place that is new.
            are_taken: Whether what it does counts, of each thread that is new.
        """

    @property
    def events(self) -> int:
        """How many event records there were."""

    @property
    def has_unknown_threads(self) -> bool:
        """Whether some of them do not tell their thread."""

    @property
    def waiting(self) -> int:
        """How many threads wait."""

    @property
    def still_held(self) -> int:
        """How many mutexes are locked."""

    def total(self) -> list[int]:
        """Return the counts of all together.

        How often locked, and how often while another thread had it; nanoseconds that
        were waited, the longest wait; nanoseconds that it was held, the longest time;
        how often it was not got.
        """

    def locks(self) -> list[tuple[tuple[int, int | None], int, int, list[int]]]:
        """Return process space and process ID, address, users and counts of mutexes."""

    def sites(self) -> list[tuple[int, list[int]]]:
        """Return the counts of sites by their numbers."""

    def blockings(self) -> list[tuple[int, int, int, int, int]]:
        """Return who blocked whom.

        The sites that waited and that had locked, how often, nanoseconds all together
        and at most.
        """

    def longest(
        self,
    ) -> list[
        tuple[
            int,
            int,
            tuple[int, int | None, int | None],
            int,
            int,
            tuple[tuple[int, int | None, int | None], int] | None,
        ]
    ]:
        """Return the longest waits.

        Of each its begin and its nanoseconds, the thread, the site, the mutex, and the
        thread that had it with the site where that had locked it, if that is known.
        """

@final
class MemoryFold:
    """Follows blocks of memory through the events of calls that get and give them.

    Args:
        calls: Names of the events of ``malloc``, ``memalign``, ``calloc``,
            ``posix_memalign``, ``realloc`` and ``free``, with integers of the payload
            of each: size and block, of ``calloc`` the number of members before them;
            of ``posix_memalign`` the result, too; the block before, size and block of
            ``realloc``; the block of ``free``.
        entries: Names of entries of functions, with the integer that is the address.
        exits: The same of exits.
        most_gone: How many blocks of each process are remembered that are gone.

    Raises:
        ValueError: There are more than four integers.
    """

    def __new__(
        cls,
        calls: Sequence[tuple[str, Sequence[str]]],
        entries: Sequence[tuple[str, Sequence[str]]],
        exits: Sequence[tuple[str, Sequence[str]]],
        most_gone: int,
    ) -> MemoryFold: ...
    def begin(
        self, merge: Merge
    ) -> tuple[
        list[tuple[int, int]], list[tuple[tuple[int, int | None, int | None], int]]
    ]:
        """Begin a merge; return what is new, as :meth:`LockFold.begin`."""

    def advance(self, sites: Sequence[int], are_taken: Sequence[bool]) -> None:
        """Go through the merge; see :meth:`LockFold.advance`."""

    @property
    def events(self) -> int:
        """How many event records of calls there were."""

    @property
    def double_free_count(self) -> int:
        """How many blocks were given back twice."""

    def total(self) -> tuple[int, int, int, int, int, int]:
        """Return the counts of all together.

        Blocks and bytes that were got, blocks that were given back, bytes that are not
        given back, most bytes at a time, bytes of the largest block.
        """

    def processes(
        self,
    ) -> list[
        tuple[
            tuple[int, int | None],
            tuple[int, int, int, int, int, int],
            int | None,
            int,
            int,
        ]
    ]:
        """Return the processes.

        Of each process space and process ID, its counts, when it had most, how many
        blocks were given back and not seen to be got, and how often there was no
        memory.
        """

    def sites(
        self,
    ) -> list[tuple[list[int], int, tuple[int, int, int, int, int, int]]]:
        """Return the sites of the functions that led to places, their sites, counts."""

    def double_frees(
        self,
    ) -> list[tuple[int, tuple[int, int | None, int | None], int, int, int]]:
        """Return the first blocks that were given back twice.

        Of each when, the thread, the block, the site, and the site where it was given
        back before.
        """

@final
class RecordFilter:
    """Expressions that must all be true of an event record."""

    def __new__(
        cls,
        expressions: Sequence[Sequence[tuple[int, int, float | bytes]]],
        added: Sequence[str] | None = None,
    ) -> RecordFilter:
        """Take compiled expressions.

        Args:
            expressions: The instructions of each, as
                :func:`vestige.expressions.compile_filter` makes them.
            added: Names of the structures of source places that filters have added to
                the common context, for records of merges; ``None`` while records are
                read.

        Raises:
            ValueError: There is no such operation.
        """

    def possible(self, stream: DataStream) -> list[bool]:
        """Tell which event record classes of a data stream have records that can pass.

        The others lack what an expression names, or have it with another type.
        """

@final
class Muxer:
    """Merges data streams by time; the first in the list wins a tie."""

    def __new__(
        cls,
        streams: Sequence[
            tuple[DataStream, object, list[bool] | None, list[bool] | None]
        ],
        *,
        ranges: Sequence[tuple[int | None, int | None]] | None = None,
        check: bool = False,
        record_filters: Sequence[RecordFilter | None] | None = None,
        boundaries: bool = False,
        doubtful: bool = False,
        early_losses: bool = False,
    ) -> Muxer:
        """Start to read.

        Args:
            streams: For each data stream the object that represents it for users, which
                event record classes are wanted (all if ``None``), and which ones a
                filter needs from the beginning on.
            ranges: For each data stream earliest and latest time of wanted records,
                nanoseconds, both included; all when absent.
            check: Whether to decode every field of every event record, for its errors.
            record_filters: For each data stream which event records pass, of those that
                are wanted; all when absent.
            boundaries: Whether notices tell where data streams and packets begin, end.
            doubtful: Whether records in front of damage are there that may be misread.
            early_losses: Whether losses before the earliest time are told, too.
        """

    def __iter__(self) -> Muxer: ...
    def __next__(self) -> Merge: ...
    def add(
        self,
        stream: tuple[DataStream, object, list[bool] | None, list[bool] | None],
        *,
        range: tuple[int | None, int | None] = ...,  # noqa: A002 - as ranges
        record_filter: RecordFilter | None = None,
        ranks: Sequence[int],
    ) -> None:
        """Add a data stream that grows, behind the others.

        Args:
            stream: The data stream, as the constructor takes it.
            range: Earliest and latest time of wanted records, nanoseconds.
            record_filter: Which event records pass, of those that are wanted.
            ranks: For each data stream, this one last, its place in the order that
                decides ties.
        """

    def append(
        self,
        index: int,
        part: DataStream,
        *,
        classes: list[bool] | None = None,
        needed: list[bool] | None = None,
        range: tuple[int | None, int | None] = ...,  # noqa: A002 - as ranges
        record_filter: RecordFilter | None = None,
    ) -> None:
        """Add a part of a data stream that grows.

        Args:
            index: Index of the data stream.
            part: Its next part.
            classes: Which event record classes are wanted; all if ``None``.
            needed: Which ones a filter needs.
            range: Earliest and latest time of wanted records, nanoseconds.
            record_filter: Which event records pass, of those that are wanted.
        """

    def loosen(self, index: int, classes: list[bool]) -> None:
        """Let records of a data stream come out of the order of all of them.

        Each data stream stays in its own order.

        Args:
            index: Index of the data stream.
            classes: Which event record classes may come before or behind those of other
                data streams.
        """

    def set_certain(self, index: int, time: int) -> None:
        """Tell that nothing before a time is still to come of a data stream.

        Args:
            index: Index of the data stream, which grows.
            time: The time, nanoseconds from the clock's origin.
        """

    def end(self, index: int) -> None:
        """Tell that a data stream does not grow any more."""

    @property
    def waiting(self) -> list[int]:
        """Indexes of the data streams of which nothing is left.

        None, as long as reading can go on behind the last merge before one of them
        grows.
        """

@final
class EncodedPacket:
    """A packet that is in no file: its header and its context, encoded."""

    def __new__(
        cls,
        stream: DataStream,
        stream_id: int,
        context: dict[str, Any] | None = None,
        beginning: int | None = None,
    ) -> EncodedPacket:
        """Encode a packet.

        Args:
            stream: Its data stream.
            stream_id: ID of the data stream.
            context: The fields of its context that have no role.
            beginning: Clock value at which it begins.

        Raises:
            FieldValueError: A value does not fit its field class.
            UnknownFieldError: The context has no such field.
        """

    @property
    def number(self) -> int:
        """What tells it apart from other packets that live."""

@final
class MergeBuilder:
    """Makes merges of what is given in order, one thing after the other."""

    def __new__(cls) -> MergeBuilder: ...
    def __len__(self) -> int: ...
    def event(
        self,
        stream: DataStream,
        owner: object,
        packet: EncodedPacket,
        place: tuple[int, int],
        scopes: list[dict[str, Any] | None],
    ) -> None:
        """Encode an event record, and add it.

        Args:
            stream: Its data stream.
            owner: The object that represents the data stream for users.
            packet: Its packet.
            place: Index of its class in the stream class, and its clock value.
            scopes: The fields of its common context, its specific context and its
                payload.

        Raises:
            FieldValueError: A value does not fit its field class.
            UnknownFieldError: There is no such field.
        """

    def lost(
        self,
        stream: DataStream,
        owner: object,
        kind: str,
        count: int | None,
        beginning: int | None,
        end: int | None,
    ) -> None:
        """Add that event records or packets were lost.

        Args:
            stream: The data stream.
            owner: The object that represents it for users.
            kind: What was lost: ``events`` or ``packets``.
            count: How many, if that is known.
            beginning: Clock value at which the loss begins, if that is known.
            end: Clock value at which it ends.
        """

    def boundary(
        self,
        stream: DataStream,
        owner: object,
        kind: str,
        cycles: int | None = None,
        packet: EncodedPacket | None = None,
    ) -> None:
        """Add that a data stream or a packet begins or ends.

        Args:
            stream: The data stream.
            owner: The object that represents it for users.
            kind: Which of it, as :attr:`Merge.notices` has it.
            cycles: Clock value, if that is known.
            packet: The packet.
        """

    def inactivity(self, stream: DataStream, owner: object, cycles: int) -> None:
        """Add that nothing comes of a data stream up to a time.

        Args:
            stream: The data stream.
            owner: The object that represents it for users.
            cycles: Clock value.
        """

    def pass_notice(self, merge: Merge, index: int) -> None:
        """Add what another merge tells between its event records.

        Args:
            merge: The other merge.
            index: Index among its notices.
        """

    def take(
        self, step: Callable[[], object], add: Callable[[Any], object], most: int
    ) -> bool:
        """Add the messages that something gives, one after the other.

        Args:
            step: Gives the next one, or raises ``StopIteration`` after the last.
            add: Is called with those that are no event of a merge.
            most: How many are asked for.

        Returns:
            Whether there may be more.
        """

    def finish(self) -> Merge:
        """Return what was added so far; what is added then is the next merge."""

@final
class MergeMuxer:
    """Merges merges by time: those of inputs whose data streams nobody knows before."""

    def __new__(cls, count: int) -> MergeMuxer:
        """Begin with nothing.

        Args:
            count: The number of inputs.
        """

    def put(self, index: int, merge: Merge, keys: list[tuple[bytes, bytes]]) -> None:
        """Take the next merge of an input.

        Args:
            index: Index of the input.
            merge: The merge.
            keys: What decides about messages at the same time, for each of its data
                streams: by trace, class and ID, and by names.
        """

    def end(self, index: int) -> None:
        """Take notice that nothing more comes of an input.

        Args:
            index: Index of the input.
        """

    @property
    def needed(self) -> list[int]:
        """The inputs without which nothing can go on."""

    @property
    def has_ended(self) -> bool:
        """Whether all inputs have ended."""

    def merge(self) -> Merge:
        """Return what is certain so far."""

@final
class Merge:
    """A part of the merged order of event records, still encoded."""

    def __len__(self) -> int: ...
    def event(self, index: int) -> Event:
        """Return the event record at an index.

        Raises:
            IndexError: There is none.
        """

    def events(self) -> Iterator[Event]:
        """Iterate over all event records, in order."""

    @property
    def added_names(self) -> list[str]:
        """The names of the fields that filters added, each once."""

    @property
    def left_out(self) -> int:
        """In what :meth:`shown` returns, the events missing for their class alone."""

    def shown(self) -> Merge:
        """Return the merge without the event records that nobody wants to see.

        These are those that only a filter needed, and those that a filter hides.
        """

    def until_damage(self, overlooked: Sequence[str]) -> Merge:
        """Return what stands in front of the first damage.

        Args:
            overlooked: Kinds of damage that are none.
        """

    def without_early_losses(self, begins: Sequence[int | None]) -> Merge:
        """Return the same without what was lost before some times.

        Args:
            begins: The times, nanoseconds, one for each data stream.
        """

    def part(self, owners: Container[Any]) -> Merge:
        """Return a merge of some data streams, for a filter that sees no others.

        Args:
            owners: The objects that represent the data streams.
        """

    def select(self, record_filter: RecordFilter) -> None:
        """Hide the event records of which an expression is not true.

        Args:
            record_filter: Expressions about records of merges.
        """

    def select_classes(self, wanted: Sequence[list[bool] | None]) -> None:
        """Hide the event records of some classes.

        Args:
            wanted: For each data stream which of its event record classes are to stay;
                ``None`` for all.
        """

    def adopt(self, part: Merge) -> None:
        """Take over what a filter added to a part, and what it hides of it.

        Args:
            part: What :meth:`part` returned.
        """

    def within(self, trimmer: Trimmer) -> Merge:
        """Return what of a merge with boundaries is in a range of time.

        Args:
            trimmer: The range; the same for all merges of a reading, in their order.
        """

    def place(self, index: int) -> Any:
        """Return the object that a filter attached to an event record, or ``None``."""

    @property
    def counts(self) -> list[tuple[Any, int, int, int]]:
        """For each data stream with event records here: the object that represents it.

        With the number of its event records and the times of the first and the last
        one, nanoseconds.
        """

    @property
    def owners(self) -> list[Any]:
        """The objects that represent the data streams, in the order of these."""

    @property
    def run_count(self) -> int:
        """The number of runs: event records in a row of one data stream."""

    @property
    def notices(self) -> list[tuple[Any, ...]]:
        """Losses, damage, beginnings and ends; see :mod:`vestige.graph.notice`."""

    @property
    def time_span(self) -> tuple[int, int] | None:
        """Time of the first and the last event record, nanoseconds."""

@final
class MessageIterator:
    """The messages of merges, one after the other."""

    def __new__(
        cls,
        merges: Iterable[Merge],
        describe: Callable[[Any, int, list[str]], tuple[Any, ...]],
        make_notice: Callable[[Merge, int, tuple[Any, ...]], object],
    ) -> MessageIterator:
        """Iterate over merges.

        Args:
            merges: The merges; taken from when the last one is used up.
            describe: Called once with the object that represents a data stream, the
                index of an event record class and the names of the fields that filters
                added; returns the objects that stand for the
                event record class, its name, the data stream, its clock class or
                ``None``, and for payload, specific context, common context and packet
                context ``None`` or the Python class of its fields, its field class, and
                for each member its name, its index (``None`` if a filter has added
                it), the Python class of its fields and
                its field class.
            make_notice: Makes a message of what is no event, or ``None``; called with
                the merge, the index among its notices, and the entry there.
        """

    def __iter__(self) -> MessageIterator: ...
    def __next__(self) -> Any:
        """Return the next message.

        Raises:
            StopIteration: There is none left.
        """

    def take(self, count: int) -> list[Any]:
        """Return the next messages, fewer than asked for at the end.

        Args:
            count: How many.
        """

@final
class EventMessage:
    """An event of a merge as a message."""

    @property
    def event(self) -> MessageEvent:
        """The event."""

    @property
    def default_clock_snapshot(self) -> ClockSnapshot:
        """Its time.

        Raises:
            ValueError: Its stream class has no clock.
        """

    @property
    def addr(self) -> int:
        """A number of its own among the messages that live."""

@final
class MessageEvent:
    """The event of a message: its fields by their names, decoded when asked for."""

    @property
    def name(self) -> str | None:
        """Name of its class."""

    @property
    def id(self) -> int | None:
        """ID of its class."""

    @property
    def cls(self) -> Any:
        """Its class."""

    @property
    def stream(self) -> Any:
        """Its data stream."""

    @property
    def packet(self) -> Any:
        """Its packet."""

    @property
    def payload_field(self) -> Any:
        """Its payload, or ``None``."""

    @property
    def specific_context_field(self) -> Any:
        """Its specific context, or ``None``."""

    @property
    def common_context_field(self) -> Any:
        """Its common context, or ``None``."""

    @property
    def addr(self) -> int:
        """A number of its own among the events that live."""

    def __getitem__(self, name: object, /) -> Any:
        """Return the field of a name: of payload, contexts or packet, in this order.

        Raises:
            KeyError: There is none.
            TypeError: The name is no string.
        """

    def __contains__(self, name: str, /) -> bool: ...

@final
class ClockSnapshot:
    """The value of a clock at some time; compares as that number."""

    def __new__(
        cls, value: int, ns_from_origin: int, clock_class: object
    ) -> ClockSnapshot: ...
    @property
    def value(self) -> int:
        """The value, cycles."""

    @property
    def ns_from_origin(self) -> int:
        """The time, nanoseconds from the origin of the clock."""

    @property
    def clock_class(self) -> Any:
        """The object that stands for the clock class."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __lt__(self, other: object, /) -> bool: ...
    def __le__(self, other: object, /) -> bool: ...
    def __gt__(self, other: object, /) -> bool: ...
    def __ge__(self, other: object, /) -> bool: ...

@disjoint_base
class FieldBase:
    """A field of a message: a value of a field class."""

    _value: Any
    _class: Any

    def __new__(cls, value: object, field_class: object) -> Self: ...

class NumberFieldBase(FieldBase):
    """A field whose value is a number."""

    def __int__(self) -> int: ...
    def __float__(self) -> float: ...

@disjoint_base
class StructureFieldBase(FieldBase):
    """A structure: a scope of an event, or one that has a value.

    The value is a dictionary; its field class has a method ``_member`` that makes the
    field of a name of it, or ``None``.
    """

    def __getitem__(self, name: Any, /) -> Any:
        """Return the field of a name.

        Raises:
            KeyError: There is none.
            TypeError: The name is no string.
        """

    def _decoded(self) -> dict[str, Any]:
        """Return the plain values of all members, by their names."""

@final
class Trimmer:
    """A range of time that merges with boundaries are cut to, one after the other.

    What was begun before it begins with it, and what goes on behind it ends with it, as
    after Babeltrace 2's trimmer.
    """

    def __new__(cls, begin: int | None, end: int | None) -> Trimmer:
        """Make a range.

        Args:
            begin: Earliest time, nanoseconds from the origin; ``None`` for no limit.
            end: Latest time, included.
        """

    @property
    def has_ended(self) -> bool:
        """Whether nothing comes any more."""

@final
class EventIterator:
    """The event records of merges, one by one.

    Several threads may take from it: each event record goes to one of them.
    """

    def __new__(cls, merges: Iterable[Merge]) -> EventIterator:
        """Iterate over merges.

        Args:
            merges: The merges; taken from when the last one is used up.
        """

    def __iter__(self) -> EventIterator: ...
    def __next__(self) -> Event:
        """Return the next event record.

        Raises:
            StopIteration: There is none left, or the iterator is closed.
            ValueError: It is asked for while the same thread reads the next merge, as
                by a signal handler.
            ForkError: The process was forked since the reading began.
        """

    def close(self) -> None:
        """End the reading: there are no more event records, and files can be closed.

        Waits for a thread that is just reading.

        Raises:
            ValueError: The same thread is just reading, as below a signal handler.
        """

@final
class Event:
    """An event record, whose fields are decoded when they are asked for.

    It can be pickled and copied: that decodes all of it, and what comes out needs no
    trace any more.
    """

    def __getitem__(self, name: str, /) -> Any:
        """Decode a field.

        A name means the field of the payload, else of the specific context, else of the
        common context, else of the packet context. ``payload.NAME``,
        ``specific_context.NAME``, ``context.NAME`` and ``packet_context.NAME`` mean
        that of one scope.

        Integers become :class:`int`, enumerations
        :class:`~vestige.values.EnumerationValue`, floating point numbers
        :class:`float`, strings :class:`str`, arrays :class:`list`, structures
        :class:`dict`; a variant is the option that is selected.

        Raises:
            NoSuchFieldError: The event record has no such field; a :class:`KeyError`.
            TraceFormatError: The field cannot be decoded.
        """

    def __contains__(self, name: str, /) -> bool: ...
    def get(self, name: str, default: Any = None) -> Any:
        """Decode a field, or return ``default`` when there is no such field."""

    def keys(self) -> list[str]:
        """Return the names of all fields, the payload first.

        One that an earlier field has comes with its scope, such as ``context.ip``.
        """

    def _ipython_key_completions_(self) -> list[str]: ...
    def _repr_html_(self) -> str: ...
    @property
    def name(self) -> str | None:
        """Name of the event record class, such as ``provider:event``."""

    @property
    def class_id(self) -> int | None:
        """ID of the event record class."""

    @property
    def log_level(self) -> int | None:
        """Severity of the event record class, 0 (emergency) to 14 (debug)."""

    @property
    def timestamp(self) -> int | None:
        """Nanoseconds since the clock's origin, the Unix epoch for real time."""

    @property
    def datetime(self) -> datetime | None:
        """The time in UTC, cut to microseconds."""

    @property
    def cycles(self) -> int:
        """The raw clock value, cycles."""

    @property
    def stream(self) -> Any:
        """The data stream: a :class:`vestige.Stream`.

        Of an event record that was pickled, a :class:`vestige.StreamFacts`.
        """

    @property
    def file_offset(self) -> int:
        """Byte offset of the event record in its file."""

    @property
    def debug_info(self) -> Any:
        """A :class:`vestige.Place`, a :class:`vestige.Unresolved`, or ``None``."""

    @property
    def thread(self) -> int | None:
        """ID of the thread that made it, from ``tid`` or ``vtid`` of a context."""

    @property
    def process(self) -> int | None:
        """ID of the process, from ``pid`` or ``vpid`` of a context.

        Else from the trace environment, which has it in LTTng's per-PID traces.
        """

    @property
    def cpu(self) -> int | None:
        """Number of the CPU, from ``cpu_id`` of a context."""

    @property
    def process_name(self) -> str | None:
        """Name of the process, from ``procname`` of a context or the environment."""

    @property
    def payload(self) -> FieldsView:
        """The payload."""

    @property
    def context(self) -> FieldsView:
        """The common context: ``vpid``, ``ip`` and so on, and what filters added."""

    @property
    def specific_context(self) -> FieldsView:
        """The specific context."""

    @property
    def packet_context(self) -> dict[str, Any]:
        """The context of its packet, such as ``cpu_id``."""

@final
class FieldsView:
    """The fields of one scope of an event record: a read-only mapping."""

    def __getitem__(self, name: str, /) -> Any:
        """Decode a field.

        Raises:
            NoSuchFieldError: There is no such field; a :class:`KeyError`.
        """

    def __contains__(self, name: str, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def get(self, name: str, default: Any = None) -> Any:
        """Decode a field, or return ``default`` when there is no such field."""

    def keys(self) -> list[str]:
        """Return the names of the fields."""

    def _ipython_key_completions_(self) -> list[str]: ...
    def values(self) -> ValuesView[Any]:
        """Decode all fields and return their values."""

    def items(self) -> ItemsView[str, Any]:
        """Decode all fields and return them with their names."""

    def to_dict(self) -> dict[str, Any]:
        """Decode all fields."""

def copied_event(
    facts: dict[str, Any],
    scopes: tuple[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, Any]],
) -> Event:
    """Return an event record that needs no trace, as pickle makes them.

    Args:
        facts: Its attributes by name.
        scopes: The fields of packet, common and specific context and payload.
    """

def copied_fields(fields: dict[str, Any]) -> FieldsView:
    """Return the fields of a scope that need no trace, as pickle makes them.

    Args:
        fields: The fields.
    """

@final
class DetailsRenderer:
    """Renders merges with boundaries as Babeltrace 2's ``sink.text.details`` does."""

    def __new__(cls, options: Mapping[str, bool], describe: Any) -> DetailsRenderer:
        """Make a renderer.

        Args:
            options: The fields of
                :class:`vestige.components.sinks.text_details.DetailsOptions` by name.
            describe: Called once with the object that represents a data stream; returns
                its ID, its name or ``None``, the name of its trace or ``None``, the
                data streams of its trace as pairs of ID and class ID, and for each
                clock class whether it counts from the Unix epoch.
        """

    def write(self, merge: Merge, descriptor: int) -> int:
        """Write the text of a merge to a file descriptor.

        Args:
            merge: The merge.
            descriptor: An open file descriptor.

        Returns:
            The number of bytes written.

        Raises:
            TraceFormatError: An event record cannot be decoded; the text of all before
                it is written.
            OSError: The text cannot be written.
        """

    def render(self, merge: Merge) -> bytes:
        """Return the text of a merge.

        Raises:
            TraceFormatError: An event record cannot be decoded.
        """

@final
class MessageCounter:
    """Counts the messages of merges with boundaries, by their types.

    Counts are those of events, stream beginnings and ends, packet beginnings and ends,
    discarded events, discarded packets and inactivity, in this order.
    """

    def __new__(cls, step: int) -> MessageCounter:
        """Make a counter.

        Args:
            step: After how many messages the counts are told; 0 for never.
        """

    def add(self, merge: Merge) -> list[list[int]]:
        """Count the messages of a merge; return the counts each time they are due."""

    def finish(self) -> tuple[list[list[int]], list[int] | None]:
        """Return the counts if they are due, and those of the end unless they are."""

    @property
    def counts(self) -> list[int]:
        """The counts so far."""

@final
class TextRenderer:
    """Renders merges as Babeltrace 2's ``sink.text.pretty`` does, or as short lines."""

    @staticmethod
    def short(options: Mapping[str, Any], zone_offset: Any) -> TextRenderer:
        """Make a renderer of short lines, for people.

        Args:
            options: The fields of
                :class:`vestige.components.sinks.text_short.ShortTextOptions` by name.
            zone_offset: As below.
        """

    def __new__(cls, options: Mapping[str, bool], zone_offset: Any) -> TextRenderer:
        """Make a renderer.

        Args:
            options: The fields of
                :class:`vestige.components.sinks.text_pretty.TextOptions` by name.
            zone_offset: Called with seconds since the epoch; returns the offset of
                local time from UTC, seconds.
        """

    def write(self, merge: Merge, runs: tuple[int, int], descriptor: int) -> int:
        """Write the text of some runs to a file descriptor.

        Args:
            merge: The merge.
            runs: Index of the first run, and of the run behind the last.
            descriptor: An open file descriptor.

        Returns:
            The number of bytes written.

        Raises:
            TraceFormatError: An event record cannot be decoded; the text of all before
                it is written.
            OSError: The text cannot be written.
        """

    def render(self, merge: Merge) -> bytes:
        """Return the text of a whole merge.

        Raises:
            TraceFormatError: An event record cannot be decoded.
        """

    def time(self, nanoseconds: int) -> str:
        """Return a time as event records show it."""

@final
class Verifier:
    """Decodes all of some data streams, on all cores, in any order.

    The packets of a data stream are independent of each other, so this is faster than
    reading in order. It only tells whether all is right; what is wrong, a
    :class:`Muxer` tells.
    """

    def __new__(cls, streams: Sequence[DataStream]) -> Verifier:
        """Prepare to decode some data streams."""

    def step(self) -> bool:
        """Decode a part; return whether there is more to do."""

    @property
    def records(self) -> int | None:
        """The number of event records; ``None`` while there is more, or damage."""

@final
class PlaceColumn:
    """Gives each event record with a code address the index of its place.

    The scan of a merge stops where a process image may change, so that what was seen
    before is resolved under the image of that time.
    """

    def __new__(cls, field_name: str, state_events: Sequence[str]) -> PlaceColumn:
        """Make a column.

        Args:
            field_name: Name of the structure that is added to the common context.
            state_events: Names of the events at which the scan stops.
        """

    def look_at_stacks(self) -> None:
        """Let call stacks of programs in event records of the kernel have places, too.

        Their texts become the field ``callstack_user_names`` of the common context.
        """

    def keep_stacks(self) -> None:
        """Keep call stacks of programs and of the kernel for :meth:`merge_stacks`."""

    def merge_stacks(self, merge: Merge) -> tuple[list[int | None], list[int | None]]:
        """Return the call stacks of the event records of a merge.

        Args:
            merge: The last one that was ended.

        Returns:
            For each event record that :meth:`Merge.shown` leaves the number of that of
            its program, and of that of the kernel; ``None`` for none. A list is empty
            where no event record of the merge can have one.
        """

    def stack(self, number: int, is_kernel: bool) -> list[tuple[int, object]]:
        """Return a call stack, innermost address first.

        Args:
            number: Its number among those of its kind.
            is_kernel: Whether it is one of the kernel; functions that record are none
                of it.

        Returns:
            For each address what :attr:`Event.debug_info` would give; 2^64 - 1 stands
            for callers that are missing.

        Raises:
            IndexError: No call stack has that number.
        """

    def begin(self, merge: Merge) -> None:
        """Begin a merge."""

    def advance(self) -> tuple[int, int, int] | None:
        """Go on to the next stop.

        Returns:
            Index of the event record in the merge, its process space, process ID; or
            ``None`` at the end of the merge.
        """

    def take_pending(self) -> list[tuple[int, int, int]]:
        """Return the new addresses: process space, process ID, address.

        For those who only count: they get no places any more.
        """

    def pending(self) -> tuple[int, int, int] | None:
        """Return the next new address: process space, process ID, address.

        It is the lowest one of the process. Once there is none, all places are there.
        """

    def pending_until(self, last: int) -> list[int]:
        """Return a group of new addresses: from :meth:`pending` on, up to ``last``."""

    def add_places(
        self,
        last: int,
        texts: Sequence[tuple[str, str, str]],
        objects: Sequence[object],
    ) -> None:
        """Add the places of the next group, in the order of its addresses.

        Args:
            last: The last address of the group.
            texts: The texts of ``bin``, ``func`` and ``src``.
            objects: What :attr:`Event.debug_info` gives.

        Raises:
            ValueError: There are not as many of each as addresses.
        """

    def add_lookups(
        self,
        last: int,
        table: SymbolTable | IndexedTable | None,
        form: PlaceFormat | None,
        make: Callable[[Any], object],
    ) -> bool:
        """Look up the next group and add its places.

        Args:
            last: The last address of the group.
            table: The symbols of the object there; without, the object alone is known.
            form: How to write the places; without, their texts are empty.
            make: Makes what :attr:`Event.debug_info` gives for an address; it is
                called once, when somebody asks.

        Returns:
            Whether it was done: it is not when the index of the table lacks a unit.
        """

    def image_changed(self, space: int, vpid: int) -> None:
        """Tell that the image of a process changed."""

    def finish(self, merge: Merge) -> None:
        """End a merge: its event records have their places from now on."""

    def count(self, merge: Merge) -> None:
        """End a merge, of which only the number of records of each place is kept.

        Records that only a filter needed do not count.
        """

    @property
    def counts(self) -> list[int]:
        """For each place, in the order of :meth:`take_pending`, its counted records."""

    @property
    def without_place(self) -> int:
        """How many counted event records have no address to resolve."""

@final
class PlaceFormat:
    """Writes places in one mapped object: see :mod:`vestige.debuginfo.places`."""

    def __new__(
        cls,
        name: str,
        *,
        base: int | None,
        shift: int,
        mask: int,
        full_path: bool,
        demangle: bool,
        helpers: Sequence[str],
    ) -> PlaceFormat:
        """Make a form.

        Args:
            name: The name of the object, in the form to show.
            base: Where a position-independent object is mapped.
            shift: What makes an address of the process one of the file, modulo 2^64.
            mask: The bits of addresses in the file.
            full_path: Whether to write the whole paths of source files.
            demangle: Whether functions have their readable names.
            helpers: How the names of functions begin whose inlined calls are left out.
        """

    def texts(self, address: int, row: _SymbolRow | None = None) -> list[str]:
        """Return ``bin``, ``func`` and ``src`` of an address in the process.

        Args:
            address: The address.
            row: What :meth:`SymbolTable.lookup` says of it.
        """

_CodeRow: TypeAlias = tuple[int, int, str, str, int]
"""First address, number of addresses, path, function, first line."""

@final
class ChromeCalls:
    """Writes calls as rows of JSON for Chrome's trace viewer.

    Args:
        others: What is in place of functions that have no index: a name, and source
            file and line if they are known, both as texts of JSON.
    """

    def __new__(cls, others: tuple[str, str | None]) -> ChromeCalls: ...
    def add_calls(self, fold: CallFold) -> list[int]:
        """Take the calls that a fold keeps.

        Returns:
            The indexes of threads that had no calls before.
        """

    def name_thread(self, index: int, process: int, thread: int) -> None:
        """Tell process ID and thread ID of a thread, as the rows have them."""

    def name_functions(self, names: Sequence[tuple[str, str | None]]) -> None:
        """Tell what the next functions are called, in the order of their indexes.

        Args:
            names: The name of each, and source file and line if they are known, both as
                texts of JSON.
        """

    def take_rows(self, origin: int) -> str:
        """Return the rows of the calls that wait, each with a comma and a new line.

        Args:
            origin: From when on times are told, nanoseconds.
        """

@final
class CallFold:
    """Folds entries and exits of functions into call trees of addresses.

    The fold of a merge stops where a process image may change, so that new functions
    are looked up in the image of that time.
    """

    def __new__(
        cls,
        entries: Sequence[str],
        exits: Sequence[str],
        state_events: Sequence[str],
        *,
        code_events: Sequence[str] = ...,
        least: int | None = None,
    ) -> CallFold:
        """Make a fold.

        Args:
            entries: Names of the events at the entry of a function.
            exits: Names of the events at its exit.
            state_events: Names of the events at which the fold stops.
            code_events: Names of the events that tell of a code object: ``baddr``,
                ``memsz``, ``path``, ``func``, ``line``.
            least: For :meth:`select`, how long calls last at least, nanoseconds.
        """

    def keep_durations(self, longest: int) -> None:
        """Keep how long complete calls take; to be told before the first merge.

        Args:
            longest: How many of the longest calls of each function are kept.
        """

    def set_range(
        self, begin: int | None, end: int | None, streams: Sequence[DataStream]
    ) -> None:
        """Fold what is in a range of time, with calls cut at its ends.

        Entries and exits before it tell what is open where it begins. Calls that are
        open where it ends are cut there if the thread goes on behind it; of a thread
        whose data stream ends before that, they have no exit.

        Args:
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.
            streams: The data streams that are read.
        """

    def open_threads(self) -> list[tuple[int, int, int]]:
        """Return which threads have open calls, and share their data streams.

        Only reading on tells whether they go on behind a range of time.

        Returns:
            Process space, process ID and thread ID of each.
        """

    def add_going_on(self, threads: Sequence[tuple[int, int, int]]) -> None:
        """Tell which of :meth:`open_threads` go on behind the range of time.

        Args:
            threads: Process space, process ID and thread ID of each.
        """

    def choose_threads(
        self, threads: Sequence[tuple[int | None, int | None, int | None]]
    ) -> None:
        """Fold the calls of some threads alone.

        Args:
            threads: Process space, process ID and thread ID of each; ``None`` for any.
        """

    def keep_intervals(self, every: int = ...) -> None:
        """Keep what an index is made of; to be told before the first merge.

        Args:
            every: How many event records there are between two points where a reading
                may begin.
        """

    def take_index(
        self,
        facts: bytes,
        functions: Sequence[int],
        streams: Sequence[DataStream | None] | None = None,
    ) -> IntervalIndex | None:
        """Give the index away; to be called after :meth:`finish`.

        Args:
            facts: What it says of functions and threads.
            functions: For each function of the fold which one it is, from 0 on: some of
                them may be the same.
            streams: Of data streams that grow: what they are in the order of those with
                which the index is used; ``None`` for one that was not read. By default
                the index is used with the data streams that were read.
        """

    def copy(self) -> CallFold:
        """Return a fold that has read as much; each can go on by itself."""

    def keep_calls(
        self,
        functions: Sequence[int] | None = None,
        rows: Sequence[int] | None = None,
        least: int = 0,
    ) -> None:
        """Keep the calls themselves, for :meth:`take_calls`.

        Args:
            functions: The indexes of the functions that are wanted; all by default.
            rows: The indexes of the threads that are wanted; all by default.
            least: How long a call takes at least, nanoseconds.
        """

    def keep_all_calls(self) -> None:
        """Keep all calls, for :meth:`take_calls`.

        Also those that were not seen to begin, and those on paths that share a node.
        """

    def others(self, merge: Merge) -> list[int]:
        """Return the indexes of the event records that are no entries and no exits."""

    def take_blocks(self, origin: int) -> bytes:
        """Return the calls that ended as :meth:`IntervalIndex.blocks` has them.

        Args:
            origin: From when on starts count, nanoseconds.
        """

    def take_calls(self) -> tuple[int, bytes]:
        """Return the calls that ended since the last time: their number, and columns.

        One after the other, little-endian: row (uint32), depth (uint16), flags (uint8;
        1: open at the begin of the range, 2: no exit in it, 8: across a loss), index of
        the function (uint32), start (int64), duration, time without calls that it made
        (uint64), index of the caller or what is in its place (uint32), and what ended
        it as in :meth:`take_steps` (uint8).
        """

    @staticmethod
    def of_marks(
        entries: Sequence[str],
        exits: Sequence[str],
        joins: bool,
    ) -> CallFold:
        """Make a fold that has no trees, but says of event records what they are.

        Args:
            entries: Names of the events at the entry of a function.
            exits: Names of the events at its exit.
            joins: Whether the exit of a call that has nothing in it is hidden, if it is
                in the same merge as the entry.
        """

    def mark(self, merge: Merge) -> None:
        """Say of each event record how deep in calls it is, and how long one took.

        Args:
            merge: The next merge, for a fold of :meth:`of_marks`.
        """

    def loose_classes(
        self, stream: DataStream, *, only_calls: bool = False
    ) -> list[bool]:
        """Return which records of a data stream need not be in order with others.

        Entries and exits of threads that have a data stream of their own, and what the
        fold has no use for. Only for folds of whole calls; what is noted of them is in
        order for each thread alone.

        Args:
            stream: The data stream.
            only_calls: Whether other event records stay in order.

        Returns:
            For each event record class whether its records may come before or behind
            those of other data streams.
        """

    def begin(self, merge: Merge) -> None:
        """Begin a merge.

        A call of which a filter hides the entry is in no tree: its time is that of its
        caller.
        """

    def advance(self, end: int | None = None) -> tuple[int, int, int] | None:
        """Go on to the next stop.

        Args:
            end: Index of an event record to which to go at most.

        Returns:
            Index of the event record in the merge, its process space, process ID (-1
            if not told); or ``None`` at the end of the merge or before that record.
        """

    def take_sites(self) -> list[tuple[int, int, int]]:
        """Return the call sites up to the next stop of which nothing is known yet.

        Each as process space, process ID, address.
        """

    def add_sites(self, sites: Sequence[tuple[int, int, int, int]]) -> None:
        """Tell in which functions call sites are.

        An entry from a site in an outer function ends the calls above that function:
        a jump left them.

        Args:
            sites: Process space, process ID, address, and the address of the
                function that it is in, 0 if that is not known.
        """

    def end_process(self, space: int, vpid: int) -> None:
        """Tell that a process executes another program: its calls are over.

        Of threads with a data stream of their own nothing is done, since the program
        gets another one.
        """

    def forget(self, space: int, vpid: int, first: int, last: int) -> None:
        """Tell that the addresses from first to last may be other functions now."""

    def forget_codes(self, space: int, vpid: int) -> bool:
        """Tell that the code objects of a process are gone.

        Returns:
            Whether there were any.
        """

    def find_code(self, space: int, vpid: int, address: int) -> _CodeRow | None:
        """Return the code object at an address, at this time of its process."""

    @property
    def has_codes(self) -> bool:
        """Whether the traces tell of code objects."""

    def take_functions(self) -> list[tuple[int, int, int, _CodeRow | None]]:
        """Return the new functions: process space, process ID, address, code.

        Their indexes go on from those of the last call. Code objects of the same path,
        name and first line are one function, whatever their addresses and processes.
        """

    def finish(self) -> None:
        """End all calls that are still open."""

    def nodes(
        self,
    ) -> list[
        tuple[
            tuple[int, int],
            tuple[int, int, int, int, int, int],
            tuple[int, int, int, int, int],
        ]
    ]:
        """Return the nodes of the call trees, callers before callees.

        Index of the caller's node (of itself: a root), index of the function (that of
        an index, if the fold was made by one) or what is
        in its place (2^32 - 1: root, - 2: after a loss, - 3: merged paths); calls,
        complete ones, those across a loss, without exit, without entry, cut by the
        range of time; then times in nanoseconds: total, self, all complete calls, the
        shortest and the longest one.
        """

    def add_turns(
        self, space: int, vtid: int, times: Sequence[int], states: Sequence[int]
    ) -> None:
        """Take what the scheduler did to a thread; to be told before the first merge.

        Args:
            space: Process space.
            vtid: Thread ID.
            times: When its state changed, nanoseconds, in order.
            states: What it did from then on: 1, it ran; 2, it waited for a CPU; 3, it
                waited for anything else; 0, nobody knows.
        """

    def turns(self) -> list[tuple[int, int, int]]:
        """Return what the scheduler did during the calls of each of :meth:`nodes`.

        How long their threads ran, waited for a CPU and for anything else, nanoseconds;
        of calls within each other, that of the outermost. Nothing where nobody told.
        """

    def durations(
        self,
    ) -> list[tuple[int, list[tuple[int, int]], list[tuple[int, int, int]]]]:
        """Return how long the complete calls of functions took, if that is kept.

        Index of the function; index and count of each bucket with any; duration, begin
        (nanoseconds) and index of the node of its longest calls, the longest first.
        Bucket 32 b + s, with s < 32, has what begins at s for b = 0, else at
        (32 + s) 2^(b - 1). Functions of which not all calls are in buckets are not
        there.
        """

    def threads(
        self,
    ) -> list[tuple[int, int, int, int, int, int, int, int, bool]]:
        """Return the threads in the order in which they were seen.

        Process space, process ID, thread ID (-1 if not told), index of the root
        among the nodes, time of the first and the last entry or exit (nanoseconds),
        exits that tell no function and have no entry, losses, whether exits tell which
        function is left.
        """

    def note_steps(self) -> None:
        """Note each begin and end of a call from now on, for :meth:`take_steps`."""

    def take_steps(self) -> list[tuple[int, int, int, int]]:
        """Return the steps that were noted since the last call.

        Each as time (nanoseconds), index of the thread, index of the function, and what
        happens: 4 a call begins; the innermost call of its thread ends, 0 complete, 1
        across a loss, 2 without exit, 5 cut by the range of time; 3 one ends that was
        not seen to begin.
        """

    @property
    def calls(self) -> int:
        """How many entries and exits there were."""

    @property
    def left_out(self) -> int:
        """How many of them are in no tree, since there are too many threads."""

    @property
    def hidden_calls(self) -> int:
        """How many calls are in no tree, since a filter hides them."""

    @property
    def threads_unknown(self) -> bool:
        """Whether threads share data streams and nothing tells them apart."""

    @property
    def is_merged(self) -> bool:
        """Whether some paths share nodes, since there are too many."""

    def select(self, merge: Merge) -> None:
        """Hide the entries and exits of short calls in the next merge.

        The merges are those of a second reading, after the fold has seen all of the
        first one.
        """

@final
class BlockLevels:
    """Intervals of any kind as blocks of a timeline, at several levels of detail."""

    def __new__(cls) -> BlockLevels:
        """Make levels without a block."""

    def add(self, intervals: Sequence[tuple[int, int, int, int, int]]) -> None:
        """Add intervals; those of a row in the order of time.

        Args:
            intervals: Index of the row, number of what it is, flags, begin and duration
                (nanoseconds) of each.
        """

    def finish(self) -> None:
        """End all blocks; to be called once, before they are asked for."""

    def levels(self) -> tuple[int, list[tuple[int, int]]]:
        """Return what :meth:`IntervalIndex.levels` does."""

    def blocks(self, level: int, begin: int, end: int, origin: int) -> bytes:
        """Return what :meth:`IntervalIndex.blocks` does.

        Args:
            level: The level.
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.
            origin: From when on starts count, nanoseconds.
        """

@final
class IntervalIndex:
    """What is kept of traces, so that they need not be read again.

    The calls as blocks of a timeline at several levels of detail, all other event
    records likewise, and points of time at which it is known what is open.
    """

    @staticmethod
    def from_bytes(data: bytes, path: str | None = None) -> IntervalIndex | None:
        """Read an index; ``None`` if the bytes are none, or of another version.

        Args:
            data: The bytes.
            path: A file that ends with them, and that nobody else can write to: blocks
                are read from there when they are wanted, instead of being kept.
        """

    def to_bytes(self) -> bytes:
        """Return it as the bytes of a file."""

    @property
    def facts(self) -> bytes:
        """What it says of functions and threads, as it was given."""

    def rows(
        self,
    ) -> tuple[
        list[tuple[int, int, int, int, int, int, int, int]],
        list[tuple[int, int, int, int, int, int, int, int]],
    ]:
        """Return who made entries and exits, and who made other event records.

        Each with the number of its data stream (2^32 - 1: any), process space, process
        ID and thread ID (-1 if not told), time of the first and the last one
        (nanoseconds), number of event records, and how many of them are entries.
        """

    def levels(self) -> tuple[int, list[tuple[int, int]]]:
        """Return the number of the finest level, and what each shows from it on.

        That is how long a call is at least that is a block of its own (nanoseconds),
        and how many blocks of calls there are.
        """

    @property
    def points(self) -> int:
        """How many points there are at which a reading may begin."""

    def blocks(self, level: int, begin: int, end: int, origin: int) -> bytes:
        """Return the blocks of a level of which any part is in a range of time.

        As columns, little-endian, one after the other: row (uint32), depth (uint16),
        flags (uint8; 1: open at the begin, 2: no exit, 4: several calls, 8: across a
        loss, 16: no calls but other event records), index of the function (uint32),
        start (uint64, from the origin on), duration (uint64), number (uint32), time of
        all calls together (uint64). The rows of other event records come behind those
        of calls.

        Args:
            level: The level; a finer one than there is means the finest.
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.
            origin: From when on starts count, nanoseconds.
        """

    def packed(self, level: int, origin: int) -> bytes | None:
        """Return all blocks of a level as :meth:`grouped` packs them.

        Args:
            level: The level; a finer one than there is means the finest.
            origin: From when on starts count, nanoseconds.
        """

    def other_spans(self, begin: int, end: int) -> list[tuple[int, int]]:
        """Return the parts of a range in which there are records that are no calls.

        Begin and end of each, nanoseconds, both included, in order.

        Args:
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.
        """

    @staticmethod
    def grouped(columns: bytes) -> bytes | None:
        """Pack blocks, as :meth:`blocks` returns them, for a page in a browser.

        Returns:
            The number of groups, then row, depth and number of blocks of each (uint32,
            little-endian); then columns of numbers in seven bits a byte, the lowest
            first: time since the end of the block before in the group, duration,
            index of the function, number of calls, time that is in no call, flags.
            ``None`` if the bytes are no such columns, or blocks of a group overlap.
        """

    def fold(
        self, entries: Sequence[str], exits: Sequence[str], begin: int, end: int
    ) -> tuple[CallFold, int | None]:
        """Return a fold of what is in a range of time, both ends included.

        Its functions have the indexes that they have here; those that are not known get
        indexes behind them.

        Args:
            entries: Names of the events at the entry of a function.
            exits: Names of the events at its exit.
            begin: First time, nanoseconds.
            end: Last time, nanoseconds.

        Returns:
            The fold, and from when on it must see event records; all if ``None``.
        """

@final
class PerfettoWriter:
    """Writes calls and events as a trace of Perfetto, part by part."""

    def __new__(cls) -> PerfettoWriter:
        """Make a writer of a trace."""

    def add_calls(self, fold: CallFold) -> None:
        """Add the steps of calls that a fold has noted since the last time."""

    def add_events(self, merge: Merge, fold: CallFold) -> None:
        """Add the event records of a merge that are no entries or exits of functions.

        Args:
            merge: The merge.
            fold: The fold of the calls of the same traces.
        """

    def end_spans(self) -> None:
        """End the slices of spans that are open, where nothing comes after."""

    def add_loss(
        self, what: str, count: int | None, begin: int | None, end: int | None
    ) -> None:
        """Add a loss of the tracer.

        Args:
            what: What was lost, for people.
            count: How many, if that is known.
            begin: Earliest time of it, nanoseconds.
            end: Latest time of it, nanoseconds.
        """

    def take_tracks(self) -> list[tuple[int, int, int, int, int, int | None]]:
        """Return the tracks that are new, which are to be described before writing.

        Index, number of the data stream if the thread is known by that, process space,
        process ID and thread ID (-1 if not told), and CPU of the first event.
        """

    def describe_process(self, space: int, vpid: int, name: str) -> None:
        """Tell what a process is called; again, when that is known later."""

    def describe_track(self, index: int, name: str) -> None:
        """Tell what a track is called, after its process."""

    def name_functions(self, names: Sequence[str]) -> None:
        """Tell the names of the next functions, in the order of their indexes."""

    @property
    def waiting(self) -> int:
        """How many bytes wait."""

    def write(self, descriptor: int) -> int:
        """Write what waits to a file descriptor.

        All functions that were called must have names.

        Returns:
            The number of bytes.
        """

@final
class ColumnLayout:
    """The columns of a selection: names, types, and how records get into them."""

    def __new__(
        cls,
        streams: Sequence[tuple[DataStream, int, list[bool] | None]],
        *,
        columns: list[str] | None = None,
        labels: bool = True,
        dictionary: bool = False,
        time: str | None = None,
        added: list[str] = ...,
        batch_size: int,
    ) -> ColumnLayout:
        """Lay out columns.

        Args:
            streams: For each data stream its handle, its ID and which event record
                classes are wanted (all if ``None``).
            columns: Names of the wanted columns in order; all of them by default.
            labels: Whether enumerations become labels instead of integers.
            dictionary: Whether strings are encoded with a dictionary.
            time: ``timestamp``, ``duration`` or ``integer``; by default what the
                clocks tell.
            added: Names of the structures of source places that filters add to events.
            batch_size: Most rows of a record batch.

        Raises:
            KeyError: A wanted column does not exist; its arguments are the name and a
                list of those that do.
        """

    @property
    def names(self) -> list[str]:
        """The names of the columns in order."""

    def schema(self) -> object:
        """Return the schema as a capsule named ``arrow_schema``."""

    def stream(self, merges: Any, on_error: Any) -> object:
        """Return record batches as a capsule named ``arrow_array_stream``.

        Args:
            merges: An iterable of merges; taken from while the stream is read.
            on_error: Called with the exception that ends the stream early.
        """

    def write_text(self, merges: Any, form: str, descriptor: int) -> int:
        """Write the rows of merges to a file descriptor; return their number.

        Args:
            merges: An iterable of merges.
            form: ``jsonl`` or ``csv``; the latter begins with the names.
            descriptor: An open file descriptor.

        Raises:
            TraceFormatError: An event record cannot be decoded; all rows before it are
                written.
            OSError: The text cannot be written.
        """

    def drain(self, merges: Any) -> int:
        """Decode all record batches and drop them; return the number of rows.

        Raises:
            TraceFormatError: An event record cannot be decoded.
        """

@final
class Repair:
    """Writes what is left of a damaged data stream."""

    def __new__(cls, stream: DataStream) -> Repair:
        """Prepare a data stream; it has to be read to its end next."""

    def read(self) -> int | None:
        """Read some of it; return how many bytes, or ``None`` at its end."""

    def write(
        self, file: int, path: str, progress: Callable[[int], object]
    ) -> tuple[int, int, int, int, int]:
        """Write what is left of one of its files to a new file.

        Args:
            file: Index of the file in :attr:`DataStream.paths`.
            path: The new file.
            progress: Called now and then with the number of bytes since the last call.

        Returns:
            How many packets are intact, mended, cut and left out, and how many bytes.

        Raises:
            OSError: A file cannot be read or written.
        """

@final
class FunctionPlan:
    """How the entries of an object's functions can be rewritten."""

    @staticmethod
    def make(
        main: ObjectFile, others: Sequence[ObjectFile], *, only_sites: bool
    ) -> FunctionPlan:
        """Plan an object.

        Args:
            main: The object that is loaded.
            others: Files with its symbols, such as its debug file.
            only_sites: Whether to leave out functions at whose entries the compiler
                left no room.

        Raises:
            DebugInfoError: The file is damaged.
        """

    @property
    def refusal(self) -> str | None:
        """Why the object is left alone, after its name; ``None`` if it is not."""

    @property
    def build_id(self) -> bytes:
        """Of the object; empty for one that is left alone."""

    def functions(self) -> list[tuple[int, int, str, str | None, str | None, bool]]:
        """Return address, size, name, method and the reason against recording of each.

        The name is as stored, and empty where only unwind tables have the function. One
        of method (``site`` or ``moved``) and reason is ``None``. The last says whether
        people would miss it: parts of other functions and the start of programs have
        a reason, too.
        """

    def counts(self) -> tuple[int, int]:
        """Return how many functions are planned, and how many people would miss."""

    def rows(self) -> bytes:
        """Return the names of the functions that are planned or missed.

        For each, with zeros between: ``+`` or ``-``, its address in hexadecimal
        digits, a space and its name as stored.
        """

    def to_bytes(self) -> bytes:
        """Return the plan as the tracer reads it."""

    @staticmethod
    def choose(plan: bytes, addresses: AbstractSet[int]) -> bytes:
        """Take functions out of a plan.

        Args:
            plan: All of them, as the tracer reads it.
            addresses: Where those begin that are wanted.

        Returns:
            A plan with these alone.

        Raises:
            ValueError: It is no plan.
        """

@final
class ObjectFile:
    """An ELF file: what identifies it and where its code is."""

    @staticmethod
    def open(path: str | PathLike[str]) -> ObjectFile:
        """Open a regular file, which may be compressed as a whole (xz, zstd, gzip).

        Raises:
            DebugInfoError: It cannot be read or is no ELF file.
        """

    @property
    def path(self) -> str:
        """Path of the file."""

    @property
    def identity(self) -> tuple[int, int, int, int] | None:
        """Device, inode, size and time of change (ns) of the file that was opened."""

    @property
    def is_pic(self) -> bool:
        """Whether it can be loaded anywhere (``ET_DYN``)."""

    @property
    def is_relocatable(self) -> bool:
        """Whether it is to be linked, or loaded as a module (``ET_REL``).

        Its sections with code have file addresses that only Vestige gives them.
        """

    @property
    def code_sections(self) -> list[tuple[str, int, int]]:
        """Name, file address and size of each section with code."""

    @property
    def machine(self) -> str:
        """Name of the machine."""

    @property
    def bits(self) -> int:
        """32 or 64."""

    @property
    def big_endian(self) -> bool:
        """Byte order."""

    @property
    def build_id(self) -> bytes | None:
        """The build ID of its note, whatever its section's name."""

    @property
    def debug_link(self) -> tuple[bytes, int] | None:
        """File name and CRC-32 of ``.gnu_debuglink``."""

    @property
    def debug_alt_link(self) -> tuple[bytes, bytes] | None:
        """File name and build ID of the supplementary file (dwz, DWARF 5).

        The name is as stored: relative to the directory of this file, or absolute.
        """

    def mini_debug_info(self) -> ObjectFile | None:
        """Unpack the symbols in ``.gnu_debugdata`` (MiniDebugInfo).

        Raises:
            DebugInfoError: They cannot be unpacked.
        """

    @property
    def split_units(self) -> list[tuple[int, bytes, bytes]]:
        """The units whose entries are in other files (``-gsplit-dwarf``).

        For each: ``dwo_id``, name of the ``.dwo`` file, directory of the compilation.

        Raises:
            DebugInfoError: The debug information is damaged.
        """

    @property
    def has_dwarf(self) -> bool:
        """Whether it has debug information about code.

        Raises:
            DebugInfoError: The debug information is damaged.
        """

    def assume_dwarf(self) -> None:
        """Take it that it has debug information about code, as an index of it shows."""

    @property
    def has_symbols(self) -> bool:
        """Whether it has a ``.symtab``."""

    @property
    def text_base(self) -> int:
        """Address of the first segment with code: ``_text`` in a file of Linux."""

    @property
    def link_base(self) -> int:
        """The address that corresponds to the base address at run time."""

    @property
    def text_ranges(self) -> list[tuple[int, int]]:
        """Executable segments: first address, and the one behind the last."""

    def signature(
        self, address: int
    ) -> (
        tuple[list[tuple[str, tuple[str, int], str, int]], tuple[str, int] | None]
        | None
    ):
        """Return what a function takes and gives, and where that is at its entry.

        For each parameter its name, its type, and its place with a number:
        ``register`` (by DWARF's numbers), ``frame`` (bytes above the canonical frame
        address), ``constant`` (the value), ``conventional`` (where the calling
        convention has it), ``scattered`` or ``missing``. Then the type of the result,
        ``None`` for none. A type is ``int``, ``uint``, ``bool``, ``ptr``, ``str``,
        ``float`` or ``other``, with its size.

        Args:
            address: Where the function begins, in the object.

        Returns:
            All of that; ``None`` if debug information in this file does not have it.

        Raises:
            DebugInfoError: The file is damaged.
        """

_SymbolRow: TypeAlias = tuple[
    str | None,
    int,
    str | None,
    str | None,
    int | None,
    int | None,
    list[tuple[str | None, str | None, int | None, str | None]],
    str,
    str | None,
    str | None,
]

@final
class SymbolTable:
    """Functions and source lines by file address."""

    def __new__(
        cls,
        debug: ObjectFile,
        main: ObjectFile | None = None,
        *,
        supplement: ObjectFile | None = None,
        mini: ObjectFile | None = None,
        package: ObjectFile | None = None,
        split: Sequence[tuple[int, str | PathLike[str]]] | None = None,
    ) -> SymbolTable:
        """Make a table from a debug file and the object it belongs to.

        The other files may be of the wrong object or damaged: see :attr:`problems`.

        Args:
            debug: The file to prefer: the debug file, or the object itself.
            main: The object, when the debug file is another file.
            supplement: What :attr:`ObjectFile.debug_alt_link` names.
            mini: What :meth:`ObjectFile.mini_debug_info` gives.
            package: The ``.dwp`` file, which has all split units.
            split: ``dwo_id`` and path of each ``.dwo`` file, opened when it is needed.

        Raises:
            DebugInfoError: A symbol table cannot be read.
        """

    @property
    def problems(self) -> list[str]:
        """What of the files beside is missing or damaged.

        A ``.dwo`` file is only noticed once a lookup has needed it.
        """

    def lookup(self, addresses: list[int]) -> list[_SymbolRow]:
        """Look up file addresses.

        Returns:
            For each: function, offset from its entry, directory, file, line, column,
            inlined frames (function, path, line, linkage name; innermost first), the
            source of the answer, the reason when there is no function, and the
            function's linkage name.
        """

    def answer(self, text: bytes, writer: AnswerWriter) -> tuple[bytes, list[int]]:
        """Answer for each line of ``text`` as text.

        Args:
            text: Lines of addresses in hexadecimal form; the last has no newline.
            writer: Writes the answers.

        Returns:
            The answers, and the numbers, from 0, of lines that are no address.
        """

    def use_index(self, index: UnitIndex) -> None:
        """Take units from an index of the same debug information, not decoding them."""

    def take_index_part(self, key: bytes) -> bytes | None:
        """Return the units decoded since the last call, as a part of an index.

        ``None`` when there are none, or when a limit on work has cut some of them.
        """

    @property
    def dwarf_problem(self) -> str | None:
        """Why debug information that is there cannot be used."""

@final
class UnitIndex:
    """The files of the index of one object's debug information."""

    def __new__(cls, paths: list[str], key: bytes) -> UnitIndex:
        """Open the parts at these paths that were made for ``key``."""

    @property
    def is_empty(self) -> bool:
        """Whether no part can be used."""

    @property
    def useless(self) -> list[str]:
        """The paths of damaged or foreign parts, as far as lookups have met them."""

    def merged(self, key: bytes) -> bytes | None:
        """Return all units that are stored, as one part."""

@final
class IndexedTable:
    """Functions and source lines by file address, from an index alone."""

    def __new__(
        cls, index: UnitIndex, debug: ObjectFile, main: ObjectFile | None = None
    ) -> IndexedTable:
        """Combine an index that is not empty with the symbols of both files.

        Raises:
            DebugInfoError: A symbol table cannot be read.
        """

    def lookup(self, addresses: list[int]) -> list[_SymbolRow] | None:
        """Look up as :meth:`SymbolTable.lookup`; ``None`` where a unit is lacking."""

    def answer(
        self, text: bytes, writer: AnswerWriter
    ) -> tuple[bytes, list[int]] | None:
        """Answer as :meth:`SymbolTable.answer`; ``None`` where a unit is lacking."""

@final
class AnswerWriter:
    """Writes answers about one object in one form."""

    def __new__(
        cls,
        *,
        bits: int,
        name: bytes,
        json: tuple[str, str, str],
        reasons: dict[str, str],
        addr2line: tuple[bool, bool, bool, bool, bool, bool] | None = None,
        people: tuple[bool, bool] | None = None,
    ) -> AnswerWriter:
        """Take the form, and what answers say of the object.

        Args:
            bits: The width of its addresses.
            name: Its name without directories.
            json: Its path, its build ID and the source of its names, each as JSON.
            reasons: A phrase for each reason that a lookup gives, for ``no-line``, a
                function without a line, and for ``no-address``, a line that is none.
            addr2line: The form of ``addr2line``: functions, inlines, addresses, base
                names, demangle, pretty.
            people: The form for people: demangle, verbose. Without both it is JSON.
        """

    def write(
        self,
        address: int | None,
        *,
        has_object: bool,
        function: tuple[str, int] | None = None,
        frames: Sequence[tuple[str | None, str | None, int | None, str | None]] = ...,
        column: int | None = None,
        reason: str | None = None,
    ) -> bytes:
        """Write an answer that is known.

        Args:
            address: The address; ``None`` where there was none to look up.
            has_object: Whether an object is known there.
            function: The function, and the distance from its entry.
            frames: Function, file, line and linkage name of each frame, innermost
                first; the last one is ``function``.
            column: The column of the innermost frame.
            reason: Why there is no function, or no line.

        Returns:
            Its lines, each with its newline.
        """

@final
class CopyLayout:
    """The metadata of a copy of a trace.

    Args:
        trace_class: The metadata of the trace.
        version: Version of the copy, ``1.8`` or ``2``; that of the trace when ``None``.
        discarded_events: Whether it tells how many event records were discarded.
        discarded_packets: Whether it tells how many packets were discarded.
        epoch_origin: Whether all clocks count from the Unix epoch, whatever the
            metadata say.
        merge: A merge with what filters add to the common context.

    Raises:
        GraphError: The version cannot have a field class.
    """

    def __new__(
        cls,
        trace_class: TraceClass,
        version: str | None = None,
        *,
        discarded_events: bool = True,
        discarded_packets: bool = True,
        epoch_origin: bool = False,
        merge: Merge | None = None,
    ) -> CopyLayout: ...
    @property
    def metadata(self) -> str:
        """The text of the metadata."""

@final
class MergeCopy:
    """Data streams of merges that are copied, each to a file."""

    def __new__(cls) -> MergeCopy: ...
    def add(
        self, stream: DataStream, layout: CopyLayout, stream_id: int, path: str
    ) -> None:
        """Add a data stream and make its file.

        Args:
            stream: The data stream that is copied.
            layout: The metadata of the copy.
            stream_id: ID of the data stream in the copy.
            path: The file, which must not exist.

        Raises:
            StorageError: The file cannot be made.
        """

    def unknown(self, merge: Merge) -> list[Any]:
        """Return the objects of the data streams that were not added."""

    def learn(self, stream: DataStream, layout: CopyLayout) -> None:
        """Go on with the metadata of a trace that has more event record classes.

        Args:
            stream: A data stream that was added.
            layout: The metadata of the copy.

        Raises:
            TraceFormatError: The headers of the copy would be others.
        """

    def consume(self, merge: Merge) -> None:
        """Copy the event records of a merge, its packets and its losses.

        Raises:
            StorageError: A file cannot be written.
            TraceFormatError: A field has a value that the copy cannot have.
        """

    def finish(self) -> None:
        """End the packets that are open.

        Raises:
            StorageError: A file cannot be written.
        """

@final
class EventLayout:
    """How event records of a class are written.

    Args:
        trace_class: Metadata in which the stream class has that class alone.
        stream: Index of the stream class.
        name: Name of the event record class, for errors.
    """

    def __new__(
        cls, trace_class: TraceClass, stream: int, name: str
    ) -> EventLayout: ...

@final
class StreamWriter:
    """A data stream that is written, in whole packets.

    Args:
        trace_class: The metadata.
        stream: Index of the stream class.
        path: The file, which must not exist.
        id: ID of the data stream.
        packet_size: Most bytes of a packet, unless a record alone is longer.
        latest: Greatest time stamp that readers can show.

    Raises:
        StorageError: The file cannot be created.
    """

    def __new__(
        cls,
        trace_class: TraceClass,
        stream: int,
        path: str,
        id: int,  # noqa: A002 - the name that CTF has for it
        packet_size: int,
        latest: int,
    ) -> StreamWriter: ...
    @staticmethod
    def in_memory(
        trace_class: TraceClass,
        stream: int,
        id: int,  # noqa: A002 - as above
        packet_size: int,
        latest: int,
    ) -> StreamWriter:
        """Write a data stream to memory; its packets are there for :meth:`take`."""

    def take(self) -> bytes:
        """End the packet, and return all packets that were written to memory since."""

    def write(
        self,
        layout: EventLayout,
        time: int,
        context: dict[str, Any] | None,
        fields: dict[str, Any],
    ) -> None:
        """Write an event record, or nothing of it.

        Args:
            layout: Its class.
            time: Clock value.
            context: Members of common and specific context.
            fields: Members of the payload.

        Raises:
            WriteError: One of its kinds: see :mod:`vestige.errors`.
        """

    def write_many(
        self,
        layout: EventLayout,
        times_given: Any,
        context: dict[str, Any] | None,
        fields: dict[str, Any],
    ) -> int:
        """Write event records from columns: all, or none unless the file is full.

        Args:
            layout: Their class.
            times_given: Clock values: a buffer or a list.
            context: Columns of members of common and specific context.
            fields: Columns of members of the payload.

        Returns:
            The number of event records.

        Raises:
            WriteError: One of its kinds: see :mod:`vestige.errors`.
        """

    def set_context(self, fields: dict[str, Any]) -> None:
        """Set the fields of the packet context, for packets from now on."""

    def discard(self, count: int) -> None:
        """Count event records that were not written."""

    def flush(self) -> None:
        """End the packet and write it."""

    def close(self) -> None:
        """End the packet, write it and close the file."""

    @property
    def last(self) -> int:
        """Time stamp of the last event record."""

def set_most_open_files(count: int) -> None:
    """Set how many files of traces and of debug information stay open at once.

    Beyond that, those that were not used lately are closed, and opened again when they
    are read.

    Args:
        count: Number of files; at first, there is no limit.
    """

def demangle(name: str) -> str | None:
    """Return the name as written in the source of a linkage name of C++ or Rust.

    Returns:
        The name, or ``None`` when it is not mangled or not well formed.
    """

def file_crc32(path: str | PathLike[str]) -> int:
    """Return the CRC-32 of a file (IEEE 802.3), as debug links record it.

    Raises:
        DebugInfoError: The file cannot be read.
    """

def packet_of_notice(merge: Merge, index: int) -> tuple[int, dict[str, Any] | None]:
    """Return what a notice says about a packet that begins or ends.

    Args:
        merge: The merge.
        index: Index among its notices.

    Returns:
        A number that tells the packet apart from others that live, and the plain values
        of its context, by the names of the fields; ``None`` without a context.

    Raises:
        IndexError: The notice is about no packet.
        TraceFormatError: The context does not fit the data.
    """
