"""The session verbs of channels: enable-channel, disable-channel, add-context."""

from __future__ import annotations

from ..._typing import TYPE_CHECKING
from ...daemon.numbers import read_size, read_time, round_sizes
from ...errors import SessionError
from .call import DONE, FAILED, FATAL, WARNED, WORDS_OF_DOMAINS, Call, FailedError
from .options import NEEDED, Option

if TYPE_CHECKING:
    from ...daemon.contexts import ContextType
    from ...daemon.xml_tree import Element

__all__ = [
    "ADD_CONTEXT",
    "DISABLE_CHANNEL",
    "ENABLE_CHANNEL",
    "add_context",
    "disable_channel",
    "enable_channel",
]

SESSION = Option(
    "session", "in the session NAME, not the current one", "s", NEEDED, "NAME"
)
_KERNEL = Option("kernel", "in the domain of the kernel, as root", "k")
_USER_SPACE = Option("userspace", "in the domain of user space", "u")
ENABLE_CHANNEL = (
    _KERNEL,
    _USER_SPACE,
    SESSION,
    Option("discard", "drop the newest events when buffers are full (default)"),
    Option("overwrite", "drop the oldest sub-buffer when buffers are full"),
    Option("subbuf-size", "size of a sub-buffer: 4k, 1M", None, NEEDED, "SIZE"),
    Option("num-subbuf", "number of sub-buffers", None, NEEDED, "COUNT"),
    Option(
        "switch-timer", "give sub-buffers away at least so often", None, NEEDED, "TIME"
    ),
    Option(
        "monitor-timer", "sample how full buffers are so often", None, NEEDED, "TIME"
    ),
    Option("read-timer", "look for full sub-buffers so often", None, NEEDED, "TIME"),
    Option(
        "blocking-timeout",
        "wait for room so long: inf, 100ms (not in the kernel)",
        None,
        NEEDED,
        "TIME",
    ),
    Option("output", "mmap; in the kernel also splice", None, NEEDED, "TYPE"),
    Option("buffers-uid", "buffers for each user (default)"),
    Option("buffers-pid", "buffers for each process"),
    Option("buffers-global", "buffers for the whole system (default of the kernel)"),
    Option("tracefile-size", "begin a new file at this size", "C", NEEDED, "SIZE"),
    Option("tracefile-count", "keep so many files of a stream", "W", NEEDED, "COUNT"),
)
DISABLE_CHANNEL = (_KERNEL, _USER_SPACE, SESSION)
ADD_CONTEXT = (
    _KERNEL,
    _USER_SPACE,
    Option("jul", "in the domain of java.util.logging", "j"),
    Option("log4j", "in the domain of log4j", "l"),
    SESSION,
    Option("channel", "to the channel NAME, not to all", "c", NEEDED, "NAME"),
    Option("type", "the context TYPE; may be given again", "t", NEEDED, "TYPE"),
    Option("list", "list all types"),
)


def enable_channel(call: Call) -> int:
    """Make channels, or enable them again."""
    domain = call.domain("kernel userspace")
    if domain is None:
        raise FailedError(FAILED, "Please specify a domain (--kernel/--userspace).")
    values = _attributes(call, is_kernel=domain == "KERNEL")
    return _for_channels(call, domain, "enable", values)


def disable_channel(call: Call) -> int:
    """Disable channels."""
    domain = call.domain("kernel userspace")
    if domain is None:
        raise FailedError(FAILED, "Please specify a domain (--kernel/--userspace).")
    return _for_channels(call, domain, "disable", {})


def _for_channels(call: Call, domain: str, what: str, values: dict[str, object]) -> int:
    if not call.words.arguments:
        raise FailedError(FAILED, "Missing channel name.")
    session = call.session(call.words.value("session"))
    status = DONE
    shown: list[Element] = []
    for name in call.words.arguments[0].split(","):
        channel: dict[str, object] = {}
        try:
            client = call.client
            do = client.enable_channel if what == "enable" else client.disable_channel
            channel = do(session, name, domain=domain, **values)
            word = WORDS_OF_DOMAINS[domain]
            call.say(f"{word} channel {name} {what}d for session {session}")
            is_done = True
        except SessionError as error:
            status = _report_channel(call, error, name, session, status)
            is_done = False
        if call.general.is_mi:
            shown.append(_channel_shown(name, channel, what, is_done=is_done))
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        call.emit(element("channels", *shown), is_success=status == DONE)
    return status


def _report_channel(
    call: Call, error: SessionError, name: str, session: str, status: int
) -> int:
    """Say why a channel was refused; return the exit status."""
    if error.name == "INVALID_CHANNEL_NAME":
        call.error(
            f'Invalid channel name: "{name}". Channel names may not start with '
            "'.', and may not contain '/'."
        )
        return FAILED
    text = f"Channel {name}: {error.message} (session {session})"
    if error.name in {"UST_CHAN_EXIST", "KERN_CHAN_EXIST"}:
        call.warn(text)
        return status or WARNED
    call.error(text)
    is_missing = error.name in {"UST_CHAN_NOT_FOUND", "KERN_CHAN_NOT_FOUND"}
    return WARNED if is_missing else FAILED


def _channel_shown(
    name: str, channel: dict[str, object], what: str, *, is_done: bool
) -> Element:
    from ...daemon.mi import NO_LIVE_TIMER, channel_element
    from ...daemon.xml_tree import element

    success = element("success", is_done)
    if channel:
        return channel_element(channel, success, live_timer=NO_LIVE_TIMER)
    is_enabled = (what == "enable") == is_done
    return element(
        "channel", element("name", name), element("enabled", is_enabled), success
    )


def _attributes(call: Call, *, is_kernel: bool) -> dict[str, object]:
    words = call.words
    buffers = _buffers(call, is_kernel=is_kernel)
    values: dict[str, object] = {
        "overwrite": words.has("overwrite") and not words.has("discard"),
        "discard": words.has("discard"),
    }
    for option, name, read in (
        ("subbuf-size", "subbuf_size", read_size),
        ("num-subbuf", "num_subbuf", read_size),
        ("switch-timer", "switch_timer", read_time),
        ("monitor-timer", "monitor_timer", read_time),
        ("read-timer", "read_timer", read_time),
        ("tracefile-size", "tracefile_size", read_size),
        ("tracefile-count", "tracefile_count", read_size),
    ):
        text = words.value(option)
        if text is not None:
            number = read(text)
            needs_some = option in {"subbuf-size", "num-subbuf"}
            if number is None or (needs_some and number == 0):
                where = "for" if read is read_time else "in"
                raise FailedError(
                    FAILED, f"Wrong value {where} --{option} parameter: {text}"
                )
            values[name] = number
    if words.has("blocking-timeout"):
        values["blocking_timeout"] = _blocking_timeout(call)
    if values.get("blocking_timeout") and values["overwrite"]:
        raise FailedError(
            FAILED,
            "You cannot specify --overwrite and --blocking-timeout=N, where N is "
            "different than 0",
        )
    output = words.value("output")
    if output not in {None, "mmap", "splice"}:
        raise FailedError(
            FAILED,
            f"Unknown output type {output}. Possible values are: mmap, splice",
        )
    values["output"] = output
    values["buffers"] = buffers
    if "tracefile_count" in values and "tracefile_size" not in values:
        raise FailedError(
            FAILED,
            "Missing option --tracefile-size. A file count without a size won't do "
            "anything.",
        )
    _round(call, values)
    return values


def _buffers(call: Call, *, is_kernel: bool) -> str | None:
    """Return the buffering scheme, if there is a choice and one was made."""
    words = call.words
    if is_kernel:
        if words.has("blocking-timeout"):
            raise FailedError(
                FAILED, "Retry timeout option not supported for kernel domain (-k)"
            )
        if words.has("buffers-uid") or words.has("buffers-pid"):
            raise FailedError(FAILED, "Buffer type not supported for domain -k")
        return "global"
    if words.has("buffers-global"):
        raise FailedError(FAILED, "Buffer type not supported for domain -u")
    return next((one for one in ("uid", "pid") if words.has(f"buffers-{one}")), None)


def _blocking_timeout(call: Call) -> int:
    text = call.words.value("blocking-timeout") or ""
    number = -1 if text == "inf" else read_time(text)
    if number is None:
        raise FailedError(
            FAILED, f"Wrong value for --blocking-timeout parameter: {text}"
        )
    return number


def _round(call: Call, values: dict[str, object]) -> None:
    """Round sizes and numbers up, and say so."""
    for name, given, rounded in round_sizes(values):
        if name == "tracefile_size":
            call.warn(
                f"Tracefile size rounded up from ({given}) to subbuffer size "
                f"({rounded})"
            )
            continue
        what = "subbuf size" if name == "subbuf_size" else "number of subbuffers"
        call.warn(f"The {what} ({given}) is rounded to the next power of 2 ({rounded})")


def add_context(call: Call) -> int:
    """Add context fields to the event records of channels."""
    if call.words.has("list"):
        return _list_contexts(call)
    names = call.words.values("type")
    if not names:
        raise FailedError(FAILED, "Missing mandatory -t TYPE")
    types = _context_types(names)
    domain = call.domain("kernel userspace jul log4j")
    if domain is None:
        raise FailedError(
            FAILED,
            "Please specify a domain (--kernel/--userspace/--jul/--log4j/--python).",
        )
    session = call.session(call.words.value("session"))
    channel = call.words.value("channel")
    where = "all channels" if channel is None else f"channel {channel}"
    status = DONE
    shown: list[Element] = []
    for one in types:
        try:
            call.client.add_context(session, one.name, channel, domain=domain)
            call.say(f"{WORDS_OF_DOMAINS[domain]} context {one.name} added to {where}")
        except SessionError as error:
            # The schema of the machine interface has no place for it.
            call.error(f"{one.name}: {error.message}")
            status = WARNED
        else:
            if call.general.is_mi:
                shown.append(_context_shown(one))
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        call.emit(element("contexts", *shown), is_success=status == DONE)
    return status


def _context_types(names: list[str]) -> list[ContextType]:
    from ...daemon.contexts import context_type

    types = []
    for name in names:
        found = context_type(name)
        if found is None:
            raise FailedError(FATAL, f"Unknown context type {name}")
        types.append(found)
    return types


def _list_contexts(call: Call) -> int:
    from ...daemon.contexts import CONTEXT_NAMES, context_type

    call.say(*CONTEXT_NAMES)
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        types = filter(None, map(context_type, CONTEXT_NAMES))
        call.emit(element("contexts", *(_context_shown(one) for one in types)))
    return DONE


def _context_shown(kind: ContextType) -> Element:
    from ...daemon.xml_tree import element

    if kind.kind == "PERF":
        about = element(
            "perf",
            element("type", kind.type),
            element("config", kind.config),
            element("name", kind.counter_field),
        )
    elif kind.kind == "APP":
        provider, name = kind.application
        about = element(
            "app", element("provider_name", provider), element("ctx_name", name)
        )
    else:
        about = element("type", kind.kind)
    return element("context", about, element("symbol", kind.name))
