"""Traces as Dask data frames."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

import vestige
import vestige.dask
from support.recordings import DATA, RELOAD_DEBUG_INFO
from vestige import MissingExtraError, SelectionError

dask = pytest.importorskip("dask", reason="the extra 'dask' is not installed")
distributed = pytest.importorskip("distributed", reason="the extra 'dask' as well")


def whole(name, columns=None, **options):
    """Return the data frame of a single process; labels are text as with Dask."""
    frame = vestige.open(DATA / name, **options).to_pandas(columns)
    labels = frame.select_dtypes("category").columns
    return frame.astype(dict.fromkeys(labels, "string[pyarrow]"))


def together(frame):
    """Return all rows of a Dask data frame, without a cluster."""
    with dask.config.set(scheduler="synchronous"):
        return frame.compute().reset_index(drop=True)


@pytest.mark.parametrize("name", ["fields", "lost", "threads-pid"])
def test_it_equals_the_result_of_one_process(name):
    """Values and types."""
    frame = vestige.dask.read(DATA / name, npartitions=3)
    found, wanted = together(frame), whole(name, debug_info=False)

    assert list(frame.columns) == list(wanted.columns)
    # Dask has its own type of texts.
    texts = wanted.select_dtypes(["str", "string"]).columns
    kinds = dict.fromkeys(texts, "string[pyarrow]")
    pd.testing.assert_frame_equal(found.astype(kinds), wanted.astype(kinds))


def test_the_types_are_known_beforehand():
    """They do not change when the rows are read."""
    frame = vestige.dask.read(DATA / "fields")

    assert together(frame).dtypes.equals(frame.dtypes)


def test_pattern_columns_and_debug_information():
    """As when opening and selecting."""
    frame = vestige.dask.read(
        DATA / "reload",
        "reload:*",
        columns=["event", "debug_info"],
        debug_info=RELOAD_DEBUG_INFO,
        enumerations="values",
    )
    wanted = vestige.open(DATA / "reload", debug_info=RELOAD_DEBUG_INFO)
    wanted = wanted.events("reload:*").to_pandas(["debug_info"])

    assert list(frame.columns) == ["event", "debug_info"]
    assert together(frame)["debug_info"].tolist() == wanted["debug_info"].tolist()


def test_an_unknown_column():
    """The error comes at once, not from a worker."""
    with pytest.raises(SelectionError, match="no column 'x'"):
        vestige.dask.read(DATA / "hello", columns=["x"])


def test_without_dask(monkeypatch):
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    with pytest.raises(MissingExtraError, match=r"vestige\[dask\]"):
        vestige.dask.read(DATA / "hello")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_of_two_workers():
    """Two processes, half of the partitions each, give what one gives."""
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
    )
    with cluster, distributed.Client(cluster) as client:
        workers = list(client.scheduler_info()["workers"])
        frame = vestige.dask.read(DATA / "lost", npartitions=6)
        counted = frame.groupby("event").size().compute().to_dict()
        parts = client.gather(
            [
                client.compute(frame.partitions[index], workers=[workers[index % 2]])
                for index in range(frame.npartitions)
            ]
        )

    assert len(workers) == 2
    assert frame.npartitions >= 4
    assert counted == vestige.open(DATA / "lost").counts()
    found, wanted = pd.concat(parts, ignore_index=True), whole("lost", debug_info=False)
    assert list(found.columns) == list(wanted.columns)
    assert all(found[name].tolist() == wanted[name].tolist() for name in found.columns)
