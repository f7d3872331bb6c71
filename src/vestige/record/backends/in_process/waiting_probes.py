"""Probes that wait for an object that is loaded later."""

from __future__ import annotations

import os

from ...._typing import TYPE_CHECKING
from ....plain_text import plain
from .probed_functions import find_later, is_called
from .probes import ProbedPlan, probe_plans

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...rules.probes import Probe

__all__ = ["WaitingProbes"]


class WaitingProbes:
    """Those of a recording.

    Args:
        probes: All probes.
        objects: The program and its libraries, which are there from the start.
    """

    def __init__(self, probes: Sequence[Probe], objects: Sequence[str]) -> None:
        # What is loaded later can only be known by what people call it.
        self._reasons = {
            probe: _never_loaded(probe)
            for probe in probes
            if probe.object
            and not any(is_called(path, probe.object) for path in objects)
        }

        self._found: dict[str, list[Probe]] = {}

    def __bool__(self) -> bool:
        """Tell whether there are any."""
        return bool(self._reasons)

    def __contains__(self, probe: Probe) -> bool:
        """Tell whether it is one of them."""
        return probe in self._reasons

    @property
    def problems(self) -> tuple[str, ...]:
        """Why none of them has been recorded, for people."""
        return tuple(self._reasons.values())

    def meant(self, path: str, build_id: str) -> list[Probe]:
        """Return those that wait for an object, or have been found in it.

        Args:
            path: Its file, as the program sees it.
            build_id: Its build ID. Who cannot read the trace asks each time.
        """
        waiting = [one for one in self._reasons if is_called(path, one.object)]
        return waiting + self._found.get(build_id, [])

    def planned(
        self, path: str, asked: str, build_id: str, patterns: Sequence[str] | None
    ) -> ProbedPlan | None:
        """Plan an object with its probes, which wait no more.

        Args:
            path: Its file.
            asked: The same, as the program sees it.
            build_id: Its build ID.
            patterns: Which of its other functions are recorded, empty: all; ``None``:
                none of them.

        Returns:
            The plan, and the probes behind it; ``None`` if it has none.
        """
        probes = self.meant(asked, build_id)
        if not probes:
            return None
        found, failed = find_later(probes, path, os.path.basename(asked))
        self._reasons.update(failed)
        if not found:
            return None
        recorded = set() if patterns is None else {path}
        made = probe_plans(found, patterns or (), recorded, lambda _: set())
        for one in found:
            self._reasons.pop(one.probe, None)
        self._found[build_id] = [one.probe for one in found]
        [plan] = made.plans.values()
        return plan._replace(plan=plan.plan + made.file)


def _never_loaded(probe: Probe) -> str:
    return (
        f"--probe: '{plain(probe.text)}': no object that matches "
        f"'{plain(probe.object)}' was loaded"
    )
