"""A command line of ``lttng`` while it runs: what it may ask, and how it answers."""

from __future__ import annotations

import sys

from ..._typing import TYPE_CHECKING, NamedTuple
from ...daemon.client import Client
from ...plain_text import plain
from .current_session import config_path, read_current
from .options import Words

if TYPE_CHECKING:
    from ...daemon.xml_tree import Element

__all__ = ["Call", "FailedError", "General"]

DONE, FAILED, UNDEFINED, FATAL, WARNED = range(5)
"""The exit statuses that are no number of an error."""
NO_DOCUMENT = {"help", "view"}
"""Verbs that the schema of the machine interface does not know."""


class General(NamedTuple):
    """The options that stand before the verb."""

    group: str = "tracing"
    is_mi: bool = False
    is_quiet: bool = False
    starts_daemon: bool = True
    daemon: str | None = None
    """The program of the daemon."""


class FailedError(Exception):
    """A verb ends early.

    Args:
        status: The exit status.
        message: What is said on standard error, after ``Error:``.
    """

    def __init__(self, status: int, message: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


class Call:
    """One verb with its words.

    Args:
        verb: Its name, as the machine interface has it.
        general: What stands before it.
        words: What follows it.
    """

    def __init__(self, verb: str, general: General, words: Words) -> None:
        self.verb = verb
        self.general = general
        self.words = words
        self._client: Client | None = None
        self.is_answered = False

    @property
    def client(self) -> Client:
        """The connection to the daemon, made when it is first needed."""
        if self._client is None:
            self._client = Client.connect(self.general.group)
        return self._client

    def have_daemon(self) -> None:
        """Start a daemon if none runs.

        Raises:
            SessionError: None runs, and none is to be started or can be.
        """
        general = self.general
        if general.starts_daemon:
            # Commands that find a daemon do not wait for it.
            from ...daemon.starting import connect

            self._client = connect(general.group, daemon=general.daemon, say=self.say)

    def close(self) -> None:
        """End the connection, if there is one."""
        if self._client is not None:
            self._client.close()

    def say(self, *lines: str) -> None:
        """Print lines for people; the machine interface has none.

        Args:
            lines: The lines.
        """
        if not self.general.is_mi and not self.general.is_quiet:
            print("\n".join(map(plain, lines)))

    def error(self, text: str) -> None:
        """Print an error.

        Args:
            text: What is wrong.
        """
        self._print_error("Error", text)

    def warn(self, text: str) -> None:
        """Print a warning.

        Args:
            text: What is odd.
        """
        self._print_error("Warning", text)

    def warn_of_silent(self, silent: list[dict[str, object]], what: str) -> None:
        """Warn of programs that have not answered.

        Args:
            silent: These.
            what: What becomes of that.
        """
        for one in silent:
            name = f"PID: {one['pid']} - Name: {one['name']}"
            self.warn(f"{name} does not answer: {what}")

    def _print_error(self, kind: str, text: str) -> None:
        if not self.general.is_quiet:
            sys.stdout.flush()
            print(f"{kind}: {plain(text)}", file=sys.stderr, flush=True)

    def emit(self, output: Element, *, is_success: bool | None = True) -> None:
        """Print the document of the machine interface, if that is asked for.

        Args:
            output: What is in the element ``output``.
            is_success: What ``success`` says.
        """
        self.is_answered = True
        if self.general.is_mi:
            from ...daemon.mi import document
            from ...daemon.xml_tree import element

            print(document(self.verb, element("output", output), is_success=is_success))

    def emit_failure(self) -> None:
        """Print the document of a verb that failed before it had an answer."""
        if self.general.is_mi and not self.is_answered and self.verb not in NO_DOCUMENT:
            from ...daemon.mi import document
            from ...daemon.xml_tree import element

            print(document(self.verb, element("output"), is_success=False))

    def session(self, name: str | None = None) -> str:
        """Return the name of the session that is meant.

        Args:
            name: The one that was named; the current session otherwise.

        Raises:
            FailedError: There is no current session.
        """
        if name is not None:
            return name
        found = read_current()
        if found is not None:
            return found
        self.say("Did you create a session? (lttng create <my_session>)")
        raise FailedError(FAILED, f"Can't find valid lttng config {config_path()}")

    def domain(self, domains: str) -> str | None:
        """Return the domain that an option chooses.

        Args:
            domains: Names of options with spaces between them.

        Raises:
            FailedError: There is more than one.
        """
        found = [one for one in domains.split() if self.words.has(one)]
        if len(found) > 1:
            raise FailedError(FAILED, "Only one domain must be specified.")
        return DOMAINS[found[0]] if found else None


DOMAINS = {
    "kernel": "KERNEL",
    "userspace": "UST",
    "jul": "JUL",
    "log4j": "LOG4J",
    "python": "PYTHON",
}
"""Options, and what the protocol calls them."""
WORDS_OF_DOMAINS = {
    "KERNEL": "kernel",
    "UST": "ust",
    "JUL": "jul",
    "LOG4J": "log4j",
    "PYTHON": "python",
}
"""What people are told."""
