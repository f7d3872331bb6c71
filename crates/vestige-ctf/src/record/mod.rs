//! Decoding the fields of one event record, packet header or packet context.
//!
//! Two ways through the same field classes: [`skip`] finds where a field ends and notes
//! what other fields or the reader need, [`build`] makes a value of each field. Text
//! rendering walks them a third way, in [`crate::text`].

mod build;
mod skip;
mod state;

pub use build::{build, build_member, float_value, until_nul, Builder, Validator};
pub use skip::skip;
pub use state::{array_length, select_option, DecodeError, State};
