//! `EventView`: one row of a merge, whose fields are decoded one by one.

use std::collections::HashMap;
use std::sync::{Arc, RwLock};

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyString};
use vestige_ctf::bits::BitReader;
use vestige_ctf::model::{EnvironmentValue, FieldClass, TraceClass};
use vestige_ctf::places::place_class;
use vestige_ctf::record::{build, build_member, skip, Builder, DecodeError, State};
use vestige_ctf::scope::{Origin, OriginField, Scope};
use vestige_ctf::stream::{Batch, Record};
use vestige_ctf::CtfError;

use crate::errors::trace_format_error;
use crate::merge::Merge;
use crate::value::PythonBuilder;

/// The address of a trace class, and the indexes of a stream class and a class in it.
type NameKey = (usize, usize, u32);

/// A trace class and a name in it.
type KeptName = (Arc<TraceClass>, Py<PyString>);

/// Names as Python strings, made once a trace and class.
#[derive(Default)]
pub struct Interner {
    /// The trace classes are kept, so that no other one gets the address of one that is gone.
    names: RwLock<HashMap<NameKey, KeptName>>,
}

impl Interner {
    fn event_name(&self, py: Python<'_>, batch: &Batch, record: &Record) -> Option<Py<PyString>> {
        let key = (Arc::as_ptr(&batch.stream.trace) as usize, batch.stream.class, record.class);
        if let Some((_, name)) = self.names.read().ok()?.get(&key) {
            return Some(name.clone_ref(py));
        }
        let name = batch.event_class(record)?.name.as_deref()?;
        let name = PyString::new(py, name).unbind();
        let kept = (Arc::clone(&batch.stream.trace), name.clone_ref(py));
        self.names.write().ok()?.insert(key, kept);
        Some(name)
    }
}

static ENUMERATION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
static BIT_MAP: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// What makes Python objects of fields.
pub fn builder(py: Python<'_>) -> PyResult<PythonBuilder<'_>> {
    let class = |name: &str| PyResult::Ok(py.import("vestige.values")?.getattr(name)?.unbind());
    let enumeration = ENUMERATION.get_or_try_init(py, || class("EnumerationValue"))?;
    let bit_map = BIT_MAP.get_or_try_init(py, || class("BitMapValue"))?;
    Ok(PythonBuilder {
        py,
        enumeration: enumeration.bind(py).clone(),
        bit_map: bit_map.bind(py).clone(),
    })
}

/// One row of a merge.
pub struct EventView {
    pub merge: Py<Merge>,
    pub batch: Arc<Batch>,
    pub record: Record,
    pub index: usize,
}

impl EventView {
    pub fn of(merge: Bound<'_, Merge>, index: usize) -> PyResult<Self> {
        let Some((batch, &record)) = merge.get().record(index) else {
            return Err(pyo3::exceptions::PyIndexError::new_err("no such event record"));
        };
        let batch = Arc::clone(batch);
        Ok(Self { merge: merge.unbind(), batch, record, index })
    }

    pub fn name(&self, py: Python<'_>) -> Option<Py<PyString>> {
        self.merge.get().interner.event_name(py, &self.batch, &self.record)
    }

    pub fn timestamp(&self) -> Option<i64> {
        let timed = self.batch.stream.has_clock();
        timed.then(|| self.batch.nanoseconds(&self.record))
    }

    /// The object that represents the data stream.
    pub fn stream<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let merge = self.merge.get();
        merge.owners.bind(py).get_item(merge.stream_index(&self.batch))
    }

    pub fn debug_info<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        Merge::place(self.merge.get(), py, self.index)
    }

    fn class(&self, scope: Scope) -> Option<&FieldClass> {
        scope.of(&self.batch, self.record)
    }

    fn wrong(&self, py: Python<'_>, error: &DecodeError) -> PyErr {
        let merge = self.merge.get();
        let stream = merge.streams.get(merge.stream_index(&self.batch));
        let path = stream.and_then(|stream| stream.get().path(self.batch.file));
        let at = self.batch.file_offset(&self.record);
        trace_format_error(py, &CtfError::record(at, error.to_string()), path)
    }

    /// A reader at one of the scopes; those of the body before it are stepped over.
    fn reader<'a>(&'a self, scope: Scope, state: &mut State) -> Result<BitReader<'a>, DecodeError> {
        let before: &[Scope] = match scope {
            Scope::Packet => return Ok(self.batch.part_of(&self.record).context_reader()),
            Scope::Common => &[],
            Scope::Specific => &[Scope::Common],
            Scope::Payload => &[Scope::Common, Scope::Specific],
        };
        let mut reader = self.batch.body_reader(&self.record, state);
        for class in before.iter().filter_map(|scope| self.class(*scope)) {
            skip(class, &mut reader, state)?;
        }
        Ok(reader)
    }

    fn member_at<'py>(
        &self,
        py: Python<'py>,
        scope: Scope,
        index: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.decode_member(py, scope, index, &mut builder(py)?)?.transpose()
    }

    /// A member of a scope as a builder makes it.
    ///
    /// # Errors
    ///
    /// `TraceFormatError` when a field does not fit the data.
    pub fn decode_member<B: Builder>(
        &self,
        py: Python<'_>,
        scope: Scope,
        index: usize,
        builder: &mut B,
    ) -> PyResult<Option<B::Value>> {
        let Some(class) = self.class(scope) else { return Ok(None) };
        let mut state = self.batch.state_of(&self.record);
        self.reader(scope, &mut state)
            .and_then(|mut reader| build_member(class, index, &mut reader, &mut state, builder))
            .map_err(|error| self.wrong(py, &error))
    }

    /// A scope as a builder makes it.
    ///
    /// # Errors
    ///
    /// `TraceFormatError` when a field does not fit the data.
    pub fn decode<B: Builder>(
        &self,
        py: Python<'_>,
        scope: Scope,
        builder: &mut B,
    ) -> PyResult<Option<B::Value>> {
        let Some(class) = self.class(scope) else { return Ok(None) };
        let mut state = self.batch.state_of(&self.record);
        self.reader(scope, &mut state)
            .and_then(|mut reader| build(class, &mut reader, &mut state, builder))
            .map(Some)
            .map_err(|error| self.wrong(py, &error))
    }

    /// The value of a field of a scope.
    pub fn member<'py>(
        &self,
        py: Python<'py>,
        scope: Scope,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.class(scope).and_then(|class| scope.member(class, name)) {
            Some(index) => self.member_at(py, scope, index),
            None if scope == Scope::Common => self.added(py, name),
            None => Ok(None),
        }
    }

    /// The value of a field that a filter added to the common context.
    fn added<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        let Some((class, data)) = self.merge.get().added_field(self.index, name) else {
            return Ok(None);
        };
        let (mut reader, mut state) = (BitReader::new(&data, 0, u64::MAX), State::new(0));
        match build(&class, &mut reader, &mut state, &mut builder(py)?) {
            Ok(value) => value.map(Some),
            Err(error) => Err(self.wrong(py, &error)),
        }
    }

    /// The value of a field that a filter adds to the records of the class: of a record that
    /// has none, the one of empty texts.
    pub fn added_or_empty<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = self.added(py, name)?;
        if found.is_some() {
            return Ok(found);
        }
        let empty = PyDict::new(py);
        for member in place_class().members() {
            empty.set_item(member.name(), "")?;
        }
        Ok(Some(empty.into_any()))
    }

    fn added_names(&self, scope: Scope) -> Vec<String> {
        match scope {
            Scope::Common => self.merge.get().added_names_of(self.index),
            _ => Vec::new(),
        }
    }

    pub fn has_member(&self, scope: Scope, name: &str) -> bool {
        self.class(scope).is_some_and(|class| scope.member(class, name).is_some())
            || self.added_names(scope).iter().any(|added| added == name)
    }

    /// All fields of a scope.
    pub fn fields<'py>(&self, py: Python<'py>, scope: Scope) -> PyResult<Bound<'py, PyAny>> {
        let fields = match self.decode(py, scope, &mut builder(py)?)? {
            Some(value) => value?,
            None => PyDict::new(py).into_any(),
        };
        for name in self.added_names(scope) {
            if let Some(value) = self.added(py, &name)? {
                fields.set_item(name, value)?;
            }
        }
        Ok(fields)
    }

    /// The names of the fields of a scope.
    pub fn names(&self, scope: Scope) -> Vec<String> {
        let members = self.class(scope).map_or(&[][..], FieldClass::members);
        let shown = |class: &FieldClass| scope != Scope::Packet || class.visible;
        let shown = members.iter().filter(|member| shown(&member.class));
        let recorded = shown.map(|member| member.name().to_owned());
        recorded.chain(self.added_names(scope)).collect()
    }

    /// A fact about where the record comes from.
    pub fn origin<'py>(
        &self,
        py: Python<'py>,
        origin: Origin,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let field = origin.find(&self.batch.stream, self.record.class as usize);
        match field {
            None => Ok(None),
            Some(OriginField::Member(scope, index)) => self.member_at(py, scope, index),
            Some(OriginField::Environment(index)) => {
                let entry = self.batch.stream.trace.environment.get(index);
                Ok(match entry.map(|(_, value)| value) {
                    Some(EnvironmentValue::Integer(value)) => {
                        Some(value.into_pyobject(py)?.into_any())
                    }
                    Some(EnvironmentValue::String(text)) => {
                        Some(text.into_pyobject(py)?.into_any())
                    }
                    None => None,
                })
            }
        }
    }
}
