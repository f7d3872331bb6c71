//! `PlaceColumn`: the scan for code addresses, stopped where a process image changes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::types::PyList;
use vestige_ctf::places;
use vestige_ctf::text::{Derived, PlaceTable};

use crate::merge::{Merge, PythonDerived};

/// Gives each record with an address the index of its place.
#[pyclass(frozen, module = "vestige._core")]
pub struct PlaceColumn {
    inner: Mutex<places::PlaceColumn>,
    name: String,
    table: Arc<PlaceTable>,
    objects: Py<PyList>,
}

impl PlaceColumn {
    fn lock(&self) -> MutexGuard<'_, places::PlaceColumn> {
        // A panic cannot leave the column half-changed in a way that matters.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PlaceColumn {
    #[new]
    fn new(py: Python<'_>, field_name: String, state_events: Vec<String>) -> Self {
        Self {
            inner: Mutex::new(places::PlaceColumn::new(field_name.clone(), state_events)),
            name: field_name,
            table: Arc::new(RwLock::new(Vec::new())),
            objects: PyList::empty(py).unbind(),
        }
    }

    /// Begins a merge.
    fn begin(&self, merge: &Merge) {
        self.lock().begin(&merge.inner);
    }

    /// Goes on to the next record that may change a process image; returns
    /// `(index, trace, vpid)`, or `None` at the end of the merge.
    fn advance(&self, py: Python<'_>, merge: &Merge) -> Option<(usize, usize, i64)> {
        let found = py.detach(|| self.lock().advance(&merge.inner));
        found.map(|record| (record.index, record.trace, record.vpid))
    }

    /// New addresses: `(trace, vpid, ip)` each, in the order in which places must be added.
    fn take_pending(&self) -> Vec<(usize, i64, u64)> {
        let pending = self.lock().take_pending();
        pending.into_iter().map(|p| (p.trace, p.vpid, p.ip)).collect()
    }

    /// Adds the places of pending addresses, in their order: the texts to show, and the
    /// objects that Python users see.
    fn add_places(
        &self,
        py: Python<'_>,
        texts: Vec<[String; 3]>,
        objects: &Bound<'_, PyList>,
    ) -> PyResult<()> {
        for object in objects {
            self.objects.bind(py).append(object)?;
        }
        if let Ok(mut table) = self.table.write() {
            table.extend(texts);
        }
        Ok(())
    }

    /// Tells that the image of a process changed.
    fn image_changed(&self, trace: usize, vpid: i64) {
        self.lock().image_changed(trace, vpid);
    }

    /// Ends a merge: its records have their places from now on.
    fn finish(&self, py: Python<'_>, merge: &Merge) {
        let column = self.lock().take_column();
        let text = Derived { name: self.name.clone(), column, table: Arc::clone(&self.table) };
        let places = self.objects.clone_ref(py);
        // A merge that already has a column keeps it: the first filter wins.
        let _ = merge.derived.set(PythonDerived { text, places });
    }

    /// Ends a merge, of which only the number of records of each place is kept.
    fn count(&self, py: Python<'_>) {
        py.detach(|| self.lock().count_column());
    }

    /// For each place how many records were counted.
    #[getter]
    fn counts(&self) -> Vec<u64> {
        self.lock().counts().to_vec()
    }

    /// How many counted records have no address to resolve.
    #[getter]
    fn without_place(&self) -> u64 {
        self.lock().without_place()
    }
}
