//! Call stacks that event records of the kernel have: each gets a number.
//!
//! A trace has far fewer different stacks than records, so their addresses are looked up once: those
//! of programs ([`super::user_stacks`]) in the image of their process, those of the kernel
//! ([`super::kernel`]) in the kernel.

use std::collections::HashMap;
use std::sync::Arc;

use super::known::NO_PLACE;
use super::scan::{read_records, RecordTask};
use super::stack_fields::{Frame, StackKinds, MORE};
use crate::keyed_hash::KeyedMap;
use crate::model::{StreamClass, TraceClass};
use crate::muxer::Merge;
use crate::record::State;
use crate::stream::{Batch, DataStream, Part, Record};

/// Most different stacks that have numbers, and most addresses in these.
const MOST: usize = 1 << 20;
const MOST_ADDRESSES: usize = 1 << 24;

type Layout = Option<Arc<dyn StackKinds>>;
/// Finds out where records of a stream class have their stack.
pub type Find = fn(&TraceClass, &StreamClass) -> Layout;

/// The stacks of the records of a merge, in order.
#[derive(Default)]
pub struct Read {
    /// For each record the process, its space, and where its addresses end; empty: none has any.
    records: Vec<(i64, u32, usize)>,
    addresses: Vec<u64>,
}

impl RecordTask for Read {
    type Layout = Layout;
    type Packet = ();

    fn packet(_: &Self::Layout, _: &Batch, _: &Part) {}

    fn run(
        &mut self,
        layout: &Self::Layout,
        (): &(),
        batch: &Batch,
        records: &[Record],
        state: &mut State,
    ) {
        let space = batch.stream.identity.process_space;
        for record in records {
            let begin = self.addresses.len();
            let read =
                |kinds: &Arc<dyn StackKinds>| kinds.read(batch, record, state, &mut self.addresses);
            let process = layout.as_ref().and_then(read);
            if process.is_none() {
                self.addresses.truncate(begin);
            }
            self.records.push((process.unwrap_or(0), space, self.addresses.len()));
        }
    }
}

impl Read {
    /// Space, process and addresses of a record that has a stack.
    #[must_use]
    pub fn at(&self, index: usize) -> Option<(u32, i64, &[u64])> {
        let &(process, space, end) = self.records.get(index)?;
        let before = index.checked_sub(1).and_then(|one| self.records.get(one));
        let stack = self.addresses.get(before.map_or(0, |one| one.2)..end)?;
        (!stack.is_empty()).then_some((space, process, stack))
    }

    fn append(&mut self, more: Self) {
        let moved = self.addresses.len();
        self.addresses.extend(more.addresses);
        self.records
            .extend(more.records.into_iter().map(|(one, space, end)| (one, space, end + moved)));
    }
}

/// Gives stacks numbers.
pub struct RecordedStacks {
    find: Find,
    /// Whether callers are looked up one byte before where they go on.
    is_before: bool,
    layouts: KeyedMap<u64, Layout>,
    known: HashMap<(u32, Box<[u64]>), u32>,
    addresses: usize,
    /// Stacks that nobody has taken.
    fresh: Vec<Vec<Frame>>,
    column: Vec<u32>,
}

impl RecordedStacks {
    /// For stacks that `find` finds; callers are looked up one byte before where they go on, if
    /// `is_before`.
    #[must_use]
    pub fn new(find: Find, is_before: bool) -> Self {
        Self {
            find,
            is_before,
            layouts: KeyedMap::default(),
            known: HashMap::new(),
            addresses: 0,
            fresh: Vec::new(),
            column: Vec::new(),
        }
    }

    /// Reads the stacks of a merge.
    pub fn read(&mut self, merge: &Merge) -> Read {
        let layouts: Vec<_> = merge.batches.iter().map(|one| self.layout(&one.stream)).collect();
        let mut all = Read::default();
        self.column.clear();
        if layouts.iter().any(Option::is_some) {
            read_records::<Read>(merge, &layouts).into_iter().for_each(|one| all.append(one));
            self.column.resize(merge.records, NO_PLACE);
        }
        all
    }

    fn layout(&mut self, stream: &DataStream) -> Layout {
        let find = self.find;
        let of = || find(&stream.trace, stream.trace.stream_classes.get(stream.class)?);
        self.layouts.entry(stream.classes()).or_insert_with(of).clone()
    }

    /// Gives a record's stack its number; `place` gives an address its place.
    pub fn set(
        &mut self,
        index: usize,
        (image, stack): (u32, &[u64]),
        mut place: impl FnMut(u64) -> u32,
    ) {
        let key = (image, Box::from(stack));
        let count = self.known.len() as u32;
        let number = match self.known.get(&key) {
            Some(&number) => number,
            None if self.known.len() >= MOST || self.addresses >= MOST_ADDRESSES => return,
            None => {
                let is_before = self.is_before;
                let frame = |(at, &address): (usize, &u64)| match address {
                    MORE => (MORE, NO_PLACE),
                    // Callers go on behind their calls.
                    _ => (address, place(address.saturating_sub(u64::from(is_before && at > 0)))),
                };
                self.fresh.push(stack.iter().enumerate().map(frame).collect());
                self.addresses += stack.len();
                self.known.insert(key, count);
                count
            }
        };
        if let Some(slot) = self.column.get_mut(index) {
            *slot = number;
        }
    }

    /// The stacks that came since the last call, in the order of their numbers.
    pub fn take_fresh(&mut self) -> Vec<Vec<Frame>> {
        std::mem::take(&mut self.fresh)
    }

    /// For each record of the merge the number of its stack; empty: no record can have one.
    pub fn take_column(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_has_a_number_in_each_image() {
        let mut stacks = RecordedStacks::new(|_, _| None, true);
        stacks.column = vec![NO_PLACE; 4];
        let mut asked = Vec::new();
        let stack = [0x10, 0x20, MORE];
        for (index, image) in [(0, 7), (1, 7), (3, 8)] {
            stacks.set(index, (image, &stack), |address| {
                asked.push(address);
                asked.len() as u32
            });
        }

        assert_eq!(asked, [0x10, 0x1f, 0x10, 0x1f]);
        let frames = |first| vec![(0x10, first), (0x20, first + 1), (MORE, NO_PLACE)];
        assert_eq!(stacks.take_fresh(), [frames(1), frames(3)]);
        assert_eq!(stacks.take_column(), [0, 0, NO_PLACE, 1]);
    }
}
