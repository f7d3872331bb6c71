//! Files of programs that show traces, where each call matters.
//!
//! * [`protobuf`] writes messages of protocol buffers;
//! * [`perfetto`] writes calls and events for Perfetto;
//! * [`packets`] puts packets of that together, [`small`] short ones;
//! * [`chrome`] writes calls for Chrome's viewer;
//! * [`arguments`] turns fields of events into their arguments.

mod arguments;
pub mod chrome;
mod instants;
mod packets;
pub mod perfetto;
mod protobuf;
mod small;
mod spans;
mod track;

pub use perfetto::Perfetto;
