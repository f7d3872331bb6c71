"""The iterators of components: those that make messages, and those that take them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....core import MessageIterator, Trimmer
from ..checks import check_int
from ..errors import TryAgain
from ..messages import made_messages as made

__all__ = ["upstream_iterator"]


class _MessageIteratorConfiguration:
    """What an iterator says of itself."""

    def __init__(self) -> None:
        self.can_seek_forward = False
        """Whether it can go to a later time without giving what is before it."""


class _MessageIterator:
    """Any iterator over messages."""

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        raise NotImplementedError


class _UserMessageIterator(_MessageIterator):
    """An iterator that a component gives for an output port."""

    _component_of: Any
    _port_of: Any
    _config: _MessageIteratorConfiguration

    def __init__(self, config: Any, self_output_port: Any) -> None:
        """Do nothing: whoever wants to, replaces it."""

    @property
    def addr(self) -> int:
        """A number of its own."""
        return id(self)

    @property
    def _component(self) -> Any:
        return self._component_of

    @property
    def _port(self) -> Any:
        return self._port_of

    @property
    def _is_interrupted(self) -> bool:
        return bool(self._component_of._facts.interruption.is_set)

    def _user_finalize(self) -> None:
        """Do nothing, as above."""

    def _create_message_iterator(self, input_port: Any) -> Any:
        return upstream_iterator(input_port)

    def _create_event_message(
        self, event_class: Any, parent: Any, default_clock_snapshot: Any = None
    ) -> made._EventMessage:
        stream, packet = parent, None
        if hasattr(parent, "_stream"):
            stream, packet = parent._stream, parent
        _check_clock(stream._cls, default_clock_snapshot)
        if stream._cls._supports_packets and packet is None:
            raise ValueError(
                "stream class supports packets: expected a packet as parent"
            )
        return made._EventMessage(event_class, stream, packet, default_clock_snapshot)

    def _create_message_iterator_inactivity_message(
        self, clock_class: Any, clock_snapshot: int
    ) -> made._MessageIteratorInactivityMessage:
        return made._MessageIteratorInactivityMessage(clock_class, clock_snapshot)

    def _create_stream_beginning_message(
        self, stream: Any, default_clock_snapshot: int | None = None
    ) -> made._StreamBeginningMessage:
        return made._StreamBeginningMessage(stream, default_clock_snapshot)

    def _create_stream_end_message(
        self, stream: Any, default_clock_snapshot: int | None = None
    ) -> made._StreamEndMessage:
        return made._StreamEndMessage(stream, default_clock_snapshot)

    def _create_packet_beginning_message(
        self, packet: Any, default_clock_snapshot: int | None = None
    ) -> made._PacketBeginningMessage:
        stream_class = packet._stream._cls
        wanted = stream_class._packets_have_beginning_default_clock_snapshot
        _check_snapshot("packet beginnings", default_clock_snapshot, wanted=wanted)
        packet._beginning = default_clock_snapshot
        return made._PacketBeginningMessage(packet, default_clock_snapshot)

    def _create_packet_end_message(
        self, packet: Any, default_clock_snapshot: int | None = None
    ) -> made._PacketEndMessage:
        stream_class = packet._stream._cls
        wanted = stream_class._packets_have_end_default_clock_snapshot
        _check_snapshot("packet ends", default_clock_snapshot, wanted=wanted)
        return made._PacketEndMessage(packet, default_clock_snapshot)

    def _create_discarded_events_message(
        self,
        stream: Any,
        count: int | None = None,
        beg_clock_snapshot: int | None = None,
        end_clock_snapshot: int | None = None,
    ) -> made._DiscardedEventsMessage:
        if not stream._cls._supports_discarded_events:
            raise ValueError("stream class does not support discarded events")
        wanted = stream._cls._discarded_events_have_default_clock_snapshots
        _check_snapshot("discarded events", beg_clock_snapshot, wanted=wanted)
        _check_snapshot("discarded events", end_clock_snapshot, wanted=wanted)
        return made._DiscardedEventsMessage(
            stream, count, beg_clock_snapshot, end_clock_snapshot
        )

    def _create_discarded_packets_message(
        self,
        stream: Any,
        count: int | None = None,
        beg_clock_snapshot: int | None = None,
        end_clock_snapshot: int | None = None,
    ) -> made._DiscardedPacketsMessage:
        if not stream._cls._supports_discarded_packets:
            raise ValueError("stream class does not support discarded packets")
        wanted = stream._cls._discarded_packets_have_default_clock_snapshots
        _check_snapshot("discarded packets", beg_clock_snapshot, wanted=wanted)
        _check_snapshot("discarded packets", end_clock_snapshot, wanted=wanted)
        return made._DiscardedPacketsMessage(
            stream, count, beg_clock_snapshot, end_clock_snapshot
        )


def _check_clock(stream_class: Any, cycles: int | None) -> None:
    has_clock = stream_class._default_clock_class is not None
    _check_snapshot("events", cycles, wanted=has_clock)


def _check_snapshot(what: str, cycles: int | None, *, wanted: bool) -> None:
    if wanted and cycles is None:
        raise ValueError(f"{what} have default clock snapshots for this stream class")
    if cycles is not None and not wanted:
        raise ValueError(
            f"{what} have no default clock snapshots for this stream class"
        )


class _Pull:
    # The merges that come in, as far as there are any now.

    def __init__(self, flow: Iterator[Any]) -> None:
        self._flow = flow
        self.waits = False

    def __iter__(self) -> _Pull:
        return self

    def __next__(self) -> Any:
        merge = next(self._flow)
        self.waits = merge is None
        if merge is None:
            raise StopIteration
        return merge


class _UserComponentInputPortMessageIterator(_MessageIterator):
    """What comes in at an input port, message by message.

    Args:
        port: The port.
    """

    def __init__(self, port: Any) -> None:
        self._input_port = port
        self._restart()

    def _restart(self, begin_ns: int | None = None) -> None:
        from ..messages.message import MessageMaker  # noqa: PLC0415 - who makes needs none

        objects = self._input_port.objects
        flow = self._input_port.flow()
        if begin_ns is not None:
            flow = _from_time(flow, begin_ns)
        self._pull = _Pull(flow)
        self._messages = MessageIterator(
            self._pull, objects.describe, MessageMaker(objects)
        )
        self._next = self._messages.__next__

    def __next__(self) -> Any:
        try:
            return self._next()
        except StopIteration:
            if self._pull.waits:
                raise TryAgain from None
            raise

    def can_seek_beginning(self) -> bool:
        """Tell whether it can begin again."""
        return True

    def seek_beginning(self) -> None:
        """Begin again."""
        self._restart()

    def can_seek_ns_from_origin(self, ns_from_origin: int) -> bool:
        """Tell whether it can go to a time.

        Args:
            ns_from_origin: The time, nanoseconds.
        """
        check_int(ns_from_origin)
        return True

    def seek_ns_from_origin(self, ns_from_origin: int) -> None:
        """Go to a time, earlier or later.

        Streams and packets that began before begin there.

        Args:
            ns_from_origin: The time, nanoseconds.
        """
        check_int(ns_from_origin)
        self._restart(ns_from_origin)

    @property
    def can_seek_forward(self) -> bool:
        """Whether it can go to a later time."""
        return True


def _from_time(flow: Iterator[Any], begin_ns: int) -> Iterator[Any]:
    """Leave out what is before a time."""
    trimmer = Trimmer(begin_ns, None)
    for merge in flow:
        yield None if merge is None else merge.within(trimmer)


def upstream_iterator(input_port: Any) -> _UserComponentInputPortMessageIterator:
    """Begin to take what comes in at an input port.

    Args:
        input_port: The port.

    Raises:
        ValueError: It is connected to nothing.
    """
    if input_port.flow is None:
        raise ValueError(
            f"component '{input_port.component}': its input port '{input_port.name}' "
            "is connected to nothing"
        )
    return _UserComponentInputPortMessageIterator(input_port)
