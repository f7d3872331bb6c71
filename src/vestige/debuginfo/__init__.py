"""Which object was mapped there then, and which file has its symbols.

A trace records bare addresses. To give one a name takes three steps, and each has a
part of this package:

1. *Which object was there?* :class:`ProcessImages` holds, for each process, the
   objects in its memory at the present point of the trace. :func:`apply` feeds it the
   events in :data:`STATE_EVENT_NAMES`, in the order of time. Asked for an address, it
   answers with a :class:`Mapping`, or says why there is none.
2. *Which file describes that object?* :class:`DebugFileFinder` looks for the object and
   its separate debug file in the places that GDB searches, checks build IDs and CRCs,
   and keeps a log of each :class:`Attempt`.
3. *What is at the address?* :class:`Resolver` asks the symbol table of that file and
   answers with a :class:`Place`; :func:`format_place` writes it as text.

Without a trace, :func:`find` looks for the files of one object, and
:class:`SymbolTable` looks up addresses in it.

What cannot be found is no error: :class:`Unresolved` carries the :class:`Reason`, and
a place that is known in part says in ``shortfall`` what is missing. Nothing here raises
because of what a trace or a file contains.

The package decides; it parses nothing. ELF and DWARF are read by the Rust core, behind
the protocols in ``object_file``.
"""

from __future__ import annotations

from vestige._lazy import lazy_names
from vestige._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vestige.debuginfo.attempt import Attempt, AttemptKind, Outcome
    from vestige.debuginfo.finder import DebugFileFinder
    from vestige.debuginfo.formatting import PlaceText, format_place
    from vestige.debuginfo.found_files import DebugSource, FoundFiles
    from vestige.debuginfo.image import DebugLink, Mapping, ProcessImage, ProcessImages
    from vestige.debuginfo.object_file import (
        CrcOfFile,
        ObjectFile,
        ObjectOpener,
        SymbolReader,
        SymbolRow,
        SymbolTableBuilder,
    )
    from vestige.debuginfo.options import (
        DEBUG_DIRECTORIES,
        DEBUG_PATH_VARIABLE,
        DebugInfoOptions,
    )
    from vestige.debuginfo.place import Binary, Frame, Place
    from vestige.debuginfo.resolver import Resolver
    from vestige.debuginfo.state_events import (
        CALL_ENTRY_EVENTS,
        CALL_EVENT_NAMES,
        CALL_EXIT_EVENTS,
        CODE_EVENT,
        STATE_EVENT_NAMES,
        apply,
    )
    from vestige.debuginfo.store_search import SymbolStoreWarning
    from vestige.debuginfo.symbols import SymbolTable, find
    from vestige.debuginfo.target_prefixes import TargetPrefix, TargetPrefixes
    from vestige.debuginfo.unresolved import Reason, Unresolved

__all__ = [
    "CALL_ENTRY_EVENTS",
    "CALL_EVENT_NAMES",
    "CALL_EXIT_EVENTS",
    "CODE_EVENT",
    "DEBUG_DIRECTORIES",
    "DEBUG_PATH_VARIABLE",
    "STATE_EVENT_NAMES",
    "Attempt",
    "AttemptKind",
    "Binary",
    "CrcOfFile",
    "DebugFileFinder",
    "DebugInfoOptions",
    "DebugLink",
    "DebugSource",
    "FoundFiles",
    "Frame",
    "Mapping",
    "ObjectFile",
    "ObjectOpener",
    "Outcome",
    "Place",
    "PlaceText",
    "ProcessImage",
    "ProcessImages",
    "Reason",
    "Resolver",
    "SymbolReader",
    "SymbolRow",
    "SymbolStoreWarning",
    "SymbolTable",
    "SymbolTableBuilder",
    "TargetPrefix",
    "TargetPrefixes",
    "Unresolved",
    "apply",
    "find",
    "format_place",
]

_HOMES = {
    "Attempt": "attempt",
    "AttemptKind": "attempt",
    "Binary": "place",
    "CALL_ENTRY_EVENTS": "state_events",
    "CALL_EVENT_NAMES": "state_events",
    "CALL_EXIT_EVENTS": "state_events",
    "CODE_EVENT": "state_events",
    "CrcOfFile": "object_file",
    "DEBUG_DIRECTORIES": "options",
    "DEBUG_PATH_VARIABLE": "options",
    "DebugFileFinder": "finder",
    "DebugInfoOptions": "options",
    "DebugLink": "image",
    "DebugSource": "found_files",
    "FoundFiles": "found_files",
    "Frame": "place",
    "Mapping": "image",
    "ObjectFile": "object_file",
    "ObjectOpener": "object_file",
    "Outcome": "attempt",
    "Place": "place",
    "PlaceText": "formatting",
    "ProcessImage": "image",
    "ProcessImages": "image",
    "Reason": "unresolved",
    "Resolver": "resolver",
    "STATE_EVENT_NAMES": "state_events",
    "SymbolReader": "object_file",
    "SymbolRow": "object_file",
    "SymbolStoreWarning": "store_search",
    "SymbolTable": "symbols",
    "SymbolTableBuilder": "object_file",
    "TargetPrefix": "target_prefixes",
    "TargetPrefixes": "target_prefixes",
    "Unresolved": "unresolved",
    "apply": "state_events",
    "find": "symbols",
    "format_place": "formatting",
}
"""The module of each public name: it is imported when the name is first used.

A command needs some of them, and importing all takes longer than small tasks do.
"""


__getattr__, __dir__ = lazy_names(__name__, _HOMES)
