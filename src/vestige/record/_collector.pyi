"""The collector of the recorder: takes records out of shared memory, writes data files.

Traced programs write to an *arena*, a file in memory that is mapped by all of them; the
collector writes what is complete to the files of the trace, on threads of its own and
without the interpreter lock.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Final, TypeAlias, final

__all__ = [
    "Collector",
    "FullPackets",
    "LoadedObjects",
    "LoadedState",
    "Outcome",
    "PacketFollower",
    "PlanRequest",
    "Progress",
    "__interface__",
    "__version__",
    "act_by_default",
    "counter",
    "exchange",
    "look_at_abandoned",
    "recover",
    "remove_abandoned",
]

_LiveSlot: TypeAlias = tuple[int, int, int, str]
"""Process ID and thread ID as the thread sees them, the inode of its PID namespace
(0 if it is not known), and its name."""

_LoadedObject: TypeAlias = tuple[int, int, bytes, bool, bytes, tuple[bytes, int] | None]
"""Where an object's first segment is, bytes from there to the end of its last, its path
as the process sees it, whether it is position-independent, its build ID (empty if there
is none), and its debug link: a file name and the CRC-32 of that file."""

_Unreached: TypeAlias = tuple[int, int, int, int, str]
"""Process ID, 0 if it is not known; that of its parent, then; the inode of the PID
namespace of both; the reason as the agreement numbers it; the program's name."""

_Failure: TypeAlias = tuple[int | None, str, str]
"""Number of the system's error, its text, and the file."""

__version__: Final[str]
__interface__: Final[bytes]
"""This file without its docstrings, as it was when the collector was built."""

@final
class Collector:
    """An arena, and the threads that collect what programs write to it.

    Args:
        directory: The trace; it exists, belongs to the user, and others cannot write to
            it.
        uuid: The UUID of the trace, 16 bytes.
        fingerprint: A number of 64 bits; a tracer that has another one records nothing.
        chunk_bytes: Memory of a packet, a multiple of 4096.
        ring: Most chunks of a thread, from 2 to 64.
        arena_size: Most bytes of all chunks.
        thread_chunks: So many chunks more, which get memory as threads begin: one for
            each.
        slots: Most threads at the same time.
        wait_ns: How long a thread waits for memory while nothing is written, in
            nanoseconds; 0 is not at all. By default ten seconds.
        overwrite: Whether the oldest packets make room for new ones.
        max_size: Most bytes of all files of the trace; 0 is no limit.
        rules: The rules of the tracer, in its form.
        first_class: The ID of the first event class that programs register.
        class_bytes: Most bytes of the texts of event classes.
        user: The user ID whose programs record; ``None`` is the one of this process.
        cpu_rings: So many CPUs have rings, which threads on them share; 0: no sharing.
        overwrite_rings: Whether a thread with all chunks but one gives up its oldest.
        file_bytes: Most bytes of a file of a data stream, which goes on in the next
            one; 0 is no limit.
        file_count: So many files of a stream are kept, the newest; 0 is all of them.
        switch_ns: After it, what was recorded is written at the latest, in nanoseconds;
            0, and more than a second, is a second.
        read_ns: Full packets are looked for at least as often, and programs do not call
            the kernel to say that there are some; 0: they do.
        live_ns: After it, all is written, and ``.live`` tells until when; 0: never.
        channel: What the files of CPUs are called before their number; empty is
            ``channel0``, as LTTng calls those of its first channel.
        keep: Whether nothing is written but snapshots; rings of threads that have ended
            stay, as many as there are processors.
        keep_states: Whether what processes say of their state is kept for chunks that
            begin later, see :meth:`archive`.
        owner: The user, the group and all groups with whose rights files of the trace
            are touched, for root; ``None`` are those of this process. The programs of
            this user record, and no others.
        shared_memory: Where the arena is made, by default ``/dev/shm``; if nothing can
            be made there, or it has less than 32 MiB left, the arena is in the trace.

    Raises:
        OSError: A file cannot be made, or the directory cannot be trusted.
        ValueError: A size is none that an arena can have.
    """

    def __new__(
        cls,
        directory: str | PathLike[str],
        uuid: bytes,
        *,
        fingerprint: int = 0,
        chunk_bytes: int = 65536,
        ring: int = 64,
        arena_size: int = 268435456,
        thread_chunks: int = 0,
        slots: int = 16384,
        wait_ns: int = ...,
        overwrite: bool = False,
        max_size: int = 0,
        rules: bytes = ...,
        first_class: int = 0,
        class_bytes: int = 16777216,
        user: int | None = None,
        cpu_rings: int = 0,
        overwrite_rings: bool = False,
        file_bytes: int = 0,
        file_count: int = 0,
        switch_ns: int = 0,
        read_ns: int = 0,
        live_ns: int = 0,
        channel: str = ...,
        keep: bool = ...,
        keep_states: bool = ...,
        owner: tuple[int, int, list[int]] | None = None,
        shared_memory: str | PathLike[str] = ...,
    ) -> Collector: ...
    @staticmethod
    def attach(
        directory: str | PathLike[str],
        *,
        owner: tuple[int, int, list[int]] | None = None,
        shared_memory: str | PathLike[str] = ...,
    ) -> Collector:
        """Take over arenas whose collector is gone; programs may go on.

        Args:
            directory: The trace; its file ``.arena`` names the arenas.
            owner: As above.
            shared_memory: Where arenas of other users are made.

        Returns:
            A collector that has not been started.

        Raises:
            OSError: An arena has a collector, is none, or a file cannot be opened.
        """

    def expect(self, programs: int) -> None:
        """Keep memory for the first records of programs, which may begin at once.

        Args:
            programs: How many were told to record, all together.
        """

    def cut(
        self,
        directory: str,
        processes: Sequence[tuple[int, int, int, bytes, bytes]] = ...,
        loaded: LoadedState | None = None,
    ) -> None:
        """End a chunk of the trace, and go on in another directory.

        What programs have committed up to now is written before; they go on meanwhile.
        A stream begins a new file there, and goes on with its numbers.

        Args:
            directory: Where the next chunk is to be. It is empty, and gets a copy of
                the metadata; or it has metadata without event classes of programs.
            processes: What they have loaded is there before anybody finds the chunk,
                see :meth:`write_state`, which replaces it.
            loaded: What they have loaded.

        Raises:
            OSError: It cannot be written to, or the memory itself lies in the directory
                of the trace. All goes on as before.
        """

    def archive(self, directory: str) -> None:
        """Move what was recorded up to now to another directory, and go on here.

        What programs have committed is written before; they go on meanwhile. The next
        chunk begins with what processes have said of their state, if that is kept.

        Args:
            directory: It exists and is empty; it gets a copy of the metadata.

        Raises:
            OSError: It cannot be moved. What was not goes to the next chunk.
        """

    def clear(self) -> None:
        """Throw away what was recorded up to now, also what is in no file yet.

        The metadata stay.

        Raises:
            OSError: A file cannot be removed.
        """

    def set_monotonic(self) -> None:
        """Take ``CLOCK_MONOTONIC`` for the clock of the trace, and not the counter."""

    def now(self) -> int:
        """Return the time now, as records have it."""

    def write_state(
        self,
        processes: Sequence[tuple[int, int, int, bytes, bytes]],
        loaded: LoadedState,
        time: int | None = None,
    ) -> None:
        """Write a state dump, as a data stream of its own.

        Where nothing is written but snapshots, it is kept for each of them, in place of
        the one before.

        Args:
            processes: Of each its ID here and as it sees it, the inode of the PID
                namespace of that, its name, and the contexts that its records have.
            loaded: What they have loaded; those that are not there are left out.
            time: When that was, see :meth:`now`; ``None`` is when the present chunk
                began, after :meth:`cut` or :meth:`clear`. Then it is before all other
                records, also where one was made earlier and appended later.

        Raises:
            OSError: It cannot be written.
        """

    def hand_over(self) -> Outcome:
        """Write what is there, and stop, so that another process can take over.

        Returns:
            What the recording holds now; ``running`` are the threads that go on.
        """

    def snapshot(
        self,
        directory: str | PathLike[str],
        *,
        most: int = ...,
        owner: tuple[int, int, list[int]] | None = ...,
    ) -> tuple[int, int, int, int]:
        """Copy what all rings hold now, which stays there, to data files elsewhere.

        Args:
            directory: Where; it exists, and has no data files.
            most: Chunks of all rings together, the newest of each; by default all.
            owner: As of the class, of that directory.

        Returns:
            How many streams, packets and bytes it has, and how many packets their
            threads gave up while they were copied.

        Raises:
            OSError: It cannot be written.
        """

    def copy(self, directory: str | PathLike[str]) -> tuple[int, int]:
        """Write what is in memory, and copy all files of the trace as they are then.

        Args:
            directory: Where; it exists and is empty.

        Returns:
            How many files it has, and their bytes; an ``OSError`` if that cannot be.
        """

    @property
    def arena_path(self) -> str:
        """The file of the arena of the user who records."""

    @property
    def arena_fd_info(self) -> tuple[int, int, int]:
        """Device, inode and length in bytes of that file."""

    @property
    def inodes(self) -> list[int]:
        """Inodes of the files of all arenas: each user who is recorded has one."""

    @property
    def socket(self) -> tuple[str, str]:
        """Where programs ask that cannot open their arena, and what they have to say.

        The name of an abstract socket and a token, 32 hexadecimal digits; both are
        empty where there can be no socket. A program gets the arena of its user, which
        is made then. Only root can make one for another user.
        """

    def make_inherited(self) -> int:
        """Make a socket for programs that cannot reach the named one, before the start.

        Programs inherit it, and ask over it as over the named one.

        Returns:
            Its descriptor, which belongs to the collector and is closed by ``exec``.

        Raises:
            OSError: There can be none.
        """

    def set_inherited(self, descriptor: int) -> None:
        """Go on with the socket of a collector before, before the start.

        Args:
            descriptor: That collector's :attr:`inherited`.

        Raises:
            OSError: It is none.
        """

    @property
    def inherited(self) -> int | None:
        """The collector's end of the socket that programs inherit, if there is one."""

    def open_requests(self) -> int:
        """Let programs ask for plans that are not there, before the start.

        Returns:
            A descriptor that is readable when one asks; it belongs to the collector.

        Raises:
            OSError: There can be none.
        """

    def take_request(self) -> PlanRequest | None:
        """Return the next request of a program; ``None`` while there is no more."""

    def start(self) -> None:
        """Begin to collect; programs may record when it returns.

        Raises:
            OSError: There can be no thread, or it was started before.
        """

    def progress(self) -> Progress:
        """Tell how far the recording is.

        Returns:
            Counts of now.
        """

    def hold(self, is_held: bool) -> None:
        """Write nothing for the moment, or go on; a close writes all the same."""

    def let_watch(self) -> None:
        """Let the user who records, and root, ask how far that is, before the start.

        They connect to the :attr:`socket` and say ``vestige-progress``.
        """

    def live_slots(self) -> list[_LiveSlot]:
        """Give the threads that record and of which the kernel said nothing else.

        Returns:
            One entry a thread.
        """

    def forget_process(self, vpid: int, pid_namespace: int) -> None:
        """Take all threads of a process for ended, though the kernel said nothing.

        Args:
            vpid: The process ID as the process sees it.
            pid_namespace: The inode of its PID namespace.
        """

    def close(self, deadline: float = 10.0, *, keep_losses: bool = False) -> Outcome:
        """Write all that there is, and let no program record any more.

        What a disk refuses is tried again until the time is over. What is left then
        stays in the arena, which is named in the file ``.arena`` of the trace:
        :func:`recover` writes it later. Without a rest the arena is removed.

        Args:
            deadline: How long to try, in seconds.
            keep_losses: Whether an arena stays that alone knows of losses, until
                :meth:`remove`.

        Returns:
            What the recording holds.
        """

    def remove(self) -> None:
        """Remove arenas of which all is in files, after :meth:`close`."""

@final
class PlanRequest:
    """A program waits for the plan of an object, or tells that it left one alone.

    It does not wait any more when this is deleted.
    """

    @property
    def process(self) -> int:
        """ID of the process, as the kernel says; 0 in a PID namespace that hides it."""

    @property
    def user(self) -> int:
        """ID of its user, as the kernel says."""

    @property
    def is_of_program(self) -> bool:
        """Whether the object is the program itself."""

    @property
    def is_refusal(self) -> bool:
        """Whether nothing is asked for: ``path`` says why an object was left alone."""

    @property
    def build_id(self) -> str:
        """Hexadecimal digits."""

    @property
    def path(self) -> str:
        """The file of the object, as the program sees it.

        Of a refusal: a word that says why, a space, the name of the object.
        """

    def give(self, path: str | PathLike[str]) -> bool:
        """Give the program a file to read.

        Args:
            path: The file.

        Returns:
            Whether the program waited for it, and the file could be opened.
        """

    def decline(self) -> bool:
        """Say that there is nothing to do.

        Returns:
            Whether the program waited for it.
        """

@final
class LoadedObjects:
    """Looks at what processes have loaded, without asking them; remembers files.

    What cannot be read is left out: another user's process, a file that is no longer
    there. Nothing waits for a process, or for a file that is none.
    """

    def __new__(cls) -> LoadedObjects: ...
    def read(
        self, processes: Sequence[int], before: LoadedState | None = None
    ) -> LoadedState:
        """Look at processes; each file that they have mapped is looked at once.

        Args:
            processes: Their IDs, as this process sees them.
            before: What they had a moment ago. The answer is what they had at any time
                since then: a process that is gone keeps its objects, and objects that
                cannot have been there together are left out.

        Returns:
            What they have.
        """

@final
class LoadedState:
    """What processes have loaded.

    Args:
        objects: By process, what was known of it earlier, see :meth:`objects`. What
            cannot be is left out: an object beyond the end of memory, a name with a
            zero.

    Raises:
        OverflowError: A number is larger than it can be.
        TypeError: Something is of another type.
    """

    def __new__(cls, objects: Mapping[int, Sequence[_LoadedObject]]) -> LoadedState: ...
    @property
    def processes(self) -> list[int]:
        """The processes of which something is known."""

    def only(self, processes: Sequence[int]) -> LoadedState:
        """Return what some of the processes have loaded.

        Args:
            processes: Those; what is not known of them is left out.
        """

    def objects(self, process: int) -> list[_LoadedObject]:
        """The objects of a process that have code, by their addresses.

        The vDSO, which is no file, is not among them.

        Args:
            process: Its ID.

        Returns:
            All of them; none if nothing is known.
        """

@final
class Progress:
    """How far a recording is."""

    @property
    def bytes(self) -> int:
        """Bytes written to data files."""

    @property
    def packets(self) -> int:
        """Packets written to data files."""

    @property
    def lost(self) -> int:
        """Event records that were lost and counted."""

    @property
    def lost_packets(self) -> int:
        """Packets that rings gave up for newer ones."""

    @property
    def unwritten(self) -> int:
        """Bytes of records that are in memory and not in files yet."""

    @property
    def fullest(self) -> int:
        """Of these, the ones of the fullest ring: of a CPU or a thread."""

    @property
    def streams(self) -> int:
        """Data streams."""

    @property
    def live(self) -> int:
        """Threads that have a part of the arena."""

    @property
    def chunks(self) -> int:
        """Chunks that have memory."""

    @property
    def free_chunks(self) -> int:
        """Of those, the ones that no thread has."""

    @property
    def is_full(self) -> bool:
        """Whether the size limit was reached."""

    @property
    def is_damaged(self) -> bool:
        """Whether a program took memory of the arena away."""

    @property
    def failure(self) -> _Failure | None:
        """The first error of writing, if there was one."""

@final
class Outcome:
    """What a recording holds when it is closed."""

    @property
    def streams(self) -> int:
        """Data streams."""

    @property
    def packets(self) -> int:
        """Packets written to data files."""

    @property
    def bytes(self) -> int:
        """Bytes written to data files."""

    @property
    def lost(self) -> int:
        """Event records that were lost and counted."""

    @property
    def lost_unplaced(self) -> int:
        """Of those, the ones that no data stream tells: their threads found no slot."""

    @property
    def lost_unbegun(self) -> int:
        """Of those, the ones of threads that never had a packet."""

    @property
    def lost_untold(self) -> int:
        """Of those, the ones that no packet tells yet, after :meth:`hand_over`.

        A collector that takes over counts them again.
        """

    @property
    def most_threads(self) -> int:
        """The highest place of a thread: some hundred more than were taken at once."""

    @property
    def overwritten(self) -> int:
        """Bytes that made room for newer ones."""

    @property
    def lost_packets(self) -> int:
        """Packets that rings gave up for newer ones."""

    @property
    def is_full(self) -> bool:
        """Whether the size limit was reached."""

    @property
    def is_damaged(self) -> bool:
        """Whether programs damaged an arena: losses there that nobody has counted."""

    @property
    def problems(self) -> list[str]:
        """What went wrong, for people."""

    @property
    def unreached(self) -> list[_Unreached]:
        """Programs that are not recorded, as was told when they were started."""

    @property
    def more_unreached(self) -> int:
        """How many more there were."""

    @property
    def running(self) -> list[_LiveSlot]:
        """Threads that may go on, but record no more."""

    @property
    def is_drained(self) -> bool:
        """Whether all is in files; if not, the rest is in the arena."""

    @property
    def failure(self) -> _Failure | None:
        """The first error of writing, if there was one."""

def recover(
    directory: str | PathLike[str], arena_path: str | PathLike[str], told: int = 0
) -> Outcome:
    """Write what is left in an arena whose collector was killed, and remove the arena.

    Doing it again, after it was interrupted, goes on where it was. Losses that no data
    stream tells are nowhere but in the arena: it is only removed when the trace tells
    them.

    Args:
        directory: The trace.
        arena_path: The arena, as the file ``.arena`` of the trace names it.
        told: How many of those losses the trace tells already.

    Returns:
        What was written now. ``running`` are threads that go on; what they recorded up
        to now is in the trace.

    Raises:
        OSError: A file cannot be opened, or the arena has a collector that lives
            (:class:`BlockingIOError`).
    """

def look_at_abandoned(
    arena_path: str | PathLike[str],
) -> tuple[str, int, int, bool, int, int, bool] | None:
    """Tell what an arena says of itself whose collector was killed.

    Args:
        arena_path: A file in shared memory.

    Returns:
        The directory of its trace, as it was called when the recording began, its
        device and its inode; whether it would be called so here: not in another mount
        namespace, nor below another root directory; bytes of memory; threads that go on
        to write; whether programs were told to record nothing more. ``None`` if it is
        another user's, no arena, or has a collector.

    Raises:
        OSError: It cannot be opened, or is damaged.
    """

def remove_abandoned(arena_path: str | PathLike[str]) -> bool:
    """Remove an arena whose collector was killed, and what is in it.

    Args:
        arena_path: A file in shared memory.

    Returns:
        Whether it was removed: not if a collector has it by now, or a thread goes on to
        write to it.

    Raises:
        OSError: It cannot be removed.
    """

def counter() -> int:
    """Read the counter that the tracer reads where it runs at one rate.

    Returns:
        Its value: of the time-stamp counter on x86-64, else of ``CLOCK_MONOTONIC``.
    """

def act_by_default(number: int) -> None:
    """Let a signal do its default action to this process; Python is not told of it.

    Args:
        number: The signal.
    """

@final
class FullPackets:
    """Full packets of rings that programs of LTTng-UST write, one for each CPU.

    Args:
        rings: Of each, the descriptor of its file, its bytes, those of a sub-buffer,
            how many sub-buffers there are, where it says of the first one that it is
            full, and where that is.

    Raises:
        OSError: A ring cannot be mapped.
        ValueError: The sub-buffers are no powers of two.
    """

    def __new__(
        cls, rings: list[tuple[int, int, int, int, int, int]]
    ) -> FullPackets: ...
    def copy(self, places: list[tuple[int, int, int, int, int, int]]) -> list[int]:
        """Copy what is full to files, and give each sub-buffer back at once.

        It is done without the interpreter lock. What is rare is left: packets whose
        sizes make no sense, and those that do not fit or cannot be written.

        Args:
            places: Of each ring, the descriptors of its file, of the data file and of
                the index (negative for none), both where they end, how many bytes the
                data file has, how many it may still get, and the number of the last
                packet that it has (negative for none). A ring without a data file stays
                as it is.

        Returns:
            How many bytes each data file got.
        """

@final
class PacketFollower:
    """A thread that does so whenever it is woken by programs; it is held at first.

    Args:
        rings: As of :class:`FullPackets`.
        wakes: The end of the pipe of programs that is read.
        wake: Its other end.
        left: The end of a pipe where it says that there is something that it cannot
            do. None of the three may block; each is duplicated.

    Raises:
        OSError: A ring cannot be mapped, or there is no thread.
        ValueError: The sub-buffers are no powers of two.
    """

    def __new__(
        cls,
        rings: list[tuple[int, int, int, int, int, int]],
        wakes: int,
        wake: int,
        left: int,
    ) -> PacketFollower: ...
    def hold(self) -> list[int]:
        """Let it do nothing any more.

        Returns:
            How many bytes each data file got since it was held last.
        """

    def go_on(self, places: list[tuple[int, int, int, int, int, int]]) -> None:
        """Let it go on; all descriptors stay open until it is held again.

        Args:
            places: As of :meth:`FullPackets.copy`.
        """

    def end(self) -> None:
        """End it."""

def exchange(file: int, at: int, expected: int, new: int) -> int:
    """Change a word of memory that programs share, by one atomic operation.

    Args:
        file: The descriptor of the file that they map, open for reading and writing.
        at: Where the word of 8 bytes is, a multiple of 8.
        expected: What is to be replaced; if something else is there, it stays.
        new: What replaces it.

    Returns:
        What was there.

    Raises:
        OSError: The file does not reach so far, also if it is cut meanwhile.
        ValueError: The place is no multiple of 8.
    """
