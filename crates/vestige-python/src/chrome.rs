//! `ChromeCalls`: calls as rows of Chrome's trace viewer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use vestige_ctf::viewers::chrome::{self, FunctionTexts};

use crate::calls::CallFold;

/// The name of a function, and source file and line, as texts of JSON.
type Texts = (String, Option<String>);

#[doc = core_doc!(ChromeCalls)]
#[pyclass(frozen, module = "vestige._core")]
pub struct ChromeCalls {
    inner: Mutex<chrome::ChromeCalls>,
}

impl ChromeCalls {
    fn lock(&self) -> MutexGuard<'_, chrome::ChromeCalls> {
        // A panic cannot leave rows half-written in a way that matters.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn texts((name, source): Texts) -> FunctionTexts {
    FunctionTexts { name, source }
}

#[pymethods]
impl ChromeCalls {
    #[new]
    fn new(others: Texts) -> Self {
        Self { inner: Mutex::new(chrome::ChromeCalls::new(texts(others))) }
    }

    #[doc = core_doc!(ChromeCalls.add_calls)]
    fn add_calls(&self, py: Python<'_>, fold: &CallFold) -> Vec<u32> {
        py.detach(|| self.lock().add_calls(&mut fold.lock()))
    }

    #[doc = core_doc!(ChromeCalls.name_thread)]
    fn name_thread(&self, index: u32, process: i64, thread: i64) {
        self.lock().name_thread(index, (process, thread));
    }

    #[doc = core_doc!(ChromeCalls.name_functions)]
    fn name_functions(&self, names: Vec<Texts>) {
        self.lock().name_functions(names.into_iter().map(texts));
    }

    #[doc = core_doc!(ChromeCalls.take_rows)]
    fn take_rows(&self, py: Python<'_>, origin: i64) -> String {
        py.detach(|| self.lock().take_rows(origin))
    }
}
