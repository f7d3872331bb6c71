//! What processes have loaded, as their state dumps say it: found from outside, without
//! asking them.
//!
//! Where files are mapped, the kernel tells; what else there is to say of an object is in its
//! file. What cannot be read is left out: no name is better than a wrong one.

use std::collections::hash_map::{Entry, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use vestige_symbols::{ObjectFile, ReadAt, Segment};

use crate::process_maps::{FileMapping, ProcessFolder};

/// Headers, notes and names of sections take some kilobytes.
const MOST_BYTES: u64 = 8 << 20;
/// Objects of a process. The dynamic linker needs minutes for more.
const MOST_OBJECTS: usize = 65_536;
/// Longer ones than programs tell.
const LONGEST_BUILD_ID: usize = 64;
const PAGE: u64 = 4096;
const PT_LOAD: u32 = 1;
const PF_X: u32 = 1;

/// An object in the memory of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedObject {
    /// Where its first segment starts.
    pub base: u64,
    /// Bytes from there to the end of its last.
    pub size: u64,
    /// As the process sees it.
    pub path: Vec<u8>,
    pub facts: Arc<Facts>,
}

impl LoadedObject {
    /// One that was found earlier, as it was told; none if that cannot be.
    pub fn told((base, size): (u64, u64), path: Vec<u8>, facts: Facts) -> Option<Self> {
        base.checked_add(size)?;
        let name = facts.debug_link.as_ref().map_or(&[][..], |link| &link.0);
        // A name ends with its first zero.
        let is_name = !path.contains(&0) && !name.contains(&0);
        let is_told = is_name && facts.build_id.len() <= LONGEST_BUILD_ID;
        is_told.then(|| Self { base, size, path, facts: Arc::new(facts) })
    }

    fn end(&self) -> u64 {
        self.base.saturating_add(self.size)
    }
}

/// What the file of an object says.
#[derive(Debug, Default)]
pub struct Facts {
    pub is_pic: bool,
    /// Empty if there is none.
    pub build_id: Vec<u8>,
    /// The name of a debug file, and its checksum.
    pub debug_link: Option<(Vec<u8>, u32)>,
    /// Those that are loaded; of objects that were only told, none.
    segments: Vec<Segment>,
}

impl PartialEq for Facts {
    fn eq(&self, other: &Self) -> bool {
        (self.is_pic, &self.build_id, &self.debug_link)
            == (other.is_pic, &other.build_id, &other.debug_link)
    }
}

impl Eq for Facts {}

/// The objects of processes, by the numbers of these as we see them.
pub type Loaded = HashMap<u32, Vec<LoadedObject>>;

/// Device, inode, when it was changed last, and its size.
type Identity = (u64, u64, (i64, i64), u64);
/// A file as the kernel calls it where it tells of mappings.
type Mapped = (u64, u64);

/// Looks at processes, and remembers files.
#[derive(Default)]
pub struct LoadedObjects {
    known: Mutex<HashMap<Identity, Arc<Facts>>>,
}

impl LoadedObjects {
    /// Looks at what processes have loaded now; those that cannot be read are left out.
    pub fn read(&self, processes: &[u32]) -> Loaded {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut round = Round { known: &known, seen: HashMap::new(), found: HashMap::new() };
        let read = |process: &u32| Some((*process, round.objects(*process).ok()?));
        let loaded: Loaded = processes.iter().filter_map(read).collect();
        // What nobody has loaded any more is forgotten.
        let found = round.found;
        *known = found;
        loaded
    }
}

/// One look at many processes: each file is looked at once.
struct Round<'a> {
    known: &'a HashMap<Identity, Arc<Facts>>,
    seen: HashMap<Mapped, Option<Arc<Facts>>>,
    found: HashMap<Identity, Arc<Facts>>,
}

impl Round<'_> {
    fn objects(&mut self, process: u32) -> io::Result<Vec<LoadedObject>> {
        let folder = ProcessFolder::open(process)?;
        let mappings = folder.mappings()?;
        if mappings.is_empty() {
            // It has ended.
            return Err(io::ErrorKind::NotFound.into());
        }
        let mut objects = Vec::new();
        for mapping in mappings.iter().filter(|one| one.is_executable) {
            let Some(facts) = self.facts(&folder, mapping) else { continue };
            let Some(bias) = facts.bias(mapping) else { continue };
            let Some(object) = place(facts, bias, mapping, &mappings) else { continue };
            if objects.last() != Some(&object) && objects.len() < MOST_OBJECTS {
                objects.push(object);
            }
        }
        objects.sort_by_key(|one| one.base);
        objects.dedup_by_key(|one| one.base);
        Ok(objects)
    }

    /// What the file of a mapping says; `None` if it is no object, or cannot be read.
    fn facts(&mut self, folder: &ProcessFolder, mapping: &FileMapping) -> Option<Arc<Facts>> {
        if let Some(seen) = self.seen.get(&mapping.file) {
            return seen.clone();
        }
        let facts = self.look_at_file(folder, mapping).ok();
        self.seen.insert(mapping.file, facts.clone());
        facts
    }

    fn look_at_file(
        &mut self,
        folder: &ProcessFolder,
        mapping: &FileMapping,
    ) -> io::Result<Arc<Facts>> {
        let file = folder.open_file(mapping)?;
        let status = file.metadata()?;
        let changed = (status.mtime(), status.mtime_nsec());
        let identity = (status.dev(), status.ino(), changed, status.size());
        let facts = match self.known.get(&identity) {
            Some(known) => Arc::clone(known),
            None => Arc::new(Facts::read(file, status.size(), status.blocks() * 512)?),
        };
        Ok(match self.found.entry(identity) {
            Entry::Occupied(one) => Arc::clone(one.get()),
            Entry::Vacant(one) => Arc::clone(one.insert(facts)),
        })
    }
}

impl Facts {
    /// What was told of an object.
    pub fn told(is_pic: bool, build_id: Vec<u8>, debug_link: Option<(Vec<u8>, u32)>) -> Self {
        Self { is_pic, build_id, debug_link, segments: Vec::new() }
    }

    fn read(file: File, size: u64, stored: u64) -> io::Result<Self> {
        let source = Bounded { file, size, stored, read: AtomicU64::new(0) };
        let object = ObjectFile::new(Box::new(source))
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
        let build_id = object.build_id().filter(|id| id.len() <= LONGEST_BUILD_ID);
        Ok(Self {
            is_pic: object.is_pic(),
            build_id: build_id.unwrap_or_default().to_vec(),
            debug_link: object.debug_link().map(|link| (link.name.clone(), link.crc)),
            segments: object
                .segments()
                .iter()
                .filter(|one| one.kind == PT_LOAD && one.memory_size > 0)
                .copied()
                .collect(),
        })
    }

    /// How far addresses are from those in the file, if a mapping is of code.
    fn bias(&self, mapping: &FileMapping) -> Option<u64> {
        let has = |one: &&Segment| {
            let end = one.offset.saturating_add(one.file_size);
            one.flags & PF_X != 0 && (page_of(one.offset)..end.max(1)).contains(&mapping.offset)
        };
        let segment = self.segments.iter().find(has)?;
        let first_byte = mapping.start.wrapping_sub(mapping.offset);
        Some(first_byte.wrapping_add(segment.offset).wrapping_sub(segment.address))
    }
}

/// The object of a mapping, if its first segment is where it must be.
fn place(
    facts: Arc<Facts>,
    bias: u64,
    code: &FileMapping,
    mappings: &[FileMapping],
) -> Option<LoadedObject> {
    let first = facts.segments.iter().min_by_key(|one| one.address)?;
    let end = facts.segments.iter().map(|one| one.address.saturating_add(one.memory_size)).max()?;
    let (address, size) = (first.address, end - first.address);
    let base = bias.wrapping_add(address);
    let after = mappings.partition_point(|one| one.start <= base);
    let there = mappings.get(after.checked_sub(1)?)?;
    let is_there = there.file == code.file
        && page_of(base).wrapping_sub(there.start).wrapping_add(there.offset)
            == page_of(first.offset);
    let is_whole = base < there.end && base.checked_add(size).is_some();
    (is_there && is_whole).then(|| LoadedObject { base, size, path: there.path.clone(), facts })
}

fn page_of(place: u64) -> u64 {
    place & !(PAGE - 1)
}

/// What was loaded before and after something happened, and contradicts nothing.
///
/// Processes that are gone keep what they had. An object that came where another one has
/// been is left out, as is that one.
pub fn joined(before: &Loaded, mut after: Loaded) -> Loaded {
    for (process, objects) in before {
        match after.entry(*process) {
            Entry::Vacant(gone) => {
                gone.insert(objects.clone());
            }
            Entry::Occupied(mut one) if one.get() != objects => {
                let all = one.get().iter().chain(objects).cloned().collect();
                one.insert(without_contradictions(all));
            }
            Entry::Occupied(_) => {}
        }
    }
    after
}

fn without_contradictions(mut all: Vec<LoadedObject>) -> Vec<LoadedObject> {
    all.sort_by_key(|one| (one.base, one.size));
    all.dedup();
    let mut end = 0;
    let mut is_wrong = vec![false; all.len()];
    // Which of those before reaches farthest.
    let mut farthest = 0;
    for (index, one) in all.iter().enumerate() {
        if index > 0 && one.base < end {
            for wrong in [index, farthest] {
                if let Some(place) = is_wrong.get_mut(wrong) {
                    *place = true;
                }
            }
        }
        if one.end() > end {
            (end, farthest) = (one.end(), index);
        }
    }
    let mut wrong = is_wrong.into_iter();
    all.retain(|_| !wrong.next().unwrap_or(false));
    all
}

/// A file of which only so much is read.
struct Bounded {
    file: File,
    size: u64,
    stored: u64,
    read: AtomicU64,
}

impl ReadAt for Bounded {
    fn len(&self) -> u64 {
        self.size
    }

    fn stored(&self) -> u64 {
        self.stored
    }

    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let wanted = bytes.len() as u64;
        let before = self.read.fetch_add(wanted, Ordering::Relaxed);
        if before.saturating_add(wanted) > MOST_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.file.read_at(bytes, offset)
    }
}

#[cfg(test)]
mod tests {
    use std::slice;

    use super::*;

    #[test]
    fn what_cannot_be_is_not_told() {
        let facts = |id: &[u8], link: &[u8]| Facts::told(true, id.into(), Some((link.into(), 1)));
        let told = |place, path: &[u8], facts| LoadedObject::told(place, path.into(), facts);
        assert!(told((u64::MAX, 0), b"/a", facts(&[1; LONGEST_BUILD_ID], b"link")).is_some());
        assert_eq!(told((u64::MAX, 1), b"/a", facts(b"", b"")), None);
        assert_eq!(told((1, 1), b"/a\0b", facts(b"", b"")), None);
        assert_eq!(told((1, 1), b"/a", facts(b"", b"a\0b")), None);
        assert_eq!(told((1, 1), b"/a", facts(&[1; LONGEST_BUILD_ID + 1], b"")), None);
    }

    #[test]
    fn what_was_told_is_what_was_found() {
        let file = File::open("/proc/self/exe").unwrap();
        let size = file.metadata().unwrap().len();
        let found = Facts::read(file, size, size).unwrap();
        let link = found.debug_link.clone();
        let told = Facts::told(found.is_pic, found.build_id.clone(), link.clone());
        assert_eq!(told, found);
        assert_ne!(Facts::told(!found.is_pic, found.build_id.clone(), link), found);
    }

    fn object(base: u64, size: u64, path: &str) -> LoadedObject {
        LoadedObject { base, size, path: path.into(), facts: Arc::default() }
    }

    fn one(objects: &[LoadedObject]) -> Loaded {
        HashMap::from([(1, objects.to_vec())])
    }

    #[test]
    fn what_came_and_what_went_are_both_there() {
        let (a, b, c) = (object(10, 10, "a"), object(20, 10, "b"), object(40, 1, "c"));
        let all = joined(&one(&[a.clone(), b.clone()]), one(&[b.clone(), c.clone()]));
        assert_eq!(all, one(&[a.clone(), b, c]));
        assert_eq!(joined(&one(slice::from_ref(&a)), Loaded::new()), one(slice::from_ref(&a)));
        assert_eq!(joined(&Loaded::new(), one(slice::from_ref(&a))), one(&[a]));
    }

    #[test]
    fn what_cannot_have_been_there_together_is_left_out() {
        let (a, far) = (object(10, 10, "a"), object(100, 1, "far"));
        for other in [object(10, 10, "b"), object(10, 9, "a"), object(19, 5, "b")] {
            let all = joined(&one(&[a.clone(), far.clone()]), one(&[other, far.clone()]));
            assert_eq!(all, one(slice::from_ref(&far)));
        }
        let (wide, inner) = (object(0, 50, "wide"), [object(1, 2, "b"), object(30, 2, "c")]);
        let all = joined(&one(&[wide, far.clone()]), one(&inner));
        assert_eq!(all, one(&[far]));
    }
}
