"""The events that say which objects a process has mapped.

Four families of LTTng-UST events, and one of our own, tell of the same thing. Each
name has one row in the table below; :func:`apply` feeds an event to the image of its
process.

============================  ==========================================================
``lttng_ust_statedump:*``     everything that is mapped when tracing starts
``lttng_ust_lib:*``           what the dynamic linker maps and unmaps
``lttng_ust_dl:*``            calls of ``dlopen``, ``dlmopen`` and ``dlclose``
``ust_baddr:*``               what the first proposal of such events had: ``init`` is
                              the dump, ``push`` a load, ``pop`` an unload
``vestige_python:code``       a function of a Python program, see ``vestige.instrument``
============================  ==========================================================

``lttng_ust_dl:dlclose`` is the odd one. It is recorded before the call, so the
object's destructors still run; it is recorded for every call, also when other users
keep the object (each library with tracepoints opens and closes LTTng's own libraries);
and ``lttng_ust_lib:unload`` reports the true end. So it is ignored once a process has
reported any ``lttng_ust_lib`` event. Otherwise it counts against the ``dlopen`` calls
seen for the same object, and ends a mapping that only those calls had reported.

A trace is untrusted input: an event with a missing or ill-typed field is ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..._typing import NamedTuple
from ...units import Address, Vpid
from .image import Mapping as ObjectMapping
from .image import ProcessImage, ProcessImages

__all__ = [
    "CALL_ENTRY_EVENTS",
    "CALL_EVENT_NAMES",
    "CALL_EXIT_EVENTS",
    "CODE_EVENT",
    "STATE_EVENT_NAMES",
    "apply",
]

_Fields = Mapping[str, object]


class _FieldNames(NamedTuple):
    path: str
    size: str
    modified: str | None = None


CODE_EVENT = "vestige_python:code"
"""Tells of a function; nothing that was there before changes."""

_LTTNG_FIELDS = _FieldNames("path", "memsz")
_BADDR_FIELDS = _FieldNames("sopath", "size", "mtime")


def apply(images: ProcessImages, event_name: str, vpid: Vpid, fields: _Fields) -> bool:
    """Change the image of a process as an event says.

    Args:
        images: The images of the event's trace.
        event_name: The full name of the event.
        vpid: The process that emitted it.
        fields: The event's payload.

    Returns:
        Whether the event is one of :data:`STATE_EVENT_NAMES`.
    """
    handler = _HANDLERS.get(event_name)
    if handler is None:
        return False
    image = images.of(vpid)
    if event_name.startswith("lttng_ust_lib:"):
        image.loader_is_traced = True
    handler(image, fields)
    return True


def _start(image: ProcessImage, _fields: _Fields) -> None:
    image.begin_state_dump()


def _bin_info(image: ProcessImage, fields: _Fields) -> None:
    is_pic = _integer(fields, "is_pic")
    mapping = _mapping(fields, is_pic=None if is_pic is None else is_pic == 1)
    if mapping is not None and is_pic is not None:
        image.map_object(mapping)


def _load(image: ProcessImage, fields: _Fields) -> None:
    mapping = _mapping(fields, is_pic=True)
    if mapping is not None:
        image.map_object(mapping)


def _dlopen(image: ProcessImage, fields: _Fields) -> None:
    mapping = _mapping(fields, is_pic=True, base_is_bias=True)
    if mapping is not None:
        image.open_object(mapping)


def _push(image: ProcessImage, fields: _Fields) -> None:
    mapping = _mapping(fields, _BADDR_FIELDS, is_pic=None)
    if mapping is not None:
        image.map_object(mapping)


def _unload(image: ProcessImage, fields: _Fields) -> None:
    base = _base(fields)
    if base is not None:
        image.unmap(base)


def _dlclose(image: ProcessImage, fields: _Fields) -> None:
    base = _base(fields)
    if base is not None and not image.loader_is_traced:
        image.close_object(base)


def _build_id(image: ProcessImage, fields: _Fields) -> None:
    base, build_id = _base(fields), _bytes(fields, "build_id")
    if base is not None and build_id is not None:
        image.set_build_id(base, build_id)


def _debug_link(image: ProcessImage, fields: _Fields) -> None:
    base, crc = _base(fields), _integer(fields, "crc")
    name = _text(fields, "filename")
    if base is not None and crc is not None and name is not None:
        image.set_debug_link(base, name, crc)


def _code(image: ProcessImage, fields: _Fields) -> None:
    base, size = _base(fields), _integer(fields, "memsz")
    path, function = _text(fields, "path"), _text(fields, "func")
    line = _integer(fields, "line")
    if base is None or size is None or path is None or not function or line is None:
        return
    image.add_code(ObjectMapping(base, size, path, is_pic=True, code=(function, line)))


_HANDLERS: dict[str, Callable[[ProcessImage, _Fields], None]] = {
    "lttng_ust_statedump:start": _start,
    "lttng_ust_statedump:bin_info": _bin_info,
    "lttng_ust_statedump:build_id": _build_id,
    "lttng_ust_statedump:debug_link": _debug_link,
    "lttng_ust_lib:load": _load,
    "lttng_ust_lib:build_id": _build_id,
    "lttng_ust_lib:debug_link": _debug_link,
    "lttng_ust_lib:unload": _unload,
    "lttng_ust_dl:dlopen": _dlopen,
    "lttng_ust_dl:dlmopen": _dlopen,
    "lttng_ust_dl:build_id": _build_id,
    "lttng_ust_dl:debug_link": _debug_link,
    "lttng_ust_dl:dlclose": _dlclose,
    "ust_baddr:init": _push,
    "ust_baddr:push": _push,
    "ust_baddr:pop": _unload,
    CODE_EVENT: _code,
}

STATE_EVENT_NAMES = frozenset(_HANDLERS)
"""The full names of all events that :func:`apply` wants to see."""

CALL_ENTRY_EVENTS = (
    "lttng_ust_cyg_profile_fast:func_entry",
    "lttng_ust_cyg_profile:func_entry",
    "vestige_python:func_entry",
    "vestige_python:coroutine_entry",
)
"""The events at the entry of a function: lttng-ust-cyg-profile(3), and of Python."""
CALL_EXIT_EVENTS = (
    "lttng_ust_cyg_profile_fast:func_exit",
    "lttng_ust_cyg_profile:func_exit",
    "vestige_python:func_exit",
    "vestige_python:coroutine_exit",
)
"""The events at its exit."""

CALL_EVENT_NAMES = frozenset(
    f"lttng_ust_cyg_profile_fast:func_{end}" for end in ("entry", "exit")
)
"""The full names of the events whose exits tell no function: entries before them do."""


def _mapping(
    fields: _Fields,
    names: _FieldNames = _LTTNG_FIELDS,
    *,
    is_pic: bool | None,
    base_is_bias: bool = False,
) -> ObjectMapping | None:
    base, size = _base(fields), _integer(fields, names.size)
    path = _text(fields, names.path)
    if base is None or size is None or not path:
        return None
    return ObjectMapping(
        base,
        size,
        path,
        is_pic=is_pic,
        modified=None if names.modified is None else _integer(fields, names.modified),
        base_is_bias=base_is_bias,
    )


def _base(fields: _Fields) -> Address | None:
    base = _integer(fields, "baddr")
    return None if base is None else Address(base)


def _integer(fields: _Fields, name: str) -> int | None:
    value = fields.get(name)
    return int(value) if isinstance(value, int) else None


def _text(fields: _Fields, name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) else None


def _bytes(fields: _Fields, name: str) -> bytes | None:
    # A build ID is an array of numbers; some decoders make bytes of it.
    value = fields.get(name)
    if isinstance(value, str) or not isinstance(value, Sequence):
        return None
    try:
        return bytes(value)
    except (TypeError, ValueError):
        return None
