//! Numbers that lie close to their neighbours, in as few bytes as that takes.
//!
//! A trace may have millions of packets, and what is known of each is kept as long as it is
//! read. Offsets, times and counters of packets that follow each other differ little, so
//! blocks of them are stored as the least value and what each has beyond that.

/// How many values share a least value.
const BLOCK: usize = 64;

/// Some values in a row.
#[derive(Debug, Clone)]
struct Block {
    /// A bit for each value that is there.
    present: u64,
    least: u64,
    /// Where what the values have beyond the least begins.
    at: usize,
    /// In how many bytes each of them is.
    width: u8,
}

/// A list of numbers that may be missing.
#[derive(Debug, Clone, Default)]
pub(super) struct PackedColumn {
    blocks: Vec<Block>,
    bytes: Vec<u8>,
    /// The values behind the last whole block.
    rest: Vec<Option<u64>>,
}

impl PackedColumn {
    /// Adds a value behind the last.
    pub fn push(&mut self, value: Option<u64>) {
        self.rest.push(value);
        if self.rest.len() == BLOCK {
            self.pack();
        }
    }

    /// The value at an index; `None` also when there is no such index.
    #[inline]
    pub fn get(&self, index: usize) -> Option<u64> {
        let Some(block) = self.blocks.get(index / BLOCK) else {
            return self.rest.get(index - self.blocks.len() * BLOCK).copied().flatten();
        };
        let slot = index % BLOCK;
        if block.present >> slot & 1 == 0 {
            return None;
        }
        let width = usize::from(block.width);
        let at = block.at + slot * width;
        let mut beyond = [0; 8];
        beyond.get_mut(..width)?.copy_from_slice(self.bytes.get(at..at + width)?);
        Some(block.least.wrapping_add(u64::from_le_bytes(beyond)))
    }

    /// The value that all of them have, when there is only one.
    pub fn constant(&self) -> Option<Option<u64>> {
        let length = self.blocks.len() * BLOCK + self.rest.len();
        let value = self.get(0);
        let same = |block: &Block| {
            let expected = if value.is_some() { u64::MAX } else { 0 };
            block.width == 0 && block.present == expected && Some(block.least) == value.or(Some(0))
        };
        let is_constant = length > 0
            && self.blocks.iter().all(same)
            && self.rest.iter().all(|other| *other == value);
        is_constant.then_some(value)
    }

    /// Gives back memory that was kept for more values.
    pub fn shrink(&mut self) {
        self.blocks.shrink_to_fit();
        self.bytes.shrink_to_fit();
    }

    /// The bytes of memory it takes.
    #[cfg(test)]
    pub fn size(&self) -> usize {
        self.blocks.capacity() * size_of::<Block>() + self.bytes.capacity()
    }

    fn pack(&mut self) {
        let (mut least, mut most, mut present) = (u64::MAX, 0, 0);
        for (slot, value) in self.rest.iter().enumerate() {
            if let Some(value) = *value {
                (least, most) = (least.min(value), most.max(value));
                present |= 1 << slot;
            }
        }
        least = least.min(most);
        let width = (u64::BITS - (most - least).leading_zeros()).div_ceil(u8::BITS) as u8;
        let at = self.bytes.len();
        if width > 0 {
            self.bytes.resize(at + BLOCK * usize::from(width), 0);
            let places = self.bytes.get_mut(at..).unwrap_or_default();
            let places = places.chunks_exact_mut(usize::from(width));
            for (place, value) in places.zip(&self.rest) {
                let beyond = value.map_or(0, |value| value - least).to_le_bytes();
                place.copy_from_slice(beyond.get(..usize::from(width)).unwrap_or_default());
            }
        }
        self.rest.clear();
        self.blocks.push(Block { present, least, at, width });
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing)]
mod tests {
    use super::*;

    fn packed(values: &[Option<u64>]) -> PackedColumn {
        let mut column = PackedColumn::default();
        values.iter().for_each(|&value| column.push(value));
        column
    }

    #[test]
    fn every_value_comes_back() {
        let odd = [Some(0), None, Some(u64::MAX), Some(1 << 40), None, Some(7)];
        for count in [0, 1, 63, 64, 65, 128, 200] {
            let lists: [Vec<Option<u64>>; 4] = [
                (0..count).map(|index| Some(index as u64 * 256)).collect(),
                (0..count).map(|index| odd.get(index * 5 % 6).copied().flatten()).collect(),
                vec![None; count],
                vec![Some(u64::MAX); count],
            ];
            for values in lists {
                let column = packed(&values);
                let found: Vec<_> = (0..count).map(|index| column.get(index)).collect();
                assert_eq!(found, values);
                assert_eq!(column.get(count), None);
            }
        }
    }

    #[test]
    fn a_column_of_one_value_is_known_as_such() {
        for count in [1, 64, 100, 128] {
            assert_eq!(packed(&vec![Some(7); count]).constant(), Some(Some(7)));
            assert_eq!(packed(&vec![None; count]).constant(), Some(None));
            for other in [Some(8), None] {
                let mut values = vec![Some(7); count + 1];
                values[count / 2] = other;
                assert_eq!(packed(&values).constant(), None, "{count}");
            }
        }
        assert_eq!(packed(&[]).constant(), None);
    }

    #[test]
    fn neighbours_take_few_bytes() {
        let offsets: Vec<_> = (0..64_000).map(|index| Some((1 << 40) + index * 256)).collect();
        let mut column = packed(&offsets);
        column.shrink();
        assert!(column.size() < 3 * offsets.len());
        let same = packed(&vec![Some(12); 64_000]);
        assert!(same.size() < 64_000 * 2);
    }
}
