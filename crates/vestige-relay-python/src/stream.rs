//! Streams, and where their files are.

use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use vestige_relay::store as inner;

/// The exception for an error of the system, or of a message.
pub fn exception(error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(code) => {
            let text = error.to_string();
            let text = text.strip_suffix(&format!(" (os error {code})")).unwrap_or(&text);
            PyOSError::new_err((code, text.to_owned()))
        }
        None => PyOSError::new_err(error.to_string()),
    }
}

#[doc = core_doc!(Chunk)]
#[pyclass(frozen, module = "vestige.relay._relay")]
pub struct Chunk(pub Arc<inner::Chunk>);

#[pymethods]
impl Chunk {
    #[doc = core_doc!(Chunk.directory)]
    fn directory(&self, descriptor: i32) -> PyResult<Directory> {
        let file = duplicate(descriptor).map_err(|error| exception(&error))?;
        Ok(Directory(Arc::new(inner::Directory::new(file, Arc::clone(&self.0)))))
    }
}

#[allow(unsafe_code)]
fn duplicate(descriptor: i32) -> io::Result<File> {
    if descriptor < 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: it is only borrowed for the call, which refuses one that is none.
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    borrowed.try_clone_to_owned().map(File::from)
}

#[doc = core_doc!(Directory)]
#[pyclass(frozen, module = "vestige.relay._relay")]
pub struct Directory(pub Arc<inner::Directory>);

#[doc = core_doc!(Stream)]
#[pyclass(frozen, module = "vestige.relay._relay")]
pub struct Stream(pub Arc<inner::Stream>);

type ProgressTuple = (u64, u64, u64, u64, u64, u64, u64, u64, Option<u64>, Option<u64>, bool);

#[pymethods]
impl Stream {
    #[doc = core_doc!(Stream.number)]
    #[getter]
    fn number(&self) -> u64 {
        self.0.number
    }

    #[doc = core_doc!(Stream.progress)]
    fn progress(&self, py: Python<'_>) -> ProgressTuple {
        let now = py.detach(|| self.0.progress());
        (
            now.packets,
            now.metadata_bytes,
            now.rotations,
            now.resets,
            now.bytes,
            now.lost_packets,
            now.lost_bytes,
            now.file_number,
            now.quiet_until,
            now.stream_class,
            now.is_ended,
        )
    }

    #[doc = core_doc!(Stream.follow)]
    fn follow(&self) -> Follower {
        Follower(Mutex::new(inner::Follower::new(Arc::clone(&self.0))))
    }

    #[doc = core_doc!(Stream.read_metadata)]
    fn read_metadata<'py>(
        &self,
        py: Python<'py>,
        at: u64,
        most: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let read = py.detach(|| self.0.read_metadata(at, most));
        read.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| exception(&error))
    }

    #[doc = core_doc!(Stream.rotate)]
    #[pyo3(signature = (at, directory))]
    fn rotate(&self, py: Python<'_>, at: u64, directory: Option<&Directory>) -> PyResult<()> {
        let next = directory.map(|directory| Arc::clone(&directory.0));
        py.detach(|| self.0.rotate(at, next)).map_err(|error| exception(&error))
    }
}

#[doc = core_doc!(Follower)]
#[pyclass(frozen, module = "vestige.relay._relay")]
pub struct Follower(Mutex<inner::Follower>);

impl Follower {
    fn lock(&self) -> MutexGuard<'_, inner::Follower> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Follower {
    #[doc = core_doc!(Follower.take)]
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let next = py.detach(|| self.lock().take()).map_err(|error| exception(&error))?;
        Ok(next.map(|entry| PyBytes::new(py, &entry)))
    }

    #[doc = core_doc!(Follower.pass_all)]
    fn pass_all(&self, py: Python<'_>) {
        py.detach(|| self.lock().pass_all());
    }

    #[doc = core_doc!(Follower.read)]
    fn read<'py>(&self, py: Python<'py>, at: u64, count: usize) -> PyResult<Bound<'py, PyBytes>> {
        let read = py.detach(|| self.lock().read(at, count));
        read.map(|bytes| PyBytes::new(py, &bytes)).map_err(|error| exception(&error))
    }
}
