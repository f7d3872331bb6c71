"""The pipe of a daemon through which any user's text comes into the kernel's traces."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..record.backends.kernel.logger_pipe import LoggerPipe
from ..record.backends.kernel.tracefs import NoKernelTracerError, Tracefs

__all__ = ["NAME", "KernelLogger"]

NAME = "lttng-logger"
"""Of the pipe in the daemon's directory; LTTng's device is called so."""


class KernelLogger:
    """A pipe while the daemon runs, where the kernel can be recorded.

    Args:
        path: Where, in a directory to which all users get.
        warn: Says why there is none.
    """

    def __init__(self, path: str, warn: Callable[[str], None] | None) -> None:
        self._pipe: LoggerPipe | None = None
        try:
            self._tracefs = Tracefs()
        except NoKernelTracerError:
            return
        try:
            self._pipe = LoggerPipe(self._tracefs, path)
        except OSError as error:
            if warn is not None:
                warn(f"no text from {path}: {error.strerror}")
            self._tracefs.close()
            return
        loop = asyncio.get_running_loop()
        loop.add_reader(self._pipe.descriptor, self._pipe.pass_on)

    def close(self) -> None:
        """Remove the pipe."""
        if self._pipe is not None:
            asyncio.get_running_loop().remove_reader(self._pipe.descriptor)
            self._pipe.close()
            self._pipe = None
            self._tracefs.close()
