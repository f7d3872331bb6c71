//! `TextRenderer`: merges as text, written to a file descriptor.

use std::fs::File;
use std::io::{ErrorKind, Write};
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use vestige_ctf::calls::Mark;
use vestige_ctf::derived::Derived;
use vestige_ctf::text::{
    ClockFormat, HeaderFields, Names, OffsetSource, Options, Palette, Renderer, ShortOptions,
    ShortRenderer, Style,
};
use vestige_ctf::CtfError;

use crate::errors::{os_error, trace_format_error};
use crate::merge::Merge;

#[doc = core_doc!(TextRenderer)]
#[pyclass(frozen, module = "vestige._core")]
pub struct TextRenderer {
    inner: Mutex<Layout>,
}

enum Layout {
    Pretty(Box<Renderer>),
    Short(Box<ShortRenderer>),
}

impl Layout {
    fn push_time(&mut self, out: &mut Vec<u8>, nanoseconds: i64) {
        match self {
            Self::Pretty(renderer) => renderer.push_time(out, nanoseconds),
            Self::Short(renderer) => renderer.push_time(out, nanoseconds),
        }
    }

    fn render(
        &mut self,
        merge: &vestige_ctf::muxer::Merge,
        runs: std::ops::Range<usize>,
        first: usize,
        (derived, marks): (&[Arc<Derived>], Option<&[Mark]>),
        write: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Rendered {
        match self {
            Self::Pretty(renderer) => renderer.render(merge, runs, first, derived, write),
            Self::Short(renderer) => renderer.render(merge, runs, first, (derived, marks), write),
        }
    }
}

pub fn flag(options: &Bound<'_, PyDict>, name: &str) -> PyResult<bool> {
    match options.get_item(name)? {
        Some(value) => value.extract(),
        None => Ok(false),
    }
}

fn read_options(options: &Bound<'_, PyDict>) -> PyResult<Options> {
    let get = |name: &str| flag(options, name);
    let clock = read_clock(options)?;
    let palette =
        if get("color")? { Palette::colored(get("bright_is_bold")?) } else { Palette::default() };
    Ok(Options {
        clock,
        fields: HeaderFields {
            trace: get("field_trace")?,
            hostname: get("field_hostname")?,
            domain: get("field_domain")?,
            procname: get("field_procname")?,
            vpid: get("field_vpid")?,
            log_level: get("field_loglevel")?,
            emf: get("field_emf")?,
        },
        names: Names {
            payload: get("name_payload")?,
            context: get("name_context")?,
            header: get("name_header")?,
            scope: get("name_scope")?,
        },
        palette,
        style: Style { short: false, safe: get("safe")? },
        symbols: None,
    })
}

fn read_clock(options: &Bound<'_, PyDict>) -> PyResult<ClockFormat> {
    let get = |name: &str| flag(options, name);
    Ok(ClockFormat {
        cycles: get("clock_cycles")?,
        date: get("clock_date")?,
        utc: get("clock_gmt")?,
        seconds: get("clock_seconds")?,
        delta: get("delta")?,
    })
}

fn read_short_options(options: &Bound<'_, PyDict>) -> PyResult<ShortOptions> {
    let width = options.get_item("width")?.map(|width| width.extract()).transpose()?;
    let labels = options.get_item("labels")?.map(|labels| labels.extract()).transpose()?;
    Ok(ShortOptions {
        clock: read_clock(options)?,
        width: width.flatten(),
        color: flag(options, "color")?,
        ascii: flag(options, "ascii")?,
        labels: labels.unwrap_or_default(),
        indent: flag(options, "indent")?,
        symbols: flag(options, "symbols")?,
    })
}

fn offset_source(zone_offset: Py<PyAny>) -> OffsetSource {
    Arc::new(move |second: i64| {
        Python::attach(|py| {
            let offset = zone_offset.bind(py).call1((second,)).and_then(|o| o.extract::<i32>());
            // A time that the C library cannot convert is shown as UTC.
            offset.unwrap_or(0)
        })
    })
}

#[pymethods]
impl TextRenderer {
    /// `options` holds truth values by name; `zone_offset` gives the offset of local time
    /// from UTC in seconds at a time in seconds since the epoch.
    #[new]
    fn new(options: &Bound<'_, PyDict>, zone_offset: Py<PyAny>) -> PyResult<Self> {
        let renderer = Renderer::new(read_options(options)?, offset_source(zone_offset));
        Ok(Self { inner: Mutex::new(Layout::Pretty(Box::new(renderer))) })
    }

    #[doc = core_doc!(TextRenderer.short)]
    #[staticmethod]
    fn short(options: &Bound<'_, PyDict>, zone_offset: Py<PyAny>) -> PyResult<Self> {
        let offset = offset_source(zone_offset);
        let renderer = ShortRenderer::new(read_short_options(options)?, offset);
        Ok(Self { inner: Mutex::new(Layout::Short(Box::new(renderer))) })
    }

    #[doc = core_doc!(TextRenderer.write)]
    fn write(
        &self,
        py: Python<'_>,
        merge: &Merge,
        runs: (usize, usize),
        descriptor: i32,
    ) -> PyResult<u64> {
        let mut written: PyResult<u64> = Ok(0);
        let rendered = py.detach(|| {
            self.render_runs(merge, runs, &mut |piece| {
                let so_far = written.as_ref().copied().unwrap_or(0);
                written = write_all(descriptor, piece).map(|count| so_far + count);
                written.is_ok()
            })
        });
        let written = written?;
        match rendered {
            Ok(()) => Ok(written),
            Err((batch, error)) => Err(trace_format_error(py, &error, merge.path(batch))),
        }
    }

    #[doc = core_doc!(TextRenderer.render)]
    fn render<'py>(&self, py: Python<'py>, merge: &Merge) -> PyResult<Bound<'py, PyBytes>> {
        let runs = (0, merge.inner.runs.len());
        let mut text = Vec::new();
        let rendered = py.detach(|| {
            self.render_runs(merge, runs, &mut |piece| {
                text.extend_from_slice(piece);
                true
            })
        });
        match rendered {
            Ok(()) => Ok(PyBytes::new(py, &text)),
            Err((batch, error)) => Err(trace_format_error(py, &error, merge.path(batch))),
        }
    }

    #[doc = core_doc!(TextRenderer.time)]
    fn time(&self, py: Python<'_>, nanoseconds: i64) -> String {
        let mut out = Vec::new();
        py.detach(|| {
            if let Ok(mut renderer) = self.inner.lock() {
                renderer.push_time(&mut out, nanoseconds);
            }
        });
        String::from_utf8_lossy(&out).into_owned()
    }
}

type Rendered = Result<(), (usize, CtfError)>;

impl TextRenderer {
    fn render_runs(
        &self,
        merge: &Merge,
        runs: (usize, usize),
        write: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Rendered {
        let before = merge.inner.runs.get(..runs.0).unwrap_or_default();
        let first = before.iter().map(|run| (run.end - run.start) as usize).sum();
        let derived: Vec<_> = merge.derived().into_iter().map(|one| one.values).collect();
        let marks = merge.marks();
        let added = (derived.as_slice(), marks.as_deref());
        match self.inner.lock() {
            Ok(mut renderer) => renderer.render(&merge.inner, runs.0..runs.1, first, added, write),
            Err(_) => Ok(()),
        }
    }
}

/// Writes to a descriptor that stays open. A signal in between is Python's to handle, so
/// that Ctrl-C works while nobody reads the other end of a pipe.
#[allow(unsafe_code)]
pub fn write_all(descriptor: i32, text: &[u8]) -> PyResult<u64> {
    // SAFETY: the caller owns the open descriptor for the length of this call, and
    // ManuallyDrop keeps it from being closed here.
    let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    let mut written = 0;
    let mut rest = text;
    while !rest.is_empty() {
        match file.write(rest) {
            Ok(count) => {
                written += count as u64;
                rest = rest.get(count..).unwrap_or_default();
                if !rest.is_empty() {
                    // A signal ends a write early once it has written something.
                    Python::attach(|py| py.check_signals())?;
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {
                Python::attach(|py| py.check_signals())?;
            }
            Err(error) => return Err(os_error(&error)),
        }
    }
    Ok(written)
}
