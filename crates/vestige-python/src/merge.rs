//! `Muxer` and `Merge`: data streams merged by time.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyList;
use vestige_ctf::calls::Mark;
use vestige_ctf::derived::Derived;
use vestige_ctf::merge_filter::{of_classes, passing};
use vestige_ctf::model::FieldClass;
use vestige_ctf::muxer::{self, Notice};
use vestige_ctf::stream::{Batch, BoundaryKind, LostKind, Record, Selection};

use crate::errors::damage_tuple;
use crate::event::EventRecord;
use crate::event_view::Interner;
use crate::place_objects::PlaceObjects;
use crate::process::Process;
use crate::record_filter::RecordFilter;
use crate::stream::DataStream;
use crate::trimmer::Trimmer;

/// A data stream, who represents it, its wanted and its needed event record classes.
type StreamInput = (Py<DataStream>, Py<PyAny>, Option<Vec<bool>>, Option<Vec<bool>>);

/// Earliest and latest time, nanoseconds.
type TimeRange = (Option<i64>, Option<i64>);

#[doc = core_doc!(Muxer)]
#[pyclass(frozen, module = "vestige._core")]
pub struct Muxer {
    process: Process,
    inner: Mutex<muxer::Muxer>,
    streams: Mutex<Arc<Vec<Py<DataStream>>>>,
    owners: Py<PyList>,
    check: bool,
    boundaries: bool,
    doubtful: bool,
    early_losses: bool,
    interner: Arc<Interner>,
}

#[pymethods]
impl Muxer {
    /// `streams` holds a tuple a data stream: the `DataStream`, the object that represents
    /// it for users, and two lists that say which event record classes are wanted and which
    /// ones a filter needs, or `None`.
    ///
    /// `ranges` holds the earliest and the latest time, nanoseconds from the origin, that
    /// is wanted of each data stream; `record_filters` tell which records of each pass; with
    /// `boundaries`, notices tell where data streams and packets begin and end, and with
    /// `doubtful`, records in front of damage are there that may be misread; with
    /// `early_losses`, losses before the earliest time are told, too.
    #[new]
    #[pyo3(signature = (
        streams, *, ranges=None, check=false, record_filters=None, boundaries=false,
        doubtful=false, early_losses=false
    ))]
    #[allow(clippy::too_many_arguments)] // They are given by keyword.
    fn new(
        py: Python<'_>,
        streams: Vec<StreamInput>,
        ranges: Option<Vec<TimeRange>>,
        check: bool,
        record_filters: Option<Vec<Option<Py<RecordFilter>>>>,
        boundaries: bool,
        doubtful: bool,
        early_losses: bool,
    ) -> PyResult<Self> {
        let mut ranges = ranges.unwrap_or_default().into_iter();
        let mut filters = record_filters.unwrap_or_default().into_iter();
        let owners = PyList::empty(py);
        let mut inputs = Vec::new();
        let mut handles = Vec::new();
        for (stream, owner, classes, needed) in streams {
            let (begin, end) = ranges.next().unwrap_or_default();
            let filter = filters.next().flatten();
            let filter = filter.as_ref().map(|filter| filter.get().of(&stream.get().inner));
            let wanted = Selection {
                begin,
                end,
                classes,
                needed,
                filter,
                check,
                boundaries,
                doubtful,
                early_losses,
            };
            inputs.push((Arc::clone(&stream.get().inner), wanted));
            owners.append(owner)?;
            handles.push(stream);
        }
        Ok(Self {
            process: Process::this(),
            inner: Mutex::new(muxer::Muxer::new(inputs)),
            streams: Mutex::new(Arc::new(handles)),
            owners: owners.unbind(),
            check,
            boundaries,
            doubtful,
            early_losses,
            interner: Arc::new(Interner::default()),
        })
    }

    #[doc = core_doc!(Muxer.add)]
    #[pyo3(signature = (stream, *, range=(None, None), record_filter=None, ranks))]
    fn add(
        &self,
        py: Python<'_>,
        stream: StreamInput,
        range: TimeRange,
        record_filter: Option<Py<RecordFilter>>,
        ranks: Vec<usize>,
    ) -> PyResult<()> {
        let (stream, owner, classes, needed) = stream;
        let wanted = self.selection(stream.get(), (classes, needed), range, record_filter);
        let inner = Arc::clone(&stream.get().inner);
        self.owners.bind(py).append(owner)?;
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let all = streams.iter().map(|one| one.clone_ref(py)).chain([stream]).collect();
        *streams = Arc::new(all);
        self.changed(|muxer| muxer.add(inner, wanted, &ranks));
        Ok(())
    }

    #[doc = core_doc!(Muxer.append)]
    #[pyo3(signature = (
        index, part, *, classes=None, needed=None, range=(None, None), record_filter=None
    ))]
    #[allow(clippy::too_many_arguments)] // They are given by keyword.
    fn append(
        &self,
        index: usize,
        part: &DataStream,
        classes: Option<Vec<bool>>,
        needed: Option<Vec<bool>>,
        range: TimeRange,
        record_filter: Option<Py<RecordFilter>>,
    ) {
        let wanted = self.selection(part, (classes, needed), range, record_filter);
        self.changed(|muxer| muxer.append(index, Arc::clone(&part.inner), wanted));
    }

    #[doc = core_doc!(Muxer.set_certain)]
    fn set_certain(&self, index: usize, time: i64) {
        self.changed(|muxer| muxer.set_certain(index, time));
    }

    #[doc = core_doc!(Muxer.end)]
    fn end(&self, index: usize) {
        self.changed(|muxer| muxer.end(index));
    }

    #[doc = core_doc!(Muxer.loosen)]
    fn loosen(&self, index: usize, classes: Vec<bool>) {
        self.changed(|muxer| muxer.loosen(index, &classes));
    }

    #[doc = core_doc!(Muxer.waiting)]
    #[getter]
    fn waiting(&self) -> Vec<usize> {
        self.inner.lock().map_or_else(|_| Vec::new(), |muxer| muxer.waiting())
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Merge>> {
        self.process.check(py)?;
        let next = py.detach(|| self.inner.lock().ok().and_then(|mut inner| inner.next_merge()));
        Ok(next.map(|merge| {
            let (streams, interner) = (self.streams(), Arc::clone(&self.interner));
            Merge::new(merge, streams, self.owners.clone_ref(py), interner)
        }))
    }
}

impl Muxer {
    fn streams(&self) -> Arc<Vec<Py<DataStream>>> {
        Arc::clone(&self.streams.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn changed(&self, change: impl FnOnce(&mut muxer::Muxer)) {
        if let Ok(mut muxer) = self.inner.lock() {
            change(&mut muxer);
        }
    }

    fn selection(
        &self,
        stream: &DataStream,
        (classes, needed): (Option<Vec<bool>>, Option<Vec<bool>>),
        (begin, end): TimeRange,
        record_filter: Option<Py<RecordFilter>>,
    ) -> Selection {
        let filter = record_filter.map(|filter| filter.get().of(&stream.inner));
        let Self { check, boundaries, doubtful, early_losses, .. } = *self;
        Selection { begin, end, classes, needed, filter, check, boundaries, doubtful, early_losses }
    }
}

/// A filter's column, and the Python objects that its values stand for, if they are places.
#[derive(Clone)]
pub struct AddedColumn {
    pub values: Arc<Derived>,
    pub places: Option<Arc<PlaceObjects>>,
}

/// What filters added to a merge.
#[derive(Default)]
struct Added {
    /// Columns, in the order of the filters.
    columns: Vec<AddedColumn>,
    /// For each record in order whether it is shown, when a filter hides some.
    visible: Option<Arc<[bool]>>,
    /// For each record in order what is said of it as a part of calls, when that is known.
    marks: Option<Arc<[Mark]>>,
}

#[doc = core_doc!(Merge)]
#[pyclass(frozen, module = "vestige._core")]
pub struct Merge {
    pub inner: Arc<muxer::Merge>,
    pub streams: Arc<Vec<Py<DataStream>>>,
    pub owners: Py<PyList>,
    pub interner: Arc<Interner>,
    added: Mutex<Added>,
    /// For each record in order its batch and its row; made when records are asked for.
    order: OnceLock<Vec<(u32, u32)>>,
    /// In a part, for each record its index in the whole.
    whole: Vec<usize>,
    /// In a part, of which data streams it is, by rank.
    part_of: Option<Vec<bool>>,
}

impl Merge {
    pub fn new(
        inner: muxer::Merge,
        streams: Arc<Vec<Py<DataStream>>>,
        owners: Py<PyList>,
        interner: Arc<Interner>,
    ) -> Self {
        let (added, order) = (Mutex::default(), OnceLock::new());
        let (inner, whole) = (Arc::new(inner), Vec::new());
        Self { inner, streams, owners, interner, added, order, whole, part_of: None }
    }

    fn added(&self) -> std::sync::MutexGuard<'_, Added> {
        // A panic cannot leave it half-changed.
        self.added.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The columns that filters added, in their order.
    pub fn derived(&self) -> Vec<AddedColumn> {
        self.added().columns.clone()
    }

    /// Adds a column; a field that a record has already stays as it is.
    pub fn add_column(&self, column: AddedColumn) {
        let AddedColumn { mut values, places } = column;
        let mut added = self.added();
        for one in &added.columns {
            if one.values.name == values.name {
                let Some(left) = values.behind(&one.values) else { return };
                values = Arc::new(left);
            }
        }
        added.columns.push(AddedColumn { values, places });
    }

    /// The field of a name that a filter added to a record, encoded, with its class.
    pub fn added_field(&self, record: usize, name: &str) -> Option<(Arc<FieldClass>, Vec<u8>)> {
        let added = self.added();
        let columns = added.columns.iter().map(|one| &one.values);
        let mut named = columns.filter(|one| one.name == name);
        let found = named.find(|one| one.index(record).is_some())?;
        Some((Arc::clone(&found.class), found.encoded(record)?))
    }

    /// The names of the fields that filters added to a record.
    pub fn added_names_of(&self, record: usize) -> Vec<String> {
        let added = self.added();
        let columns = added.columns.iter().map(|one| &one.values);
        let there = columns.filter(|one| one.index(record).is_some());
        there.map(|one| one.name.clone()).collect()
    }

    /// The names of the fields that filters added, each once.
    pub fn all_added_names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for one in &self.added().columns {
            if !names.contains(&one.values.name) {
                names.push(one.values.name.clone());
            }
        }
        names
    }

    /// For each record in order whether it is shown, when a filter hides some.
    pub fn visible(&self) -> Option<Arc<[bool]>> {
        self.added().visible.clone()
    }

    /// Hides the records with `false`; what another filter hid before stays hidden.
    pub fn hide(&self, visible: Vec<bool>) {
        let mut added = self.added();
        let both = match &added.visible {
            None => visible,
            Some(before) => before.iter().zip(visible).map(|(&one, other)| one && other).collect(),
        };
        added.visible = Some(both.into());
    }

    /// For each record in order what is said of it as a part of calls, when that is known.
    pub fn marks(&self) -> Option<Arc<[Mark]>> {
        self.added().marks.clone()
    }

    /// Says of each record what it is in calls.
    pub fn set_marks(&self, marks: Vec<Mark>) {
        self.added().marks = Some(marks.into());
    }

    /// What filters added, for some of the records.
    fn added_of(&self, kept: &[usize]) -> Added {
        let column = |one: AddedColumn| AddedColumn {
            values: Arc::new(one.values.of_records(kept)),
            places: one.places,
        };
        let visible = self.visible().map(|all| of_records(&all, kept, true));
        let marks = self.marks().map(|all| of_records(&all, kept, Mark::default()));
        Added { columns: self.derived().into_iter().map(column).collect(), visible, marks }
    }

    /// What is known of records of a part, by their indexes, for all records.
    fn among<T: Copy>(&self, whole: &[usize], known: &[T], other: T) -> Vec<T> {
        let mut all = vec![other; self.inner.records];
        for (&index, &one) in whole.iter().zip(known) {
            if let Some(place) = all.get_mut(index) {
                *place = one;
            }
        }
        all
    }

    fn with(&self, py: Python<'_>, inner: muxer::Merge, added: Added, whole: Vec<usize>) -> Self {
        Self {
            inner: Arc::new(inner),
            streams: Arc::clone(&self.streams),
            owners: self.owners.clone_ref(py),
            interner: Arc::clone(&self.interner),
            added: Mutex::new(added),
            order: OnceLock::new(),
            whole,
            part_of: None,
        }
    }

    pub fn order(&self) -> &[(u32, u32)] {
        self.order.get_or_init(|| {
            let runs = self.inner.runs.iter();
            runs.flat_map(|run| (run.start..run.end).map(|row| (run.batch, row))).collect()
        })
    }

    pub fn record(&self, index: usize) -> Option<(&Arc<Batch>, &Record)> {
        let &(batch, row) = self.order().get(index)?;
        let batch = self.inner.batches.get(batch as usize)?;
        Some((batch, batch.records.get(row as usize)?))
    }

    /// Index of the data stream of a batch.
    pub fn stream_index(&self, batch: &Batch) -> usize {
        let same = |stream: &Py<DataStream>| stream.get().inner.origin() == batch.stream.origin();
        self.streams.iter().position(same).unwrap_or(0)
    }

    /// Path of the file that a batch was read from.
    pub fn path(&self, batch: usize) -> Option<&str> {
        let batch = self.inner.batches.get(batch)?;
        self.streams.get(self.stream_index(batch))?.get().path(batch.file)
    }
}

/// What is known of some of the records.
fn of_records<T: Copy>(all: &[T], kept: &[usize], other: T) -> Arc<[T]> {
    kept.iter().map(|&index| all.get(index).copied().unwrap_or(other)).collect()
}

#[pymethods]
impl Merge {
    fn __len__(&self) -> usize {
        self.inner.records
    }

    #[doc = core_doc!(Merge.event)]
    fn event(this: Bound<'_, Self>, index: usize) -> PyResult<EventRecord> {
        EventRecord::of(this, index)
    }

    #[doc = core_doc!(Merge.events)]
    fn events(this: Bound<'_, Self>) -> MergeEvents {
        MergeEvents { merge: this.unbind(), next: 0.into() }
    }

    #[doc = core_doc!(Merge.shown)]
    fn shown(this: Bound<'_, Self>) -> Py<Self> {
        let merge = this.get();
        let Some((inner, kept)) = merge.inner.shown(merge.visible().as_deref()) else {
            return this.unbind();
        };
        let py = this.py();
        let added = Added { visible: None, ..merge.added_of(&kept) };
        match Py::new(py, merge.with(py, inner, added, Vec::new())) {
            Ok(shown) => shown,
            Err(_) => this.unbind(),
        }
    }

    #[doc = core_doc!(Merge.within)]
    fn within(&self, py: Python<'_>, trimmer: &Trimmer) -> PyResult<Self> {
        let (inner, kept) = py.detach(|| trimmer.trim(&self.inner));
        Ok(self.with(py, inner, self.added_of(&kept), Vec::new()))
    }

    #[doc = core_doc!(Merge.until_damage)]
    fn until_damage(this: Bound<'_, Self>, overlooked: Vec<String>) -> PyResult<Py<Self>> {
        let (py, merge) = (this.py(), this.get());
        let is_damage = |notice: &Notice| match notice {
            Notice::Damage(_, damage) => !overlooked.iter().any(|kind| kind == damage.kind.name()),
            _ => false,
        };
        let notices = merge.inner.notices.iter();
        let Some(first) = notices.map(|(_, _, notice)| notice).position(is_damage) else {
            return Ok(this.unbind());
        };
        let inner = merge.inner.until(first);
        let kept: Vec<usize> = (0..inner.records).collect();
        Py::new(py, merge.with(py, inner, merge.added_of(&kept), Vec::new()))
    }

    #[doc = core_doc!(Merge.without_early_losses)]
    #[allow(clippy::needless_pass_by_value)]
    fn without_early_losses(this: Bound<'_, Self>, begins: Vec<Option<i64>>) -> PyResult<Py<Self>> {
        let (py, merge) = (this.py(), this.get());
        let Some(inner) = merge.inner.without_early_losses(&begins) else {
            return Ok(this.unbind());
        };
        let kept: Vec<usize> = (0..inner.records).collect();
        Py::new(py, merge.with(py, inner, merge.added_of(&kept), Vec::new()))
    }

    #[doc = core_doc!(Merge.part)]
    fn part(&self, py: Python<'_>, owners: &Bound<'_, PyAny>) -> PyResult<Self> {
        let all = self.owners.bind(py).iter();
        let wanted: Vec<bool> = all.map(|one| owners.contains(one)).collect::<PyResult<_>>()?;
        let (inner, kept) = self.inner.of_streams(&wanted);
        let added = self.added_of(&kept);
        Ok(Self { part_of: Some(wanted), ..self.with(py, inner, added, kept) })
    }

    #[doc = core_doc!(Merge.adopt)]
    fn adopt(&self, part: &Self) {
        let known = self.derived().len();
        for AddedColumn { values, places } in part.derived().into_iter().skip(known) {
            let values = values.among(&part.whole, self.inner.records);
            let values = match &part.part_of {
                Some(wanted) => values.of_streams(wanted),
                None => values,
            };
            let values = Arc::new(values);
            self.add_column(AddedColumn { values, places });
        }
        let (visible, marks) = (part.visible(), part.marks());
        if let Some(shown) = visible {
            self.hide(self.among(&part.whole, &shown, true));
        }
        if let Some(marks) = marks {
            self.set_marks(self.among(&part.whole, &marks, Mark::default()));
        }
    }

    #[doc = core_doc!(Merge.select)]
    fn select(&self, py: Python<'_>, record_filter: &RecordFilter) {
        let derived: Vec<_> = self.derived().into_iter().map(|one| one.values).collect();
        let of = |stream: &Arc<_>| record_filter.of(stream);
        let visible = py.detach(|| passing(&self.inner, &derived, of));
        self.hide(visible);
    }

    #[doc = core_doc!(Merge.select_classes)]
    #[allow(clippy::needless_pass_by_value)]
    fn select_classes(&self, py: Python<'_>, wanted: Vec<Option<Vec<bool>>>) {
        let visible = py.detach(|| of_classes(&self.inner, &wanted));
        self.hide(visible);
    }

    #[doc = core_doc!(Merge.added_names)]
    #[getter]
    fn added_names(&self) -> Vec<String> {
        self.all_added_names()
    }

    #[doc = core_doc!(Merge.left_out)]
    #[getter]
    fn left_out(&self) -> usize {
        self.inner.left_out
    }

    #[doc = core_doc!(Merge.counts)]
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let batches = self.inner.batches.iter();
        let streams: Vec<usize> = batches.map(|batch| self.stream_index(batch)).collect();
        let mut counts: Vec<Option<(usize, i64, i64)>> = vec![None; self.streams.len()];
        for run in &self.inner.runs {
            let Some((batch, records)) = self.inner.run(run) else { continue };
            let (Some(first), Some(last)) = (records.first(), records.last()) else { continue };
            let (first, last) = (batch.nanoseconds(first), batch.nanoseconds(last));
            let stream = streams.get(run.batch as usize);
            if let Some(place) = stream.and_then(|&stream| counts.get_mut(stream)) {
                let (count, from, to) = place.unwrap_or((0, first, last));
                *place = Some((count + records.len(), from.min(first), to.max(last)));
            }
        }
        let result = PyList::empty(py);
        for (index, count) in counts.into_iter().enumerate() {
            if let Some((count, from, to)) = count {
                result.append((self.owners.bind(py).get_item(index)?, count, from, to))?;
            }
        }
        Ok(result)
    }

    #[doc = core_doc!(Merge.owners)]
    #[getter]
    fn owners(&self, py: Python<'_>) -> Py<PyList> {
        self.owners.clone_ref(py)
    }

    #[doc = core_doc!(Merge.run_count)]
    #[getter]
    fn run_count(&self) -> usize {
        self.inner.runs.len()
    }

    #[doc = core_doc!(Merge.notices)]
    #[getter]
    fn notices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let result = PyList::empty(py);
        for (rank, run, notice) in &self.inner.notices {
            let owner = self.owners.bind(py).get_item(*rank)?;
            let entry = match notice {
                Notice::Lost(lost) => {
                    let kind = match lost.kind {
                        LostKind::Events => "events",
                        LostKind::Packets => "packets",
                    };
                    (run, owner, kind, lost.count, lost.beginning, lost.end)
                        .into_pyobject(py)?
                        .into_any()
                }
                Notice::Boundary(boundary) => {
                    let kind = match &boundary.kind {
                        BoundaryKind::StreamBeginning => "stream-beginning",
                        BoundaryKind::PacketBeginning(_) => "packet-beginning",
                        BoundaryKind::PacketEnd(_) => "packet-end",
                        BoundaryKind::StreamEnd => "stream-end",
                    };
                    let offset = boundary.packet().map(|packet| packet.properties.offset);
                    (run, owner, kind, boundary.cycles, offset).into_pyobject(py)?.into_any()
                }
                Notice::Inactivity(cycles) => {
                    (run, owner, "inactivity", cycles, None::<u64>).into_pyobject(py)?.into_any()
                }
                Notice::Damage(file, damage) => {
                    let path = self.streams.get(*rank).and_then(|s| s.get().path(*file));
                    let damage = damage_tuple(path, damage);
                    (run, owner, "damage", damage).into_pyobject(py)?.into_any()
                }
            };
            result.append(entry)?;
        }
        Ok(result)
    }

    #[doc = core_doc!(Merge.time_span)]
    #[getter]
    fn time_span(&self) -> Option<(i64, i64)> {
        let timed = |record: (&Arc<Batch>, &Record)| {
            record.0.stream.has_clock().then(|| record.0.nanoseconds(record.1))
        };
        let edge = |run: Option<&muxer::Run>, last: bool| {
            let (batch, records) = self.inner.run(run?)?;
            let record = if last { records.last() } else { records.first() };
            let shared = self.inner.batches.iter().find(|b| std::ptr::eq(b.as_ref(), batch))?;
            timed((shared, record?))
        };
        Some((edge(self.inner.runs.first(), false)?, edge(self.inner.runs.last(), true)?))
    }

    #[doc = core_doc!(Merge.place)]
    pub fn place<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        let found = self.added().columns.iter().find_map(|one| {
            let place = one.values.index(index)?;
            Some((place, Arc::clone(one.places.as_ref()?)))
        });
        // Without the lock: it may call Python.
        match found {
            Some((place, places)) => places.get(py, place),
            None => Ok(None),
        }
    }
}

/// Iterates over the event records of a merge.
#[pyclass(frozen, module = "vestige._core")]
pub struct MergeEvents {
    merge: Py<Merge>,
    next: std::sync::atomic::AtomicUsize,
}

#[pymethods]
impl MergeEvents {
    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<EventRecord>> {
        let index = self.next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let merge = self.merge.bind(py);
        if index >= merge.get().inner.records {
            return Ok(None);
        }
        EventRecord::of(merge.clone(), index).map(Some)
    }
}
