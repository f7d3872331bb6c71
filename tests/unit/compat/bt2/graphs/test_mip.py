"""Versions of the protocol of messages."""

from __future__ import annotations

import pytest

from vestige.compat import bt2


@pytest.mark.parametrize(
    ("versions", "greatest"),
    [
        ([0, 1], 0),
        ([(0, 4)], 0),
        (bt2.UnsignedIntegerRangeSet([(0, 0)]), 0),
        ([1, 2], None),
    ],
)
def test_versions_are_numbers_or_ranges(versions, greatest) -> None:
    """As a component class likes to tell those that it supports."""

    class Sink(bt2._UserSinkComponent):
        @classmethod
        def _user_get_supported_mip_versions(cls, _params, _obj, _log_level):
            return versions

        def _user_consume(self) -> None: ...

    descriptors = [bt2.ComponentDescriptor(Sink)]

    assert bt2.get_greatest_operative_mip_version(descriptors) == greatest
