//! `DataFile` and `DataStream`: the files of a trace with their packets.

use std::borrow::Cow;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use vestige_ctf::places::uses_call_stacks;
use vestige_ctf::source::{Beginning, ReadAt};
use vestige_ctf::stream::{self, PacketEntry, TraceIdentity};

use crate::errors::{damage_tuple, exception, DamageTuple};
use crate::metadata::TraceClass;
use crate::source::FileSource;

#[doc = core_doc!(DataFile)]
#[pyclass(frozen, module = "vestige._core")]
pub struct DataFile {
    pub inner: Arc<stream::DataFile>,
    #[doc = core_doc!(DataFile.path)]
    #[pyo3(get)]
    pub path: String,
}

fn open_error(py: Python<'_>, path: &str, error: &std::io::Error) -> PyErr {
    exception(py, "TraceFormatError", &format!("cannot open: {error}"), Some(path), None)
}

/// The exception for a file without any packet; its `damage` holds the facts.
fn damage_error(py: Python<'_>, path: &str, damage: &stream::Damage) -> PyErr {
    let (path, start, end, kind, message, records, ..) = damage_tuple(Some(path), damage);
    let build = || -> PyResult<PyErr> {
        let errors = py.import("vestige.errors")?;
        let facts = (path, start, end, kind, message, records);
        let damage = py.import("vestige.damage")?.getattr("Damage")?.call1(facts)?;
        let class = errors.getattr("TraceFormatError")?;
        Ok(PyErr::from_value(class.call_method1("of_damage", (damage,))?))
    };
    build().unwrap_or_else(|error| error)
}

impl DataFile {
    /// The packets of a source from an offset on.
    fn of_source(
        py: Python<'_>,
        trace_class: &TraceClass,
        path: String,
        source: Arc<dyn ReadAt>,
        start: u64,
    ) -> PyResult<Self> {
        let trace = Arc::clone(&trace_class.inner);
        match py.detach(|| stream::DataFile::open_part(&trace, source, start)) {
            Ok(file) => Ok(Self { inner: Arc::new(file), path }),
            Err(damage) => Err(damage_error(py, &path, &damage)),
        }
    }
}

#[pymethods]
impl DataFile {
    #[doc = core_doc!(DataFile.open)]
    #[staticmethod]
    #[pyo3(signature = (trace_class, path, *, index=None, changes=false))]
    fn open(
        py: Python<'_>,
        trace_class: &TraceClass,
        path: String,
        index: Option<&[u8]>,
        changes: bool,
    ) -> PyResult<Self> {
        let source = FileSource::open(&path).map_err(|error| open_error(py, &path, &error))?;
        let trace = Arc::clone(&trace_class.inner);
        let opened = py.detach(|| {
            let source: Arc<dyn ReadAt> = match changes {
                true => Arc::new(stream::Snapshot::of(&trace, &source)?),
                false => Arc::new(source),
            };
            stream::DataFile::open(&trace, source, index)
        });
        match opened {
            Ok(file) => Ok(Self { inner: Arc::new(file), path }),
            Err(damage) => Err(damage_error(py, &path, &damage)),
        }
    }

    #[doc = core_doc!(DataFile.open_part)]
    #[staticmethod]
    fn open_part(
        py: Python<'_>,
        trace_class: &TraceClass,
        path: String,
        start: u64,
        end: u64,
    ) -> PyResult<Self> {
        let source = FileSource::open(&path).map_err(|error| open_error(py, &path, &error))?;
        let source = Arc::new(source);
        let source: Arc<dyn ReadAt> = Arc::new(Beginning { source, length: end });
        Self::of_source(py, trace_class, path, source, start)
    }

    #[doc = core_doc!(DataFile.of_bytes)]
    #[staticmethod]
    fn of_bytes(
        py: Python<'_>,
        trace_class: &TraceClass,
        path: String,
        // A vector would be made of it number by number.
        data: Cow<'_, [u8]>,
    ) -> PyResult<Self> {
        Self::of_source(py, trace_class, path, Arc::new(data.into_owned()), 0)
    }

    #[doc = core_doc!(DataFile.end)]
    #[getter]
    fn end(&self) -> Option<u64> {
        let last = self.inner.packets.len().checked_sub(1)?;
        self.inner.packets.end(last)
    }

    #[doc = core_doc!(DataFile.stream_class)]
    #[getter]
    fn stream_class(&self) -> usize {
        self.inner.first.stream_class
    }

    #[doc = core_doc!(DataFile.stream_instance)]
    #[getter]
    fn stream_instance(&self) -> Option<u64> {
        self.inner.first.stream_instance
    }

    #[doc = core_doc!(DataFile.sequence_number)]
    #[getter]
    fn sequence_number(&self) -> Option<u64> {
        self.inner.first.sequence_number
    }

    #[doc = core_doc!(DataFile.beginning)]
    #[getter]
    fn beginning(&self) -> Option<u64> {
        self.inner.first.beginning
    }

    #[doc = core_doc!(DataFile.last_written)]
    #[getter]
    fn last_written(&self) -> Option<(u64, Option<u64>)> {
        self.inner.last_written()
    }

    #[doc = core_doc!(DataFile.damage)]
    #[getter]
    fn damage(&self) -> Vec<DamageTuple> {
        self.inner.damage.iter().map(|damage| damage_tuple(Some(&self.path), damage)).collect()
    }

    #[doc = core_doc!(DataFile.size)]
    #[getter]
    fn size(&self) -> u64 {
        self.inner.source.len()
    }

    #[doc = core_doc!(DataFile.packets)]
    #[getter]
    fn packets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let entry = |p: PacketEntry| {
            (p.offset, p.size, p.beginning, p.end, p.events_discarded, p.sequence_number)
        };
        PyList::new(py, self.inner.packets.iter().map(entry).collect::<Vec<_>>())
    }
}

#[doc = core_doc!(DataStream)]
#[pyclass(frozen, module = "vestige._core")]
pub struct DataStream {
    pub inner: Arc<stream::DataStream>,
    paths: Vec<String>,
}

impl DataStream {
    /// Path of a file by its index.
    pub fn path(&self, file: usize) -> Option<&str> {
        self.paths.get(file).map(String::as_str)
    }
}

#[pymethods]
impl DataStream {
    #[new]
    #[pyo3(signature = (trace_class, files, *, trace_name, trace_index, process_space=0,
                        class_index=None, path=None))]
    #[allow(clippy::too_many_arguments)] // They are given by keyword.
    fn new(
        trace_class: &TraceClass,
        files: Vec<Py<DataFile>>,
        trace_name: String,
        trace_index: usize,
        process_space: u32,
        class_index: Option<usize>,
        path: Option<String>,
    ) -> Self {
        let first = files.first().map(|file| file.get().inner.first.stream_class);
        let class = first.or(class_index).unwrap_or(0);
        let inner = stream::DataStream::new(
            Arc::clone(&trace_class.inner),
            class,
            files.iter().map(|file| Arc::clone(&file.get().inner)).collect(),
            TraceIdentity { index: trace_index, name: trace_name, process_space },
        );
        let paths = files.iter().map(|file| file.get().path.clone()).chain(path).collect();
        Self { inner: Arc::new(inner), paths }
    }

    #[doc = core_doc!(DataStream.following)]
    #[pyo3(signature = (trace_class, file=None))]
    fn following(&self, trace_class: &TraceClass, file: Option<&DataFile>) -> Self {
        let files = file.iter().map(|file| Arc::clone(&file.inner)).collect();
        let inner = self.inner.following(Arc::clone(&trace_class.inner), files);
        let paths = file.map_or_else(|| self.paths.clone(), |file| vec![file.path.clone()]);
        Self { inner: Arc::new(inner), paths }
    }

    #[doc = core_doc!(DataStream.nanoseconds)]
    fn nanoseconds(&self, cycles: u64) -> Option<i64> {
        self.inner.has_clock().then(|| self.inner.nanoseconds(cycles))
    }

    #[doc = core_doc!(DataStream.time_range)]
    fn time_range(&self, py: Python<'_>) -> Option<(i64, i64)> {
        let (begin, end) = py.detach(|| self.inner.time_range())?;
        let time = |cycles| self.nanoseconds(cycles);
        Some((time(begin)?, time(end)?))
    }

    #[doc = core_doc!(DataStream.beginning)]
    #[getter]
    fn beginning(&self) -> Option<i64> {
        self.nanoseconds(self.inner.packet_beginning(0)?)
    }

    #[doc = core_doc!(DataStream.origin)]
    #[getter]
    fn origin(&self) -> u64 {
        self.inner.origin()
    }

    #[doc = core_doc!(DataStream.clock)]
    #[getter]
    fn clock<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let trace = &self.inner.trace;
        let class = trace.stream_classes.get(self.inner.class);
        let clock = class.and_then(|class| trace.clocks.get(class.clock?));
        clock.map(|clock| crate::metadata::clock(py, clock)).transpose()
    }

    #[doc = core_doc!(DataStream.has_clock)]
    #[getter]
    fn has_clock(&self) -> bool {
        self.inner.has_clock()
    }

    #[doc = core_doc!(DataStream.packet_times)]
    #[getter]
    fn packet_times<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let stream = &self.inner;
        let time = |cycles: Option<u64>| {
            cycles.filter(|_| stream.has_clock()).map(|cycles| stream.nanoseconds(cycles))
        };
        let entry = |index: usize| {
            let entry = stream.entry(index)?;
            Some((time(entry.beginning), time(entry.end), entry.size))
        };
        PyList::new(py, (0..stream.packets.len()).filter_map(entry).collect::<Vec<_>>())
    }

    #[doc = core_doc!(DataStream.class_id)]
    #[getter]
    fn class_id(&self) -> u64 {
        let classes = &self.inner.trace.stream_classes;
        classes.get(self.inner.class).map_or(0, |class| class.id)
    }

    #[doc = core_doc!(DataStream.paths)]
    #[getter]
    fn paths(&self) -> Vec<String> {
        self.paths.clone()
    }

    #[doc = core_doc!(DataStream.size)]
    #[getter]
    fn size(&self) -> u64 {
        self.inner.files.iter().map(|file| file.source.len()).sum()
    }

    #[doc = core_doc!(DataStream.uses_call_stacks)]
    #[getter]
    fn uses_call_stacks(&self) -> bool {
        let trace = &self.inner.trace;
        let class = trace.stream_classes.get(self.inner.class);
        class.is_some_and(|class| uses_call_stacks(trace, class))
    }

    #[doc = core_doc!(DataStream.process_space)]
    #[getter]
    fn process_space(&self) -> u32 {
        self.inner.identity.process_space
    }

    #[doc = core_doc!(DataStream.packet_damage)]
    #[getter]
    fn packet_damage(&self) -> Vec<DamageTuple> {
        let files = self.inner.files.iter().enumerate();
        files
            .flat_map(|(index, file)| {
                file.packet_damage().map(move |damage| damage_tuple(self.path(index), &damage))
            })
            .collect()
    }

    #[doc = core_doc!(DataStream.packet_count)]
    #[getter]
    fn packet_count(&self) -> usize {
        self.inner.packets.len()
    }
}
