"""What a session wants of programs, as the back end is told."""

from __future__ import annotations

import re

from ...._typing import NamedTuple

__all__ = [
    "CapturePlan",
    "ChannelPlan",
    "ContextPlan",
    "NotifierPlan",
    "RulePlan",
    "SessionPlan",
    "with_objects_apart",
]

STATE_DUMP = "lttng_ust_statedump"
"""The provider of what programs record when a session starts."""
LOADS = "lttng_ust_lib"
"""The provider of what programs record when they load and unload objects."""
_STATE_NAMES = tuple(
    f"{STATE_DUMP}:{one}"
    for one in ("start", "bin_info", "build_id", "debug_link", "procname", "end")
)
"""The first of them is that with which it begins."""
_LOAD_NAMES = tuple(
    f"{LOADS}:{one}" for one in ("load", "build_id", "debug_link", "unload")
)


STATE_LEVEL = 13
"""The log level of all of these: TRACE_DEBUG_LINE."""
_CALLS = ("lttng_ust_cyg_profile:func_entry", "lttng_ust_cyg_profile_fast:func_entry")
"""Events that have the addresses of functions as fields."""


def _matches(pattern: str, name: str) -> bool:
    """Tell whether a rule's pattern is one for an event."""
    tokens = re.findall(r"\\.|.", pattern, re.DOTALL)
    parts = (".*" if one == "*" else re.escape(one[-1]) for one in tokens)
    return re.fullmatch("".join(parts), name, re.DOTALL) is not None


class RulePlan(NamedTuple):
    """A recording event rule: its conditions."""

    name: str
    level_type: str = "ALL"
    """``ALL``, ``RANGE`` or ``SINGLE``."""

    level: int = -1
    filter: str | None = None
    exclusions: tuple[str, ...] = ()

    @property
    def is_of_state(self) -> bool:
        """Whether it takes nothing but events of the state dump."""
        return self.name.startswith(f"{STATE_DUMP}:")

    @property
    def is_of_objects(self) -> bool:
        """Whether it takes nothing but events that tell which objects are loaded."""
        return self.is_of_state or self.name.startswith(f"{LOADS}:")

    def for_state(self) -> list[RulePlan]:
        """Return rules that take what this one takes of the state dump."""
        return self._for(STATE_DUMP, _STATE_NAMES)

    def for_objects(self) -> list[RulePlan]:
        """Return rules that take what this one takes of what tells of objects."""
        return [*self.for_state(), *self._for(LOADS, _LOAD_NAMES)]

    def _for(self, provider: str, events: tuple[str, ...]) -> list[RulePlan]:
        found = [one for one in events if _matches(self.name, one)]
        names = [f"{provider}:*"] if len(found) == len(events) else found
        return [self._replace(name=one) for one in names]

    def state_events(self) -> set[str]:
        """Return the events of the state dump that it takes, without the provider.

        What its filter says is not looked at: only programs can.
        """
        levels = {"ALL": True, "RANGE": self.level >= STATE_LEVEL}
        if not levels.get(self.level_type, self.level == STATE_LEVEL):
            return set()
        return {
            event.partition(":")[2]
            for event in _STATE_NAMES
            if _matches(self.name, event)
            and not any(_matches(one, event) for one in self.exclusions)
        }

    def without_beginning(self) -> RulePlan:
        """Return a rule that takes all but the event with which a state dump begins."""
        if not _matches(self.name, _STATE_NAMES[0]):
            return self
        return self._replace(exclusions=(*self.exclusions, _STATE_NAMES[0]))

    def without_objects(self) -> RulePlan:
        """Return a rule that takes all else; it is not for those of objects alone."""
        if not self.for_objects():
            return self
        others = (f"{STATE_DUMP}:*", f"{LOADS}:*")
        return self._replace(exclusions=(*self.exclusions, *others))


class ContextPlan(NamedTuple):
    """A context of each event record."""

    kind: str
    """``VPID`` and so on, ``PERF`` or ``APP``."""

    name: str = ""
    """Of a counter, the field; of a program's context, ``PROVIDER:TYPE``."""

    type: int = 0
    config: int = 0


class ChannelPlan(NamedTuple):
    """A channel; what is not about rules never changes."""

    name: str
    subbuf_size: int
    num_subbuf: int
    is_enabled: bool = True
    tracefile_size: int = 0
    tracefile_count: int = 0
    contexts: tuple[ContextPlan, ...] = ()
    rules: tuple[tuple[RulePlan, bool], ...] = ()
    """Each with whether it is enabled."""

    is_overwriting: bool = False
    """Whether the oldest sub-buffers make room for new ones."""

    blocking_timeout: int = 0
    """Microseconds that programs wait for room, if they may; -1: for ever."""

    read_timer: int = 0
    """Microseconds between two looks for full sub-buffers; 0: programs tell of them."""

    monitor_timer: int = 0
    """Microseconds between two samples of how full the rings are; 0: never."""

    switch_timer: int = 0
    """Microseconds after which sub-buffers are written that are not full; 0: never."""

    tells_of_objects: bool = False
    """Whether it is there for what tells which objects are loaded."""


OBJECTS_CHANNEL = "vestige-objects"
"""Of sessions that only keep what came last: what tells which objects are loaded."""
_OBJECTS_SIZES = (1 << 16, 4)
_CONTEXTS_OF_OBJECTS = ("VTID", "PROCNAME")


def with_objects_apart(channels: tuple[ChannelPlan, ...]) -> tuple[ChannelPlan, ...]:
    """Let what tells which objects are loaded be recorded to a channel of its own.

    What busy channels record would overwrite it, and nobody could say any more what
    the addresses mean that are left.

    Args:
        channels: Those of a session that only keeps what came last.

    Returns:
        The channels without these events, and one with them.
    """
    rules: dict[RulePlan, bool] = {}
    # Without both, readers do not take an event for one that tells of objects.
    contexts = [ContextPlan("VPID"), ContextPlan("IP")]
    others = []
    for channel in channels:
        for rule, is_enabled in channel.rules:
            for part in rule.for_objects():
                is_wanted = is_enabled and channel.is_enabled
                rules[part] = rules.get(part, False) or is_wanted
        contexts += [
            one
            for one in channel.contexts
            if one.kind in _CONTEXTS_OF_OBJECTS and one not in contexts
        ]
        left = [one for one in channel.rules if not one[0].is_of_objects]
        kept = tuple((rule.without_objects(), is_on) for rule, is_on in left)
        others.append(channel._replace(rules=kept))
    name = OBJECTS_CHANNEL
    while any(one.name == name for one in channels):
        name += "-"
    own = ChannelPlan(
        name,
        *_OBJECTS_SIZES,
        contexts=tuple(contexts),
        rules=tuple(rules.items()),
        is_overwriting=True,
        tells_of_objects=True,
    )
    return (*others, own)


def _has_addresses(channel: ChannelPlan) -> bool:
    """Tell whether records of a channel have addresses whose process is known."""
    kinds = {one.kind for one in channel.contexts}
    return "VPID" in kinds and (
        "IP" in kinds
        or any(
            _matches(rule.name, event)
            for rule, is_enabled in channel.rules
            for event in _CALLS
            if is_enabled
        )
    )


class SessionPlan(NamedTuple):
    """A session as it should be now."""

    name: str
    uid: int
    """Its owner: root's sessions take programs of all users, others their own."""

    gid: int
    created: float
    """When it was created, in seconds since 1970."""

    output: str | None
    """The directory of the trace; ``None`` if nothing is written but snapshots."""

    rings: str
    """The directory of the ring buffers."""

    has_own_rings: bool
    """Whether that is where the owner wants it."""

    is_active: bool
    is_per_process: bool
    channels: tuple[ChannelPlan, ...]
    tracked: tuple[frozenset[int] | None, frozenset[int] | None, frozenset[int] | None]
    """Process IDs, users and groups that may record; ``None`` for all."""

    pids: frozenset[int] | None = None
    """The only processes that may, by their IDs here; ``None`` for all."""

    is_taken_over: bool = False
    """Whether a daemon that was killed has left it, and a part of its trace."""

    kept: str = ""
    """A directory of the daemon, for what is noted of buffers without output."""

    live_timer: int = 0
    """Microseconds after which viewers see what was recorded; 0: there are none."""

    clock_offset: int | None = None
    """Of one that records the kernel, too: when the monotonic clock was 0, in
    nanoseconds since 1970. All of its traces have that clock."""

    def state_events(self) -> frozenset[str]:
        """Return the events of state dumps that it records, without their provider.

        There are none if nobody can ask for addresses: without process IDs, and
        without the address of each event record or of functions.
        """
        channels = [one for one in self.channels if one.is_enabled]
        others = [one for one in channels if not one.tells_of_objects]
        if not any(map(_has_addresses, others)):
            return frozenset()
        rules = [rule for one in channels for rule, is_on in one.rules if is_on]
        return frozenset(event for rule in rules for event in rule.state_events())

    def permits(self, pid: int, vpid: int, vuid: int, vgid: int, uid: int) -> bool:
        """Tell whether a program may record.

        Args:
            pid: Its process ID, as the daemon sees it.
            vpid: Its process ID, as it sees it.
            vuid: Its user, as it sees it.
            vgid: Its group, as it sees it.
            uid: Its user, as the daemon sees it.
        """
        own = (vpid, vuid, vgid)
        return (
            self.uid in {0, uid}
            and (self.pids is None or pid in self.pids)
            and all(
                allowed is None or value in allowed
                for allowed, value in zip(self.tracked, own, strict=True)
            )
        )


class CapturePlan(NamedTuple):
    """What is told of an event that matches."""

    kind: str
    """``payload-field``, ``channel-context`` or ``app-context``."""

    name: str
    """Of a program's context, ``PROVIDER:TYPE``."""

    element: int | None = None
    """Which element of it; ``None`` if the whole is told."""


class NotifierPlan(NamedTuple):
    """A rule of which programs tell as soon as an event matches."""

    token: int
    """What they call it; no other one ever has the same."""

    uid: int
    """Whose it is: root's takes programs of all users, others their own."""

    rule: RulePlan
    captures: tuple[CapturePlan, ...] = ()
