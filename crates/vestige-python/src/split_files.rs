//! The `.dwo` files that Python has found, opened when a lookup needs them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use vestige_symbols::{ObjectFile, SplitFailure, SplitFiles};

use crate::symbols::{open_object, Failure};

type Opened = Result<Arc<ObjectFile>, SplitFailure>;

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
        let open = || match open_object(path) {
            Ok((_, object)) => Ok(Arc::new(object)),
            Err(Failure::Content(error)) => Err(SplitFailure::Content(error)),
            Err(Failure::Access(error)) => {
                Err(SplitFailure::Access(format!("{}: {error}", path.display())))
            }
        };
        Some(opened.entry(path.clone()).or_insert_with(open).clone())
    }
}
