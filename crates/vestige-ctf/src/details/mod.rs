//! The text of all that a trace holds: what the metadata declares, and each message.
//!
//! The layout is that of `sink.text.details` of Babeltrace 2.0.4, byte for byte; what only
//! CTF 2 has follows its rules. Messages come from [`crate::messages`], so merges must have
//! been asked for boundaries.

mod class_text;
mod field_path;
mod fields;
mod number;
mod options;
mod plan;
mod renderer;
mod stream_facts;
mod trace_text;

pub use options::{Options, Palette};
pub use renderer::Renderer;
pub use stream_facts::StreamFacts;
