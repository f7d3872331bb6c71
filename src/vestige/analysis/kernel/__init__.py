"""What traces of a kernel tell: who ran, who waited, system calls and interrupts."""

from __future__ import annotations

from .kernel import CpuUse, KernelUse, ThreadUse, kernel_use

__all__ = ["CpuUse", "KernelUse", "ThreadUse", "kernel_use"]
