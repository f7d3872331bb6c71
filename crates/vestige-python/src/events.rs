//! `EventTable`: how many event records there are of each class and thread.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use vestige_ctf::events::{self, EventCount, Who};

use crate::merge::Merge;

/// Process space, process, thread, CPU, data stream.
type WhoRow = (u32, Option<i64>, Option<i64>, Option<i64>, Option<u64>);

/// Name of the class, number of records, time of the first and of the last one.
type TotalRow = (Option<String>, u64, i64, i64);

/// Index of the name, who, name of the process, number of records, first, last.
type EventRow = (usize, WhoRow, Option<String>, u64, i64, i64);

#[doc = core_doc!(EventTable)]
#[pyclass(frozen, module = "vestige._core")]
pub struct EventTable {
    inner: Mutex<events::EventTable>,
}

impl EventTable {
    fn lock(&self) -> MutexGuard<'_, events::EventTable> {
        // A panic cannot leave the counts half-changed in a way that matters.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn who_row(who: &Who) -> WhoRow {
    (who.space, who.process, who.thread, who.cpu, who.stream)
}

#[pymethods]
impl EventTable {
    #[new]
    fn new() -> Self {
        Self { inner: Mutex::new(events::EventTable::default()) }
    }

    #[doc = core_doc!(EventTable.add)]
    fn add(&self, py: Python<'_>, merge: &Merge) {
        py.detach(|| self.lock().add(&merge.inner));
    }

    #[doc = core_doc!(EventTable.totals)]
    fn totals(&self) -> Vec<TotalRow> {
        let row = |(name, count): (Option<&str>, &EventCount)| {
            (name.map(str::to_owned), count.records, count.first, count.last)
        };
        self.lock().totals().map(row).collect()
    }

    #[doc = core_doc!(EventTable.rows)]
    fn rows(&self, py: Python<'_>) -> Vec<EventRow> {
        py.detach(|| {
            let table = self.lock();
            let row = |one: events::EventRow| {
                let name = table.process_name(&one.who).map(str::to_owned);
                let (count, who) = (one.count, who_row(&one.who));
                (one.name, who, name, count.records, count.first, count.last)
            };
            table.rows().into_iter().map(row).collect()
        })
    }

    #[doc = core_doc!(EventTable.left_out)]
    #[getter]
    fn left_out(&self) -> u64 {
        self.lock().left_out()
    }
}
