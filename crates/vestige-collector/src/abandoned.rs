//! Arenas in shared memory whose collector was killed, found by whoever records next.
//!
//! Nobody names such an arena but the file `.arena` of its trace, so it would stay for as long as
//! the machine runs. What is done with it is decided elsewhere; here is what it says of itself.

use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::accounts;
use crate::arena::Arena;
use crate::file_error::at_path;
use crate::layout::{CLOSED, MAGIC, OWNER_DIED};
use crate::sys;

/// The beginning of the control structure, up to the word that tells of the collector's life.
const HEAD_BYTES: usize = 196;
const PID_AT: usize = 136;
const LIFE_AT: usize = 192;

/// An arena that no collector has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abandoned {
    /// Its trace, as it was called when the recording began.
    pub directory: PathBuf,
    pub directory_device: u64,
    pub directory_inode: u64,
    /// Whether that is what it is called here: not in another mount namespace, nor below
    /// another root directory.
    pub is_seen_from_here: bool,
    /// Memory that the file takes.
    pub bytes: u64,
    /// Threads that go on to write to it.
    pub live: u32,
    /// Whether programs were told to record nothing more.
    pub is_closed: bool,
}

/// What an arena says of itself; none if it has a collector, or is nobody's or another user's.
///
/// # Errors
///
/// The file cannot be opened or is damaged.
pub fn look(path: &Path) -> io::Result<Option<Abandoned>> {
    Ok(open(path)?.map(|arena| describe(&arena)))
}

/// Removes an arena; false if a collector has it by now, or a thread goes on to write to it.
///
/// # Errors
///
/// The file cannot be opened or removed.
pub fn remove(path: &Path) -> io::Result<bool> {
    let Some(arena) = open(path)? else { return Ok(false) };
    if live(&arena) > 0 {
        return Ok(false);
    }
    arena.remove().map(|()| true)
}

/// Opens an arena, which is locked then, if its collector was killed.
fn open(path: &Path) -> io::Result<Option<Arena>> {
    if !has_lost_its_collector(path).map_err(|error| at_path(&error, path))? {
        return Ok(None);
    }
    match Arena::open(path) {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        other => other.map(Some),
    }
}

/// Whether the kernel says so of an arena of this user; of one that was made for another user,
/// what its collector has noted.
///
/// Without a lock: who has made an arena a moment ago, or takes one over, finds none on it.
fn has_lost_its_collector(path: &Path) -> io::Result<bool> {
    let found = fs::symlink_metadata(path)?;
    if found.is_file() && !is_own_file(&found) {
        let noted = read_head(&accounts::path_of(path), accounts::CONTROL_AT);
        return Ok(noted.is_ok_and(|head| {
            head.is_some_and(|head| head.starts_with(&MAGIC) && !is_running(word(&head, PID_AT)))
        }));
    }
    let Some(head) = read_head(path, 0)? else { return Ok(false) };
    let word = |at: usize| word(&head, at);
    Ok(head.starts_with(&MAGIC)
        && match word(LIFE_AT) {
            // Not begun, or handed over: whoever has done that lives until it is taken over.
            0 => !is_running(word(PID_AT)),
            life => life & OWNER_DIED != 0,
        })
}

/// The beginning of a control structure in a file of this user; none if that is too short.
fn read_head(path: &Path, at: u64) -> io::Result<Option<[u8; HEAD_BYTES]>> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    if !is_own_file(&fs::symlink_metadata(path)?) {
        return Ok(None);
    }
    let file = fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    let mut head = [0; HEAD_BYTES];
    let is_whole = is_own_file(&file.metadata()?) && file.read_at(&mut head, at)? == HEAD_BYTES;
    Ok(is_whole.then_some(head))
}

fn word(head: &[u8; HEAD_BYTES], at: usize) -> u32 {
    let bytes = head.get(at..at + 4).and_then(|bytes| bytes.first_chunk());
    u32::from_ne_bytes(*bytes.unwrap_or(&[0; 4]))
}

fn is_own_file(found: &fs::Metadata) -> bool {
    found.is_file() && found.uid() == sys::effective_user()
}

fn is_running(process: u32) -> bool {
    Path::new("/proc").join(process.to_string()).exists()
}

fn describe(arena: &Arena) -> Abandoned {
    let control = arena.accounts().control();
    let number = |field: &std::sync::atomic::AtomicU64| field.load(Ordering::Relaxed);
    Abandoned {
        directory: arena.directory(),
        directory_device: number(control.directory_device()),
        directory_inode: number(control.directory_inode()),
        is_seen_from_here: arena.is_seen_from_here(),
        bytes: arena.file().metadata().map_or(0, |found| found.blocks() * 512),
        live: live(arena),
        is_closed: arena.control().state().load(Ordering::Relaxed) & CLOSED != 0,
    }
}

/// Threads with a slot that the kernel has not said to have ended.
fn live(arena: &Arena) -> u32 {
    let ready = arena.accounts().control().slots_ready().load(Ordering::Relaxed);
    let is_live = |slot: &u32| {
        let slot = arena.slot(*slot);
        slot.claimed().load(Ordering::Acquire) != 0 && !slot.has_died()
    };
    (1..=ready.min(arena.geometry().slot_count)).filter(is_live).count() as u32
}
