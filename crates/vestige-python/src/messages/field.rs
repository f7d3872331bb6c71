//! What fields of messages have in common, whatever they are called in Python.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyFloat, PyInt, PyString};

#[doc = core_doc!(FieldBase)]
#[pyclass(subclass, module = "vestige._core")]
pub struct FieldBase {
    #[pyo3(get, set)]
    pub _value: Py<PyAny>,
    #[pyo3(get, set)]
    pub _class: Py<PyAny>,
}

#[pymethods]
impl FieldBase {
    #[new]
    pub fn new(value: Py<PyAny>, field_class: Py<PyAny>) -> Self {
        Self { _value: value, _class: field_class }
    }
}

#[doc = core_doc!(NumberFieldBase)]
#[pyclass(extends = FieldBase, subclass, module = "vestige._core")]
pub struct NumberFieldBase;

#[pymethods]
impl NumberFieldBase {
    #[new]
    fn new(value: Py<PyAny>, field_class: Py<PyAny>) -> (Self, FieldBase) {
        (Self, FieldBase::new(value, field_class))
    }

    fn __int__<'py>(this: PyRef<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let value = this.as_super()._value.bind(py);
        if value.is_exact_instance_of::<PyInt>() {
            return Ok(value.clone());
        }
        py.get_type::<PyInt>().call1((value,))
    }

    fn __float__<'py>(this: PyRef<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let py = this.py();
        let value = this.as_super()._value.bind(py);
        if value.is_exact_instance_of::<PyFloat>() {
            return Ok(value.clone());
        }
        py.get_type::<PyFloat>().call1((value,))
    }
}

/// The text of a name, which is to be a string.
pub fn text_of<'a>(name: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let Ok(text) = name.cast::<PyString>() else {
        let kind = name.get_type().name()?;
        return Err(PyTypeError::new_err(format!("'{kind}' is not a 'str' object")));
    };
    text.to_str()
}
