//! `EventTable`: how many event records there are of each class and thread, and the times
//! between those of pairs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vestige_ctf::events::{self, EventCount, Grouping, Key, PairSpec, Reach, SwitchSpec, Who};

use crate::merge::Merge;

/// Process space, process, thread, CPU, data stream.
type WhoRow = (u32, Option<i64>, Option<i64>, Option<i64>, Option<u64>);

/// Name of the class, number of records, time of the first and of the last one.
type TotalRow = (Option<String>, u64, i64, i64);

/// Index of the name, who, name of the process, number of records, first, last.
type EventRow = (usize, WhoRow, Option<String>, u64, i64, i64);

/// Names of beginnings and ends, fields with the keys, field with the label; within what,
/// whether they nest, what they are grouped by.
type PairRow =
    (Vec<String>, Vec<String>, Option<(String, String)>, Option<String>, String, bool, String);

/// Index of the pair; who, key and label of the group.
type GroupRow = (usize, Option<WhoRow>, Option<String>, Option<String>);

/// Complete, total, shortest, longest; without end, without beginning, across a loss.
type TimesRow = (u64, u64, u64, u64, u64, u64, u64);

/// Process space, CPU, thread, its name, time, turns.
type RunningRow = (u32, i64, i64, Option<String>, u64, u64);

/// Buckets: index and count; duration, begin and who of the longest.
type DurationsRow = (Vec<(usize, u64)>, Vec<(u64, i64, WhoRow)>);

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

fn pair_spec((begins, ends, keys, label, reach, nests, grouping): PairRow) -> PyResult<PairSpec> {
    let reach = match reach.as_str() {
        "thread" => Reach::Thread,
        "cpu" => Reach::Cpu,
        "process" => Reach::Process,
        "everything" => Reach::Everything,
        _ => return Err(PyValueError::new_err(format!("there is no reach '{reach}'"))),
    };
    let grouping = match grouping.as_str() {
        "none" => Grouping::None,
        "key" => Grouping::Key,
        "who" => Grouping::Who,
        _ => return Err(PyValueError::new_err(format!("there is no grouping '{grouping}'"))),
    };
    Ok(PairSpec { begins, ends, keys, label, reach, nests, grouping })
}

fn who_row(who: &Who) -> WhoRow {
    (who.space, who.process, who.thread, who.cpu, who.stream)
}

#[pymethods]
impl EventTable {
    #[new]
    #[pyo3(signature = (pairs=Vec::new(), *, longest=0, switch=None))]
    fn new(
        pairs: Vec<PairRow>,
        longest: usize,
        switch: Option<(String, String, String)>,
    ) -> PyResult<Self> {
        let switch = switch.map(|(name, thread, label)| SwitchSpec { name, thread, label });
        let pairs: PyResult<Vec<PairSpec>> = pairs.into_iter().map(pair_spec).collect();
        Ok(Self { inner: Mutex::new(events::EventTable::new(pairs?, longest, switch)) })
    }

    #[doc = core_doc!(EventTable.add)]
    fn add(&self, py: Python<'_>, merge: &Merge) {
        py.detach(|| self.lock().add(&merge.inner));
    }

    #[doc = core_doc!(EventTable.finish)]
    fn finish(&self) {
        self.lock().finish();
    }

    #[doc = core_doc!(EventTable.pairs)]
    fn pairs(&self) -> Vec<(GroupRow, TimesRow, DurationsRow)> {
        let table = self.lock();
        let pairs = table.pairs();
        let row = |(index, one): (usize, &events::PairTimes)| {
            let longest = pairs.longest(index).into_iter();
            let longest = longest.map(|(duration, begin, who)| (duration, begin, who_row(&who)));
            let text = |key: &Option<Key>| key.as_ref().map(Key::text);
            let who = one.who.as_ref().map(who_row);
            (
                (one.pair, who, text(&one.key), text(&one.label)),
                (
                    one.complete,
                    one.total,
                    one.shortest,
                    one.longest,
                    one.no_end,
                    one.no_begin,
                    one.across_loss,
                ),
                (pairs.buckets(index), longest.collect()),
            )
        };
        pairs.times().iter().enumerate().map(row).collect()
    }

    #[doc = core_doc!(EventTable.running)]
    fn running(&self) -> Vec<RunningRow> {
        let table = self.lock();
        let running = table.pairs().running();
        let row = |((space, cpu), thread, time, turns): ((u32, i64), i64, u64, u64)| {
            (space, cpu, thread, running.label(space, thread).map(Key::text), time, turns)
        };
        running.rows().into_iter().map(row).collect()
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
