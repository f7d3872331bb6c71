//! The functions of an index, and the numbers that a fold has for them.
//!
//! A function may be at several addresses, or in several processes: a fold takes these for
//! different ones, and whoever names them finds out that they are the same.

use super::packing::{put, Unpacker};

/// For each number of a fold the function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionIds {
    ids: Vec<u32>,
    /// In place of a function that is not known.
    unknown: u32,
}

impl FunctionIds {
    /// The functions by the numbers of a fold.
    #[must_use]
    pub fn new(ids: Vec<u32>) -> Self {
        let unknown = ids.iter().max().map_or(0, |last| last.saturating_add(1));
        Self { ids, unknown }
    }

    /// The function of a number; what stands for others than functions stays what it is.
    #[inline]
    #[must_use]
    pub fn of(&self, number: u32) -> u32 {
        if number >= u32::MAX - 2 {
            return number;
        }
        self.ids.get(number as usize).copied().unwrap_or(self.unknown)
    }

    /// Which numbers are of some functions.
    #[must_use]
    pub fn numbers_of(&self, wanted: &[u32]) -> Vec<bool> {
        let wanted = flags(wanted.iter().copied());
        self.ids.iter().map(|&id| wanted.get(id as usize).copied().unwrap_or(false)).collect()
    }

    /// Writes them.
    pub fn write(&self, into: &mut Vec<u8>) {
        put(into, self.ids.len() as u64);
        for &id in &self.ids {
            put(into, u64::from(id));
        }
    }

    /// Reads what [`FunctionIds::write`] wrote; `None` if it is anything else.
    #[must_use]
    pub fn read(from: &mut Unpacker<'_>) -> Option<Self> {
        let count = from.count()?;
        let ids: Option<Vec<u32>> = (0..count).map(|_| from.small()).collect();
        // There are no more functions than numbers.
        let ids = ids.filter(|ids| ids.iter().all(|&id| (id as usize) < count))?;
        Some(Self::new(ids))
    }
}

/// A list that is true at some indexes.
#[must_use]
pub fn flags(indexes: impl Iterator<Item = u32>) -> Vec<bool> {
    let mut flags = Vec::new();
    for index in indexes.filter(|&index| index < 1 << 24) {
        let index = index as usize;
        if index >= flags.len() {
            flags.resize(index + 1, false);
        }
        if let Some(flag) = flags.get_mut(index) {
            *flag = true;
        }
    }
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_a_function_are_found_and_come_back() {
        let ids = FunctionIds::new(vec![0, 1, 0, 2]);
        assert_eq!([0, 1, 2, 3, 4, u32::MAX].map(|one| ids.of(one)), [0, 1, 0, 2, 3, u32::MAX]);
        assert_eq!(ids.numbers_of(&[0, 2]), [true, false, true, true]);
        let mut bytes = Vec::new();
        ids.write(&mut bytes);
        assert_eq!(FunctionIds::read(&mut Unpacker::new(&bytes)), Some(ids));
        assert_eq!(FunctionIds::read(&mut Unpacker::new(&[2, 0, 2])), None);
    }
}
