//! `EventRecord`: one row of a merge, decoded field by field when it is asked.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString};
use vestige_ctf::bits::BitReader;
use vestige_ctf::model::FieldClass;
use vestige_ctf::record::{build, build_member, skip, DecodeError, State};
use vestige_ctf::stream::{Batch, Record};
use vestige_ctf::CtfError;

use crate::errors::trace_format_error;
use crate::merge::Merge;
use crate::value::PythonBuilder;

/// Names as Python strings, made once a trace and class.
#[derive(Default)]
pub struct Interner {
    names: RwLock<HashMap<(usize, usize, u32), Py<PyString>>>,
}

impl Interner {
    fn event_name(&self, py: Python<'_>, batch: &Batch, record: &Record) -> Option<Py<PyString>> {
        let key = (Arc::as_ptr(&batch.stream.trace) as usize, batch.stream.class, record.class);
        if let Some(name) = self.names.read().ok()?.get(&key) {
            return Some(name.clone_ref(py));
        }
        let name = batch.event_class(record)?.name.as_deref()?;
        let name = PyString::new(py, name).unbind();
        self.names.write().ok()?.insert(key, name.clone_ref(py));
        Some(name)
    }
}

/// The scopes of an event record, in the order in which a bare name is looked up.
const PAYLOAD: usize = 2;
const LOOKUP_ORDER: [usize; 3] = [PAYLOAD, 1, 0];

/// An event record: a view on one row of a merge.
#[pyclass(frozen, module = "vestige._core", mapping)]
pub struct EventRecord {
    merge: Py<Merge>,
    batch: Arc<Batch>,
    record: Record,
    index: usize,
}

static ENUMERATION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static BIT_MAP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static DATETIME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

fn builder(py: Python<'_>) -> PyResult<PythonBuilder<'_>> {
    let class = |name: &str| PyResult::Ok(py.import("vestige.values")?.getattr(name)?.unbind());
    let enumeration = ENUMERATION.get_or_try_init(py, || class("EnumerationValue"))?;
    let bit_map = BIT_MAP.get_or_try_init(py, || class("BitMapValue"))?;
    Ok(PythonBuilder {
        py,
        enumeration: enumeration.bind(py).clone(),
        bit_map: bit_map.bind(py).clone(),
    })
}

impl EventRecord {
    pub fn of(merge: &Bound<'_, Merge>, index: usize) -> PyResult<Self> {
        match merge.get().record(index) {
            Some((batch, &record)) => {
                let batch = Arc::clone(batch);
                Ok(Self { merge: merge.clone().unbind(), batch, record, index })
            }
            None => Err(pyo3::exceptions::PyIndexError::new_err("no such event record")),
        }
    }

    fn wrong(&self, py: Python<'_>, error: &DecodeError) -> PyErr {
        let merge = self.merge.get();
        let stream = merge.streams.get(merge.stream_index(&self.batch));
        let path = stream.and_then(|stream| stream.get().path(self.batch.file));
        let at = self.batch.file_offset(&self.record);
        trace_format_error(py, &CtfError::record(at, error.to_string()), path)
    }

    /// A reader at one of the scopes of the body; the scopes before it are stepped over.
    fn scope<'a>(
        &'a self,
        scope: usize,
        state: &mut State,
    ) -> Result<(Option<&'a FieldClass>, BitReader<'a>), DecodeError> {
        let scopes = self.batch.body_scopes(&self.record);
        let mut reader = self.batch.body_reader(&self.record, state);
        for class in scopes.iter().take(scope).flatten() {
            skip(class, &mut reader, state)?;
        }
        Ok((scopes.get(scope).copied().flatten(), reader))
    }

    fn member<'py>(
        &self,
        py: Python<'py>,
        scope: usize,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let classes = self.batch.body_scopes(&self.record);
        let class = classes.get(scope).copied().flatten();
        let Some((index, _)) = class.and_then(|class| class.member(name)) else {
            return Ok(None);
        };
        let mut state = self.batch.state_of(&self.record);
        let mut builder = builder(py)?;
        let value = self.scope(scope, &mut state).and_then(|(class, mut reader)| match class {
            Some(class) => build_member(class, index, &mut reader, &mut state, &mut builder),
            None => Ok(None),
        });
        match value {
            Ok(value) => value.transpose(),
            Err(error) => Err(self.wrong(py, &error)),
        }
    }

    fn fields<'py>(&self, py: Python<'py>, scope: usize) -> PyResult<Bound<'py, PyAny>> {
        let mut state = self.batch.state_of(&self.record);
        let mut builder = builder(py)?;
        let value = self.scope(scope, &mut state).and_then(|(class, mut reader)| match class {
            Some(class) => build(class, &mut reader, &mut state, &mut builder).map(Some),
            None => Ok(None),
        });
        match value {
            Ok(Some(value)) => value,
            Ok(None) => Ok(PyDict::new(py).into_any()),
            Err(error) => Err(self.wrong(py, &error)),
        }
    }

    fn names(&self, scope: usize) -> Vec<String> {
        let scopes = self.batch.body_scopes(&self.record);
        let members = scopes.get(scope).copied().flatten().map_or(&[][..], FieldClass::members);
        members.iter().map(|member| member.name().to_owned()).collect()
    }

    fn view(this: &Bound<'_, Self>, scope: usize) -> FieldsView {
        FieldsView { event: this.clone().unbind(), scope }
    }
}

#[pymethods]
impl EventRecord {
    /// Name of the event record class, or `None`.
    #[getter]
    fn name(&self, py: Python<'_>) -> Option<Py<PyString>> {
        self.merge.get().interner.event_name(py, &self.batch, &self.record)
    }

    /// ID of the event record class.
    #[getter]
    fn class_id(&self) -> Option<u64> {
        self.batch.event_class(&self.record).map(|class| class.id)
    }

    /// Log level of the event record class, or `None`.
    #[getter]
    fn log_level(&self) -> Option<i64> {
        self.batch.event_class(&self.record).and_then(|class| class.log_level)
    }

    /// Nanoseconds since the clock's origin, the Unix epoch for real time; `None` without a
    /// clock.
    #[getter]
    fn timestamp(&self) -> Option<i64> {
        let timed = self.batch.stream.has_clock();
        timed.then(|| self.batch.nanoseconds(&self.record))
    }

    /// The raw clock value, cycles.
    #[getter]
    fn cycles(&self) -> u64 {
        self.record.cycles
    }

    /// The time as an aware `datetime` in UTC, without the last three digits.
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let convert = DATETIME.get_or_try_init(py, || {
            PyResult::Ok(py.import("vestige.values")?.getattr("utc_datetime")?.unbind())
        })?;
        convert.bind(py).call1((self.timestamp(),))
    }

    /// The data stream.
    #[getter]
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let merge = self.merge.get();
        merge.owners.bind(py).get_item(merge.stream_index(&self.batch))
    }

    /// Byte offset of the record in its file.
    #[getter]
    fn file_offset(&self) -> u64 {
        self.batch.file_offset(&self.record)
    }

    /// What the debug-info filter found for its address, or `None`.
    #[getter]
    fn debug_info<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let merge = self.merge.bind(py);
        Merge::place(merge.get(), py, self.index)
    }

    /// The common context.
    #[getter]
    fn context(this: Bound<'_, Self>) -> FieldsView {
        Self::view(&this, 0)
    }

    /// The specific context.
    #[getter]
    fn specific_context(this: Bound<'_, Self>) -> FieldsView {
        Self::view(&this, 1)
    }

    /// The payload.
    #[getter]
    fn payload(this: Bound<'_, Self>) -> FieldsView {
        Self::view(&this, PAYLOAD)
    }

    /// The fields of the packet context.
    #[getter]
    fn packet_context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let class = self.batch.stream_class().and_then(|class| class.packet_context.as_ref());
        let Some(class) = class else { return Ok(PyDict::new(py).into_any()) };
        let mut state = self.batch.state_of(&self.record);
        let mut reader = self.batch.part_of(&self.record).context_reader();
        match build(class, &mut reader, &mut state, &mut builder(py)?) {
            Ok(value) => value,
            Err(error) => Err(self.wrong(py, &error)),
        }
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        for scope in LOOKUP_ORDER {
            if let Some(value) = self.member(py, scope, name)? {
                return Ok(value);
            }
        }
        Err(PyKeyError::new_err(name.to_owned()))
    }

    /// The value of a field, or the default when there is no such field.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        for scope in LOOKUP_ORDER {
            if let Some(value) = self.member(py, scope, name)? {
                return Ok(Some(value));
            }
        }
        Ok(default)
    }

    fn __contains__(&self, name: &str) -> bool {
        let scopes = self.batch.body_scopes(&self.record);
        scopes.iter().flatten().any(|class| class.member(name).is_some())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = self.name(py).map_or_else(|| "<unknown>".to_owned(), |name| name.to_string());
        let fields = self.fields(py, PAYLOAD)?.repr()?.to_string();
        let time = self.timestamp().map_or_else(|| "None".to_owned(), |time| time.to_string());
        Ok(format!("<Event {name} timestamp={time} {fields}>"))
    }
}

/// The fields of one scope of an event record, as a read-only mapping.
#[pyclass(frozen, module = "vestige._core", mapping)]
pub struct FieldsView {
    event: Py<EventRecord>,
    scope: usize,
}

#[pymethods]
impl FieldsView {
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let value = self.event.get().member(py, self.scope, name)?;
        value.ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }

    /// The value of a field, or the default when there is no such field.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.event.get().member(py, self.scope, name)?.or(default))
    }

    fn __contains__(&self, name: &str) -> bool {
        self.event.get().names(self.scope).iter().any(|known| known == name)
    }

    fn __len__(&self) -> usize {
        self.event.get().names(self.scope).len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let names = PyList::new(py, self.keys())?;
        Ok(names.try_iter()?.into_any())
    }

    fn keys(&self) -> Vec<String> {
        self.event.get().names(self.scope)
    }

    /// All fields, decoded.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.event.get().fields(py, self.scope)
    }

    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.call_method0("values")
    }

    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.call_method0("items")
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.to_dict(py)?.repr()?.to_string())
    }
}
