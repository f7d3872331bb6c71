//! The file that programs write to, and its parts in memory.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem::offset_of;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::account::Account;
use crate::accounts::{self, Accounts};
use crate::fault::Guard;
use crate::file_error::{at_path, FileError};
use crate::geometry::Geometry;
use crate::layout::{
    CLASS_BYTES, CLASS_STEP, CLASS_TABLE_BYTES, HANDED_OVER, LEDGER_BYTES, MAGIC, MOST_CPU_RINGS,
    OF_CPU, OVERWRITE, REGION, RINGS_OVERWRITE, SLOT_BYTES,
};
use crate::mapping::Mapping;
use crate::mapping::PAGE;
use crate::views::{Chunk, Class, Control, Ledger, Shared, Slot};
use crate::{layout, life, sys};

/// Where `Control::uuid`, `Control::life`, `Control::socket` and `Shared::class_lock` lie.
const UUID_AT: u64 = 16;
const LIFE_AT: u64 = 192;
const SOCKET_AT: u64 = 256;
const CLASS_LOCK_AT: u64 = 256;
const DIRECTORY_AT: u64 = offset_of!(layout::Control, directory) as u64;
const DIRECTORY_BYTES: usize = offset_of!(layout::Control, rest) - DIRECTORY_AT as usize;
const MOUNT_NAMESPACE: &str = "/proc/self/ns/mnt";
/// A file system with less free memory is not used for an arena.
const LEAST_FREE: u64 = 32 << 20;
/// The arena of a recording where there is no shared memory.
const IN_DIRECTORY: &str = ".arena-data";

/// What an arena is made with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What both sides must agree on, as a number.
    pub fingerprint: u64,
    /// Of the trace; it is in each packet.
    pub uuid: [u8; 16],
    /// Bytes of a packet in memory.
    pub chunk_bytes: u32,
    /// Most chunks of all threads.
    pub chunk_count: u32,
    /// So many of these get memory only as threads have slots, one for each.
    pub thread_chunks: u32,
    /// Most threads at the same time.
    pub slot_count: u32,
    /// Most chunks of a thread.
    pub ring_chunks: u32,
    /// So many CPUs have rings, which their threads share; 0: each thread has one.
    pub cpu_rings: u32,
    /// How long a thread waits for one, in nanoseconds.
    pub wait_ns: u64,
    /// Whether the newest packets are kept.
    pub is_overwriting: bool,
    /// Whether a ring that is full gives up its oldest chunk.
    pub rings_overwrite: bool,
    /// The rules of the tracer, in its form.
    pub rules: Vec<u8>,
    /// Bytes for the texts of event classes.
    pub classes_bytes: u64,
    /// The ID of the first event class that programs register.
    pub first_class: u32,
    /// The user whose programs write to it.
    pub user: u32,
}

/// An arena, mapped.
pub struct Arena {
    path: PathBuf,
    file: File,
    geometry: Geometry,
    guard: Guard,
    memory: Mapping,
    accounts: Accounts,
    /// So many of the first slots have the rings of CPUs.
    cpu_rings: u32,
}

/// What paths mean to this process: the inode of its mount namespace, 0 where it is unknown, and
/// device and inode of its root directory.
fn view_of_files() -> [u64; 3] {
    let namespace = fs::metadata(MOUNT_NAMESPACE).map_or(0, |found| found.ino());
    let root = fs::metadata("/").map_or((0, 0), |found| (found.dev(), found.ino()));
    [namespace, root.0, root.1]
}

impl Arena {
    /// Makes an arena in a folder of shared memory, if that has room for one.
    pub fn make_in_memory(folder: &Path, plan: &Plan) -> io::Result<Self> {
        let free = File::open(folder).map(|folder| sys::free_bytes(&folder));
        if free.map_err(|error| at_path(&error, folder))?.is_none_or(|free| free < LEAST_FREE) {
            return Err(at_path(&io::Error::other("has less than 32 MiB left"), folder));
        }
        let name = format!("vestige-{}-{:016x}", plan.user, sys::random()?);
        Self::make(&folder.join(name), plan)
    }

    /// Makes an arena in the directory of its trace.
    pub fn make_in_directory(directory: &Path, plan: &Plan) -> io::Result<Self> {
        let name = if plan.user == sys::effective_user() {
            IN_DIRECTORY.to_owned()
        } else {
            format!("{IN_DIRECTORY}-{}", plan.user)
        };
        Self::make(&directory.join(name), plan)
    }

    fn make(path: &Path, plan: &Plan) -> io::Result<Self> {
        let file = sys::create_private(path).map_err(|error| at_path(&error, path))?;
        Self::fill(path, file, plan).map_err(|error| {
            // Nobody knows of it yet; the first error is the one to tell.
            Self::remove_files(path);
            if error.get_ref().is_some_and(|inner| inner.is::<FileError>()) {
                error
            } else {
                at_path(&error, path)
            }
        })
    }

    /// Removes what was made of an arena that nobody knows of.
    pub fn remove_files(path: &Path) {
        let _ = fs::remove_file(path);
        let _ = fs::remove_file(accounts::path_of(path));
    }

    /// Whether its file system is memory: what is written there goes to no disk.
    pub fn is_in_memory(&self) -> bool {
        sys::is_in_memory(&self.file)
    }

    fn fill(path: &Path, file: File, plan: &Plan) -> io::Result<Self> {
        let geometry = Geometry::plan(
            plan.chunk_bytes,
            plan.chunk_count,
            plan.slot_count,
            plan.ring_chunks,
            plan.rules.len() as u64,
            plan.classes_bytes,
        );
        if !geometry.are_counts_good() || plan.classes_bytes > u64::from(u32::MAX) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "no arena has such sizes"));
        }
        let accounts = Accounts::make(path, plan.slot_count)?;
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        file.set_len(geometry.arena_bytes)?;
        let memory = Mapping::new(&file, geometry.arena_bytes)?;
        let guard = Guard::new(&memory);
        let cpu_rings = plan.cpu_rings.min(MOST_CPU_RINGS).min(plan.slot_count / 2);
        let path = path.to_owned();
        let arena = Self { path, file, geometry, guard, memory, accounts, cpu_rings };
        arena.give_memory(0, REGION)?;
        arena.give_memory(geometry.rules_at, geometry.rules_bytes)?;
        arena.give_memory(geometry.shared_at, REGION)?;
        let texts = u64::from(CLASS_STEP).min(geometry.classes_bytes);
        arena.give_memory(geometry.classes_at, CLASS_TABLE_BYTES + texts)?;
        arena.shared().class_text_ready().store(texts as u32, Ordering::Release);
        arena.memory.write(geometry.rules_at, &plan.rules);
        geometry.store(&arena.memory);
        life::make(&arena.memory, LIFE_AT)?;
        life::make(&arena.memory, geometry.shared_at + CLASS_LOCK_AT)?;
        let control = arena.control();
        control.fingerprint().store(plan.fingerprint, Ordering::Relaxed);
        control.wait_ns().store(plan.wait_ns, Ordering::Relaxed);
        control.collector_pid().store(std::process::id(), Ordering::Relaxed);
        control.first_class().store(plan.first_class, Ordering::Relaxed);
        control.cpu_rings().store(cpu_rings, Ordering::Relaxed);
        control.thread_chunks().store(plan.thread_chunks, Ordering::Relaxed);
        let mut flags = if plan.is_overwriting { OVERWRITE } else { 0 };
        if plan.rings_overwrite {
            flags |= RINGS_OVERWRITE;
        }
        control.flags().store(flags, Ordering::Relaxed);
        arena.memory.write(UUID_AT, &plan.uuid);
        arena.memory.write(0, &MAGIC);
        arena.accounts.keep_control(&arena.memory);
        arena.accounts.keep_file(arena.file.metadata()?.ino(), plan.user);
        Ok(arena)
    }

    /// Opens an arena whose collector is gone; an error if there is one.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::map(path).map_err(|error| at_path(&error, path))
    }

    fn map(path: &Path) -> io::Result<Self> {
        let file =
            OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOFOLLOW).open(path)?;
        let found = file.metadata()?;
        if !found.is_file() || found.nlink() != 1 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no arena"));
        }
        if found.len() < REGION {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is too short"));
        }
        let mut magic = [0; 8];
        file.read_exact_at(&mut magic, 0)?;
        if magic != MAGIC {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is no arena"));
        }
        let accounts = Accounts::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => io::Error::new(
                io::ErrorKind::InvalidData,
                "what is noted of it is gone: nobody can tell how much of it the trace has",
            ),
            _ => error,
        })?;
        if !accounts.is_of(&found) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "another file is in its place"));
        }
        // Whatever the file says of itself: its user may have changed that.
        let control = accounts.control();
        let geometry = Geometry::of(control, found.len())?;
        let memory = Mapping::new(&file, geometry.arena_bytes)?;
        let guard = Guard::new(&memory);
        let cpu_rings = control.cpu_rings().load(Ordering::Relaxed);
        let cpu_rings = cpu_rings.min(MOST_CPU_RINGS).min(geometry.slot_count / 2);
        Ok(Self { path: path.to_owned(), file, geometry, guard, memory, accounts, cpu_rings })
    }

    /// Locks the life of the collector for as long as the calling thread lives.
    pub fn hold_life(&self) -> io::Result<()> {
        life::hold(&self.memory, LIFE_AT)
    }

    /// Lets another process open the arena as its collector.
    pub fn unlock(&self) -> io::Result<()> {
        self.accounts.unlock()
    }

    /// Makes the life of a collector anew, when the thread that held it has ended.
    pub fn make_collector_life(&self) -> io::Result<()> {
        life::make(&self.memory, LIFE_AT)
    }

    /// Makes room for a part of the file, so that no store to it can fail.
    pub fn give_memory(&self, at: u64, bytes: u64) -> io::Result<()> {
        self.allocate(at, bytes, true)
    }

    /// The same, and maps its pages here if that is asked for or takes nothing else.
    fn allocate(&self, at: u64, bytes: u64, is_used_here: bool) -> io::Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        // Pages may be as large as that.
        let start = at / REGION * REGION;
        let end = (at + bytes).div_ceil(REGION) * REGION;
        let end = end.min(self.memory.bytes());
        let bytes = end.saturating_sub(start);
        match sys::allocate(&self.file, start, bytes) {
            Ok(()) if !is_used_here && self.is_in_memory() => Ok(()),
            Ok(()) => self.memory.populate(start, bytes, false),
            // Some file systems can only be written to.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                self.memory.populate(start, bytes, true)
            }
            Err(error) => Err(error),
        }
    }

    /// Removes the file; programs that have it mapped keep it until they end.
    pub fn remove(&self) -> io::Result<()> {
        let done = fs::remove_file(&self.path).map_err(|error| at_path(&error, &self.path));
        // After it: what is noted of an arena that is not there is needed by nobody.
        self.accounts.remove()?;
        done
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The open file.
    pub const fn file(&self) -> &File {
        &self.file
    }

    /// Where its parts lie.
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The bytes.
    pub const fn memory(&self) -> &Mapping {
        &self.memory
    }

    /// Whether pages of it were taken away.
    pub const fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The structure at its beginning, for programs: it is written, and read only where each
    /// answer is good.
    pub const fn control(&self) -> Control<'_> {
        Control::new(&self.memory, 0)
    }

    /// What the collector alone has noted.
    pub const fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Both control structures, for what is written.
    const fn controls(&self) -> [Control<'_>; 2] {
        [self.accounts.control(), self.control()]
    }

    /// Notes how many chunks have memory.
    pub fn set_chunks_ready(&self, count: u32) {
        for control in self.controls() {
            control.chunks_ready().store(count, Ordering::Release);
        }
    }

    /// Notes how many slots have memory.
    pub fn set_slots_ready(&self, count: u32) {
        for control in self.controls() {
            control.slots_ready().store(count, Ordering::Release);
        }
    }

    /// Notes the size limit of the recording.
    pub fn set_max_bytes(&self, bytes: u64) {
        for control in self.controls() {
            control.max_bytes().store(bytes, Ordering::Relaxed);
        }
    }

    /// Notes whose arena it is from now on: that of this process.
    pub fn set_collector(&self) {
        for control in self.controls() {
            control.collector_pid().store(std::process::id(), Ordering::Relaxed);
        }
    }

    /// Notes how far a slot is. Programs see of it what they need.
    pub fn note(&self, slot: u32, account: &Account) {
        self.accounts.store(slot, account);
        self.ledger(slot).drained_seq().store(account.drained_seq, Ordering::Release);
    }

    /// What programs share.
    pub const fn shared(&self) -> Shared<'_> {
        Shared::new(&self.memory, self.geometry.shared_at)
    }

    /// The UUID of the trace.
    pub fn uuid(&self) -> [u8; 16] {
        let mut uuid = [0; 16];
        let (memory, at) = self.accounts.control_memory();
        memory.read(at + UUID_AT, &mut uuid);
        uuid
    }

    /// The name and the token of the collector's socket, see `server.rs`.
    pub fn socket(&self) -> [u8; 32] {
        let mut socket = [0; 32];
        let (memory, at) = self.accounts.control_memory();
        memory.read(at + SOCKET_AT, &mut socket);
        socket
    }

    /// Keeps them for a collector that takes over.
    pub fn set_socket(&self, socket: &[u8; 32]) {
        let (memory, at) = self.accounts.control_memory();
        memory.write(at + SOCKET_AT, socket);
    }

    /// Notes whose trace it holds, for those who find it when its collector was killed.
    pub fn set_directory(&self, directory: &Path) -> io::Result<()> {
        let found = fs::metadata(directory)?;
        let [namespace, root_device, root_inode] = view_of_files();
        for control in self.controls() {
            control.mount_namespace().store(namespace, Ordering::Relaxed);
            control.root_device().store(root_device, Ordering::Relaxed);
            control.root_inode().store(root_inode, Ordering::Relaxed);
            control.directory_device().store(found.dev(), Ordering::Relaxed);
            control.directory_inode().store(found.ino(), Ordering::Relaxed);
        }
        let mut path = [0; DIRECTORY_BYTES];
        let name = directory.as_os_str().as_bytes();
        // One that is longer is not noted: a part of it would be another directory.
        if let Some(room) = path.get_mut(..name.len()).filter(|room| room.len() < DIRECTORY_BYTES) {
            room.copy_from_slice(name);
        }
        self.memory.write(DIRECTORY_AT, &path);
        let (memory, at) = self.accounts.control_memory();
        memory.write(at + DIRECTORY_AT, &path);
        Ok(())
    }

    /// Whether the path of its trace's directory means here what it meant to its collector.
    pub fn is_seen_from_here(&self) -> bool {
        let control = self.accounts.control();
        let noted = [control.mount_namespace(), control.root_device(), control.root_inode()]
            .map(|field| field.load(Ordering::Relaxed));
        let [namespace, ..] = noted;
        namespace != 0 && noted == view_of_files()
    }

    /// The directory of its trace, as it was called then; empty if it is not noted.
    pub fn directory(&self) -> PathBuf {
        let mut path = [0; DIRECTORY_BYTES];
        let (memory, at) = self.accounts.control_memory();
        memory.read(at + DIRECTORY_AT, &mut path);
        let name = path.split(|byte| *byte == 0).next().unwrap_or_default();
        PathBuf::from(OsStr::from_bytes(name))
    }

    /// Lets a user open it; nothing in it is to be trusted any more then.
    pub fn give_to(&self, user: u32) -> io::Result<()> {
        if user == sys::effective_user() {
            return Ok(());
        }
        sys::give_to(&self.file, user)
    }

    /// The user whose programs write to it.
    pub fn user(&self) -> io::Result<u32> {
        Ok(self.file.metadata()?.uid())
    }

    /// What it was made with, for arenas of other users.
    pub fn plan(&self) -> io::Result<Plan> {
        let control = self.accounts.control();
        let mut rules = vec![0; self.geometry.rules_bytes as usize];
        self.memory.read(self.geometry.rules_at, &mut rules);
        Ok(Plan {
            fingerprint: control.fingerprint().load(Ordering::Relaxed),
            uuid: self.uuid(),
            chunk_bytes: self.geometry.chunk_bytes,
            chunk_count: self.geometry.chunk_count,
            thread_chunks: control.thread_chunks().load(Ordering::Relaxed),
            slot_count: self.geometry.slot_count,
            ring_chunks: self.geometry.ring_chunks,
            cpu_rings: self.cpu_rings,
            wait_ns: control.wait_ns().load(Ordering::Relaxed),
            is_overwriting: self.is_overwriting(),
            rings_overwrite: self.rings_overwrite(),
            rules,
            classes_bytes: self.geometry.classes_bytes,
            first_class: control.first_class().load(Ordering::Relaxed),
            user: self.user()?,
        })
    }

    /// Notes that another collector is about to begin, or has begun.
    pub fn set_handed_over(&self, is_so: bool) {
        for flags in self.controls().map(Control::flags) {
            if is_so {
                flags.fetch_or(HANDED_OVER, Ordering::Relaxed);
            } else {
                flags.fetch_and(!HANDED_OVER, Ordering::Relaxed);
            }
        }
    }

    /// Whether one is: the process that has said so lives until then.
    pub fn is_handed_over(&self) -> bool {
        let control = self.accounts.control();
        let process = control.collector_pid().load(Ordering::Relaxed);
        control.flags().load(Ordering::Relaxed) & HANDED_OVER != 0
            && Path::new("/proc").join(process.to_string()).exists()
    }

    /// Whether a ring that is full gives up its oldest chunk.
    pub fn rings_overwrite(&self) -> bool {
        self.accounts.control().flags().load(Ordering::Relaxed) & RINGS_OVERWRITE != 0
    }

    /// Whether the recording keeps the newest packets.
    pub fn is_overwriting(&self) -> bool {
        self.accounts.control().flags().load(Ordering::Relaxed) & OVERWRITE != 0
    }

    /// So many CPUs have rings, in the first slots.
    pub const fn cpu_rings(&self) -> u32 {
        self.cpu_rings
    }

    /// Whether CPUs have rings.
    pub const fn has_cpu_rings(&self) -> bool {
        self.cpu_rings > 0
    }

    /// The CPU whose ring a slot has, if it is not a thread's.
    pub fn cpu_of(&self, slot: u32) -> Option<u32> {
        (1..=self.cpu_rings).contains(&slot).then(|| slot - 1)
    }

    /// Makes a slot the one of a CPU: from here on it is in use, until the arena goes.
    pub fn make_cpu_slot(&self, slot: u32, cpu: u32) {
        let place = self.slot(slot);
        place.vtid().store(cpu, Ordering::Relaxed);
        place.flags().store(OF_CPU, Ordering::Relaxed);
        place.claimed().store(1, Ordering::Release);
        self.shared().slots_high().fetch_max(slot, Ordering::AcqRel);
    }

    fn slot_offset(&self, slot: u32) -> u64 {
        u64::from(slot.wrapping_sub(1).min(self.geometry.slot_count)) * SLOT_BYTES
    }

    /// A slot, by its number from 1 on.
    pub fn slot(&self, slot: u32) -> Slot<'_> {
        Slot::new(&self.memory, self.geometry.slots_at + self.slot_offset(slot))
    }

    /// The ledger of a slot.
    pub fn ledger(&self, slot: u32) -> Ledger<'_> {
        Ledger::new(&self.memory, self.geometry.ledgers_at + self.slot_offset(slot))
    }

    /// A chunk, by its number from 1 on.
    pub fn chunk(&self, chunk: u32) -> Chunk<'_> {
        let place = u64::from(chunk.wrapping_sub(1)) * u64::from(self.geometry.chunk_bytes);
        Chunk::new(&self.memory, self.geometry.chunks_at + place)
    }

    /// An entry of the table of event classes, from 0 on.
    pub fn class(&self, place: u32) -> Class<'_> {
        Class::new(&self.memory, self.geometry.classes_at + u64::from(place) * CLASS_BYTES)
    }

    /// Gives some slots their memory and their mutexes; they are not yet free.
    pub fn make_slots(&self, first: u32, count: u32) -> io::Result<()> {
        const { assert!(LEDGER_BYTES == SLOT_BYTES) };
        let bytes = u64::from(count) * SLOT_BYTES;
        let place = self.slot_offset(first);
        self.give_memory(self.geometry.ledgers_at + place, bytes)?;
        self.give_memory(self.geometry.slots_at + place, bytes)?;
        self.accounts.make_slots(first, count)?;
        for slot in first..first.saturating_add(count) {
            self.make_life(slot)?;
        }
        Ok(())
    }

    /// Makes the mutex of a slot anew; its thread has ended.
    pub fn make_life(&self, slot: u32) -> io::Result<()> {
        life::make(&self.memory, self.geometry.slots_at + self.slot_offset(slot))
    }

    /// How many bytes of a part of the file are there, before one that nobody has written: a
    /// program has taken its page away.
    pub fn whole_bytes(&self, at: u64, bytes: u32) -> u32 {
        // Looking for a hole takes the longer the farther away the next one is, often at the end
        // of a large arena. Where the guard has put pages of its own, only the file knows.
        if !self.guard.is_damaged() && self.memory.is_there(at, bytes) {
            return bytes;
        }
        let hole = sys::first_hole(&self.file, at).unwrap_or(u64::MAX);
        u32::try_from(hole.saturating_sub(at)).map_or(bytes, |there| there.min(bytes))
    }

    /// Takes the memory of a chunk away, apart from its first page: who had it may still read
    /// its beginning.
    pub fn empty_chunk(&self, chunk: u32) -> io::Result<()> {
        let (at, bytes) = self.records_of(chunk);
        sys::take_blocks(&self.file, at, bytes)
    }

    /// Gives it memory again.
    pub fn fill_chunk(&self, chunk: u32) -> io::Result<()> {
        let (at, bytes) = self.records_of(chunk);
        if bytes == 0 {
            return Ok(());
        }
        sys::allocate(&self.file, at, bytes)?;
        self.memory.populate(at, bytes, false)
    }

    /// Where a chunk lies, without its first page.
    fn records_of(&self, chunk: u32) -> (u64, u64) {
        let bytes = u64::from(self.geometry.chunk_bytes);
        let page = u64::from(PAGE);
        let at = self.geometry.chunks_at + u64::from(chunk.wrapping_sub(1)) * bytes;
        (at + page, bytes.saturating_sub(page))
    }

    /// Gives some chunks their memory.
    pub fn make_chunks(&self, first: u32, count: u32) -> io::Result<()> {
        let size = u64::from(self.geometry.chunk_bytes);
        let place = self.geometry.chunks_at + u64::from(first.wrapping_sub(1)) * size;
        // Most are never read, and of the others the kernel maps many pages at once.
        self.allocate(place, u64::from(count) * size, false)
    }
}
