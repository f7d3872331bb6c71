//! The files of a trace directory: made anew, opened by name, and a few of them open.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::file_error::at_path;
use crate::owner::Place;
use crate::sys::{self, Span};

/// The file that describes all events.
pub const METADATA: &str = "metadata";

/// Most files that are open at the same time, whatever the limit of the process is.
const MOST_OPEN: u64 = 1024;
/// Descriptors that are left for others.
const SPARE: u64 = 64;
const WRITABLE_BY_OTHERS: u32 = 0o002;

/// Writes a head, a body and a tail at an offset; tests have one that fails.
pub type Write =
    dyn Fn(&File, &[u8], Option<Span<'_>>, &[u8], u64) -> io::Result<u64> + Send + Sync;

/// A directory that is open, whatever its name is by now.
#[derive(Clone)]
pub struct Folder {
    directory: Arc<File>,
    place: Place,
}

impl Folder {
    /// Opens a directory; one in which others can make files is refused.
    pub fn open(place: Place) -> io::Result<Self> {
        let path = place.path.as_path();
        let opened = place.with_rights(|| sys::open_directory(path));
        let directory = opened.map_err(|error| at_path(&error, path))?;
        let found = directory.metadata().map_err(|error| at_path(&error, path))?;
        if found.uid() != place.user() || found.mode() & WRITABLE_BY_OTHERS != 0 {
            let error = io::Error::from_raw_os_error(libc::EPERM);
            return Err(at_path(&error, path));
        }
        Ok(Self { directory: Arc::new(directory), place })
    }

    /// Opens a file of it, or makes it.
    pub fn open_file(&self, name: &str, flags: libc::c_int) -> io::Result<File> {
        let flags = flags | libc::O_NONBLOCK;
        self.place.with_rights(|| sys::open_at(&self.directory, name, flags))
    }

    /// Removes a file of it.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        self.place.with_rights(|| sys::unlink_at(&self.directory, name))
    }

    /// Where it is, and whose.
    pub const fn place(&self) -> &Place {
        &self.place
    }
}

#[derive(Default)]
struct Opened {
    files: HashMap<String, (Arc<File>, u64)>,
    clock: u64,
}

/// A trace directory; another one takes its place when a chunk of the trace ends.
pub struct Files {
    folder: RwLock<Folder>,
    opened: Mutex<Opened>,
    most: usize,
    write: Box<Write>,
}

impl Files {
    /// Opens a directory; one in which others can make files is refused.
    pub fn open(place: Place, write: Box<Write>) -> io::Result<Self> {
        let folder = RwLock::new(Folder::open(place)?);
        let limit = sys::most_open_files().saturating_sub(SPARE).clamp(8, MOST_OPEN);
        Ok(Self { folder, opened: Mutex::default(), most: limit as usize, write })
    }

    /// The directory that is written to now.
    pub fn folder(&self) -> Folder {
        self.folder.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes to another directory from now on; nobody may be writing.
    pub fn move_to(&self, folder: Folder) {
        *self.folder.write().unwrap_or_else(PoisonError::into_inner) = folder;
        self.opened().files.clear();
    }

    /// Where the directory is, and whose.
    pub fn place(&self) -> Place {
        self.folder().place
    }

    /// The path of a file in it.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.folder().place.path.join(name)
    }

    fn opened(&self) -> MutexGuard<'_, Opened> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes a file that is not there.
    pub fn create(&self, name: &str) -> io::Result<Arc<File>> {
        self.open_with(name, libc::O_RDWR | libc::O_CREAT | libc::O_EXCL)
    }

    /// A file that was made before.
    pub fn get(&self, name: &str) -> io::Result<Arc<File>> {
        let mut opened = self.opened();
        opened.clock += 1;
        let clock = opened.clock;
        if let Some((file, used)) = opened.files.get_mut(name) {
            *used = clock;
            return Ok(Arc::clone(file));
        }
        drop(opened);
        let file = self.open_with(name, libc::O_RDWR)?;
        if !file.metadata()?.is_file() {
            self.forget(name);
            return Err(io::Error::from_raw_os_error(libc::EEXIST));
        }
        Ok(file)
    }

    fn open_with(&self, name: &str, flags: libc::c_int) -> io::Result<Arc<File>> {
        let folder = self.folder();
        let mut file = folder.open_file(name, flags);
        let code = file.as_ref().err().and_then(io::Error::raw_os_error);
        if code == Some(libc::EMFILE) || code == Some(libc::ENFILE) {
            let half = self.opened().files.len() / 2 + 1;
            self.close_oldest(half);
            file = folder.open_file(name, flags);
        }
        let file = Arc::new(file?);
        let mut opened = self.opened();
        let clock = opened.clock;
        opened.files.insert(name.to_owned(), (Arc::clone(&file), clock));
        let surplus = opened.files.len().saturating_sub(self.most);
        drop(opened);
        if surplus > 0 {
            self.close_oldest(surplus + self.most / 8);
        }
        Ok(file)
    }

    fn close_oldest(&self, count: usize) {
        let mut opened = self.opened();
        let mut uses: Vec<u64> = opened.files.values().map(|one| one.1).collect();
        uses.sort_unstable();
        let Some(limit) = uses.get(count.min(uses.len()).saturating_sub(1)).copied() else {
            return;
        };
        opened.files.retain(|_, one| one.1 > limit);
    }

    /// Closes a file when nobody writes to it any more.
    pub fn forget(&self, name: &str) {
        self.opened().files.remove(name);
    }

    /// Removes a file.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        self.forget(name);
        self.folder().remove(name)
    }

    /// Removes all files but the metadata and hidden ones; bytes of the metadata.
    pub fn clear(&self) -> io::Result<u64> {
        self.opened().files.clear();
        let folder = self.folder();
        let path = folder.place.path.as_path();
        let mut kept = 0;
        let names =
            folder.place.with_rights(|| fs::read_dir(path)?.collect::<io::Result<Vec<_>>>());
        for entry in names.map_err(|error| at_path(&error, path))? {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name == METADATA {
                kept = entry.metadata().map_or(0, |found| found.len());
            } else if !name.starts_with('.') && !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folder.remove(&name).map_err(|error| at_path(&error, &path.join(&*name)))?;
            }
        }
        Ok(kept)
    }

    /// Writes all of the parts at an offset, or cuts the file off there.
    pub fn write_at(
        &self,
        file: &File,
        head: &[u8],
        body: Option<Span<'_>>,
        tail: &[u8],
        at: u64,
    ) -> io::Result<()> {
        let (mut head, mut body, mut tail, mut place) = (head, body, tail, at);
        let mut failure = None;
        while failure.is_none()
            && head.len() + tail.len() + body.map_or(0, |b| b.bytes as usize) > 0
        {
            match (self.write)(file, head, body, tail, place) {
                Ok(0) => failure = Some(io::Error::from_raw_os_error(libc::EIO)),
                Ok(written) => {
                    place += written;
                    skip(written, &mut head, &mut body, &mut tail);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => failure = Some(error),
            }
        }
        let Some(error) = failure else { return Ok(()) };
        // A part of a packet is worse than none; the error that came first counts.
        let _ = file.set_len(at);
        Err(error)
    }
}

/// Leaves out what was written.
fn skip(written: u64, head: &mut &[u8], body: &mut Option<Span<'_>>, tail: &mut &[u8]) {
    let mut rest = usize::try_from(written).unwrap_or(usize::MAX);
    let part = rest.min(head.len());
    *head = head.get(part..).unwrap_or_default();
    rest -= part;
    if let Some(span) = body {
        let part = rest.min(span.bytes as usize);
        span.at += part as u64;
        span.bytes -= part as u32;
        rest -= part;
    }
    *tail = tail.get(rest.min(tail.len())..).unwrap_or_default();
}
