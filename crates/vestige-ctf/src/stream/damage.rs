//! What is wrong with a data stream file: where, of which kind, and what it may have cost.

use crate::error::{CtfError, ErrorKind};

/// The kinds of damage. Their names are stable: people match them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DamageKind {
    /// A packet without the magic number.
    BadMagic,
    /// A packet with the UUID of another trace.
    OtherUuid,
    /// A packet header or context that cannot be decoded.
    PacketHeader,
    /// Packet and content sizes that contradict each other or the next packet.
    PacketSizes,
    /// A packet whose end is missing.
    PacketCut,
    /// A packet whose beginning and end do not fit between those of its neighbours.
    PacketTimes,
    /// A packet that stands in the file twice.
    DuplicatePacket,
    /// A record of a class that the metadata does not declare.
    UnknownEventClass,
    /// A record that runs past the content of its packet.
    RecordPastContent,
    /// A record with a field that cannot be decoded.
    BadField,
    /// A record before the one in front of it, or before its packet.
    TimeGoesBack,
    /// A record after the end of its packet.
    TimePastPacket,
    /// Bytes of zero where a packet is expected.
    ZeroPadding,
    /// Other bytes where a packet is expected.
    Garbage,
    /// Bytes that cannot be read, also those of a file that shrank.
    ReadFailed,
    /// A data stream file of which nothing can be read.
    StreamUnreadable,
    /// Metadata that is usable only in part.
    MetadataCut,
}

impl DamageKind {
    /// The name of the kind.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BadMagic => "bad-magic",
            Self::OtherUuid => "other-uuid",
            Self::PacketHeader => "packet-header",
            Self::PacketSizes => "packet-sizes",
            Self::PacketCut => "packet-cut",
            Self::PacketTimes => "packet-times",
            Self::DuplicatePacket => "duplicate-packet",
            Self::UnknownEventClass => "unknown-event-class",
            Self::RecordPastContent => "record-past-content",
            Self::BadField => "bad-field",
            Self::TimeGoesBack => "time-goes-back",
            Self::TimePastPacket => "time-past-packet",
            Self::ZeroPadding => "zero-padding",
            Self::Garbage => "garbage",
            Self::ReadFailed => "read-failed",
            Self::StreamUnreadable => "stream-unreadable",
            Self::MetadataCut => "metadata-cut",
        }
    }

    /// Whether no record can have been in the bytes.
    #[must_use]
    pub(super) fn is_empty(self) -> bool {
        matches!(self, Self::ZeroPadding | Self::DuplicatePacket)
    }
}

/// A range of bytes of a file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// What it is.
    pub kind: DamageKind,
    /// Byte offset of the first byte concerned.
    pub start: u64,
    /// Byte offset behind the last.
    pub end: u64,
    /// What was expected and what was found.
    pub message: String,
    /// About how many records were lost, when that can be told.
    pub records: Option<u64>,
    /// The time of the last good record before, cycles.
    pub after: Option<u64>,
    /// The time at which the next good packet begins, cycles.
    pub before: Option<u64>,
}

impl Damage {
    /// Damage of which only the place is known so far.
    #[must_use]
    pub fn new(kind: DamageKind, start: u64, end: u64, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { kind, start, end, message, records: None, after: None, before: None }
    }

    /// The same for an error of the crate that has no kind of its own.
    #[must_use]
    pub fn of_error(error: &CtfError, end: u64) -> Self {
        let kind = match error.kind {
            ErrorKind::Metadata => DamageKind::MetadataCut,
            ErrorKind::Packet => DamageKind::PacketHeader,
            ErrorKind::Record => DamageKind::BadField,
            ErrorKind::Io => DamageKind::ReadFailed,
        };
        Self::new(kind, error.offset.unwrap_or(0), end, error.to_string())
    }
}
