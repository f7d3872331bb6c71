"""What is not recorded of programs that were compiled with LTTng-UST."""

from __future__ import annotations

from ..rules.options import RecordingOptions
from .contents import Contents

__all__ = ["why_without_lttng"]


def why_without_lttng(options: RecordingOptions, contents: Contents) -> str | None:
    """Say why tracepoints of programs that were compiled with LTTng-UST are not there.

    Args:
        options: What was asked for.
        contents: What the recording holds.

    Returns:
        The reason, for people; ``None`` where LTTng's own library was not loaded, or
        was to be.
    """
    libraries = [path for path in contents.objects if _is_lttng(path)]
    if not libraries or options.keep_lttng:
        return None
    if libraries[0].endswith(".so.0") or ".so.0." in libraries[0]:
        return (
            f"tracepoints of LTTng-UST 2.12 and before ({libraries[0]}) are not "
            "recorded: compile the program again"
        )
    return (
        f"LTTng-UST's own library was loaded ({libraries[0]}), and tracepoints that "
        "use it are not recorded; --keep-lttng records next to it"
    )


def _is_lttng(path: str) -> bool:
    name = path.rpartition("/")[2]
    return name.startswith(("liblttng-ust.so.0", "liblttng-ust.so.1"))
