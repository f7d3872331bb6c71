//! `MessageIterator`: the messages of merges, one after the other.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use vestige_ctf::messages;

use super::description::Description;
use super::event_message::EventMessage;
use crate::event_view::EventView;
use crate::merge::Merge;

#[doc = core_doc!(MessageIterator)]
#[pyclass(frozen, module = "vestige._core")]
pub struct MessageIterator {
    merges: Py<PyAny>,
    describe: Py<PyAny>,
    make_notice: Py<PyAny>,
    /// Taken only by who holds the interpreter lock, and never while Python code runs.
    state: Mutex<State>,
}

/// Where the iteration is.
#[derive(Default)]
struct State {
    merge: Option<Py<Merge>>,
    /// What is still to be told beside events: the index of the run before which it belongs,
    /// the index among the notices, and the entry there.
    notices: VecDeque<(usize, usize, Py<PyTuple>)>,
    /// Index of the run, of the row in it, and of the event in the merge.
    run: usize,
    row: u32,
    index: usize,
    /// Index of the data stream of each batch.
    ranks: Vec<usize>,
    /// What Python said, by data stream and event record class.
    descriptions: Vec<Vec<Option<Arc<Description>>>>,
}

/// What comes next.
enum Next {
    /// An event of a data stream, by the index of that.
    Event(EventView, usize),
    /// What is no event, by its index among the notices.
    Notice(Py<Merge>, usize, Py<PyTuple>),
    /// Nothing more of this merge.
    End,
}

impl MessageIterator {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that panics is done with it: what it holds is whole.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        loop {
            let next = self.state().next(py)?;
            match next {
                Next::Event(view, rank) => {
                    let description = self.description(py, &view, rank)?;
                    let message = Py::new(py, EventMessage::of(view, description))?;
                    return Ok(Some(message.into_any()));
                }
                Next::Notice(merge, index, entry) => {
                    let message = self.make_notice.bind(py).call1((merge, index, entry))?;
                    if !message.is_none() {
                        return Ok(Some(message.unbind()));
                    }
                }
                Next::End if !self.fetch(py)? => return Ok(None),
                Next::End => {}
            }
        }
    }

    fn description(
        &self,
        py: Python<'_>,
        view: &EventView,
        rank: usize,
    ) -> PyResult<Arc<Description>> {
        let class = view.record.class as usize;
        let known = self.state().known(rank, class);
        if let Some(known) = known {
            return Ok(known);
        }
        let added = view.merge.get().all_added_names();
        let described = self.describe.bind(py).call1((view.stream(py)?, class, added))?;
        let description = Description::of(&described)?;
        self.state().keep(rank, class, &description);
        Ok(description)
    }

    /// Takes the next merge; returns whether there is one.
    fn fetch(&self, py: Python<'_>) -> PyResult<bool> {
        let Some(merge) = self.merges.bind(py).try_iter()?.next() else { return Ok(false) };
        let merge = merge?.cast_into::<Merge>()?;
        let mut notices = VecDeque::new();
        for (index, entry) in merge.getattr("notices")?.try_iter()?.enumerate() {
            let entry = entry?.cast_into::<PyTuple>()?;
            notices.push_back((entry.get_item(0)?.extract()?, index, entry.unbind()));
        }
        let mut state = self.state();
        let descriptions = std::mem::take(&mut state.descriptions);
        let ranks = messages::ranks(&merge.get().inner);
        let merge = Some(merge.unbind());
        let after = State { merge, notices, ranks, descriptions, ..State::default() };
        let before = std::mem::replace(&mut *state, after);
        drop(state);
        // Without the lock: that may end the life of Python objects.
        drop(before);
        Ok(true)
    }
}

impl State {
    fn next(&mut self, py: Python<'_>) -> PyResult<Next> {
        let Some(merge) = &self.merge else { return Ok(Next::End) };
        let run = merge.get().inner.runs.get(self.run);
        let is_due = |(before, ..): &(usize, usize, _)| run.is_none() || *before <= self.run;
        if self.row == 0 && self.notices.front().is_some_and(is_due) {
            if let Some((_, index, entry)) = self.notices.pop_front() {
                return Ok(Next::Notice(merge.clone_ref(py), index, entry));
            }
        }
        let Some(run) = run else { return Ok(Next::End) };
        let view = EventView::of(merge.bind(py).clone(), self.index)?;
        let rank = self.ranks.get(run.batch as usize).copied().unwrap_or(0);
        self.index += 1;
        self.row += 1;
        if self.row >= run.end - run.start {
            (self.run, self.row) = (self.run + 1, 0);
        }
        Ok(Next::Event(view, rank))
    }

    fn known(&self, rank: usize, class: usize) -> Option<Arc<Description>> {
        self.descriptions.get(rank)?.get(class)?.clone()
    }

    fn keep(&mut self, rank: usize, class: usize, description: &Arc<Description>) {
        if self.descriptions.len() <= rank {
            self.descriptions.resize_with(rank + 1, Vec::new);
        }
        if let Some(classes) = self.descriptions.get_mut(rank) {
            if classes.len() <= class {
                classes.resize(class + 1, None);
            }
            if let Some(place) = classes.get_mut(class) {
                *place = Some(Arc::clone(description));
            }
        }
    }
}

#[pymethods]
impl MessageIterator {
    #[new]
    fn new(
        merges: &Bound<'_, PyAny>,
        describe: Py<PyAny>,
        make_notice: Py<PyAny>,
    ) -> PyResult<Self> {
        let merges = merges.try_iter()?.into_any().unbind();
        Ok(Self { merges, describe, make_notice, state: Mutex::default() })
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.next(py)
    }

    #[doc = core_doc!(MessageIterator.take)]
    fn take<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        while list.len() < count {
            let Some(message) = self.next(py)? else { break };
            list.append(message)?;
        }
        Ok(list)
    }
}
