//! `CallFold`: call trees from the entries and exits of functions.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use vestige_ctf::calls::{self, CallEvents, CallSite, Code, State, Step};
use vestige_ctf::intervals::checkpoints::EVERY;
use vestige_ctf::intervals::columns::{of_calls, write_sorted, BLOCK_BYTES};
use vestige_ctf::intervals::{FunctionDurations, NO_ENTRY};

use crate::intervals::IntervalIndex;
use crate::merge::Merge;
use crate::stream::DataStream;

/// Caller, function; calls, complete, across a loss, without exit, without entry, clipped;
/// total, own, total of complete calls, shortest, longest.
type NodeRow = ((u32, u32), (u64, u64, u64, u64, u64, u64), (u64, u64, u64, u64, u64));

/// Function; index and count of its buckets; duration, begin and node of its longest calls.
type DurationRow = (u32, Vec<(usize, u64)>, Vec<(u64, i64, u32)>);

/// Trace, process ID, thread ID, root, first, last, unknown exits, losses, named exits.
type ThreadRow = (u32, i32, i32, u32, i64, i64, u64, u64, bool);

/// First address, number of addresses, path, function, first line.
type CodeRow<'py> = (u64, u64, Bound<'py, PyAny>, Bound<'py, PyAny>, i64);

/// Trace, process ID, address, and the code object there.
type FunctionRow<'py> = (u32, i32, u64, Option<CodeRow<'py>>);

/// Time, thread, function, what happens.
type StepRow = (i64, u32, u32, u8);

#[doc = core_doc!(CallFold)]
#[pyclass(frozen, module = "vestige._core")]
pub struct CallFold {
    inner: Mutex<calls::CallFold>,
}

impl CallFold {
    /// A fold that somebody has made.
    pub fn of(fold: calls::CallFold) -> Self {
        Self { inner: Mutex::new(fold) }
    }

    pub fn lock(&self) -> MutexGuard<'_, calls::CallFold> {
        // A panic cannot leave the counts half-changed in a way that matters.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn code_row<'py>(&self, py: Python<'py>, code: Code) -> PyResult<Option<CodeRow<'py>>> {
        let Some(name) = self.lock().code_name(code).cloned() else { return Ok(None) };
        let text = |bytes: &[u8]| {
            // As for all strings in traces: bytes that are no UTF-8 stay recoverable.
            PyBytes::new(py, bytes).call_method1("decode", ("utf-8", "surrogateescape"))
        };
        let size = (code.last - code.base).saturating_add(1);
        Ok(Some((code.base, size, text(&name.path)?, text(&name.function)?, name.line)))
    }
}

#[pymethods]
impl CallFold {
    /// Names of events: entries, exits, and what may change process images; those that tell
    /// of code objects; and the least duration, nanoseconds, of the calls that
    /// [`CallFold::select`] shows.
    #[new]
    #[pyo3(signature = (entries, exits, state_events, *, code_events=Vec::new(), least=None))]
    fn new(
        entries: Vec<String>,
        exits: Vec<String>,
        state_events: Vec<String>,
        code_events: Vec<String>,
        least: Option<u64>,
    ) -> Self {
        let events = CallEvents { entries, exits, states: state_events, codes: code_events };
        Self { inner: Mutex::new(calls::CallFold::new(events, least)) }
    }

    #[doc = core_doc!(CallFold.keep_durations)]
    fn keep_durations(&self, longest: usize) {
        self.lock().keep_durations(longest);
    }

    #[doc = core_doc!(CallFold.set_range)]
    fn set_range(&self, begin: Option<i64>, end: Option<i64>, streams: Vec<PyRef<'_, DataStream>>) {
        let mut fold = self.lock();
        fold.set_range(begin, end);
        fold.know_streams(streams.iter().map(|one| one.inner.clone()).collect());
    }

    #[doc = core_doc!(CallFold.open_threads)]
    fn open_threads(&self) -> Vec<(u32, i32, i32)> {
        self.lock().open_threads()
    }

    #[doc = core_doc!(CallFold.add_going_on)]
    fn add_going_on(&self, threads: Vec<(u32, i32, i32)>) {
        self.lock().add_going_on(threads);
    }

    #[doc = core_doc!(CallFold.choose_threads)]
    fn choose_threads(&self, threads: Vec<calls::ThreadChoice>) {
        self.lock().choose_threads(threads);
    }

    #[doc = core_doc!(CallFold.keep_intervals)]
    #[pyo3(signature = (every=EVERY))]
    fn keep_intervals(&self, every: u64) {
        self.lock().keep_intervals(every);
    }

    #[doc = core_doc!(CallFold.take_index)]
    #[pyo3(signature = (facts, functions, streams=None))]
    fn take_index(
        &self,
        py: Python<'_>,
        facts: Vec<u8>,
        functions: Vec<u32>,
        streams: Option<Vec<Option<PyRef<'_, DataStream>>>>,
    ) -> Option<IntervalIndex> {
        let streams: Option<Vec<_>> = streams.map(|streams| {
            streams.iter().map(|one| one.as_ref().map(|one| one.inner.clone())).collect()
        });
        let inner = py.detach(|| self.lock().take_index(facts, functions, streams.as_deref()))?;
        Some(IntervalIndex { inner })
    }

    #[doc = core_doc!(CallFold.copy)]
    fn copy(&self, py: Python<'_>) -> Self {
        Self::of(py.detach(|| self.lock().clone()))
    }

    #[doc = core_doc!(CallFold.keep_calls)]
    #[pyo3(signature = (functions=None, rows=None, least=0))]
    fn keep_calls(&self, functions: Option<Vec<u32>>, rows: Option<Vec<u32>>, least: u64) {
        self.lock().keep_calls(functions.as_deref(), rows.as_deref(), least);
    }

    #[doc = core_doc!(CallFold.keep_all_calls)]
    fn keep_all_calls(&self) {
        self.lock().keep_all_calls();
    }

    #[doc = core_doc!(CallFold.others)]
    fn others(&self, py: Python<'_>, merge: &Merge) -> Vec<usize> {
        py.detach(|| self.lock().others(&merge.inner))
    }

    #[doc = core_doc!(CallFold.take_blocks)]
    fn take_blocks<'py>(&self, py: Python<'py>, origin: i64) -> PyResult<Bound<'py, PyBytes>> {
        let calls = py.detach(|| self.lock().take_calls());
        PyBytes::new_with(py, calls.len() * BLOCK_BYTES, |columns| {
            write_sorted(&calls, origin, columns);
            Ok(())
        })
    }

    #[doc = core_doc!(CallFold.take_calls)]
    fn take_calls<'py>(&self, py: Python<'py>) -> (usize, Bound<'py, PyBytes>) {
        let (count, columns) = py.detach(|| {
            let calls = self.lock().take_calls();
            (calls.len(), of_calls(&calls))
        });
        (count, PyBytes::new(py, &columns))
    }

    #[doc = core_doc!(CallFold.of_marks)]
    #[staticmethod]
    fn of_marks(entries: Vec<String>, exits: Vec<String>, joins: bool) -> Self {
        let events = CallEvents { entries, exits, ..CallEvents::default() };
        Self { inner: Mutex::new(calls::CallFold::of_marks(events, joins)) }
    }

    #[doc = core_doc!(CallFold.mark)]
    fn mark(&self, py: Python<'_>, merge: &Merge) {
        let visible = merge.visible();
        let marked = py.detach(|| self.lock().mark(&merge.inner, visible.as_deref()));
        let (marks, shown) = marked;
        merge.set_marks(marks);
        if let Some(shown) = shown {
            merge.hide(shown);
        }
    }

    #[doc = core_doc!(CallFold.begin)]
    fn begin(&self, py: Python<'_>, merge: &Merge) {
        py.detach(|| self.lock().begin(&merge.inner, merge.visible().as_deref()));
    }

    #[doc = core_doc!(CallFold.loose_classes)]
    #[pyo3(signature = (stream, *, only_calls=false))]
    fn loose_classes(&self, stream: &DataStream, only_calls: bool) -> Vec<bool> {
        self.lock().loose_classes(&stream.inner, only_calls)
    }

    #[doc = core_doc!(CallFold.advance)]
    #[pyo3(signature = (end=None))]
    fn advance(&self, py: Python<'_>, end: Option<usize>) -> Option<(usize, usize, i64)> {
        let found = py.detach(|| self.lock().advance(end));
        found.map(|record| (record.index, record.space, record.vpid))
    }

    #[doc = core_doc!(CallFold.take_sites)]
    fn take_sites(&self, py: Python<'_>) -> Vec<(u32, i32, u64)> {
        let found = py.detach(|| self.lock().take_sites());
        found.into_iter().map(|one| (one.space, one.vpid, one.site)).collect()
    }

    #[doc = core_doc!(CallFold.add_sites)]
    fn add_sites(&self, sites: Vec<(u32, i32, u64, u64)>) {
        let sites: Vec<(CallSite, u64)> = sites
            .into_iter()
            .map(|(space, vpid, site, address)| (CallSite { space, vpid, site }, address))
            .collect();
        self.lock().add_sites(&sites);
    }

    #[doc = core_doc!(CallFold.end_process)]
    fn end_process(&self, space: u32, vpid: i32) {
        self.lock().end_process(space, vpid);
    }

    #[doc = core_doc!(CallFold.forget)]
    fn forget(&self, space: u32, vpid: i32, first: u64, last: u64) {
        self.lock().forget(space, vpid, first, last);
    }

    #[doc = core_doc!(CallFold.forget_codes)]
    fn forget_codes(&self, space: u32, vpid: i32) -> bool {
        self.lock().forget_codes(space, vpid)
    }

    #[doc = core_doc!(CallFold.find_code)]
    fn find_code<'py>(
        &self,
        py: Python<'py>,
        space: u32,
        vpid: i32,
        address: u64,
    ) -> PyResult<Option<CodeRow<'py>>> {
        let found = self.lock().find_code(space, vpid, address);
        found.map_or(Ok(None), |code| self.code_row(py, code))
    }

    #[doc = core_doc!(CallFold.has_codes)]
    #[getter]
    fn has_codes(&self) -> bool {
        self.lock().has_codes()
    }

    #[doc = core_doc!(CallFold.take_functions)]
    fn take_functions<'py>(&self, py: Python<'py>) -> PyResult<Vec<FunctionRow<'py>>> {
        let found = self.lock().take_functions();
        let row = |one: calls::NewFunction| {
            let code = one.code.map_or(Ok(None), |code| self.code_row(py, code))?;
            Ok((one.space, one.vpid, one.address, code))
        };
        found.into_iter().map(row).collect()
    }

    #[doc = core_doc!(CallFold.finish)]
    fn finish(&self, py: Python<'_>) {
        py.detach(|| self.lock().finish());
    }

    #[doc = core_doc!(CallFold.nodes)]
    fn nodes(&self) -> Vec<NodeRow> {
        let fold = self.lock();
        let row = |node: &calls::tree::Node| {
            let shortest = if node.complete == 0 { 0 } else { node.shortest };
            let (complete, across, cut) = (node.complete, node.across_loss, node.clipped);
            (
                (node.parent, fold.function_of(node)),
                (node.calls, complete, across, node.no_exit, node.no_entry, cut),
                (node.total, node.own, node.complete_total, shortest, node.longest),
            )
        };
        fold.nodes().iter().map(row).collect()
    }

    #[doc = core_doc!(CallFold.add_turns)]
    fn add_turns(&self, space: u32, vtid: i32, times: Vec<i64>, states: Vec<u8>) {
        let states = times.into_iter().zip(states.into_iter().map(State::of));
        self.lock().add_turns((space, vtid), states);
    }

    #[doc = core_doc!(CallFold.turns)]
    fn turns(&self) -> Vec<(u64, u64, u64)> {
        let fold = self.lock();
        let of_nodes = (0..fold.nodes().len()).map_while(|node| fold.turns_of(node));
        of_nodes.map(|one| (one.running, one.runnable, one.blocked)).collect()
    }

    #[doc = core_doc!(CallFold.durations)]
    fn durations(&self, py: Python<'_>) -> Vec<DurationRow> {
        let found = py.detach(|| self.lock().durations());
        let row = |one: FunctionDurations| {
            let longest = one.longest.iter().map(|call| (call.duration, call.begin.0, call.node));
            (one.function, one.buckets, longest.collect())
        };
        found.into_iter().map(row).collect()
    }

    #[doc = core_doc!(CallFold.threads)]
    fn threads(&self) -> Vec<ThreadRow> {
        let row = |one: calls::ThreadSummary| {
            let (space, vpid, vtid, root) = (one.space, one.vpid, one.vtid, one.root);
            let (first, last, exits) = (one.first, one.last, one.unknown_exits);
            (space, vpid, vtid, root, first, last, exits, one.losses, one.exits_are_named)
        };
        self.lock().threads().into_iter().map(row).collect()
    }

    #[doc = core_doc!(CallFold.note_steps)]
    fn note_steps(&self) {
        self.lock().note_steps();
    }

    #[doc = core_doc!(CallFold.take_steps)]
    fn take_steps(&self) -> Vec<StepRow> {
        let row = |one: &calls::CallStep| {
            let what = match one.step {
                Step::Begin => 4,
                Step::End(end) => end.number(),
                Step::Unseen => NO_ENTRY,
            };
            (one.time, one.thread, one.function, what)
        };
        self.lock().take_steps().iter().map(row).collect()
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

    #[doc = core_doc!(CallFold.hidden_calls)]
    #[getter]
    fn hidden_calls(&self) -> u64 {
        self.lock().hidden_calls()
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
        merge.hide(visible);
    }
}
