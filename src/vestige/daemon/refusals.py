"""Why the daemon refuses a request: the numbers and sentences of LTTng 2.13.

Commands end with these numbers, and scripts compare them, so they are those of
lttng-error.h as far as user space meets them.
"""

from __future__ import annotations

from .._typing import NamedTuple
from ..errors import SessionError

__all__ = ["REFUSALS", "Refusal", "os_error_text", "refused"]


class Refusal(NamedTuple):
    """What a command says and returns."""

    status: int
    """The number, which is the exit status of most verbs."""

    text: str
    """The sentence, without a full stop."""


KERNEL_NEEDS_ROOT = (
    "Tracing the kernel requires a root lttng-sessiond daemon, as well as "
    '"tracing" group membership or root user ID for the lttng client'
)

REFUSALS = {
    "UNKNOWN": Refusal(11, "Unknown error"),
    "UNKNOWN_VERB": Refusal(12, "Undefined command"),
    "NOT_SUPPORTED": Refusal(15, "Operation not supported"),
    "CREATE_DIR_FAIL": Refusal(17, "Create directory failed"),
    "NO_SESSIOND": Refusal(19, "No session daemon is available"),
    "SET_URL": Refusal(20, "Error setting URL"),
    "SESS_NOT_FOUND": Refusal(23, "Session name not found"),
    "BUFFER_TYPE_MISMATCH": Refusal(24, "Buffer type mismatch for session"),
    "EXIST_SESS": Refusal(28, "Session name already exists"),
    "SNAPSHOT_OUTPUT_EXIST": Refusal(31, "Snapshot output already exists"),
    "EPERM": Refusal(32, "Permission denied"),
    "KERNEL_NOT_AVAILABLE": Refusal(33, "Kernel tracer not available"),
    "NO_EVENT": Refusal(29, "Event not found"),
    "KERN_EVENT_EXIST": Refusal(35, "Kernel event already exists"),
    "KERN_CHAN_EXIST": Refusal(37, "Kernel channel already exists"),
    "KERN_CHAN_FAIL": Refusal(38, "Kernel create channel failed"),
    "KERN_CHAN_NOT_FOUND": Refusal(39, "Kernel channel not found"),
    "KERN_CONTEXT_FAIL": Refusal(42, "Add kernel context failed"),
    "KERN_ENABLE_FAIL": Refusal(43, "Enable kernel event failed"),
    "KERN_START_FAIL": Refusal(46, "Starting kernel trace failed"),
    "KERN_LIST_FAIL": Refusal(53, "Listing kernel events failed"),
    "KERN_EVENT_ENOSYS": Refusal(82, "Kernel event type not supported"),
    "KERN_CONTEXT_UNAVAILABLE": Refusal(121, "Context unavailable on this kernel"),
    "PROBE_LOCATION_INVAL": Refusal(138, "Invalid userspace probe location"),
    "START_SESSION_ONCE": Refusal(50, "Session needs to be started once"),
    "SNAPSHOT_FAIL": Refusal(51, "Snapshot record failed"),
    "UST_EVENT_ENABLED": Refusal(55, "UST event already enabled"),
    "UST_CHAN_FAIL": Refusal(58, "UST create channel failed"),
    "UST_CHAN_EXIST": Refusal(57, "UST channel already exist"),
    "UST_CHAN_NOT_FOUND": Refusal(59, "UST channel not found"),
    "UST_EVENT_NOT_FOUND": Refusal(76, "UST event not found"),
    "UST_CONTEXT_EXIST": Refusal(77, "UST context already exist"),
    "UST_CONTEXT_INVAL": Refusal(78, "UST invalid context"),
    "NEED_ROOT_SESSIOND": Refusal(79, KERNEL_NEEDS_ROOT),
    "TRACE_ALREADY_STARTED": Refusal(80, "Tracing has already been started once"),
    "TRACE_ALREADY_STOPPED": Refusal(81, "Tracing has already been stopped"),
    "NEED_CHANNEL_NAME": Refusal(
        83,
        "Non-default channel exists within session: channel name needs to be "
        "specified with '-c name'",
    ),
    "SAVE_FILE_EXIST": Refusal(85, "Session file already exists"),
    "SAVE_IO_FAIL": Refusal(86, "IO error while writing session configuration"),
    "LOAD_INVALID_CONFIG": Refusal(87, "Invalid session configuration"),
    "LOAD_IO_FAIL": Refusal(88, "IO error while reading a session configuration"),
    "LOAD_SESSION_NOENT": Refusal(89, "Session file not found"),
    "NO_CHANNEL": Refusal(72, "No channel found in the session"),
    "MAX_SIZE_INVALID": Refusal(90, "Snapshot max size is invalid"),
    "SESSION_INVALID_CHAR": Refusal(73, "Invalid character found in session name"),
    "INVALID": Refusal(97, "Invalid parameter"),
    "RELAYD_CONNECT_FAIL": Refusal(104, "Unable to connect to lttng-relayd"),
    "RELAYD_VERSION_FAIL": Refusal(105, "Relay daemon not compatible"),
    "LIVE_SESSION": Refusal(119, "Live sessions are not supported"),
    "FILTER_INVAL": Refusal(106, "Invalid filter bytecode"),
    "EXCLUSION_INVAL": Refusal(110, "Invalid exclusion data"),
    "INVALID_CHANNEL_NAME": Refusal(113, "Invalid channel name"),
    "SESSION_NOT_STARTED": Refusal(118, "Session not started"),
    "ROTATION_PENDING": Refusal(129, "Rotation already pending for this session"),
    "ROTATION_NOT_AVAILABLE": Refusal(
        130, "Rotation feature not available for this session's creation mode"
    ),
    "ROTATION_SCHEDULE_SET": Refusal(
        131, "A session rotation schedule of this type is already set on the session"
    ),
    "ROTATION_SCHEDULE_NOT_SET": Refusal(
        132, "No session rotation schedule of this type is set on the session"
    ),
    "ROTATION_MULTIPLE_AFTER_STOP": Refusal(
        133, "Session was already rotated once since it became inactive"
    ),
    "ROTATION_PENDING_RELAY_FAIL_CONSUMER": Refusal(
        144, "Rotation pending check (relay) failure on consumer"
    ),
    "ROTATE_RENAME_FAIL_CONSUMER": Refusal(142, "Rotation rename failure on consumer"),
    "CLEAR_RELAY_DISALLOWED": Refusal(
        156, "LTTng-relayd peer does not allow lttng clear command"
    ),
    "CLEAR_FAIL_CONSUMER": Refusal(158, "Consumer failed to clear the session"),
    "ROTATION_AFTER_STOP_CLEAR": Refusal(
        159, "Session was already cleared since it became inactive"
    ),
    "PROCESS_ATTR_EXISTS": Refusal(114, "Process attribute is already tracked"),
    "PROCESS_ATTR_MISSING": Refusal(115, "Process attribute was not tracked"),
    "NOT_SNAPSHOT_SESSION": Refusal(
        124, "Snapshot command can't be applied to a non-snapshot session"
    ),
    "INVALID_TRIGGER": Refusal(125, "Invalid trigger"),
    "TRIGGER_EXISTS": Refusal(126, "Trigger already registered"),
    "TRIGGER_NOT_FOUND": Refusal(127, "Trigger not found"),
    "ALREADY_SUBSCRIBED": Refusal(11, "Already subscribed to the condition"),
    "NOT_SUBSCRIBED": Refusal(11, "Not subscribed to the condition"),
    "USER_NOT_FOUND": Refusal(160, "User not found"),
    "GROUP_NOT_FOUND": Refusal(161, "Group not found"),
    "UNSUPPORTED_DOMAIN": Refusal(162, "Unsupported domain used"),
    "TRACKING_POLICY": Refusal(
        163,
        "Operation does not apply to the process attribute tracker's tracking policy",
    ),
}
"""By the name that the protocol carries."""
_TOLD_WITH_REASON = {
    "KERNEL_NOT_AVAILABLE",
    "KERN_CHAN_FAIL",
    "KERN_CONTEXT_UNAVAILABLE",
    "KERN_ENABLE_FAIL",
    "KERN_EVENT_ENOSYS",
    "KERN_START_FAIL",
    "PROBE_LOCATION_INVAL",
}
"""Those of the kernel: LTTng's sentence alone would leave people in the dark."""


def refused(name: str, detail: str | None = None) -> SessionError:
    """Return the error of a request that the daemon does not do.

    Args:
        name: Why; one of :data:`REFUSALS`.
        detail: What else is known, for people.

    Returns:
        The error, to be raised.
    """
    refusal = REFUSALS.get(name, REFUSALS["UNKNOWN"])
    text = refusal.text
    if detail is not None and name in _TOLD_WITH_REASON:
        text = f"{text}: {detail}"
    return SessionError(text, name=name, status=refusal.status, detail=detail)


def os_error_text(error: OSError) -> str:
    """Say what the system refused, for people.

    Args:
        error: Its error.

    Returns:
        The file, if there is one, and the reason.
    """
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename else reason
