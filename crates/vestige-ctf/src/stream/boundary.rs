//! Where a data stream and its packets begin and end.

use std::sync::Arc;

use super::packet::Packet;

/// What begins or ends.
#[derive(Debug, Clone)]
pub enum BoundaryKind {
    /// The data stream begins.
    StreamBeginning,
    /// A packet begins.
    PacketBeginning(Arc<Packet>),
    /// A packet ends.
    PacketEnd(Arc<Packet>),
    /// The data stream ends.
    StreamEnd,
}

/// A place in a data stream between event records, where something begins or ends.
///
/// Those of a data stream come in this order: its beginning; for each packet its beginning, its
/// event records and its end; the end of the data stream. A packet without event records has
/// both ends, too.
#[derive(Debug, Clone)]
pub struct Boundary {
    /// What it is.
    pub kind: BoundaryKind,
    /// Clock value, cycles. None where packets tell no time, and none at the ends of a data
    /// stream but where a range of time cuts it.
    pub cycles: Option<u64>,
    /// Whether it is there because a range of time cuts the data stream: at its beginning all
    /// that goes on begins before anything else happens, at its end all ends after it.
    pub is_cut: bool,
}

impl Boundary {
    /// The packet that begins or ends.
    #[must_use]
    pub fn packet(&self) -> Option<&Arc<Packet>> {
        match &self.kind {
            BoundaryKind::PacketBeginning(packet) | BoundaryKind::PacketEnd(packet) => Some(packet),
            BoundaryKind::StreamBeginning | BoundaryKind::StreamEnd => None,
        }
    }
}
