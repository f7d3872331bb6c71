"""A terminal that is refreshed: its modes, its keys, its size, and its end."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import time
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

__all__ = ["Screen", "can_have_screen"]

BEGIN = "\x1b[?1049h\x1b[?25l\x1b[?7l"
"""The other screen of the terminal, so that what was there comes back; no
cursor, and no second lines."""
END = "\x1b[?7h\x1b[?25h\x1b[?1049l"
HOME, CLEAR_LINE, CLEAR_REST = "\x1b[H", "\x1b[K", "\x1b[J"
USUAL_SIZE = (80, 24)
ENDING = (signal.SIGTERM, signal.SIGHUP)


def can_have_screen() -> bool:
    """Tell whether standard input and output are a terminal that can be steered."""
    return (
        sys.stdin.isatty()
        and sys.stdout.isatty()
        and os.environ.get("TERM") not in {None, "", "dumb"}
    )


class Screen:
    """The terminal of this process, from :meth:`shown` on."""

    def __init__(self) -> None:
        self._input, self._output = sys.stdin.fileno(), sys.stdout.fileno()
        self._modes: Any = None
        self._woken, self._wake = -1, -1

    @contextmanager
    def shown(self) -> Iterator[None]:
        """Have the terminal, until Ctrl-C, an error or a signal ends that.

        What was on it comes back, and so do its modes.
        """
        self._woken, self._wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        before = {
            number: signal.signal(number, handler)
            for number, handler in self._handlers().items()
        }
        old_wake = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        self._begin()
        try:
            yield
        finally:
            self._end()
            signal.set_wakeup_fd(old_wake)
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self._woken)
            os.close(self._wake)

    def _handlers(self) -> dict[int, Callable[[int, FrameType | None], None]]:
        return {
            signal.SIGWINCH: _ignore,
            signal.SIGTSTP: self._pause,
            **dict.fromkeys(ENDING, _exit),
        }

    def _begin(self) -> None:
        self._modes = termios.tcgetattr(self._input)
        tty.setcbreak(self._input)
        self._write(BEGIN)

    def _end(self) -> None:
        with suppress(OSError):
            self._write(END)
        with suppress(termios.error):
            termios.tcsetattr(self._input, termios.TCSADRAIN, self._modes)

    def _pause(self, number: int, _frame: FrameType | None) -> None:
        """Stop as the shell wants it, and go on with the screen."""
        self._end()
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        # Here it was continued.
        signal.signal(number, self._pause)
        self._begin()

    def _write(self, text: str) -> None:
        data = text.encode(sys.stdout.encoding or "ascii", "replace")
        while data:
            data = data[os.write(self._output, data) :]

    def size(self) -> tuple[int, int]:
        """Return columns and lines of the terminal as it is now."""
        try:
            columns, lines = os.get_terminal_size(self._output)
        except OSError:
            return USUAL_SIZE
        return columns or USUAL_SIZE[0], lines or USUAL_SIZE[1]

    def draw(self, lines: Sequence[str]) -> None:
        """Show lines in place of those that were there.

        Args:
            lines: As many as the terminal has at most, and not wider than it.
        """
        text = f"{CLEAR_LINE}\r\n".join(lines)
        self._write(f"{HOME}{text}{CLEAR_LINE}{CLEAR_REST}")

    def key(self, seconds: float) -> str | None:
        """Wait for a key.

        Args:
            seconds: How long at most.

        Returns:
            What it sends; an empty text if the terminal has another size, ``None`` if
            the time is over.

        Raises:
            EOFError: The terminal is gone.
        """
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            ready, _, _ = select.select([self._input, self._woken], [], [], left)
            if self._woken in ready:
                with suppress(BlockingIOError):
                    os.read(self._woken, 4096)
                return ""
            if ready:
                data = os.read(self._input, 64)
                if not data:
                    raise EOFError
                return data.decode("ascii", "replace")
        return None


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """Do nothing but wake who waits for a key."""


def _exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
