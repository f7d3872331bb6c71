//! The binding of the kernel's collector to Python: conversions and error mapping only.
//!
//! The face of this module is described in `src/vestige/record/_kernel.pyi`.

// The docstrings, from the stub: see `build.rs` of the other binding.
include!(concat!(env!("OUT_DIR"), "/core_doc.rs"));

mod collect;
mod given;
mod making;
mod names;
mod rights;

use pyo3::prelude::*;

/// The stub without its docstrings, which Python compares with the one that it finds.
const INTERFACE: &str = include_str!(concat!(env!("OUT_DIR"), "/interface.txt"));

/// The extension module `vestige.record._kernel`.
#[pymodule]
mod _kernel {
    #[pymodule_export]
    use crate::collect::{Collector, CpuOutcome};
    #[pymodule_export]
    use crate::making::impossible_filters;
    #[pymodule_export]
    use crate::names::{kernel_functions, kernel_symbol};
    #[pymodule_export]
    use crate::rights::{
        attach_program, counter_array, drop_rights, open_counter, open_map_events, open_tracefs,
        shorten_slice, work_memory,
    };

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__interface__", INTERFACE.as_bytes())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
