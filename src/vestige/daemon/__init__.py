"""Recording sessions that outlive a command: the session daemon and its client.

The daemon (:mod:`.server`) keeps sessions, their channels and recording event rules,
and drives a :class:`~.backend.Backend` that reaches programs. The client
(:mod:`.client`) asks it. Both speak :mod:`.protocol`. Nobody but the command
line and :mod:`vestige.control` imports this package.
"""

from __future__ import annotations

__all__: list[str] = []
