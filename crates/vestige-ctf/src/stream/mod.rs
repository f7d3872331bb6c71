//! Data streams: from packets in files to batches of event records.
//!
//! A *batch* is a window of one packet: its bytes, still encoded, and for each event record
//! in it the bit offset, the event record class and the time. Memory is bounded by the
//! window, whatever the size of a packet or of a file.

mod batch;
mod file;
mod lost;
mod lttng_index;
mod names;
mod packet;
mod pool;
mod reader;
mod scan;

pub use batch::{Batch, Record};
pub use file::{DataFile, PacketEntry};
pub use lost::{Lost, LostKind};
pub use packet::{Packet, PacketProperties};
pub use reader::{DataStream, Item, Selection, StreamReader, TraceIdentity};

/// Greatest alignment of a field, in bits. Windows of a packet begin on this boundary, so
/// that offsets inside a window keep the alignment they have in the packet.
pub const MAX_ALIGNMENT: u32 = 32_768;
