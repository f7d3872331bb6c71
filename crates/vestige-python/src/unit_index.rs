//! Indexes of debug information: lookups without reading it again.
//!
//! Where index files are and when they are written is decided in `vestige.debuginfo`.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use vestige_symbols::ReadAt;

use crate::answer_writer::{AnswerWriter, Answers};
use crate::lookup_rows::{rows, LookupRow};
use crate::object_file::{symbol_error, ObjectFile};
use crate::source::FileSource;

#[doc = core_doc!(UnitIndex)]
#[pyclass(frozen, module = "vestige._core")]
pub struct UnitIndex {
    paths: Vec<String>,
    useless: Vec<usize>,
    pub(crate) inner: Option<Arc<vestige_symbols::UnitIndex>>,
}

#[pymethods]
impl UnitIndex {
    /// Open the parts at these paths that were made for `key`.
    #[new]
    fn new(py: Python<'_>, paths: Vec<String>, key: Vec<u8>) -> Self {
        py.detach(|| {
            let opened = paths.into_iter().filter_map(|path| {
                // One that was removed meanwhile is as good as none.
                let source = FileSource::open(&path).ok()?;
                Some((path, Box::new(source) as Box<dyn ReadAt>))
            });
            let (paths, sources): (Vec<_>, Vec<_>) = opened.unzip();
            let (inner, useless) = vestige_symbols::UnitIndex::open(sources, &key);
            Self { paths, useless, inner: inner.map(Arc::new) }
        })
    }

    #[doc = core_doc!(UnitIndex.is_empty)]
    #[getter]
    fn is_empty(&self) -> bool {
        self.inner.is_none()
    }

    #[doc = core_doc!(UnitIndex.useless)]
    #[getter]
    fn useless(&self) -> Vec<&str> {
        let damaged = self.inner.as_ref().map(|index| index.damaged()).unwrap_or_default();
        let numbers = self.useless.iter().copied().chain(damaged);
        numbers.filter_map(|number| self.paths.get(number)).map(String::as_str).collect()
    }

    #[doc = core_doc!(UnitIndex.merged)]
    fn merged<'py>(&self, py: Python<'py>, key: Vec<u8>) -> Option<Bound<'py, PyBytes>> {
        let index = self.inner.as_ref()?;
        let part = py.detach(|| index.merged(&key));
        part.map(|part| PyBytes::new(py, &part))
    }
}

#[doc = core_doc!(IndexedTable)]
#[pyclass(frozen, module = "vestige._core")]
pub struct IndexedTable {
    pub(crate) index: Arc<vestige_symbols::UnitIndex>,
    pub(crate) inner: vestige_symbols::SymbolTable,
}

#[pymethods]
impl IndexedTable {
    /// Combine an index that is not empty with the symbols of both files.
    #[new]
    #[pyo3(signature = (index, debug, main=None))]
    fn new(
        py: Python<'_>,
        index: &UnitIndex,
        debug: &ObjectFile,
        main: Option<&ObjectFile>,
    ) -> PyResult<Self> {
        let inner = index.inner.as_ref().map(Arc::clone);
        let index = inner.ok_or_else(|| {
            pyo3::exceptions::PyValueError::new_err("the index is empty, so it has no lookups")
        })?;
        let main = main.map(|main| &main.inner);
        let make =
            || vestige_symbols::SymbolTable::with_index(&debug.inner, main, Arc::clone(&index));
        let inner =
            py.detach(make).map_err(|error| symbol_error(py, &error.into(), &debug.path))?;
        Ok(Self { index, inner })
    }

    #[doc = core_doc!(IndexedTable.lookup)]
    fn lookup<'py>(&self, py: Python<'py>, addresses: Vec<u64>) -> Option<Vec<LookupRow<'py>>> {
        let found = py.detach(|| self.inner.lookup_many(&addresses));
        (!self.index.lacks_unit()).then(|| rows(py, &found))
    }

    #[doc = core_doc!(IndexedTable.answer)]
    fn answer<'py>(
        &self,
        py: Python<'py>,
        text: &[u8],
        writer: &AnswerWriter,
    ) -> Option<Answers<'py>> {
        let answers = writer.answer(py, &self.inner, text);
        (!self.index.lacks_unit()).then_some(answers)
    }
}
