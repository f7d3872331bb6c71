"""What ``source.ctf.fs`` answers without reading events."""

from __future__ import annotations

from pathlib import Path

from ..._typing import TYPE_CHECKING
from ...ctf import METADATA, metadata_text, read_metadata
from .ctf_fs import CtfFsSource

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["metadata_info", "support_info", "trace_infos"]

WEIGHT = 0.75
"""How sure it is that a directory is a trace, as Babeltrace 2 has it."""


def metadata_info(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text of the metadata of a trace: ``metadata-info``.

    Args:
        params: ``path``, its directory.

    Raises:
        TraceFormatError: The metadata cannot be read.
    """
    found = metadata_text(Path(params["path"]))
    return {"text": found.text, "is-packetized": found.is_packetized}


def support_info(params: Mapping[str, Any]) -> dict[str, Any]:
    """Tell whether something is a trace: ``babeltrace.support-info``.

    Args:
        params: ``input``, a path or another text, and ``type``: ``directory``,
            ``file`` or ``string``.

    Raises:
        TraceFormatError: It would be one, but its metadata cannot be used.
    """
    directory = Path(params["input"])
    is_trace = params["type"] == "directory" and (directory / METADATA).is_file()
    if not is_trace:
        return {"weight": 0.0}
    uuid = read_metadata(directory)[0].uuid
    if uuid is None:
        return {"weight": WEIGHT}
    from uuid import UUID  # noqa: PLC0415 - few traces are asked about

    return {"weight": WEIGHT, "group": str(UUID(bytes=uuid))}


def trace_infos(params: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the data streams of traces: ``babeltrace.trace-infos``.

    Args:
        params: Those of the source.

    Returns:
        For each trace its data streams, each with the name of its port and, if its
        packets tell it, the time of its beginning and its end, nanoseconds.

    Raises:
        NotATraceError: An input holds no trace.
        TraceFormatError: The metadata of no trace can be used.
    """
    source = CtfFsSource.of(params)
    traces: dict[int, list[dict[str, Any]]] = {}
    for stream, port in zip(source.streams, source.port_names, strict=True):
        info: dict[str, Any] = {"port-name": port}
        times = stream.handle.time_range()
        if times is not None:
            info["range-ns"] = {"begin": times[0], "end": times[1]}
        traces.setdefault(stream.trace.index, []).append(info)
    return [{"stream-infos": infos} for infos in traces.values()]
