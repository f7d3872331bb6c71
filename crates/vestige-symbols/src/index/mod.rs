//! What was decoded of units, in the form in which it is looked up and kept in files.

pub(crate) mod stored_units;
pub(crate) mod unit_table;
