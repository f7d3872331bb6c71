//! Collecting, and what became of it.

use std::collections::HashMap;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vestige_kernel::collect::{self as inner, Recording};
use vestige_kernel::groups::ThreadGroups;
use vestige_kernel::packet::Header;
use vestige_kernel::plan::Plans;
use vestige_kernel::stream::{Outcome, Shared};

use crate::given::{file, plan, CpuTuple, EventTuple, OwnTuple};

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

    #[doc = core_doc!(CpuOutcome.failure)]
    #[getter]
    fn failure(&self) -> Option<&str> {
        self.0.failure.as_deref()
    }
}

#[doc = core_doc!(collect)]
#[pyfunction]
#[pyo3(signature = (recording, events, groups, cpus, own, control))]
pub fn collect(
    py: Python<'_>,
    recording: (Vec<u8>, u32, usize, u64),
    events: Vec<EventTuple>,
    groups: HashMap<i32, i32>,
    cpus: Vec<CpuTuple>,
    own: OwnTuple,
    control: RawFd,
) -> PyResult<Vec<CpuOutcome>> {
    let (uuid, classes, page, begin) = recording;
    let uuid = uuid.try_into().map_err(|_| PyValueError::new_err("expected 16 bytes"))?;
    let recording = Recording { uuid, header: Header::of(classes), page, begin };
    let events = events.into_iter().map(plan).collect::<PyResult<Vec<_>>>()?;
    let shared = Shared { plans: Plans::new(events), groups: ThreadGroups::new(groups) };
    let cpus = crate::given::cpus(cpus, own)?;
    let control = UnixStream::from(OwnedFd::from(file(control)?));
    let outcomes = py.detach(|| inner::collect(recording, shared, cpus, control))?;
    Ok(outcomes.into_iter().map(CpuOutcome).collect())
}
