//! `EventIterator`: the event records of a reading, one by one, for any number of threads.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{current, ThreadId};

use pyo3::exceptions::{PyStopIteration, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use crate::event::EventRecord;
use crate::merge::Merge;
use crate::process::Process;

#[doc = core_doc!(EventIterator)]
#[pyclass(frozen, module = "vestige._core")]
pub struct EventIterator {
    /// Taken only by who holds the interpreter lock, and never while Python code runs: so
    /// nobody waits for it, and the garbage collector always finds it free.
    state: Mutex<State>,
    /// Whether a thread is fetching; what the others wait for.
    is_busy: Mutex<bool>,
    is_free: Condvar,
}

struct State {
    /// Gives merges; gone when it has no more.
    merges: Option<Py<PyAny>>,
    merge: Option<Py<Merge>>,
    /// Index of the next event record of the merge, and how many it has.
    next: usize,
    count: usize,
    /// The process and the thread that are fetching the next merge.
    fetching: Option<(Process, ThreadId)>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that panics is done with it: what it holds is whole.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The right to fetch, for as long as it lives.
struct Turn<'a>(&'a EventIterator);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        locked(&self.0.state).fetching = None;
        *locked(&self.0.is_busy) = false;
        self.0.is_free.notify_all();
    }
}

impl EventIterator {
    /// Gives the right to fetch, once no other thread has it.
    fn turn(&self, py: Python<'_>) -> PyResult<Turn<'_>> {
        let me = (Process::this(), current().id());
        loop {
            let fetching = locked(&self.state).fetching;
            match fetching {
                None => break,
                Some(one) if one == me => {
                    return Err(PyValueError::new_err("event iterator already executing"));
                }
                // The thread that reads is not there in a forked child.
                Some((process, _)) if process != me.0 => process.check(py)?,
                Some(_) => py.detach(|| {
                    let busy = locked(&self.is_busy);
                    drop(self.is_free.wait_while(busy, |busy| *busy));
                }),
            }
        }
        locked(&self.state).fetching = Some(me);
        *locked(&self.is_busy) = true;
        Ok(Turn(self))
    }

    /// The next event record of the merge that is there.
    fn step(&self, py: Python<'_>) -> Option<(Py<Merge>, usize)> {
        let mut state = locked(&self.state);
        let index = state.next;
        if index >= state.count {
            return None;
        }
        let merge = state.merge.as_ref()?.clone_ref(py);
        state.next += 1;
        Some((merge, index))
    }

    /// Takes the next merge, unless another thread did; returns whether there is one.
    fn fetch(&self, py: Python<'_>) -> PyResult<bool> {
        let _turn = self.turn(py)?;
        let merges = {
            let state = locked(&self.state);
            if state.next < state.count {
                return Ok(true);
            }
            state.merges.as_ref().map(|merges| merges.clone_ref(py))
        };
        let Some(merges) = merges else { return Ok(false) };
        let next = match merges.bind(py).call_method0("__next__") {
            Ok(merge) => Some(merge.cast_into::<Merge>()?),
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => None,
            Err(error) => return Err(error),
        };
        let count = next.as_ref().map_or(0, |merge| merge.get().inner.records);
        let is_more = next.is_some();
        self.replace(next.map(Bound::unbind), count, is_more);
        Ok(is_more)
    }

    /// Puts another merge in the place of the last one. What was there is dropped when
    /// nothing is locked any more, since that may run Python code.
    fn replace(&self, merge: Option<Py<Merge>>, count: usize, is_more: bool) {
        let mut state = locked(&self.state);
        let merge = std::mem::replace(&mut state.merge, merge);
        let merges = if is_more { None } else { state.merges.take() };
        (state.next, state.count) = (0, count);
        drop(state);
        drop((merge, merges));
    }
}

#[pymethods]
impl EventIterator {
    #[new]
    fn new(merges: &Bound<'_, PyAny>) -> PyResult<Self> {
        let merges = merges.try_iter()?.into_any().unbind();
        let state = State { merges: Some(merges), merge: None, next: 0, count: 0, fetching: None };
        Ok(Self { state: Mutex::new(state), is_busy: Mutex::new(false), is_free: Condvar::new() })
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<EventRecord>> {
        loop {
            if let Some((merge, index)) = self.step(py) {
                return EventRecord::of(merge.into_bound(py), index).map(Some);
            }
            if !self.fetch(py)? {
                return Ok(None);
            }
        }
    }

    #[doc = core_doc!(EventIterator.close)]
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let _turn = self.turn(py)?;
        let merges = locked(&self.state).merges.as_ref().map(|merges| merges.clone_ref(py));
        self.replace(None, 0, false);
        match merges {
            Some(merges) if merges.bind(py).hasattr("close")? => {
                merges.call_method0(py, "close").map(drop)
            }
            _ => Ok(()),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let state = locked(&self.state);
        visit.call(&state.merges)?;
        visit.call(&state.merge)
    }

    fn __clear__(&self) {
        self.replace(None, 0, false);
    }
}
