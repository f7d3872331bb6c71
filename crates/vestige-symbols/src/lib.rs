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

mod alt_link;
mod answer_text;
mod budget;
mod bytes;
mod compression;
mod cpp_name;
mod debug_info;
mod debug_link;
mod debug_string;
mod demangle;
mod die;
mod dwarf_view;
mod elf_header;
mod elf_symbol;
mod error;
mod function;
mod function_name;
mod go_line_table;
mod line_table;
mod lookup;
mod mini_debug_info;
mod note;
mod object_file;
mod opd;
mod place_format;
mod plt;
mod range_map;
mod read_at;
mod section_data;
mod sections;
mod signature;
mod source_path;
mod split_unit;
mod symbol_files;
mod symbol_table;
mod text;
mod unit;
mod unit_head;
mod unit_index;
mod unit_table;
mod units;

pub use alt_link::AltLink;
pub use answer_text::{Addr2lineStyle, AnswerStyle, AnswerWriter, Subject};
pub use debug_link::{Crc32, DebugLink};
pub use demangle::demangle;
pub use elf_header::{Section, Segment};
pub use elf_symbol::{function_symbols, FunctionSymbol};
pub use error::SymbolError;
pub use lookup::{Frame, FunctionPlace, Location, Lookup, Source, Unresolved};
pub use object_file::ObjectFile;
pub use place_format::PlaceFormat;
pub use read_at::{is_hole, ReadAt};
pub use signature::{Parameter, ParameterPlace, Signature, ValueClass, ValueType};
pub use split_unit::SplitUnit;
pub use symbol_files::{SplitFailure, SplitFiles, SymbolFiles};
pub use symbol_table::SymbolTable;
pub use unit_index::UnitIndex;
