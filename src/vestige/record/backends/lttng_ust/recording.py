"""What a program records for a session: the objects that were made in it."""

from __future__ import annotations

import struct

from . import abi
from .application import Application
from .buffers import ChannelBuffers, TraceBuffers
from .conditions import encoded_name, set_conditions
from .plan import ChannelPlan, ContextPlan, RulePlan, SessionPlan

__all__ = ["Recording"]


class _Channel:
    """A channel in a program."""

    def __init__(self, handle: int, buffers: ChannelBuffers) -> None:
        self.handle = handle
        self.buffers = buffers
        self.is_enabled = True
        self.streams: list[int] = []
        """Their handles; 0 is none: then they go with the channel."""
        self.rules: dict[RulePlan, tuple[int, bool]] = {}
        """The handle of each rule, and whether it is enabled."""


class Recording:
    """One session in one program.

    Args:
        application: The program.
        traces: Where it records to.
    """

    def __init__(self, application: Application, traces: TraceBuffers) -> None:
        self._application = application
        self.traces = traces
        self.handle = -1
        self.is_described = False
        """Whether the daemon has told what the program has loaded."""
        self._channels: dict[str, _Channel] = {}
        self._is_active = False
        self._was_active = False

    def buffers(self, handle: int) -> ChannelBuffers | None:
        """Return the buffers of a channel.

        Args:
            handle: The channel's in the program.
        """
        for one in self._channels.values():
            if one.handle == handle:
                return one.buffers
        return None

    async def apply(self, plan: SessionPlan) -> None:
        """Bring the program to what a session says.

        Args:
            plan: The session.

        Raises:
            ApplicationError: The program does not do it.
        """
        do = self._application.do
        if self.handle < 0:
            self.handle = await do(0, abi.SESSION)
        for channel in plan.channels:
            made = self._channels.get(channel.name)
            if made is None:
                made = await self._make_channel(channel)
            await self._apply_rules(made, channel)
            if made.is_enabled != channel.is_enabled:
                command = abi.ENABLE if channel.is_enabled else abi.DISABLE
                await do(made.handle, command)
                made.is_enabled = channel.is_enabled
        if plan.is_active and not self._was_active:
            await self._start(plan)
        elif plan.is_active and not self._is_active:
            await self._start_again()
        elif not plan.is_active and self._is_active:
            await do(self.handle, abi.STOP)
            self._is_active = self.is_described = False

    async def _start(self, plan: SessionPlan) -> None:
        """Start for the first time: the state dump comes before all other events.

        A program that runs would record them while it describes its state, and their
        addresses would have no names. It does that before it reads the next command.
        """
        # Of a rule for more than the state dump, that part alone.
        parts: list[tuple[_Channel, RulePlan]] = []
        for channel in plan.channels:
            made = self._channels[channel.name]
            for rule, is_enabled in channel.rules:
                if is_enabled and not rule.is_of_state:
                    known = {one for one, enabled in channel.rules if enabled}
                    parts += [
                        (made, one) for one in rule.for_state() if one not in known
                    ]
        for made, rule in parts:
            await self._switch(made, rule, is_wanted=True)
        await self._application.do(self.handle, abi.START)
        self._is_active = self._was_active = True
        for channel in plan.channels:
            await self._apply_rules(self._channels[channel.name], channel)
        for made, rule in parts:
            await self._switch(made, rule, is_wanted=False)

    async def _start_again(self) -> None:
        """Start once more, without a state dump of the program if the daemon made one.

        It would come among other events, and readers would forget at its begin what
        they know.
        """
        do = self._application.do
        channels = [one for one in self._channels.values() if one.is_enabled]
        quiet = channels if self.is_described else []
        for channel in quiet:
            await do(channel.handle, abi.DISABLE)
        await do(self.handle, abi.START)
        self._is_active = True
        for channel in quiet:
            await do(channel.handle, abi.ENABLE)

    async def _make_channel(self, plan: ChannelPlan) -> _Channel:
        do = self._application.do
        buffers = self.traces.channel(plan)
        memory = buffers.memory
        handle = await do(
            self.handle,
            abi.CHANNEL,
            abi.CHANNEL_BODY.pack(len(memory), 0),
            memory,
            [buffers.wake],
        )
        channel = self._channels[plan.name] = _Channel(handle, buffers)
        for ring in buffers.rings:
            stream = await do(
                handle,
                abi.STREAM,
                abi.STREAM_BODY.pack(ring.memory_size, ring.cpu),
                [ring.file, buffers.wake],
            )
            channel.streams.append(stream)
        for context in plan.contexts:
            await self._add_context(handle, context)
        return channel

    async def _add_context(self, channel: int, context: ContextPlan) -> None:
        number = abi.CONTEXTS[context.kind]
        payloads: tuple[bytes, ...] = ()
        if context.kind == "PERF":
            name = context.name.encode()
            body = abi.COUNTER_BODY.pack(number, context.type, context.config, name)
        elif context.kind == "APP":
            provider, _, kind = context.name.partition(":")
            names = [one.encode() + b"\0" for one in (provider, kind)]
            body = abi.APP_CONTEXT_BODY.pack(number, *map(len, names))
            payloads = (b"".join(names),)
        else:
            body = struct.pack("=i", number)
        # A counter that the kernel refuses leaves the channel without it.
        await self._application.ask(channel, abi.CONTEXT, body, *payloads)

    async def _apply_rules(self, channel: _Channel, plan: ChannelPlan) -> None:
        for rule, is_enabled in plan.rules:
            if is_enabled and rule not in channel.rules:
                await self._make_rule(channel, rule)
            is_wanted = is_enabled and (self._was_active or rule.is_of_state)
            await self._switch(channel, rule, is_wanted=is_wanted)

    async def _switch(
        self, channel: _Channel, rule: RulePlan, *, is_wanted: bool
    ) -> None:
        """Enable or disable a rule, which is made when it is first enabled."""
        if is_wanted and rule not in channel.rules:
            await self._make_rule(channel, rule)
        handle, is_enabled = channel.rules.get(rule, (-1, False))
        if is_wanted != is_enabled:
            await self._application.do(handle, abi.ENABLE if is_wanted else abi.DISABLE)
            channel.rules[rule] = (handle, is_wanted)

    async def _make_rule(self, channel: _Channel, rule: RulePlan) -> None:
        """Make a rule; it is disabled.

        At the begin of a state dump, readers forget what they know of a program. Where
        that begin is left and the rest is overwritten, as on two CPUs, they would
        forget what the daemon has told before. So a program does not record it then.
        """
        told = rule.without_beginning() if self.is_described else rule
        kind = abi.LEVEL_TYPES[rule.level_type]
        body = abi.EVENT_BODY.pack(0, encoded_name(rule.name), kind, rule.level, 0)
        handle = await self._application.do(channel.handle, abi.EVENT, body)
        await set_conditions(self._application, handle, told)
        channel.rules[rule] = (handle, False)

    async def flush(self, channel: str) -> None:
        """Make the program end the sub-buffers of a channel that are not full.

        It does so with the atomic operations of writers, for all that share them.

        Args:
            channel: Its name.

        Raises:
            ApplicationError: The program does not do it.
        """
        made = self._channels.get(channel)
        if made is not None:
            await self._application.do(made.handle, abi.FLUSH_BUFFER)

    async def dump_state(self) -> None:
        """Make the program describe its state once more.

        Raises:
            ApplicationError: The program does not do it.
        """
        await self._application.do(self.handle, abi.STATEDUMP)

    async def dump_state_some_time(self) -> None:
        """Do so, however long it takes: a program that is stopped does it later.

        Raises:
            ApplicationError: The program is gone.
        """
        await self._application.ask(self.handle, abi.STATEDUMP, is_patient=True)

    async def release(self) -> None:
        """Let all objects in the program go, the innermost ones first.

        Raises:
            ApplicationError: The program does not do it.
        """
        do = self._application.do
        if self._is_active:
            await do(self.handle, abi.STOP)
            self._is_active = False
        for channel in self._channels.values():
            for handle, _ in channel.rules.values():
                await do(handle, abi.RELEASE)
            # The handle 0 is the program's own, which refuses to be let go.
            for stream in filter(None, channel.streams):
                await do(stream, abi.RELEASE)
            await do(channel.handle, abi.RELEASE)
        self._channels.clear()
        if self.handle >= 0:
            await do(self.handle, abi.RELEASE)
            self.handle = -1
