//! Data streams: from packets in files to batches of event records.
//!
//! A *batch* is a window of one packet: its bytes, still encoded, and for each event record
//! in it the bit offset, the event record class and the time. Memory is bounded by the
//! window, whatever the size of a packet or of a file.

mod alignment;
mod batch;
mod boundary;
mod damage;
mod data_stream;
mod evidence_strength;
mod expected_head;
mod file;
mod file_window;
mod head_layout;
mod header_faults;
mod header_vote;
mod listing;
mod lost;
mod lttng_index;
mod names;
mod order;
mod packed_column;
mod packet;
mod packet_entry;
mod packet_list;
mod packet_order;
mod pattern;
mod pool;
pub mod quirks;
mod reader;
mod record_evidence;
mod record_place;
mod record_times;
mod scan;
mod selection;
mod snapshot;
mod step_table;
mod verify;

pub use batch::{used_classes, Batch, Part};
pub use boundary::{Boundary, BoundaryKind};
pub use damage::{Damage, DamageKind};
pub use data_stream::{DataStream, TraceIdentity};
pub use expected_head::MAGIC;
pub use file::DataFile;
pub use lost::{Lost, LostKind};
pub use packet::{Packet, PacketProperties};
pub use packet_entry::PacketEntry;
pub use packet_list::PacketList;
pub use packet_order::PacketOrder;
pub use reader::{Item, StreamReader};
pub use record_place::Record;
pub use record_times::{batches_behind, packet_around};
pub use selection::{loss_since, Selection};
pub use snapshot::Snapshot;
pub use verify::Verifier;

/// Greatest alignment of a field, in bits. Windows of a packet begin on this boundary, so
/// that offsets inside a window keep the alignment they have in the packet.
pub const MAX_ALIGNMENT: u32 = 32_768;
