//! `EventLayout` and `StreamWriter`: writing data streams.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};
use pyo3::IntoPyObjectExt;
use vestige_ctf::encode::value::{Column, Value};
use vestige_ctf::encode::{self, Append, EncodeError, PacketWriter, Record, Rows, WriteError};
use vestige_ctf::model::{FieldClass, Member};

use crate::errors::os_text;
use crate::metadata::TraceClass;
use crate::python_columns::{members_of, times};
use crate::python_values::{unknown, value, Wrong};

/// Where packets go: whole ones and nothing else, whatever happens.
enum PacketFile {
    /// A data stream file, and its length.
    File(File, u64),
    /// Memory, until somebody takes it.
    Memory(Vec<u8>),
}

impl Append for PacketFile {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::File(file, length) => {
                if let Err(error) = file.write_all_at(bytes, *length) {
                    // What is left of the packet would be damage; there is no better place to
                    // say that it cannot be removed than the error that is returned anyway.
                    let _ = file.set_len(*length);
                    return Err(error);
                }
                *length += bytes.len() as u64;
            }
            Self::Memory(memory) => memory.extend_from_slice(bytes),
        }
        Ok(())
    }
}

#[doc = core_doc!(EventLayout)]
#[pyclass(frozen, module = "vestige._core")]
pub struct EventLayout {
    inner: encode::EventLayout,
    name: String,
    names: [Vec<Py<PyString>>; 3],
}

#[pymethods]
impl EventLayout {
    /// The layout of the only event record class of a stream class.
    #[new]
    fn new(
        py: Python<'_>,
        trace_class: &TraceClass,
        stream: usize,
        name: String,
    ) -> PyResult<Self> {
        let inner = encode::EventLayout::new(Arc::clone(&trace_class.inner), stream, 0);
        let inner = inner.ok_or_else(|| {
            let keywords = PyDict::new(py);
            raise(py, "DeclarationError", "there is no such event record class", &keywords)
        })?;
        let names = inner.scopes().map(|class| {
            let members = class.map_or(&[][..], FieldClass::members);
            members.iter().map(|one| PyString::intern(py, one.name()).unbind()).collect()
        });
        Ok(Self { inner, name, names })
    }
}

impl EventLayout {
    fn members(&self, scope: usize) -> &[Member] {
        let classes = self.inner.scopes();
        classes.get(scope).copied().flatten().map_or(&[], FieldClass::members)
    }

    /// The values of a scope's members, and how many are given.
    fn values(
        &self,
        py: Python<'_>,
        scope: usize,
        given: Option<&Bound<'_, PyDict>>,
    ) -> Result<(Value, usize), Wrong> {
        let members = self.members(scope);
        let names = self.names.get(scope).map_or(&[][..], Vec::as_slice);
        let mut values = Vec::with_capacity(members.len());
        let mut found = 0;
        for (member, name) in members.iter().zip(names) {
            let item = match given {
                Some(given) => given.get_item(name.bind(py))?,
                None => None,
            };
            values.push(match item {
                Some(item) => {
                    found += 1;
                    value(&member.class, &item).map_err(|error| error.within(member.name()))?
                }
                None => Value::Absent,
            });
        }
        Ok((Value::Structure(values), found))
    }

    fn record(
        &self,
        py: Python<'_>,
        context: Option<&Bound<'_, PyDict>>,
        fields: &Bound<'_, PyDict>,
    ) -> Result<[Value; 3], Wrong> {
        let (common, in_common) = self.values(py, 0, context)?;
        let (specific, in_specific) = self.values(py, 1, context)?;
        let (payload, in_payload) = self.values(py, 2, Some(fields))?;
        self.check_known([in_common + in_specific, in_payload], context, fields)?;
        Ok([common, specific, payload])
    }

    fn columns(
        &self,
        py: Python<'_>,
        context: Option<&Bound<'_, PyDict>>,
        fields: &Bound<'_, PyDict>,
    ) -> Result<[Column; 3], Wrong> {
        let none = PyDict::new(py);
        let given = context.unwrap_or(&none);
        let (common, in_common) = members_of(self.members(0), given)?;
        let (specific, in_specific) = members_of(self.members(1), given)?;
        let (payload, in_payload) = members_of(self.members(2), fields)?;
        self.check_known([in_common + in_specific, in_payload], context, fields)?;
        Ok([common, specific, payload])
    }

    /// Refuses names that no member has.
    fn check_known(
        &self,
        [in_context, in_payload]: [usize; 2],
        context: Option<&Bound<'_, PyDict>>,
        fields: &Bound<'_, PyDict>,
    ) -> Result<(), Wrong> {
        if let Some(context) = context.filter(|context| context.len() > in_context) {
            return Err(Wrong::Unknown(unknown(&[self.members(0), self.members(1)], context)));
        }
        if fields.len() > in_payload {
            return Err(Wrong::Unknown(unknown(&[self.members(2)], fields)));
        }
        Ok(())
    }
}

#[doc = core_doc!(StreamWriter)]
#[pyclass(frozen, module = "vestige._core")]
pub struct StreamWriter {
    inner: Mutex<Option<PacketWriter<PacketFile>>>,
    path: String,
}

type Inner<'a> = MutexGuard<'a, Option<PacketWriter<PacketFile>>>;

#[pymethods]
impl StreamWriter {
    /// Creates a data stream file, which must not exist.
    #[new]
    fn new(
        py: Python<'_>,
        trace_class: &TraceClass,
        stream: usize,
        path: String,
        id: u64,
        packet_size: u64,
        latest: u64,
    ) -> PyResult<Self> {
        let file = OpenOptions::new().write(true).create_new(true).open(&path);
        let file = file.map_err(|error| storage_error(py, &path, &error, 0))?;
        let output = PacketFile::File(file, 0);
        let trace = Arc::clone(&trace_class.inner);
        let writer = PacketWriter::new(output, trace, stream, id, packet_size, latest);
        Ok(Self { inner: Mutex::new(Some(writer)), path })
    }

    #[doc = core_doc!(StreamWriter.in_memory)]
    #[staticmethod]
    fn in_memory(
        trace_class: &TraceClass,
        stream: usize,
        id: u64,
        packet_size: u64,
        latest: u64,
    ) -> Self {
        let (output, trace) = (PacketFile::Memory(Vec::new()), Arc::clone(&trace_class.inner));
        let writer = PacketWriter::new(output, trace, stream, id, packet_size, latest);
        Self { inner: Mutex::new(Some(writer)), path: String::new() }
    }

    #[doc = core_doc!(StreamWriter.take)]
    fn take<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut inner = self.lock(py);
        let Some(writer) = inner.as_mut() else { return Err(self.closed(py)) };
        let result = writer.flush();
        let packets = match writer.output_mut() {
            PacketFile::Memory(memory) => std::mem::take(memory),
            PacketFile::File(..) => Vec::new(),
        };
        drop(inner);
        result.map_err(|error| self.error(py, None, error))?;
        Ok(PyBytes::new(py, &packets))
    }

    #[doc = core_doc!(StreamWriter.write)]
    fn write(
        &self,
        py: Python<'_>,
        layout: &EventLayout,
        time: &Bound<'_, PyAny>,
        context: Option<&Bound<'_, PyDict>>,
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<()> {
        let scopes = layout.record(py, context, fields);
        let [common, specific, payload] = scopes.map_err(|wrong| refuse(py, layout, wrong))?;
        let Ok(time) = time.extract::<u64>() else {
            let message =
                format!("{time} is no time stamp: expected an integer of 64 bits from 0 on");
            return Err(time_error(py, layout, &message, time, None, None));
        };
        let record = Record { time, scopes: [&common, &specific, &payload] };
        let mut inner = self.lock(py);
        let Some(writer) = inner.as_mut() else { return Err(self.closed(py)) };
        let result = writer.write(&layout.inner, record);
        drop(inner);
        result.map_err(|error| self.error(py, Some(layout), error))
    }

    #[doc = core_doc!(StreamWriter.write_many)]
    fn write_many(
        &self,
        py: Python<'_>,
        layout: &EventLayout,
        times_given: &Bound<'_, PyAny>,
        context: Option<&Bound<'_, PyDict>>,
        fields: &Bound<'_, PyDict>,
    ) -> PyResult<usize> {
        let times = times(times_given).map_err(|wrong| match wrong {
            Wrong::Value(error, row) => {
                time_error(py, layout, &error.message, times_given, None, row)
            }
            other => refuse(py, layout, other),
        })?;
        let columns = layout.columns(py, context, fields);
        let columns = columns.map_err(|wrong| refuse(py, layout, wrong))?;
        let result = py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let writer = inner.as_mut()?;
            let scopes = columns.each_ref();
            Some(writer.write_rows(&layout.inner, Rows { times: &times, scopes }))
        });
        match result {
            None => Err(self.closed(py)),
            Some(Err(error)) => Err(self.error(py, Some(layout), error)),
            Some(Ok(())) => Ok(times.len()),
        }
    }

    #[doc = core_doc!(StreamWriter.set_context)]
    fn set_context(&self, py: Python<'_>, fields: &Bound<'_, PyDict>) -> PyResult<()> {
        let mut inner = self.lock(py);
        let Some(writer) = inner.as_mut() else { return Err(self.closed(py)) };
        let members = writer.context_class().map_or(&[][..], FieldClass::members);
        let mut values = Vec::with_capacity(members.len());
        let mut found = 0;
        for member in members {
            let item = fields.get_item(member.name())?;
            found += usize::from(item.is_some());
            let given = item.map_or(Ok(Value::Absent), |item| value(&member.class, &item));
            let given = given.map_err(|wrong| wrong.within(member.name()));
            values.push(given.map_err(|wrong| wrong_value(py, None, wrong))?);
        }
        if found < fields.len() {
            let names = unknown(&[members], fields);
            return Err(wrong_value(py, None, Wrong::Unknown(names)));
        }
        let result = writer.set_context(Value::Structure(values));
        drop(inner);
        result.map_err(|error| self.error(py, None, error))
    }

    #[doc = core_doc!(StreamWriter.discard)]
    fn discard(&self, py: Python<'_>, count: u64) -> PyResult<()> {
        let mut inner = self.lock(py);
        let Some(writer) = inner.as_mut() else { return Err(self.closed(py)) };
        writer.discard(count);
        Ok(())
    }

    #[doc = core_doc!(StreamWriter.flush)]
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py);
        let Some(writer) = inner.as_mut() else { return Err(self.closed(py)) };
        let result = writer.flush();
        drop(inner);
        result.map_err(|error| self.error(py, None, error))
    }

    #[doc = core_doc!(StreamWriter.close)]
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let mut inner = self.lock(py);
        let Some(writer) = inner.as_mut() else { return Ok(()) };
        match writer.flush() {
            // The parent writes what the child has a copy of.
            Ok(()) | Err(WriteError::Forked) => {
                *inner = None;
                Ok(())
            }
            Err(error) => {
                drop(inner);
                Err(self.error(py, None, error))
            }
        }
    }

    #[doc = core_doc!(StreamWriter.last)]
    #[getter]
    fn last(&self, py: Python<'_>) -> u64 {
        self.lock(py).as_ref().map_or(0, PacketWriter::last)
    }
}

impl StreamWriter {
    /// The writer; another thread may hold it while it writes in bulk.
    fn lock(&self, py: Python<'_>) -> Inner<'_> {
        loop {
            match self.inner.try_lock() {
                Ok(inner) => return inner,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => py.detach(|| {
                    drop(self.inner.lock().unwrap_or_else(PoisonError::into_inner));
                }),
            }
        }
    }

    fn closed(&self, py: Python<'_>) -> PyErr {
        let keywords = PyDict::new(py);
        let _ = keywords.set_item("path", &self.path);
        raise(py, "WriterClosedError", "the data stream is closed", &keywords)
    }

    fn error(&self, py: Python<'_>, layout: Option<&EventLayout>, error: WriteError) -> PyErr {
        match error {
            WriteError::Value(error, row) => wrong_value(py, layout, Wrong::Value(error, row)),
            WriteError::Time { time, limit, back, row } => {
                let message = if back {
                    format!("the time stamp {time} is before the last one, {limit}")
                } else {
                    format!(
                        "the time stamp {time} is above {limit}, the last that readers can show"
                    )
                };
                match (layout, time.into_bound_py_any(py)) {
                    (Some(layout), Ok(time)) => {
                        time_error(py, layout, &message, &time, Some(limit), row)
                    }
                    (_, Err(error)) => error,
                    (None, _) => raise(py, "TimestampError", &message, &PyDict::new(py)),
                }
            }
            WriteError::Rows { rows, expected, name } => {
                let message = format!("{rows} rows are given: expected {expected}");
                let error = EncodeError::new(message).within(&name);
                wrong_value(py, layout, Wrong::Value(error, None))
            }
            WriteError::Io(error, written) => storage_error(py, &self.path, &error, written),
            WriteError::Forked => {
                let keywords = PyDict::new(py);
                let _ = keywords.set_item("path", &self.path);
                let message = "the data stream belongs to the process that this is a copy of";
                raise(py, "WriterClosedError", message, &keywords)
            }
        }
    }
}

fn refuse(py: Python<'_>, layout: &EventLayout, wrong: Wrong) -> PyErr {
    wrong_value(py, Some(layout), wrong)
}

/// The exception for a value that is wrong.
pub fn wrong_value(py: Python<'_>, layout: Option<&EventLayout>, wrong: Wrong) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let keywords = PyDict::new(py);
        keywords.set_item("event_class", layout.map(|layout| &layout.name))?;
        match wrong {
            Wrong::Python(error) => Ok(error),
            Wrong::Unknown(names) => {
                keywords.set_item("fields", names)?;
                Ok(raise(py, "UnknownFieldError", "", &keywords))
            }
            Wrong::Value(error, row) => {
                keywords.set_item("field", error.field())?;
                keywords.set_item("row", row)?;
                if let Some(Value::Integer(value)) = error.value {
                    keywords.set_item("value", value)?;
                }
                Ok(raise(py, "FieldValueError", &error.message, &keywords))
            }
        }
    };
    build().unwrap_or_else(|error| error)
}

fn time_error(
    py: Python<'_>,
    layout: &EventLayout,
    message: &str,
    time: &Bound<'_, PyAny>,
    limit: Option<u64>,
    row: Option<usize>,
) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let keywords = PyDict::new(py);
        keywords.set_item("event_class", &layout.name)?;
        keywords.set_item("timestamp", time)?;
        keywords.set_item("limit", limit)?;
        keywords.set_item("row", row)?;
        Ok(raise(py, "TimestampError", message, &keywords))
    };
    build().unwrap_or_else(|error| error)
}

fn storage_error(py: Python<'_>, path: &str, error: &io::Error, written: usize) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let keywords = PyDict::new(py);
        keywords.set_item("path", path)?;
        keywords.set_item("errno", error.raw_os_error())?;
        keywords.set_item("written", written)?;
        Ok(raise(py, "StorageError", &format!("cannot write: {}", os_text(error)), &keywords))
    };
    build().unwrap_or_else(|error| error)
}

/// An exception of `vestige.errors` with its facts.
fn raise(py: Python<'_>, class: &str, message: &str, keywords: &Bound<'_, PyDict>) -> PyErr {
    let build = || -> PyResult<PyErr> {
        let class = py.import("vestige.errors")?.getattr(class)?;
        Ok(PyErr::from_value(class.call((message,), Some(keywords))?))
    };
    build().unwrap_or_else(|error| error)
}
