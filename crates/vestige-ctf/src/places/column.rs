//! The column of code addresses: for each record of a merge the index of its place.
//!
//! A trace of millions of records has some thousand distinct addresses. So each pair of a
//! process image and an address gets an index when it is first seen, and whoever knows the
//! images resolves it once. Images change over time: at a record that changes one (a state
//! dump, a load, an unload) the scan stops, so that the caller can resolve what is pending
//! under the old image and then apply the change.

use std::collections::HashMap;

use super::found::{Found, Kind};
use super::kernel::kernel_stacks;
use super::known::{Key, KnownPlaces, BLOCK, NO_PLACE};
use super::recorded_stacks::{Read, RecordedStacks};
use super::scan::AddressScan;
use super::stack_fields::Frame;
use super::user_stacks::UserKinds;
use crate::muxer::Merge;

/// Kinds of call stacks: those of programs, and those of the kernel.
pub const USER: usize = 0;
pub const OF_KERNEL: usize = 1;

/// An address that was not seen before in its process image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// Index of the place it will be.
    pub place: u32,
    /// Where the process ID counts, see `TraceIdentity::process_space`.
    pub space: usize,
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
    /// Where the process ID counts, see `TraceIdentity::process_space`.
    pub space: usize,
    /// Process ID.
    pub vpid: i64,
}

/// Addresses that are looked up together.
#[derive(Default)]
struct Block {
    keys: Vec<Key>,
    addresses: Vec<Found>,
}

/// Builds the columns of one merge after the other.
pub struct PlaceColumn {
    scan: AddressScan,
    found: Vec<Found>,
    images: HashMap<(usize, i64), u32>,
    next_image: u32,
    /// The process whose image was asked for last.
    last_image: Option<((usize, i64), u32)>,
    known: KnownPlaces,
    pending: Vec<Pending>,
    next_place: u32,
    /// The index of the next record.
    position: usize,
    /// Whether the record there was handed out as a state record already.
    applied: bool,
    column: Vec<u32>,
    counts: Vec<u64>,
    without_place: u64,
    /// Call stacks of programs, and those of the kernel.
    stacks: [Option<RecordedStacks>; 2],
    /// Those of the merge.
    read: [Read; 2],
}

impl PlaceColumn {
    /// A scan for records with `ip` and `vpid` in their common context, and where those are
    /// missing for events of function calls. Stream classes that have a member `field_name`
    /// in the common context already are left alone. `state_events` are the
    /// names of the event records that may change a process image.
    #[must_use]
    pub fn new(field_name: String, state_events: Vec<String>) -> Self {
        Self {
            scan: AddressScan::new(field_name, state_events),
            found: Vec::new(),
            images: HashMap::new(),
            next_image: 0,
            last_image: None,
            known: KnownPlaces::new(),
            pending: Vec::new(),
            next_place: 0,
            position: 0,
            applied: false,
            column: Vec::new(),
            counts: Vec::new(),
            without_place: 0,
            stacks: [None, None],
            read: Default::default(),
        }
    }

    /// Lets addresses of programs' call stacks in records of the kernel have places, too.
    pub fn look_at_stacks(&mut self) {
        self.stacks[USER].get_or_insert_with(|| RecordedStacks::new(UserKinds::find, true));
    }

    /// Lets those of call stacks of the kernel, too, but for functions that record.
    pub fn look_at_kernel_stacks(&mut self) {
        // Names are known of the very addresses that were recorded.
        self.stacks[OF_KERNEL].get_or_insert_with(|| RecordedStacks::new(kernel_stacks, false));
    }

    /// Begins a merge.
    pub fn begin(&mut self, merge: &Merge) {
        self.position = 0;
        self.applied = false;
        self.found = self.scan.read(merge);
        let read = |one: &mut Option<RecordedStacks>| {
            one.as_mut().map(|one| one.read(merge)).unwrap_or_default()
        };
        self.read = self.stacks.each_mut().map(read);
        self.column = Vec::with_capacity(self.found.len());
    }

    /// Goes on to the next record that may change a process image, or to the end of the
    /// merge. What is pending must be taken and resolved before the image is changed.
    pub fn advance(&mut self) -> Option<StateRecord> {
        let found = std::mem::take(&mut self.found);
        let read = std::mem::take(&mut self.read);
        let mut stop = None;
        let mut block = Block::default();
        for (index, one) in found.iter().enumerate().skip(self.position) {
            if one.kind.changes() && !self.applied {
                self.applied = true;
                stop = Some(StateRecord { index, space: one.space as usize, vpid: one.vpid });
                break;
            }
            self.applied = false;
            if one.kind.has_address() {
                block.keys.push((self.image(one), one.ip));
                block.addresses.push(*one);
            }
            for (kind, read) in read.iter().enumerate() {
                if let Some((space, process, stack)) = read.at(index) {
                    self.put_stack(kind, index, (space, process), stack);
                }
            }
            if block.keys.len() == BLOCK {
                self.push(found.get(self.position..=index).unwrap_or_default(), &mut block);
                self.position = index + 1;
            }
        }
        let end = stop.as_ref().map_or(found.len(), |stop| stop.index);
        self.push(found.get(self.position..end).unwrap_or_default(), &mut block);
        self.position = end;
        self.found = found;
        self.read = read;
        stop
    }

    /// Gives the call stack of a record its number, and its addresses their places.
    fn put_stack(&mut self, kind: usize, index: usize, (space, vpid): (u32, i64), stack: &[u64]) {
        let image = self.image(&Found { ip: 0, vpid, space, kind: Kind::Address });
        let (known, pending, next) = (&mut self.known, &mut self.pending, &mut self.next_place);
        let Some(Some(stacks)) = self.stacks.get_mut(kind) else { return };
        stacks.set(index, (image, stack), |ip| {
            let [place, ..] = known.get_or_insert(&[(image, ip)], |_| {
                let place = *next;
                pending.push(Pending { place, space: space as usize, vpid, ip });
                *next += 1;
                place
            });
            place
        });
    }

    /// Call stacks of programs, or of the kernel, that came since the last call, in the order of
    /// their numbers.
    pub fn take_stacks(&mut self, kind: usize) -> Vec<Vec<Frame>> {
        self.stacks_of(kind).map(RecordedStacks::take_fresh).unwrap_or_default()
    }

    /// For each record of the merge the number of its call stack, once [`PlaceColumn::advance`]
    /// reached its end; empty: no record can have one.
    pub fn take_stack_column(&mut self, kind: usize) -> Vec<u32> {
        self.stacks_of(kind).map(RecordedStacks::take_column).unwrap_or_default()
    }

    fn stacks_of(&mut self, kind: usize) -> Option<&mut RecordedStacks> {
        self.stacks.get_mut(kind).and_then(Option::as_mut)
    }

    /// Gives records their places; the block has those of them with an address.
    fn push(&mut self, records: &[Found], block: &mut Block) {
        let (pending, next) = (&mut self.pending, &mut self.next_place);
        let places = self.known.get_or_insert(&block.keys, |index| {
            let place = *next;
            if let Some(one) = block.addresses.get(index) {
                let space = one.space as usize;
                pending.push(Pending { place, space, vpid: one.vpid, ip: one.ip });
                *next += 1;
            }
            place
        });
        let mut places = places.into_iter();
        self.column.extend(records.iter().map(|one| match one.kind.has_address() {
            true => places.next().unwrap_or(NO_PLACE),
            false => NO_PLACE,
        }));
        block.keys.clear();
        block.addresses.clear();
    }

    /// The number of the image of a record's process.
    #[inline]
    fn image(&mut self, one: &Found) -> u32 {
        let process = (one.space as usize, one.vpid);
        // Most often the next record is of the same process.
        if let Some((_, image)) = self.last_image.filter(|(last, _)| *last == process) {
            return image;
        }
        let next_image = &mut self.next_image;
        let image = *self.images.entry(process).or_insert_with(|| {
            *next_image += 1;
            *next_image
        });
        self.last_image = Some((process, image));
        image
    }

    /// What was found since the last call and has no place yet.
    pub fn take_pending(&mut self) -> Vec<Pending> {
        std::mem::take(&mut self.pending)
    }

    /// Tells that the image of a process changed: its addresses are looked up anew.
    pub fn image_changed(&mut self, space: usize, vpid: i64) {
        self.next_image += 1;
        self.images.insert((space, vpid), self.next_image);
        self.last_image = None;
    }

    /// The column of the merge, once [`PlaceColumn::advance`] reached its end.
    pub fn take_column(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.column)
    }

    /// Counts the records of each place in the column of the merge, once
    /// [`PlaceColumn::advance`] reached its end; the column is not kept.
    ///
    /// `shown` has the indexes of the records that count; without it, all do.
    pub fn count_column(&mut self, shown: Option<&[usize]>) {
        self.counts.resize(self.next_place as usize, 0);
        let mut column = std::mem::take(&mut self.column);
        match shown {
            None => column.iter().for_each(|&place| self.count_place(place)),
            Some(shown) => {
                let places = shown.iter().filter_map(|&index| column.get(index));
                places.for_each(|&place| self.count_place(place));
            }
        }
        column.clear();
        self.column = column;
    }

    fn count_place(&mut self, place: u32) {
        match self.counts.get_mut(place as usize) {
            Some(count) => *count += 1,
            None => self.without_place += 1,
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
}
