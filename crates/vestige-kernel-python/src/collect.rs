//! Collecting, and what became of it.

use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vestige_kernel::collect as inner;
use vestige_kernel::cpu::{Pair, Recording};
use vestige_kernel::output::Limits;
use vestige_kernel::own_threads::Others;
use vestige_kernel::packet::Header;
use vestige_kernel::plan::Plans;
use vestige_kernel::stream::Outcome;

use crate::given::{
    cpus, file, own, pairs, plan, shared, CpuTuple, EventTuple, OwnTuple, PairTuple,
};
use crate::making::{
    filters, known, machine, spaces_read, tracked, FiltersTuple, ProcessesTuple, SpacesTuple,
    ThreadTuple,
};

#[doc = core_doc!(CpuOutcome)]
#[pyclass(frozen, module = "vestige.record._kernel")]
pub struct CpuOutcome(Outcome);

#[pymethods]
impl CpuOutcome {
    #[doc = core_doc!(CpuOutcome.records)]
    #[getter]
    fn records(&self) -> u64 {
        self.0.records
    }

    #[doc = core_doc!(CpuOutcome.lost)]
    #[getter]
    fn lost(&self) -> u64 {
        self.0.lost
    }

    #[doc = core_doc!(CpuOutcome.packets)]
    #[getter]
    fn packets(&self) -> u64 {
        self.0.packets
    }

    #[doc = core_doc!(CpuOutcome.bytes)]
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.bytes
    }

    #[doc = core_doc!(CpuOutcome.damaged)]
    #[getter]
    fn damaged(&self) -> u64 {
        self.0.damaged
    }

    #[doc = core_doc!(CpuOutcome.unknown)]
    #[getter]
    fn unknown(&self) -> u64 {
        self.0.unknown
    }

    #[doc = core_doc!(CpuOutcome.overwritten)]
    #[getter]
    fn overwritten(&self) -> u64 {
        self.0.overwritten
    }

    #[doc = core_doc!(CpuOutcome.failure)]
    #[getter]
    fn failure(&self) -> Option<&str> {
        self.0.failure.as_deref()
    }
}

type Outcomes = Vec<Vec<CpuOutcome>>;

fn outcomes(found: Vec<Vec<Outcome>>) -> Outcomes {
    found.into_iter().map(|one| one.into_iter().map(CpuOutcome).collect()).collect()
}

#[doc = core_doc!(Collector)]
#[pyclass(module = "vestige.record._kernel")]
pub struct Collector {
    inner: inner::Collector,
    page: usize,
}

#[pymethods]
impl Collector {
    #[new]
    fn new(page: usize) -> Self {
        Self { inner: inner::Collector::default(), page }
    }

    #[doc = core_doc!(Collector.learn)]
    fn learn(&self, groups: HashMap<i32, i32>) {
        self.inner.learn(groups);
    }

    #[doc = core_doc!(Collector.follow)]
    #[pyo3(signature = (host, processes = None))]
    fn follow(&self, host: Vec<u8>, processes: Option<ProcessesTuple>) -> PyResult<()> {
        self.inner.threads().follow(machine(host, processes, self.page)?);
        Ok(())
    }

    #[doc = core_doc!(Collector.know)]
    fn know(&self, threads: Vec<ThreadTuple>) {
        if let Some(processes) = self.inner.threads().processes() {
            processes.know(known(threads));
        }
    }

    #[doc = core_doc!(Collector.know_spaces)]
    fn know_spaces(&self, py: Python<'_>, threads: Vec<SpacesTuple>) -> PyResult<()> {
        let known = spaces_read(threads);
        let processes = self.inner.threads().processes();
        py.detach(|| processes.map_or(Ok(()), |one| one.know_spaces(known)))?;
        Ok(())
    }

    #[doc = core_doc!(Collector.read_ids)]
    fn read_ids(&self, proc: RawFd) -> PyResult<()> {
        let proc = file(proc)?;
        if let Some(processes) = self.inner.threads().processes() {
            processes.read_ids(proc);
        }
        Ok(())
    }

    #[doc = core_doc!(Collector.gaps)]
    fn gaps(&self) -> u64 {
        self.inner.threads().processes().map_or(0, vestige_kernel::state_events::Processes::lost)
    }

    #[doc = core_doc!(Collector.note_addresses)]
    fn note_addresses(&self, lowest: u64) {
        self.inner.threads().addresses.note_from(lowest);
    }

    #[doc = core_doc!(Collector.take_addresses)]
    fn take_addresses(&self) -> Vec<u64> {
        self.inner.threads().addresses.take()
    }

    #[doc = core_doc!(Collector.note_pages)]
    fn note_pages(&self) {
        self.inner.threads().addresses.note_pages();
    }

    #[doc = core_doc!(Collector.take_pages)]
    fn take_pages(&self) -> Vec<(i32, u64)> {
        self.inner.threads().addresses.take_pages()
    }

    #[doc = core_doc!(Collector.track)]
    fn track(&self, ids: HashMap<String, Vec<i64>>) -> PyResult<()> {
        self.inner.threads().track(tracked(&ids)?);
        Ok(())
    }

    #[doc = core_doc!(Collector.leave_out)]
    fn leave_out(&self, threads: HashMap<i32, u64>) {
        self.inner.threads().leave_out(threads);
    }

    #[doc = core_doc!(Collector.end_own)]
    fn end_own(&self, threads: Vec<i32>, until: u64) {
        self.inner.threads().end_own(threads, until);
    }

    #[doc = core_doc!(Collector.add)]
    #[pyo3(signature = (
        recording, events, cpus, files, *,
        buffer = 0, page = None, kept = None, period = 0, own = Vec::new(), filters = None, others = None
    ))]
    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        recording: (Vec<u8>, u32, bool, u64),
        events: Vec<EventTuple>,
        cpus: Vec<CpuTuple>,
        files: Vec<PairTuple>,
        buffer: usize,
        page: Option<usize>,
        kept: Option<usize>,
        period: u64,
        own: Vec<OwnTuple>,
        filters: Option<FiltersTuple<'_>>,
        others: Option<Others>,
    ) -> PyResult<()> {
        let (uuid, stream, is_compact, begin) = recording;
        let recording = Recording {
            uuid: uuid.try_into().map_err(|_| PyValueError::new_err("expected 16 bytes"))?,
            stream,
            header: if is_compact { Header::Compact } else { Header::Large },
            page: page.unwrap_or(self.page),
            buffer,
            begin,
            period: (period > 0).then(|| Duration::from_micros(period)),
            kept,
        };
        let plans = plans(events, filters)?.with_others(others);
        Ok(self.inner.add(recording, plans, self::cpus(cpus)?, pairs(files)?, self::own(own))?)
    }

    #[doc = core_doc!(Collector.set_events)]
    #[pyo3(signature = (channel, events, filters = None, others = None))]
    fn set_events(
        &self,
        channel: usize,
        events: Vec<EventTuple>,
        filters: Option<FiltersTuple<'_>>,
        others: Option<Others>,
    ) -> PyResult<()> {
        Ok(self.inner.set_plans(channel, plans(events, filters)?.with_others(others))?)
    }

    #[doc = core_doc!(Collector.wait_for_own)]
    fn wait_for_own(&self, py: Python<'_>) {
        py.detach(|| self.inner.wait_for_own());
    }

    #[doc = core_doc!(Collector.put)]
    #[pyo3(signature = (channel, records, until = None))]
    fn put(
        &self,
        py: Python<'_>,
        channel: usize,
        records: Vec<OwnTuple>,
        until: Option<u64>,
    ) -> PyResult<()> {
        let until = until.unwrap_or(u64::MAX);
        Ok(py.detach(|| self.inner.put(channel, own(records), until))?)
    }

    #[doc = core_doc!(Collector.flush)]
    #[pyo3(signature = (end, *, is_stopped))]
    fn flush(&self, py: Python<'_>, end: u64, is_stopped: bool) -> Outcomes {
        outcomes(py.detach(|| self.inner.flush(end, is_stopped)))
    }

    #[doc = core_doc!(Collector.flush_some)]
    fn flush_some(&self, py: Python<'_>, end: u64) {
        py.detach(|| self.inner.flush_some(end));
    }

    #[doc = core_doc!(Collector.limit)]
    fn limit(
        &self,
        channel: usize,
        directories: (RawFd, RawFd),
        names: Vec<String>,
        size: u64,
        count: u64,
    ) -> PyResult<()> {
        let (data, index) = (shared(directories.0)?, shared(directories.1)?);
        let of = |name| {
            let (data, index) = (Arc::clone(&data), Arc::clone(&index));
            Limits { data, index, name, size, count }
        };
        Ok(self.inner.limit(channel, names.into_iter().map(of).collect())?)
    }

    #[doc = core_doc!(Collector.hold)]
    #[pyo3(signature = (*, is_held))]
    fn hold(&self, py: Python<'_>, is_held: bool) {
        py.detach(|| self.inner.hold(is_held));
    }

    #[doc = core_doc!(Collector.cut)]
    #[pyo3(signature = (end, files, *, is_dropped))]
    fn cut(
        &self,
        py: Python<'_>,
        end: u64,
        files: Vec<Vec<PairTuple>>,
        is_dropped: bool,
    ) -> PyResult<Outcomes> {
        let files = all_pairs(files)?;
        Ok(outcomes(py.detach(|| self.inner.cut(end, files, is_dropped))?))
    }

    #[doc = core_doc!(Collector.copy)]
    fn copy(
        &self,
        py: Python<'_>,
        end: u64,
        files: Vec<Vec<PairTuple>>,
        most: Vec<usize>,
    ) -> PyResult<Outcomes> {
        let files = all_pairs(files)?;
        Ok(outcomes(py.detach(|| self.inner.copy(end, files, &most))?))
    }

    #[doc = core_doc!(Collector.look)]
    #[pyo3(signature = (end=None))]
    fn look(&self, py: Python<'_>, end: Option<u64>) {
        py.detach(|| self.inner.look(end));
    }

    #[doc = core_doc!(Collector.outcomes)]
    fn outcomes(&self) -> Outcomes {
        outcomes(self.inner.outcomes())
    }

    #[doc = core_doc!(Collector.end)]
    fn end(&mut self, py: Python<'_>, end: u64) -> Outcomes {
        outcomes(py.detach(|| self.inner.end(end)))
    }
}

fn plans(events: Vec<EventTuple>, given: Option<FiltersTuple<'_>>) -> PyResult<Plans> {
    let plans = Plans::new(events.into_iter().map(plan).collect::<PyResult<Vec<_>>>()?);
    Ok(plans.with_filters(filters(given)?))
}

fn all_pairs(files: Vec<Vec<(RawFd, RawFd)>>) -> PyResult<Vec<Vec<Pair>>> {
    files.into_iter().map(pairs).collect()
}
