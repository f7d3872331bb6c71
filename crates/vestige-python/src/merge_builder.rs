//! `MergeBuilder` and `EncodedPacket`: merges of what is made in Python.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use pyo3::exceptions::{PyStopIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use vestige_ctf::derived::{Derived, NO_VALUE};
use vestige_ctf::encode::value::Value;
use vestige_ctf::encode::EventLayout;
use vestige_ctf::merge_builder::{self, made_packet, MadeRecord};
use vestige_ctf::model::FieldClass;
use vestige_ctf::muxer::{self, Notice};
use vestige_ctf::stream::{Batch, Boundary, BoundaryKind, Lost, LostKind, Packet};

use crate::errors::exception;
use crate::event_view::Interner;
use crate::merge::{AddedColumn, Merge};
use crate::messages::EventMessage;
use crate::python_values::{value, Wrong};
use crate::stream::DataStream;
use crate::writer::wrong_value;

#[doc = core_doc!(EncodedPacket)]
#[pyclass(frozen, module = "vestige._core")]
pub struct EncodedPacket {
    pub inner: Arc<Packet>,
}

#[pymethods]
impl EncodedPacket {
    #[new]
    #[pyo3(signature = (stream, stream_id, context=None, beginning=None))]
    fn new(
        py: Python<'_>,
        stream: &DataStream,
        stream_id: u64,
        context: Option<&Bound<'_, PyDict>>,
        beginning: Option<u64>,
    ) -> PyResult<Self> {
        let class = stream.inner.trace.stream_classes.get(stream.inner.class);
        let class = class.and_then(|class| class.packet_context.as_ref());
        let context = structure(class, context).map_err(|wrong| wrong_value(py, None, wrong))?;
        let packet = made_packet(&stream.inner, stream_id, beginning, &context);
        let packet = packet.map_err(|error| wrong_value(py, None, error.into()))?;
        Ok(Self { inner: Arc::new(packet) })
    }

    #[doc = core_doc!(EncodedPacket.number)]
    #[getter]
    fn number(&self) -> usize {
        Arc::as_ptr(&self.inner) as usize
    }
}

/// The value of a structure, without one of which no member is given.
fn structure(
    class: Option<&FieldClass>,
    given: Option<&Bound<'_, PyDict>>,
) -> Result<Value, Wrong> {
    match (class, given) {
        (Some(class), Some(given)) => value(class, given.as_any()),
        _ => Ok(Value::Structure(Vec::new())),
    }
}

/// A merge that is being put together, and whose its data streams are.
#[derive(Default)]
pub struct OwnedBuilder {
    builder: merge_builder::MergeBuilder,
    streams: Vec<Py<DataStream>>,
    owners: Vec<Py<PyAny>>,
    /// Where each data stream is.
    phases: Vec<Phase>,
    interner: OnceLock<Arc<Interner>>,
    added: AddedColumns,
}

/// Where a data stream is between its beginning and its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    Inside,
    After,
}

/// What filters added to the event records that pass.
#[derive(Default)]
struct AddedColumns {
    /// The merge of the last record, kept so that no other one has its address, and its columns.
    last: (Option<Arc<muxer::Merge>>, Vec<AddedColumn>),
    /// Columns, each with the index of a value for each record so far.
    columns: Vec<(AddedColumn, Vec<u32>)>,
}

impl AddedColumns {
    /// Takes what was added to a record of another merge: record `row` of this one.
    fn take(&mut self, merge: &Merge, index: usize, row: usize) {
        if self.last.0.as_ref().is_none_or(|last| !Arc::ptr_eq(last, &merge.inner)) {
            self.last = (Some(Arc::clone(&merge.inner)), merge.derived());
        }
        for one in &self.last.1 {
            let Some(value) = one.values.index(index) else { continue };
            let same = |known: &(AddedColumn, Vec<u32>)| {
                Arc::ptr_eq(&known.0.values.table, &one.values.table)
            };
            let place = self.columns.iter().position(same).unwrap_or_else(|| {
                self.columns.push((one.clone(), Vec::new()));
                self.columns.len() - 1
            });
            if let Some((_, column)) = self.columns.get_mut(place) {
                column.resize(row, NO_VALUE);
                column.push(value);
            }
        }
    }

    /// The columns of a merge of so many records.
    fn finish(&mut self, records: usize) -> Vec<AddedColumn> {
        self.last = (None, Vec::new());
        let columns = std::mem::take(&mut self.columns).into_iter();
        let column = |(one, mut column): (AddedColumn, Vec<u32>)| {
            column.resize(records, NO_VALUE);
            let values = Arc::new(Derived { column, ..Derived::clone(&one.values) });
            AddedColumn { values, places: one.places }
        };
        columns.map(column).collect()
    }
}

impl OwnedBuilder {
    pub fn len(&self) -> usize {
        self.builder.len()
    }

    /// Adds an event record of another merge.
    pub fn pass(
        &mut self,
        py: Python<'_>,
        merge: &Merge,
        (batch, row): (&Arc<Batch>, u32),
        index: usize,
    ) -> PyResult<()> {
        let rank = self.builder.rank(&batch.stream);
        if rank == self.streams.len() {
            self.note(py, merge, merge.stream_index(batch))?;
        }
        self.expect_inside(py, rank, "an event")?;
        self.added.take(merge, index, self.builder.records());
        self.builder.pass(batch, row);
        Ok(())
    }

    /// Adds a notice of another merge.
    pub fn pass_notice(&mut self, py: Python<'_>, merge: &Merge, index: usize) -> PyResult<()> {
        let Some((from, _, notice)) = merge.inner.notices.get(index) else { return Ok(()) };
        let Some(stream) = merge.streams.get(*from) else { return Ok(()) };
        let rank = self.builder.rank(&stream.get().inner);
        if rank == self.streams.len() {
            self.note(py, merge, *from)?;
        }
        self.notice(py, rank, notice.clone())
    }

    /// Adds a notice of a data stream.
    fn notice(&mut self, py: Python<'_>, rank: usize, notice: Notice) -> PyResult<()> {
        match &notice {
            Notice::Boundary(Boundary { kind: BoundaryKind::StreamBeginning, .. }) => {
                if self.phase(rank) != Phase::Before {
                    return Err(self.out_of_order(py, rank, "begins a second time"));
                }
                self.set_phase(rank, Phase::Inside);
            }
            Notice::Boundary(Boundary { kind: BoundaryKind::StreamEnd, .. }) => {
                self.expect_inside(py, rank, "its end")?;
                self.set_phase(rank, Phase::After);
            }
            Notice::Boundary(_) => self.expect_inside(py, rank, "a packet's boundary")?,
            Notice::Lost(_) => self.expect_inside(py, rank, "a loss")?,
            Notice::Damage(..) | Notice::Inactivity(_) => {}
        }
        self.builder.notice(rank, notice);
        Ok(())
    }

    fn phase(&self, rank: usize) -> Phase {
        self.phases.get(rank).copied().unwrap_or(Phase::Before)
    }

    fn set_phase(&mut self, rank: usize, phase: Phase) {
        if self.phases.len() <= rank {
            self.phases.resize(rank + 1, Phase::Before);
        }
        if let Some(known) = self.phases.get_mut(rank) {
            *known = phase;
        }
    }

    /// Refuses what is not between the beginning of its data stream and the end.
    #[inline]
    fn expect_inside(&self, py: Python<'_>, rank: usize, what: &str) -> PyResult<()> {
        let place = match self.phase(rank) {
            Phase::Inside => return Ok(()),
            Phase::Before => "before its beginning",
            Phase::After => "after its end",
        };
        Err(self.out_of_order(py, rank, &format!("has {what} {place}")))
    }

    /// The error of a data stream with which something is wrong.
    #[cold]
    fn out_of_order(&self, py: Python<'_>, rank: usize, what: &str) -> PyErr {
        let number = |owner: &Py<PyAny>| owner.getattr(py, "id").ok()?.extract::<u64>(py).ok();
        let number = self.owners.get(rank).and_then(number).unwrap_or_default();
        exception(py, "GraphError", &format!("stream {number} {what}"), None, None)
    }

    /// Notes whose a data stream of another merge is.
    fn note(&mut self, py: Python<'_>, merge: &Merge, index: usize) -> PyResult<()> {
        if let Some(stream) = merge.streams.get(index) {
            self.streams.push(stream.clone_ref(py));
            self.owners.push(merge.owners.bind(py).get_item(index)?.unbind());
        }
        Ok(())
    }

    /// What was added, as a merge.
    pub fn finish(&mut self, py: Python<'_>) -> PyResult<Merge> {
        let merge = self.builder.finish();
        let streams = self.streams.iter().map(|stream| stream.clone_ref(py)).collect();
        let owners: Vec<_> = self.owners.iter().map(|owner| owner.clone_ref(py)).collect();
        let interner = Arc::clone(self.interner.get_or_init(Arc::default));
        let columns = self.added.finish(merge.records);
        let owners = PyList::new(py, owners)?.unbind();
        let made = Merge::new(merge, Arc::new(streams), owners, interner);
        for column in columns {
            made.add_column(column);
        }
        Ok(made)
    }

    /// The rank of a data stream, whose owner is noted.
    fn rank(&mut self, stream: &Bound<'_, DataStream>, owner: &Bound<'_, PyAny>) -> usize {
        let rank = self.builder.rank(&stream.get().inner);
        if rank == self.streams.len() {
            self.streams.push(stream.clone().unbind());
            self.owners.push(owner.clone().unbind());
        }
        rank
    }
}

#[doc = core_doc!(MergeBuilder)]
#[pyclass(frozen, module = "vestige._core")]
pub struct MergeBuilder {
    inner: Mutex<OwnedBuilder>,
}

impl MergeBuilder {
    fn inner(&self) -> MutexGuard<'_, OwnedBuilder> {
        // A panic cannot leave it half-changed.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl MergeBuilder {
    #[new]
    fn new() -> Self {
        Self { inner: Mutex::default() }
    }

    fn __len__(&self) -> usize {
        self.inner().len()
    }

    #[doc = core_doc!(MergeBuilder.event)]
    fn event(
        &self,
        stream: &Bound<'_, DataStream>,
        owner: &Bound<'_, PyAny>,
        packet: &EncodedPacket,
        place: (usize, u64),
        scopes: [Option<Bound<'_, PyDict>>; 3],
    ) -> PyResult<()> {
        let py = stream.py();
        let (event_class, cycles) = place;
        let handle = &stream.get().inner;
        let layout = EventLayout::new(Arc::clone(&handle.trace), handle.class, event_class);
        let Some(layout) = layout else {
            return Err(PyValueError::new_err("there is no such event record class"));
        };
        let mut values = Vec::with_capacity(3);
        for (class, given) in layout.scopes().into_iter().zip(scopes) {
            let value =
                structure(class, given.as_ref()).map_err(|wrong| wrong_value(py, None, wrong))?;
            values.push(value);
        }
        let [common, specific, payload] = values.as_slice() else { return Ok(()) };
        let mut inner = self.inner();
        let rank = inner.rank(stream, owner);
        inner.expect_inside(py, rank, "an event")?;
        let made = MadeRecord {
            stream: handle,
            packet: &packet.inner,
            class: event_class,
            cycles,
            scopes: [common, specific, payload],
        };
        let result = inner.builder.event(&made);
        drop(inner);
        result.map_err(|error| wrong_value(py, None, error.into()))
    }

    #[doc = core_doc!(MergeBuilder.lost)]
    fn lost(
        &self,
        stream: &Bound<'_, DataStream>,
        owner: &Bound<'_, PyAny>,
        kind: &str,
        count: Option<u64>,
        beginning: Option<u64>,
        end: Option<u64>,
    ) -> PyResult<()> {
        let kind = match kind {
            "events" => LostKind::Events,
            "packets" => LostKind::Packets,
            _ => return Err(PyValueError::new_err("expected 'events' or 'packets'")),
        };
        let mut inner = self.inner();
        let rank = inner.rank(stream, owner);
        inner.notice(stream.py(), rank, Notice::Lost(Lost { kind, count, beginning, end }))
    }

    #[doc = core_doc!(MergeBuilder.boundary)]
    #[pyo3(signature = (stream, owner, kind, cycles=None, packet=None))]
    fn boundary(
        &self,
        stream: &Bound<'_, DataStream>,
        owner: &Bound<'_, PyAny>,
        kind: &str,
        cycles: Option<u64>,
        packet: Option<&EncodedPacket>,
    ) -> PyResult<()> {
        let packet = packet.map(|packet| Arc::clone(&packet.inner));
        let kind = match (kind, packet) {
            ("stream-beginning", None) => BoundaryKind::StreamBeginning,
            ("stream-end", None) => BoundaryKind::StreamEnd,
            ("packet-beginning", Some(packet)) => BoundaryKind::PacketBeginning(packet),
            ("packet-end", Some(packet)) => BoundaryKind::PacketEnd(packet),
            _ => return Err(PyValueError::new_err("no such boundary")),
        };
        let mut inner = self.inner();
        let rank = inner.rank(stream, owner);
        let boundary = Boundary { kind, cycles, is_cut: false };
        inner.notice(stream.py(), rank, Notice::Boundary(boundary))
    }

    #[doc = core_doc!(MergeBuilder.inactivity)]
    fn inactivity(&self, stream: &Bound<'_, DataStream>, owner: &Bound<'_, PyAny>, cycles: u64) {
        let mut inner = self.inner();
        let rank = inner.rank(stream, owner);
        inner.builder.notice(rank, Notice::Inactivity(cycles));
    }

    #[doc = core_doc!(MergeBuilder.pass_notice)]
    fn pass_notice(&self, py: Python<'_>, merge: &Bound<'_, Merge>, index: usize) -> PyResult<()> {
        self.inner().pass_notice(py, merge.get(), index)
    }

    #[doc = core_doc!(MergeBuilder.take)]
    fn take(&self, step: &Bound<'_, PyAny>, add: &Bound<'_, PyAny>, most: usize) -> PyResult<bool> {
        let py = step.py();
        for _ in 0..most {
            let message = match step.call0() {
                Ok(message) => message,
                Err(error) if error.is_instance_of::<PyStopIteration>(py) => return Ok(false),
                Err(error) => return Err(error),
            };
            match message.cast::<EventMessage>() {
                Ok(event) => {
                    let view = &event.get().view;
                    let merge = view.merge.get();
                    let Some(&(_, row)) = merge.order().get(view.index) else { continue };
                    self.inner().pass(py, merge, (&view.batch, row), view.index)?;
                }
                Err(_) => {
                    add.call1((message,))?;
                }
            }
        }
        Ok(true)
    }

    #[doc = core_doc!(MergeBuilder.finish)]
    fn finish(&self, py: Python<'_>) -> PyResult<Merge> {
        self.inner().finish(py)
    }
}
