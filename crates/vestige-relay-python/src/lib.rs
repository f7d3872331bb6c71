//! The binding of the relay to Python: conversions and error mapping only.
//!
//! The face of this module is described in `src/vestige/relay/_relay.pyi`.

// The docstrings, from the stub: see `build.rs` of the other binding.
include!(concat!(env!("OUT_DIR"), "/core_doc.rs"));

mod events;
mod relay;
mod stream;

use pyo3::prelude::*;

/// The stub without its docstrings, which Python compares with the one that it finds.
const INTERFACE: &str = include_str!(concat!(env!("OUT_DIR"), "/interface.txt"));

/// The extension module `vestige.relay._relay`.
#[pymodule]
mod _relay {
    #[pymodule_export]
    use crate::relay::Relay;
    #[pymodule_export]
    use crate::stream::{Chunk, Directory, Follower, Stream};

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__interface__", INTERFACE.as_bytes())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
