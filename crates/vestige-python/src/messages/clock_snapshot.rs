//! `ClockSnapshot`: the value of a clock at some time.

use pyo3::basic::CompareOp;
use pyo3::prelude::*;

#[doc = core_doc!(ClockSnapshot)]
#[pyclass(frozen, module = "vestige._core")]
pub struct ClockSnapshot {
    pub value: u64,
    pub nanoseconds: i64,
    pub clock_class: Py<PyAny>,
}

#[pymethods]
impl ClockSnapshot {
    #[new]
    fn new(value: u64, ns_from_origin: i64, clock_class: Py<PyAny>) -> Self {
        Self { value, nanoseconds: ns_from_origin, clock_class }
    }

    #[doc = core_doc!(ClockSnapshot.value)]
    #[getter]
    fn value(&self) -> u64 {
        self.value
    }

    #[doc = core_doc!(ClockSnapshot.clock_class)]
    #[getter]
    fn clock_class(&self, py: Python<'_>) -> Py<PyAny> {
        self.clock_class.clone_ref(py)
    }

    #[doc = core_doc!(ClockSnapshot.ns_from_origin)]
    #[getter]
    fn ns_from_origin(&self) -> i64 {
        self.nanoseconds
    }

    fn __richcmp__<'py>(
        &self,
        other: &Bound<'py, PyAny>,
        how: CompareOp,
    ) -> PyResult<Bound<'py, PyAny>> {
        let value = self.value.into_pyobject(other.py())?;
        match other.cast::<Self>() {
            Ok(other) => value.rich_compare(other.get().value, how),
            Err(_) => value.rich_compare(other, how),
        }
    }
}
