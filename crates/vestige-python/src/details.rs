//! `DetailsRenderer`: all that merges hold as text, written to a file descriptor.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use vestige_ctf::details::{Options, Palette, Renderer, StreamFacts};
use vestige_ctf::CtfError;

use crate::errors::trace_format_error;
use crate::merge::Merge;
use crate::text::{flag, write_all};

#[doc = core_doc!(DetailsRenderer)]
#[pyclass(frozen, module = "vestige._core")]
pub struct DetailsRenderer {
    inner: Mutex<Renderer>,
    describe: Py<PyAny>,
}

/// ID, name, name of the trace, its data streams, and which clocks count from the epoch.
type Described = (u64, Option<String>, Option<String>, Vec<(u64, u64)>, Vec<bool>);

#[pymethods]
impl DetailsRenderer {
    /// `options` holds truth values by name; `describe` tells about the object that represents
    /// a data stream.
    #[new]
    fn new(options: &Bound<'_, PyDict>, describe: Py<PyAny>) -> PyResult<Self> {
        let get = |name: &str| flag(options, name);
        let palette = match get("color")? {
            true => Palette::colored(get("bright_is_bold")?),
            false => Palette::default(),
        };
        let options = Options {
            data: get("data")?,
            metadata: get("metadata")?,
            compact: get("compact")?,
            time: get("time")?,
            trace_name: get("trace_name")?,
            stream_class_name: get("stream_class_name")?,
            stream_name: get("stream_name")?,
            uuid: get("uuid")?,
            palette,
        };
        Ok(Self { inner: Mutex::new(Renderer::new(options)), describe })
    }

    #[doc = core_doc!(DetailsRenderer.write)]
    fn write(&self, py: Python<'_>, merge: &Merge, descriptor: i32) -> PyResult<u64> {
        let mut written = 0;
        self.render_to(py, merge, &mut |piece| {
            written += write_all(descriptor, piece)?;
            Ok(())
        })?;
        Ok(written)
    }

    #[doc = core_doc!(DetailsRenderer.render)]
    fn render<'py>(&self, py: Python<'py>, merge: &Merge) -> PyResult<Bound<'py, PyBytes>> {
        let mut text = Vec::new();
        self.render_to(py, merge, &mut |piece| {
            text.extend_from_slice(piece);
            Ok(())
        })?;
        Ok(PyBytes::new(py, &text))
    }
}

impl DetailsRenderer {
    fn render_to(
        &self,
        py: Python<'_>,
        merge: &Merge,
        write: &mut (dyn FnMut(&[u8]) -> PyResult<()> + Send),
    ) -> PyResult<()> {
        let derived: Vec<Arc<_>> = merge.derived().into_iter().map(|one| one.values).collect();
        let mut failed: Option<PyErr> = None;
        let mut unwritten: Option<PyErr> = None;
        let rendered: Result<(), (usize, CtfError)> =
            py.detach(|| {
                let Ok(mut renderer) = self.inner.lock() else { return Ok(()) };
                let mut describe = |rank: usize| {
                    self.facts(merge, rank).unwrap_or_else(|error| {
                        failed.get_or_insert(error);
                        StreamFacts::default()
                    })
                };
                renderer.render(&merge.inner, &derived, &mut describe, &mut |piece| match write(
                    piece,
                ) {
                    Ok(()) => true,
                    Err(error) => {
                        unwritten = Some(error);
                        false
                    }
                })
            });
        if let Some(error) = failed.or(unwritten) {
            return Err(error);
        }
        rendered.map_err(|(batch, error)| trace_format_error(py, &error, merge.path(batch)))
    }

    fn facts(&self, merge: &Merge, rank: usize) -> PyResult<StreamFacts> {
        Python::attach(|py| {
            let owner = merge.owners.bind(py).get_item(rank)?;
            let (id, name, trace_name, trace_streams, epoch_clocks): Described =
                self.describe.bind(py).call1((owner,))?.extract()?;
            Ok(StreamFacts { id, name, trace_name, trace_streams, epoch_clocks })
        })
    }
}
