"""Records of :mod:`logging` as events.

The event and its fields are those of LTTng-UST's agent for Python, see lttng-ust(3).
"""

from __future__ import annotations

import logging
import sys
import time
import traceback
from collections.abc import Callable
from types import FrameType
from typing import Any

from ._extension import native
from ._wanted import wanted_words

__all__ = ["attach", "logging_handler"]

_TEXT, _NUMBER, _LONG_NUMBER = 2, 5, 6
_FIELDS = (
    ("asctime", _TEXT),
    ("msg", _TEXT),
    ("logger_name", _TEXT),
    ("funcName", _TEXT),
    ("lineno", _NUMBER),
    ("int_loglevel", _NUMBER),
    ("thread", _LONG_NUMBER),
    ("threadName", _TEXT),
)
_DEBUG_LINE = 13
_OURS = {logging.info.__code__.co_filename, __file__}
_MARK = "_vestige"
_MOST_FRAMES = 100
"""Of a traceback, those nearest to the exception."""
_LONGEST_TRACEBACK = 16_000
"""Characters; a record must fit into a packet."""


def logging_handler() -> logging.Handler:
    """Make a handler that records what it handles as ``lttng_python:event``.

    ``vestige record`` records all loggers by itself; then the handler does nothing.
    It is for programs that choose loggers and levels themselves.

    Returns:
        The handler, for :meth:`logging.Logger.addHandler`.
    """
    return _Handler()


class _Handler(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self._emit = _recorder()

    def emit(self, record: logging.LogRecord) -> None:
        if self._emit is not None and not _is_attached():
            self._emit(record)


def attach() -> None:
    """Record what any logger passes on to its handlers.

    A handler of the root logger would change the program: ``basicConfig()`` would do
    nothing, and warnings would no longer go to the standard error by themselves.
    """
    emit = _recorder()
    if emit is None or _is_attached():
        return
    call_handlers = logging.Logger.callHandlers

    def callHandlers(self: logging.Logger, record: logging.LogRecord) -> None:  # noqa: N802 - as there
        emit(record)
        call_handlers(self, record)

    callHandlers.__doc__ = call_handlers.__doc__
    callHandlers.__qualname__ = call_handlers.__qualname__
    callHandlers.__module__ = call_handlers.__module__
    setattr(callHandlers, _MARK, True)
    logging.Logger.callHandlers = callHandlers  # type: ignore[method-assign]


def _is_attached() -> bool:
    return hasattr(logging.Logger.callHandlers, _MARK)


def _recorder() -> Callable[[logging.LogRecord], None] | None:
    """Return what records a record; ``None`` when nothing is recorded."""
    if native is None:
        return None
    has_tracebacks = "tracebacks" in wanted_words()
    fields = (*_FIELDS, ("traceback", _TEXT)) if has_tracebacks else _FIELDS
    point: Any = native.Tracepoint("lttng_python", "event", _DEBUG_LINE, fields)
    if not point.enabled:
        return None
    at_frame = point.at_frame

    def emit(record: logging.LogRecord) -> None:
        at_frame(
            _caller(record),
            _asctime(record),
            _message(record),
            record.name,
            record.funcName or "",
            record.lineno or 0,
            record.levelno,
            record.thread or 0,
            record.threadName or "",
            *((_traceback(record),) if has_tracebacks else ()),
        )

    return emit


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception:  # noqa: BLE001 - the program's own handlers tell of it
        return str(record.msg)


def _traceback(record: logging.LogRecord) -> str:
    """Return what a formatter writes after the message, within bounds."""
    parts = []
    if record.exc_info and record.exc_info[1] is not None:
        try:
            lines = traceback.format_exception(record.exc_info[1], limit=-_MOST_FRAMES)
        except Exception:  # noqa: BLE001 - the program's own handlers tell of it
            lines = [record.exc_info[1].__class__.__name__]
        parts.append("".join(lines).rstrip())
    if record.stack_info:
        parts.append(str(record.stack_info))
    text = "\n".join(parts)
    if len(text) > _LONGEST_TRACEBACK:
        half = _LONGEST_TRACEBACK // 2
        text = f"{text[:half]}\n[...]\n{text[-half:]}"
    return text


def _caller(record: logging.LogRecord) -> FrameType:
    """Return the frame of the logging call, as near as it can be told."""
    frame = sys._getframe(2)  # noqa: SLF001 - logging uses it, too
    first = None
    while frame is not None and frame.f_back is not None:
        if frame.f_code.co_filename not in _OURS:
            first = first or frame
            if frame.f_lineno == record.lineno:
                return frame
        frame = frame.f_back
    return first or frame


class _Second:
    # The text of the present second: to format it takes longer than all else.
    known = (-1, "")


def _asctime(record: logging.LogRecord) -> str:
    """Return the time as :meth:`logging.Formatter.formatTime` has it by default."""
    second = int(record.created)
    number, text = _Second.known
    if number != second:
        text = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(second))
        _Second.known = second, text
    return f"{text},{int(record.msecs):03d}"
