//! A copy of a recording that goes on: all that is recorded, as files of another directory.
//!
//! What is in memory is written first. While nobody writes, files are opened and their lengths
//! noted; they are copied after that, whatever becomes of their names.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;

use crate::arenas::Arenas;
use crate::file_error::at_path;
use crate::files::Files;
use crate::snapshot::Taken;

/// A file as it was when nobody wrote.
struct Found {
    name: String,
    file: File,
    bytes: u64,
}

impl Arenas {
    /// Copies the trace to a directory that is empty.
    pub fn copy(&self, to: &Files) -> io::Result<Taken> {
        let all_files = self.all_while(|all| {
            let _alone = self.trace.alone();
            for one in all {
                one.drain_all();
            }
            self.find_files()
        });
        let mut taken = Taken::default();
        for found in all_files? {
            let copied = to.create(&found.name).and_then(|file| {
                // What was written since is beyond its length.
                io::copy(&mut (&found.file).take(found.bytes), &mut &*file)
            });
            taken.bytes += copied.map_err(|error| at_path(&error, &to.path_of(&found.name)))?;
            taken.streams += 1;
            to.forget(&found.name);
        }
        Ok(taken)
    }

    fn find_files(&self) -> io::Result<Vec<Found>> {
        let mut found = Vec::new();
        let from = self.trace.files.folder();
        for entry in fs::read_dir(&from.place().path)? {
            let name = entry?.file_name();
            let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
            // Its owner may have removed it, or put a link there.
            let Ok(file) = from.open_file(name, libc::O_RDONLY) else { continue };
            let facts = file.metadata()?;
            if facts.is_file() {
                found.push(Found { name: name.to_owned(), file, bytes: facts.size() });
            }
        }
        Ok(found)
    }
}
