"""The code of the kernel, as a trace of it tells: where it was, and its functions.

A trace that Vestige recorded of the kernel names the functions at its own addresses,
and where the code of the kernel and of its modules was (``kernel_text``,
``kernel_symbols_N``, ``kernel_modules_N`` and ``kernel_sections_N`` of its
environment). So functions are known on any machine; their lines, if a file with the
build ID of that kernel, or of that module, is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ... import core
from ...units import Address, Vpid
from .image import Mapping, ProcessImage
from .kernel_functions import KernelCode, KernelFunction
from .kernel_modules import module_mappings

__all__ = ["KERNEL", "KERNEL_PATH", "KernelImages", "kernel_image"]

KERNEL = Vpid(-1)
"""Stands for the process of addresses in the kernel."""
KERNEL_PATH = "[kernel]"
"""Stands for the path of the kernel itself."""


class KernelImages:
    """The code of the kernels of traces.

    Args:
        traces: Gives process spaces of data streams, and their traces; there may be
            more of them later, and more in each.
    """

    def __init__(
        self,
        traces: Callable[[], Iterable[tuple[int, core.TraceClass]]] = lambda: (),
    ) -> None:
        self._traces = traces
        self._seen: dict[int, core.TraceClass] = {}
        self._images: dict[int, ProcessImage] = {}

    def changed(self) -> list[int]:
        """Look at traces again, and return the process spaces with more to tell."""
        found = []
        for space, trace in self._traces():
            if self._seen.get(space) is trace:
                continue
            self._seen[space] = trace
            image = kernel_image(trace)
            if image is not None:
                self._images[space] = image
                found.append(space)
        return found

    def get(self, space: int) -> ProcessImage | None:
        """Return the code of the kernel of a trace, if it tells that.

        Args:
            space: A process space of the trace.
        """
        return self._images.get(space)


def kernel_image(trace: core.TraceClass) -> ProcessImage | None:
    """Return the code of the kernel as a trace tells it.

    Args:
        trace: The trace.

    Returns:
        The kernel itself, its modules, and other code of it as objects; ``None`` if
        the trace names no functions.
    """
    functions = trace.kernel_functions()
    if not functions:
        return None
    environment = trace.environment
    release = str(environment.get("kernel_release", ""))
    by_module: dict[str, list[KernelFunction]] = {}
    for begin, size, name, module in functions:
        by_module.setdefault(module, []).append(KernelFunction(begin, size, name))
    image = ProcessImage()
    own = by_module.pop("", [])
    if own:
        image.map_object(_kernel(own, release, environment))
    for mapping in module_mappings(trace, by_module, release):
        image.map_object(mapping)
    return image


def _kernel(
    functions: Sequence[KernelFunction],
    release: str,
    environment: dict[str, int | str],
) -> Mapping:
    try:
        base = int(str(environment["kernel_text"]), 16)
        build_id = bytes.fromhex(str(environment["kernel_build_id"]))
    except (KeyError, ValueError):
        # No file can be laid over it, but its functions are known.
        base, build_id = functions[0].begin, b""
    end = functions[-1].begin + functions[-1].size
    return Mapping(
        Address(min(base, functions[0].begin)),
        end - min(base, functions[0].begin),
        KERNEL_PATH,
        is_pic=True,
        build_id=build_id if base <= functions[0].begin and build_id else None,
        kernel=KernelCode(functions, release, is_linked=True),
    )
