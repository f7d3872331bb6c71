"""What traces of a kernel tell: who ran, who waited, system calls, input and output."""

from __future__ import annotations

from .io import (
    DiskUse,
    InterfaceUse,
    IoOperation,
    KernelIo,
    LongIo,
    ThreadIo,
)
from .io_reader import kernel_io
from .kernel import CpuUse, KernelUse, ThreadUse, kernel_use

__all__ = [
    "CpuUse",
    "DiskUse",
    "InterfaceUse",
    "IoOperation",
    "KernelIo",
    "KernelUse",
    "LongIo",
    "ThreadIo",
    "ThreadUse",
    "kernel_io",
    "kernel_use",
]
