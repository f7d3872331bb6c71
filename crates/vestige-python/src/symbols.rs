//! Symbol tables: conversions between `vestige_symbols` and Python.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use vestige_symbols::{SplitFiles, SymbolError, SymbolFiles};

use crate::answer_writer::{AnswerWriter, Answers};
use crate::lookup_rows::{rows, LookupRow};
use crate::object_file::{symbol_error, ObjectFile};
use crate::split_files::FilesById;
use crate::unit_index::UnitIndex;

#[doc = core_doc!(SymbolTable)]
#[pyclass(frozen, module = "vestige._core")]
pub struct SymbolTable {
    pub(crate) inner: vestige_symbols::SymbolTable,
}

#[pymethods]
impl SymbolTable {
    /// Combine the debug information of the first file that has any with the symbols of both.
    #[new]
    #[pyo3(signature = (debug, main=None, *, supplement=None, mini=None, package=None, split=None))]
    fn new(
        py: Python<'_>,
        debug: &ObjectFile,
        main: Option<&ObjectFile>,
        supplement: Option<&ObjectFile>,
        mini: Option<&ObjectFile>,
        package: Option<&ObjectFile>,
        split: Option<Vec<(u64, PathBuf)>>,
    ) -> PyResult<Self> {
        fn inner(object: Option<&ObjectFile>) -> Option<&vestige_symbols::ObjectFile> {
            object.map(|object| &object.inner)
        }
        let files = SymbolFiles {
            debug: &debug.inner,
            main: inner(main),
            supplement: inner(supplement),
            mini: inner(mini),
            package: inner(package),
        };
        let split = split
            .filter(|files| !files.is_empty())
            .map(|files| Arc::new(FilesById::new(files)) as Arc<dyn SplitFiles>);
        let built = py.detach(|| vestige_symbols::SymbolTable::of_files(files, split));
        let inner = built.map_err(|error| symbol_error(py, &error.into(), &debug.path))?;
        Ok(Self { inner })
    }

    #[doc = core_doc!(SymbolTable.problems)]
    #[getter]
    fn problems(&self) -> Vec<String> {
        self.inner.problems()
    }

    #[doc = core_doc!(SymbolTable.dwarf_problem)]
    #[getter]
    fn dwarf_problem(&self) -> Option<String> {
        self.inner.dwarf_problem().map(SymbolError::to_string)
    }

    #[doc = core_doc!(SymbolTable.lookup)]
    fn lookup<'py>(&self, py: Python<'py>, addresses: Vec<u64>) -> Vec<LookupRow<'py>> {
        let found = py.detach(|| self.inner.lookup_many(&addresses));
        rows(py, &found)
    }

    #[doc = core_doc!(SymbolTable.answer)]
    fn answer<'py>(&self, py: Python<'py>, text: &[u8], writer: &AnswerWriter) -> Answers<'py> {
        writer.answer(py, &self.inner, text)
    }

    #[doc = core_doc!(SymbolTable.use_index)]
    fn use_index(&self, index: &UnitIndex) {
        if let Some(index) = &index.inner {
            self.inner.use_index(Arc::clone(index));
        }
    }

    #[doc = core_doc!(SymbolTable.take_index_part)]
    fn take_index_part<'py>(&self, py: Python<'py>, key: Vec<u8>) -> Option<Bound<'py, PyBytes>> {
        let part = py.detach(|| self.inner.take_index_part(&key));
        part.map(|part| PyBytes::new(py, &part))
    }
}

#[doc = core_doc!(demangle)]
#[pyfunction]
pub fn demangle(name: &str) -> Option<String> {
    vestige_symbols::demangle(name)
}
