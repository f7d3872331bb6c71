//! `Event`: an event record whose fields are decoded when they are asked for.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use vestige_ctf::scope::{Origin, Scope};

use crate::errors::no_such_field;
use crate::event_copy::{EventCopy, SCOPES};
use crate::event_view::EventView;
use crate::fields_view::FieldsView;
use crate::merge::Merge;

static DATETIME: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Where the facts of an event record are.
enum Held {
    /// In a merge, still encoded.
    View(EventView),
    /// In dictionaries, as those of one that was pickled.
    Copy(EventCopy),
}

#[doc = core_doc!(Event)]
#[pyclass(frozen, name = "Event", module = "vestige", mapping)]
pub struct EventRecord {
    held: Held,
}

impl EventRecord {
    pub fn of(merge: Bound<'_, Merge>, index: usize) -> PyResult<Self> {
        Ok(Self { held: Held::View(EventView::of(merge, index)?) })
    }

    /// The value of a field of a scope.
    pub fn member<'py>(
        &self,
        py: Python<'py>,
        scope: Scope,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.held {
            Held::View(view) => view.member(py, scope, name),
            Held::Copy(copy) => copy.member(py, scope, name),
        }
    }

    /// The value of the field that a name means: that of the nearest scope.
    fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        for scope in Scope::NEAREST_FIRST {
            if let Some(value) = self.member(py, scope, name)? {
                return Ok(Some(value));
            }
        }
        match Scope::qualified(name) {
            Some((scope, name)) => self.member(py, scope, name),
            None => Ok(None),
        }
    }

    fn has_member(&self, py: Python<'_>, scope: Scope, name: &str) -> PyResult<bool> {
        match &self.held {
            Held::View(view) => Ok(view.has_member(scope, name)),
            Held::Copy(copy) => Ok(copy.member(py, scope, name)?.is_some()),
        }
    }

    /// All fields of a scope.
    pub fn fields<'py>(&self, py: Python<'py>, scope: Scope) -> PyResult<Bound<'py, PyAny>> {
        match &self.held {
            Held::View(view) => view.fields(py, scope),
            Held::Copy(copy) => Ok(copy.fields(py, scope)?.copy()?.into_any()),
        }
    }

    /// The names of the fields of a scope.
    pub fn names(&self, py: Python<'_>, scope: Scope) -> PyResult<Vec<String>> {
        match &self.held {
            Held::View(view) => Ok(view.names(scope)),
            Held::Copy(copy) => copy.names(py, scope),
        }
    }

    /// A fact about where the record comes from.
    fn origin<'py>(&self, py: Python<'py>, origin: Origin) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.held {
            Held::View(view) => view.origin(py, origin),
            Held::Copy(copy) => copy.fact(py, origin.name()).map(Some),
        }
    }

    /// What the attributes are, for a copy.
    fn facts<'py>(&self, py: Python<'py>, view: &EventView) -> PyResult<Bound<'py, PyDict>> {
        let facts = PyDict::new(py);
        facts.set_item("name", self.name(py)?)?;
        facts.set_item("class_id", self.class_id(py)?)?;
        facts.set_item("log_level", self.log_level(py)?)?;
        facts.set_item("timestamp", self.timestamp(py)?)?;
        facts.set_item("cycles", self.cycles(py)?)?;
        facts.set_item("stream", self.stream(py)?.getattr("facts")?)?;
        facts.set_item("file_offset", self.file_offset(py)?)?;
        facts.set_item("debug_info", self.debug_info(py)?)?;
        facts.set_item("packet_names", view.names(Scope::Packet))?;
        for origin in Origin::NUMBERS.into_iter().chain([Origin::ProcessName]) {
            facts.set_item(origin.name(), self.origin(py, origin)?)?;
        }
        Ok(facts)
    }

    fn view(this: &Bound<'_, Self>, scope: Scope) -> FieldsView {
        FieldsView::of(this.clone().unbind(), scope)
    }
}

#[pymethods]
impl EventRecord {
    #[doc = core_doc!(Event.name)]
    #[getter]
    fn name<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.held {
            Held::View(view) => Ok(view.name(py).map(|name| name.into_bound(py).into_any())),
            Held::Copy(copy) => copy.fact(py, "name").map(Some),
        }
    }

    #[doc = core_doc!(Event.class_id)]
    #[getter]
    fn class_id(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        match &self.held {
            Held::View(view) => Ok(view.batch.event_class(&view.record).map(|class| class.id)),
            Held::Copy(copy) => copy.fact(py, "class_id")?.extract(),
        }
    }

    #[doc = core_doc!(Event.log_level)]
    #[getter]
    fn log_level(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        match &self.held {
            Held::View(view) => {
                Ok(view.batch.event_class(&view.record).and_then(|class| class.log_level))
            }
            Held::Copy(copy) => copy.fact(py, "log_level")?.extract(),
        }
    }

    #[doc = core_doc!(Event.timestamp)]
    #[getter]
    fn timestamp(&self, py: Python<'_>) -> PyResult<Option<i64>> {
        match &self.held {
            Held::View(view) => Ok(view.timestamp()),
            Held::Copy(copy) => copy.fact(py, "timestamp")?.extract(),
        }
    }

    #[doc = core_doc!(Event.cycles)]
    #[getter]
    fn cycles(&self, py: Python<'_>) -> PyResult<u64> {
        match &self.held {
            Held::View(view) => Ok(view.record.cycles),
            Held::Copy(copy) => copy.fact(py, "cycles")?.extract(),
        }
    }

    #[doc = core_doc!(Event.datetime)]
    #[getter]
    fn datetime<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let convert = DATETIME.get_or_try_init(py, || {
            PyResult::Ok(py.import("vestige.values")?.getattr("utc_datetime")?.unbind())
        })?;
        convert.bind(py).call1((self.timestamp(py)?,))
    }

    #[doc = core_doc!(Event.stream)]
    #[getter]
    fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.held {
            Held::View(view) => view.stream(py),
            Held::Copy(copy) => copy.fact(py, "stream"),
        }
    }

    #[doc = core_doc!(Event.file_offset)]
    #[getter]
    fn file_offset(&self, py: Python<'_>) -> PyResult<u64> {
        match &self.held {
            Held::View(view) => Ok(view.batch.file_offset(&view.record)),
            Held::Copy(copy) => copy.fact(py, "file_offset")?.extract(),
        }
    }

    #[doc = core_doc!(Event.debug_info)]
    #[getter]
    fn debug_info<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.held {
            Held::View(view) => view.debug_info(py),
            Held::Copy(copy) => copy.fact(py, "debug_info").map(Some),
        }
    }

    #[doc = core_doc!(Event.thread)]
    #[getter]
    fn thread<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.origin(py, Origin::Thread)
    }

    #[doc = core_doc!(Event.process)]
    #[getter]
    fn process<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.origin(py, Origin::Process)
    }

    #[doc = core_doc!(Event.cpu)]
    #[getter]
    fn cpu<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.origin(py, Origin::Cpu)
    }

    #[doc = core_doc!(Event.process_name)]
    #[getter]
    fn process_name<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.origin(py, Origin::ProcessName)
    }

    #[doc = core_doc!(Event.context)]
    #[getter]
    fn context(this: Bound<'_, Self>) -> FieldsView {
        Self::view(&this, Scope::Common)
    }

    #[doc = core_doc!(Event.specific_context)]
    #[getter]
    fn specific_context(this: Bound<'_, Self>) -> FieldsView {
        Self::view(&this, Scope::Specific)
    }

    #[doc = core_doc!(Event.payload)]
    #[getter]
    fn payload(this: Bound<'_, Self>) -> FieldsView {
        Self::view(&this, Scope::Payload)
    }

    #[doc = core_doc!(Event.packet_context)]
    #[getter]
    fn packet_context<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.fields(py, Scope::Packet)
    }

    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.field(py, name)? {
            Some(value) => Ok(value),
            None => Err(no_such_field(py, name, self.keys(py)?, self.name(py)?)),
        }
    }

    #[doc = core_doc!(Event.get)]
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.field(py, name)?.or(default))
    }

    fn __contains__(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        for scope in Scope::NEAREST_FIRST {
            if self.has_member(py, scope, name)? {
                return Ok(true);
            }
        }
        match Scope::qualified(name) {
            Some((scope, name)) => self.has_member(py, scope, name),
            None => Ok(false),
        }
    }

    #[doc = core_doc!(Event.keys)]
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let mut names: Vec<String> = Vec::new();
        for scope in Scope::NEAREST_FIRST {
            for name in self.names(py, scope)? {
                if names.contains(&name) {
                    names.push(format!("{}{name}", scope.prefix()));
                } else {
                    names.push(name);
                }
            }
        }
        Ok(names)
    }

    fn _ipython_key_completions_(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.keys(py)
    }

    fn _repr_html_<'py>(this: Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        this.py().import("vestige.notebook")?.getattr("event_html")?.call1((this,))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let make = py.import("vestige._core")?.getattr("copied_event")?;
        let arguments = match &self.held {
            Held::View(view) => {
                let fields = SCOPES.map(|scope| view.fields(py, scope));
                let scopes = PyTuple::new(py, fields.into_iter().collect::<PyResult<Vec<_>>>()?)?;
                (self.facts(py, view)?, scopes)
            }
            Held::Copy(copy) => (copy.facts.bind(py).clone(), copy.scopes.bind(py).clone()),
        };
        (make, arguments).into_pyobject(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let name = self.name(py)?.filter(|name| !name.is_none());
        let name = name.map_or_else(|| "<unknown>".to_owned(), |name| name.to_string());
        let fields = self.fields(py, Scope::Payload)?.repr()?.to_string();
        let time = self.timestamp(py)?.map_or_else(|| "None".to_owned(), |time| time.to_string());
        Ok(format!("<Event {name} timestamp={time} {fields}>"))
    }
}

#[doc = core_doc!(copied_event)]
#[pyfunction]
pub fn copied_event(facts: Py<PyDict>, scopes: Bound<'_, PyTuple>) -> PyResult<EventRecord> {
    let all =
        scopes.len() == SCOPES.len() && scopes.iter().all(|scope| scope.is_instance_of::<PyDict>());
    if !all {
        return Err(PyTypeError::new_err("expected a dict for each of four scopes"));
    }
    Ok(EventRecord { held: Held::Copy(EventCopy { facts, scopes: scopes.unbind() }) })
}
