"""Units are names for type checkers; at run time they are plain numbers."""

from __future__ import annotations

import pytest

from vestige import units


@pytest.mark.parametrize(
    "name", ["Address", "ClockCycles", "FileAddress", "Nanoseconds", "Vpid"]
)
def test_a_unit_costs_nothing_at_run_time(name):
    """The very same integer comes back."""
    number = 1 << 63

    assert getattr(units, name)(number) is number
    assert name in units.__all__


def test_a_second_has_a_milliard_nanoseconds():
    """The one constant of conversion."""
    assert units.NANOSECONDS_PER_SECOND == 10**9
