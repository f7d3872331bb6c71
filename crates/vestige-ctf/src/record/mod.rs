//! Decoding the fields of one event record, packet header or packet context.
//!
//! Three ways through the same field classes: [`skip`] finds where a field ends and notes
//! what other fields or the reader need, [`check`] decodes all of it, [`build`] makes a
//! value of each field. Text rendering walks them its own way, in [`crate::text`]. The
//! bodies of event records are skipped and checked by a [`Program`], compiled from them.

mod build;
mod check;
mod encoded_text;
mod header;
mod number_place;
mod program;
mod shape;
mod skip;
mod state;
mod variable_length;
mod wide_number;

pub use build::{build, build_member, float_value, until_nul, Builder};
pub use check::check;
pub use encoded_text::{blob, text, to_utf8};
pub use header::{HeaderDecoder, HeaderInBytes};
pub use number_place::{NumberPlace, RunStarts};
pub use program::Program;
pub use shape::Segment;
pub use skip::skip;
pub(crate) use state::MAX_EMPTY_ELEMENTS;
pub use state::{array_length, is_there, select_option, DecodeError, State};
pub use variable_length::variable_length;
pub use wide_number::{binary_float, bit_array, Number};
