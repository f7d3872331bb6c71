//! The binding of the collector to Python: conversions and error mapping only.
//!
//! The face of this module is described in `src/vestige/record/_collector.pyi`.

// The docstrings, from the stub: see `build.rs` of the other binding.
include!(concat!(env!("OUT_DIR"), "/core_doc.rs"));

mod abandoned;
mod clock;
mod collector;
mod errors;
mod full_packets;
mod loaded;
mod request;
mod results;
mod signals;
mod word;

use pyo3::prelude::*;

/// The stub without its docstrings, which Python compares with the one that it finds.
const INTERFACE: &str = include_str!(concat!(env!("OUT_DIR"), "/interface.txt"));

/// The extension module `vestige.record._collector`.
#[pymodule]
mod _collector {
    #[pymodule_export]
    use crate::abandoned::{look_at_abandoned, remove_abandoned};
    #[pymodule_export]
    use crate::clock::counter;
    #[pymodule_export]
    use crate::collector::{recover, Collector};
    #[pymodule_export]
    use crate::full_packets::{FullPackets, PacketFollower};
    #[pymodule_export]
    use crate::loaded::{LoadedObjects, LoadedState};
    #[pymodule_export]
    use crate::request::PlanRequest;
    #[pymodule_export]
    use crate::results::{Outcome, Progress};
    #[pymodule_export]
    use crate::signals::act_by_default;
    #[pymodule_export]
    use crate::word::exchange;

    use super::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__interface__", INTERFACE.as_bytes())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
