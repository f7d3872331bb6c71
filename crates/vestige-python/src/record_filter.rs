//! `RecordFilter`: expressions that are true of the wanted event records.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat};
use vestige_ctf::filter::{Expression, Instruction, Operation, StreamFilter, Value};
use vestige_ctf::model::{FieldClass, FieldKind, Member, TraceClass};
use vestige_ctf::places::{has_places, place_class};
use vestige_ctf::stream;

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
    /// Names of the places that filters add before, if it is about records of merges.
    added: Option<Vec<String>>,
    /// Those that are in use: data streams share stream classes.
    bound: Mutex<Vec<BoundFilter>>,
}

impl RecordFilter {
    /// The expressions for a data stream.
    pub fn of(&self, stream: &stream::DataStream) -> Arc<StreamFilter> {
        let (trace, stream_class) = (&stream.trace, stream.class);
        let mut all = self.bound.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |one: &&BoundFilter| {
            one.stream_class == stream_class && std::ptr::eq(one.trace.as_ptr(), Arc::as_ptr(trace))
        };
        if let Some(known) = all.iter().find(same) {
            return Arc::clone(&known.filter);
        }
        all.retain(|one| one.trace.strong_count() > 0);
        let filter = match &self.added {
            None => StreamFilter::new(&self.expressions, trace, stream_class),
            Some(names) => {
                let added = added_class(names, trace, stream_class);
                StreamFilter::behind(&self.expressions, trace, stream_class, &added)
            }
        };
        let filter = Arc::new(filter);
        let trace = Arc::downgrade(trace);
        all.push(BoundFilter { trace, stream_class, filter: Arc::clone(&filter) });
        filter
    }
}

#[pymethods]
impl RecordFilter {
    /// `expressions` holds a list of instructions an expression: operation, argument, value;
    /// `added` the names of the places that filters added to the records of merges.
    #[new]
    #[pyo3(signature = (expressions, added=None))]
    fn new(
        expressions: Vec<Vec<(usize, u32, Bound<'_, PyAny>)>>,
        added: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let code = |code: Vec<_>| code.into_iter().map(instruction).collect();
        let expressions = expressions.into_iter().map(code).collect::<PyResult<_>>()?;
        Ok(Self { expressions, added, bound: Mutex::default() })
    }

    #[doc = core_doc!(RecordFilter.possible)]
    fn possible(&self, py: Python<'_>, stream: &DataStream) -> Vec<bool> {
        py.detach(|| self.of(&stream.inner)).possible().collect()
    }
}

/// The structure of the places that filters add to the records of a stream class.
fn added_class(names: &[String], trace: &TraceClass, stream_class: usize) -> FieldClass {
    let class = trace.stream_classes.get(stream_class);
    let is_there = |name: &&String| class.is_some_and(|class| has_places(trace, class, name));
    let member =
        |name: &String| Member { verbatim: true, ..Member::new(name.clone(), place_class()) };
    let members = names.iter().filter(is_there).map(member).collect();
    FieldClass::new(FieldKind::Structure { members, alignment: 8 })
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
