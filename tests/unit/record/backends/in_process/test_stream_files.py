"""Names of data stream files: a program may put other files next to them."""

from __future__ import annotations

import pytest

from vestige.record.backends.in_process.stream_files import is_stream_file


@pytest.mark.parametrize(
    "name",
    [
        "1-2",
        "12-345.6",
        "1-2@x_1",
        "1-2.3@4",
        "1-2_0",
        "1-2.3_14",
        "channel0_1",
        "channel0_1_0",
        "1-2.open",
        "1-2.3.open",
        "ring-7",
        "lost",
    ],
)
def test_names_that_the_collector_gives(name):
    """Process and thread, perhaps a number and a mark; or a ring; or what was lost."""
    assert is_stream_file(name)


@pytest.mark.parametrize(
    "name",
    [
        *("", "-", "1-", "-2", "1", "1-2.", "1-2-3", "a-2", "1-b", "1-2@", "1-2@a b"),
        *("1-2.a", "1-2.3.4", "1-2.opened", "1-2@x.open", "ring-", "ring-a", "lost2"),
        *("1-2_", "1-2_a", "1_2", "1-2_3_4", "channel0_", "channel0_1_"),
        *("metadata", ".arena", "1-2~", " 1-2", "1-2.open.open"),
    ],
)
def test_other_names(name):
    """They are the program's."""
    assert not is_stream_file(name)


def test_files_of_cpus_have_the_name_of_the_channel():
    """In sessions, and no other."""
    assert is_stream_file("my-channel_1_0", "my-channel")
    assert not is_stream_file("channel0_1", "my-channel")
    assert not is_stream_file("my-channel_1")
