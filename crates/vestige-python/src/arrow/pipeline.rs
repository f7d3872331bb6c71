//! From merges, which Python hands out, to record batches, decoded on all cores.

use std::collections::VecDeque;
use std::sync::mpsc::{channel, Receiver};
use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use vestige_ctf::columns::{decode, Column, Decoded, Dictionaries, Layout, RecordBatch};
use vestige_ctf::derived::Derived;
use vestige_ctf::CtfError;

use crate::errors::trace_format_error;
use crate::merge::Merge;
use crate::process::Process;

/// A part of a merge that is being decoded.
struct Task<T> {
    merge: Py<Merge>,
    result: Receiver<(T, Option<(usize, CtfError)>)>,
}

/// A merge whose rows before `next` are being decoded.
struct Begun {
    merge: Py<Merge>,
    derived: Vec<Arc<Derived>>,
    next: usize,
}

impl Begun {
    fn new(merge: Py<Merge>) -> Self {
        let derived = merge.get().derived().into_iter().map(|one| one.values).collect();
        Self { merge, derived, next: 0 }
    }
}

/// What is made of a decoded batch, still on the thread that decoded it.
type Finish<T> = Arc<dyn Fn(&Layout, Decoded) -> T + Send + Sync>;

/// Decodes merges batch by batch, some of them ahead.
pub struct Pipeline<T> {
    process: Process,
    layout: Arc<Layout>,
    finish: Finish<T>,
    /// An iterator over merges; `None` once it has ended.
    merges: Option<Py<PyAny>>,
    begun: Option<Begun>,
    tasks: VecDeque<Task<T>>,
    failure: Option<PyErr>,
    /// Most rows of a batch.
    batch_rows: usize,
}

impl<T: Send + 'static> Pipeline<T> {
    /// A pipeline over an iterable of merges.
    pub fn new(
        layout: Arc<Layout>,
        merges: &Bound<'_, PyAny>,
        batch_rows: usize,
        finish: impl Fn(&Layout, Decoded) -> T + Send + Sync + 'static,
    ) -> PyResult<Self> {
        Ok(Self {
            process: Process::this(),
            layout,
            finish: Arc::new(finish),
            merges: Some(merges.try_iter()?.into_any().unbind()),
            begun: None,
            tasks: VecDeque::new(),
            failure: None,
            batch_rows: batch_rows.max(1),
        })
    }

    /// What was made of the next batch, or `None` at the end. After an error there is
    /// nothing more.
    pub fn next(&mut self, py: Python<'_>) -> PyResult<Option<T>> {
        self.process.check(py)?;
        self.fill(py);
        let Some(Task { merge, result }) = self.tasks.pop_front() else {
            return self.failure.take().map_or(Ok(None), Err);
        };
        let Ok((made, error)) = py.detach(move || result.recv()) else {
            // A task that sends nothing panicked; its rows are lost, which must be said.
            self.end();
            return Err(PyRuntimeError::new_err("decoding a batch of columns failed"));
        };
        if let Some((batch, error)) = error {
            self.end();
            self.failure = Some(trace_format_error(py, &error, merge.get().path(batch)));
        }
        Ok(Some(made))
    }

    /// Takes no more merges, and drops those that are being decoded.
    fn end(&mut self) {
        self.tasks.clear();
        self.begun = None;
        self.merges = None;
    }

    /// Begins parts of merges until all cores have something to do.
    fn fill(&mut self, py: Python<'_>) {
        let most = vestige_workers::thread_count() + 1;
        while self.tasks.len() < most {
            if let Some(begun) = self.begun.take() {
                self.begin_part(py, begun);
                continue;
            }
            let Some(merges) = &self.merges else { return };
            let next = merges.bind(py).call_method0("__next__");
            match next.and_then(|merge| Ok(merge.downcast_into::<Merge>()?)) {
                Ok(merge) => self.begun = Some(Begun::new(merge.unbind())),
                Err(end) => {
                    self.merges = None;
                    if !end.is_instance_of::<PyStopIteration>(py) {
                        self.failure = Some(end);
                    }
                }
            }
        }
    }

    /// Has as many rows of a merge decoded as a batch may have, and keeps the rest.
    fn begin_part(&mut self, py: Python<'_>, begun: Begun) {
        let Begun { merge, derived, next } = begun;
        let inner = Arc::clone(&merge.get().inner);
        let end = inner.records.min(next + self.batch_rows);
        if next == end {
            return;
        }
        let (sender, result) = channel();
        let (layout, finish) = (Arc::clone(&self.layout), Arc::clone(&self.finish));
        let places = derived.clone();
        self.tasks.push_back(Task { merge: merge.clone_ref(py), result });
        self.begun = Some(Begun { merge, derived, next: end });
        vestige_workers::spawn(move || {
            let (decoded, error) = decode(&layout, &inner, next..end, &places);
            // A stream that was dropped does not want it any more.
            let _ = sender.send((finish(&layout, decoded), error));
        });
    }
}

/// Record batches with their dictionaries.
pub struct Batches {
    layout: Arc<Layout>,
    pipeline: Pipeline<Decoded>,
    dictionaries: Dictionaries,
    /// Called with the exception that ends the stream early.
    on_error: Py<PyAny>,
}

impl Batches {
    /// The record batches of an iterable of merges.
    pub fn new(
        layout: Arc<Layout>,
        merges: &Bound<'_, PyAny>,
        batch_rows: usize,
        on_error: Py<PyAny>,
    ) -> PyResult<Self> {
        let shared = Arc::clone(&layout);
        let pipeline = Pipeline::new(shared, merges, batch_rows, |_, decoded| decoded)?;
        let dictionaries = Dictionaries::new(&layout.columns);
        Ok(Self { layout, pipeline, dictionaries, on_error })
    }

    /// The columns of the batches.
    pub fn columns(&self) -> &[Column] {
        &self.layout.columns
    }

    /// The next batch, or `None` at the end. Whoever called takes only the text of an
    /// exception; `on_error` gets the exception itself.
    pub fn next(&mut self, py: Python<'_>) -> Result<Option<RecordBatch>, String> {
        loop {
            match self.pipeline.next(py) {
                Ok(Some(decoded)) => {
                    let batch = self.dictionaries.complete(&self.layout.columns, decoded);
                    if batch.rows > 0 {
                        return Ok(Some(batch));
                    }
                }
                Ok(None) => return Ok(None),
                Err(error) => {
                    let message = error.to_string();
                    let _ = self.on_error.bind(py).call1((error.into_value(py),));
                    return Err(message);
                }
            }
        }
    }
}
