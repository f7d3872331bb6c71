//! Event records as lines of text, straight from their encoded bytes.
//!
//! The lines are those of Babeltrace 2's `sink.text.pretty`, byte for byte, or, by
//! [`ShortRenderer`], short ones for people. What is the same
//! for all records of a class (punctuation, names, colours) is put together once, in a
//! [`plan::FieldPlan`] or a [`header::HeaderPlan`]; a record then costs copies of those
//! pieces and the text of its values. [`renderer::Renderer`] does it for a whole merge, on
//! all cores, and keeps the order.

mod bits;
pub(crate) mod digits;
mod escape;
mod fields;
mod header;
mod labels;
pub(crate) mod number;
mod options;
mod plan;
pub(crate) mod plans;
mod renderer;
mod short;
mod significant;
mod snippet;
mod tasks;
mod time;

pub(crate) use digits::{push_decimal, push_decimal_padded, push_signed};
pub(crate) use number::push_wide;
pub(crate) use time::{civil_date, push_nanoseconds};

pub use options::{ClockFormat, HeaderFields, Names, Options, Palette, Style};
pub use renderer::Renderer;
pub use short::{ShortOptions, ShortRenderer};
pub use time::{OffsetSource, TimeFormatter};
