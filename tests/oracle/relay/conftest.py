"""What the tests of relay daemons share."""

from __future__ import annotations

import pytest

from support.child_relay import missing_relay


@pytest.fixture(scope="session")
def relay_peer() -> None:
    """Skips where LTTng's relay daemon is missing."""
    if reason := missing_relay():
        pytest.skip(reason)
