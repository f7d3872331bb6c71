//! Columns for other libraries, through the Arrow C data and C stream interfaces.
//!
//! [`c_data`] and [`c_stream`] are the only modules with foreign memory in them; what they
//! hand out is made by `vestige_ctf::columns`.

mod c_data;
mod c_stream;
mod layout;
mod pipeline;

pub use layout::ColumnLayout;
