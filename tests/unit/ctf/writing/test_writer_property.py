"""What is written is what is read, whatever the classes and the values."""

from __future__ import annotations

import pytest

import vestige
from support.random_classes import without_added, write_random

SEEDS = range(30)


def read(directory):
    """Return what was read of each record."""
    return [
        (
            event.timestamp,
            *(
                without_added(dict(scope))
                for scope in (
                    {
                        name: value
                        for name, value in event.packet_context.items()
                        if name.startswith("p") and name[1].isdigit()
                    },
                    event.context.to_dict(),
                    event.specific_context.to_dict(),
                    event.payload.to_dict(),
                )
            ),
        )
        for event in vestige.open(directory, strict=True)
    ]


@pytest.mark.parametrize("version", ["1.8", "2"])
@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_written_is_read(tmp_path, seed, version):
    """Record by record."""
    expected = write_random(tmp_path / "trace", seed, version)

    assert read(tmp_path / "trace") == expected


@pytest.mark.parametrize("version", ["1.8", "2"])
@pytest.mark.parametrize("seed", SEEDS)
def test_columns_write_the_same_bytes(tmp_path, seed, version):
    """However records are given."""
    write_random(tmp_path / "one", seed, version)
    write_random(tmp_path / "bulk", seed, version, bulk=True)

    one, bulk = (
        without_uuid((tmp_path / name / "data").read_bytes())
        for name in ("one", "bulk")
    )
    assert one == bulk


def without_uuid(data):
    """Return a data stream without its random UUID."""
    return data.replace(data[4:20], bytes(16))
