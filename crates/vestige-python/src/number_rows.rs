//! `NumberRows`: records of some classes as rows of numbers.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use vestige_ctf::number_rows::{self, Wanted};

use crate::merge::Merge;

/// Process space, process ID, thread ID.
type Maker = (u32, Option<i64>, Option<i64>);
/// What is wanted, index of the record, time, who made it, number of its place, integers.
type Row = (usize, usize, i64, Maker, Option<u32>, [u64; number_rows::COUNT]);

#[doc = core_doc!(NumberRows)]
#[pyclass(frozen, module = "vestige._core")]
pub struct NumberRows {
    inner: Mutex<number_rows::NumberRows>,
}

#[pymethods]
impl NumberRows {
    /// Names of events, and of the integers of each that rows have.
    #[new]
    fn new(wanted: Vec<(String, Vec<String>)>) -> PyResult<Self> {
        let one = |(name, fields): (String, Vec<String>)| {
            if fields.len() > number_rows::COUNT {
                return Err(PyValueError::new_err("too many fields"));
            }
            let mut fields = fields.into_iter();
            let fields = std::array::from_fn(|_| fields.next());
            Ok(Wanted { name, fields })
        };
        let wanted = wanted.into_iter().map(one).collect::<PyResult<_>>()?;
        Ok(Self { inner: Mutex::new(number_rows::NumberRows::new(wanted)) })
    }

    #[doc = core_doc!(NumberRows.read)]
    fn read(&self, py: Python<'_>, merge: &Merge) -> Vec<Row> {
        let places = merge.derived().into_iter().find(|one| one.places.is_some());
        py.detach(|| {
            // A panic cannot leave it half-changed.
            let mut rows = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let rows = rows.read(&merge.inner).into_iter().enumerate();
            let row = |(index, row): (usize, Option<number_rows::Row>)| {
                let row = row?;
                let place = places.as_ref().and_then(|one| one.values.index(index));
                let maker = (row.space, row.process, row.thread);
                let values = row.values.map(Option::unwrap_or_default);
                Some((row.kind, index, row.time, maker, place, values))
            };
            rows.filter_map(row).collect()
        })
    }
}
