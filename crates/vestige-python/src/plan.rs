//! Plans for the entries of functions: conversions between `vestige_plan` and Python.

use std::collections::HashSet;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use vestige_plan::{Choice, Plan, PlannedFunction, Refusal};

use crate::symbols::{symbol_error, Failure, ObjectFile};

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
    let is_missed = reason.is_some_and(|reason| !reason.is_of_no_function());
    let size = function.end - function.start;
    (function.start, size, &function.name, method, reason.map(|reason| reason.text()), is_missed)
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

    #[doc = core_doc!(FunctionPlan.to_bytes)]
    #[pyo3(signature = (chosen))]
    fn to_bytes<'py>(&self, py: Python<'py>, chosen: Option<Vec<u64>>) -> Bound<'py, PyBytes> {
        let chosen: Option<HashSet<u64>> = chosen.map(HashSet::from_iter);
        let bytes = self.inner.as_ref().map(|plan| {
            plan.to_bytes(|start| chosen.as_ref().is_none_or(|chosen| chosen.contains(&start)))
        });
        PyBytes::new(py, &bytes.unwrap_or_default())
    }
}
