//! Event records as columns, in the memory layout of Apache Arrow.
//!
//! * [`ColumnType`] says what a column holds; each field class has one;
//! * [`Layout`] gives the columns of a selection their names, their types and their order,
//!   and compiles for each event record class how its fields get into them;
//! * [`decode`] turns a merge into a [`RecordBatch`];
//! * [`RowWriter`] writes the rows of a batch as JSON Lines or as CSV;
//! * [`Dictionaries`] keep the labels of dictionary columns the same from batch to batch.
//!
//! Whoever hands the arrays to another library does it elsewhere: there is no foreign memory
//! and no `unsafe` in here.

mod array;
mod builder;
mod ctf2_node;
mod decode;
mod dictionary;
mod gather;
mod layout;
mod naming;
mod node;
mod plan;
mod row_text;
mod types;

pub use array::{Array, Buffer, RecordBatch};
pub use decode::{decode, Decoded};
pub use dictionary::Dictionaries;
pub use layout::{AddedField, Layout, Options, StreamInput, TimeType, UnknownColumn};
pub use row_text::{csv_header, RowFormat, RowWriter};
pub use types::{Column, ColumnType};
