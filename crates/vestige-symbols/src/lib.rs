//! From an address in an ELF object to its function, source line and inlined calls.
//!
//! The crate does no I/O: bytes come through [`ReadAt`], and needing another
//! file (found by [`ObjectFile::build_id`] or [`ObjectFile::debug_link`]) is
//! the caller's affair. All input is taken as hostile: damage gives a
//! [`SymbolError`] or an [`Unresolved`] answer, within bounds of time and
//! memory that follow from the file's size.
//!
//! Not read yet: `.gnu_debugdata`, supplementary files (`.gnu_debugaltlink`)
//! and split DWARF. What is missing without them falls back on ELF symbols.

mod budget;
mod bytes;
mod compression;
mod debug_info;
mod debug_link;
mod debug_string;
mod demangle;
mod die;
mod elf_header;
mod elf_symbol;
mod error;
mod function;
mod function_name;
mod line_table;
mod lookup;
mod note;
mod object_file;
mod opd;
mod range_map;
mod read_at;
mod source_path;
mod symbol_table;
mod text;
mod unit;
mod unit_index;
mod unit_table;
mod units;

pub use debug_link::{Crc32, DebugLink};
pub use demangle::demangle;
pub use elf_header::{Section, Segment};
pub use error::SymbolError;
pub use lookup::{Frame, FunctionPlace, Location, Lookup, Source, Unresolved};
pub use object_file::ObjectFile;
pub use read_at::ReadAt;
pub use symbol_table::SymbolTable;
pub use unit_index::UnitIndex;
