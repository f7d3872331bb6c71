//! Facts of a packet header that are wrong although the packet can be read.

use super::damage::{Damage, DamageKind};
use super::expected_head::MAGIC;

/// What is wrong in a packet header.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeaderFaults {
    /// The value in the place of the magic number.
    pub magic: Option<u64>,
    /// Another UUID than that of the metadata.
    pub uuid: Option<OtherUuid>,
    /// A stream class ID that the metadata does not declare.
    pub stream_class: Option<UnknownStreamClass>,
}

/// A UUID that is not that of the metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OtherUuid {
    /// Byte offset in the packet.
    pub at: u64,
    /// The UUID.
    pub found: [u8; 16],
}

/// A stream class ID that the metadata does not declare.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnknownStreamClass {
    /// Byte offset in the packet.
    pub at: u64,
    /// Byte offset behind it.
    pub end: u64,
    /// The ID.
    pub found: u64,
}

impl HeaderFaults {
    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.magic.is_none() && self.uuid.is_none() && self.stream_class.is_none()
    }

    /// The damage of each of a packet at an offset: its own bytes, and no record.
    pub fn damage(&self, offset: u64) -> impl Iterator<Item = Damage> {
        let of = move |kind, at: u64, end: u64, message: String| {
            let start = offset.saturating_add(at);
            let damage = Damage::new(kind, start, offset.saturating_add(end), message);
            Damage { records: Some(0), ..damage }
        };
        let magic = self.magic.map(|found| {
            let message = format!(
                "expected the magic number {MAGIC:#x}, found {found:#x}; the packet is read, \
                 everything else in its header fits"
            );
            of(DamageKind::BadMagic, 0, 4, message)
        });
        let uuid = self.uuid.map(|uuid| {
            let message = "the packet has another UUID than the metadata; it is read, everything \
                           else in its header fits";
            of(DamageKind::OtherUuid, uuid.at, uuid.at + 16, message.to_owned())
        });
        let class = self.stream_class.map(|class| {
            let message = format!(
                "stream_id {} is no stream of the metadata; the packet is read as one of the \
                 same stream as the others of its file",
                class.found
            );
            of(DamageKind::PacketHeader, class.at, class.end, message)
        });
        [magic, uuid, class].into_iter().flatten()
    }

    /// The damage of a packet at an offset of which nothing is believed, up to a byte offset.
    #[must_use]
    pub fn refusal(&self, offset: u64, end: u64) -> Damage {
        let (kind, at, message) = match self {
            Self { magic: Some(found), .. } => {
                let message = format!(
                    "no packet begins here: expected the magic number {MAGIC:#x}, found {found:#x}"
                );
                (DamageKind::BadMagic, 0, message)
            }
            Self { uuid: Some(uuid), .. } => {
                let message = "the packet has another UUID than the metadata: it belongs to \
                               another trace";
                (DamageKind::OtherUuid, uuid.at, message.to_owned())
            }
            Self { stream_class, .. } => {
                let (at, id) = stream_class.map_or((0, 0), |class| (class.at, class.found));
                let message = format!("stream_id {id} is no stream of the metadata");
                (DamageKind::PacketHeader, at, message)
            }
        };
        Damage::new(kind, offset.saturating_add(at), end, message)
    }
}

/// What is said once of a stream in which most packets have the same wrong UUID.
#[must_use]
pub fn damage_of_stream(offset: u64, uuid: OtherUuid) -> Damage {
    let message = "the packets have another UUID than the metadata; they are read, everything \
                   else in their headers fits";
    let start = offset.saturating_add(uuid.at);
    let damage = Damage::new(DamageKind::OtherUuid, start, start.saturating_add(16), message);
    Damage { records: Some(0), ..damage }
}
