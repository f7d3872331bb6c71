//! Messages: a merge as one message after the other, for components in Python.
//!
//! A message is a view of the merge: an event stays encoded until a field is asked for.

mod clock_snapshot;
mod description;
mod event_message;
mod field;
mod message_iterator;
mod packet;
mod selection_builder;

pub use clock_snapshot::ClockSnapshot;
pub use event_message::{EventMessage, MessageEvent, StructureFieldBase};
pub use field::{FieldBase, NumberFieldBase};
pub use message_iterator::MessageIterator;
pub use packet::packet_of_notice;
