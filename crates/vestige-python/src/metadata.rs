//! `TraceClass`: parsed metadata, and its description for the Python model.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use vestige_ctf::model;
use vestige_ctf::model::{
    ClockClass, DisplayBase, EnvironmentValue, EventClass, FieldClass, FieldKind, IntegerClass,
    Length, Member, StreamClass,
};

use crate::errors::{exception, trace_format_error};

/// Most seconds from the origin whose nanoseconds fit 64 bits.
const LARGEST_OFFSET: u64 = i64::MAX as u64 / 1_000_000_000;

/// Parsed metadata.
#[pyclass(frozen, module = "vestige._core")]
pub struct TraceClass {
    pub inner: Arc<model::TraceClass>,
}

#[pymethods]
impl TraceClass {
    /// Parses the bytes of a metadata file; `path` is for the error message.
    #[staticmethod]
    #[pyo3(signature = (metadata, *, path=None))]
    fn parse(py: Python<'_>, metadata: &[u8], path: Option<&str>) -> PyResult<Self> {
        let parsed = py.detach(|| vestige_ctf::metadata::parse(metadata));
        match parsed {
            Ok(trace) => Ok(Self { inner: Arc::new(trace) }),
            Err(error) => Err(trace_format_error(py, &error, path)),
        }
    }

    /// The same trace class with all clocks moved.
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

    /// UUID, 16 bytes.
    #[getter]
    fn uuid<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        self.inner.uuid.map(|uuid| PyBytes::new(py, &uuid))
    }

    /// Environment entries.
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

    /// How many stream and event record classes there are: of the metadata of two parts of
    /// one trace, the greater describes both.
    #[getter]
    fn class_count(&self) -> usize {
        let streams = &self.inner.stream_classes;
        streams.len() + streams.iter().map(|stream| stream.event_classes.len()).sum::<usize>()
    }

    /// All of it as nested dictionaries, from which `vestige.ctf` builds the model.
    fn describe<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let trace = &self.inner;
        let result = PyDict::new(py);
        result.set_item("version", trace.version)?;
        result.set_item("uuid", self.uuid(py))?;
        result.set_item("environment", self.environment(py)?)?;
        result.set_item("packet_header", optional(py, trace.packet_header.as_ref())?)?;
        result.set_item("clocks", list(py, &trace.clocks, clock)?)?;
        result.set_item("streams", list(py, &trace.stream_classes, stream)?)?;
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

fn clock<'py>(py: Python<'py>, clock: &ClockClass) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("name", &clock.name)?;
    result.set_item("uuid", clock.uuid.map(|uuid| PyBytes::new(py, &uuid)))?;
    result.set_item("description", &clock.description)?;
    result.set_item("frequency", clock.frequency)?;
    result.set_item("precision", clock.precision)?;
    result.set_item("offset_seconds", clock.offset_seconds)?;
    result.set_item("offset_cycles", clock.offset_cycles)?;
    result.set_item("absolute", clock.absolute)?;
    Ok(result)
}

fn stream<'py>(py: Python<'py>, stream: &StreamClass) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("id", stream.id)?;
    result.set_item("clock", stream.clock)?;
    result.set_item("packet_context", optional(py, stream.packet_context.as_ref())?)?;
    result.set_item("event_header", optional(py, stream.event_header.as_ref())?)?;
    result.set_item("event_context", optional(py, stream.event_context.as_ref())?)?;
    result.set_item("events", list(py, &stream.event_classes, event)?)?;
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
    Ok(result)
}

fn members<'py>(py: Python<'py>, members: &[Member]) -> PyResult<Bound<'py, PyList>> {
    let result = PyList::empty(py);
    for member in members {
        result.append((member.name(), field(py, &member.class)?))?;
    }
    Ok(result)
}

fn integer(result: &Bound<'_, PyDict>, class: &IntegerClass) -> PyResult<()> {
    result.set_item("size", class.size)?;
    result.set_item("signed", class.signed)?;
    result.set_item("clock", class.clock)?;
    let base = match class.base {
        DisplayBase::Binary => 2,
        DisplayBase::Octal => 8,
        DisplayBase::Decimal => 10,
        DisplayBase::Hexadecimal => 16,
    };
    result.set_item("base", base)
}

fn field<'py>(py: Python<'py>, class: &FieldClass) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("alignment", class.alignment())?;
    result.set_item("visible", class.visible)?;
    let kind = match &class.kind {
        FieldKind::Integer(class) => {
            integer(&result, class)?;
            "integer"
        }
        FieldKind::Enumeration(class, mappings) => {
            integer(&result, class)?;
            let ranges: Vec<_> =
                mappings.iter().map(|m| (m.label.as_str(), m.lower, m.upper)).collect();
            result.set_item("mappings", ranges)?;
            "enumeration"
        }
        FieldKind::Float { size, .. } => {
            result.set_item("size", size)?;
            "float"
        }
        FieldKind::String => "string",
        FieldKind::Array { element, length, text } => {
            result.set_item("element", field(py, element)?)?;
            result.set_item("text", text)?;
            match length {
                Length::Static(length) => result.set_item("length", length)?,
                Length::Dynamic { path, .. } => result.set_item("length", path.join("."))?,
            }
            "array"
        }
        FieldKind::Structure { members: list, .. } => {
            result.set_item("members", members(py, list)?)?;
            "structure"
        }
        FieldKind::Variant { options, selector } => {
            result.set_item("options", members(py, options)?)?;
            result.set_item("selector", selector.path.join("."))?;
            "variant"
        }
    };
    result.set_item("kind", kind)?;
    Ok(result)
}
