//! Chunks of a trace: what was recorded up to now stays where it is, and what follows goes to
//! another directory; or all of it is thrown away.

use std::fs::{self, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::sync::atomic::Ordering;
use std::sync::Arc;

use crate::account::Account;
use crate::arenas::Arenas;
use crate::drain::Reach;
use crate::file_error::at_path;
use crate::files::METADATA;
use crate::files::{Files, Folder};
use crate::indexes::Indexes;
use crate::live;
use crate::loaded_state::{Dump, Target};
use crate::owner::Place;
use crate::recording::Recording;
use crate::register;
use crate::state::Process;
use crate::sys;

/// The register of the next chunk, until that has begun.
const NEXT_REGISTER: &str = ".arena.next";
const REGISTER_MODE: u32 = 0o644;

impl Arenas {
    /// Ends a chunk of the trace, and goes on in another directory, which is empty or has
    /// metadata without event classes that programs register.
    ///
    /// The dump is there before anybody finds the chunk; if it cannot be written, there is none.
    /// Programs go on meanwhile: of each slot, what is committed is written before. What a disk
    /// refuses now goes to the next chunk.
    ///
    /// # Errors
    ///
    /// The next chunk cannot be begun. The present one goes on then.
    pub fn cut(&self, place: Place, dump: Dump) -> io::Result<()> {
        let files = &self.trace.files;
        let next = Folder::open(Place { owner: files.place().owner, ..place })?;
        self.all_while(|all| {
            let present = files.folder();
            let is_inside = |one: &Arc<Recording>| {
                one.arena.path().parent() == Some(present.place().path.as_path())
            };
            if all.iter().any(is_inside) {
                // The memory itself is in the directory that is left.
                return Err(io::Error::from(io::ErrorKind::Unsupported));
            }
            let _alone = self.trace.alone();
            let begin = self.trace.loaded_state.now();
            for one in all {
                one.drain_all();
            }
            let has_metadata = next.open_file(METADATA, libc::O_RDONLY).is_ok();
            let bytes = begin_chunk(&present, &next, all, has_metadata)?;
            for one in all {
                one.forget_files();
                if has_metadata {
                    one.classes.begin_anew();
                }
            }
            self.trace.streams().cut();
            self.trace.budget().begin_anew(bytes);
            let written = self.write_dump(&next, &dump, begin);
            let path = &next.place().path;
            let (from, to) = (path.join(NEXT_REGISTER), path.join(register::NAME));
            // From here on, whoever comes after this collector finds the next chunk.
            let renamed = next.place().with_rights(|| fs::rename(&from, &to));
            renamed.map_err(|error| {
                for (name, _) in &written {
                    let _ = next.remove(name);
                }
                at_path(&error, &to)
            })?;
            files.move_to(next.clone());
            self.trace.indexes.begin_anew(next.place());
            self.trace.loaded_state.begin_with(begin, dump, written);
            for one in all {
                one.arena.set_directory(path)?;
            }
            // The chunk before is read without it, too.
            let _ = present.remove(register::NAME);
            let _ = present.remove(live::NAME);
            Ok(())
        })
    }

    /// Writes a state dump to the next chunk; the files and their streams.
    fn write_dump(&self, next: &Folder, dump: &Dump, time: u64) -> Vec<(String, u64)> {
        let place = next.place().clone();
        let indexes = Indexes::open(&place);
        let Ok(files) = Files::open(place, Box::new(sys::write_parts)) else { return Vec::new() };
        let target = Target { files: &files, indexes: &indexes, uuid: &self.trace.uuid };
        dump.write(target, &mut self.trace.streams(), time).unwrap_or_default()
    }

    /// Moves what was recorded up to now to a directory that is empty, and goes on here.
    ///
    /// # Errors
    ///
    /// It cannot be moved. What was not goes to the next chunk.
    pub fn archive(&self, place: Place) -> io::Result<()> {
        let into = Folder::open(place)?;
        self.all_while(|all| {
            let _alone = self.trace.alone();
            for one in all {
                one.drain_all();
            }
            let present = self.trace.files.folder();
            let (metadata, mode) = read(&present, METADATA)?;
            write(&into, METADATA, &metadata, mode).inspect_err(|_| {
                // The first error is the one to tell.
                let _ = into.remove(METADATA);
            })?;
            let moved = move_data(&present, &into);
            for one in all {
                one.forget_files();
            }
            self.trace.streams().cut();
            self.trace.files.move_to(present);
            // Who ended since all was written has the rest in the chunk that begins.
            let all = all.iter().flat_map(|one| one.unfinished_slots());
            let left: Vec<_> = all.map(|one| Process::of(&one.identity)).collect();
            let states = self.trace.states.begin_chunk(&self.trace, |one| left.contains(&one));
            let copied = states.as_ref().copied().unwrap_or(0);
            self.trace.budget().begin_anew(metadata.len() as u64 + copied);
            moved.and(states.map(drop))
        })
    }

    /// Throws away what was recorded up to now, also what is not yet in files.
    ///
    /// # Errors
    ///
    /// A file cannot be removed.
    pub fn clear(&self) -> io::Result<()> {
        self.all_while(|all| {
            let _alone = self.trace.alone();
            let begin = self.trace.loaded_state.now();
            for one in all {
                one.forget_files();
            }
            self.trace.streams().cut();
            let files = &self.trace.files;
            self.trace.indexes.clear(files);
            let cleared = files.clear();
            self.trace.set_discarding(true);
            for one in all {
                one.let_left_go(0);
                one.drain_all();
            }
            self.trace.set_discarding(false);
            self.trace.loaded_state.begin_at(begin);
            self.trace.budget().begin_anew(cleared?);
            Ok(())
        })
    }
}

/// Moves all data files.
fn move_data(from: &Folder, into: &Folder) -> io::Result<()> {
    let (path, target) = (&from.place().path, &into.place().path);
    from.place().with_rights(|| {
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            let name = entry.file_name();
            let is_data = name != METADATA && !name.to_string_lossy().starts_with('.');
            if is_data && entry.file_type()?.is_file() {
                let to = target.join(&name);
                fs::rename(entry.path(), &to).map_err(|error| at_path(&error, &to))?;
            }
        }
        Ok(())
    })
}

/// Puts into the next chunk what each has; bytes of it. It is there as a whole, or not at all.
fn begin_chunk(
    present: &Folder,
    next: &Folder,
    all: &[Arc<Recording>],
    has_metadata: bool,
) -> io::Result<u64> {
    let line = |one: &Arc<Recording>| {
        register::line(&one.arena, one.arena.user()?, one.classes.first_id())
    };
    let register: String = all.iter().map(line).collect::<io::Result<_>>()?;
    let begin = || {
        let mut bytes = 0;
        if !has_metadata {
            let (metadata, mode) = read(present, METADATA)?;
            bytes = metadata.len() as u64;
            write(next, METADATA, &metadata, mode)?;
        }
        write(next, NEXT_REGISTER, register.as_bytes(), REGISTER_MODE)?;
        Ok(bytes)
    };
    begin().inspect_err(|_| {
        // The first error is the one to tell.
        let _ = next.remove(NEXT_REGISTER);
        if !has_metadata {
            let _ = next.remove(METADATA);
        }
    })
}

fn read(folder: &Folder, name: &str) -> io::Result<(Vec<u8>, u32)> {
    let read = || {
        let mut file = folder.open_file(name, libc::O_RDONLY)?;
        let found = file.metadata()?;
        if !found.is_file() {
            return Err(io::Error::from_raw_os_error(libc::EEXIST));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok((bytes, found.mode()))
    };
    read().map_err(|error| at_path(&error, &folder.place().path.join(name)))
}

fn write(folder: &Folder, name: &str, bytes: &[u8], mode: u32) -> io::Result<()> {
    let write = || {
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL;
        let mut file = folder.open_file(name, flags)?;
        file.set_permissions(Permissions::from_mode(mode))?;
        file.write_all(bytes)
    };
    write().map_err(|error| at_path(&error, &folder.place().path.join(name)))
}

impl Recording {
    /// Writes what is committed in all slots; the caller keeps all others from writing.
    pub fn drain_all(&self) {
        self.know_all_slots();
        for slot in 1..=self.slots_in_use() {
            let Some(mut guard) = self.slot(slot) else { continue };
            if self.arena.slot(slot).claimed().load(Ordering::Acquire) == 0 {
                continue;
            }
            let has_died = self.has_died(slot);
            let state = guard.get_or_insert_with(|| Box::new(self.first_look(slot)));
            // What cannot be written now stays in memory.
            if has_died || state.is_gone {
                if let Ok(true) = self.end(slot, state) {
                    *guard = None;
                }
            } else {
                let _ = self.drain(slot, state, Reach::Snapshot);
            }
        }
    }

    /// Lets each slot begin a new file with its next packet.
    fn forget_files(&self) {
        for slot in 1..=self.slots_in_use() {
            if let Some(mut guard) = self.slot(slot) {
                if let Some(state) = guard.as_mut().filter(|one| one.account != Account::default())
                {
                    state.account = state.account.cut();
                    self.arena.note(slot, &state.account);
                }
            }
        }
    }
}
