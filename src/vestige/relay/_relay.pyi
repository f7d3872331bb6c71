"""What a relay daemon does with bytes: connections that are read, streams in files.

Threads read connections, answer what needs no judgement and write packets, without the
interpreter lock. Commands that need a decision are handed on, one at a time for each
connection.
"""

from typing import Any, Final, TypeAlias, final

__all__ = [
    "Chunk",
    "Directory",
    "Follower",
    "Relay",
    "Stream",
    "__interface__",
    "__version__",
]

_Event: TypeAlias = tuple[str, int, int, tuple[Any, ...]]
"""What has happened, to which connection, stream or trace chunk, the minor version of
the protocol, and what belongs to it.

``"closed"``: a connection has ended; the problem, or ``None``. ``"stream-full"`` (there
is no space for its packets), ``"stream-ended"`` and ``"chunk-left"`` have nothing. All
others are commands, which are to be answered.
"""

_Progress: TypeAlias = tuple[
    int, int, int, int, int, int, int, int, int | None, int | None, bool
]
"""Packets that are in an index file, bytes of metadata, rotations, new beginnings of
metadata, bytes of packets, packets for which there was no space and their bytes, the
number of the data file, up to when there is no event (cycles of the clock), the data
stream class, whether nothing more will come.
"""

__version__: Final[str]
__interface__: Final[bytes]
"""This file without its docstrings, as it was when the module was built."""

@final
class Relay:
    """Threads that read connections.

    Args:
        threads: How many; one at least.
        most_files: Files of streams that are open at once, a third of them for
            viewers; others are opened again when they are needed.
        most_memory: Bytes of memory that peers may cause to be used, three quarters of
            them for one peer. What goes beyond that ends the connection.

    Raises:
        OSError: There are no threads or descriptors left.
    """

    def __new__(cls, threads: int, most_files: int, most_memory: int) -> Relay: ...
    def fileno(self) -> int:
        """Return the descriptor that is readable once there are events."""

    def take(self) -> list[_Event]:
        """Return what has happened since it was last asked for."""

    def add_control(self, descriptor: int, peer: str) -> int:
        """Read commands from a socket from now on; return the connection's number.

        Args:
            descriptor: The socket, which is no longer the caller's.
            peer: Who connects: all connections and sessions of one share its memory.

        Raises:
            OSError: It is none.
        """

    def add_data(self, descriptor: int) -> int:
        """Read packets from a socket from now on; return the connection's number.

        Args:
            descriptor: The socket, which is no longer the caller's.

        Raises:
            OSError: It is none.
        """

    def idle(self) -> list[tuple[int, float]]:
        """Return the connections that have nothing to do with a session.

        Returns:
            Of each its number, and for how long it has been there, seconds.
        """

    def is_running(self) -> bool:
        """Tell whether all threads go on."""

    @property
    def memory(self) -> int:
        """Bytes of memory that peers cause to be used, as they are counted."""

    def reply(self, connection: int, reply: bytes, session: int | None = None) -> None:
        """Answer the command for which a connection waits.

        Args:
            connection: Its number; of one that has ended, nothing comes.
            reply: What is sent.
            session: The number of the session that was created, if one was.
        """

    def end_connection(self, connection: int, problem: str) -> None:
        """End a connection, after what was answered before.

        Args:
            connection: Its number.
            problem: Why; it comes back as that of its end.
        """

    def new_chunk(self, number: int) -> Chunk:
        """Return a trace chunk that nobody has but the caller."""

    def add_stream(
        self,
        session: int,
        directory: Directory,
        channel: bytes,
        *,
        is_metadata: bool,
        index_minor: int | None,
        file_bytes: int,
        file_count: int,
        most_metadata: int,
    ) -> Stream:
        """Begin a stream: its first data file is made.

        Args:
            session: The number of its session.
            directory: Where its files are.
            channel: The name of its files, which is that of one file.
            is_metadata: Whether it is the metadata of a trace.
            index_minor: The minor version of the protocol in which indexes come;
                ``None`` if they do not.
            file_bytes: The size of a data file; 0 for any.
            file_count: How many data files there are at once; 0 for any.
            most_metadata: Bytes of metadata that it may have.

        Raises:
            OSError: The file cannot be made.
        """

    def stop(self) -> None:
        """End all connections and threads; what has come until then is written."""

@final
class Chunk:
    """A trace chunk: once nobody has it any more, that is told."""

    def directory(self, descriptor: int) -> Directory:
        """Return a directory of it.

        Args:
            descriptor: The directory, opened; it stays the caller's.

        Raises:
            OSError: It is none.
        """

@final
class Directory:
    """A directory of a trace chunk; it is the same when the chunk is moved."""

@final
class Stream:
    """A stream."""

    @property
    def number(self) -> int:
        """Its number, by which peers know it."""

    def progress(self) -> _Progress:
        """Return how far it is."""

    def follow(self) -> Follower:
        """Return what reads its packets, from the oldest of this trace chunk on."""

    def read_metadata(self, at: int, most: int) -> bytes:
        """Return metadata that has come, of the present trace chunk.

        Args:
            at: The first byte.
            most: No more bytes than these.

        Raises:
            OSError: It cannot be read, or the stream has none.
        """

    def rotate(self, at: int, directory: Directory | None) -> None:
        """Go on elsewhere from a packet on, now or once those before it are there.

        Metadata goes on at once, and comes anew.

        Args:
            at: The first packet there, as its tracer counts.
            directory: Where; ``None`` if it is in no trace chunk from then on.

        Raises:
            OSError: It is about to go on elsewhere, or a file cannot be made.
        """

@final
class Follower:
    """A reader of the packets of a stream, in their order.

    It keeps the files open that it reads, so that it can when they have been removed.
    """

    def take(self) -> bytes | None:
        """Return the next entry of the index, as its file has it.

        Files that have been removed before it came to them are passed over.

        Returns:
            Seven numbers of eight bytes, nine from peers since 2.8, the highest byte
            first; ``None`` if there is none yet, which is for good once the stream has
            ended.

        Raises:
            OSError: An index file cannot be read.
        """

    def pass_all(self) -> None:
        """Go on with what is not in the index yet, however much is."""

    def read(self, at: int, count: int) -> bytes:
        """Return a part of the data file in which the last packet is.

        Args:
            at: The first byte.
            count: How many bytes.

        Raises:
            OSError: There are less, or they cannot be read.
        """
