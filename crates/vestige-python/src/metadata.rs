//! `TraceClass`: parsed metadata, and its description for the Python model.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use vestige_ctf::kernel_symbols::{KernelFunction, KernelModule, KernelSection, KernelSymbols};
use vestige_ctf::model::{
    ClockClass, ClockOrigin, EnvironmentValue, EventClass, FieldClass, Identity, StreamClass,
};
use vestige_ctf::{metadata, model};

use crate::errors::{exception, trace_format_error};
use crate::field_class::field;

/// Most seconds from the origin whose nanoseconds fit 64 bits.
const LARGEST_OFFSET: u64 = i64::MAX as u64 / 1_000_000_000;

/// What is wrong with metadata, its byte offset as the error tells it, and where its line is.
type PartialError = (String, Option<u64>, Option<u64>);

#[doc = core_doc!(TraceClass)]
#[pyclass(frozen, module = "vestige._core")]
pub struct TraceClass {
    pub inner: Arc<model::TraceClass>,
}

#[pymethods]
impl TraceClass {
    #[doc = core_doc!(TraceClass.parse)]
    #[staticmethod]
    #[pyo3(signature = (metadata, *, path=None))]
    fn parse(py: Python<'_>, metadata: &[u8], path: Option<&str>) -> PyResult<Self> {
        let parsed = py.detach(|| vestige_ctf::metadata::parse(metadata));
        match parsed {
            Ok(trace) => Ok(Self { inner: Arc::new(trace) }),
            Err(error) => Err(trace_format_error(py, &error, path)),
        }
    }

    #[doc = core_doc!(TraceClass.has_places)]
    fn has_places(&self, stream_class: usize, name: &str) -> bool {
        let class = self.inner.stream_classes.get(stream_class);
        class.is_some_and(|class| vestige_ctf::places::has_places(&self.inner, class, name))
    }

    #[doc = core_doc!(TraceClass.parse_partial)]
    #[staticmethod]
    fn parse_partial(py: Python<'_>, metadata: &[u8]) -> (Option<Self>, Option<PartialError>) {
        let (trace, error) = py.detach(|| metadata::parse_partial(metadata));
        let trace = trace.map(|trace| Self { inner: Arc::new(trace) });
        let error = error.map(|error| {
            let line = error.line.and_then(|line| metadata::line_offset(metadata, line));
            (error.to_string(), error.offset, error.offset.or(line))
        });
        (trace, error)
    }

    #[doc = core_doc!(TraceClass.usable_metadata)]
    #[staticmethod]
    fn usable_metadata<'py>(py: Python<'py>, metadata: &[u8]) -> Option<Bound<'py, PyBytes>> {
        let usable = py.detach(|| metadata::usable(metadata));
        usable.map(|bytes| PyBytes::new(py, &bytes))
    }

    #[doc = core_doc!(TraceClass.with_clock_offset)]
    fn with_clock_offset(&self, py: Python<'_>, seconds: i64, nanoseconds: i64) -> PyResult<Self> {
        let mut trace = model::TraceClass::clone(&self.inner);
        for clock in &mut trace.clocks {
            move_clock(clock, seconds, nanoseconds);
            if clock.offset_seconds.unsigned_abs() > LARGEST_OFFSET {
                let message = format!(
                    "the offset moves the clock '{}' out of the 64 bits of its nanoseconds",
                    clock.name
                );
                return Err(exception(py, "SelectionError", &message, None, None));
            }
        }
        Ok(Self { inner: Arc::new(trace) })
    }

    #[doc = core_doc!(TraceClass.uuid)]
    #[getter]
    fn uuid<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.inner.uuid.map(|uuid| PyBytes::new(py, &uuid))
    }

    #[doc = core_doc!(TraceClass.identity)]
    #[getter]
    fn identity<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        if self.inner.version.0 < 2 {
            return self.uuid(py);
        }
        // The UUID of CTF 2 is that of the metadata, which several traces may share.
        let Identity { namespace, name, uid, .. } = &self.inner.identity;
        let uid = uid.as_deref()?;
        let parts = [namespace.as_deref(), name.as_deref(), Some(uid)];
        let joined: Vec<String> =
            parts.map(|part| part.map_or(String::new(), |part| format!("{part}\0"))).to_vec();
        Some(PyBytes::new(py, joined.join("\0").as_bytes()))
    }

    #[doc = core_doc!(TraceClass.environment)]
    #[getter]
    fn environment<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let entries = PyDict::new(py);
        for (name, value) in &self.inner.environment {
            match value {
                EnvironmentValue::Integer(value) => entries.set_item(name, value)?,
                EnvironmentValue::String(value) => entries.set_item(name, value)?,
            }
        }
        Ok(entries)
    }

    #[doc = core_doc!(TraceClass.kernel_functions)]
    fn kernel_functions(&self, py: Python<'_>) -> Vec<(u64, u64, String, String)> {
        let found = py.detach(|| KernelSymbols::of(&self.inner)).unwrap_or_default();
        let of = |one: &KernelFunction| (one.begin, one.size, one.name.clone(), one.module.clone());
        found.functions().iter().map(of).collect()
    }

    #[doc = core_doc!(TraceClass.kernel_modules)]
    fn kernel_modules(&self, py: Python<'_>) -> Vec<(u64, u64, String, Vec<u8>)> {
        let found = py.detach(|| KernelSymbols::of(&self.inner)).unwrap_or_default();
        let of = |one: &KernelModule| (one.begin, one.size, one.name.clone(), one.build_id.clone());
        found.modules().iter().map(of).collect()
    }

    #[doc = core_doc!(TraceClass.kernel_sections)]
    fn kernel_sections(&self, py: Python<'_>) -> Vec<(u64, String, String)> {
        let found = py.detach(|| KernelSymbols::of(&self.inner)).unwrap_or_default();
        let of = |one: &KernelSection| (one.begin, one.name.clone(), one.module.clone());
        found.sections().iter().map(of).collect()
    }

    #[doc = core_doc!(TraceClass.class_count)]
    #[getter]
    fn class_count(&self) -> usize {
        let streams = &self.inner.stream_classes;
        streams.len() + streams.iter().map(|stream| stream.event_classes.len()).sum::<usize>()
    }

    #[doc = core_doc!(TraceClass.describe)]
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let trace = &self.inner;
        let result = PyDict::new(py);
        result.set_item("version", trace.version)?;
        result.set_item("uuid", self.uuid(py))?;
        result.set_item("environment", self.environment(py)?)?;
        result.set_item("packet_header", optional(py, trace.packet_header.as_ref())?)?;
        result.set_item("clocks", list(py, &trace.clocks, clock)?)?;
        result.set_item("streams", list(py, &trace.stream_classes, stream)?)?;
        identity(&result, &trace.identity)?;
        Ok(result)
    }
}

/// Adds an offset; whole seconds are kept apart so that nothing overflows early.
fn move_clock(clock: &mut ClockClass, seconds: i64, nanoseconds: i64) {
    const SECOND: i64 = 1_000_000_000;
    let whole = nanoseconds.div_euclid(SECOND);
    let rest = nanoseconds.rem_euclid(SECOND) as u64;
    let cycles = if clock.frequency == SECOND as u64 {
        rest
    } else {
        (rest as f64 * clock.frequency as f64 / 1e9) as u64
    };
    let total = clock.offset_cycles.saturating_add(cycles);
    clock.offset_cycles = total % clock.frequency;
    clock.offset_seconds = clock
        .offset_seconds
        .wrapping_add(seconds)
        .wrapping_add(whole)
        .wrapping_add_unsigned(total / clock.frequency);
}

type Describe<'py, T> = fn(Python<'py>, &T) -> PyResult<Bound<'py, PyDict>>;

fn list<'py, T>(
    py: Python<'py>,
    items: &[T],
    describe: Describe<'py, T>,
) -> PyResult<Bound<'py, PyList>> {
    let result = PyList::empty(py);
    for item in items {
        result.append(describe(py, item)?)?;
    }
    Ok(result)
}

fn optional<'py>(
    py: Python<'py>,
    class: Option<&FieldClass>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    class.map(|class| field(py, class)).transpose()
}

pub(crate) fn clock<'py>(py: Python<'py>, clock: &ClockClass) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("name", &clock.name)?;
    result.set_item("uuid", clock.uuid.map(|uuid| PyBytes::new(py, &uuid)))?;
    result.set_item("description", &clock.description)?;
    result.set_item("frequency", clock.frequency)?;
    result.set_item("precision", clock.precision)?;
    result.set_item("offset_seconds", clock.offset_seconds)?;
    result.set_item("offset_cycles", clock.offset_cycles)?;
    result.set_item("absolute", clock.absolute)?;
    result.set_item("accuracy", clock.accuracy)?;
    result.set_item("origin", origin(py, &clock.origin)?)?;
    result.set_item("namespace", &clock.identity.namespace)?;
    result.set_item("uid", &clock.identity.uid)?;
    result.set_item("attributes", clock.identity.attributes.as_deref())?;
    Ok(result)
}

/// `None`, `"unix-epoch"` or the parts of an origin.
fn origin<'py>(py: Python<'py>, origin: &ClockOrigin) -> PyResult<Bound<'py, PyAny>> {
    Ok(match origin {
        ClockOrigin::Unknown => py.None().into_bound(py),
        ClockOrigin::UnixEpoch => "unix-epoch".into_pyobject(py)?.into_any(),
        ClockOrigin::Custom { namespace, name, uid } => {
            (namespace, name, uid).into_pyobject(py)?.into_any()
        }
    })
}

/// The keys of a namespace, a unique ID and attributes; the name too, where there is none.
fn identity(result: &Bound<'_, PyDict>, identity: &Identity) -> PyResult<()> {
    result.set_item("namespace", &identity.namespace)?;
    if !result.contains("name")? {
        result.set_item("name", &identity.name)?;
    }
    result.set_item("uid", &identity.uid)?;
    result.set_item("attributes", identity.attributes.as_deref())
}

fn stream<'py>(py: Python<'py>, stream: &StreamClass) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("id", stream.id)?;
    result.set_item("clock", stream.clock)?;
    result.set_item("packet_context", optional(py, stream.packet_context.as_ref())?)?;
    result.set_item("event_header", optional(py, stream.event_header.as_ref())?)?;
    result.set_item("event_context", optional(py, stream.event_context.as_ref())?)?;
    result.set_item("events", list(py, &stream.event_classes, event)?)?;
    identity(&result, &stream.identity)?;
    Ok(result)
}

fn event<'py>(py: Python<'py>, event: &EventClass) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("id", event.id)?;
    result.set_item("name", &event.name)?;
    result.set_item("log_level", event.log_level)?;
    result.set_item("emf_uri", &event.emf_uri)?;
    result.set_item("context", optional(py, event.context.as_ref())?)?;
    result.set_item("payload", optional(py, event.payload.as_ref())?)?;
    identity(&result, &event.identity)?;
    Ok(result)
}
