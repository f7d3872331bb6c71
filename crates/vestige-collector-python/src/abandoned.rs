//! Arenas whose collector was killed.

use std::path::PathBuf;

use pyo3::prelude::*;
use vestige_collector::abandoned;

use crate::errors::exception;

/// Directory, its device and its inode, whether paths are the same here, bytes, live threads, whether
/// it was closed.
type AbandonedTuple = (String, u64, u64, bool, u64, u32, bool);

#[doc = core_doc!(look_at_abandoned)]
#[pyfunction]
pub fn look_at_abandoned(py: Python<'_>, arena_path: PathBuf) -> PyResult<Option<AbandonedTuple>> {
    let found = py.detach(|| abandoned::look(&arena_path)).map_err(|error| exception(&error))?;
    Ok(found.map(|one| {
        let place = (one.directory_device, one.directory_inode);
        (
            one.directory.to_string_lossy().into_owned(),
            place.0,
            place.1,
            one.is_seen_from_here,
            one.bytes,
            one.live,
            one.is_closed,
        )
    }))
}

#[doc = core_doc!(remove_abandoned)]
#[pyfunction]
pub fn remove_abandoned(py: Python<'_>, arena_path: PathBuf) -> PyResult<bool> {
    py.detach(|| abandoned::remove(&arena_path)).map_err(|error| exception(&error))
}
