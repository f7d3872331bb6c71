//! The collector, and the recovery of arenas.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vestige_collector::arena::Plan;
use vestige_collector::collector as inner;
use vestige_collector::loaded_state::Told;
use vestige_collector::owner::{Owner, Place};
use vestige_collector::recording::{Limits, Recording};
use vestige_collector::rollover::Rollover;
use vestige_collector::timers::Timers;
use vestige_collector::{recovery, sys};

use crate::errors::exception;
use crate::loaded::LoadedState;
use crate::request::PlanRequest;
use crate::results::{slot_tuple, Outcome, Progress, SlotTuple};

/// No recording takes so long to close.
const LONGEST: f64 = 1e9;

/// Process ID as we see it and as it sees it, the namespace of that, its name, the contexts of its
/// records.
type ProcessTuple = (u32, u32, u64, Vec<u8>, Vec<u8>);

fn told((process, vpid, pid_namespace, name, contexts): ProcessTuple) -> Told {
    let mut procname = [0; 16];
    // The last byte is a zero.
    for (to, from) in procname.iter_mut().take(15).zip(name) {
        *to = from;
    }
    Told { process, vpid, pid_namespace, procname, contexts }
}

fn place_of(path: PathBuf, owner: Option<(u32, u32, Vec<u32>)>) -> Place {
    let owner = owner.map(|(user, group, groups)| Owner { user, group, groups });
    Place { path, owner }
}

#[doc = core_doc!(Collector)]
#[pyclass(frozen, module = "vestige.record._collector")]
pub struct Collector(inner::Collector);

#[pymethods]
impl Collector {
    // Options by name, as the stub has them.
    #[allow(clippy::too_many_arguments)]
    #[new]
    #[pyo3(signature = (
        directory, uuid, *, fingerprint = 0, chunk_bytes = 65536, ring = 64,
        arena_size = 268_435_456, thread_chunks = 0, slots = 16384, wait_ns = 10_000_000_000, overwrite = false,
        max_size = 0, rules = Vec::new(), first_class = 0, class_bytes = 16_777_216,
        user = None, cpu_rings = 0, overwrite_rings = false, file_bytes = 0, file_count = 0, switch_ns = 0, read_ns = 0, live_ns = 0,
        channel = String::new(), keep = false, keep_states = false, owner = None, shared_memory = PathBuf::from("/dev/shm")
    ))]
    fn new(
        py: Python<'_>,
        directory: PathBuf,
        uuid: [u8; 16],
        fingerprint: u64,
        chunk_bytes: u32,
        ring: u32,
        arena_size: u64,
        thread_chunks: u32,
        slots: u32,
        wait_ns: u64,
        overwrite: bool,
        max_size: u64,
        rules: Vec<u8>,
        first_class: u32,
        class_bytes: u64,
        user: Option<u32>,
        cpu_rings: u32,
        overwrite_rings: bool,
        file_bytes: u64,
        file_count: u32,
        switch_ns: u64,
        read_ns: u64,
        live_ns: u64,
        channel: String,
        keep: bool,
        keep_states: bool,
        owner: Option<(u32, u32, Vec<u32>)>,
        shared_memory: PathBuf,
    ) -> PyResult<Self> {
        let chunk_count = u32::try_from(arena_size / u64::from(chunk_bytes.max(1)))
            .ok()
            .and_then(|count| count.checked_add(thread_chunks))
            .ok_or_else(|| PyValueError::new_err("the arena has too many chunks"))?;
        let place = place_of(directory, owner);
        let plan = Plan {
            fingerprint,
            uuid,
            chunk_bytes,
            chunk_count,
            thread_chunks,
            slot_count: slots,
            ring_chunks: ring,
            cpu_rings,
            wait_ns,
            // Programs tell such records from others only there.
            is_overwriting: overwrite || keep_states,
            rings_overwrite: overwrite_rings,
            rules,
            classes_bytes: class_bytes,
            first_class,
            user: user
                .or(place.owner.as_ref().map(|one| one.user))
                .unwrap_or_else(sys::effective_user),
        };
        let limits = Limits {
            max_bytes: max_size,
            is_overwriting: overwrite,
            rollover: Rollover { file_bytes, file_count },
            timers: Timers { switch_ns, read_ns, live_ns },
            channel,
            is_kept: keep,
        };
        py.detach(|| {
            let write = Box::new(sys::write_parts);
            let made = inner::Collector::new(place, &shared_memory, &plan, limits, write)?;
            if keep_states {
                made.keep_states();
            }
            Ok(made)
        })
        .map(Self)
        .map_err(|error: io::Error| exception(&error))
    }

    #[doc = core_doc!(Collector.attach)]
    #[staticmethod]
    #[pyo3(signature = (directory, *, owner = None, shared_memory = PathBuf::from("/dev/shm")))]
    fn attach(
        py: Python<'_>,
        directory: PathBuf,
        owner: Option<(u32, u32, Vec<u32>)>,
        shared_memory: PathBuf,
    ) -> PyResult<Self> {
        let write = Box::new(sys::write_parts);
        py.detach(|| inner::Collector::attach(place_of(directory, owner), &shared_memory, write))
            .map(Self)
            .map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Collector.expect)]
    fn expect(&self, py: Python<'_>, programs: u32) {
        py.detach(|| self.0.expect(programs));
    }

    #[doc = core_doc!(Collector.cut)]
    #[pyo3(signature = (directory, processes = Vec::new(), loaded = None))]
    fn cut(
        &self,
        py: Python<'_>,
        directory: PathBuf,
        processes: Vec<ProcessTuple>,
        loaded: Option<&LoadedState>,
    ) -> PyResult<()> {
        let processes: Vec<Told> = processes.into_iter().map(told).collect();
        let cut = || match loaded {
            Some(loaded) => self.0.cut_with_state(&directory, &processes, &loaded.0),
            None => self.0.cut(&directory),
        };
        py.detach(cut).map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Collector.archive)]
    fn archive(&self, py: Python<'_>, directory: PathBuf) -> PyResult<()> {
        py.detach(|| self.0.archive(&directory)).map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Collector.clear)]
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.clear()).map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Collector.set_monotonic)]
    fn set_monotonic(&self) {
        self.0.set_monotonic();
    }

    #[doc = core_doc!(Collector.now)]
    fn now(&self) -> u64 {
        self.0.now()
    }

    #[doc = core_doc!(Collector.write_state)]
    #[pyo3(signature = (processes, loaded, time = None))]
    fn write_state(
        &self,
        py: Python<'_>,
        processes: Vec<ProcessTuple>,
        loaded: &LoadedState,
        time: Option<u64>,
    ) -> PyResult<()> {
        let processes: Vec<Told> = processes.into_iter().map(told).collect();
        py.detach(|| self.0.write_state(&processes, &loaded.0, time))
            .map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Collector.hand_over)]
    fn hand_over(&self, py: Python<'_>) -> Outcome {
        Outcome(py.detach(|| self.0.hand_over()))
    }

    #[doc = core_doc!(Collector.snapshot)]
    #[pyo3(signature = (directory, *, most = usize::MAX, owner = None))]
    fn snapshot(
        &self,
        py: Python<'_>,
        directory: PathBuf,
        most: usize,
        owner: Option<(u32, u32, Vec<u32>)>,
    ) -> PyResult<(u64, u64, u64, u64)> {
        py.detach(|| self.0.snapshot(place_of(directory, owner), most))
            .map(|taken| (taken.streams, taken.packets, taken.bytes, taken.given_up))
            .map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Collector.copy)]
    fn copy(&self, py: Python<'_>, directory: PathBuf) -> PyResult<(u64, u64)> {
        py.detach(|| self.0.copy(place_of(directory, None)))
            .map(|taken| (taken.streams, taken.bytes))
            .map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Collector.arena_path)]
    #[getter]
    fn arena_path(&self) -> String {
        self.0.arena_path().to_string_lossy().into_owned()
    }

    #[doc = core_doc!(Collector.arena_fd_info)]
    #[getter]
    fn arena_fd_info(&self) -> PyResult<(u64, u64, u64)> {
        let file = self.0.recording().arena.file().metadata();
        let file = file.map_err(|error| exception(&error))?;
        Ok((file.dev(), file.ino(), file.len()))
    }

    #[doc = core_doc!(Collector.inodes)]
    #[getter]
    fn inodes(&self) -> PyResult<Vec<u64>> {
        let all = self.0.arenas().all();
        let inode = |one: &Arc<Recording>| one.arena.file().metadata().map(|file| file.ino());
        all.iter().map(inode).collect::<io::Result<_>>().map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Collector.socket)]
    #[getter]
    fn socket(&self) -> (String, String) {
        self.0.socket().unwrap_or_default()
    }

    #[doc = core_doc!(Collector.make_inherited)]
    fn make_inherited(&self) -> PyResult<i32> {
        self.0.make_inherited().map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Collector.set_inherited)]
    fn set_inherited(&self, descriptor: i32) -> PyResult<()> {
        let end = sys::own_socket(descriptor).map_err(|error| exception(&error))?;
        self.0.set_inherited(end);
        Ok(())
    }

    #[doc = core_doc!(Collector.inherited)]
    #[getter]
    fn inherited(&self) -> Option<i32> {
        self.0.inherited()
    }

    #[doc = core_doc!(Collector.open_requests)]
    fn open_requests(&self) -> PyResult<i32> {
        self.0.open_requests().map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Collector.take_request)]
    fn take_request(&self) -> Option<PlanRequest> {
        self.0.take_request().map(PlanRequest)
    }

    #[doc = core_doc!(Collector.start)]
    fn start(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.0.start()).map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Collector.progress)]
    fn progress(&self) -> Progress {
        Progress(self.0.progress())
    }

    #[doc = core_doc!(Collector.hold)]
    fn hold(&self, is_held: bool) {
        self.0.hold(is_held);
    }

    #[doc = core_doc!(Collector.let_watch)]
    fn let_watch(&self) {
        self.0.let_watch();
    }

    #[doc = core_doc!(Collector.live_slots)]
    fn live_slots(&self, py: Python<'_>) -> Vec<SlotTuple> {
        py.detach(|| self.0.live_slots()).iter().map(slot_tuple).collect()
    }

    #[doc = core_doc!(Collector.forget_process)]
    fn forget_process(&self, py: Python<'_>, vpid: u32, pid_namespace: u64) {
        py.detach(|| self.0.forget_process(vpid, pid_namespace));
    }

    #[doc = core_doc!(Collector.close)]
    #[pyo3(signature = (deadline = 10.0, *, keep_losses = false))]
    fn close(&self, py: Python<'_>, deadline: f64, keep_losses: bool) -> Outcome {
        // What is no number is no time.
        let patience = Duration::try_from_secs_f64(deadline.clamp(0.0, LONGEST));
        let patience = patience.unwrap_or_default();
        Outcome(py.detach(|| self.0.close(patience, keep_losses)))
    }

    #[doc = core_doc!(Collector.remove)]
    fn remove(&self, py: Python<'_>) {
        py.detach(|| self.0.remove());
    }
}

#[doc = core_doc!(recover)]
#[pyfunction]
#[pyo3(signature = (directory, arena_path, told = 0))]
pub fn recover(
    py: Python<'_>,
    directory: PathBuf,
    arena_path: PathBuf,
    told: u64,
) -> PyResult<Outcome> {
    py.detach(|| recovery::recover(&directory, &arena_path, told, Box::new(sys::write_parts)))
        .map(Outcome)
        .map_err(|error| exception(&error))
}
