//! Which function was at an address, and when: so that a reading may begin anywhere.

use std::collections::{BTreeMap, HashMap};

use super::packing::{put, put_signed, Unpacker};

/// A process: its process space and its ID.
type Process = (u32, i32);

/// How many are kept.
const MOST: usize = 1 << 20;

/// A function at an address of a process, for some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Address {
    /// The process.
    pub process: Process,
    /// The address.
    pub address: u64,
    /// Index of the function.
    pub function: u32,
    /// Since when, nanoseconds.
    pub from: i64,
    /// Up to when, nanoseconds.
    pub until: i64,
}

/// The functions at all addresses that were asked for.
#[derive(Debug, Clone, Default)]
pub struct Addresses {
    all: Vec<Address>,
    /// Where those are in the list that are there now.
    current: HashMap<Process, BTreeMap<u64, usize>>,
    /// When what was at an address before was forgotten.
    ended: HashMap<(Process, u64), i64>,
    is_full: bool,
}

impl Addresses {
    /// Takes note of the function at an address.
    pub fn learn(&mut self, process: Process, address: u64, function: u32) {
        let current = self.current.entry(process).or_default();
        if current.contains_key(&address) {
            return;
        }
        if self.all.len() >= MOST {
            self.is_full = true;
            return;
        }
        current.insert(address, self.all.len());
        let from = self.ended.get(&(process, address)).copied().unwrap_or(i64::MIN);
        self.all.push(Address { process, address, function, from, until: i64::MAX });
    }

    /// What is at some addresses of a process, the last one included, may be others now.
    pub fn forget(&mut self, process: Process, first: u64, last: u64, now: i64) {
        let Some(current) = self.current.get_mut(&process) else { return };
        let found: Vec<(u64, usize)> =
            current.range(first..=last).map(|(&address, &index)| (address, index)).collect();
        for (address, index) in found {
            current.remove(&address);
            self.ended.insert((process, address), now);
            if let Some(one) = self.all.get_mut(index) {
                one.until = now;
            }
        }
    }

    /// All of them; `None` if there are too many.
    #[must_use]
    pub fn take(self) -> Option<Vec<Address>> {
        (!self.is_full).then_some(self.all)
    }
}

/// Writes addresses.
pub fn write(all: &[Address], into: &mut Vec<u8>) {
    put(into, all.len() as u64);
    for one in all {
        put(into, u64::from(one.process.0));
        put_signed(into, i64::from(one.process.1));
        put(into, one.address);
        put(into, u64::from(one.function));
        put_signed(into, one.from);
        put_signed(into, one.until);
    }
}

/// Reads what [`write`] wrote; `None` if it is anything else.
#[must_use]
pub fn read(from: &mut Unpacker<'_>) -> Option<Vec<Address>> {
    (0..from.count()?)
        .map(|_| {
            let process = (from.small()?, from.small_signed()?);
            let (address, function) = (from.take()?, from.small()?);
            let (from, until) = (from.take_signed()?, from.take_signed()?);
            Some(Address { process, address, function, from, until })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_one_function_at_a_time() {
        let mut addresses = Addresses::default();
        let process = (0, 7);
        addresses.learn(process, 16, 0);
        addresses.learn(process, 16, 0);
        addresses.learn((0, 8), 16, 0);
        addresses.forget(process, 0, 16, 100);
        addresses.forget(process, 0, 16, 150);
        addresses.learn(process, 16, 1);
        let all = addresses.take().unwrap();
        let times: Vec<(u32, i64, i64)> =
            all.iter().map(|one| (one.function, one.from, one.until)).collect();
        assert_eq!(times, [(0, i64::MIN, 100), (0, i64::MIN, i64::MAX), (1, 100, i64::MAX)]);
        let mut bytes = Vec::new();
        write(&all, &mut bytes);
        assert_eq!(read(&mut Unpacker::new(&bytes)), Some(all));
    }
}
