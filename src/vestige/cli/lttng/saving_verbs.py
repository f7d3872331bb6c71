"""The session verbs of configurations: save, load.

The files are read and written here, with the rights of the user.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ...daemon.refusals import REFUSALS, refused
from ...daemon.run_paths import home_folder
from ...errors import SessionError
from .call import DONE, FAILED, Call, FailedError
from .current_session import write_current
from .destinations import of_url
from .options import NEEDED, Option

__all__ = ["LOAD", "SAVE", "load", "save"]

SAVE = (
    Option("all", "all sessions (default)", "a"),
    Option("force", "overwrite files", "f"),
    Option("output-path", "write into DIR", "o", NEEDED, "DIR"),
)
LOAD = (
    Option("all", "all configurations (default)", "a"),
    Option("force", "destroy sessions of the same name", "f"),
    Option(
        "input-path", "a configuration, or a directory of some", "i", NEEDED, "PATH"
    ),
    Option("override-name", "name the session NAME", None, NEEDED, "NAME"),
    Option(
        "override-url",
        "send the trace to URL: net://HOST[:PORT[:PORT]][/DIR], file://DIR",
        None,
        NEEDED,
        "URL",
    ),
)
SYSTEM_FOLDER = "/etc/lttng/sessions"
LARGEST_FILE = 8 << 20
"""Bytes of a configuration."""


def save(call: Call) -> int:
    """Write the configurations of sessions."""
    name = call.words.arguments[0] if call.words.arguments else None
    if call.words.has("all"):
        name = None
    documents = call.client.save(name)
    chosen = call.words.value("output-path")
    folder = Path(chosen or _own_folder())
    for one, text in documents.items():
        _write(folder / f"{one}.lttng", text, is_forced=call.words.has("force"))
    where = "" if chosen is None else f" in {chosen}"
    if name is None:
        call.say(f"All sessions have been saved successfully{where}.")
    else:
        call.say(f"Session {name} saved successfully{where}.")
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        session = element("session", element("name", name or "*"))
        call.emit(element("save", session, element("path", str(folder))))
    return DONE


def _own_folder() -> str:
    """Return the directory of configurations of this user."""
    return f"{home_folder() or ''}/.lttng/sessions"


def _write(path: Path, text: str, *, is_forced: bool) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    if not is_forced and path.exists():
        raise refused("SAVE_FILE_EXIST")
    try:
        new.write_text(text, errors="surrogateescape")
        if is_forced:
            new.replace(path)
        else:
            os.link(new, path)
    except FileExistsError:
        raise refused("SAVE_FILE_EXIST") from None
    except OSError as error:
        # Nobody knows of the other file.
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        with suppress(OSError):
            new.unlink()


def load(call: Call) -> int:
    """Set up sessions as configurations describe them."""
    words = call.words
    name = words.arguments[0] if words.arguments else None
    override = words.value("override-name")
    if override is not None and (name is None or words.has("all")):
        raise FailedError(
            FAILED, "Options --all and --override-name cannot be used simultaneously"
        )
    url = words.value("override-url")
    place = None if url is None else of_url(call, url)
    loaded: list[str] = []
    for path in _files(words.value("input-path"), name):
        try:
            loaded += call.client.load(
                _read(path),
                str(path),
                session=name,
                force=words.has("force"),
                override_name=override,
                override_output=None if place is None else place.path,
                override_relay=None if place is None else place.relay,
            )
        except SessionError as error:
            if error.name == "NO_SESSIOND":
                raise
            if error.detail is not None:
                call.error(error.detail)
            raise FailedError(FAILED, error.message) from None
    if name is not None and not loaded:
        raise FailedError(FAILED, REFUSALS["LOAD_SESSION_NOENT"].text)
    _say_loaded(call, name, loaded)
    return DONE


def _say_loaded(call: Call, name: str | None, loaded: list[str]) -> None:
    words = call.words
    override = words.value("override-name")
    if name is None:
        call.say("All sessions have been loaded successfully")
    else:
        write_current(loaded[0])
        call.say(f"Session {name} has been loaded successfully")
    if override is not None:
        call.say(f"Session name overridden with {override}")
    if words.has("override-url"):
        call.say(f"Session output url overridden with {words.value('override-url')}")
    if call.general.is_mi:
        from ...daemon.xml_tree import element

        path = words.value("input-path") or _own_folder()
        url = words.value("override-url")
        overrides = element(
            "overrides",
            None if override is None else element("name", override),
            None if url is None else element("url", url),
        )
        call.emit(
            element(
                "load",
                element("session", element("name", name or "*")),
                element("path", path),
                overrides,
            )
        )


def _files(chosen: str | None, name: str | None) -> list[Path]:
    """Return the configurations to read: of a name, the first place that has it."""
    if chosen is not None:
        path = Path(chosen)
        if not path.exists():
            raise FailedError(FAILED, f"{chosen}: No such file or directory")
        if not path.is_dir():
            return [path]
        places = [path]
    else:
        places = [Path(_own_folder()), Path(SYSTEM_FOLDER)]
    if name is not None and "/" not in name:
        own = [place / f"{name}.lttng" for place in places]
        found = [one for one in own if one.is_file()][:1]
        if found:
            return found
    return [one for place in places for one in sorted(place.glob("*.lttng"))]


def _read(path: Path) -> str:
    try:
        with path.open(errors="replace") as file:
            text = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise FailedError(FAILED, f"{path}: {error.strerror}") from None
    if len(text) > LARGEST_FILE:
        raise FailedError(FAILED, f"{path}: expected up to {LARGEST_FILE:,} bytes")
    return text
