//! One ELF file with its debug information, which is read when it is asked for, and then once.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use crate::dwarf::debug_info::DebugInfo;
use crate::dwarf::sections::Sections;
use crate::dwarf::split_unit::{Companions, SplitUnit};
use crate::elf::elf_file::ElfFile;
use crate::error::SymbolError;
use vestige_bytes::ReadAt;

/// Reading so much takes some 10 ms; most debug files are smaller, or compressed.
const MEMORY_LIMIT: u64 = 16 << 20;

/// An ELF object: executable, shared object or separate debug file.
pub struct ObjectFile {
    file: ElfFile,
    debug_info: OnceLock<Result<Option<Arc<DebugInfo>>, SymbolError>>,
    /// The same for files that have this one as their supplement. It has no supplement
    /// itself, so that files which name each other make no circle.
    shared_info: OnceLock<Result<Option<Arc<DebugInfo>>, SymbolError>>,
    split_sections: OnceLock<Result<Arc<Sections>, SymbolError>>,
    assumes_dwarf: AtomicBool,
}

impl Deref for ObjectFile {
    type Target = ElfFile;

    fn deref(&self) -> &ElfFile {
        &self.file
    }
}

impl AsRef<ElfFile> for ObjectFile {
    fn as_ref(&self) -> &ElfFile {
        &self.file
    }
}

impl ObjectFile {
    /// Reads the headers, the build ID and the debug link of an object.
    ///
    /// # Errors
    /// When the source is no ELF file, or its headers or the sections read
    /// here are cut or not well formed.
    pub fn new(source: Box<dyn ReadAt>) -> Result<Self, SymbolError> {
        Self::with_memory_limit(source, MEMORY_LIMIT)
    }

    /// Like [`ObjectFile::new`]. Debug sections that are not compressed are read whole up to
    /// `memory_limit` bytes in sum; where they are larger, units are read one by one.
    ///
    /// # Errors
    /// As for [`ObjectFile::new`].
    pub fn with_memory_limit(
        source: Box<dyn ReadAt>,
        memory_limit: u64,
    ) -> Result<Self, SymbolError> {
        ElfFile::with_memory_limit(source, memory_limit).map(Self::of)
    }

    fn of(file: ElfFile) -> Self {
        Self {
            file,
            debug_info: OnceLock::new(),
            shared_info: OnceLock::new(),
            split_sections: OnceLock::new(),
            assumes_dwarf: AtomicBool::new(false),
        }
    }

    /// The symbols packed into `.gnu_debugdata`, as an object of their own; `None` when
    /// the file has none.
    ///
    /// # Errors
    /// When they cannot be unpacked.
    pub fn mini_debug_info(&self) -> Result<Option<Self>, SymbolError> {
        Ok(self.file.mini_debug_info()?.map(Self::of))
    }

    /// The units whose entries are in `.dwo` files or in a package.
    ///
    /// # Errors
    /// When there is a `.debug_info` section that cannot be read.
    pub fn split_units(&self) -> Result<Vec<SplitUnit>, SymbolError> {
        // What the linker relocates of a split unit is there.
        if self.find_section(b".debug_addr").is_none()
            && self.find_section(b".zdebug_addr").is_none()
        {
            return Ok(Vec::new());
        }
        Ok(self.debug_info()?.map(|info| info.split_units()).unwrap_or_default())
    }

    /// Whether the file holds DWARF debug information for some of its code.
    ///
    /// # Errors
    /// When there is a `.debug_info` section that cannot be read.
    pub fn has_dwarf(&self) -> Result<bool, SymbolError> {
        if self.assumes_dwarf.load(Ordering::Relaxed) {
            return Ok(true);
        }
        Ok(self.debug_info()?.is_some_and(|info| info.describes_code()))
    }

    /// Takes it that the file holds debug information for code, as an index of it shows.
    pub fn assume_dwarf(&self) {
        self.assumes_dwarf.store(true, Ordering::Relaxed);
    }

    /// The debug information, read at the first call; `None` when there is none.
    pub(crate) fn debug_info(&self) -> Result<Option<Arc<DebugInfo>>, SymbolError> {
        let load = || Ok(DebugInfo::load(&self.file)?.map(Arc::new));
        self.debug_info.get_or_init(load).clone()
    }

    /// What other files share of the debug information, read at the first call.
    pub(crate) fn shared_info(&self) -> Result<Option<Arc<DebugInfo>>, SymbolError> {
        let load = || Ok(DebugInfo::load_shared(&self.file)?.map(Arc::new));
        self.shared_info.get_or_init(load).clone()
    }

    /// The debug information together with the files that belong to it. Where others have
    /// been named before, it is read anew: what has been decoded depends on them.
    pub(crate) fn debug_info_with(
        &self,
        info: Arc<DebugInfo>,
        companions: Companions,
    ) -> Result<Arc<DebugInfo>, SymbolError> {
        if companions.is_empty() && info.companions().is_none() {
            return Ok(info);
        }
        match info.attach(companions) {
            Ok(()) => Ok(info),
            Err(companions) => {
                let again = DebugInfo::load(&self.file)?.map(Arc::new).unwrap_or(info);
                // Nobody else knows this one.
                let _ = again.attach(companions);
                Ok(again)
            }
        }
    }

    /// The sections of split debug information, read at the first call.
    pub(crate) fn split_sections(&self) -> Result<Arc<Sections>, SymbolError> {
        let load = || Ok(Arc::new(Sections::load_split(&self.file)?));
        self.split_sections.get_or_init(load).clone()
    }
}
