"""What a recording holds, and how much of it."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING, NamedTuple
from ...errors import SelectionError
from .._agreement import LARGEST_PACKET, SMALLEST_PACKET
from .contexts import CONTEXTS, context_classes
from .events import Selection, function_rules, select
from .helpers import HELPERS

if TYPE_CHECKING:
    from typing import Any, Self

    from .choices import FunctionTracing, Mode, PythonFunctions
    from .event_rules import CompiledRule, EventRule
    from .probes import Probe

__all__ = ["CONTEXTS", "HELPERS", "PAGE", "THREADS", "RecordingOptions"]

PAGE = SMALLEST_PACKET
"""Packets are whole pages of the arena."""
PACKET_SIZE = 64 * 1024
"""Of the packets of a buffer that has no size of its own."""
SMALLEST_RING, LARGEST_RING = 2, 64
"""Packets of a buffer."""
PARTS = 64
"""A recording of limited size has at least so many packets."""
LARGEST_ARENA = 1 << 38
ARENA_SIZE = 256 * 1024 * 1024
THREADS = 16_384
"""Threads that may record at the same time."""
MOST_OF_THREADS = 1 << 30
"""Bytes of addresses for the packets that threads have, one each."""
SHORTEST_LIVE, LONGEST_LIVE = 0.001, 3600.0
"""Seconds."""
LONGEST_TIMEOUT = 10**6
"""Seconds."""
LONGEST_DURATION = 10**18
"""Nanoseconds; ticks of any clock are fewer than 2^64 then."""
GREATEST_DEPTH = 2**31 - 1
SMALLEST_SIZE = 64 * 1024
"""Of a whole recording."""
OVERWRITE_SIZE = 256 * 1024 * 1024
"""Of a recording in overwrite mode, unless another size is asked for."""


class _Values(NamedTuple):
    # A data class would do, but to import those takes longer than many programs run.

    functions: FunctionTracing | None = None
    """Which events the entry and exit of functions make.

    ``fast`` has the address at the entry only; ``verbose`` has address and place of the
    call at both, which needs half as much space again and survives losses. ``None``
    is ``fast``, or what ``events`` says.
    """

    events: tuple[str | EventRule, ...] = ()
    """What is recorded: rules, or patterns alone; empty: all but base addresses.

    An event is recorded if any rule takes it. The state dump and the events of loaded
    objects are always there.
    """

    follow_fork: bool = True
    """Whether child processes are recorded, too."""

    include: tuple[str, ...] = ()
    """Patterns of the functions whose calls are recorded; empty: of all.

    ``[OBJECT:]NAME`` with ``*``, ``?`` and ``[...]``, or ``[OBJECT:]0xSTART-0xEND``.
    """

    exclude: tuple[str, ...] = ()
    """Patterns of functions whose calls are not recorded, whatever ``include`` says."""

    patch: tuple[str, ...] | None = None
    """Patterns of the functions that are recorded although they have no hooks.

    Names with ``*``, ``?`` and ``[...]``; empty: all that can be. ``None``: those at
    whose entries the compiler left room.
    """

    patch_in: tuple[str, ...] = ()
    """File names of libraries in the system's directories that are planned, too, with
    ``patch``; others are without being named."""

    library_calls: tuple[str, ...] | None = None
    """Patterns of the functions of libraries whose calls by the program, and by its
    libraries outside of the system's directories, are recorded.

    ``[LIBRARY:]NAME`` with ``*``, ``?`` and ``[...]``; empty: all. ``None``: none.
    """

    patch_wait: float = 0.2
    """Seconds for which a program waits for the plan of an object that nobody foresaw.

    Such is one that another program has executed, or that is loaded later.
    """

    entries_only: bool = False
    """Whether calls of functions are recorded without their ends, at half the cost."""

    probes: tuple[str, ...] = ()
    """Functions whose calls are recorded with arguments and results.

    ``[OBJECT:]FUNCTION(VALUE, ...)``, where a value is the name of a parameter,
    ``PLACE:TYPE`` or ``$return``. Their events are ``vestige_probe:FUNCTION`` and, with
    ``$return``, ``vestige_probe:FUNCTION_return``.
    """

    contexts: tuple[str, ...] = ("ip", "vpid")
    """What each record carries besides its fields: :data:`CONTEXTS`, and counters.

    Source lines need ``ip`` and ``vpid``. Packets name their process and thread anyway.
    """

    buffer_size: int = 4 * 1024 * 1024
    """Bytes that a thread may record before the collector has written them."""

    packet_size: int | None = None
    """Bytes of a packet, of which a buffer has 2 to 64; no record is larger.

    ``None`` is 64 KiB, less for a smaller buffer, more for a larger one.
    """

    arena_size: int | None = None
    """Bytes of the memory that the threads of all programs share: their buffers.

    ``None`` is 256 MiB, and a packet more for each thread.
    """

    mode: Mode = "block"
    """What goes when a buffer or the recording is full.

    ``block``: a thread whose buffer is full waits for the collector, so that nothing is
    lost. ``discard``: new records are dropped at once. ``overwrite``: the recording has
    a maximum size, and its oldest packets make room.
    """

    timeout: float = 10.0
    """Seconds for which a thread waits while the collector makes no progress.

    Records are dropped then, and counted, until it does.
    """

    max_size: int | None = None
    """Bytes of the whole recording.

    ``None`` is 256 MiB with ``overwrite``, and no limit with ``discard``. What says
    where objects are loaded is kept in both modes.
    """

    python_functions: PythonFunctions | None = None
    """Which functions that Python programs call are recorded.

    ``python``: those that are written in Python; ``all``: also those that are written
    in C.
    """

    only_my_code: bool = False
    """Whether functions of the standard library, of installed packages and of frozen
    modules are left out; of Python programs only."""

    min_duration: int = 0
    """How long a recorded call of a Python function lasts at least, nanoseconds.

    A shorter one is recorded if anything in it is.
    """

    max_depth: int | None = None
    """How deep recorded calls of Python functions are nested; all by default."""

    python_arguments: bool = False
    """Whether the events of Python functions have arguments and results, as texts."""

    python_gc: bool = False
    """Whether collections of garbage in Python programs are recorded.

    Their events need no pattern in ``events``.
    """

    python_tracebacks: bool = False
    """Whether records of ``logging`` with an exception have its traceback, in a field
    ``traceback`` that all of them have then."""

    snapshot_on_crash: bool = False
    """Whether what ``overwrite`` has kept is copied when the program crashes, or a
    process that it has started."""

    duration: float = 0.0
    """After how many seconds the program is asked to end, with SIGTERM; 0: never. It is
    recorded until it has ended."""

    rotate_seconds: float = 0.0
    """After how many seconds what was recorded becomes a trace of its own, in
    ``archives``; 0: never. What is recorded now is in ``present`` then."""

    rotate_size: int = 0
    """After how many bytes; 0: never."""

    keep_archives: int = 0
    """How many of those traces are kept, the newest; 0: all."""

    live: float = 0.0
    """After how many seconds all that was recorded is in files, for those who watch the
    recording, and a file says so; 0: nobody is expected to watch."""

    helpers: tuple[str, ...] = ()
    """Of which functions of the C library each call is recorded: some of
    :data:`HELPERS`, for memory, mutexes and the dynamic linker.

    Their events need no pattern in ``events``.
    """

    keep_lttng: bool = False
    """Whether programs that were compiled with LTTng-UST's headers keep its library, so
    that LTTng records them, too."""

    kernel: tuple[str, ...] = ()
    """What is recorded of the kernel, for all processes: ``syscalls``, other systems
    (``sched``, ``irq``, ``block``, ``net``), patterns of LTTng's names of events,
    ``syscalls:PATTERN`` for some calls, ``all``; empty: nothing.

    Only root can record it. The recording has a directory for each domain then.
    """

    kernel_probes: tuple[str, ...] = ()
    """Events of the kernel that are made for places: ``[NAME=]PLACE``, as
    :mod:`vestige.record.rules.kernel_probes` has them."""

    kernel_contexts: tuple[str, ...] = ()
    """Contexts of the kernel's event records besides the thread, by LTTng's names:
    :data:`vestige.record.rules.kernel_contexts.KERNEL_CONTEXTS`."""

    kernel_filter: str | None = None
    """What must be true of the kernel's event records, in LTTng's language of
    filters."""

    kernel_of: str = "machine"
    """Whose events of the kernel are recorded: ``machine``, all processes', or
    ``program``, those of the program, its threads and its children, whatever they run,
    and what switches to them or wakes them. The state dump has all processes."""

    kernel_logger: str | None = None
    """The path of a pipe that is made while the kernel is recorded: what any user
    writes to it becomes events ``lttng_logger``."""

    inherit_socket: bool = False
    """Whether programs inherit a descriptor by which they reach the recorder.

    Those in a network namespace of their own need it where its memory has no path.
    """


class RecordingOptions(_Values):
    """What a recording holds.

    Raises:
        SelectionError: A value is none that the option takes.
    """

    __slots__ = ()

    def __new__(cls, *values: Any, **named: Any) -> Self:
        """Refuse what the tracer would not take."""
        made = super().__new__(cls, *values, **named)
        made._check_lists()
        made = made.with_named_sources()
        made._check()  # noqa: SLF001 - it is one of us
        return made

    def _check_lists(self) -> None:
        """Refuse a text where several are expected: its characters would be taken."""
        for name, default in self._field_defaults.items():
            value = getattr(self, name)
            is_one = isinstance(value, (str, bytes)) or not hasattr(value, "__iter__")
            if isinstance(default, tuple) and is_one:
                raise SelectionError(f"{name}={value!r}: expected a list or a tuple")

    def with_named_sources(self) -> Self:
        """Switch on what rules name, by a provider without wildcards.

        Returns:
            Options that record it: ``lttng_ust_libc:malloc`` needs a helper.

        Raises:
            SelectionError: A rule can take no event, or is none.
        """
        if not self.events:
            return self
        # As with rules.
        from .sources import named_sources  # noqa: PLC0415 - see above

        named = named_sources(self.given_rules())
        changes: dict[str, Any] = {}
        if not set(named.helpers) <= set(self.helpers):
            changes["helpers"] = (*self.helpers, *named.helpers)
        if named.python_calls and self.python_functions is None:
            changes["python_functions"] = "python"
        if named.python_collections and not self.python_gc:
            changes["python_gc"] = True
        return self._replace(**changes) if changes else self

    @property
    def chunk_size(self) -> int:
        """Bytes of a packet in memory."""
        if self.packet_size is not None:
            return self.packet_size
        least = -(-self.buffer_size // LARGEST_RING)
        most = self.buffer_size // SMALLEST_RING
        size = -(-max(min(PACKET_SIZE, most), least, PAGE) // PAGE) * PAGE
        if self.size_limit:
            # The room of packets that threads have is taken: many small ones fill more.
            size = max(min(size, self.size_limit // PARTS), PAGE)
        return size // PAGE * PAGE

    @property
    def ring_size(self) -> int:
        """Packets that a thread has at most."""
        return min(
            max(-(-self.buffer_size // self.chunk_size), SMALLEST_RING), LARGEST_RING
        )

    @property
    def ring_bytes(self) -> int:
        """Bytes that a thread has at most: whole packets.

        More than :attr:`buffer_size` where that is rounded up, and fewer where a
        recording of limited size has smaller packets.
        """
        return self.ring_size * self.chunk_size

    @property
    def memory_size(self) -> int:
        """Bytes for the buffers of all threads, without :attr:`thread_packets`."""
        return ARENA_SIZE if self.arena_size is None else self.arena_size

    @property
    def thread_packets(self) -> int:
        """Packets for which there is memory besides, as threads begin: one for each."""
        if self.arena_size is not None:
            return 0
        return min(THREADS, MOST_OF_THREADS // self.chunk_size)

    @property
    def size_limit(self) -> int:
        """Bytes of the whole recording; 0 when there is no limit."""
        if self.max_size is not None:
            return self.max_size
        return OVERWRITE_SIZE if self.mode == "overwrite" else 0

    @property
    def is_rotated(self) -> bool:
        """Whether what was recorded becomes traces of its own."""
        return bool(self.rotate_seconds or self.rotate_size)

    @property
    def live_ns(self) -> int:
        """The period of :attr:`live`, nanoseconds."""
        return round(self.live * 1e9)

    @property
    def is_kernel_recorded(self) -> bool:
        """Whether anything of the kernel is recorded."""
        return bool(self.kernel or self.kernel_probes or self.kernel_logger)

    def _check_kernel(self) -> None:
        if self.kernel_of not in {"machine", "program"}:
            raise _refused(
                "{kernel_of}={value}: expected machine or program", value=self.kernel_of
            )
        if not self.is_kernel_recorded:
            given = {
                "kernel_contexts": bool(self.kernel_contexts),
                "kernel_filter": self.kernel_filter is not None,
                "kernel_of": self.kernel_of != "machine",
            }
            for name in (name for name, is_given in given.items() if is_given):
                raise _refused(
                    f"{{{name}}}: expected events of the kernel, too: with {{kernel}}, "
                    "{kernel_probes} or {kernel_logger}"
                )
            return
        if self.max_size is not None and self.mode != "overwrite":
            raise _refused(
                "{max_size} of a recording with the kernel: expected {mode}=overwrite; "
                "or {rotate_size} and {keep_archives} instead"
            )
        self._check_kernel_words()

    def _check_kernel_words(self) -> None:
        if self.kernel_probes or self.kernel_logger:
            # Few recordings have any.
            from .kernel_probes import (  # noqa: PLC0415 - see above
                check_kernel_logger,
                check_kernel_probe,
                parse_kernel_probe,
            )
        if self.kernel_logger:
            check_kernel_logger(self.kernel_logger)
        for text in self.kernel_probes:
            check_kernel_probe(parse_kernel_probe(text))
        if self.kernel_contexts:
            from .kernel_contexts import (  # noqa: PLC0415 - as above
                check_kernel_contexts,
            )

            check_kernel_contexts(self.kernel_contexts)
        if self.kernel_filter:
            from .kernel_contexts import (  # noqa: PLC0415 - as above
                check_kernel_filter,
            )

            check_kernel_filter(self.kernel_filter)

    def _check_live(self) -> None:
        if self.live and self.mode == "overwrite":
            raise _refused("{live}: expected another mode than {mode}=overwrite")
        if self.live and not SHORTEST_LIVE <= self.live <= LONGEST_LIVE:
            raise _refused(
                "{live}: a period of {value:g} s: expected {least:g} to {most:g}",
                value=self.live,
                least=SHORTEST_LIVE,
                most=LONGEST_LIVE,
            )

    def _check_duration(self) -> None:
        if not 0 <= self.duration <= LONGEST_TIMEOUT:
            raise _refused(
                "{duration}: {value:g} s: expected up to {most} s",
                value=self.duration,
                most=LONGEST_TIMEOUT,
            )

    def _check_rotation(self) -> None:
        given = "{rotate_seconds}" if self.rotate_seconds else "{rotate_size}"
        if self.is_rotated and self.mode == "overwrite":
            raise _refused(
                f"{given}: expected another mode than {{mode}}=overwrite; "
                "{keep_archives} keeps the newest archives only"
            )
        if self.is_rotated and self.max_size is not None:
            raise _refused(f"{given}: expected no {{max_size}} with it")
        if min(self.rotate_seconds, self.rotate_size, self.keep_archives) < 0:
            raise SelectionError("rotation: expected no numbers below 0")
        if self.keep_archives and not self.is_rotated:
            raise _refused("{keep_archives}: expected with {rotate_size}")

    def _check(self) -> None:
        if self.mode not in {"block", "discard", "overwrite"}:
            raise _refused(
                "{mode}={value}: expected block, discard or overwrite", value=self.mode
            )
        if self.snapshot_on_crash and self.mode != "overwrite":
            raise _refused("{snapshot_on_crash}: expected with {mode}=overwrite")
        self._check_rotation()
        self._check_live()
        self._check_duration()
        self._check_kernel()
        if self.max_size is not None and self.max_size < SMALLEST_SIZE:
            raise _refused(
                "{max_size}: {value} bytes are too few: expected {least} or more",
                value=self.max_size,
                least=SMALLEST_SIZE,
            )
        if self.functions not in {None, "fast", "verbose", "off"}:
            raise _refused(
                "{functions}={value}: expected fast, verbose or off",
                value=self.functions,
            )
        if self.python_functions not in {None, "python", "all"}:
            raise _refused(
                "{python_functions}={value}: expected python or all",
                value=self.python_functions,
            )
        if self.patch_in and self.patch is None:
            raise _refused(
                "{patch_in}: expected with {patch}, which it adds libraries to"
            )
        if not 0 <= self.patch_wait <= LONGEST_TIMEOUT:
            raise _refused(
                "{patch_wait}: {value} s: expected up to {most} s",
                value=self.patch_wait,
                most=LONGEST_TIMEOUT,
            )
        self._check_python_limits()
        self.selection()
        self._check_rules()
        self.function_patterns()
        self.library_patterns()
        self.compiled_probes()
        context_classes(self.contexts)
        for name in self.helpers:
            if name not in HELPERS:
                raise SelectionError(
                    f"no helper '{name}': expected some of {', '.join(HELPERS)}"
                )
        self._check_sizes()

    def _check_rules(self) -> None:
        if self.events:
            from .encoding import encode_rules  # noqa: PLC0415 - as rules() has it

            encode_rules(self.rules())

    def _check_sizes(self) -> None:
        packet = self.packet_size
        if packet is not None and (
            packet % PAGE or not PAGE <= packet <= LARGEST_PACKET
        ):
            raise _refused(
                "{packet_size}: {value} bytes: expected a multiple of {least}, up to "
                "{most}",
                value=packet,
                least=PAGE,
                most=LARGEST_PACKET,
            )
        if not PAGE <= self.buffer_size <= LARGEST_PACKET * LARGEST_RING:
            raise _refused(
                "{buffer_size}: {value} bytes: expected {least} or more, up to {most}",
                value=self.buffer_size,
                least=PAGE,
                most=LARGEST_PACKET * LARGEST_RING,
            )
        least = SMALLEST_RING * self.chunk_size
        if not least <= self.memory_size <= LARGEST_ARENA:
            raise _refused(
                "{arena_size}: {value} bytes: expected {least} (two packets) or more, "
                "up to {most}",
                value=self.memory_size,
                least=least,
                most=LARGEST_ARENA,
            )
        if not 0 < self.timeout <= LONGEST_TIMEOUT:
            raise _refused(
                "{timeout}: {value} s: expected more than 0, up to {most}",
                value=self.timeout,
                most=LONGEST_TIMEOUT,
            )

    def _check_python_limits(self) -> None:
        limits = {
            "only_my_code": self.only_my_code,
            "min_duration": self.min_duration,
            "max_depth": self.max_depth is not None,
            "python_arguments": self.python_arguments,
        }
        for name, is_set in limits.items():
            if is_set and self.python_functions is None:
                raise _refused(
                    f"{{{name}}}: expected with {{python_functions}}, whose calls it "
                    "is for"
                )
        if not 0 <= self.min_duration < LONGEST_DURATION:
            raise _refused(
                "{min_duration}={value}: expected nanoseconds, less than {most:,}",
                value=self.min_duration,
                most=LONGEST_DURATION,
            )
        if self.max_depth is not None and not 1 <= self.max_depth <= GREATEST_DEPTH:
            raise _refused(
                "{max_depth}={value}: expected 1 to {most:,}",
                value=self.max_depth,
                most=GREATEST_DEPTH,
            )

    def selection(self) -> Selection:
        """Work out which events the tracer writes.

        Returns:
            The events.

        Raises:
            SelectionError: A rule can take none.
        """
        chosen = select(self.rules(), self.functions)
        return chosen._replace(exits="off") if self.entries_only else chosen

    def library_selection(self) -> Selection:
        """Work out which events the tracer writes of library calls.

        Returns:
            Those of functions; where there are none of those, entries and exits, since
            these calls were asked for.

        Raises:
            SelectionError: A rule can take none.
        """
        chosen = self.selection()
        if self.library_calls is None or not chosen.entries == chosen.exits == "off":
            return chosen
        both = chosen._replace(entries="fast", exits="fast")
        return both._replace(exits="off") if self.entries_only else both

    def rules(self) -> tuple[CompiledRule, ...]:
        """Return ``events`` as the tracer takes them.

        Returns:
            The rules, one for each pattern; none when ``events`` is empty.

        Raises:
            SelectionError: A rule can take no event, or is none.
        """
        if not self.events:
            return ()
        # Who chooses no events does not wait for what makes rules of them.
        from .sources import Sources, rules_of_sources  # noqa: PLC0415 - see above

        given = self.given_rules()
        on = Sources(
            self.helpers,
            self.python_functions is not None,
            self.python_gc,
            self._probe_events(),
        )
        return (
            *given,
            *rules_of_sources(given, on),
            *function_rules(given, self.functions),
        )

    def given_rules(self) -> tuple[CompiledRule, ...]:
        """Return ``events`` without what other options ask for.

        Returns:
            The rules, one for each pattern.

        Raises:
            SelectionError: A rule can take no event, or is none.
        """
        if not self.events:
            return ()
        from .event_rules import compile_rules  # noqa: PLC0415 - as above

        return compile_rules(self.events)

    def function_patterns(self) -> tuple[str, str]:
        """Return ``include`` and ``exclude`` as the tracer reads them.

        Returns:
            Both, each one word.

        Raises:
            SelectionError: A pattern can match no function, or there are too many.
        """
        if not (self.include or self.exclude):
            return "", ""
        # As with rules.
        from .function_patterns import encode_patterns  # noqa: PLC0415 - see above

        return encode_patterns(self.include, self.exclude)

    def library_patterns(self) -> str:
        """Return ``library_calls`` as the tracer reads it.

        Returns:
            One word; empty where no calls of libraries are recorded.

        Raises:
            SelectionError: A pattern can match no function, or there are too many.
        """
        if self.library_calls is None:
            return ""
        # As with rules.
        from .function_patterns import encode_library_patterns  # noqa: PLC0415 - see above

        return encode_library_patterns(self.library_calls)

    def compiled_probes(self) -> tuple[Probe, ...]:
        """Return ``probes`` as they were read.

        Returns:
            The probes.

        Raises:
            SelectionError: One is no probe, or two have the same name.
        """
        if not self.probes:
            return ()
        # As with rules.
        from .probes import parse_probes  # noqa: PLC0415 - see above

        return parse_probes(self.probes)

    def _probe_events(self) -> tuple[str, ...]:
        """Return the names of the events of all probes."""
        if not self.probes:
            return ()
        from .probes import PROVIDER, event_names  # noqa: PLC0415 - as above

        return tuple(
            f"{PROVIDER}:{name}"
            for probe in self.compiled_probes()
            for name in event_names(probe)
        )


def _refused(text: str, **values: Any) -> SelectionError:
    """Return an error that names options as Python or the command line has them."""
    # Few recordings come here.
    from .refused_option import refused_option  # noqa: PLC0415 - see above

    return refused_option(text, **values)
