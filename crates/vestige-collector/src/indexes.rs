//! LTTng's index files, `index/NAME.idx`: where the packets of a data file are.
//!
//! An index saves readers the heads of packets, and tells nothing else. So packets come first, one
//! that cannot be written is removed, and what does not fit to its data file is cut off or removed.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::files::Files;
use crate::owner::Place;
use crate::packet::Head;

/// A trace that has this directory has an index of each data file.
pub const FOLDER: &str = "index";
const SUFFIX: &str = ".idx";

const MAGIC: u32 = 0xC1F1_DCC1;
/// CTF index 1.1.
const VERSION: [u32; 2] = [1, 1];
const HEADER_BYTES: u64 = 16;
const ENTRY_BYTES: usize = 72;
const BITS: u64 = 8;
const WRITABLE_BY_OTHERS: u32 = 0o002;
/// So many data files are known, then all are looked at again.
const MOST_KNOWN: usize = 4096;

/// What is known of an index.
#[derive(Clone, Copy)]
struct Known {
    /// Bytes of the data file that it lists.
    data: u64,
    /// Its own bytes, 0 before it is made; none: the data file has no index.
    index: Option<u64>,
}

/// The index files of a trace.
pub struct Indexes {
    is_kept: AtomicBool,
    known: Mutex<HashMap<String, Known>>,
}

/// The name of the index of a data file.
fn index_name(name: &str) -> String {
    format!("{FOLDER}/{name}{SUFFIX}")
}

fn header() -> Vec<u8> {
    let [major, minor] = VERSION;
    let words = [MAGIC, major, minor, ENTRY_BYTES as u32];
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// The entries of packets that stand one behind the other.
fn entries(at: u64, heads: &[Head]) -> (Vec<u8>, u64) {
    let mut bytes = Vec::with_capacity(heads.len() * ENTRY_BYTES);
    let mut place = at;
    for head in heads {
        let content = u64::from(head.content());
        let size = content + u64::from(head.padding());
        let numbers = [
            place,
            size * BITS,
            content * BITS,
            head.begin,
            head.end,
            head.discarded,
            u64::from(head.class()),
            head.instance_id,
            head.number,
        ];
        bytes.extend(numbers.iter().flat_map(|number| number.to_be_bytes()));
        place += size;
    }
    (bytes, place)
}

/// Where the packet of an entry ends.
fn end_of(entry: &[u8; ENTRY_BYTES]) -> Option<u64> {
    let (at, rest) = entry.split_first_chunk()?;
    let (bits, _) = rest.split_first_chunk()?;
    u64::from_be_bytes(*at).checked_add(u64::from_be_bytes(*bits) / BITS)
}

impl Indexes {
    /// Those of a trace, if it has a directory for them that nobody else can write to.
    pub fn open(place: &Place) -> Self {
        let indexes = Self { is_kept: AtomicBool::new(false), known: Mutex::default() };
        indexes.begin_anew(place);
        indexes
    }

    /// Goes on in another directory.
    pub fn begin_anew(&self, place: &Place) {
        let folder = place.path.join(FOLDER);
        let found = place.with_rights(|| fs::symlink_metadata(&folder));
        let is_kept = found.is_ok_and(|one| {
            one.is_dir() && one.uid() == place.user() && one.mode() & WRITABLE_BY_OTHERS == 0
        });
        self.is_kept.store(is_kept, Ordering::Relaxed);
        self.known().clear();
    }

    /// Whether there are any.
    pub fn are_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }

    /// Removes all of them, before their data files.
    pub fn clear(&self, files: &Files) {
        self.known().clear();
        if !self.are_kept() {
            return;
        }
        let place = files.place();
        let names = place
            .with_rights(|| fs::read_dir(place.path.join(FOLDER))?.collect::<io::Result<Vec<_>>>());
        for entry in names.unwrap_or_default() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if let Some(name) = name.strip_suffix(SUFFIX) {
                self.drop_file(files, name);
            }
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, name: &str, data: u64, index: Option<u64>) {
        let mut known = self.known();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(name.to_owned(), Known { data, index });
    }

    /// Adds packets that stand in a data file from a byte on.
    pub fn add(&self, files: &Files, name: &str, at: u64, heads: &[Head]) {
        if !self.are_kept() || heads.is_empty() {
            return;
        }
        let (bytes, end) = entries(at, heads);
        let index = self.length(files, name, at).and_then(|length| {
            let done = put(files, name, length, &bytes);
            done.inspect_err(|_| self.drop_file(files, name)).ok()
        });
        self.set(name, end, index);
    }

    /// The bytes of the index of a data file that has some; none: it has no index.
    fn length(&self, files: &Files, name: &str, data: u64) -> Option<u64> {
        let known = self.known().get(name).copied();
        match known {
            Some(one) if one.data == data => one.index,
            _ => self.settle(files, name, data),
        }
    }

    /// Lets the index list as many bytes as a data file has, which another collector may have
    /// left; its own bytes.
    pub fn settle(&self, files: &Files, name: &str, data: u64) -> Option<u64> {
        if !self.are_kept() {
            return None;
        }
        let index = if data == 0 { None } else { cut(files, name, data).ok().flatten() };
        if index.is_none() {
            self.drop_file(files, name);
        }
        let index = if data == 0 { Some(0) } else { index };
        self.set(name, data, index);
        index
    }

    /// Removes the index of a data file that goes away: before that, for an index without its data
    /// tells of a loss.
    pub fn remove(&self, files: &Files, name: &str) {
        if self.are_kept() {
            self.known().remove(name);
            self.drop_file(files, name);
        }
    }

    fn drop_file(&self, files: &Files, name: &str) {
        // It may not be there.
        let _ = files.remove(&index_name(name));
    }
}

/// Writes entries behind others; the bytes of the index then.
fn put(files: &Files, name: &str, length: u64, bytes: &[u8]) -> io::Result<u64> {
    let name = index_name(name);
    if length > 0 {
        let file = files.get(&name)?;
        files.write_at(&file, bytes, None, &[], length)?;
        return Ok(length + bytes.len() as u64);
    }
    let file = files.create(&name)?;
    files.write_at(&file, &header(), None, bytes, 0)?;
    Ok(HEADER_BYTES + bytes.len() as u64)
}

/// Cuts off what an index lists beyond the bytes of its data file; its own bytes, or none where it
/// does not list all of these.
fn cut(files: &Files, name: &str, data: u64) -> io::Result<Option<u64>> {
    let file = files.get(&index_name(name))?;
    let found = file.metadata()?.len();
    let mut head = [0; HEADER_BYTES as usize];
    file.read_exact_at(&mut head, 0)?;
    let mut count = found.saturating_sub(HEADER_BYTES) / ENTRY_BYTES as u64;
    while head.as_slice() == header() && count > 0 {
        let mut entry = [0; ENTRY_BYTES];
        let end = HEADER_BYTES + count * ENTRY_BYTES as u64;
        file.read_exact_at(&mut entry, end - ENTRY_BYTES as u64)?;
        match end_of(&entry) {
            Some(listed) if listed < data => break,
            Some(listed) if listed == data => {
                if end < found {
                    file.set_len(end)?;
                }
                return Ok(Some(end));
            }
            _ => count -= 1,
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_those_of_lttng() {
        let head = Head { instance_id: 7, begin: 10, end: 20, number: 4, ..Head::default() };
        let empty = head.content();
        let (bytes, end) = entries(100, &[head, Head { record_bytes: 3, ..head }]);
        assert_eq!(bytes.len(), 2 * ENTRY_BYTES);
        let numbers: Vec<u64> =
            bytes.chunks_exact(8).map(|one| u64::from_be_bytes(one.try_into().unwrap())).collect();
        let bits = u64::from(empty) * 8;
        assert_eq!(numbers[..9], [100, bits, bits, 10, 20, 0, 0, 7, 4]);
        let second = 100 + u64::from(empty);
        assert_eq!(numbers[9..12], [second, bits + 64, bits + 24]);
        assert_eq!(end, second + u64::from(empty) + 8);
        assert_eq!(end_of(bytes[72..].try_into().unwrap()), Some(end));
    }

    #[test]
    fn the_header_says_how_long_entries_are() {
        assert_eq!(header().len() as u64, HEADER_BYTES);
        assert_eq!(header()[..4], [0xC1, 0xF1, 0xDC, 0xC1]);
        assert_eq!(header()[12..], [0, 0, 0, 72]);
    }
}
