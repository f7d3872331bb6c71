//! What processes have loaded.

use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use vestige_collector::loaded::{self as inner, joined, Facts, LoadedObject};

/// Base, size, path, whether it is position-independent, build ID, debug link.
type ObjectTuple<'py> =
    (u64, u64, Bound<'py, PyBytes>, bool, Bound<'py, PyBytes>, Option<(Bound<'py, PyBytes>, u32)>);

fn object_tuple<'py>(py: Python<'py>, object: &LoadedObject) -> ObjectTuple<'py> {
    let facts = &object.facts;
    let link = facts.debug_link.as_ref().map(|(name, crc)| (PyBytes::new(py, name), *crc));
    let (path, build_id) = (PyBytes::new(py, &object.path), PyBytes::new(py, &facts.build_id));
    (object.base, object.size, path, facts.is_pic, build_id, link)
}

#[doc = core_doc!(LoadedObjects)]
#[pyclass(frozen, module = "vestige.record._collector")]
#[derive(Default)]
pub struct LoadedObjects(inner::LoadedObjects);

#[pymethods]
impl LoadedObjects {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    #[doc = core_doc!(LoadedObjects.read)]
    #[pyo3(signature = (processes, before = None))]
    fn read(
        &self,
        py: Python<'_>,
        processes: Vec<u32>,
        before: Option<&LoadedState>,
    ) -> LoadedState {
        py.detach(|| {
            let now = self.0.read(&processes);
            LoadedState(match before {
                Some(before) => joined(&before.0, now),
                None => now,
            })
        })
    }
}

#[doc = core_doc!(LoadedState)]
#[pyclass(frozen, module = "vestige.record._collector")]
pub struct LoadedState(pub inner::Loaded);

/// The same, as it comes.
type Told = (u64, u64, Vec<u8>, bool, Vec<u8>, Option<(Vec<u8>, u32)>);

fn told((base, size, path, is_pic, build_id, link): Told) -> Option<LoadedObject> {
    LoadedObject::told((base, size), path, Facts::told(is_pic, build_id, link))
}

#[pymethods]
impl LoadedState {
    #[new]
    fn new(objects: HashMap<u32, Vec<Told>>) -> Self {
        let all = objects.into_iter();
        Self(
            all.map(|(process, told_of)| {
                let mut objects: Vec<_> = told_of.into_iter().filter_map(told).collect();
                objects.sort_by_key(|one| one.base);
                (process, objects)
            })
            .collect(),
        )
    }

    #[doc = core_doc!(LoadedState.processes)]
    #[getter]
    fn processes(&self) -> Vec<u32> {
        let mut processes: Vec<u32> = self.0.keys().copied().collect();
        processes.sort_unstable();
        processes
    }

    #[doc = core_doc!(LoadedState.only)]
    fn only(&self, processes: Vec<u32>) -> Self {
        let one = |process: &u32| Some((*process, self.0.get(process)?.clone()));
        Self(processes.iter().filter_map(one).collect())
    }

    #[doc = core_doc!(LoadedState.objects)]
    fn objects<'py>(&self, py: Python<'py>, process: u32) -> Vec<ObjectTuple<'py>> {
        let objects = self.0.get(&process).map(Vec::as_slice).unwrap_or_default();
        objects.iter().map(|one| object_tuple(py, one)).collect()
    }
}
