//! A recording in a folder of its own, threads that play the tracer, and a reader of packets.

#![allow(dead_code, reason = "each test file uses a part")]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use vestige_collector::accounts::path_of;
use vestige_collector::arena::Plan;
use vestige_collector::collector::Collector;
use vestige_collector::geometry::Geometry;
use vestige_collector::layout::{
    CLASS_BYTES, CLASS_TABLE_BYTES, LEDGER_BYTES, RECORDS_AT, RINGS_OVERWRITE, SLOT_BYTES,
};
use vestige_collector::life;
use vestige_collector::mapping::Mapping;
use vestige_collector::recording::Limits;
use vestige_collector::sys;
use vestige_collector::views::{Chunk, Control, Ledger, Shared, Slot};

pub const UUID: [u8; 16] = *b"0123456789abcdef";
static FOLDERS: AtomicU32 = AtomicU32::new(0);

/// A folder that goes away with the test.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let name = format!("vestige-collector-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(path.join("trace")).unwrap();
        fs::create_dir_all(path.join("memory")).unwrap();
        fs::write(path.join("trace/metadata"), "/* CTF 1.8 */\n").unwrap();
        Self(path)
    }

    pub fn trace(&self) -> PathBuf {
        self.0.join("trace")
    }

    /// Arenas, which tests want to see go.
    pub fn memory(&self) -> PathBuf {
        self.0.join("memory")
    }

    /// The arena, by its file.
    pub fn arena(&self) -> Option<PathBuf> {
        let paths = fs::read_dir(self.memory()).unwrap().map(|entry| entry.unwrap().path());
        paths.into_iter().find(|path| path.extension().is_none())
    }

    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.trace()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

/// An arena and its accounts, as they were at some time.
pub struct Kept {
    arena: PathBuf,
    bytes: Vec<u8>,
    accounts: Vec<u8>,
}

impl Kept {
    pub fn of(arena: &Path) -> Self {
        let accounts = fs::read(path_of(arena)).unwrap();
        Self { arena: arena.to_owned(), bytes: fs::read(arena).unwrap(), accounts }
    }

    /// Puts them back, in other files.
    pub fn put_back(&self) {
        fs::write(&self.arena, &self.bytes).unwrap();
        let mut accounts = self.accounts.clone();
        let inode = fs::metadata(&self.arena).unwrap().ino();
        accounts[8..16].copy_from_slice(&inode.to_ne_bytes());
        let path = path_of(&self.arena);
        fs::write(&path, accounts).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
}

/// A field of the control structure that collectors believe, of 4 bytes.
pub fn set_control(arena: &Path, at: u64, value: u32) {
    let file = OpenOptions::new().write(true).open(path_of(arena)).unwrap();
    file.write_all_at(&value.to_ne_bytes(), 4096 + at).unwrap();
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub fn plan() -> Plan {
    Plan {
        fingerprint: 7,
        uuid: UUID,
        chunk_bytes: 4096,
        chunk_count: 256,
        thread_chunks: 0,
        slot_count: 600,
        ring_chunks: 16,
        cpu_rings: 0,
        wait_ns: 1_000_000_000,
        is_overwriting: false,
        rings_overwrite: false,
        rules: b"rules".to_vec(),
        classes_bytes: 1 << 20,
        first_class: 26,
        user: sys::effective_user(),
    }
}

pub fn collector(folder: &Folder) -> Collector {
    collector_of(folder, &plan(), 0)
}

pub fn collector_of(folder: &Folder, plan: &Plan, max_bytes: u64) -> Collector {
    let limits = Limits { max_bytes, is_overwriting: plan.is_overwriting, ..Limits::default() };
    let write = Box::new(sys::write_parts);
    let made = Collector::new(&folder.trace(), &folder.memory(), plan, limits, write).unwrap();
    // As its thread does at first; not every test starts it.
    made.recording().keep_ahead();
    made
}

/// A collector that goes on with what another one has handed over.
pub fn next_collector(folder: &Folder) -> Collector {
    Collector::attach(&folder.trace(), &folder.memory(), Box::new(sys::write_parts)).unwrap()
}

/// What the tracer writes of a class without fields.
pub fn class_text(name: &str) -> String {
    format!("\tname = \"{name}\";\n\tstream_id = 0;\n\tloglevel = 13;\n\tfields := struct {{ }};\n")
}

/// Waits for something that other threads do.
pub fn wait_until(mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < deadline, "it did not happen");
        std::thread::yield_now();
    }
}

/// Runs threads until the kernel has noticed that they ended; what the closures gave.
pub fn run<R: Send>(threads: impl IntoIterator<Item = impl FnOnce() -> R + Send>) -> Vec<R> {
    std::thread::scope(|scope| {
        let started: Vec<_> = threads.into_iter().map(|thread| scope.spawn(thread)).collect();
        // The end of the scope would only wait for the closures.
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// A program: the arena as another process maps it.
pub struct Program {
    pub memory: Mapping,
    pub geometry: Geometry,
    rings_overwrite: bool,
}

impl Program {
    pub fn open(arena: &Path) -> Self {
        let file = OpenOptions::new().read(true).write(true).open(arena).unwrap();
        let memory = Mapping::new(&file, file.metadata().unwrap().len()).unwrap();
        let geometry = Geometry::read(&memory).unwrap();
        let flags = Control::new(&memory, 0).flags().load(Ordering::Relaxed);
        let rings_overwrite = flags & RINGS_OVERWRITE != 0;
        Self { memory, geometry, rings_overwrite }
    }

    pub fn of(folder: &Folder) -> Self {
        Self::open(&folder.arena().unwrap())
    }

    pub fn shared(&self) -> Shared<'_> {
        Shared::new(&self.memory, self.geometry.shared_at)
    }

    pub fn slot(&self, slot: u32) -> Slot<'_> {
        Slot::new(&self.memory, self.geometry.slots_at + u64::from(slot - 1) * SLOT_BYTES)
    }

    pub fn ledger(&self, slot: u32) -> Ledger<'_> {
        Ledger::new(&self.memory, self.geometry.ledgers_at + u64::from(slot - 1) * LEDGER_BYTES)
    }

    pub fn chunk_at(&self, chunk: u32) -> u64 {
        self.geometry.chunks_at + u64::from(chunk - 1) * u64::from(self.geometry.chunk_bytes)
    }

    pub fn chunk(&self, chunk: u32) -> Chunk<'_> {
        Chunk::new(&self.memory, self.chunk_at(chunk))
    }

    pub fn pop_slot(&self) -> Option<u32> {
        let top = self.shared().free_slots();
        let mut seen = top.load(Ordering::Acquire);
        while seen as u32 != 0 {
            let next = self.slot(seen as u32).next_free().load(Ordering::Acquire);
            let word = ((seen >> 32) + 1) << 32 | u64::from(next);
            match top.compare_exchange(seen, word, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return Some(seen as u32),
                Err(other) => seen = other,
            }
        }
        None
    }

    pub fn pop_chunk(&self) -> Option<u32> {
        let top = self.shared().free_chunks();
        let mut seen = top.load(Ordering::Acquire);
        while seen as u32 != 0 {
            let next = self.chunk(seen as u32).next_free().load(Ordering::Acquire);
            let word = ((seen >> 32) + 1) << 32 | u64::from(next);
            match top.compare_exchange(seen, word, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => {
                    self.shared().free_chunk_count().fetch_sub(1, Ordering::AcqRel);
                    return Some(seen as u32);
                }
                Err(other) => seen = other,
            }
        }
        None
    }

    /// Registers an event class without fields; only one thread does so at a time.
    pub fn register_class(&self, name: &str) {
        self.register_text(&class_text(name));
    }

    /// Registers whatever a program may say of a class.
    pub fn register_text(&self, text: &str) {
        let shared = self.shared();
        let count = shared.class_count().load(Ordering::Relaxed);
        let used = shared.class_text_used().load(Ordering::Relaxed);
        let entry = self.geometry.classes_at + u64::from(count) * CLASS_BYTES;
        let texts = self.geometry.classes_at + CLASS_TABLE_BYTES;
        self.memory.write(texts + u64::from(used), text.as_bytes());
        self.memory.u32(entry + 16).store(used, Ordering::Relaxed);
        self.memory.u32(entry + 20).store(text.len() as u32, Ordering::Relaxed);
        shared.class_text_used().store(used + text.len() as u32, Ordering::Relaxed);
        shared.class_count().store(count + 1, Ordering::Release);
    }

    /// Claims a slot for the calling thread, which must be the one that uses it.
    pub fn thread(&self, vpid: u32, vtid: u32) -> Thread<'_> {
        self.thread_since(vpid, vtid, u64::from(vpid))
    }

    pub fn thread_since(&self, vpid: u32, vtid: u32, process_start: u64) -> Thread<'_> {
        let mut slot = None;
        wait_until(|| {
            slot = self.pop_slot();
            slot.is_some()
        });
        let slot = slot.unwrap();
        let offset = self.geometry.slots_at + u64::from(slot - 1) * SLOT_BYTES;
        life::hold(&self.memory, offset).unwrap();
        let place = self.slot(slot);
        place.vpid().store(vpid, Ordering::Relaxed);
        place.vtid().store(vtid, Ordering::Relaxed);
        place.pid_namespace().store(4_026_531_836, Ordering::Relaxed);
        place.process_start().store(process_start, Ordering::Relaxed);
        self.memory.write(offset + 136, b"thread");
        place.claimed().store(1, Ordering::Release);
        self.shared().slots_high().fetch_max(slot, Ordering::AcqRel);
        Thread { program: self, slot, vpid, vtid, chunk: 0, seq: 0, clock: 1000 }
    }
}

/// A thread that records, by the protocol of the tracer.
pub struct Thread<'a> {
    pub program: &'a Program,
    pub slot: u32,
    vpid: u32,
    vtid: u32,
    pub chunk: u32,
    pub seq: u64,
    pub clock: u64,
}

impl<'a> Thread<'a> {
    pub fn place(&self) -> Slot<'a> {
        self.program.slot(self.slot)
    }

    /// Chunks of the ring, where it overwrites.
    fn in_ring(&self) -> u64 {
        self.seq - self.place().gone().load(Ordering::Acquire)
    }

    /// The oldest chunk of a ring that overwrites, unless it is the present one.
    fn give_up(&self) -> Option<u32> {
        let gone = self.place().gone();
        while self.program.rings_overwrite && self.in_ring() > 1 {
            let seen = gone.load(Ordering::Acquire);
            let later = self.seq - seen - 1;
            // The collector may have taken all but the present one just now.
            if later > 0
                && gone
                    .compare_exchange(seen, seen + 1, Ordering::SeqCst, Ordering::Relaxed)
                    .is_ok()
            {
                let before = |chunk, _| self.program.chunk(chunk).prev().load(Ordering::Relaxed);
                let chunk = (0..later).fold(self.chunk, before);
                self.program.chunk(chunk).seq().store(0, Ordering::SeqCst);
                return Some(chunk);
            }
        }
        None
    }

    fn take(&self) -> Option<u32> {
        let most = u64::from(self.program.geometry.ring_chunks) - 1;
        let is_whole = self.program.rings_overwrite && self.in_ring() >= most;
        let oldest = if is_whole { self.give_up() } else { None };
        oldest.or_else(|| self.take_empty()).or_else(|| self.give_up())
    }

    fn take_empty(&self) -> Option<u32> {
        let (place, ledger) = (self.place(), self.program.ledger(self.slot));
        let taken = place.taken().load(Ordering::Relaxed);
        if ledger.given().load(Ordering::Acquire) != taken {
            let chunk = ledger.spare(taken).load(Ordering::Relaxed);
            place.taken().store(taken.wrapping_add(1), Ordering::Release);
            return Some(chunk);
        }
        let popped = place.popped().load(Ordering::Relaxed);
        let held = popped.wrapping_sub(ledger.returned().load(Ordering::Acquire));
        if held >= self.program.geometry.ring_chunks {
            return None;
        }
        let chunk = self.program.pop_chunk()?;
        place.popped().store(popped.wrapping_add(1), Ordering::Release);
        Some(chunk)
    }

    /// Prepares a chunk without telling anybody.
    pub fn prepare(&mut self, chunk: u32) {
        let place = self.program.chunk(chunk);
        let slot = self.place();
        self.seq += 1;
        self.clock += 1;
        place.owner().store(self.slot, Ordering::Relaxed);
        place.prev().store(self.chunk, Ordering::Relaxed);
        place.seq().store(self.seq, Ordering::Relaxed);
        place.flags().store(0, Ordering::Relaxed);
        place.lost().store(slot.lost().load(Ordering::Relaxed), Ordering::Relaxed);
        let first = slot.first_lost().swap(0, Ordering::Relaxed);
        place.first_lost().store(first, Ordering::Relaxed);
        place.last_lost().store(slot.last_lost().load(Ordering::Relaxed), Ordering::Relaxed);
        let packet = place.packet();
        packet.timestamp_begin().store(self.clock, Ordering::Relaxed);
        packet.timestamp_end().store(self.clock, Ordering::Relaxed);
        packet.vpid().store(self.vpid, Ordering::Relaxed);
        packet.vtid().store(self.vtid, Ordering::Relaxed);
        self.program.memory.write(place.offset() + 176, b"thread\0\0\0\0\0\0\0\0\0\0");
        place.committed().store(RECORDS_AT, Ordering::Release);
        self.chunk = chunk;
    }

    /// Another chunk, if there is one.
    pub fn switch(&mut self) -> bool {
        let Some(chunk) = self.take() else { return false };
        self.prepare(chunk);
        self.place().cur().fetch_max(self.seq << 32 | u64::from(chunk), Ordering::AcqRel);
        true
    }

    /// A record of 8 bytes, its time, in the present chunk; false if it is full.
    pub fn put(&mut self) -> bool {
        let place = self.program.chunk(self.chunk.max(1));
        let at = place.committed().load(Ordering::Relaxed);
        if self.chunk == 0 || at + 8 > self.program.geometry.chunk_bytes {
            return false;
        }
        self.clock += 1;
        let memory = &self.program.memory;
        memory.u64(place.offset() + u64::from(at)).store(self.clock, Ordering::Relaxed);
        place.packet().timestamp_end().store(self.clock, Ordering::Relaxed);
        place.committed().store(at + 8, Ordering::Release);
        true
    }

    /// Counts a record as lost.
    pub fn lose(&mut self) {
        self.clock += 1;
        let place = self.place();
        place.lost().fetch_add(1, Ordering::Relaxed);
        if place.first_lost().load(Ordering::Relaxed) == 0 {
            place.first_lost().store(self.clock, Ordering::Relaxed);
        }
        place.last_lost().store(self.clock, Ordering::Release);
    }

    /// Records, waiting for chunks as long as it takes.
    pub fn record(&mut self, count: usize) {
        for _ in 0..count {
            while !self.put() {
                if !self.switch() {
                    std::thread::yield_now();
                }
            }
        }
    }

    /// Records, and counts what finds no room.
    pub fn record_or_lose(&mut self, count: usize) {
        for _ in 0..count {
            if !(self.put() || self.switch() && self.put()) {
                self.lose();
            }
        }
    }
}

/// A packet of a data file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub instance: u64,
    pub begin: u64,
    pub end: u64,
    pub number: u64,
    pub discarded: u64,
    pub vpid: u32,
    pub vtid: u32,
    pub records: Vec<u64>,
}

/// Reads a data file, all of which must be packets that follow one another.
pub fn packets(path: &Path) -> Vec<Packet> {
    in_a_row(packets_with_gaps(path))
}

/// Reads a data file of packets in order, some of which may be missing.
pub fn packets_with_gaps(path: &Path) -> Vec<Packet> {
    packets_in(path, &fs::read(path).unwrap())
}

fn in_a_row(found: Vec<Packet>) -> Vec<Packet> {
    for pair in found.windows(2) {
        assert_eq!(pair[0].number + 1, pair[1].number);
    }
    found
}

/// Counts the records of a data file that may just be written: the last packet may be half there.
pub fn written_records(path: &Path) -> usize {
    let bytes = fs::read(path).unwrap_or_default();
    let mut whole = 0;
    while let Some(size) = bytes.get(whole + 56..whole + 64) {
        let next = whole + u64::from_ne_bytes(size.try_into().unwrap()) as usize / 8;
        if next == whole || next > bytes.len() {
            break;
        }
        whole = next;
    }
    record_count(&in_a_row(packets_in(path, &bytes[..whole])))
}

fn packets_in(path: &Path, bytes: &[u8]) -> Vec<Packet> {
    let mut rest = bytes;
    let mut found: Vec<Packet> = Vec::new();
    while !rest.is_empty() {
        let short = |at: usize| u32::from_ne_bytes(rest[at..at + 4].try_into().unwrap());
        let long = |at: usize| u64::from_ne_bytes(rest[at..at + 8].try_into().unwrap());
        assert_eq!(short(0), 0xC1FC_1FC1, "{path:?} at {}", bytes.len() - rest.len());
        assert_eq!(rest[4..20], UUID);
        let (content, size) = (long(48) as usize / 8, long(56) as usize / 8);
        assert!(104 <= content && content <= size && size <= rest.len());
        let packet = Packet {
            instance: long(24),
            begin: long(32),
            end: long(40),
            number: long(64),
            discarded: long(72),
            vpid: short(80),
            vtid: short(84),
            records: (104..content).step_by(8).map(long).collect(),
        };
        assert!(packet.begin <= packet.end);
        let inside = packet.begin..=packet.end;
        assert!(packet.records.iter().all(|time| inside.contains(time)), "{packet:?}");
        if let Some(last) = found.last() {
            assert!(last.end <= packet.begin, "{last:?} {packet:?}");
            assert!(last.number < packet.number);
            assert!(last.discarded <= packet.discarded);
        }
        found.push(packet);
        rest = &rest[size..];
    }
    found
}

/// All data files of a trace by name.
pub fn trace(folder: &Folder) -> BTreeMap<String, Vec<Packet>> {
    let is_data = |name: &String| {
        name.starts_with(|first: char| first.is_ascii_digit()) || name.starts_with("ring-")
    };
    let names = folder.names().into_iter().filter(is_data);
    names.map(|name| (name.clone(), packets(&folder.trace().join(name)))).collect()
}

pub fn record_count(packets: &[Packet]) -> usize {
    packets.iter().map(|packet| packet.records.len()).sum()
}
