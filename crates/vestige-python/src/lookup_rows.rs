//! Answers of lookups as Python sees them.

use std::collections::HashMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use vestige_symbols::{Frame, Lookup, Source, Unresolved};

/// Function, path, line and linkage name of one level of inlined calls.
pub(crate) type FrameRow<'py> = (Text<'py>, Text<'py>, Option<u32>, Text<'py>);

/// One answer: function, offset, directory, file, line, column, frames, source, reason,
/// linkage name.
pub(crate) type LookupRow<'py> = (
    Text<'py>,
    i64,
    Text<'py>,
    Text<'py>,
    Option<u32>,
    Option<u32>,
    Vec<FrameRow<'py>>,
    &'static str,
    Option<&'static str>,
    Text<'py>,
);

pub(crate) type Text<'py> = Option<Bound<'py, PyString>>;

/// Python strings by the text they were made of: answers share most of theirs.
struct Strings<'py> {
    py: Python<'py>,
    known: HashMap<*const u8, Bound<'py, PyString>>,
}

impl<'py> Strings<'py> {
    /// The text, which must live as long as this object, as a Python string.
    fn get(&mut self, text: Option<&Arc<str>>) -> Text<'py> {
        let text = text?;
        let make = || PyString::new(self.py, text);
        Some(self.known.entry(text.as_ptr()).or_insert_with(make).clone())
    }
}

/// Answers in the form of Python's tuples.
pub(crate) fn rows<'py>(py: Python<'py>, found: &[Lookup]) -> Vec<LookupRow<'py>> {
    let mut strings = Strings { py, known: HashMap::new() };
    found.iter().map(|one| row(one, &mut strings)).collect()
}

fn row<'py>(found: &Lookup, strings: &mut Strings<'py>) -> LookupRow<'py> {
    let function = found.function.as_ref();
    let location = found.location.as_ref();
    (
        strings.get(function.map(|place| &place.name)),
        function.map_or(0, |place| place.offset),
        strings.get(location.map(|location| &location.directory)),
        strings.get(location.map(|location| &location.file)),
        location.map(|location| location.line),
        location.and_then(|location| location.column),
        found.frames.iter().map(|frame| frame_row(frame, strings)).collect(),
        found.source.map_or("none", Source::as_str),
        found.reason.map(Unresolved::as_str),
        strings.get(function.and_then(|place| place.linkage_name.as_ref())),
    )
}

fn frame_row<'py>(frame: &Frame, strings: &mut Strings<'py>) -> FrameRow<'py> {
    (
        strings.get(frame.function.as_ref()),
        strings.get(frame.path.as_ref()),
        frame.line,
        strings.get(frame.linkage_name.as_ref()),
    )
}
