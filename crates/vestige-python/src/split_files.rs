//! The `.dwo` files that Python has found, opened when a lookup needs them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use vestige_symbols::{ObjectFile, ReadAt, SplitFailure, SplitFiles};

use crate::source::{FileSource, Identity};

type Opened = Result<Arc<ObjectFile>, SplitFailure>;

/// A file that is open only while it is read: a program may have more of them than a
/// process may have open.
struct ClosedSource {
    path: PathBuf,
    identity: Identity,
    stored: u64,
}

impl ClosedSource {
    fn new(path: &Path) -> io::Result<Self> {
        let file = FileSource::open(path)?;
        let (identity, stored) = (file.identity()?, file.stored());
        Ok(Self { path: path.to_owned(), identity, stored })
    }
}

impl ReadAt for ClosedSource {
    fn len(&self) -> u64 {
        self.identity.2
    }

    fn stored(&self) -> u64 {
        self.stored
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let file = FileSource::open(&self.path)?;
        if file.identity()? != self.identity {
            return Err(io::Error::other("the file has changed"));
        }
        file.read_at(offset, buffer)
    }
}

/// Files by the ID of the unit that they hold.
pub struct FilesById {
    paths: BTreeMap<u64, PathBuf>,
    /// Several units may be in one file.
    opened: Mutex<BTreeMap<PathBuf, Opened>>,
}

impl FilesById {
    /// Takes pairs of an ID and a path.
    pub fn new(paths: Vec<(u64, PathBuf)>) -> Self {
        Self { paths: paths.into_iter().collect(), opened: Mutex::default() }
    }
}

impl SplitFiles for FilesById {
    fn open(&self, dwo_id: u64) -> Option<Opened> {
        let path = self.paths.get(&dwo_id)?;
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let open = || match ClosedSource::new(path) {
            Ok(source) => match ObjectFile::new(Box::new(source)) {
                Ok(object) => Ok(Arc::new(object)),
                Err(error) => Err(SplitFailure::Content(error)),
            },
            Err(error) => Err(SplitFailure::Access(format!("{}: {error}", path.display()))),
        };
        Some(opened.entry(path.clone()).or_insert_with(open).clone())
    }
}
