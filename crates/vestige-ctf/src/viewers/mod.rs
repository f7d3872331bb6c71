//! Files of programs that show traces, where each call matters.
//!
//! * [`protobuf`] writes messages of protocol buffers;
//! * [`perfetto`] writes calls and events for Perfetto;
//! * [`arguments`] turns fields of events into their arguments.

mod arguments;
mod instants;
pub mod perfetto;
mod protobuf;
mod small;
mod track;

pub use perfetto::Perfetto;
