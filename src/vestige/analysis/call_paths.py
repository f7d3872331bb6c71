"""Who has called whom where something happens: paths of open calls."""

from __future__ import annotations

__all__ = ["CallPaths", "Maker"]

Maker = tuple[int, int | None, int | None]
"""A thread: process space, process ID, thread ID."""

MOST_PATHS = 1 << 20
"""How many paths are told apart; what is called on others counts for their callers."""
DEEPEST = 256
"""How many calls a path has; what is called deeper down counts for the last of them."""


class CallPaths:
    """Follows the calls of threads; each path is a number, 0 that of nobody."""

    def __init__(self) -> None:
        self._stacks: dict[Maker, list[tuple[int, int]]] = {}
        self._children: dict[tuple[int, int], int] = {}
        self._nodes: list[tuple[int, int]] = [(0, 0)]
        """The caller's path and the site of the function, by paths."""

    def enter(self, maker: Maker, address: int, site: int) -> None:
        """Begin a call.

        Args:
            maker: The thread.
            address: The function, 0 if it is not known.
            site: The index of its site.
        """
        stack = self._stacks.setdefault(maker, [])
        caller = stack[-1][1] if stack else 0
        key = caller, site
        path = self._children.get(key)
        if path is None:
            if len(self._nodes) >= MOST_PATHS or len(stack) >= DEEPEST:
                path = caller
            else:
                path = self._children[key] = len(self._nodes)
                self._nodes.append(key)
        stack.append((address, path))

    def leave(self, maker: Maker, address: int) -> None:
        """End a call; what it called and what did not end is left, too.

        Args:
            maker: The thread.
            address: The function, 0 if it is not known: then the innermost one.
        """
        stack = self._stacks.get(maker)
        if not stack:
            return
        if address and stack[-1][0] != address:
            # An exception or a jump has left those above, or its entry is not there.
            for index in range(len(stack) - 1, -1, -1):
                if stack[index][0] == address:
                    del stack[index:]
                    break
            return
        stack.pop()

    def of(self, maker: Maker) -> int:
        """Return the path of the calls that are open in a thread.

        Args:
            maker: The thread.
        """
        stack = self._stacks.get(maker)
        return stack[-1][1] if stack else 0

    def sites(self, path: int) -> list[int]:
        """Return the sites of the functions of a path, the outermost one first.

        Args:
            path: The path.
        """
        found = []
        while path:
            path, site = self._nodes[path]
            found.append(site)
        return found[::-1]
