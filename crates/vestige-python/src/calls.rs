//! `CallFold`: call trees from the entries and exits of functions.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use vestige_ctf::calls::{self, CallEvents, CallSite};

use crate::merge::Merge;

/// Caller, function, calls, complete, across a loss, without exit, without entry, total, own,
/// total of complete calls, shortest, longest.
type NodeRow = (u32, u32, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64);

/// Trace, process ID, thread ID, root, first, last, unknown exits, losses, named exits.
type ThreadRow = (u32, i32, i32, u32, i64, i64, u64, u64, bool);

#[doc = core_doc!(CallFold)]
#[pyclass(frozen, module = "vestige._core")]
pub struct CallFold {
    inner: Mutex<calls::CallFold>,
}

impl CallFold {
    fn lock(&self) -> MutexGuard<'_, calls::CallFold> {
        // A panic cannot leave the counts half-changed in a way that matters.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl CallFold {
    /// Names of events: entries, exits, and what may change process images; and the least
    /// duration, nanoseconds, of the calls that [`CallFold::select`] shows.
    #[new]
    #[pyo3(signature = (entries, exits, state_events, *, least=None))]
    fn new(
        entries: Vec<String>,
        exits: Vec<String>,
        state_events: Vec<String>,
        least: Option<u64>,
    ) -> Self {
        let events = CallEvents { entries, exits, states: state_events };
        Self { inner: Mutex::new(calls::CallFold::new(events, least)) }
    }

    #[doc = core_doc!(CallFold.begin)]
    fn begin(&self, py: Python<'_>, merge: &Merge) {
        py.detach(|| self.lock().begin(&merge.inner));
    }

    #[doc = core_doc!(CallFold.advance)]
    fn advance(&self, py: Python<'_>) -> Option<(usize, usize, i64)> {
        let found = py.detach(|| self.lock().advance());
        found.map(|record| (record.index, record.trace, record.vpid))
    }

    #[doc = core_doc!(CallFold.take_sites)]
    fn take_sites(&self, py: Python<'_>) -> Vec<(u32, i32, u64)> {
        let found = py.detach(|| self.lock().take_sites());
        found.into_iter().map(|one| (one.trace, one.vpid, one.site)).collect()
    }

    #[doc = core_doc!(CallFold.add_sites)]
    fn add_sites(&self, sites: Vec<(u32, i32, u64, u64)>) {
        let sites: Vec<(CallSite, u64)> = sites
            .into_iter()
            .map(|(trace, vpid, site, address)| (CallSite { trace, vpid, site }, address))
            .collect();
        self.lock().add_sites(&sites);
    }

    #[doc = core_doc!(CallFold.end_process)]
    fn end_process(&self, trace: u32, vpid: i32) {
        self.lock().end_process(trace, vpid);
    }

    #[doc = core_doc!(CallFold.forget)]
    fn forget(&self, trace: u32, vpid: i32, first: u64, last: u64) {
        self.lock().forget(trace, vpid, first, last);
    }

    #[doc = core_doc!(CallFold.take_functions)]
    fn take_functions(&self) -> Vec<(u32, i32, u64)> {
        let found = self.lock().take_functions();
        found.into_iter().map(|one| (one.trace, one.vpid, one.address)).collect()
    }

    #[doc = core_doc!(CallFold.finish)]
    fn finish(&self, py: Python<'_>) {
        py.detach(|| self.lock().finish());
    }

    #[doc = core_doc!(CallFold.nodes)]
    fn nodes(&self) -> Vec<NodeRow> {
        let row = |node: &calls::tree::Node| {
            let shortest = if node.complete == 0 { 0 } else { node.shortest };
            (
                node.parent,
                node.function,
                node.calls,
                node.complete,
                node.across_loss,
                node.no_exit,
                node.no_entry,
                node.total,
                node.own,
                node.complete_total,
                shortest,
                node.longest,
            )
        };
        self.lock().nodes().iter().map(row).collect()
    }

    #[doc = core_doc!(CallFold.threads)]
    fn threads(&self) -> Vec<ThreadRow> {
        let row = |one: calls::ThreadSummary| {
            let (trace, vpid, vtid, root) = (one.trace, one.vpid, one.vtid, one.root);
            let (first, last, exits) = (one.first, one.last, one.unknown_exits);
            (trace, vpid, vtid, root, first, last, exits, one.losses, one.exits_are_named)
        };
        self.lock().threads().into_iter().map(row).collect()
    }

    #[doc = core_doc!(CallFold.calls)]
    #[getter]
    fn calls(&self) -> u64 {
        self.lock().calls()
    }

    #[doc = core_doc!(CallFold.left_out)]
    #[getter]
    fn left_out(&self) -> u64 {
        self.lock().left_out()
    }

    #[doc = core_doc!(CallFold.threads_unknown)]
    #[getter]
    fn threads_unknown(&self) -> bool {
        self.lock().threads_unknown()
    }

    #[doc = core_doc!(CallFold.is_merged)]
    #[getter]
    fn is_merged(&self) -> bool {
        self.lock().is_merged()
    }

    #[doc = core_doc!(CallFold.select)]
    fn select(&self, py: Python<'_>, merge: &Merge) {
        let visible = py.detach(|| self.lock().select(&merge.inner));
        // What another filter hid before stays hidden.
        let _ = merge.visible.set(visible);
    }
}
