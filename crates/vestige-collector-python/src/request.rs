//! What programs ask of the recorder.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use pyo3::prelude::*;
use vestige_collector::requests::Request;

#[doc = core_doc!(PlanRequest)]
#[pyclass(frozen, module = "vestige.record._collector")]
pub struct PlanRequest(pub Request);

#[pymethods]
impl PlanRequest {
    #[doc = core_doc!(PlanRequest.process)]
    #[getter]
    fn process(&self) -> u32 {
        self.0.peer().process
    }

    #[doc = core_doc!(PlanRequest.user)]
    #[getter]
    fn user(&self) -> u32 {
        self.0.peer().user
    }

    #[doc = core_doc!(PlanRequest.is_of_program)]
    #[getter]
    fn is_of_program(&self) -> bool {
        self.0.is_of_program()
    }

    #[doc = core_doc!(PlanRequest.is_refusal)]
    #[getter]
    fn is_refusal(&self) -> bool {
        self.0.is_refusal()
    }

    #[doc = core_doc!(PlanRequest.build_id)]
    #[getter]
    fn build_id(&self) -> String {
        self.0.build_id().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[doc = core_doc!(PlanRequest.path)]
    #[getter]
    fn path(&self) -> &OsStr {
        OsStr::from_bytes(self.0.path())
    }

    #[doc = core_doc!(PlanRequest.give)]
    fn give(&self, path: PathBuf) -> bool {
        is_answered(self.0.give(&path))
    }

    #[doc = core_doc!(PlanRequest.decline)]
    fn decline(&self) -> bool {
        is_answered(self.0.decline())
    }
}

/// Whether the program was still there.
fn is_answered(result: io::Result<()>) -> bool {
    result.is_ok()
}
