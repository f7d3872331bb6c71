//! Copying the event records of data streams into a trace of its own.
//!
//! A copy has headers and packet contexts of one form, whatever those of the trace were, and
//! beside them the same fields: the bytes of a record's contexts and payload are copied as they
//! are where both traces encode them in the same way, and else field by field.
//!
//! * [`CopyLayout`] is the trace class of the copy, with its metadata in CTF 1.8 or CTF 2;
//! * [`StreamCopy`] writes the packets of one data stream;
//! * [`MergeCopy`] writes all data streams of merges.

mod added;
mod error;
mod facts;
mod fields;
mod fragments;
mod json;
mod layout;
mod merge;
mod names;
mod same;
mod stream;
mod targets;
mod tsdl;
mod tsdl_text;

pub use added::AddedField;
pub use error::CopyError;
pub use facts::Version;
pub use layout::{CopyLayout, CopyOptions};
pub use merge::MergeCopy;
pub use stream::{StreamCopy, WriteAt};
