//! What is kept of a trace, so that it need not be read again: the bytes of a file.
//!
//! The file is not trusted: whatever is in it, reading it gives an index or nothing.

use super::addresses::{self, Address};
use super::checkpoints::CheckPoints;
use super::function_ids::FunctionIds;
use super::packed_bytes::Stored;
use super::packing::{put, put_bytes, put_signed, Unpacker};
use super::pyramid::Levels;

/// What the bytes begin with; the digit is the version.
const MAGIC: &[u8] = b"vestige intervals 2\n";

/// What tells threads apart: data stream, process space, process ID and thread ID.
pub type RowKey = (u32, u32, i32, i32);

/// A row of a timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The thread.
    pub key: RowKey,
    /// Time of its first record, nanoseconds.
    pub first: i64,
    /// Time of its last record, nanoseconds.
    pub last: i64,
    /// How many records it has.
    pub records: u64,
    /// How many of them are entries.
    pub entries: u64,
}

/// A call site: process, address, and the address of the function that it is in.
pub type Site = ((u32, i32), u64, u64);

/// What is kept of a trace.
#[derive(Debug, Default)]
pub struct IntervalIndex {
    /// What the reader says of functions and threads, in whatever form.
    pub facts: Vec<u8>,
    /// The functions, by the numbers that the rest has.
    pub ids: FunctionIds,
    /// The threads, in the order in which they were seen to call anything.
    pub threads: Vec<Row>,
    /// The origins of other records, in the order in which they were seen.
    pub others: Vec<Row>,
    /// The functions at all addresses.
    pub addresses: Vec<Address>,
    /// The functions in which call sites are.
    pub sites: Vec<Site>,
    /// When processes executed other programs.
    pub ends: Vec<(i64, (u32, i32))>,
    /// Where a reading may begin.
    pub points: CheckPoints,
    /// The calls.
    pub calls: Levels,
    /// The records that are no calls.
    pub events: Levels,
}

impl IntervalIndex {
    /// The bytes of the file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut into = MAGIC.to_vec();
        put_bytes(&mut into, &self.facts);
        self.ids.write(&mut into);
        for rows in [&self.threads, &self.others] {
            put(&mut into, rows.len() as u64);
            for row in rows {
                write_row(row, &mut into);
            }
        }
        addresses::write(&self.addresses, &mut into);
        put(&mut into, self.sites.len() as u64);
        for ((space, vpid), site, function) in &self.sites {
            put(&mut into, u64::from(*space));
            put_signed(&mut into, i64::from(*vpid));
            put(&mut into, *site);
            put(&mut into, *function);
        }
        put(&mut into, self.ends.len() as u64);
        for (time, (space, vpid)) in &self.ends {
            put_signed(&mut into, *time);
            put(&mut into, u64::from(*space));
            put_signed(&mut into, i64::from(*vpid));
        }
        self.points.write(&mut into);
        self.calls.write(&mut into);
        self.events.write(&mut into);
        into
    }

    /// What the bytes of a file are; `None` if they are not of an index.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::read(bytes, None)
    }

    /// What the bytes of a file are, of which those of blocks stay where they are `stored`.
    #[must_use]
    pub fn read(bytes: &[u8], stored: Option<&Stored>) -> Option<Self> {
        let mut from = Unpacker::new(bytes.strip_prefix(MAGIC)?);
        let facts = from.bytes()?.to_vec();
        let ids = FunctionIds::read(&mut from)?;
        let threads = read_rows(&mut from)?;
        let others = read_rows(&mut from)?;
        let addresses = addresses::read(&mut from)?;
        let sites = (0..from.count()?)
            .map(|_| {
                let process = (from.small()?, from.small_signed()?);
                Some((process, from.take()?, from.take()?))
            })
            .collect::<Option<Vec<Site>>>()?;
        let ends = (0..from.count()?)
            .map(|_| Some((from.take_signed()?, (from.small()?, from.small_signed()?))))
            .collect::<Option<Vec<(i64, (u32, i32))>>>()?;
        let points = CheckPoints::read(&mut from)?;
        let calls = Levels::read(&mut from, stored)?;
        let events = Levels::read(&mut from, stored)?;
        if !from.is_empty() {
            return None;
        }
        Some(Self { facts, ids, threads, others, addresses, sites, ends, points, calls, events })
    }
}

fn write_row(row: &Row, into: &mut Vec<u8>) {
    put(into, u64::from(row.key.0));
    put(into, u64::from(row.key.1));
    put_signed(into, i64::from(row.key.2));
    put_signed(into, i64::from(row.key.3));
    put_signed(into, row.first);
    put_signed(into, row.last);
    put(into, row.records);
    put(into, row.entries);
}

fn read_rows(from: &mut Unpacker<'_>) -> Option<Vec<Row>> {
    (0..from.count()?)
        .map(|_| {
            let key = (from.small()?, from.small()?, from.small_signed()?, from.small_signed()?);
            let (first, last) = (from.take_signed()?, from.take_signed()?);
            Some(Row { key, first, last, records: from.take()?, entries: from.take()? })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::intervals::testing::{random_calls, Random};
    use crate::intervals::Pyramid;

    fn index() -> IntervalIndex {
        let mut pyramid = Pyramid::default();
        for call in random_calls(&mut Random(9), 3000) {
            pyramid.add(call);
        }
        let row = |number| Row {
            key: (number, 0, 7, -1),
            first: -5,
            last: i64::MAX,
            records: 10,
            entries: 5,
        };
        let mut points = CheckPoints::default();
        points.add(5, b"state".to_vec());
        IntervalIndex {
            facts: b"{}".to_vec(),
            ids: FunctionIds::new(vec![0, 1, 0]),
            threads: vec![row(0), row(u32::MAX)],
            others: vec![row(3)],
            addresses: Vec::new(),
            sites: vec![((0, -1), u64::MAX, 0)],
            ends: vec![(-7, (1, -1))],
            points,
            calls: pyramid.finish(),
            events: Levels::default(),
        }
    }

    #[test]
    fn an_index_comes_back() {
        let index = index();
        let bytes = index.to_bytes();
        let read = IntervalIndex::from_bytes(&bytes).unwrap();
        assert_eq!(read.facts, index.facts);
        assert_eq!((&read.threads, &read.others), (&index.threads, &index.others));
        assert_eq!(read.sites, index.sites);
        assert_eq!(read.points.before(9), index.points.before(9));
        assert_eq!(read.calls.sizes(), index.calls.sizes());
        assert_eq!(read.to_bytes(), bytes);
    }

    #[test]
    fn blocks_may_stay_where_they_are() {
        let bytes = index().to_bytes();
        let file = [b"head", &bytes[..], b"more"].concat();
        let end = file.len() as u64 - 4;
        let stored = Stored { source: Arc::new(file), end };
        let there = IntervalIndex::read(&bytes, Some(&stored)).unwrap();
        let here = IntervalIndex::from_bytes(&bytes).unwrap();
        let ranges = [(i64::MIN, i64::MAX), (5_000_000, 9_000_000)];
        for (begin, end) in ranges {
            assert!(!here.blocks(0, begin, end).is_empty());
            assert_eq!(there.blocks(0, begin, end), here.blocks(0, begin, end));
        }
        assert_eq!(there.to_bytes(), bytes);
    }

    #[test]
    fn blocks_that_are_gone_are_none() {
        let bytes = index().to_bytes();
        let stored = Stored { source: Arc::new(Vec::new()), end: bytes.len() as u64 };
        let there = IntervalIndex::read(&bytes, Some(&stored)).unwrap();
        assert_eq!(there.blocks(0, i64::MIN, i64::MAX), []);
    }

    #[test]
    fn other_bytes_are_none() {
        let bytes = index().to_bytes();
        for length in (0..bytes.len()).step_by(31) {
            assert!(IntervalIndex::from_bytes(&bytes[..length]).is_none());
        }
        let mut random = Random(4);
        for _ in 0..2000 {
            let mut damaged = bytes.clone();
            let place = random.below(damaged.len() as u64) as usize;
            damaged[place] ^= 1 << random.below(8);
            // Whatever it is, all of it can be asked for.
            if let Some(index) = IntervalIndex::from_bytes(&damaged) {
                let _ = index.calls.within(0, i64::MIN, i64::MAX);
            }
        }
    }
}
