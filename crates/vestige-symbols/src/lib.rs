//! From an address in an ELF object to its function, source line and inlined calls.
//!
//! The crate does no I/O: bytes come through [`ReadAt`], and needing another
//! file (found by [`ObjectFile::build_id`] or [`ObjectFile::debug_link`]) is
//! the caller's affair. All input is taken as hostile: damage gives a
//! [`SymbolError`] or an [`Unresolved`] answer, within bounds of time and
//! memory that follow from the file's size.
//!
//! Debug information may be spread over files: see [`SymbolFiles`]. What is
//! missing without one of them falls back on ELF symbols.

mod answer;
mod budget;
mod dwarf;
mod elf;
mod error;
mod index;
mod lookup;
mod names;
mod range_map;
mod sized_reads;

pub use answer::{Frame, FunctionPlace, Location, Lookup, Source, Unresolved};
pub use dwarf::object_file::ObjectFile;
pub use dwarf::signature::{Parameter, ParameterPlace, Signature, ValueClass, ValueType};
pub use dwarf::split_unit::SplitFailure;
pub use dwarf::split_unit::SplitUnit;
pub use elf::alt_link::AltLink;
pub use elf::debug_link::{Crc32, DebugLink};
pub use elf::elf_file::ElfFile;
pub use elf::function_symbols::{function_symbols, FunctionSymbol};
pub use elf::header::{Section, Segment};
pub use elf::packed_file::unpacked_file;
pub use error::SymbolError;
pub use index::stored_units::UnitIndex;
pub use lookup::answer_text::{
    Addr2lineStyle, AnswerStyle, AnswerWriter, Shown, ShownFrame, Subject,
};
pub use lookup::place_format::PlaceFormat;
pub use lookup::symbol_files::{SplitFiles, SymbolFiles};
pub use lookup::symbol_table::SymbolTable;
pub use names::demangle::demangle;
pub use sized_reads::is_hole;
pub use vestige_bytes::ReadAt;
