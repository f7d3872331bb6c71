//! What a lookup answers.

use std::fmt;
use std::sync::Arc;

/// The function, the source line and the inlined calls at an address.
///
/// Each part may be absent by itself: assembly code may have lines and no
/// function, a stripped library functions and no lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lookup {
    /// The innermost function that is not inlined.
    pub function: Option<FunctionPlace>,
    /// The source line of the instruction.
    pub location: Option<Location>,
    /// Where something is inlined: the function and line of each level,
    /// innermost first; the last one is `function` itself, at the line of the
    /// outermost inlined call. Else empty.
    pub frames: Vec<Frame>,
    /// Where the function comes from.
    pub source: Option<Source>,
    /// Why there is no function.
    pub reason: Option<Unresolved>,
}

/// A place in a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionPlace {
    /// The name to show: demangled for C++ and Rust, the identifier for C.
    pub name: Arc<str>,
    /// The name of the symbol, when it is known.
    pub linkage_name: Option<Arc<str>>,
    /// The function's entry.
    pub entry: u64,
    /// The distance from `entry`; negative in a part that was split off and put before it.
    pub offset: i64,
}

/// A place in a source file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The directory, absolute when debug information allows it; empty when unknown.
    pub directory: Arc<str>,
    /// The name of the file in it.
    pub file: Arc<str>,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, when the compiler recorded one.
    pub column: Option<u32>,
}

/// One level of inlined calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The name of the function, as in [`FunctionPlace::name`].
    pub function: Option<Arc<str>>,
    /// The name of its symbol, when debug information states it.
    pub linkage_name: Option<Arc<str>>,
    /// The full path of the file.
    pub path: Option<Arc<str>>,
    /// The line, from 1.
    pub line: Option<u32>,
}

/// Where the name of a function was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// DWARF debug information.
    Dwarf,
    /// The symbol table (`.symtab`).
    ElfSymtab,
    /// The symbol table packed into `.gnu_debugdata`.
    MiniDebugInfo,
    /// The symbol table for the dynamic linker (`.dynsym`).
    ElfDynsym,
    /// The dynamic relocation of an entry of a procedure linkage table.
    Plt,
    /// The table by which programs of Go name their own functions (`.gopclntab`).
    GoLineTable,
}

/// Why an address has no function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unresolved {
    /// The object has neither debug information nor symbols of functions.
    NoSymbols,
    /// The address is in no executable part of the object.
    OutsideOfText,
    /// The object has symbols, but none covers the address.
    NoFunctionThere,
    /// No symbol covers the address, and the debug information is damaged.
    DamagedDebugInfo,
}

impl Source {
    /// A short name that does not change between versions.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dwarf => "dwarf",
            Self::ElfSymtab => "symtab",
            Self::MiniDebugInfo => "mini-debug-info",
            Self::ElfDynsym => "dynsym",
            Self::Plt => "plt",
            Self::GoLineTable => "gopclntab",
        }
    }
}

impl Unresolved {
    /// A short name that does not change between versions.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoSymbols => "no-symbols",
            Self::OutsideOfText => "outside-of-text",
            Self::NoFunctionThere => "no-function-there",
            Self::DamagedDebugInfo => "damaged-debug-info",
        }
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoSymbols => "the object has neither debug information nor symbols",
            Self::OutsideOfText => "the address is in no executable part of the object",
            Self::NoFunctionThere => "no function covers the address",
            Self::DamagedDebugInfo => "the debug information is damaged",
        })
    }
}

impl Location {
    /// The full path of the file.
    pub fn path(&self) -> String {
        match self.directory.as_ref() {
            "" => self.file.as_ref().to_owned(),
            "/" => format!("/{}", self.file),
            directory => format!("{directory}/{}", self.file),
        }
    }
}
