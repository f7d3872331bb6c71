//! The file that names the arenas of a trace directory, for whoever has to recover them.
//!
//! A line has the path, the inode, the ID of the boot, the user, and the ID of the first event
//! class, with tabs between.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::arena::Arena;
use crate::owner::Place;
use crate::sys;

/// Hidden, so that readers leave it alone.
pub const NAME: &str = ".arena";
/// No recording has a longer one: it has 64 arenas at most.
const LARGEST: u64 = 1 << 20;
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

/// The arenas of a trace.
pub struct Register {
    place: Place,
    path: PathBuf,
}

fn boot_id() -> String {
    fs::read_to_string(BOOT_ID).map(|text| text.trim().to_owned()).unwrap_or_default()
}

/// An arena, as the register has it.
pub struct Entry {
    /// Its file.
    pub path: PathBuf,
    /// The user who may write to it.
    pub user: u32,
    /// The ID of the first event class that its programs register.
    pub first_class: u32,
    boot: String,
}

impl Entry {
    fn of(line: &str) -> Option<Self> {
        let mut words = line.split('\t');
        let path = PathBuf::from(words.next()?);
        let (_, boot) = (words.next()?, words.next()?.to_owned());
        let user = words.next()?.parse().ok()?;
        let first_class = words.next()?.parse().ok()?;
        Some(Self { path, user, first_class, boot })
    }

    /// Whether it is of an earlier boot: its threads are gone, whatever it says.
    pub fn is_of_earlier_boot(&self) -> bool {
        !self.boot.is_empty() && self.boot != boot_id()
    }
}

/// What a register says of an arena.
pub fn line(arena: &Arena, user: u32, first_class: u32) -> io::Result<String> {
    let inode = arena.file().metadata()?.ino();
    let path = arena.path().display();
    Ok(format!("{path}\t{inode}\t{}\t{user}\t{first_class}\n", boot_id()))
}

impl Register {
    /// The register of a directory, whether it is there or not.
    #[must_use]
    pub fn new(place: impl Into<Place>) -> Self {
        let place = place.into();
        Self { path: place.path.join(NAME), place }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the file: where programs have put a link, a pipe or another directory, none of these
    /// is followed, or waited for.
    fn open(&self, flags: libc::c_int) -> io::Result<File> {
        let flags = flags | libc::O_NONBLOCK;
        let file =
            sys::open_at_with_mode(&sys::open_directory(&self.place.path)?, NAME, flags, 0o644)?;
        let found = file.metadata()?;
        if found.is_file() && found.nlink() == 1 {
            Ok(file)
        } else {
            Err(io::Error::from_raw_os_error(libc::EEXIST))
        }
    }

    fn text(&self) -> io::Result<String> {
        let read = || {
            let mut text = String::new();
            self.open(libc::O_RDONLY)?.take(LARGEST).read_to_string(&mut text)?;
            Ok(text)
        };
        match self.place.with_rights(read) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            other => other,
        }
    }

    fn write(&self, text: &str) -> io::Result<()> {
        self.place.with_rights(|| {
            let mut file = self.open(libc::O_WRONLY | libc::O_CREAT)?;
            file.set_len(0)?;
            file.write_all(text.as_bytes())
        })
    }

    fn unlink(&self) -> io::Result<()> {
        self.place.with_rights(|| sys::unlink_at(&sys::open_directory(&self.place.path)?, NAME))
    }

    /// All arenas; the first is that of the user who records.
    pub fn arenas(&self) -> io::Result<Vec<Entry>> {
        Ok(self.text()?.lines().filter_map(Entry::of).collect())
    }

    /// What it says of an arena.
    pub fn find(&self, arena: &Path) -> io::Result<Option<Entry>> {
        Ok(self.arenas()?.into_iter().find(|entry| entry.path == arena))
    }

    /// Adds an arena.
    pub fn add(&self, arena: &Arena, user: u32, first_class: u32) -> io::Result<()> {
        let line = line(arena, user, first_class)?;
        let before = self.text()?;
        self.write(&format!("{before}{line}")).inspect_err(|_| {
            // A part of it is of no use; the first error is the one to tell.
            let _ = if before.is_empty() { self.unlink() } else { self.write(&before) };
        })
    }

    /// Removes an arena, and the file with the last one.
    pub fn remove(&self, arena: &Path) -> io::Result<()> {
        let text = self.text()?;
        let start = format!("{}\t", arena.display());
        let rest: String =
            text.split_inclusive('\n').filter(|one| !one.starts_with(&start)).collect();
        if rest == text {
            Ok(())
        } else if rest.is_empty() {
            self.unlink()
        } else {
            self.write(&rest)
        }
    }
}
