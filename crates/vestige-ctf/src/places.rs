//! The column of code addresses: for each record of a merge the index of its place.
//!
//! A trace of millions of records has some thousand distinct addresses. So each pair of a
//! process image and an address gets an index when it is first seen, and whoever knows the
//! images resolves it once. Images change over time: at a record that changes one (a state
//! dump, a load, an unload) the scan stops, so that the caller can resolve what is pending
//! under the old image and then apply the change.

use std::collections::HashMap;
use std::sync::Arc;

use crate::bits::BitReader;
use crate::model::{FieldKind, StreamClass};
use crate::muxer::Merge;
use crate::record::{skip, State};
use crate::stream::{Batch, DataStream, Record};

/// Marks a record without an address to resolve.
pub const NO_PLACE: u32 = u32::MAX;

/// An address that was not seen before in its process image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// Index of the place it will be.
    pub place: u32,
    /// Index of the trace.
    pub trace: usize,
    /// Process ID.
    pub vpid: i64,
    /// The address.
    pub ip: u64,
}

/// A record that may change a process image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateRecord {
    /// Index in the order of the merge.
    pub index: usize,
    /// Index of its batch in the merge.
    pub batch: usize,
    /// Index of the record in the batch.
    pub row: usize,
    /// Index of the trace.
    pub trace: usize,
    /// Process ID.
    pub vpid: i64,
}

/// Where the two fields are in the common context of a stream class.
#[derive(Debug, Clone)]
struct Layout {
    ip: usize,
    vpid: usize,
    /// Whether each event record class changes process images.
    state_classes: Vec<bool>,
}

/// Where a scan is in a merge.
#[derive(Debug, Default)]
struct Position {
    run: usize,
    row: usize,
    index: usize,
    /// Whether the record here was handed out as a state record already.
    applied: bool,
}

/// Builds the columns of one merge after the other.
pub struct PlaceColumn {
    field_name: String,
    state_events: Vec<String>,
    layouts: HashMap<usize, Option<Arc<Layout>>>,
    images: HashMap<(usize, i64), u32>,
    next_image: u32,
    known: HashMap<(u32, u64), u32, FastHash>,
    pending: Vec<Pending>,
    next_place: u32,
    position: Position,
    column: Vec<u32>,
    counts: Vec<u64>,
    without_place: u64,
    state: State,
}

/// Addresses are spread well enough by one multiplication.
#[derive(Clone, Copy, Default)]
pub struct FastHash;

/// The hasher of [`FastHash`].
#[derive(Default)]
pub struct FastHasher(u64);

impl std::hash::BuildHasher for FastHash {
    type Hasher = FastHasher;

    fn build_hasher(&self) -> FastHasher {
        FastHasher::default()
    }
}

impl std::hash::Hasher for FastHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0.rotate_left(5) ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

impl PlaceColumn {
    /// A scan for records with `ip` and `vpid` in their common context. Stream classes that
    /// have a member `field_name` there already are left alone. `state_events` are the
    /// names of the event records that may change a process image.
    #[must_use]
    pub fn new(field_name: String, state_events: Vec<String>) -> Self {
        Self {
            field_name,
            state_events,
            layouts: HashMap::new(),
            images: HashMap::new(),
            next_image: 0,
            known: HashMap::default(),
            pending: Vec::new(),
            next_place: 0,
            position: Position::default(),
            column: Vec::new(),
            counts: Vec::new(),
            without_place: 0,
            state: State::new(0),
        }
    }

    /// Begins a merge.
    pub fn begin(&mut self, merge: &Merge) {
        self.position = Position::default();
        self.column = Vec::with_capacity(merge.records);
    }

    /// Goes on to the next record that may change a process image, or to the end of the
    /// merge. What is pending must be taken and resolved before the image is changed.
    pub fn advance(&mut self, merge: &Merge) -> Option<StateRecord> {
        while let Some(run) = merge.runs.get(self.position.run) {
            if let Some((batch, records)) = merge.run(run) {
                let layout = self.layout(&batch.stream);
                let start = self.position.row;
                for (row, record) in records.iter().enumerate().skip(start) {
                    self.position.row = row;
                    let found = layout.as_ref().and_then(|l| self.visit(l, batch, record));
                    if let Some((vpid, trace)) = found {
                        return Some(StateRecord {
                            index: self.position.index,
                            batch: run.batch as usize,
                            row: run.start as usize + row,
                            trace,
                            vpid,
                        });
                    }
                    if layout.is_none() {
                        self.column.push(NO_PLACE);
                    }
                    self.position.index += 1;
                }
            }
            self.position.run += 1;
            self.position.row = 0;
        }
        None
    }

    /// Either stops at a record, or gives it its place.
    #[inline]
    fn visit(&mut self, layout: &Layout, batch: &Batch, record: &Record) -> Option<(i64, usize)> {
        let Some((ip, vpid)) = self.fields(layout, batch, record) else {
            self.column.push(NO_PLACE);
            return None;
        };
        let trace = batch.stream.identity.index;
        let stops = layout.state_classes.get(record.class as usize).copied().unwrap_or(false);
        if stops && !self.position.applied {
            self.position.applied = true;
            return Some((vpid, trace));
        }
        self.position.applied = false;
        let place = self.place(trace, vpid, ip);
        self.column.push(place);
        None
    }

    fn place(&mut self, trace: usize, vpid: i64, ip: u64) -> u32 {
        let next_image = &mut self.next_image;
        let image = *self.images.entry((trace, vpid)).or_insert_with(|| {
            *next_image += 1;
            *next_image
        });
        if let Some(&place) = self.known.get(&(image, ip)) {
            return place;
        }
        let place = self.next_place;
        self.next_place += 1;
        self.known.insert((image, ip), place);
        self.pending.push(Pending { place, trace, vpid, ip });
        place
    }

    fn fields(&mut self, layout: &Layout, batch: &Batch, record: &Record) -> Option<(u64, i64)> {
        let scope = batch.stream_class()?.event_context.as_ref()?;
        if self.state.slots.len() != batch.packet.slots.len() {
            self.state.slots.clone_from(&batch.packet.slots);
        }
        let end = batch.data.len() as u64 * 8;
        let mut reader = BitReader::new(&batch.data, u64::from(record.body), end);
        reader.align(scope.alignment()).ok()?;
        let (mut ip, mut vpid) = (0, 0);
        let last = layout.ip.max(layout.vpid);
        for (index, member) in scope.members().iter().enumerate().take(last + 1) {
            if index == layout.ip || index == layout.vpid {
                let value = self.state.integer(member.class.as_integer()?, &mut reader).ok()?;
                if index == layout.ip {
                    ip = value;
                } else {
                    vpid = value as i64;
                }
            } else {
                skip(&member.class, &mut reader, &mut self.state).ok()?;
            }
        }
        Some((ip, vpid))
    }

    /// What was found since the last call and has no place yet.
    pub fn take_pending(&mut self) -> Vec<Pending> {
        std::mem::take(&mut self.pending)
    }

    /// Tells that the image of a process changed: its addresses are looked up anew.
    pub fn image_changed(&mut self, trace: usize, vpid: i64) {
        self.next_image += 1;
        self.images.insert((trace, vpid), self.next_image);
    }

    /// The column of the merge, once [`PlaceColumn::advance`] reached its end.
    pub fn take_column(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.column)
    }

    /// Counts the records of each place in the column of the merge, once
    /// [`PlaceColumn::advance`] reached its end; the column is not kept.
    pub fn count_column(&mut self) {
        self.counts.resize(self.next_place as usize, 0);
        for place in self.column.drain(..) {
            match self.counts.get_mut(place as usize) {
                Some(count) => *count += 1,
                None => self.without_place += 1,
            }
        }
    }

    /// For each place how many records were counted.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// How many counted records have no address to resolve.
    #[must_use]
    pub fn without_place(&self) -> u64 {
        self.without_place
    }

    fn layout(&mut self, stream: &Arc<DataStream>) -> Option<Arc<Layout>> {
        let key = Arc::as_ptr(stream) as usize;
        if let Some(layout) = self.layouts.get(&key) {
            return layout.clone();
        }
        let class = stream.trace.stream_classes.get(stream.class);
        let layout = class.and_then(|class| self.find_layout(class)).map(Arc::new);
        self.layouts.insert(key, layout.clone());
        layout
    }

    fn find_layout(&self, class: &StreamClass) -> Option<Layout> {
        let (ip, vpid) = address_members(class, &self.field_name)?;
        let is_state = |name: &Option<String>| {
            name.as_ref().is_some_and(|name| self.state_events.contains(name))
        };
        Some(Layout {
            ip,
            vpid,
            state_classes: class.event_classes.iter().map(|event| is_state(&event.name)).collect(),
        })
    }
}

/// Indexes of `ip` and `vpid` in the common context of a stream class, when its records have
/// both and no field of the name that the places would get.
#[must_use]
pub fn address_members(class: &StreamClass, field_name: &str) -> Option<(usize, usize)> {
    let scope = class.event_context.as_ref()?;
    let integer = |name: &str, signed: Option<bool>| {
        let (index, class) = scope.member(name)?;
        let FieldKind::Integer(integer) = &class.kind else { return None };
        signed.is_none_or(|signed| integer.signed == signed).then_some(index)
    };
    if scope.members().iter().any(|member| member.name() == field_name) {
        return None;
    }
    Some((integer("ip", Some(false))?, integer("vpid", None)?))
}
