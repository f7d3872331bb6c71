"""Object, function and source line for events: ``filter.lttng-utils.debug-info``.

Event records whose common context has the fields ``ip`` and ``vpid`` get a structure
with the strings ``bin``, ``func`` and ``src``; without these, the events of function
calls get it, whose address and process stand elsewhere. The process images that
translate an address come from the trace itself, and change while it is read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from ... import core
from ..._typing import TYPE_CHECKING
from ...debuginfo import (
    CALL_EVENT_NAMES,
    KERNEL,
    STATE_EVENT_NAMES,
    DebugFileFinder,
    DebugInfoOptions,
    ImageFollower,
    KernelImages,
    Resolver,
    TargetPrefix,
    UserImages,
    attach_stores,
    split_path_list,
    store_directories,
)
from ...errors import GraphError
from ...graph.growing import Feed
from ...plain_text import plain
from ...units import Address, Vpid

if TYPE_CHECKING:
    from ...debuginfo import Mapping, Unresolved
    from ...graph.plan import ComponentSpec
    from ..sources.ctf_fs import CtfFsSource

__all__ = ["DebugInfoFilter", "DebugInfoOptions", "finder_for", "make_debug_info"]

_NAME_EVENT = "lttng_ust_statedump:procname"


class DebugInfoFilter:
    """Adds debug information to merges.

    Args:
        options: The parameters.
        sources: The traces, for the symbols that may be packed with them.
    """

    def __init__(
        self,
        options: DebugInfoOptions | None = None,
        sources: Sequence[CtfFsSource] = (),
    ) -> None:
        self.options = options or DebugInfoOptions()
        self._resolver = Resolver(
            finder_for(sources, self.options),
            full_path=self.options.full_path,
            demangle=self.options.demangle,
        )
        self.needed_events = STATE_EVENT_NAMES
        """Events that change process images, and calls that tell who an exit leaves."""
        self._sources = sources
        streams = [stream for source in sources for stream in source.streams]
        self._may_gain = any(isinstance(source, Feed) for source in sources)
        self._has_begun = False
        if self._may_gain or any(stream.handle.uses_call_stacks for stream in streams):
            self.needed_events |= CALL_EVENT_NAMES
        self.needed_events |= {_NAME_EVENT}
        self.process_names: dict[tuple[int, int], str] = {}
        """What processes say they are called, by process space and process ID."""
        self._column = core.PlaceColumn(
            self.options.field_name, sorted(STATE_EVENT_NAMES | {_NAME_EVENT})
        )
        self._follower = ImageFollower(
            self._column, self._resolve_pending, kernels=KernelImages(self._traces)
        )
        self._column.look_at_stacks()
        self._users = UserImages(self._machines, self._follower.images)

    def process(self, merge: core.Merge) -> None:
        """Find the places of all event records of a merge.

        Args:
            merge: The next merge, in order.
        """
        if self._may_gain or not self._has_begun:
            self._has_begun = True
            for space, vpid in self._users.look():
                self._column.image_changed(space, vpid)
            for space in self._follower.look_at_kernels():
                self._column.image_changed(space, KERNEL)
        for event in self._follower.follow(merge):
            if event.name == _NAME_EVENT:
                name = event.fields.get("procname")
                if isinstance(name, str):
                    self.process_names[event.space, event.vpid] = name
            elif self._follower.apply(event):
                self._column.image_changed(event.space, event.vpid)
                for space, vpid in self._users.same(event.space, event.vpid):
                    self._column.image_changed(space, vpid)
        self._column.finish(merge)

    def keep_stacks(self) -> core.PlaceColumn:
        """Keep the call stacks of the kernel's event records.

        Returns:
            What tells them, after each merge.
        """
        self._column.keep_stacks()
        return self._column

    def kernel_processes(self) -> dict[tuple[int, int], int]:
        """Return the processes of the kernel's threads, as far as traces tell.

        Returns:
            By process space and thread ID.
        """
        return {**self._users.threads()}

    def _traces(self) -> Iterator[tuple[int, core.TraceClass]]:
        for source in self._sources:
            for stream in source.streams:
                yield stream.process_space, stream.trace.parsed

    def _machines(self) -> Iterator[tuple[int, core.TraceClass, bytes | None]]:
        for source in self._sources:
            for stream in source.streams:
                # The kernel has other IDs for what is in another PID namespace.
                if stream.process_space == stream.trace.index:
                    clock = stream.handle.clock
                    uuid = None if clock is None else clock["uuid"]
                    yield stream.process_space, stream.trace.parsed, uuid

    def _resolve_pending(self) -> None:
        while (first := self._column.pending()) is not None:
            space, vpid, ip = first
            found, last = self._find_range(space, Vpid(vpid), Address(ip))
            self._resolver.add_places(self._column, found, last)

    def _find_range(
        self, space: int, vpid: Vpid, address: Address
    ) -> tuple[Mapping | Unresolved, Address]:
        if vpid != KERNEL and self._users.is_kernel(space):
            return self._users.find_range(space, vpid, address)
        return self._follower.images(space).find_range(vpid, address)


def finder_for(
    sources: Sequence[CtfFsSource], options: DebugInfoOptions
) -> DebugFileFinder:
    """Return a finder that looks first into the symbols packed with traces.

    Args:
        sources: The traces.
        options: Where else to look.
    """
    finder = DebugFileFinder.of(options)
    places = [
        place
        for source in sources
        for place in store_directories(source.directories, source.roots)
    ]
    traces = {
        stream.trace.parsed.identity for source in sources for stream in source.streams
    }
    attach_stores(finder, options, places, traces)
    return finder


def make_debug_info(
    spec: ComponentSpec, sources: Sequence[CtfFsSource], _selection: object
) -> DebugInfoFilter:
    """Make a filter.

    Args:
        spec: The component.
        sources: The traces, for the symbols that may be packed with them.

    Raises:
        GraphError: A target prefix is malformed.
    """
    return DebugInfoFilter(_options(spec), sources)


def _options(spec: ComponentSpec) -> DebugInfoOptions:
    """Return options with the parameters of a component."""
    params = spec.params
    directories = params.get("debug-info-dir")
    prefix = params.get("target-prefix")
    try:
        texts = params.get("target-prefixes", ())
        prefixes = [TargetPrefix.parse(text) for text in texts]
    except ValueError as error:
        raise GraphError(f"component '{spec.name}': target-prefixes: {error}") from None
    if prefix is not None:
        prefixes.append(TargetPrefix("/", Path(prefix)))
    return DebugInfoOptions(
        field_name=params.get("debug-info-field-name", "debug_info"),
        full_path=params.get("full-path", False),
        debug_directories=None if directories is None else split_path_list(directories),
        target_prefixes=tuple(prefixes),
        debuginfod=params.get("debuginfod", False),
        demangle=params.get("demangle", True),
        notice=_print_notice,
    )


def _print_notice(text: str) -> None:
    sys.stderr.write(f"vestige: {plain(text)}\n")
    sys.stderr.flush()
