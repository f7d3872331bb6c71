//! The objects that stand for places in Python, made when somebody asks for one.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

/// What is known of a place.
enum Entry {
    /// Nothing; it is being looked up.
    Unknown,
    /// It is what this makes of the address.
    Later(Py<PyAny>, u64),
    /// It was made.
    Made(Py<PyAny>),
}

/// For each place its object.
#[derive(Default)]
pub struct PlaceObjects(Mutex<Vec<Entry>>);

impl PlaceObjects {
    fn lock(&self) -> MutexGuard<'_, Vec<Entry>> {
        // Nobody runs Python or waits for it while holding this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, place: u32, entry: Entry) {
        let mut entries = self.lock();
        let index = place as usize;
        if index >= entries.len() {
            entries.resize_with(index + 1, || Entry::Unknown);
        }
        if let Some(slot) = entries.get_mut(index) {
            *slot = entry;
        }
    }

    /// Gives a place its object.
    pub fn add(&self, place: u32, object: Py<PyAny>) {
        self.set(place, Entry::Made(object));
    }

    /// Gives a place the object that `make` returns for its address, once it is asked for.
    pub fn add_later(&self, place: u32, make: Py<PyAny>, address: u64) {
        self.set(place, Entry::Later(make, address));
    }

    /// The object of a place; the same at each call.
    pub fn get<'py>(&self, py: Python<'py>, place: u32) -> PyResult<Option<Bound<'py, PyAny>>> {
        let (make, address) = match self.lock().get(place as usize) {
            None | Some(Entry::Unknown) => return Ok(None),
            Some(Entry::Made(object)) => return Ok(Some(object.bind(py).clone())),
            Some(Entry::Later(make, address)) => (make.clone_ref(py), *address),
        };
        let made = make.bind(py).call1((address,))?;
        let mut entries = self.lock();
        let Some(slot) = entries.get_mut(place as usize) else { return Ok(Some(made)) };
        if let Entry::Made(first) = slot {
            // Another thread was faster.
            return Ok(Some(first.bind(py).clone()));
        }
        let before = std::mem::replace(slot, Entry::Made(made.clone().unbind()));
        // What it drops may run Python.
        drop(entries);
        drop(before);
        Ok(Some(made))
    }
}
