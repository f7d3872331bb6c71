"""The one exception tree of Vestige.

::

    VestigeError
    ├── TraceFormatError(ValueError)   bytes that are no valid CTF
    │   └── NotATraceError             a path that holds no CTF trace at all
    ├── DebugInfoError(ValueError)     an object or debug file that cannot be used
    ├── SelectionError(ValueError)     a request that makes no sense for this trace
    ├── NoSuchFieldError(KeyError)     a field that an event does not have
    ├── GraphError(RuntimeError)       components that cannot be joined or run
    │   └── ComponentError             a component in Python that raised an exception
    ├── ForkError(RuntimeError)        an iterator that a parent process made
    ├── RecordError                    a program that cannot be recorded
    │   └── ProgramError               a program that cannot be started
    ├── SessionError                   a recording session that refuses a request
    ├── DaemonRunsError                a session daemon that runs already
    ├── WriteError                     a trace that cannot be written
    │   ├── DeclarationError(ValueError)  a class that the format cannot have
    │   ├── FieldValueError(ValueError)   a value that does not fit its field
    │   ├── UnknownFieldError(ValueError) a name that no field has
    │   ├── TimestampError(ValueError)    a time before the last one
    │   ├── WriterClosedError(ValueError) a writer that is closed
    │   └── StorageError               a file that cannot be written
    ├── MissingExtraError(ImportError) a library that an extra would bring
    └── CommandError                   a failed command: message and exit status

What is odd but no error is a :class:`~vestige.VestigeWarning`.

Every error carries its facts as attributes, not only as text. Context is added while
the error rises, outermost first, with :func:`error_context`. "Not found" is no error:
look-ups return a value that says why.
"""

from __future__ import annotations

from errno import ENOENT, ENOTDIR

from ._typing import TYPE_CHECKING

if TYPE_CHECKING:
    # Its import takes as long as that of all else here.
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

    from .damage import Damage

__all__ = [
    "CommandError",
    "ComponentError",
    "DaemonRunsError",
    "DebugInfoError",
    "DeclarationError",
    "FieldValueError",
    "ForkError",
    "GraphError",
    "MissingExtraError",
    "NoSuchFieldError",
    "NotATraceError",
    "ProgramError",
    "RecordError",
    "SelectionError",
    "SessionError",
    "StorageError",
    "TimestampError",
    "TraceFormatError",
    "UnknownFieldError",
    "VestigeError",
    "WriteError",
    "WriterClosedError",
    "error_context",
]


class VestigeError(Exception):
    """Anything that Vestige itself reports as wrong.

    Args:
        message: What is wrong and what was expected, in one sentence.
        path: The file or directory concerned, when there is one.
        offset: Byte offset within that file, when it is known.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = None if path is None else str(path)
        self.offset = offset
        self.contexts: list[str] = []

    def add_context(self, context: str) -> None:
        """Say what was being done, in the words of the caller.

        Args:
            context: Such as ``packet 3 of stream 0``; the last one added is the
                outermost and is printed first.
        """
        self.contexts.append(context)

    def place(self) -> str:
        """Return what is known of ``PATH, byte OFFSET``; else an empty string."""
        if self.path is None:
            return "" if self.offset is None else f"byte {self.offset}"
        return self.path if self.offset is None else f"{self.path}, byte {self.offset}"

    def __str__(self) -> str:
        parts = [*reversed(self.contexts), self.place(), self.message]
        return ": ".join(part for part in parts if part)


class TraceFormatError(VestigeError, ValueError):
    """The bytes of a trace do not follow the Common Trace Format.

    Args:
        message: What is wrong and what was expected, in one sentence.
        path: The file concerned.
        offset: Byte offset within that file.
        damage: The facts, when it is damage that could be read around.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        offset: int | None = None,
        damage: Damage | None = None,
    ) -> None:
        super().__init__(message, path=path, offset=offset)
        self._damage = damage

    @classmethod
    def of_damage(cls, damage: Damage) -> Self:
        """Return the error that damage is for those who want none of it.

        Args:
            damage: The damage.
        """
        return cls(damage.message, path=damage.path, offset=damage.start, damage=damage)

    @property
    def is_damage(self) -> bool:
        """Whether it is damage that could be read around."""
        return self._damage is not None

    @property
    def damage(self) -> Damage:
        """The facts as a value."""
        if self._damage is not None:
            return self._damage
        # Most errors are no damage.
        from .damage import Damage  # noqa: PLC0415 - see above

        path = "" if self.path is None else self.path
        return Damage(path, self.offset, None, "stream-unreadable", self.message)


class NotATraceError(TraceFormatError):
    """No CTF trace lies at or below the path."""


class DebugInfoError(VestigeError, ValueError):
    """An object file or debug file cannot be used."""


class SelectionError(VestigeError, ValueError):
    """A selection, pattern or option does not fit the trace."""

    on_command_line: str | None = None
    """The message with the names that options have there, if they have others."""


class NoSuchFieldError(VestigeError, KeyError):
    """An event has no field of that name.

    Args:
        name: The name that was asked for.
        fields: The names of the fields that there are.
        event: Name of the event, when all its fields are meant.
    """

    def __init__(
        self, name: str, fields: Sequence[str], event: str | None = None
    ) -> None:
        super().__init__(name)
        self.name = name
        self.fields = tuple(fields)
        self.event = event

    def __str__(self) -> str:
        # Made here: most of these errors are caught and never shown.
        what = "here" if self.event is None else f"in {self.event}"
        # Most errors suggest nothing.
        from .advice import nearest  # noqa: PLC0415 - see above

        there = nearest(self.name, self.fields)
        return f"there is no field '{self.name}' {what}; there {there}"

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle what makes the same error again."""
        return type(self), (self.name, self.fields, self.event)


class GraphError(VestigeError, RuntimeError):
    """Components cannot be connected or run as asked."""


class ComponentError(GraphError):
    """A component in Python did what it must not.

    If it raised an exception, that is the cause of this one.

    Args:
        name: Name of the component.
        what: What it did.
    """

    def __init__(self, name: str, what: str) -> None:
        super().__init__(f"component '{name}': {what}")
        self.component = name
        self._what = what

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by what it was made of."""
        return type(self), (self.component, self._what)


class ForkError(VestigeError, RuntimeError):
    """A forked process went on with an iterator that its parent had made.

    The threads that read ahead for the iterator are in the parent. The process can
    iterate over the trace anew.
    """


class MissingExtraError(VestigeError, ImportError):
    """A library that Vestige uses only for some of its outputs is not installed.

    Args:
        module: The library.
        extra: The extra of the package that brings it.
    """

    def __init__(self, module: str, extra: str) -> None:
        super().__init__(
            f"this needs {module}: install it with 'pip install vestige[{extra}]'"
        )
        self.extra = extra


class RecordError(VestigeError):
    """A program cannot be recorded."""


class ProgramError(RecordError):
    """A program that is to be recorded cannot be started.

    Args:
        program: Its name, as it was given.
        error: What the system said.
    """

    def __init__(self, program: str, error: OSError) -> None:
        super().__init__(f"cannot be started: {error.strerror}", path=program)
        self.is_found = error.errno not in {ENOENT, ENOTDIR}
        """Whether there is such a file."""


class SessionError(VestigeError):
    """A recording session, or its daemon, refuses what was asked.

    Args:
        message: Why, as LTTng says it.
        name: Why, as the protocol of the daemon names it.
        status: The number of LTTng's error, with which most commands end.
        detail: What else is known, for people.
    """

    def __init__(
        self, message: str, *, name: str, status: int, detail: str | None = None
    ) -> None:
        super().__init__(message)
        self.name = name
        self.status = status
        self.detail = detail

    def __str__(self) -> str:
        message = super().__str__()
        if self.detail is None or message.endswith(self.detail):
            return message
        return f"{message}: {self.detail}"


class DaemonRunsError(VestigeError):
    """A session daemon, LTTng's or ours, has the lock of a run directory already.

    Args:
        lock: The file.
        pid: Whose it is; 0 where that is not known.
    """

    def __init__(self, lock: str, pid: int) -> None:
        whose = f" It has process ID {pid}." if pid else ""
        super().__init__(f"A session daemon is already running.{whose}")
        self.lock = lock
        self.pid = pid


class WriteError(VestigeError):
    """A trace cannot be written as asked. Nothing of what was asked for is in it.

    Args:
        message: What is wrong and what was expected.
        path: The file concerned.
        event_class: Name of the event record class.
        row: In bulk, number of the event record, from 0.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        event_class: str | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(message, path=path)
        self.event_class = event_class
        self.row = row

    def place(self) -> str:
        """Return what the error is about: path, event class, row and field."""
        facts = [self.path, self.event_class]
        if self.row is not None:
            facts.append(f"row {self.row}")
        return ", ".join(fact for fact in facts if fact)


class DeclarationError(WriteError, ValueError):
    """A class is declared in a way that the format does not have.

    Args:
        message: What is wrong and what was expected.
        name: Name of the class or the field.
    """

    def __init__(self, message: str, *, name: str | None = None) -> None:
        super().__init__(message)
        self.name = name

    def place(self) -> str:
        """Return the name of the class or the field."""
        return self.name or ""


class FieldValueError(WriteError, ValueError):
    """A value does not fit the class of its field.

    Args:
        message: What is wrong and what was expected.
        field: The field, such as ``request.headers[3].name``.
        value: The value, when it is an integer.
        event_class: Name of the event record class.
        row: In bulk, number of the event record, from 0.
    """

    def __init__(
        self,
        message: str,
        *,
        field: str,
        value: int | None = None,
        event_class: str | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(message, event_class=event_class, row=row)
        self.field = field
        self.value = value

    def place(self) -> str:
        """Return what the error is about: event class, row and field."""
        return ", ".join(part for part in (super().place(), self.field) if part)


class UnknownFieldError(WriteError, ValueError):
    """A value is given for a field that the class does not have.

    Args:
        message: Nothing, or what is wrong.
        fields: The names.
        event_class: Name of the event record class.
    """

    def __init__(
        self,
        message: str = "",
        *,
        fields: Sequence[str] = (),
        event_class: str | None = None,
    ) -> None:
        message = message or f"there is no field {' or '.join(fields)}"
        super().__init__(message, event_class=event_class)
        self.fields = tuple(fields)


class TimestampError(WriteError, ValueError):
    """A time stamp goes back, or is one that readers cannot show.

    Args:
        message: What is wrong and what was expected.
        timestamp: The time stamp.
        limit: The one that it must not be before, or not above.
        event_class: Name of the event record class.
        row: In bulk, number of the event record, from 0.
    """

    def __init__(
        self,
        message: str,
        *,
        timestamp: object = None,
        limit: int | None = None,
        event_class: str | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(message, event_class=event_class, row=row)
        self.timestamp = timestamp
        self.limit = limit


class WriterClosedError(WriteError, ValueError):
    """What is written to was closed, or belongs to the parent process."""


class StorageError(WriteError):
    """A file of a trace cannot be written, such as for a full disk.

    What was asked for can be asked for again; of event records in bulk, the first
    :attr:`written` are written.

    Args:
        message: What the system said.
        path: The file.
        errno: The number of the system's error.
        written: Number of event records in bulk that are written.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | Path | None = None,
        errno: int | None = None,
        written: int = 0,
    ) -> None:
        super().__init__(message, path=path)
        self.errno = errno
        self.written = written


class CommandError(VestigeError):
    """A command line that cannot be carried out.

    Args:
        message: What is wrong, for the person who typed the command.
        exit_code: The exit status of the process; ``None`` for that of any error of
            the verb.
        has_lines: Whether line feeds in the message are meant: else they come from
            names, and are shown as escapes.
    """

    def __init__(
        self, message: str, *, exit_code: int | None = None, has_lines: bool = False
    ) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.has_lines = has_lines


class error_context:  # noqa: N801 - as those of contextlib
    """Add ``context`` to any Vestige error that leaves the block.

    Args:
        context: What the block does, such as ``reading the metadata``.
    """

    def __init__(self, context: str) -> None:
        self._context = context

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(
        self, _kind: object, error: BaseException | None, _traceback: object
    ) -> None:
        """Add the context, and let the error go on."""
        if isinstance(error, VestigeError):
            error.add_context(self._context)
