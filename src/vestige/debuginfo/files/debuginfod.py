"""Debug files from debuginfod servers, in the cache that elfutils uses too.

Servers are asked for a build ID over HTTP, one after the other. What comes must carry
that build ID; it is stored where ``debuginfod-find`` and GDB look for it, and replaces
nothing before it is complete. The environment variables are those of
``debuginfod-client-config(7)``, with bounds where that manual has none:

* ``DEBUGINFOD_TIMEOUT`` (90 seconds) is the time that all downloads of a run may take
  together. A server gets an equal share of what is left of it, for each file.
* A server that does not answer in time, answers with an error, or sends another file
  than the one asked for is not asked again.
* ``DEBUGINFOD_MAXSIZE`` is 4 GiB when it is not set.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..._typing import TYPE_CHECKING
from ..attempt import AttemptKind, Outcome, Refusal

if TYPE_CHECKING:
    from typing import Self

__all__ = ["DebuginfodClient", "DebuginfodSettings"]

_SECONDS = 90.0
_LARGEST = 4 << 30
_MISS_SECONDS = 600
_LONGEST_BUILD_ID = 64
_MEGABYTE = 1_000_000

Log = Callable[[object, AttemptKind, Refusal | None], None]
"""Called with each place tried: its path, the rule, and why it was not used."""

Check = Callable[[Path], Refusal | None]
"""Says why a file is not the one that was asked for."""


@dataclass(frozen=True, slots=True)
class DebuginfodSettings:
    """What the environment says about debuginfod."""

    urls: tuple[str, ...]
    """The servers."""

    cache: Path
    """The directory of downloaded files."""

    seconds: float | None = _SECONDS
    """The time that all downloads may take together; ``None`` for any."""

    seconds_per_file: float | None = None
    """The time that the download of one file may take; ``None`` for any."""

    largest: int = _LARGEST
    """The size of the largest file that is downloaded; 0 for any."""

    @classmethod
    def of(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Read the settings.

        Args:
            environment: The environment variables.

        Returns:
            The settings; without ``DEBUGINFOD_URLS`` they have no server.
        """
        words = environment.get("DEBUGINFOD_URLS", "").split()
        seconds = _number(environment, "DEBUGINFOD_TIMEOUT", _SECONDS)
        per_file = _number(environment, "DEBUGINFOD_MAXTIME", 0)
        return cls(
            # Words such as "ima:enforcing" stand between the addresses.
            urls=tuple(
                word.rstrip("/")
                for word in dict.fromkeys(words)
                if not word.startswith("ima:")
            ),
            cache=_cache_directory(environment),
            seconds=seconds if seconds > 0 else None,
            seconds_per_file=per_file if per_file > 0 else None,
            largest=max(0, int(_number(environment, "DEBUGINFOD_MAXSIZE", _LARGEST))),
        )


class DebuginfodClient:
    """Gets files by their build ID.

    Args:
        settings: The servers, the cache and the limits.
        notice: Called with a sentence for each download.
    """

    def __init__(
        self,
        settings: DebuginfodSettings,
        notice: Callable[[str], None] | None = None,
    ) -> None:
        self.settings = settings
        self._notice = notice or (lambda _: None)
        self._seconds_left = settings.seconds
        self._dead: dict[str, str] = {}
        self._stopped: str | None = None

    def fetch(
        self, build_id: bytes, kind: str, name: str, check: Check, log: Log
    ) -> Path | None:
        """Get a file from the cache, else from a server.

        Args:
            build_id: Its build ID.
            kind: ``debuginfo`` or ``executable``.
            name: What it is for, in the notices.
            check: Says why a file is not the one that was asked for.
            log: Called with each place tried.

        Returns:
            Its path in the cache, or ``None`` when nobody has it.
        """
        if not 1 < len(build_id) <= _LONGEST_BUILD_ID:
            return None
        cached = self.settings.cache / build_id.hex() / kind
        state = self._look_in_cache(cached, check)
        if state is None or state.outcome is not Outcome.MISSING:
            log(cached, AttemptKind.DEBUGINFOD, state)
        if state is None:
            return cached
        if state.outcome is Outcome.NOT_ASKED:
            return None
        if not self.settings.urls:
            refusal = Refusal(Outcome.NOT_ASKED, "DEBUGINFOD_URLS is not set")
            log("debuginfod", AttemptKind.DEBUGINFOD, refusal)
            return None
        return self._ask_servers(cached, name, check, log)

    def _look_in_cache(self, cached: Path, check: Check) -> Refusal | None:
        # None: the file is there. MISSING or anything else but NOT_ASKED: ask for it.
        try:
            status = cached.stat()
        except (FileNotFoundError, NotADirectoryError):
            return Refusal(Outcome.MISSING)
        except OSError as error:
            return Refusal(Outcome.UNREADABLE, os.strerror(error.errno or 0))
        if status.st_size:
            refusal = check(cached)
            if refusal is None:
                _touch(cached, status.st_mtime_ns)
            return refusal
        # elfutils notes a file that no server had as an empty one.
        age = time.time() - status.st_mtime
        if 0 <= age < self._miss_seconds():
            return Refusal(Outcome.NOT_ASKED, f"no server had it {age:.0f} s ago")
        return Refusal(Outcome.MISSING)

    def _miss_seconds(self) -> int:
        path = self.settings.cache / "cache_miss_s"
        try:
            return int(path.read_text(encoding="ascii")[:20])
        except (OSError, ValueError):
            return _MISS_SECONDS

    def _ask_servers(
        self, cached: Path, name: str, check: Check, log: Log
    ) -> Path | None:
        outcomes = []
        urls = self.settings.urls
        for index, server in enumerate(urls):
            url = f"{server}/buildid/{cached.parent.name}/{cached.name}"
            others = [one for one in urls[index + 1 :] if one not in self._dead]
            refusal = self._why_not(server) or self._ask(
                server, url, cached, name, check, len(others) + 1
            )
            log(url, AttemptKind.DEBUGINFOD, refusal)
            if refusal is None:
                return cached
            outcomes.append(refusal.outcome)
        if set(outcomes) == {Outcome.MISSING}:
            _note_miss(cached)
        return None

    def _why_not(self, server: str) -> Refusal | None:
        if self._stopped is not None:
            return Refusal(Outcome.NOT_ASKED, self._stopped)
        if server in self._dead:
            return Refusal(Outcome.NOT_ASKED, self._dead[server])
        if not server.lower().startswith(("http://", "https://")):
            return Refusal(Outcome.NOT_ASKED, "no address of a web server")
        if self._seconds_left is not None and self._seconds_left <= 0:
            detail = f"the {self.settings.seconds:g} s of DEBUGINFOD_TIMEOUT are over"
            return Refusal(Outcome.NOT_ASKED, detail)
        return None

    def _ask(  # noqa: PLR0913, PLR0917 - one call
        self,
        server: str,
        url: str,
        cached: Path,
        name: str,
        check: Check,
        servers_left: int,
    ) -> Refusal | None:
        try:
            cached.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            handle, part = tempfile.mkstemp(prefix=f"{cached.name}.", dir=cached.parent)
        except OSError as error:
            return self._stop(error)
        begin = time.monotonic()
        try:
            refusal = self._download(url, handle, name, servers_left)
            if refusal is None:
                refusal = check(Path(part))
                if refusal is None:
                    os.replace(part, cached)  # noqa: PTH105 - one call, atomic
                    return None
        except OSError as error:
            return self._stop(error)
        finally:
            _remove(part)
            if self._seconds_left is not None:
                self._seconds_left -= time.monotonic() - begin
        return self._judge(server, refusal)

    def _download(
        self, url: str, handle: int, name: str, servers_left: int
    ) -> Refusal | None:
        # Imported with the first request: what is in the cache needs no network.
        from .http_download import download  # noqa: PLC0415

        def announce(size: int | None) -> None:
            self._notice(f"downloading {_amount(size)} about {name} from {url}")

        limits = [self.settings.seconds_per_file]
        if self._seconds_left is not None:
            limits.append(self._seconds_left / servers_left)
        seconds = min((one for one in limits if one is not None), default=None)
        return download(
            url,
            handle,
            seconds=seconds,
            largest=self.settings.largest,
            announce=announce,
        )

    def _judge(self, server: str, refusal: Refusal) -> Refusal:
        # A server without the file, or with one too large, is asked for others.
        if refusal.outcome is Outcome.UNREADABLE:
            self._stopped = refusal.detail
        elif refusal.outcome not in (Outcome.MISSING, Outcome.TOO_LARGE):
            reason = f"{refusal.outcome.value}: {refusal.detail}".rstrip(": ")
            self._dead[server] = f"it has failed before ({reason})"
            self._notice(f"{server} is not asked again: {reason}")
        return refusal

    def _stop(self, error: OSError) -> Refusal:
        reason = f"the cache cannot be written: {error.strerror}"
        self._stopped = reason
        self._notice(f"nothing is downloaded: {reason}: {self.settings.cache}")
        return Refusal(Outcome.NOT_ASKED, reason)


def _amount(size: int | None) -> str:
    if size is None:
        return "what is known"
    return f"{size / _MEGABYTE:,.0f} MB" if size >= _MEGABYTE else f"{size:,} bytes"


def _number(environment: Mapping[str, str], name: str, default: float) -> float:
    try:
        number = float(environment.get(name, ""))
    except ValueError:
        return default
    return number if abs(number) < _LARGEST * _LARGEST else default


def _cache_directory(environment: Mapping[str, str]) -> Path:
    named = environment.get("DEBUGINFOD_CACHE_PATH")
    if named:
        return Path(named)
    home = Path(environment.get("HOME") or "/")
    old = home / ".debuginfod_client_cache"
    if old.is_dir():
        return old
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base else home / ".cache") / "debuginfod_client"


def _touch(path: Path, modified_ns: int) -> None:
    # The cleaning in elfutils removes what was not read for a week.
    with suppress(OSError):
        os.utime(path, ns=(time.time_ns(), modified_ns))


def _note_miss(cached: Path) -> None:
    # Another process may have got the file meanwhile: that one stays.
    try:
        os.close(os.open(cached, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        with suppress(OSError):
            if cached.stat().st_size == 0:
                os.utime(cached)
    except OSError:
        pass


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)  # noqa: PTH108 - as mkstemp names it
