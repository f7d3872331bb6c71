//! `CopyLayout` and `MergeCopy`: writing what was read into traces of their own.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use vestige_ctf::copy::{self, AddedField, CopyError, CopyOptions, StreamCopy, Version, WriteAt};
use vestige_ctf::model::{FieldClass, TraceClass as TraceClassModel};
use vestige_ctf::places::{has_places, has_user_stacks, place_class, USER_STACKS};

use crate::errors::{exception, os_text};
use crate::merge::Merge;
use crate::metadata::TraceClass;
use crate::stream::DataStream;

#[doc = core_doc!(CopyLayout)]
#[pyclass(frozen, module = "vestige._core")]
pub struct CopyLayout {
    inner: Arc<copy::CopyLayout>,
}

#[pymethods]
impl CopyLayout {
    #[new]
    #[pyo3(signature = (
        trace_class, version=None, *, discarded_events=true, discarded_packets=true,
        epoch_origin=false, merge=None
    ))]
    fn new(
        py: Python<'_>,
        trace_class: &TraceClass,
        version: Option<&str>,
        discarded_events: bool,
        discarded_packets: bool,
        epoch_origin: bool,
        merge: Option<&Merge>,
    ) -> PyResult<Self> {
        let is_new = version.map_or(trace_class.inner.version.0 >= 2, |version| version == "2");
        let (version, shown) = if is_new { (Version::New, "2") } else { (Version::Old, "1.8") };
        let added = merge.map_or_else(Vec::new, |merge| added_fields(&trace_class.inner, merge));
        let options =
            CopyOptions { version, discarded_events, discarded_packets, epoch_origin, added };
        let source = Arc::clone(&trace_class.inner);
        match py.detach(|| copy::CopyLayout::new(source, &options)) {
            Ok(inner) => Ok(Self { inner: Arc::new(inner) }),
            Err(error) => {
                let message = format!("cannot be written in CTF {shown}: {error}");
                Err(exception(py, "GraphError", &message, None, None))
            }
        }
    }

    #[doc = core_doc!(CopyLayout.metadata)]
    #[getter]
    fn metadata(&self) -> &str {
        &self.inner.metadata
    }
}

/// What filters have added to records of a merge, as fields of those stream classes that have
/// them.
fn added_fields(trace: &TraceClassModel, merge: &Merge) -> Vec<AddedField> {
    let mut fields: Vec<AddedField> = Vec::new();
    for column in merge.derived() {
        let (name, class) = (&column.values.name, &column.values.class);
        for (stream, stream_class) in trace.stream_classes.iter().enumerate() {
            let is_there = match name.as_str() {
                USER_STACKS => has_user_stacks(trace, stream_class),
                _ => **class != place_class() || has_places(trace, stream_class, name),
            };
            let is_new = |one: &AddedField| one.stream != stream || one.name != *name;
            if is_there && fields.iter().all(is_new) {
                let (name, class) = (name.clone(), FieldClass::clone(class));
                fields.push(AddedField { stream, name, class });
            }
        }
    }
    fields
}

/// A data stream file that is open while it is written to, or all the time.
struct CopyFile {
    path: PathBuf,
    open: Option<File>,
}

impl CopyFile {
    fn with(&self, work: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
        match &self.open {
            Some(file) => work(file),
            None => work(&OpenOptions::new().write(true).open(&self.path)?),
        }
    }
}

impl WriteAt for CopyFile {
    fn write_all_at(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.with(|file| file.write_all_at(bytes, offset))
    }

    fn truncate(&mut self, length: u64) {
        // There is no better place to say that it fails than the error that made it needed.
        let _ = self.with(|file| file.set_len(length));
    }
}

/// So many files stay open: a process may have fewer than a trace has data streams.
const MOST_OPEN: usize = 256;

#[derive(Default)]
struct Copies {
    inner: copy::MergeCopy<CopyFile>,
    paths: Vec<String>,
}

#[doc = core_doc!(MergeCopy)]
#[pyclass(frozen, module = "vestige._core")]
#[derive(Default)]
pub struct MergeCopy {
    copies: Mutex<Copies>,
}

#[pymethods]
impl MergeCopy {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[doc = core_doc!(MergeCopy.add)]
    fn add(
        &self,
        py: Python<'_>,
        stream: &DataStream,
        layout: &CopyLayout,
        stream_id: u64,
        path: String,
    ) -> PyResult<()> {
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(|error| storage_error(py, &path, &error))?;
        let mut copies = self.lock();
        let open = (copies.paths.len() < MOST_OPEN).then_some(file);
        let file = CopyFile { path: PathBuf::from(&path), open };
        let source = &stream.inner;
        let target = StreamCopy::new(file, Arc::clone(&layout.inner), source.class, stream_id);
        copies.inner.add(source, target);
        copies.paths.push(path);
        Ok(())
    }

    #[doc = core_doc!(MergeCopy.unknown)]
    fn unknown<'py>(&self, py: Python<'py>, merge: &Merge) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let copies = self.lock();
        let streams = merge.inner.streams.iter().enumerate();
        let unknown = streams.filter(|(_, stream)| !copies.inner.knows(stream));
        unknown.map(|(index, _)| merge.owners.bind(py).get_item(index)).collect()
    }

    #[doc = core_doc!(MergeCopy.learn)]
    fn learn(&self, py: Python<'_>, stream: &DataStream, layout: &CopyLayout) -> PyResult<()> {
        let learnt = self.lock().inner.learn(&stream.inner, &layout.inner);
        learnt.map_err(|(stream, error)| self.error(py, stream, &error))
    }

    #[doc = core_doc!(MergeCopy.consume)]
    fn consume(&self, py: Python<'_>, merge: &Merge) -> PyResult<()> {
        let columns: Vec<_> = merge.derived().into_iter().map(|one| one.values).collect();
        let done = py.detach(|| self.lock().inner.consume(&merge.inner, &columns));
        done.map_err(|(stream, error)| self.error(py, stream, &error))
    }

    #[doc = core_doc!(MergeCopy.finish)]
    fn finish(&self, py: Python<'_>) -> PyResult<()> {
        let done = py.detach(|| self.lock().inner.finish());
        done.map_err(|(stream, error)| self.error(py, stream, &error))
    }
}

impl MergeCopy {
    fn lock(&self) -> MutexGuard<'_, Copies> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn error(&self, py: Python<'_>, stream: usize, error: &CopyError) -> PyErr {
        let path = self.lock().paths.get(stream).cloned().unwrap_or_default();
        match error {
            CopyError::Io(error) => storage_error(py, &path, error),
            other => exception(py, "TraceFormatError", &other.to_string(), Some(&path), None),
        }
    }
}

fn storage_error(py: Python<'_>, path: &str, error: &io::Error) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let keywords = PyDict::new(py);
        keywords.set_item("path", path)?;
        keywords.set_item("errno", error.raw_os_error())?;
        let class = py.import("vestige.errors")?.getattr("StorageError")?;
        let message = format!("cannot write: {}", os_text(error));
        Ok(PyErr::from_value(class.call((message,), Some(&keywords))?))
    };
    build().unwrap_or_else(|error| error)
}
