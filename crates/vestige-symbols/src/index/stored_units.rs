//! Tables of units kept in a file, so that later lookups need no debug information.
//!
//! A part of an index holds some units of one object, each with a checksum, and the map
//! of all units. All numbers are little-endian. It starts with a header:
//!
//! * magic (8 bytes), version, length of the key, number of steps of the map, number of
//!   units that are stored, CRC-32 of all that precedes the first unit, with 0 here, and
//!   32 bits that are 0 (6 x 32 bits);
//! * the key: what the index was made of;
//! * the steps of the map: where each starts (64 bits), then the unit of each (32);
//! * for each unit that is stored: its number, CRC-32 of its table (2 x 32), offset in the
//!   file, size (2 x 64);
//! * the tables, see [`crate::index::unit_table`].
//!
//! Nothing is believed: what does not fit is as if it were not there.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::OnceLock;

use crate::elf::encoded_numbers::{Cursor, Encoding};
use crate::index::unit_table::{UnitTable, NOTHING};
use crate::sized_reads::read_range;
use vestige_bytes::ReadAt;

const MAGIC: &[u8; 8] = b"VSTGUNIT";
const VERSION: u32 = 1;
const HEADER: u64 = 32;
const CRC_AT: std::ops::Range<usize> = 24..28;
const MAX_KEY: u32 = 64 << 10;
const ENCODING: Encoding = Encoding { big_endian: false, is_64: true };

/// Where the table of a unit is stored.
#[derive(Debug)]
struct Stored {
    part: usize,
    crc: u32,
    offset: u64,
    size: u64,
    table: OnceLock<Option<UnitTable>>,
}

/// One file of an index.
struct Part {
    source: Box<dyn ReadAt>,
    is_damaged: AtomicBool,
}

/// What the files of the index of one object hold.
pub struct UnitIndex {
    parts: Vec<Part>,
    units: BTreeMap<u32, Stored>,
    map: Vec<(u64, u32)>,
    lacks_unit: AtomicBool,
}

impl std::fmt::Debug for UnitIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UnitIndex").field("units", &self.units.len()).finish_non_exhaustive()
    }
}

/// The head of a part, decoded.
struct Head {
    map: Vec<(u64, u32)>,
    stored: Vec<(u32, u32, u64, u64)>,
}

impl UnitIndex {
    /// Combines the parts that were made for `key`; gives beside it which of them are of
    /// no use. `None` when all are.
    pub fn open(sources: Vec<Box<dyn ReadAt>>, key: &[u8]) -> (Option<Self>, Vec<usize>) {
        let mut index = Self {
            parts: Vec::new(),
            units: BTreeMap::new(),
            map: Vec::new(),
            lacks_unit: AtomicBool::new(false),
        };
        let mut useless = Vec::new();
        for (number, source) in sources.into_iter().enumerate() {
            match read_head(source.as_ref(), key) {
                Some(head) if index.map.is_empty() || head.map == index.map => {
                    index.add(head, index.parts.len());
                }
                _ => useless.push(number),
            }
            index.parts.push(Part { source, is_damaged: AtomicBool::new(false) });
        }
        ((!index.map.is_empty()).then_some(index), useless)
    }

    fn add(&mut self, head: Head, part: usize) {
        self.map = head.map;
        for (unit, crc, offset, size) in head.stored {
            let table = OnceLock::new();
            self.units.entry(unit).or_insert(Stored { part, crc, offset, size, table });
        }
    }

    /// Which of the parts, by their number, turned out to be damaged.
    pub fn damaged(&self) -> Vec<usize> {
        let parts = self.parts.iter().enumerate();
        let damaged = parts.filter(|(_, part)| part.is_damaged.load(Ordering::Relaxed));
        damaged.map(|(number, _)| number).collect()
    }

    /// Whether a lookup needed a unit that is not stored, so that its answer is no answer.
    pub fn lacks_unit(&self) -> bool {
        self.lacks_unit.load(Ordering::Relaxed)
    }

    /// The table of the unit that covers `address`.
    pub(crate) fn table_at(&self, address: u64) -> Option<&UnitTable> {
        let found = self.unit_at(address)?;
        let table = self.table(found);
        if table.is_none() {
            self.lacks_unit.store(true, Ordering::Relaxed);
        }
        table
    }

    /// The unit that covers `address`.
    pub(crate) fn unit_at(&self, address: u64) -> Option<u32> {
        let after = self.map.partition_point(|(start, _)| *start <= address);
        let (_, unit) = self.map.get(after.checked_sub(1)?)?;
        Some(*unit).filter(|unit| *unit != NOTHING)
    }

    /// The table of a unit, read at the first call.
    pub(crate) fn table(&self, unit: u32) -> Option<&UnitTable> {
        let stored = self.units.get(&unit)?;
        stored.table.get_or_init(|| self.load(stored)).as_ref()
    }

    /// All units that are stored, as one part of the index for `key`.
    pub fn merged(&self, key: &[u8]) -> Option<Vec<u8>> {
        let read = |(unit, stored): (&u32, &Stored)| Some((*unit, self.read(stored)?));
        let units: Vec<(u32, Vec<u8>)> = self.units.iter().filter_map(read).collect();
        let tables: Vec<_> = units.iter().map(|(unit, data)| (*unit, data.as_slice())).collect();
        (!tables.is_empty()).then(|| encode_part(key, &self.map, &tables))
    }

    /// The bytes of the table of a unit, as they are stored.
    pub(crate) fn bytes(&self, unit: u32) -> Option<Vec<u8>> {
        self.read(self.units.get(&unit)?)
    }

    fn load(&self, stored: &Stored) -> Option<UnitTable> {
        UnitTable::from_bytes(self.read(stored)?)
    }

    fn read(&self, stored: &Stored) -> Option<Vec<u8>> {
        let part = self.parts.get(stored.part)?;
        let data = read_range(part.source.as_ref(), "a unit", stored.offset, stored.size);
        let data = data.ok().filter(|data| crc32fast::hash(data) == stored.crc);
        if data.is_none() {
            part.is_damaged.store(true, Ordering::Relaxed);
        }
        data
    }
}

/// Reads all that precedes the first unit; `None` when it is damaged or of another object.
fn read_head(source: &dyn ReadAt, key: &[u8]) -> Option<Head> {
    let header = read_range(source, "a header", 0, HEADER).ok()?;
    let mut cursor = Cursor::new(header.strip_prefix(MAGIC)?, ENCODING);
    let (version, key_length) = (cursor.u32()?, cursor.u32()?);
    let (steps, stored, crc) = (cursor.u32()?, cursor.u32()?, cursor.u32()?);
    if version != VERSION || key_length > MAX_KEY || key_length as usize != key.len() {
        return None;
    }
    let size = HEADER + u64::from(key_length) + u64::from(steps) * 12 + u64::from(stored) * 24;
    let mut data = read_range(source, "an index", 0, size).ok()?;
    data.get_mut(CRC_AT)?.fill(0);
    if crc32fast::hash(&data) != crc {
        return None;
    }
    let mut cursor = Cursor::new(data.get(HEADER as usize..)?, ENCODING);
    if cursor.bytes(key.len())? != key {
        return None;
    }
    let starts: Option<Vec<u64>> = (0..steps).map(|_| cursor.u64()).collect();
    let units: Option<Vec<u32>> = (0..steps).map(|_| cursor.u32()).collect();
    let mut entry = || Some((cursor.u32()?, cursor.u32()?, cursor.u64()?, cursor.u64()?));
    let stored: Option<Vec<_>> = (0..stored).map(|_| entry()).collect();
    Some(Head { map: starts?.into_iter().zip(units?).collect(), stored: stored? })
}

/// Writes a part: a key, the map of all units, and the tables of some by number.
pub(crate) fn encode_part(key: &[u8], map: &[(u64, u32)], units: &[(u32, &[u8])]) -> Vec<u8> {
    let sizes: usize = units.iter().map(|(_, table)| table.len()).sum();
    let head = HEADER as usize + key.len() + map.len() * 12 + units.len() * 24;
    let mut data = Vec::with_capacity(head + sizes);
    data.extend(MAGIC);
    for number in [VERSION, key.len() as u32, map.len() as u32, units.len() as u32, 0, 0] {
        data.extend(number.to_le_bytes());
    }
    data.extend(key);
    map.iter().for_each(|(start, _)| data.extend(start.to_le_bytes()));
    map.iter().for_each(|(_, unit)| data.extend(unit.to_le_bytes()));
    let mut offset = head as u64;
    for (unit, table) in units {
        data.extend(unit.to_le_bytes());
        data.extend(crc32fast::hash(table).to_le_bytes());
        data.extend(offset.to_le_bytes());
        data.extend((table.len() as u64).to_le_bytes());
        offset += table.len() as u64;
    }
    let crc = crc32fast::hash(&data).to_le_bytes();
    if let Some(place) = data.get_mut(CRC_AT) {
        place.copy_from_slice(&crc);
    }
    units.iter().for_each(|(_, table)| data.extend(*table));
    data
}
