//! Names of the kernel's functions.

use pyo3::prelude::*;
use vestige_kernel::kallsyms::{address_of, functions_at};

/// Begin, end, name, module.
type FunctionTuple = (u64, u64, String, String);

#[doc = core_doc!(kernel_functions)]
#[pyfunction]
pub fn kernel_functions(
    py: Python<'_>,
    text: &[u8],
    modules: Vec<(String, u64, u64)>,
    addresses: Vec<u64>,
) -> Vec<FunctionTuple> {
    let found = py.detach(|| functions_at(text, &modules, &addresses));
    found.into_iter().map(|one| (one.begin, one.end, one.name, one.module)).collect()
}

#[doc = core_doc!(kernel_symbol)]
#[pyfunction]
pub fn kernel_symbol(text: &[u8], name: &[u8]) -> Option<u64> {
    address_of(text, name)
}
