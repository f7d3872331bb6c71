//! From merges, which Python hands out, to record batches, decoded on all cores.

use std::collections::VecDeque;
use std::sync::mpsc::{channel, Receiver};
use std::sync::Arc;

use pyo3::exceptions::{PyRuntimeError, PyStopIteration};
use pyo3::prelude::*;
use vestige_ctf::columns::{decode, Column, Decoded, Dictionaries, Layout, RecordBatch};
use vestige_ctf::CtfError;

use crate::errors::trace_format_error;
use crate::merge::Merge;

/// A part of a merge that is being decoded.
struct Task {
    merge: Py<Merge>,
    result: Receiver<(Decoded, Option<(usize, CtfError)>)>,
}

/// Decodes merges into record batches, some of them ahead.
pub struct Pipeline {
    layout: Arc<Layout>,
    dictionaries: Dictionaries,
    /// An iterator over merges; `None` once it has ended.
    merges: Option<Py<PyAny>>,
    /// Called with the exception that ended the stream early.
    on_error: Option<Py<PyAny>>,
    tasks: VecDeque<Task>,
    failure: Option<PyErr>,
    /// Most rows of a batch.
    batch_rows: usize,
}

impl Pipeline {
    pub fn new(
        layout: Arc<Layout>,
        merges: Py<PyAny>,
        on_error: Option<Py<PyAny>>,
        batch_rows: usize,
    ) -> Self {
        Self {
            dictionaries: Dictionaries::new(&layout.columns),
            layout,
            merges: Some(merges),
            on_error,
            tasks: VecDeque::new(),
            failure: None,
            batch_rows,
        }
    }

    /// The columns of the batches.
    pub fn columns(&self) -> &[Column] {
        &self.layout.columns
    }

    /// The next batch, or `None` at the end. After an error there is nothing more.
    pub fn next(&mut self, py: Python<'_>) -> PyResult<Option<RecordBatch>> {
        loop {
            self.fill(py);
            let Some(Task { merge, result }) = self.tasks.pop_front() else {
                return self.failure.take().map_or(Ok(None), Err);
            };
            let Ok((decoded, error)) = py.detach(move || result.recv()) else {
                // A task that sends nothing panicked; its rows are lost, which must be said.
                self.end();
                return Err(PyRuntimeError::new_err("decoding a batch of columns failed"));
            };
            if let Some((batch, error)) = error {
                self.end();
                self.failure = Some(trace_format_error(py, &error, merge.get().path(batch)));
            }
            let batch = self.dictionaries.complete(&self.layout.columns, decoded);
            if batch.rows > 0 {
                return Ok(Some(batch));
            }
        }
    }

    /// The same for callers that only take text; the exception goes to `on_error`.
    pub fn next_or_message(&mut self, py: Python<'_>) -> Result<Option<RecordBatch>, String> {
        self.next(py).map_err(|error| {
            let message = error.to_string();
            if let Some(call) = &self.on_error {
                // Whoever wants the exception itself gets it; the text is told in any case.
                let _ = call.bind(py).call1((error.into_value(py),));
            }
            message
        })
    }

    /// Takes no more merges, and drops those that are being decoded.
    fn end(&mut self) {
        self.tasks.clear();
        self.merges = None;
    }

    /// Takes merges until all cores have something to do.
    fn fill(&mut self, py: Python<'_>) {
        let most = rayon::current_num_threads() + 1;
        while self.tasks.len() < most {
            let Some(merges) = &self.merges else { return };
            let next = merges.bind(py).call_method0("__next__");
            match next.and_then(|merge| Ok(merge.downcast_into::<Merge>()?)) {
                Ok(merge) => self.begin(&merge),
                Err(end) => {
                    self.merges = None;
                    if !end.is_instance_of::<PyStopIteration>(py) {
                        self.failure = Some(end);
                    }
                }
            }
        }
    }

    /// Has a merge decoded, in parts of as many rows as a batch may have.
    fn begin(&mut self, merge: &Bound<'_, Merge>) {
        let records = merge.get().inner.records;
        let derived = merge.get().derived.get().map(|derived| Arc::new(derived.text.clone()));
        for start in (0..records).step_by(self.batch_rows.max(1)) {
            let rows = start..records.min(start + self.batch_rows.max(1));
            let (sender, result) = channel();
            let layout = Arc::clone(&self.layout);
            let inner = Arc::clone(&merge.get().inner);
            let derived = derived.clone();
            rayon::spawn(move || {
                // A stream that was dropped does not want it any more.
                let _ = sender.send(decode(&layout, &inner, rows, derived.as_deref()));
            });
            self.tasks.push_back(Task { merge: merge.clone().unbind(), result });
        }
    }
}
