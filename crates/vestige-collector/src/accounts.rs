//! What a collector knows of an arena, and the next one must: in a file that is its own.
//!
//! Whoever writes to an arena can write to all of it: its file belongs to the user whose
//! programs are recorded, and a process that gave up its rights keeps the mapping that it has.
//! So which data file a slot has, and how much of it is valid, stands in a second file that no
//! program maps. A collector that takes over, and recovery, believe that one.
//!
//! The collector may be killed at any instruction, so an account is stored twice, and a word
//! tells which of the two counts.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem::size_of;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use crate::account::{Account, WORDS};
use crate::fault::Guard;
use crate::file_error::at_path;
use crate::layout::{self, REGION};
use crate::mapping::Mapping;
use crate::rollover::Rollover;
use crate::sys;
use crate::timers::Timers;
use crate::views::Control;

const MAGIC: u64 = u64::from_ne_bytes(*b"VESTACC1");
/// What is told of the arena's file: inode, and the user to whom it was given.
const INODE_AT: u64 = 8;
const USER_AT: u64 = 16;
/// How long the files of streams are, how many, and the periods of timers.
const WISHES_AT: u64 = 24;
/// Whether nothing is written but snapshots.
const KEPT_AT: u64 = 56;
/// The name of the channel, behind its length; longer ones are cut off.
const CHANNEL_AT: u64 = 64;
const LONGEST_CHANNEL: usize = 255;
/// The period after which all is written for viewers.
const LIVE_AT: u64 = 328;
/// A control structure as the arena has it: what a collector reads of one, it reads here.
pub const CONTROL_AT: u64 = 4096;
/// Bytes of what is told of a slot: two accounts, the word that says which of them counts, and
/// how many chunks were drained, given and returned.
const SLOT_BYTES: u64 = 256;
const ACCOUNT_BYTES: u64 = 8 * WORDS as u64;
const WHICH_AT: u64 = 2 * ACCOUNT_BYTES;
const COUNTS_AT: u64 = WHICH_AT + 4;
const SUFFIX: &str = ".accounts";
const OTHERS: u32 = 0o077;

/// How many chunks of a slot were drained, became spares and were given back, ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub consumed: u32,
    pub given: u32,
    pub returned: u32,
}

/// The file, mapped.
pub struct Accounts {
    path: PathBuf,
    file: File,
    guard: Guard,
    memory: Mapping,
}

/// Where the accounts of an arena are: beside it, with the name of the collector's user.
#[must_use]
pub fn path_of(arena: &Path) -> PathBuf {
    let name = arena.file_name().unwrap_or_default().to_string_lossy();
    let random = name.strip_prefix("vestige-").and_then(|rest| rest.split_once('-'));
    let name = random.map_or_else(
        || format!("{name}{SUFFIX}"),
        |(_, random)| format!("vestige-{}-{random}{SUFFIX}", sys::effective_user()),
    );
    arena.with_file_name(name)
}

fn damaged(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

impl Accounts {
    /// Makes those of an arena; nobody else may have the file.
    pub fn make(arena: &Path, slot_count: u32) -> io::Result<Self> {
        let path = path_of(arena);
        let file = sys::create_private(&path).map_err(|error| at_path(&error, &path))?;
        Self::fill(&path, file, slot_count).map_err(|error| {
            // Nobody knows of it yet; the first error is the one to tell.
            let _ = fs::remove_file(&path);
            at_path(&error, &path)
        })
    }

    fn fill(path: &Path, file: File, slot_count: u32) -> io::Result<Self> {
        sys::lock_file(&file)?;
        let bytes = REGION + u64::from(slot_count) * SLOT_BYTES;
        file.set_len(bytes)?;
        let memory = Mapping::new(&file, bytes)?;
        let guard = Guard::new(&memory);
        let made = Self { path: path.to_owned(), file, guard, memory };
        made.give_memory(0, REGION)?;
        made.memory.u64(0).store(MAGIC, Ordering::Relaxed);
        Ok(made)
    }

    /// Opens those of an arena whose collector is gone; an error if there is one.
    pub fn open(arena: &Path) -> io::Result<Self> {
        Self::map(&path_of(arena))
    }

    fn map(path: &Path) -> io::Result<Self> {
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
        let found = file.metadata()?;
        let is_ours = found.is_file()
            && found.nlink() == 1
            && found.uid() == sys::effective_user()
            && found.mode() & OTHERS == 0;
        if !is_ours {
            return Err(damaged("it is not what a collector of this user has written"));
        }
        sys::lock_file_soon(&file)?;
        if found.len() < REGION {
            return Err(damaged("it is too short"));
        }
        let memory = Mapping::new(&file, found.len())?;
        let guard = Guard::new(&memory);
        if memory.u64(0).load(Ordering::Relaxed) != MAGIC {
            return Err(damaged("it is not what a collector of this user has written"));
        }
        Ok(Self { path: path.to_owned(), file, guard, memory })
    }

    /// Lets another process open them.
    pub fn unlock(&self) -> io::Result<()> {
        sys::unlock_file(&self.file)
    }

    /// Removes the file.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(at_path(&error, &self.path))
            }
            _ => Ok(()),
        }
    }

    /// Whether its pages were taken away.
    pub fn is_damaged(&self) -> bool {
        self.guard.is_damaged()
    }

    /// Whether there was a place for its guard.
    pub const fn is_guarded(&self) -> bool {
        self.guard.is_set()
    }

    /// The control structure that is believed.
    pub const fn control(&self) -> Control<'_> {
        Control::new(&self.memory, CONTROL_AT)
    }

    /// The memory, and where that structure begins in it.
    pub const fn control_memory(&self) -> (&Mapping, u64) {
        (&self.memory, CONTROL_AT)
    }

    /// Keeps the control structure of an arena that is not yet given to anybody.
    pub fn keep_control(&self, arena: &Mapping) {
        let mut bytes = [0; size_of::<layout::Control>()];
        arena.read(0, &mut bytes);
        self.memory.write(CONTROL_AT, &bytes);
    }

    /// Keeps what was asked for of files and timers, for a collector that takes over.
    pub fn keep_wishes(&self, files: Rollover, timers: Timers) {
        let words =
            [files.file_bytes, u64::from(files.file_count), timers.switch_ns, timers.read_ns];
        for (place, word) in (WISHES_AT..).step_by(8).zip(words) {
            self.memory.u64(place).store(word, Ordering::Relaxed);
        }
        self.memory.u64(LIVE_AT).store(timers.live_ns, Ordering::Relaxed);
    }

    /// What was asked for of files and timers.
    pub fn wishes(&self) -> (Rollover, Timers) {
        let word = |n: u64| self.memory.u64(WISHES_AT + n * 8).load(Ordering::Relaxed);
        let files = Rollover { file_bytes: word(0), file_count: word(1) as u32 };
        let live_ns = self.memory.u64(LIVE_AT).load(Ordering::Relaxed);
        (files, Timers { switch_ns: word(2), read_ns: word(3), live_ns })
    }

    /// Keeps whether nothing is written but snapshots.
    pub fn keep_kept(&self, is_kept: bool) {
        self.memory.u64(KEPT_AT).store(u64::from(is_kept), Ordering::Relaxed);
    }

    /// Whether nothing is written but snapshots.
    pub fn is_kept(&self) -> bool {
        self.memory.u64(KEPT_AT).load(Ordering::Relaxed) != 0
    }

    /// Keeps the name of the channel.
    pub fn keep_channel(&self, name: &str) {
        let bytes = name.as_bytes();
        let bytes = bytes.get(..LONGEST_CHANNEL).unwrap_or(bytes);
        self.memory.write(CHANNEL_AT + 8, bytes);
        self.memory.u64(CHANNEL_AT).store(bytes.len() as u64, Ordering::Relaxed);
    }

    /// The name of the channel.
    pub fn channel(&self) -> String {
        let length = self.memory.u64(CHANNEL_AT).load(Ordering::Relaxed) as usize;
        let mut bytes = vec![0; length.min(LONGEST_CHANNEL)];
        self.memory.read(CHANNEL_AT + 8, &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Notes which file the arena is, and whose.
    pub fn keep_file(&self, inode: u64, user: u32) {
        self.memory.u64(INODE_AT).store(inode, Ordering::Relaxed);
        self.memory.u64(USER_AT).store(u64::from(user), Ordering::Relaxed);
    }

    /// Whether a file is the arena that these accounts are of.
    pub fn is_of(&self, found: &fs::Metadata) -> bool {
        let user = u64::from(found.uid());
        self.memory.u64(INODE_AT).load(Ordering::Relaxed) == found.ino()
            && (user == self.memory.u64(USER_AT).load(Ordering::Relaxed)
                || user == u64::from(sys::effective_user()))
    }

    fn at(&self, slot: u32) -> u64 {
        REGION + u64::from(slot.wrapping_sub(1)) * SLOT_BYTES
    }

    /// Gives some slots their memory, so that no store can fail.
    pub fn make_slots(&self, first: u32, count: u32) -> io::Result<()> {
        self.give_memory(self.at(first), u64::from(count) * SLOT_BYTES)
    }

    fn give_memory(&self, at: u64, bytes: u64) -> io::Result<()> {
        match sys::allocate(&self.file, at, bytes) {
            Ok(()) => Ok(()),
            // Some file systems can only be written to.
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                let start = at / REGION * REGION;
                let end = (at + bytes).div_ceil(REGION) * REGION;
                let end = end.min(self.memory.bytes());
                self.memory.populate(start, end.saturating_sub(start), true)
            }
            Err(error) => Err(error),
        }
    }

    /// Stores the account of a slot.
    pub fn store(&self, slot: u32, account: &Account) {
        let at = self.at(slot);
        let which = self.memory.u32(at + WHICH_AT);
        let other = which.load(Ordering::Relaxed) & 1 ^ 1;
        let mut place = at + u64::from(other) * ACCOUNT_BYTES;
        for word in account.words() {
            self.memory.u64(place).store(word, Ordering::Relaxed);
            place += 8;
        }
        which.store(other, Ordering::Release);
    }

    /// The account of a slot, as the last collector has stored it.
    pub fn read(&self, slot: u32) -> Account {
        let at = self.at(slot);
        let which = self.memory.u32(at + WHICH_AT).load(Ordering::Acquire) & 1;
        let mut place = at + u64::from(which) * ACCOUNT_BYTES;
        let mut words = [0; WORDS];
        for word in &mut words {
            *word = self.memory.u64(place).load(Ordering::Relaxed);
            place += 8;
        }
        Account::of_words(words)
    }

    /// Stores what was done with the chunks of a slot.
    pub fn store_counts(&self, slot: u32, counts: Counts) {
        let at = self.at(slot) + COUNTS_AT;
        self.memory.u32(at).store(counts.consumed, Ordering::Relaxed);
        self.memory.u32(at + 4).store(counts.given, Ordering::Relaxed);
        self.memory.u32(at + 8).store(counts.returned, Ordering::Relaxed);
    }

    /// What was done with the chunks of a slot.
    pub fn counts(&self, slot: u32) -> Counts {
        let at = self.at(slot) + COUNTS_AT;
        let number = |at| self.memory.u32(at).load(Ordering::Relaxed);
        Counts { consumed: number(at), given: number(at + 4), returned: number(at + 8) }
    }
}

const _: () = assert!(CHANNEL_AT + 8 + LONGEST_CHANNEL as u64 <= LIVE_AT);
const _: () = assert!(COUNTS_AT + 12 <= SLOT_BYTES);
const _: () = assert!(CONTROL_AT + size_of::<layout::Control>() as u64 <= REGION);
