"""What a daemon keeps: sessions, channels, recording event rules, inclusion sets.

These are values without input or output. What clients are shown, the journal and saved
configurations are made from them.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

__all__ = [
    "AGENT_CHANNELS",
    "AGENT_DOMAINS",
    "DEFAULT_CHANNEL",
    "KERNEL_TRACKERS",
    "RULE_TYPES",
    "TRACKERS",
    "Channel",
    "ChannelAttributes",
    "Context",
    "EventRule",
    "Session",
    "SnapshotOutput",
]

DEFAULT_CHANNEL = "channel0"
AGENT_CHANNELS = {
    "JUL": "lttng_jul_channel",
    "LOG4J": "lttng_log4j_channel",
    "PYTHON": "lttng_python_channel",
}
"""Where the events of loggers are recorded, in the domain of user space."""
AGENT_DOMAINS = tuple(AGENT_CHANNELS)
TRACKERS = ("vpid", "vuid", "vgid")
"""The inclusion sets of user space."""
KERNEL_TRACKERS = ("pid", "vpid", "uid", "vuid", "gid", "vgid")
"""The inclusion sets of the kernel."""
RULE_TYPES = ("TRACEPOINT", "SYSCALL", "PROBE", "FUNCTION", "USERSPACE_PROBE")
"""What rules match; in user space tracepoints alone."""


@dataclass
class EventRule:
    """A recording event rule; all but whether it is enabled tells it from others."""

    name: str
    """The pattern of names, as it was given."""

    enabled: bool = True
    level_type: str = "ALL"
    """``ALL``, ``RANGE`` (at least as severe) or ``SINGLE``."""

    level: int = -1
    """The log level; -1 for all."""

    filter: str | None = None
    exclusions: list[str] = field(default_factory=list)
    type: str = "TRACEPOINT"
    """One of :data:`RULE_TYPES`."""

    location: dict[str, Any] | None = None
    """Of a probe: where it is, as :mod:`.probe_locations` has it."""

    def is_same_as(self, other: EventRule) -> bool:
        """Tell whether two rules have the same conditions.

        Args:
            other: Another rule.
        """
        return (
            self.name == other.name
            and self.type == other.type
            and self.level_type == other.level_type
            and self.level == other.level
            and self.filter == other.filter
            and set(self.exclusions) == set(other.exclusions)
        )


@dataclass
class Context:
    """A field of each event record of a channel."""

    kind: str
    """``VPID`` and so on, ``PERF`` or ``APP``."""

    name: str
    """As it was asked for: ``vpid``, ``perf:thread:instructions``, ``$app.p:c``."""

    type: int = 0
    """Of a counter: perf_event_open(2)."""

    config: int = 0
    """As above."""


@dataclass
class ChannelAttributes:
    """What a channel is made with; nothing of it changes later."""

    overwrite: bool = False
    subbuf_size: int = 524288
    """Bytes."""

    num_subbuf: int = 4
    switch_timer: int = 0
    """Microseconds; 0 for none. The other timers are alike."""

    read_timer: int = 0
    monitor_timer: int = 1_000_000
    blocking_timeout: int = 0
    """Microseconds; -1 for ever."""

    tracefile_size: int = 0
    """Bytes; 0 without a limit."""

    tracefile_count: int = 0
    output: str = "mmap"
    """``mmap`` or ``splice``: how LTTng takes packets out of buffers. It is kept for
    those who ask, and changes nothing."""


@dataclass
class Channel:
    """A channel of the domain of user space, or of the kernel's."""

    name: str
    attributes: ChannelAttributes = field(default_factory=ChannelAttributes)
    enabled: bool = True
    rules: list[EventRule] = field(default_factory=list)
    contexts: list[Context] = field(default_factory=list)
    discarded_events: int = 0
    lost_packets: int = 0

    def rule(self, wanted: EventRule) -> EventRule | None:
        """Return the rule that has the same conditions.

        Args:
            wanted: The conditions.
        """
        return next((one for one in self.rules if one.is_same_as(wanted)), None)


@dataclass
class SnapshotOutput:
    """Where snapshots of a session are written."""

    number: int
    name: str
    """What the names of their directories begin with."""

    path: str
    """The directory; or the URI of a relay daemon for control."""

    max_size: int = 0
    """Bytes of all sub-buffers of a snapshot; 0 without a limit."""

    data: str | None = None
    """The URI of a relay daemon for data; ``None``: it is a directory."""


@dataclass
class Session:
    """A recording session."""

    name: str
    uid: int
    gid: int
    output: str | None = None
    """The directory of the trace; ``None`` if nothing is written but snapshots. Of a
    session that is sent to a relay daemon, one in memory."""

    relay: list[str] | None = None
    """The URIs of a relay daemon, for control and for data."""

    clock_offset: int | None = None
    """Of a session with channels of the kernel, from its first start on: when the clock
    of all of its traces was 0, in nanoseconds since 1970."""

    live_timer: int = 0
    """Microseconds after which viewers see what was recorded; 0: there are none."""

    is_snapshot: bool = False
    """Whether it was created in snapshot mode: its channels overwrite by default."""

    snapshot_outputs: list[SnapshotOutput] = field(default_factory=list)
    """One at most, as in LTTng."""

    outputs_added: int = 0
    snapshots_taken: int = 0

    shm_path: str | None = None
    active: bool = False
    was_active: bool = False
    """Whether it has ever been started: channels and contexts are fixed then."""

    buffers: str | None = None
    """``uid`` or ``pid``, once there is a channel."""

    channels: dict[str, Channel] = field(default_factory=dict)
    agents: dict[str, list[EventRule]] = field(default_factory=dict)
    """Rules for loggers, by domain."""

    kernel_channels: dict[str, Channel] = field(default_factory=dict)
    """The channels of the kernel's domain, which have names of their own."""

    trackers: dict[str, list[str] | None] = field(
        default_factory=lambda: dict.fromkeys(TRACKERS)
    )
    """Numbers and names that may be recorded; ``None`` for all."""

    kernel_trackers: dict[str, list[str] | None] = field(
        default_factory=lambda: dict.fromkeys(KERNEL_TRACKERS)
    )
    """The same for the kernel's domain."""

    created: float = 0.0
    """Seconds since 1970."""

    chunk: int = 0
    """The number of the present chunk: so many were archived."""

    chunk_begin: float = 0.0
    """Since when it is recorded, in seconds since 1970; 0 before the first start."""

    moving_to: str | None = None
    """The archive to which the present chunk is being moved."""

    snapshot_at: str | None = None
    """The directory to which a snapshot is being written, until it has its name."""

    is_rotated_while_inactive: bool = False
    is_cleared_while_inactive: bool = False
    rotation_timer: int = 0
    """Microseconds after which a chunk is archived; 0: never."""

    rotation_size: int = 0
    """Bytes of a chunk after which it is archived; 0: never."""

    schedule_failure: str | None = None
    """Why a chunk could not be archived by a schedule, until somebody was told."""

    is_temporary: bool = False
    """Whether it ends with the connection of the client that created it."""

    is_taken_over: bool = False
    """Whether a daemon before this one was killed and has left it."""

    pids: list[int] | None = None
    """The only processes that record, by their IDs in the daemon's namespace, whatever
    inclusion sets say; ``None`` for all."""

    gaps: list[list[float]] = field(default_factory=list)
    """When programs of LTTng-UST recorded nothing, since the daemon was killed: from,
    to, in seconds since 1970, the latter once one records again; until ``stop`` has
    said so."""

    kernel_gaps: list[list[float]] = field(default_factory=list)
    """When the kernel was not recorded since its process was killed: from, to, in
    seconds since 1970, the latter once it is recorded again. The last ones."""

    left: list[str] = field(default_factory=list)
    """Of snapshots: what became of what was kept when a daemon was killed, until the
    next snapshot has said so."""

    lost_before: dict[str, list[int]] = field(default_factory=dict)
    """Event records and packets that the buffers of daemons lost that were killed, by
    channel."""

    own_lost: dict[str, list[int]] = field(default_factory=dict)
    """Of the losses of channels: those of programs with Vestige's tracer."""

    own_untold: dict[str, int] = field(default_factory=dict)
    """Of the events of those: what no packet had told at the last ``stop``. It is in
    the memory of programs, and the next daemon counts it again."""

    def add_output(
        self, name: str | None, path: str, max_size: int, data: str | None = None
    ) -> SnapshotOutput:
        """Let snapshots be written to a directory, or sent to a relay daemon.

        Args:
            name: What their names begin with; ``None`` for that by default.
            path: The directory; or the URI for control.
            max_size: Bytes of all sub-buffers of a snapshot; 0 without a limit.
            data: The URI for data; ``None``: it is a directory.

        Returns:
            The output.
        """
        self.outputs_added += 1
        number = self.outputs_added
        name = name or f"snapshot-{number}"
        output = SnapshotOutput(number, name, path, max_size, data)
        self.snapshot_outputs.append(output)
        return output

    def all_channels(self) -> list[Channel]:
        """Return the channels of all domains."""
        return [*self.kernel_channels.values(), *self.channels.values()]

    def has_kernel(self) -> bool:
        """Tell whether there is anything of the kernel's domain in it."""
        tracked = self.kernel_trackers.values()
        return bool(self.kernel_channels) or any(one is not None for one in tracked)

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can say of the session."""
        return asdict(self)

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Session:
        """Return the session that :meth:`to_json` described.

        Args:
            values: The description; members that are not known are left out.

        Raises:
            TypeError: It is no description.
            KeyError: As above.
        """
        known = {
            name: value
            for name, value in values.items()
            if name in cls.__dataclass_fields__
        }
        # The journal of an older daemon has no channels of the kernel.
        known.setdefault("kernel_channels", {})
        for domain in ("channels", "kernel_channels"):
            known[domain] = {name: _channel(one) for name, one in known[domain].items()}
        known["agents"] = {
            domain: [EventRule(**one) for one in rules]
            for domain, rules in known["agents"].items()
        }
        known["snapshot_outputs"] = [
            SnapshotOutput(**one) for one in known.get("snapshot_outputs", ())
        ]
        return cls(**known)


def _channel(values: dict[str, Any]) -> Channel:
    return Channel(
        **{
            **values,
            "attributes": ChannelAttributes(**values["attributes"]),
            "rules": [EventRule(**one) for one in values["rules"]],
            "contexts": [Context(**one) for one in values["contexts"]],
        }
    )
