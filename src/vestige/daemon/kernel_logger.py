"""The pipe of a daemon through which any user's text comes into the kernel's traces."""

from __future__ import annotations

import asyncio
import os
import sys

from ..record.backends.kernel.logger_pipe import LoggerPipe
from ..record.backends.kernel.tracefs import NoKernelTracerError, Tracefs

__all__ = ["NAME", "KernelLogger"]

NAME = "lttng-logger"
"""Of the pipe in the daemon's directory; LTTng's device is called so."""


class KernelLogger:
    """The pipe while the daemon runs, where the kernel can be recorded.

    Args:
        folder: The daemon's directory, to which all users get.
    """

    def __init__(self, folder: str) -> None:
        self._pipe: LoggerPipe | None = None
        try:
            self._tracefs = Tracefs()
        except NoKernelTracerError:
            return
        path = f"{folder}/{NAME}"
        try:
            self._pipe = LoggerPipe(self._tracefs, path)
        except OSError as error:
            sys.stderr.write(f"vestige: no text from {path}: {error.strerror}\n")
            self._tracefs.close()
            return
        loop = asyncio.get_running_loop()
        loop.add_reader(self._pipe.descriptor, self._pipe.pass_on)

    @classmethod
    def of_root(cls, folder: str) -> KernelLogger | None:
        """Make that of a daemon of root; nobody else records the kernel."""
        return cls(folder) if os.geteuid() == 0 else None

    def close(self) -> None:
        """Remove the pipe."""
        if self._pipe is not None:
            asyncio.get_running_loop().remove_reader(self._pipe.descriptor)
            self._pipe.close()
            self._pipe = None
            self._tracefs.close()
