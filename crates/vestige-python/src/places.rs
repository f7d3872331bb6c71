//! `PlaceColumn`: the scan for code addresses, stopped where a process image changes.
//!
//! The addresses that a stop finds pending are handed out in groups, one for each mapped
//! object, and each group gets its places in one call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyList;
use vestige_ctf::derived::{Derived, ValueTable};
use vestige_ctf::encode::value::Value;
use vestige_ctf::model::{FieldClass, FieldKind};
use vestige_ctf::places::{
    self, has_user_stacks, place_class, place_texts, place_value, stack_text, Frame, Pending,
    NO_PLACE, OF_KERNEL, USER, USER_STACKS,
};

use crate::merge::{AddedColumn, Merge};
use crate::place_format::PlaceFormat;
use crate::place_objects::PlaceObjects;
use crate::stream::DataStream;
use crate::symbols::SymbolTable;
use crate::unit_index::IndexedTable;

/// A symbol table of the core.
#[derive(FromPyObject)]
pub enum Table<'py> {
    /// One that reads debug information.
    Full(Bound<'py, SymbolTable>),
    /// One that reads an index.
    Indexed(Bound<'py, IndexedTable>),
}

/// Pending addresses, those of a process together and sorted, while they get places.
#[derive(Default)]
struct Round {
    pending: Vec<Pending>,
    /// How many of them have places.
    done: usize,
    /// The number of the first place.
    first: u32,
    /// The texts of the places; published together, since readers expect no gaps.
    texts: Vec<[String; 3]>,
}

impl Round {
    fn new(mut pending: Vec<Pending>) -> Self {
        let first = pending.first().map_or(0, |pending| pending.place);
        pending.sort_unstable_by_key(|pending| (pending.space, pending.vpid, pending.ip));
        let texts = vec![[const { String::new() }; 3]; pending.len()];
        Self { pending, done: 0, first, texts }
    }

    fn next(&self) -> Option<&Pending> {
        self.pending.get(self.done)
    }

    /// The next addresses up to `last`, all of one process.
    fn group(&self, last: u64) -> &[Pending] {
        let rest = self.pending.get(self.done..).unwrap_or_default();
        let Some(first) = rest.first() else { return rest };
        let process = (first.space, first.vpid);
        let end = rest.partition_point(|one| (one.space, one.vpid) == process && one.ip <= last);
        rest.get(..end).unwrap_or_default()
    }

    fn set(&mut self, place: u32, texts: [String; 3]) {
        if let Some(slot) = self.texts.get_mut(place.wrapping_sub(self.first) as usize) {
            *slot = texts;
        }
    }
}

/// Call stacks for whoever asks for them: all frames so far, and the numbers of the last merge; of
/// each kind.
#[derive(Default)]
struct KeptStacks {
    frames: [Vec<Vec<Frame>>; 2],
    columns: [Vec<u32>; 2],
}

#[doc = core_doc!(PlaceColumn)]
#[pyclass(frozen, module = "vestige._core")]
pub struct PlaceColumn {
    inner: Mutex<places::PlaceColumn>,
    name: String,
    round: Mutex<Round>,
    class: Arc<FieldClass>,
    table: Arc<ValueTable>,
    objects: Arc<PlaceObjects>,
    stacks: Arc<ValueTable>,
    kept: Mutex<Option<KeptStacks>>,
}

impl PlaceColumn {
    // A panic cannot leave either half-changed in a way that matters.

    fn lock(&self) -> MutexGuard<'_, places::PlaceColumn> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn round(&self) -> MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn kept(&self) -> MutexGuard<'_, Option<KeptStacks>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what the call stacks of programs are, where records have such.
    fn finish_stacks(&self, merge: &Merge) {
        let (fresh, column) = {
            let mut inner = self.lock();
            (inner.take_stacks(USER), inner.take_stack_column(USER))
        };
        if let Some(kept) = self.kept().as_mut() {
            let mut inner = self.lock();
            kept.frames[USER].extend(fresh.iter().cloned());
            kept.columns[USER].clone_from(&column);
            kept.frames[OF_KERNEL].extend(inner.take_stacks(OF_KERNEL));
            kept.columns[OF_KERNEL] = inner.take_stack_column(OF_KERNEL);
        }
        if column.is_empty() {
            return;
        }
        // All places of the merge are there by now.
        if let (Ok(places), Ok(mut stacks)) = (self.table.read(), self.stacks.write()) {
            let texts = |place: u32| places.get(place as usize).and_then(place_texts);
            let text = |one: &Vec<_>| Value::Bytes(stack_text(one, texts).into_bytes());
            stacks.extend(fresh.iter().map(text));
        }
        let has_stacks = |one: &Py<DataStream>| {
            let stream = &one.get().inner;
            let class = stream.trace.stream_classes.get(stream.class);
            class.is_some_and(|class| has_user_stacks(&stream.trace, class))
        };
        let streams = Some(merge.streams.iter().map(has_stacks).collect());
        let class = Arc::new(FieldClass::new(FieldKind::String));
        let (name, table) = (USER_STACKS.to_owned(), Arc::clone(&self.stacks));
        let values = Arc::new(Derived { name, class, column, table, streams });
        merge.add_column(AddedColumn { values, places: None });
    }

    fn write_group(
        &self,
        last: u64,
        table: Option<&vestige_symbols::SymbolTable>,
        form: Option<&vestige_symbols::PlaceFormat>,
    ) -> Vec<[String; 3]> {
        let addresses: Vec<u64> = self.round().group(last).iter().map(|one| one.ip).collect();
        let Some(form) = form else {
            return vec![[const { String::new() }; 3]; addresses.len()];
        };
        let Some(table) = table else {
            return addresses.iter().map(|&address| form.texts(address, None)).collect();
        };
        let in_file: Vec<u64> =
            addresses.iter().map(|&address| form.file_address(address)).collect();
        table.lookup_each(&in_file, |index, found| {
            // As many addresses go in as come out.
            form.texts(addresses.get(index).copied().unwrap_or_default(), Some(&found))
        })
    }

    /// Gives a group its texts, and each of its places an object.
    fn add_group(
        &self,
        last: u64,
        texts: Vec<[String; 3]>,
        mut object: impl FnMut(&PlaceObjects, &Pending),
    ) -> PyResult<()> {
        let mut round = self.round();
        let group = round.group(last).to_vec();
        if group.len() != texts.len() {
            let message = format!("{} addresses are pending, not {}", group.len(), texts.len());
            return Err(PyValueError::new_err(message));
        }
        for (pending, texts) in group.iter().zip(texts) {
            round.set(pending.place, texts);
            object(&self.objects, pending);
        }
        round.done += group.len();
        Ok(())
    }
}

#[pymethods]
impl PlaceColumn {
    #[new]
    fn new(field_name: String, state_events: Vec<String>) -> Self {
        Self {
            inner: Mutex::new(places::PlaceColumn::new(field_name.clone(), state_events)),
            name: field_name,
            round: Mutex::default(),
            class: Arc::new(place_class()),
            table: Arc::new(RwLock::new(Vec::new())),
            objects: Arc::default(),
            stacks: Arc::new(RwLock::new(Vec::new())),
            kept: Mutex::default(),
        }
    }

    #[doc = core_doc!(PlaceColumn.look_at_stacks)]
    fn look_at_stacks(&self) {
        self.lock().look_at_stacks();
    }

    #[doc = core_doc!(PlaceColumn.keep_stacks)]
    fn keep_stacks(&self) {
        let mut inner = self.lock();
        inner.look_at_stacks();
        inner.look_at_kernel_stacks();
        self.kept().get_or_insert_default();
    }

    #[doc = core_doc!(PlaceColumn.merge_stacks)]
    fn merge_stacks(&self, merge: &Merge) -> (Vec<Option<u32>>, Vec<Option<u32>>) {
        let columns = self.kept().as_ref().map(|kept| kept.columns.clone()).unwrap_or_default();
        let shown = merge.inner.shown(merge.visible().as_deref()).map(|(_, kept)| kept);
        let known = |one: &u32| (*one != NO_PLACE).then_some(*one);
        let numbers = |column: Vec<u32>| match &shown {
            Some(shown) if !column.is_empty() => {
                shown.iter().map(|&index| column.get(index).and_then(known)).collect()
            }
            _ => column.iter().map(known).collect(),
        };
        let [user, kernel] = columns;
        (numbers(user), numbers(kernel))
    }

    #[doc = core_doc!(PlaceColumn.stack)]
    fn stack<'py>(
        &self,
        py: Python<'py>,
        number: usize,
        is_kernel: bool,
    ) -> PyResult<Vec<(u64, Option<Bound<'py, PyAny>>)>> {
        let kind = if is_kernel { OF_KERNEL } else { USER };
        let frames = {
            let kept = self.kept();
            kept.as_ref().and_then(|kept| kept.frames.get(kind)?.get(number)).cloned()
        };
        let object = |(address, place): Frame| Ok((address, self.objects.get(py, place)?));
        let no_such = || PyIndexError::new_err(format!("no call stack has the number {number}"));
        frames.ok_or_else(no_such)?.into_iter().map(object).collect()
    }

    #[doc = core_doc!(PlaceColumn.begin)]
    fn begin(&self, py: Python<'_>, merge: &Merge) {
        py.detach(|| self.lock().begin(&merge.inner));
    }

    #[doc = core_doc!(PlaceColumn.advance)]
    fn advance(&self, py: Python<'_>) -> Option<(usize, usize, i64)> {
        let found = py.detach(|| self.lock().advance());
        found.map(|record| (record.index, record.space, record.vpid))
    }

    #[doc = core_doc!(PlaceColumn.take_pending)]
    fn take_pending(&self) -> Vec<(usize, i64, u64)> {
        let pending = self.lock().take_pending();
        pending.into_iter().map(|p| (p.space, p.vpid, p.ip)).collect()
    }

    #[doc = core_doc!(PlaceColumn.pending)]
    fn pending(&self) -> Option<(usize, i64, u64)> {
        let mut round = self.round();
        if round.next().is_none() {
            let fresh = Round::new(self.lock().take_pending());
            let before = std::mem::replace(&mut *round, fresh);
            if let Ok(mut table) = self.table.write() {
                table.extend(before.texts.into_iter().map(place_value));
            }
        }
        round.next().map(|next| (next.space, next.vpid, next.ip))
    }

    #[doc = core_doc!(PlaceColumn.pending_until)]
    fn pending_until(&self, last: u64) -> Vec<u64> {
        self.round().group(last).iter().map(|one| one.ip).collect()
    }

    #[doc = core_doc!(PlaceColumn.add_places)]
    fn add_places(
        &self,
        last: u64,
        texts: Vec<[String; 3]>,
        objects: &Bound<'_, PyList>,
    ) -> PyResult<()> {
        let objects: Vec<Py<PyAny>> = objects.iter().map(Bound::unbind).collect();
        if objects.len() != texts.len() {
            let message = format!("{} texts for {} objects", texts.len(), objects.len());
            return Err(PyValueError::new_err(message));
        }
        let mut objects = objects.into_iter();
        self.add_group(last, texts, |all, pending| {
            if let Some(object) = objects.next() {
                all.add(pending.place, object);
            }
        })
    }

    #[doc = core_doc!(PlaceColumn.add_lookups)]
    #[pyo3(signature = (last, table, form, make))]
    fn add_lookups(
        &self,
        py: Python<'_>,
        last: u64,
        table: Option<Table<'_>>,
        form: Option<&PlaceFormat>,
        make: Py<PyAny>,
    ) -> PyResult<bool> {
        let (table, index) = match &table {
            Some(Table::Full(table)) => (Some(&table.get().inner), None),
            Some(Table::Indexed(table)) => (Some(&table.get().inner), Some(&table.get().index)),
            None => (None, None),
        };
        let form = form.map(|form| &form.inner);
        let texts = py.detach(|| self.write_group(last, table, form));
        if index.is_some_and(|index| index.lacks_unit()) {
            return Ok(false);
        }
        self.add_group(last, texts, |all, pending| {
            all.add_later(pending.place, make.clone_ref(py), pending.ip);
        })?;
        Ok(true)
    }

    #[doc = core_doc!(PlaceColumn.image_changed)]
    fn image_changed(&self, space: usize, vpid: i64) {
        self.lock().image_changed(space, vpid);
    }

    #[doc = core_doc!(PlaceColumn.finish)]
    fn finish(&self, merge: &Merge) {
        let column = self.lock().take_column();
        let (class, table) = (Arc::clone(&self.class), Arc::clone(&self.table));
        let name = self.name.clone();
        let values = Arc::new(Derived { name, class, column, table, streams: None });
        merge.add_column(AddedColumn { values, places: Some(Arc::clone(&self.objects)) });
        self.finish_stacks(merge);
    }

    #[doc = core_doc!(PlaceColumn.count)]
    fn count(&self, py: Python<'_>, merge: &Merge) {
        py.detach(|| {
            let shown = merge.inner.shown(None);
            self.lock().count_column(shown.as_ref().map(|(_, kept)| kept.as_slice()));
        });
    }

    #[doc = core_doc!(PlaceColumn.counts)]
    #[getter]
    fn counts(&self) -> Vec<u64> {
        self.lock().counts().to_vec()
    }

    #[doc = core_doc!(PlaceColumn.without_place)]
    #[getter]
    fn without_place(&self) -> u64 {
        self.lock().without_place()
    }
}
