//! In which order the packets of a data stream are read.

use std::sync::Arc;

use super::file::DataFile;

/// The packets of some files in an order.
#[derive(Debug, Default)]
pub struct PacketOrder {
    /// How many packets there are.
    length: usize,
    /// Index of the file and of the packet in it, for each packet; nothing when the only
    /// file is read from its beginning to its end.
    sorted: Option<Vec<(u32, u32)>>,
}

impl PacketOrder {
    /// The packets of some files, by time. A packet that stands in two files, as in
    /// overlapping snapshots, is there once.
    #[must_use]
    pub fn of(files: &[Arc<DataFile>]) -> Self {
        if let [only] = files {
            return Self { length: only.packets.len(), sorted: None };
        }
        let places = files.iter().zip(0..).flat_map(|(file, number): (_, u32)| {
            let packets = u32::try_from(file.packets.len()).unwrap_or(u32::MAX);
            (0..packets).map(move |packet| (number, packet))
        });
        let mut sorted: Vec<(u32, u32)> = places.collect();
        let file = |at: &(u32, u32)| files.get(at.0 as usize);
        let beginning = |at: &(u32, u32)| file(at)?.packets.beginning(at.1 as usize);
        if !sorted.is_sorted_by_key(beginning) {
            sorted.sort_by_cached_key(beginning);
        }
        let entry = |at: &(u32, u32)| file(at)?.packets.get(at.1 as usize);
        sorted.dedup_by(|right, left| {
            // What stands at another time is another packet: mostly there is no more to see.
            beginning(left) == beginning(right)
                && match (entry(left), entry(right)) {
                    (Some(left), Some(right)) => {
                        (left.size, left.end, left.sequence_number)
                            == (right.size, right.end, right.sequence_number)
                    }
                    _ => false,
                }
        });
        sorted.shrink_to_fit();
        Self { length: sorted.len(), sorted: Some(sorted) }
    }

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

    /// Index of the file, and of the packet in it, of the packet at an index.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<(usize, usize)> {
        match &self.sorted {
            Some(sorted) => sorted.get(index).map(|at| (at.0 as usize, at.1 as usize)),
            None => (index < self.length).then_some((0, index)),
        }
    }
}
