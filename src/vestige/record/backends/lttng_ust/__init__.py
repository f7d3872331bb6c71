"""Recording programs of LTTng-UST by the protocol of their own sockets.

Nothing of LTTng is linked or copied: the layouts are those of its ABI 9 on x86-64,
whose header is under the MIT licence, and of what programs send.
"""

from __future__ import annotations

__all__: list[str] = []
