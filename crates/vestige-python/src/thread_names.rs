//! `ThreadNames`: what threads are called.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use vestige_ctf::places;

use crate::merge::Merge;

#[doc = core_doc!(ThreadNames)]
#[pyclass(frozen, module = "vestige._core")]
pub struct ThreadNames {
    inner: Mutex<places::ThreadNames>,
}

impl ThreadNames {
    fn lock(&self) -> MutexGuard<'_, places::ThreadNames> {
        // A panic cannot leave a name half-changed.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl ThreadNames {
    #[doc = core_doc!(ThreadNames.__new__)]
    #[new]
    fn new() -> Self {
        Self { inner: Mutex::default() }
    }

    #[doc = core_doc!(ThreadNames.add)]
    fn add(&self, py: Python<'_>, merge: &Merge) {
        py.detach(|| self.lock().add(&merge.inner));
    }

    #[doc = core_doc!(ThreadNames.find)]
    fn find(&self, space: u32, vpid: i128, vtid: i128) -> Option<String> {
        let names = self.lock();
        // Records may say any number.
        let [vpid, vtid] = [vpid, vtid].map(i32::try_from);
        let name = names.find((space, vpid.ok()?, vtid.ok()?))?;
        Some(String::from_utf8_lossy(name).into_owned())
    }

    #[doc = core_doc!(ThreadNames.rows)]
    fn rows(&self) -> Vec<(u32, i32, i32, String)> {
        let names = self.lock();
        let mut rows: Vec<_> = names
            .all()
            .map(|((space, vpid, vtid), name)| {
                (space, vpid, vtid, String::from_utf8_lossy(name).into_owned())
            })
            .collect();
        rows.sort_unstable();
        rows
    }
}
