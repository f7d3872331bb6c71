//! `PerfettoWriter`: calls and events as a trace of Perfetto.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use vestige_ctf::viewers::perfetto::{Loss, Perfetto};

use crate::calls::CallFold;
use crate::merge::Merge;
use crate::text::write_all;

/// Index, data stream, process space, process ID, thread ID, CPU.
type TrackRow = (u32, u32, u32, i32, i32, Option<u64>);

#[doc = core_doc!(PerfettoWriter)]
#[pyclass(frozen, module = "vestige._core")]
pub struct PerfettoWriter {
    inner: Mutex<Perfetto>,
}

impl PerfettoWriter {
    fn lock(&self) -> MutexGuard<'_, Perfetto> {
        // A panic cannot leave packets half-written in a way that matters.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PerfettoWriter {
    #[new]
    fn new() -> Self {
        Self { inner: Mutex::new(Perfetto::default()) }
    }

    #[doc = core_doc!(PerfettoWriter.add_calls)]
    fn add_calls(&self, py: Python<'_>, fold: &CallFold) {
        py.detach(|| self.lock().add_calls(&mut fold.lock()));
    }

    #[doc = core_doc!(PerfettoWriter.add_events)]
    fn add_events(&self, py: Python<'_>, merge: &Merge, fold: &CallFold) {
        py.detach(|| self.lock().add_events(&merge.inner, &mut fold.lock()));
    }

    #[doc = core_doc!(PerfettoWriter.end_spans)]
    fn end_spans(&self) {
        self.lock().end_spans();
    }

    #[doc = core_doc!(PerfettoWriter.add_loss)]
    fn add_loss(&self, what: &str, count: Option<u64>, begin: Option<i64>, end: Option<i64>) {
        self.lock().add_loss(&Loss { what, count, begin, end });
    }

    #[doc = core_doc!(PerfettoWriter.take_tracks)]
    fn take_tracks(&self) -> Vec<TrackRow> {
        let row = |one: vestige_ctf::viewers::perfetto::NewTrack| {
            let (stream, space, vpid, vtid) = one.key;
            (one.index, stream, space, vpid, vtid, one.cpu)
        };
        self.lock().take_tracks().into_iter().map(row).collect()
    }

    #[doc = core_doc!(PerfettoWriter.describe_process)]
    fn describe_process(&self, space: u32, vpid: i32, name: &str) {
        self.lock().describe_process((space, vpid), name);
    }

    #[doc = core_doc!(PerfettoWriter.describe_track)]
    fn describe_track(&self, index: u32, name: &str) {
        self.lock().describe_track(index, name);
    }

    #[doc = core_doc!(PerfettoWriter.name_functions)]
    fn name_functions(&self, names: Vec<String>) {
        self.lock().name_functions(names);
    }

    #[doc = core_doc!(PerfettoWriter.waiting)]
    #[getter]
    fn waiting(&self) -> usize {
        self.lock().waiting()
    }

    #[doc = core_doc!(PerfettoWriter.write)]
    fn write(&self, py: Python<'_>, descriptor: i32) -> PyResult<u64> {
        py.detach(|| {
            let mut size = 0;
            let write = |part: &[u8]| {
                size += write_all(descriptor, part)?;
                Ok(())
            };
            // Not locked meanwhile: whoever has Python's lock may wait for this one.
            let mut perfetto = std::mem::take(&mut *self.lock());
            let written = perfetto.write(write);
            *self.lock() = perfetto;
            written.map(|()| size)
        })
    }
}
