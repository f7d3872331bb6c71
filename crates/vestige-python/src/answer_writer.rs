//! `AnswerWriter`: lines of addresses in, text of their answers out.

use std::borrow::Cow;
use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use vestige_symbols::{Addr2lineStyle, AnswerStyle, Shown, ShownFrame, Subject};

/// Function, file, line and linkage name of a frame.
type FrameTexts = (Option<String>, Option<String>, Option<u32>, Option<String>);

/// The text of answers, and the numbers of the lines that hold no address.
pub(crate) type Answers<'py> = (Bound<'py, PyBytes>, Vec<usize>);

#[doc = core_doc!(AnswerWriter)]
#[pyclass(frozen, module = "vestige._core")]
pub struct AnswerWriter {
    pub(crate) inner: vestige_symbols::AnswerWriter,
}

#[pymethods]
impl AnswerWriter {
    /// Take the form, and what answers say of the object.
    ///
    /// `addr2line` has the options functions, inlines, addresses, base names, demangle and
    /// pretty; `people` whether to demangle and to give reasons. Without both it is JSON.
    #[new]
    #[pyo3(signature = (*, bits, name, json, reasons, addr2line=None, people=None))]
    fn new(
        bits: u8,
        name: Vec<u8>,
        json: [String; 3],
        reasons: HashMap<String, String>,
        addr2line: Option<[bool; 6]>,
        people: Option<[bool; 2]>,
    ) -> Self {
        let style = match (addr2line, people) {
            (Some([functions, inlines, addresses, base_names, demangle, pretty]), _) => {
                AnswerStyle::Addr2line(Addr2lineStyle {
                    functions,
                    inlines,
                    addresses,
                    base_names,
                    demangle,
                    pretty,
                })
            }
            (None, Some([demangle, verbose])) => AnswerStyle::People { demangle, verbose },
            (None, None) => AnswerStyle::Json,
        };
        let subject = Subject { bits, name, json, reasons };
        Self { inner: vestige_symbols::AnswerWriter { style, subject } }
    }

    #[doc = core_doc!(AnswerWriter.write)]
    #[pyo3(signature = (address, *, has_object, function=None, frames=Vec::new(), column=None, reason=None))]
    #[allow(clippy::too_many_arguments)] // what there is to say of an address
    fn write<'py>(
        &self,
        py: Python<'py>,
        address: Option<u64>,
        has_object: bool,
        function: Option<(String, i64)>,
        frames: Vec<FrameTexts>,
        column: Option<u32>,
        reason: Option<String>,
    ) -> Bound<'py, PyBytes> {
        let answer = Shown {
            address,
            has_object,
            function: function.as_ref().map(|(name, offset)| (name.as_str(), *offset)),
            frames: frames.iter().map(shown_frame).collect(),
            column,
            reason: reason.as_deref(),
        };
        let mut text = Vec::new();
        self.inner.write(&answer, &mut text);
        PyBytes::new(py, &text)
    }
}

fn shown_frame((function, file, line, linkage): &FrameTexts) -> ShownFrame<'_> {
    ShownFrame {
        function: function.as_deref(),
        linkage: linkage.as_deref(),
        file: file.as_deref().map(Cow::Borrowed),
        line: *line,
    }
}

impl AnswerWriter {
    pub(crate) fn answer<'py>(
        &self,
        py: Python<'py>,
        table: &vestige_symbols::SymbolTable,
        text: &[u8],
    ) -> Answers<'py> {
        let (answers, bad) = py.detach(|| self.inner.answer(table, text));
        (PyBytes::new(py, &answers), bad)
    }
}
