//! Plans for the entries of functions: conversions between `vestige_plan` and Python.

use std::collections::HashSet;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use vestige_plan::{Choice, Plan, PlannedFunction, Refusal};

use crate::object_file::{symbol_error, Failure, ObjectFile};

/// Address, size, name, method, reason and whether it would be missed, of a function.
type FunctionRow<'a> = (u64, u64, &'a str, Option<&'static str>, Option<&'static str>, bool);

#[doc = core_doc!(FunctionPlan)]
#[pyclass(frozen, module = "vestige._core")]
pub struct FunctionPlan {
    inner: Result<Plan, Refusal>,
}

fn row_of(function: &PlannedFunction) -> FunctionRow<'_> {
    let method = function.outcome.ok().map(|method| method.name());
    let reason = function.outcome.err();
    let size = function.end - function.start;
    (
        function.start,
        size,
        &function.name,
        method,
        reason.map(|reason| reason.text()),
        function.is_missed(),
    )
}

#[pymethods]
impl FunctionPlan {
    #[doc = core_doc!(FunctionPlan.make)]
    #[staticmethod]
    #[pyo3(signature = (main, others, *, only_sites))]
    fn make(
        py: Python<'_>,
        main: &Bound<'_, ObjectFile>,
        others: Vec<Bound<'_, ObjectFile>>,
        only_sites: bool,
    ) -> PyResult<Self> {
        let choice = if only_sites { Choice::Sites } else { Choice::All };
        let object = &main.get().inner;
        let files: Vec<&vestige_symbols::ObjectFile> =
            others.iter().map(|other| &other.get().inner).collect();
        let made = py.detach(|| Plan::make(object, &files, choice));
        let failed = |error| symbol_error(py, &Failure::Content(error), &main.get().path);
        Ok(Self { inner: made.map_err(failed)? })
    }

    #[doc = core_doc!(FunctionPlan.refusal)]
    #[getter]
    fn refusal(&self) -> Option<&'static str> {
        self.inner.as_ref().err().map(|refusal| refusal.text())
    }

    #[doc = core_doc!(FunctionPlan.build_id)]
    #[getter]
    fn build_id(&self) -> &[u8] {
        self.inner.as_ref().map(Plan::build_id).unwrap_or_default()
    }

    #[doc = core_doc!(FunctionPlan.functions)]
    fn functions(&self) -> Vec<FunctionRow<'_>> {
        let Ok(plan) = &self.inner else {
            return Vec::new();
        };
        plan.functions().iter().map(row_of).collect()
    }

    #[doc = core_doc!(FunctionPlan.counts)]
    fn counts(&self) -> (usize, usize) {
        self.inner.as_ref().map(Plan::counts).unwrap_or_default()
    }

    #[doc = core_doc!(FunctionPlan.rows)]
    fn rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.as_ref().map(Plan::rows).unwrap_or_default())
    }

    #[doc = core_doc!(FunctionPlan.to_bytes)]
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.as_ref().map(Plan::to_bytes).unwrap_or_default())
    }

    #[doc = core_doc!(FunctionPlan.choose)]
    #[staticmethod]
    fn choose<'py>(
        py: Python<'py>,
        plan: &[u8],
        addresses: HashSet<u64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let found = vestige_plan::choose(plan, |start| addresses.contains(&start));
        let found = found.ok_or_else(|| PyValueError::new_err("expected a plan"))?;
        Ok(PyBytes::new(py, &found))
    }
}
