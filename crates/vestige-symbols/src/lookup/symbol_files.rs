//! The files that together tell the symbols of one object.

use std::sync::Arc;

use crate::dwarf::object_file::ObjectFile;
use crate::dwarf::split_unit::SplitFailure;
use crate::elf::elf_file::ElfFile;

/// Opens the `.dwo` files of split debug information when a lookup needs them.
pub trait SplitFiles: Send + Sync {
    /// The file that should hold the unit with this ID; `None` when none is known.
    ///
    /// # Errors
    /// When the file is there and cannot be read.
    fn open(&self, dwo_id: u64) -> Option<Result<Arc<ObjectFile>, SplitFailure>>;
}

/// What a [`crate::SymbolTable`] is made of; only `debug` is always there.
#[derive(Clone, Copy)]
pub struct SymbolFiles<'a> {
    /// The file to prefer: the separate debug file, or the object itself.
    pub debug: &'a ObjectFile,
    /// The object as it was loaded, when `debug` is another file.
    pub main: Option<&'a ObjectFile>,
    /// What the debug link to a supplementary file names.
    pub supplement: Option<&'a ObjectFile>,
    /// The symbols packed into the object, as [`ObjectFile::mini_debug_info`] gives them.
    pub mini: Option<&'a ObjectFile>,
    /// The package of all split units.
    pub package: Option<&'a ObjectFile>,
}

impl<'a> SymbolFiles<'a> {
    /// Symbols of one file and, where it is another one, of the object it belongs to.
    pub fn new(debug: &'a ObjectFile, main: Option<&'a ObjectFile>) -> Self {
        Self { debug, main, supplement: None, mini: None, package: None }
    }

    /// The debug file and, where it is another one, the object: those with symbols.
    pub(crate) fn objects(&self) -> Vec<&'a ObjectFile> {
        std::iter::once(self.debug).chain(self.main).collect()
    }
    /// The same as ELF files.
    pub(crate) fn elf_files(&self) -> Vec<&'a ElfFile> {
        self.objects().into_iter().map(AsRef::as_ref).collect()
    }
}
