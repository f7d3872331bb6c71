"""Where addresses of the kernel lead that events have."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..debuginfo import KERNEL, KernelImages, ProcessImages, Unresolved
from ..units import Address

if TYPE_CHECKING:
    from ..core import Event
    from ..debuginfo import Mapping, Place, Resolver
    from ..graph import Stream

__all__ = ["KernelPlaces"]


class KernelPlaces:
    """Gives places to addresses of the kernel.

    Args:
        streams: The data streams of the traces.
        resolver: What looks addresses up.
    """

    def __init__(self, streams: Iterable[Stream], resolver: Resolver) -> None:
        kernels = KernelImages(
            lambda: ((one.process_space, one.trace.parsed) for one in streams)
        )
        self._resolver = resolver
        self._images: dict[int, ProcessImages] = {}
        for space in kernels.changed():
            image = kernels.get(space)
            if image is not None:
                self._images.setdefault(space, ProcessImages()).put(KERNEL, image)
        self._known: dict[tuple[int, int], Place | Unresolved] = {}

    def of(self, event: Event, field: str) -> list[Place | Unresolved]:
        """Look up the addresses of a field.

        Args:
            event: The event.
            field: The field: an address, or a sequence of addresses.

        Returns:
            For each address its place, or why there is none.

        Raises:
            KeyError: The event has no such field.
            TypeError: It is no address.
        """
        value = event[field]
        if isinstance(value, str):
            raise TypeError(f"{field} is a text and no address")
        addresses = [value] if isinstance(value, int) else list(value)
        space = event.stream.process_space
        images = self._images.get(space) or ProcessImages()
        missing = [one for one in addresses if (space, one) not in self._known]
        pairs: list[tuple[Mapping | Unresolved | None, Address]] = [
            (images.find(KERNEL, Address(one)), Address(one))
            for one in dict.fromkeys(missing)
        ]
        found = self._resolver.resolve_many(pairs)
        for (_, address), place in zip(pairs, found, strict=True):
            self._known[space, address] = place
        return [self._known[space, one] for one in addresses]
