//! Decoding the fields of one event record, packet header or packet context.
//!
//! Three ways through the same field classes: [`skip`] finds where a field ends and notes
//! what other fields or the reader need, [`check`] decodes all of it, [`build`] makes a
//! value of each field. Text rendering walks them its own way, in [`crate::text`]. The
//! bodies of event records are skipped and checked by a [`Program`], compiled from them.

mod build;
mod check;
mod header;
mod program;
mod skip;
mod state;

pub use build::{build, build_member, float_value, until_nul, Builder};
pub use check::check;
pub use header::HeaderDecoder;
pub use program::Program;
pub use skip::skip;
pub(crate) use state::MAX_EMPTY_ELEMENTS;
pub use state::{array_length, select_option, DecodeError, State};
