//! The packets of a file and what is known of them, in a few bytes each.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::packed_column::PackedColumn;
use super::packet::PacketProperties;
use super::packet_entry::PacketEntry;

/// Packets in the order of their file.
#[derive(Debug, Clone, Default)]
pub struct PacketList {
    length: usize,
    offsets: PackedColumn,
    /// Sizes with padding, bits.
    totals: PackedColumn,
    /// Sizes without it, bits.
    contents: PackedColumn,
    events_at: PackedColumn,
    stream_classes: PackedColumn,
    stream_instances: PackedColumn,
    beginnings: PackedColumn,
    ends: PackedColumn,
    events_discarded: PackedColumn,
    sequence_numbers: PackedColumn,
}

impl PacketList {
    /// How many packets there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// What is known of the packet at an index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<PacketEntry> {
        Some(PacketEntry {
            offset: self.offsets.get(index)?,
            size: self.totals.get(index)? / 8,
            beginning: self.beginnings.get(index),
            end: self.ends.get(index),
            events_discarded: self.events_discarded.get(index),
            sequence_number: self.sequence_numbers.get(index),
        })
    }

    /// The byte offset of the packet at an index in the file.
    #[must_use]
    pub fn offset(&self, index: usize) -> Option<u64> {
        self.offsets.get(index)
    }

    /// The clock value that the packet at an index states as its beginning.
    #[must_use]
    pub fn beginning(&self, index: usize) -> Option<u64> {
        self.beginnings.get(index)
    }

    /// The clock value that the packet at an index states as its end.
    #[must_use]
    pub fn end(&self, index: usize) -> Option<u64> {
        self.ends.get(index)
    }

    /// The size of the packet at an index with its padding, bytes.
    #[must_use]
    pub fn size(&self, index: usize) -> Option<u64> {
        self.totals.get(index).map(|bits| bits / 8)
    }

    /// The sequence number of the packet at an index.
    #[must_use]
    pub fn sequence_number(&self, index: usize) -> Option<u64> {
        self.sequence_numbers.get(index)
    }

    /// What is known of all packets, in order.
    pub fn iter(&self) -> impl Iterator<Item = PacketEntry> + '_ {
        (0..self.length).filter_map(|index| self.get(index))
    }

    /// What the header and the context of the packet at an index say, as far as it was kept:
    /// all but where the context begins and how much of the packet is there.
    pub(super) fn properties(&self, index: usize) -> Option<PacketProperties> {
        let content_bits = self.contents.get(index)?;
        Some(PacketProperties {
            offset: self.offsets.get(index)?,
            total_bits: self.totals.get(index)?,
            content_bits,
            available_bits: content_bits,
            context_at: 0,
            events_at: self.events_at.get(index)?,
            stream_class: self.stream_classes.get(index)? as usize,
            stream_instance: self.stream_instances.get(index),
            beginning: self.beginnings.get(index),
            end: self.ends.get(index),
            events_discarded: self.events_discarded.get(index),
            sequence_number: self.sequence_numbers.get(index),
            faults: None,
        })
    }

    /// The same of all packets, in order.
    pub(super) fn all_properties(&self) -> impl Iterator<Item = PacketProperties> + '_ {
        (0..self.length).filter_map(|index| self.properties(index))
    }

    /// The size of the content of the packet at an index, bits, if it holds no event record.
    pub(super) fn content_without_records(&self, index: usize) -> Option<u64> {
        let content = self.contents.get(index)?;
        (Some(content) == self.events_at.get(index)).then_some(content)
    }

    /// The index of the stream class of most packets; of several, of the first.
    pub(super) fn common_stream_class(&self) -> Option<usize> {
        self.most_common(&self.stream_classes).flatten().map(|class| class as usize)
    }

    /// The stream instance of most packets; of several, of the first.
    pub(super) fn common_stream_instance(&self) -> Option<Option<u64>> {
        self.most_common(&self.stream_instances)
    }

    fn most_common(&self, column: &PackedColumn) -> Option<Option<u64>> {
        if let Some(value) = column.constant() {
            return Some(value);
        }
        let mut counts: BTreeMap<Option<u64>, (usize, Reverse<usize>)> = BTreeMap::new();
        for index in 0..self.length {
            counts.entry(column.get(index)).or_insert((0, Reverse(index))).0 += 1;
        }
        counts.into_iter().max_by_key(|&(_, rank)| rank).map(|(value, _)| value)
    }

    /// The packets of a stream class, and the others.
    pub(super) fn split_by_class(self, class: Option<usize>) -> (Self, Vec<PacketProperties>) {
        let class = class.map(|class| class as u64);
        if self.stream_classes.constant() == Some(class) {
            return (self, Vec::new());
        }
        let is_other = |packet: &PacketProperties| Some(packet.stream_class as u64) != class;
        let others = self.all_properties().filter(is_other).collect();
        let mine: Vec<bool> =
            (0..self.length).map(|index| self.stream_classes.get(index) == class).collect();
        (self.filtered(|index| mine.get(index) == Some(&true)), others)
    }

    /// Adds a packet behind the last.
    pub(super) fn push(&mut self, packet: &PacketProperties) {
        self.length += 1;
        self.offsets.push(Some(packet.offset));
        self.totals.push(Some(packet.total_bits));
        self.contents.push(Some(packet.content_bits));
        self.events_at.push(Some(packet.events_at));
        self.stream_classes.push(Some(packet.stream_class as u64));
        self.stream_instances.push(packet.stream_instance);
        self.beginnings.push(packet.beginning);
        self.ends.push(packet.end);
        self.events_discarded.push(packet.events_discarded);
        self.sequence_numbers.push(packet.sequence_number);
    }

    /// The packets at whose indexes `keep` is true.
    pub(super) fn filtered(mut self, keep: impl Fn(usize) -> bool) -> Self {
        if !(0..self.length).all(&keep) {
            let mut kept = Self::default();
            let wanted = (0..self.length).filter(|&index| keep(index));
            wanted.filter_map(|index| self.properties(index)).for_each(|one| kept.push(&one));
            self = kept;
        }
        self.columns_mut().into_iter().for_each(PackedColumn::shrink);
        self
    }

    fn columns_mut(&mut self) -> [&mut PackedColumn; 10] {
        [
            &mut self.offsets,
            &mut self.totals,
            &mut self.contents,
            &mut self.events_at,
            &mut self.stream_classes,
            &mut self.stream_instances,
            &mut self.beginnings,
            &mut self.ends,
            &mut self.events_discarded,
            &mut self.sequence_numbers,
        ]
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn packet(number: u64) -> PacketProperties {
        PacketProperties {
            offset: number * 256,
            total_bits: 2048,
            content_bits: 1500 + number % 400,
            available_bits: 1500 + number % 400,
            events_at: 608,
            stream_class: 1,
            beginning: Some((1 << 50) + number * 20_000),
            end: Some((1 << 50) + number * 20_000 + 7_000),
            events_discarded: Some(number / 100),
            sequence_number: (number % 3 > 0).then_some(number),
            ..PacketProperties::default()
        }
    }

    fn list(count: u64) -> PacketList {
        let mut list = PacketList::default();
        (0..count).for_each(|number| list.push(&packet(number)));
        list
    }

    #[test]
    fn what_is_known_of_a_packet_comes_back() {
        let list = list(200);
        for number in 0..200 {
            assert_eq!(list.properties(number), Some(packet(number as u64)));
            let entry = list.get(number).unwrap();
            assert_eq!((entry.offset, entry.size), (number as u64 * 256, 256));
        }
        assert_eq!(list.get(200), None);
    }

    #[test]
    fn packets_that_are_left_out_leave_no_gap() {
        let list = list(200).filtered(|index| index % 2 == 0);
        assert_eq!(list.len(), 100);
        assert_eq!(list.properties(99), Some(packet(198)));
    }

    #[test]
    fn a_packet_takes_at_most_64_bytes() {
        let mut list = list(64_000).filtered(|_| true);
        let size: usize = list.columns_mut().iter().map(|column| column.size()).sum();
        assert!(size < 64_000 * 64, "{} bytes a packet", size / 64_000);
        // With times a few seconds apart it is much less.
        assert!(size < 64_000 * 24, "{} bytes a packet", size / 64_000);
    }
}
