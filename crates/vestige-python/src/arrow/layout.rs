//! `ColumnLayout`: the columns of a selection.

use std::ffi::CString;
use std::sync::Arc;

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use vestige_ctf::columns::{
    csv_header, AddedField, Decoded, Layout, Options, RowFormat, RowWriter, StreamInput, TimeType,
};
use vestige_ctf::places::{self, place_class};

use super::c_data::ArrowSchema;
use super::c_stream::ArrowArrayStream;
use super::pipeline::{Batches, Pipeline};
use crate::stream::DataStream;

/// Most bytes of a batch, about: many columns make batches of fewer rows.
const BATCH_BYTES: u64 = 16 * 1024 * 1024;
/// Fewest rows of a batch that is limited on account of its columns.
const FEWEST_ROWS: usize = 256;

#[doc = core_doc!(ColumnLayout)]
#[pyclass(frozen, module = "vestige._core")]
pub struct ColumnLayout {
    inner: Arc<Layout>,
    batch_rows: usize,
}

#[pymethods]
impl ColumnLayout {
    /// `streams` holds for each data stream its handle, its ID and which event record
    /// classes are wanted, or `None` for all.
    #[new]
    #[pyo3(signature = (
        streams, *, columns=None, labels=true, dictionary=false, time=None, added=Vec::new(),
        batch_size
    ))]
    fn new(
        streams: Vec<(Py<DataStream>, u64, Option<Vec<bool>>)>,
        columns: Option<Vec<String>>,
        labels: bool,
        dictionary: bool,
        time: Option<&str>,
        added: Vec<String>,
        batch_size: usize,
    ) -> PyResult<Self> {
        let time = time.map(time_type).transpose()?;
        let input = |(stream, id, classes): (Py<DataStream>, u64, Option<Vec<bool>>)| StreamInput {
            stream: Arc::clone(&stream.get().inner),
            id,
            classes,
        };
        let inputs: Vec<StreamInput> = streams.into_iter().map(input).collect();
        let class = Arc::new(place_class());
        let is_there = |name: &String| inputs.iter().any(|input| has_places(input, name));
        let added = added.into_iter().filter(is_there);
        let added = added.map(|name| AddedField { name, class: Arc::clone(&class) }).collect();
        let options = Options { columns, labels, dictionary, time, added };
        let layout = Layout::new(inputs, &options)
            .map_err(|unknown| PyKeyError::new_err((unknown.name, unknown.known)))?;
        let fitting = BATCH_BYTES / layout.row_bytes();
        let fitting = usize::try_from(fitting).unwrap_or(usize::MAX).max(FEWEST_ROWS);
        Ok(Self { inner: Arc::new(layout), batch_rows: batch_size.clamp(1, fitting) })
    }

    #[doc = core_doc!(ColumnLayout.names)]
    #[getter]
    fn names(&self) -> Vec<String> {
        self.inner.columns.iter().map(|column| column.name.clone()).collect()
    }

    #[doc = core_doc!(ColumnLayout.schema)]
    fn schema<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = ArrowSchema::of_batches(&self.inner.columns);
        PyCapsule::new(py, schema, Some(CString::from(c"arrow_schema")))
    }

    #[doc = core_doc!(ColumnLayout.stream)]
    fn stream<'py>(
        &self,
        merges: &Bound<'py, PyAny>,
        on_error: Py<PyAny>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let layout = Arc::clone(&self.inner);
        let batches = Batches::new(layout, merges, self.batch_rows, on_error)?;
        let stream = ArrowArrayStream::new(batches);
        PyCapsule::new(merges.py(), stream, Some(CString::from(c"arrow_array_stream")))
    }

    #[doc = core_doc!(ColumnLayout.drain)]
    fn drain(&self, merges: &Bound<'_, PyAny>) -> PyResult<usize> {
        let layout = Arc::clone(&self.inner);
        let rows = |_: &Layout, decoded: Decoded| decoded.batch.rows;
        let mut pipeline = Pipeline::new(layout, merges, self.batch_rows, rows)?;
        let mut sum = 0;
        while let Some(rows) = pipeline.next(merges.py())? {
            sum += rows;
        }
        Ok(sum)
    }

    #[doc = core_doc!(ColumnLayout.write_text)]
    fn write_text(
        &self,
        merges: &Bound<'_, PyAny>,
        form: &str,
        descriptor: i32,
    ) -> PyResult<usize> {
        let py = merges.py();
        let format = match form {
            "jsonl" => RowFormat::JsonLines,
            "csv" => RowFormat::Csv,
            _ => return Err(PyValueError::new_err(format!("unknown format of rows: {form}"))),
        };
        if format == RowFormat::Csv {
            write_all(py, descriptor, &csv_header(&self.inner))?;
        }
        let finish = move |layout: &Layout, decoded: Decoded| {
            (decoded.batch.rows, RowWriter::new(layout, &decoded, format).text())
        };
        let layout = Arc::clone(&self.inner);
        let mut pipeline = Pipeline::new(layout, merges, self.batch_rows, finish)?;
        let mut sum = 0;
        while let Some((rows, text)) = pipeline.next(py)? {
            write_all(py, descriptor, &text)?;
            sum += rows;
        }
        Ok(sum)
    }
}

/// Whether a filter that finds source places adds them under a name.
fn has_places(input: &StreamInput, name: &str) -> bool {
    let class = input.stream.trace.stream_classes.get(input.stream.class);
    class.is_some_and(|class| places::has_places(&input.stream.trace, class, name))
}

fn write_all(py: Python<'_>, descriptor: i32, text: &[u8]) -> PyResult<u64> {
    py.detach(|| crate::text::write_all(descriptor, text))
}

fn time_type(word: &str) -> PyResult<TimeType> {
    match word {
        "timestamp" => Ok(TimeType::Timestamp),
        "duration" => Ok(TimeType::Duration),
        "integer" => Ok(TimeType::Integer),
        _ => Err(PyValueError::new_err(format!("unknown type of times: {word}"))),
    }
}
