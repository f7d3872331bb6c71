//! Writing of event records: the counterpart of [`crate::record`] and [`crate::stream`].
//!
//! * [`value`] is what is written: one value, or a column of them;
//! * [`bit_writer`] puts numbers and bytes at any bit offset, or only counts them;
//! * [`fields`] encodes a value by its field class, the same classes by which it is read;
//! * [`packet_head`] encodes what stands before the event records of a packet;
//! * [`packets`] puts event records into packets, and packets into a data stream.
//!
//! Nothing here knows a version of CTF: the field classes come from parsed metadata, so what
//! is written is what those metadata say.

pub mod bit_writer;
mod error;
mod fields;
mod packet_head;
mod packets;
mod scalars;
pub mod value;

pub use bit_writer::{BitWriter, Output};
pub use error::{EncodeError, WriteError};
pub use fields::{encoded, Encoder, Facts, Mark};
pub use packet_head::{packet_head, PacketHead};
pub use packets::{Append, EventLayout, PacketWriter, Record, Rows};
pub(crate) use scalars::bit_array as write_bits;
