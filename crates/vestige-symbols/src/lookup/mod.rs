//! Lookups: what answers, from which files, and how answers are written.

pub(crate) mod answer_text;
pub(crate) mod companions;
pub(crate) mod go_line_table;
pub(crate) mod place_format;
pub(crate) mod symbol_files;
pub(crate) mod symbol_table;
pub(crate) mod unit_tables;
