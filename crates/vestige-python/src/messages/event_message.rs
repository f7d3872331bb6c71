//! `EventMessage`: an event of a merge, with its event and the scopes of that.

use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use vestige_ctf::scope::Scope;

use super::clock_snapshot::ClockSnapshot;
use super::description::{Description, Member};
use super::field::{text_of, FieldBase};
use super::selection_builder::SelectionBuilder;
use crate::event_view::{builder, EventView};

#[doc = core_doc!(EventMessage)]
#[pyclass(frozen, module = "vestige._core")]
pub struct EventMessage {
    pub view: EventView,
    description: Arc<Description>,
}

impl EventMessage {
    pub fn of(view: EventView, description: Arc<Description>) -> Self {
        Self { view, description }
    }

    fn field<'py>(
        &self,
        py: Python<'py>,
        scope: Scope,
        name: &str,
        member: &Member,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = if let Some(index) = member.index {
            let mut builder = SelectionBuilder(builder(py)?);
            self.view.decode_member(py, scope, index, &mut builder)?.transpose()?
        } else {
            self.view.added_or_empty(py, name)?
        };
        value.map(|value| member.kind.bind(py).call1((value, &member.class))).transpose()
    }

    /// The field of a name in a scope.
    pub fn member_of<'py>(
        &self,
        py: Python<'py>,
        scope: Scope,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let described = self.description.scope(scope);
        match described.and_then(|described| described.members.get(name)) {
            Some(member) => self.field(py, scope, name, member),
            None => Ok(None),
        }
    }

    /// The plain values of all fields of a scope, by their names.
    pub fn values<'py>(&self, py: Python<'py>, scope: Scope) -> PyResult<Bound<'py, PyAny>> {
        let mut builder = SelectionBuilder(builder(py)?);
        match self.view.decode(py, scope, &mut builder)? {
            Some(values) => values,
            None => Ok(PyDict::new(py).into_any()),
        }
    }

    fn scope_field<'py>(
        this: &Py<Self>,
        py: Python<'py>,
        scope: Scope,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some(described) = this.get().description.scope(scope) else { return Ok(None) };
        let kind = described.kind.bind(py);
        StructureFieldBase::of_scope(kind, &described.class, this.clone_ref(py), scope).map(Some)
    }
}

#[pymethods]
impl EventMessage {
    #[doc = core_doc!(EventMessage.event)]
    #[getter]
    fn event(this: Py<Self>) -> MessageEvent {
        MessageEvent { message: this }
    }

    #[doc = core_doc!(EventMessage.default_clock_snapshot)]
    #[getter]
    fn default_clock_snapshot(&self, py: Python<'_>) -> PyResult<ClockSnapshot> {
        let (Some(clock_class), Some(nanoseconds)) =
            (&self.description.clock_class, self.view.timestamp())
        else {
            return Err(PyValueError::new_err(
                "cannot get default clock snapshot: stream class has no default clock class",
            ));
        };
        let value = self.view.record.cycles;
        Ok(ClockSnapshot { value, nanoseconds, clock_class: clock_class.clone_ref(py) })
    }

    #[doc = core_doc!(EventMessage.addr)]
    #[getter]
    fn addr(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}

#[doc = core_doc!(MessageEvent)]
#[pyclass(frozen, module = "vestige._core", mapping)]
pub struct MessageEvent {
    message: Py<EventMessage>,
}

impl MessageEvent {
    fn description(&self) -> &Description {
        &self.message.get().description
    }

    fn member<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.description().member(name) {
            Some((scope, member)) => self.message.get().field(py, scope, name, member),
            None => Ok(None),
        }
    }

    fn field<'py>(&self, py: Python<'py>, scope: Scope) -> PyResult<Option<Bound<'py, PyAny>>> {
        EventMessage::scope_field(&self.message, py, scope)
    }
}

#[pymethods]
impl MessageEvent {
    #[doc = core_doc!(MessageEvent.name)]
    #[getter]
    fn name(&self, py: Python<'_>) -> Option<Py<PyString>> {
        self.description().name.as_ref().map(|name| name.clone_ref(py))
    }

    #[doc = core_doc!(MessageEvent.id)]
    #[getter]
    fn id(&self) -> Option<u64> {
        let view = &self.message.get().view;
        view.batch.event_class(&view.record).map(|class| class.id)
    }

    #[doc = core_doc!(MessageEvent.cls)]
    #[getter]
    fn cls(&self, py: Python<'_>) -> Py<PyAny> {
        self.description().event_class.clone_ref(py)
    }

    #[doc = core_doc!(MessageEvent.stream)]
    #[getter]
    fn stream(&self, py: Python<'_>) -> Py<PyAny> {
        self.description().stream.clone_ref(py)
    }

    #[doc = core_doc!(MessageEvent.packet)]
    #[getter]
    fn packet<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let view = &self.message.get().view;
        let packet = Arc::as_ptr(&view.batch.part_of(&view.record).packet) as usize;
        let stream = self.description().stream.bind(py);
        stream.call_method1("_packet", (packet, self.field(py, Scope::Packet)?))
    }

    #[doc = core_doc!(MessageEvent.payload_field)]
    #[getter]
    fn payload_field<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.field(py, Scope::Payload)
    }

    #[doc = core_doc!(MessageEvent.specific_context_field)]
    #[getter]
    fn specific_context_field<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.field(py, Scope::Specific)
    }

    #[doc = core_doc!(MessageEvent.common_context_field)]
    #[getter]
    fn common_context_field<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.field(py, Scope::Common)
    }

    #[doc = core_doc!(MessageEvent.addr)]
    #[getter]
    fn addr(&self) -> usize {
        std::ptr::from_ref(self.message.get()) as usize
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = self.member(py, text_of(name)?)?;
        found.ok_or_else(|| PyKeyError::new_err(name.clone().unbind()))
    }

    fn __contains__(&self, name: &str) -> bool {
        self.description().member(name).is_some()
    }
}

#[doc = core_doc!(StructureFieldBase)]
#[pyclass(extends = FieldBase, subclass, module = "vestige._core")]
pub struct StructureFieldBase {
    /// The event whose scope it is; otherwise it has a value.
    scope: Option<(Py<EventMessage>, Scope)>,
}

impl StructureFieldBase {
    /// A scope of an event, as an object of a class in Python.
    pub fn of_scope<'py>(
        kind: &Bound<'py, PyAny>,
        class: &Py<PyAny>,
        message: Py<EventMessage>,
        scope: Scope,
    ) -> PyResult<Bound<'py, PyAny>> {
        let field = kind.call1((kind.py().None(), class))?;
        field.cast::<Self>()?.borrow_mut().scope = Some((message, scope));
        Ok(field)
    }
}

#[pymethods]
impl StructureFieldBase {
    #[new]
    fn new(value: Py<PyAny>, field_class: Py<PyAny>) -> (Self, FieldBase) {
        (Self { scope: None }, FieldBase::new(value, field_class))
    }

    fn __getitem__<'py>(
        this: PyRef<'py, Self>,
        name: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let text = text_of(name)?;
        let found = match &this.scope {
            Some((message, scope)) => message.get().member_of(py, *scope, text)?,
            None => {
                let base = this.as_super();
                let (class, value) = (base._class.clone_ref(py), base._value.clone_ref(py));
                let member = class.bind(py).call_method1("_member", (value, name))?;
                (!member.is_none()).then_some(member)
            }
        };
        found.ok_or_else(|| PyKeyError::new_err(name.clone().unbind()))
    }

    #[doc = core_doc!(StructureFieldBase._decoded)]
    fn _decoded<'py>(this: PyRef<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        match &this.scope {
            Some((message, scope)) => message.get().values(py, *scope),
            None => Ok(this.as_super()._value.bind(py).clone()),
        }
    }
}
