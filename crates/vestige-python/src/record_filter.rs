//! `RecordFilter`: expressions that are true of the wanted event records.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat};
use vestige_ctf::filter::{Expression, Instruction, Operation, StreamFilter, Value};
use vestige_ctf::model::TraceClass;

use crate::stream::DataStream;

/// An expression that is bound to a stream class.
struct BoundFilter {
    trace: Weak<TraceClass>,
    stream_class: usize,
    filter: Arc<StreamFilter>,
}

#[doc = core_doc!(RecordFilter)]
#[pyclass(frozen, module = "vestige._core")]
pub struct RecordFilter {
    expressions: Vec<Expression>,
    /// Those that are in use: data streams share stream classes.
    bound: Mutex<Vec<BoundFilter>>,
}

impl RecordFilter {
    /// The expressions for a data stream.
    pub fn of(&self, stream: &DataStream) -> Arc<StreamFilter> {
        let (trace, stream_class) = (&stream.inner.trace, stream.inner.class);
        let mut all = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |one: &&BoundFilter| {
            one.stream_class == stream_class && std::ptr::eq(one.trace.as_ptr(), Arc::as_ptr(trace))
        };
        if let Some(known) = all.iter().find(same) {
            return Arc::clone(&known.filter);
        }
        all.retain(|one| one.trace.strong_count() > 0);
        let filter = Arc::new(StreamFilter::new(&self.expressions, trace, stream_class));
        let trace = Arc::downgrade(trace);
        all.push(BoundFilter { trace, stream_class, filter: Arc::clone(&filter) });
        filter
    }
}

#[pymethods]
impl RecordFilter {
    /// `expressions` holds a list of instructions an expression: operation, argument, value.
    #[new]
    fn new(expressions: Vec<Vec<(usize, u32, Bound<'_, PyAny>)>>) -> PyResult<Self> {
        let code = |code: Vec<_>| code.into_iter().map(instruction).collect();
        let expressions = expressions.into_iter().map(code).collect::<PyResult<_>>()?;
        Ok(Self { expressions, bound: Mutex::default() })
    }

    #[doc = core_doc!(RecordFilter.possible)]
    fn possible(&self, py: Python<'_>, stream: &DataStream) -> Vec<bool> {
        py.detach(|| self.of(stream)).possible().collect()
    }
}

fn instruction(
    (operation, argument, value): (usize, u32, Bound<'_, PyAny>),
) -> PyResult<Instruction> {
    let operation = Operation::from_number(operation)
        .ok_or_else(|| PyValueError::new_err(format!("no operation {operation}")))?;
    let value = if let Ok(bytes) = value.cast::<PyBytes>() {
        Value::Bytes(bytes.as_bytes().to_vec())
    } else if let Ok(real) = value.cast::<PyFloat>() {
        Value::Real(real.value())
    } else {
        Value::Integer(value.extract()?)
    };
    Ok(Instruction { operation, argument, value })
}
