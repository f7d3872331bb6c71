//! Debug information: units, functions, lines, as far as lookups need them.

pub(crate) mod debug_info;
pub(crate) mod decoder;
pub(crate) mod entry;
pub(crate) mod functions;
pub(crate) mod limits;
pub(crate) mod line_table;
pub(crate) mod object_file;
pub(crate) mod origins;
pub(crate) mod sections;
pub(crate) mod signature;
pub(crate) mod source_paths;
pub(crate) mod split_unit;
pub(crate) mod strings;
pub(crate) mod unit;
pub(crate) mod unit_head;
pub(crate) mod view;
