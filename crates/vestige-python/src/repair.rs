//! `Repair`: writing what is left of a damaged data stream.

use std::fs::OpenOptions;
use std::io::{BufWriter, Write};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use vestige_ctf::repair;

use crate::stream::DataStream;

/// How many bytes are handled between two calls of a progress function.
const STEP: u64 = 8 * 1024 * 1024;

#[doc = core_doc!(Repair)]
#[pyclass(frozen, module = "vestige._core")]
pub struct Repair {
    inner: Mutex<repair::Repair>,
}

#[pymethods]
impl Repair {
    #[new]
    fn new(stream: &DataStream) -> Self {
        Self { inner: Mutex::new(repair::Repair::new(Arc::clone(&stream.inner))) }
    }

    #[doc = core_doc!(Repair.read)]
    fn read(&self, py: Python<'_>) -> Option<u64> {
        py.detach(|| {
            let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let mut total = None;
            while let Some(bytes) = inner.read() {
                let sum = total.unwrap_or(0) + bytes;
                total = Some(sum);
                if sum >= STEP {
                    break;
                }
            }
            total
        })
    }

    #[doc = core_doc!(Repair.write)]
    fn write(
        &self,
        py: Python<'_>,
        file: usize,
        path: &str,
        progress: &Bound<'_, PyAny>,
    ) -> PyResult<(u64, u64, u64, u64, u64)> {
        let progress = progress.clone().unbind();
        py.detach(|| {
            let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
            let output = OpenOptions::new().write(true).create_new(true).open(path)?;
            let mut output = BufWriter::new(output);
            let mut pending = 0;
            let mut failed = None;
            let mut tell = |bytes| {
                pending += bytes;
                if pending >= STEP && failed.is_none() {
                    failed = Python::attach(|py| progress.call1(py, (pending,)).err());
                    pending = 0;
                }
            };
            let written = inner.write(file, &mut output, &mut tell)?;
            output.flush()?;
            match failed {
                Some(error) => Err(error),
                None => {
                    let repair::Written { intact, mended, cut, dropped, bytes, .. } = written;
                    Ok((intact, mended, cut, dropped, bytes))
                }
            }
        })
    }
}
