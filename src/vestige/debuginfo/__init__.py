"""Which object was mapped there then, and which file has its symbols.

A trace records bare addresses. To give one a name takes three steps, and each has a
folder of this package:

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

``images`` has the first, ``files`` the second, ``places`` the third, with the symbol
tables that ``tables`` keeps. Others import all names from here.

The package decides; it parses nothing. ELF and DWARF are read by the Rust core, behind
the protocols in ``object_file``.
"""

from __future__ import annotations

from .._lazy import lazy_names
from .._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .attempt import Attempt, AttemptKind, Outcome
    from .files.finder import DebugFileFinder
    from .files.options import (
        DEBUG_DIRECTORIES,
        DEBUG_PATH_VARIABLE,
        DebugInfoOptions,
        split_path_list,
    )
    from .files.search_path import check_link_name, check_target_path
    from .files.store_search import SymbolStoreWarning, attach_stores, store_directories
    from .files.target_prefixes import TargetPrefix, TargetPrefixes
    from .found_files import DebugSource, FoundFiles
    from .images.follower import ImageFollower, StateEvent
    from .images.image import DebugLink, Mapping, ProcessImage, ProcessImages
    from .images.kernel_image import KERNEL, KernelImages
    from .images.running_process import RunningProcess
    from .images.state_events import (
        CALL_ENTRY_EVENTS,
        CALL_EVENT_NAMES,
        CALL_EXIT_EVENTS,
        CODE_EVENT,
        STATE_EVENT_NAMES,
        apply,
    )
    from .images.user_images import UserImages
    from .object_file import (
        CrcOfFile,
        ObjectFile,
        ObjectOpener,
        SymbolReader,
        SymbolRow,
        SymbolTableBuilder,
    )
    from .places.answer_text import NO_ADDRESS, AnswerForm, answer_text
    from .places.formatting import PlaceText, format_place
    from .places.place import Binary, Frame, Place
    from .places.resolver import Resolver
    from .places.symbolized import Symbolized
    from .places.symbolizer import (
        FileSymbolizer,
        ProcessSymbolizer,
        Symbolizer,
    )
    from .places.symbols import SymbolTable, find
    from .tables.symbol_cache import parse_size
    from .tables.symbol_store import (
        MANIFEST,
        STORE_NAME,
        STORE_VERSION,
        SYMBOLS_FOLDER,
        ObjectIdentity,
        StoredObject,
        StoreEntry,
        SymbolStore,
    )
    from .unresolved import Reason, Unresolved

__all__ = [
    "CALL_ENTRY_EVENTS",
    "CALL_EVENT_NAMES",
    "CALL_EXIT_EVENTS",
    "CODE_EVENT",
    "DEBUG_DIRECTORIES",
    "DEBUG_PATH_VARIABLE",
    "KERNEL",
    "MANIFEST",
    "NO_ADDRESS",
    "STATE_EVENT_NAMES",
    "STORE_NAME",
    "STORE_VERSION",
    "SYMBOLS_FOLDER",
    "AnswerForm",
    "Attempt",
    "AttemptKind",
    "Binary",
    "CrcOfFile",
    "DebugFileFinder",
    "DebugInfoOptions",
    "DebugLink",
    "DebugSource",
    "FileSymbolizer",
    "FoundFiles",
    "Frame",
    "ImageFollower",
    "KernelImages",
    "Mapping",
    "ObjectFile",
    "ObjectIdentity",
    "ObjectOpener",
    "Outcome",
    "Place",
    "PlaceText",
    "ProcessImage",
    "ProcessImages",
    "ProcessSymbolizer",
    "Reason",
    "Resolver",
    "RunningProcess",
    "StateEvent",
    "StoreEntry",
    "StoredObject",
    "SymbolReader",
    "SymbolRow",
    "SymbolStore",
    "SymbolStoreWarning",
    "SymbolTable",
    "SymbolTableBuilder",
    "Symbolized",
    "Symbolizer",
    "TargetPrefix",
    "TargetPrefixes",
    "Unresolved",
    "UserImages",
    "answer_text",
    "apply",
    "attach_stores",
    "check_link_name",
    "check_target_path",
    "find",
    "format_place",
    "parse_size",
    "split_path_list",
    "store_directories",
]

_HOMES = {
    "AnswerForm": "places.answer_text",
    "Attempt": "attempt",
    "AttemptKind": "attempt",
    "Binary": "places.place",
    "CALL_ENTRY_EVENTS": "images.state_events",
    "CALL_EVENT_NAMES": "images.state_events",
    "CALL_EXIT_EVENTS": "images.state_events",
    "CODE_EVENT": "images.state_events",
    "CrcOfFile": "object_file",
    "DEBUG_DIRECTORIES": "files.options",
    "DEBUG_PATH_VARIABLE": "files.options",
    "DebugFileFinder": "files.finder",
    "DebugInfoOptions": "files.options",
    "DebugLink": "images.image",
    "DebugSource": "found_files",
    "FileSymbolizer": "places.symbolizer",
    "FoundFiles": "found_files",
    "Frame": "places.place",
    "ImageFollower": "images.follower",
    "KERNEL": "images.kernel_image",
    "KernelImages": "images.kernel_image",
    "MANIFEST": "tables.symbol_store",
    "Mapping": "images.image",
    "NO_ADDRESS": "places.answer_text",
    "ObjectFile": "object_file",
    "ObjectIdentity": "tables.symbol_store",
    "ObjectOpener": "object_file",
    "Outcome": "attempt",
    "Place": "places.place",
    "PlaceText": "places.formatting",
    "ProcessImage": "images.image",
    "ProcessImages": "images.image",
    "ProcessSymbolizer": "places.symbolizer",
    "Reason": "unresolved",
    "Resolver": "places.resolver",
    "RunningProcess": "images.running_process",
    "STATE_EVENT_NAMES": "images.state_events",
    "STORE_NAME": "tables.symbol_store",
    "STORE_VERSION": "tables.symbol_store",
    "SYMBOLS_FOLDER": "tables.symbol_store",
    "StateEvent": "images.follower",
    "StoreEntry": "tables.symbol_store",
    "StoredObject": "tables.symbol_store",
    "SymbolReader": "object_file",
    "SymbolRow": "object_file",
    "SymbolStore": "tables.symbol_store",
    "SymbolStoreWarning": "files.store_search",
    "SymbolTable": "places.symbols",
    "SymbolTableBuilder": "object_file",
    "Symbolized": "places.symbolized",
    "Symbolizer": "places.symbolizer",
    "TargetPrefix": "files.target_prefixes",
    "TargetPrefixes": "files.target_prefixes",
    "Unresolved": "unresolved",
    "UserImages": "images.user_images",
    "answer_text": "places.answer_text",
    "apply": "images.state_events",
    "attach_stores": "files.store_search",
    "check_link_name": "files.search_path",
    "check_target_path": "files.search_path",
    "find": "places.symbols",
    "format_place": "places.formatting",
    "parse_size": "tables.symbol_cache",
    "split_path_list": "files.options",
    "store_directories": "files.store_search",
}
"""The module of each name: it is imported when the name is first used.

A command needs some of them, and importing all takes longer than small tasks do.
"""

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
