"""A process that removes what another one has in the kernel, once that one has ended.

Who has instances of tracefs of its own removes them at its end; if it is killed, they
would stay, and record, until somebody records the kernel again. So one that lives long
has this one beside it, which does nothing but wait for its end.
"""

from __future__ import annotations

import itertools
import os
import sys
import time

from ...._suppress import suppress
from ..._agreement import OFF_VARIABLE, SETTINGS_VARIABLE

__all__ = ["Tidier", "main", "remove_rest"]

_PATIENCE = 2.0
"""Seconds for which one waits at most until nobody has an instance open."""
_PAUSES = (0.01, 0.02, 0.05, 0.1)
"""Seconds between two looks; the last one again and again."""
_HOME = __file__.rsplit("/", 5)[0]
_PROGRAM = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from vestige.record.backends.kernel.tidier import main; main()"
)


class Tidier:
    """Starts the process, which waits for the end of this one.

    Raises:
        OSError: It cannot be started.
    """

    def __init__(self) -> None:
        waited_for, self._held = os.pipe()
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in {"LD_PRELOAD", "LD_AUDIT", SETTINGS_VARIABLE}
        }
        words = [sys.executable, "-I", "-S", "-c", _PROGRAM, _HOME, str(os.getpid())]
        nothing = os.devnull, os.O_WRONLY, 0
        try:
            self._process = os.posix_spawn(
                sys.executable,
                words,
                {**environment, OFF_VARIABLE: "1"},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, waited_for, 0),
                    (os.POSIX_SPAWN_OPEN, 1, *nothing),
                    (os.POSIX_SPAWN_OPEN, 2, *nothing),
                ],
                # Who ends all processes of a group does not end this one.
                setsid=True,
            )
        except BaseException:
            os.close(self._held)
            raise
        finally:
            os.close(waited_for)

    def end(self) -> None:
        """Let it end, when this process has nothing in the kernel any more."""
        os.close(self._held)
        with suppress(ChildProcessError):
            os.waitpid(self._process, 0)


def main() -> None:
    """Wait for the end of the process whose ID is the last word of the command."""
    os.chdir("/")
    while os.read(0, 1):
        pass
    remove_rest(int(sys.argv[2]))


def remove_rest(process: int) -> None:
    """Remove what a process that has ended has left in the kernel.

    Args:
        process: Its ID.
    """
    # Few recordings come here.
    from .probes import remove_abandoned  # noqa: PLC0415 - see above
    from .tracefs import PREFIX, NoKernelTracerError, Tracefs  # noqa: PLC0415

    try:
        tracefs = Tracefs()
    except NoKernelTracerError:
        return
    try:
        last = time.monotonic() + _PATIENCE
        pauses = itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1]))
        while True:
            tracefs.remove_abandoned()
            names = tracefs.names("instances")
            is_left = any(one.startswith(f"{PREFIX}{process}-") for one in names)
            pause = next(pauses)
            if not is_left or time.monotonic() + pause > last:
                break
            # Its child has them open until it has noticed. What somebody else has open
            # is removed by the next recording.
            time.sleep(pause)
        remove_abandoned(tracefs)
    finally:
        tracefs.close()
