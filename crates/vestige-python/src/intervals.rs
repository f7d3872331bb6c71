//! `IntervalIndex`: what is kept of traces, so that they need not be read again.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use vestige_ctf::calls::{self, CallEvents};
use vestige_ctf::intervals;
use vestige_ctf::intervals::columns::of_blocks;
use vestige_ctf::intervals::grouped::grouped;
use vestige_ctf::intervals::index_file::Row;
use vestige_ctf::intervals::{Block, Levels, Pyramid, Stored};
use vestige_ctf::source::ReadAt;

use crate::calls::CallFold;

/// A file that stays open: it may be replaced by then, and what was read of it counts.
struct OpenFile(File, u64);

impl ReadAt for OpenFile {
    fn len(&self) -> u64 {
        self.1
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        FileExt::read_at(&self.0, buffer, offset)
    }
}

/// Stream, process space, process ID, thread ID, first and last time, records, entries.
type RowFacts = (u32, u32, i32, i32, i64, i64, u64, u64);

#[doc = core_doc!(IntervalIndex)]
#[pyclass(frozen, module = "vestige._core")]
pub struct IntervalIndex {
    pub inner: intervals::IntervalIndex,
}

#[pymethods]
impl IntervalIndex {
    #[doc = core_doc!(IntervalIndex.from_bytes)]
    #[staticmethod]
    #[pyo3(signature = (data, path=None))]
    fn from_bytes(py: Python<'_>, data: &[u8], path: Option<&str>) -> Option<Self> {
        let inner = py.detach(|| {
            // Where the file cannot be opened, memory has all of it.
            let stored = path.and_then(|path| {
                let file = File::open(path).ok()?;
                let end = file.metadata().ok()?.len();
                Some(Stored { source: Arc::new(OpenFile(file, end)), end })
            });
            intervals::IntervalIndex::read(data, stored.as_ref())
        })?;
        Some(Self { inner })
    }

    #[doc = core_doc!(IntervalIndex.to_bytes)]
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes = py.detach(|| self.inner.to_bytes());
        PyBytes::new(py, &bytes)
    }

    #[doc = core_doc!(IntervalIndex.facts)]
    #[getter]
    fn facts<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.facts)
    }

    #[doc = core_doc!(IntervalIndex.rows)]
    fn rows(&self) -> (Vec<RowFacts>, Vec<RowFacts>) {
        let facts = |row: &Row| {
            let (stream, space, vpid, vtid) = row.key;
            (stream, space, vpid, vtid, row.first, row.last, row.records, row.entries)
        };
        let of = |rows: &[Row]| rows.iter().map(facts).collect();
        (of(&self.inner.threads), of(&self.inner.others))
    }

    #[doc = core_doc!(IntervalIndex.levels)]
    fn levels(&self) -> (usize, Vec<(u64, u64)>) {
        (self.inner.calls.finest(), self.inner.calls.sizes())
    }

    #[doc = core_doc!(IntervalIndex.points)]
    #[getter]
    fn points(&self) -> usize {
        self.inner.points.len()
    }

    #[doc = core_doc!(IntervalIndex.blocks)]
    fn blocks<'py>(
        &self,
        py: Python<'py>,
        level: usize,
        begin: i64,
        end: i64,
        origin: i64,
    ) -> Bound<'py, PyBytes> {
        let columns = py.detach(|| of_blocks(&self.inner.blocks(level, begin, end), origin));
        PyBytes::new(py, &columns)
    }

    #[doc = core_doc!(IntervalIndex.packed)]
    fn packed<'py>(
        &self,
        py: Python<'py>,
        level: usize,
        origin: i64,
    ) -> Option<Bound<'py, PyBytes>> {
        let groups = py.detach(|| self.inner.grouped(level, origin))?;
        Some(PyBytes::new(py, &groups))
    }

    #[doc = core_doc!(IntervalIndex.other_spans)]
    fn other_spans(&self, py: Python<'_>, begin: i64, end: i64) -> Vec<(i64, i64)> {
        py.detach(|| self.inner.other_spans(begin, end))
    }

    #[doc = core_doc!(IntervalIndex.grouped)]
    #[staticmethod]
    fn grouped<'py>(py: Python<'py>, columns: &[u8]) -> Option<Bound<'py, PyBytes>> {
        let groups = py.detach(|| grouped(columns))?;
        Some(PyBytes::new(py, &groups))
    }

    #[doc = core_doc!(IntervalIndex.fold)]
    fn fold(
        &self,
        entries: Vec<String>,
        exits: Vec<String>,
        begin: i64,
        end: i64,
    ) -> (CallFold, Option<i64>) {
        let events = CallEvents { entries, exits, ..CallEvents::default() };
        let (fold, from) = calls::CallFold::resume(events, &self.inner, (begin, end));
        (CallFold::of(fold), from)
    }
}

#[doc = core_doc!(BlockLevels)]
#[pyclass(frozen, module = "vestige._core")]
pub struct BlockLevels {
    inner: Mutex<(Pyramid, Levels)>,
}

impl BlockLevels {
    fn lock(&self) -> MutexGuard<'_, (Pyramid, Levels)> {
        // A panic cannot leave blocks half-made in a way that matters.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl BlockLevels {
    #[doc = core_doc!(BlockLevels.__new__)]
    #[new]
    fn new() -> Self {
        Self { inner: Mutex::default() }
    }

    #[doc = core_doc!(BlockLevels.add)]
    fn add(&self, intervals: Vec<(u32, u32, u8, i64, u64)>) {
        let pyramid = &mut self.lock().0;
        for (row, function, flags, start, duration) in intervals {
            let (depth, count, busy) = (0, 1, duration);
            pyramid.add(Block { row, depth, flags, function, start, duration, count, busy });
        }
    }

    #[doc = core_doc!(BlockLevels.finish)]
    fn finish(&self) {
        let (pyramid, levels) = &mut *self.lock();
        *levels = pyramid.finish();
    }

    #[doc = core_doc!(BlockLevels.levels)]
    fn levels(&self) -> (usize, Vec<(u64, u64)>) {
        let levels = &self.lock().1;
        (levels.finest(), levels.sizes())
    }

    #[doc = core_doc!(BlockLevels.blocks)]
    fn blocks<'py>(
        &self,
        py: Python<'py>,
        level: usize,
        begin: i64,
        end: i64,
        origin: i64,
    ) -> Bound<'py, PyBytes> {
        let columns = py.detach(|| of_blocks(&self.lock().1.within(level, begin, end), origin));
        PyBytes::new(py, &columns)
    }
}
