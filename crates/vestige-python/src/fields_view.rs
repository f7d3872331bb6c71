//! `FieldsView`: the fields of one scope of an event record, as a read-only mapping.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use vestige_ctf::scope::Scope;

use crate::errors::no_such_field;
use crate::event::EventRecord;

/// Where the fields are.
enum Held {
    /// In a scope of an event record.
    Scope(Py<EventRecord>, Scope),
    /// In a dictionary, as those that were pickled.
    Copy(Py<PyDict>),
}

#[doc = core_doc!(FieldsView)]
#[pyclass(frozen, module = "vestige._core", mapping)]
pub struct FieldsView {
    held: Held,
}

impl FieldsView {
    pub fn of(event: Py<EventRecord>, scope: Scope) -> Self {
        Self { held: Held::Scope(event, scope) }
    }

    fn member<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.held {
            Held::Scope(event, scope) => event.get().member(py, *scope, name),
            Held::Copy(fields) => fields.bind(py).get_item(name),
        }
    }
}

#[pymethods]
impl FieldsView {
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match self.member(py, name)? {
            Some(value) => Ok(value),
            None => Err(no_such_field(py, name, self.keys(py)?, None)),
        }
    }

    #[doc = core_doc!(FieldsView.get)]
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.member(py, name)?.or(default))
    }

    fn __contains__(&self, py: Python<'_>, name: &str) -> PyResult<bool> {
        Ok(self.keys(py)?.iter().any(|known| known == name))
    }

    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        Ok(self.keys(py)?.len())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let names = PyList::new(py, self.keys(py)?)?;
        Ok(names.try_iter()?.into_any())
    }

    #[doc = core_doc!(FieldsView.keys)]
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        match &self.held {
            Held::Scope(event, scope) => event.get().names(py, *scope),
            Held::Copy(fields) => fields.bind(py).keys().extract(),
        }
    }

    fn _ipython_key_completions_(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.keys(py)
    }

    #[doc = core_doc!(FieldsView.to_dict)]
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.held {
            Held::Scope(event, scope) => event.get().fields(py, *scope),
            Held::Copy(fields) => Ok(fields.bind(py).copy()?.into_any()),
        }
    }

    #[doc = core_doc!(FieldsView.values)]
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.call_method0("values")
    }

    #[doc = core_doc!(FieldsView.items)]
    fn items<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.to_dict(py)?.call_method0("items")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let make = py.import("vestige._core")?.getattr("copied_fields")?;
        (make, (self.to_dict(py)?,)).into_pyobject(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(self.to_dict(py)?.repr()?.to_string())
    }
}

#[doc = core_doc!(copied_fields)]
#[pyfunction]
pub fn copied_fields(fields: Py<PyDict>) -> FieldsView {
    FieldsView { held: Held::Copy(fields) }
}
