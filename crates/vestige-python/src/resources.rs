//! `LockFold`, `MemoryFold`: mutexes and blocks of memory, followed through their events.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vestige_ctf::resources::fold::{Follower, Kinds, News, ResourceFold};
use vestige_ctf::resources::locks::{LockCounts, LockFollower, LongWait};
use vestige_ctf::resources::memory::{DoubleFree, MemoryCounts, MemoryFollower};
use vestige_ctf::resources::rows::{Wanted, COUNT};

use crate::merge::Merge;

/// Process space, process ID, thread ID.
type Maker = (u32, Option<i64>, Option<i64>);
/// Process space, process ID.
type Process = (u32, Option<i64>);
/// The places that are new, each with the index of a record that has it; the same of threads.
type NewRows = (Vec<(u32, usize)>, Vec<(Maker, usize)>);
/// Names of events, and of integers of each.
type KindRows = Vec<(String, Vec<String>)>;

/// Acquired, blocked, waited, longest wait, held, longest hold, failed.
type LockRow = [u64; 7];
/// Waiting site, holding site, count, waited, longest.
type BlockingRow = (u32, u32, u64, u64, u64);
/// Begin, duration, thread, site, address, holder with the site where it locked.
type WaitRow = (i64, u64, Maker, u32, u64, Option<(Maker, u32)>);

/// Allocations, allocated, freed, live, peak, longest block.
type MemoryRow = (u64, u128, u64, u128, u128, u64);
/// Process, counts, time of the peak, unknown frees, failed.
type ProcessRow = (Process, MemoryRow, Option<i64>, u64, u64);
/// Time, thread, address, site, first site.
type DoubleFreeRow = (i64, Maker, u64, u32, u32);

fn wanted((name, fields): (String, Vec<String>)) -> PyResult<Wanted> {
    if fields.len() > COUNT {
        return Err(PyValueError::new_err("too many fields"));
    }
    let mut fields = fields.into_iter();
    Ok(Wanted { name, fields: std::array::from_fn(|_| fields.next()) })
}

fn kinds(calls: KindRows, entries: KindRows, exits: KindRows) -> PyResult<Kinds> {
    let all = |rows: KindRows| rows.into_iter().map(wanted).collect::<PyResult<_>>();
    Ok(Kinds { calls: all(calls)?, entries: all(entries)?, exits: all(exits)? })
}

/// A fold that threads of Python share.
struct Shared<F>(Mutex<ResourceFold<F>>);

impl<F: Follower> Shared<F> {
    fn new(kinds: Kinds, follower: F) -> Self {
        Self(Mutex::new(ResourceFold::new(kinds, follower)))
    }

    fn lock(&self) -> MutexGuard<'_, ResourceFold<F>> {
        // A panic cannot leave the counts half-changed in a way that matters.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, py: Python<'_>, merge: &Merge) -> NewRows {
        let places = merge.derived().into_iter().find(|one| one.places.is_some());
        py.detach(|| {
            let values = places.as_ref().map(|one| one.values.as_ref());
            let mut fold = self.lock();
            let News { places, makers } = fold.begin(&merge.inner, values);
            (places.clone(), makers.clone())
        })
    }

    fn advance(&self, py: Python<'_>, sites: &[u32], are_taken: &[bool]) {
        py.detach(|| self.lock().advance(sites, are_taken));
    }
}

#[doc = core_doc!(LockFold)]
#[pyclass(frozen, module = "vestige._core")]
pub struct LockFold {
    inner: Shared<LockFollower>,
}

#[pymethods]
impl LockFold {
    #[new]
    fn new(calls: KindRows, longest: usize) -> PyResult<Self> {
        let kinds = kinds(calls, Vec::new(), Vec::new())?;
        Ok(Self { inner: Shared::new(kinds, LockFollower::new(longest)) })
    }

    #[doc = core_doc!(LockFold.begin)]
    fn begin(&self, py: Python<'_>, merge: &Merge) -> NewRows {
        self.inner.begin(py, merge)
    }

    #[doc = core_doc!(LockFold.advance)]
    fn advance(&self, py: Python<'_>, sites: Vec<u32>, are_taken: Vec<bool>) {
        self.inner.advance(py, &sites, &are_taken);
    }

    #[doc = core_doc!(LockFold.events)]
    #[getter]
    fn events(&self) -> u64 {
        self.inner.lock().events
    }

    #[doc = core_doc!(LockFold.has_unknown_threads)]
    #[getter]
    fn has_unknown_threads(&self) -> bool {
        self.inner.lock().follower.has_unknown_threads
    }

    #[doc = core_doc!(LockFold.waiting)]
    #[getter]
    fn waiting(&self) -> usize {
        self.inner.lock().follower.waiting()
    }

    #[doc = core_doc!(LockFold.still_held)]
    #[getter]
    fn still_held(&self) -> usize {
        self.inner.lock().follower.still_held()
    }

    #[doc = core_doc!(LockFold.total)]
    fn total(&self) -> LockRow {
        lock_row(&self.inner.lock().follower.total)
    }

    #[doc = core_doc!(LockFold.locks)]
    fn locks(&self) -> Vec<(Process, u64, u32, LockRow)> {
        let fold = self.inner.lock();
        let locks = fold.follower.locks();
        let row = |((process, address), threads, counts): (_, _, &LockCounts)| {
            (fold.process_of(process), address, threads, lock_row(counts))
        };
        locks.map(row).collect()
    }

    #[doc = core_doc!(LockFold.sites)]
    fn sites(&self) -> Vec<(u32, LockRow)> {
        let fold = self.inner.lock();
        fold.follower.sites().map(|(site, counts)| (site, lock_row(counts))).collect()
    }

    #[doc = core_doc!(LockFold.blockings)]
    fn blockings(&self) -> Vec<BlockingRow> {
        let fold = self.inner.lock();
        let pairs = fold.follower.blockings().iter();
        pairs
            .map(|((waiting, holding), one)| {
                (*waiting, *holding, one.count, one.waited, one.longest)
            })
            .collect()
    }

    #[doc = core_doc!(LockFold.longest)]
    fn longest(&self) -> Vec<WaitRow> {
        let fold = self.inner.lock();
        let row = |one: LongWait| {
            let holder = one.holder.map(|(thread, site)| (fold.maker_of(thread), site));
            (one.begin, one.duration, fold.maker_of(one.thread), one.site, one.address, holder)
        };
        fold.follower.longest().into_iter().map(row).collect()
    }
}

fn lock_row(one: &LockCounts) -> LockRow {
    let (waits, holds) = ([one.waited, one.longest_wait], [one.held, one.longest_hold]);
    [one.acquired, one.blocked, waits[0], waits[1], holds[0], holds[1], one.failed]
}

#[doc = core_doc!(MemoryFold)]
#[pyclass(frozen, module = "vestige._core")]
pub struct MemoryFold {
    inner: Shared<MemoryFollower>,
}

#[pymethods]
impl MemoryFold {
    #[new]
    fn new(
        calls: KindRows,
        entries: KindRows,
        exits: KindRows,
        most_gone: usize,
    ) -> PyResult<Self> {
        let kinds = kinds(calls, entries, exits)?;
        Ok(Self { inner: Shared::new(kinds, MemoryFollower::new(most_gone)) })
    }

    #[doc = core_doc!(MemoryFold.begin)]
    fn begin(&self, py: Python<'_>, merge: &Merge) -> NewRows {
        self.inner.begin(py, merge)
    }

    #[doc = core_doc!(MemoryFold.advance)]
    fn advance(&self, py: Python<'_>, sites: Vec<u32>, are_taken: Vec<bool>) {
        self.inner.advance(py, &sites, &are_taken);
    }

    #[doc = core_doc!(MemoryFold.events)]
    #[getter]
    fn events(&self) -> u64 {
        self.inner.lock().events
    }

    #[doc = core_doc!(MemoryFold.total)]
    fn total(&self) -> MemoryRow {
        memory_row(&self.inner.lock().follower.total)
    }

    #[doc = core_doc!(MemoryFold.processes)]
    fn processes(&self) -> Vec<ProcessRow> {
        let fold = self.inner.lock();
        let row = |(process, one): (u32, &vestige_ctf::resources::memory::ProcessMemory)| {
            let counts = memory_row(&one.counts);
            (fold.process_of(process), counts, one.peak_time, one.unknown_frees, one.failed)
        };
        fold.follower.processes().map(row).collect()
    }

    #[doc = core_doc!(MemoryFold.sites)]
    fn sites(&self) -> Vec<(Vec<u32>, u32, MemoryRow)> {
        let fold = self.inner.lock();
        let row = |((path, site), counts): &((u32, u32), MemoryCounts)| {
            (fold.path_sites(*path), *site, memory_row(counts))
        };
        fold.follower.origins().iter().map(row).collect()
    }

    #[doc = core_doc!(MemoryFold.double_frees)]
    fn double_frees(&self) -> Vec<DoubleFreeRow> {
        let fold = self.inner.lock();
        let row = |one: &DoubleFree| {
            (one.time, fold.maker_of(one.thread), one.address, one.site, one.first)
        };
        fold.follower.double_frees().iter().map(row).collect()
    }

    #[doc = core_doc!(MemoryFold.double_free_count)]
    #[getter]
    fn double_free_count(&self) -> u64 {
        self.inner.lock().follower.double_free_count
    }
}

fn memory_row(one: &MemoryCounts) -> MemoryRow {
    (one.allocations, one.allocated, one.freed, one.live, one.peak, one.longest_block)
}
