//! `PlaceFormat`: how the places in one mapped object are written.

use std::sync::Arc;

use pyo3::prelude::*;
use vestige_symbols::{Frame, FunctionPlace, Location, Lookup};

/// A row of `SymbolTable.lookup`.
type Row = (
    Option<String>,
    i64,
    Option<String>,
    Option<String>,
    Option<u32>,
    Option<u32>,
    Vec<(Option<String>, Option<String>, Option<u32>, Option<String>)>,
    String,
    Option<String>,
    Option<String>,
);

#[doc = core_doc!(PlaceFormat)]
#[pyclass(frozen, module = "vestige._core")]
pub struct PlaceFormat {
    pub(crate) inner: vestige_symbols::PlaceFormat,
}

#[pymethods]
impl PlaceFormat {
    #[new]
    #[pyo3(signature = (name, *, base, shift, mask, full_path, demangle, helpers))]
    fn new(
        name: String,
        base: Option<u64>,
        shift: u64,
        mask: u64,
        full_path: bool,
        demangle: bool,
        helpers: Vec<String>,
    ) -> Self {
        let inner =
            vestige_symbols::PlaceFormat { name, base, shift, mask, full_path, demangle, helpers };
        Self { inner }
    }

    #[doc = core_doc!(PlaceFormat.texts)]
    #[pyo3(signature = (address, row=None))]
    fn texts(&self, address: u64, row: Option<Row>) -> [String; 3] {
        self.inner.texts(address, row.map(lookup).as_ref())
    }
}

fn lookup(row: Row) -> Lookup {
    let (function, offset, directory, file, line, column, frames, _, _, linkage) = row;
    let text = |text: Option<String>| text.map(Arc::<str>::from);
    let frame = |(function, path, line, linkage)| Frame {
        function: text(function),
        linkage_name: text(linkage),
        path: text(path),
        line,
    };
    Lookup {
        function: function.map(|name| FunctionPlace {
            name: name.into(),
            linkage_name: text(linkage),
            entry: 0,
            offset,
        }),
        location: file.map(|file| Location {
            directory: directory.unwrap_or_default().into(),
            file: file.into(),
            line: line.unwrap_or_default(),
            column,
        }),
        frames: frames.into_iter().map(frame).collect(),
        source: None,
        reason: None,
    }
}
