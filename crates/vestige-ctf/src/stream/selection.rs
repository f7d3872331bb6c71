//! Which event records of a data stream are wanted.

use super::data_stream::DataStream;
use super::packet_entry::PacketEntry;
use super::record_place::Record;

/// Which event records are wanted; the rest is stepped over.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Earliest time, nanoseconds from the origin.
    pub begin: Option<i64>,
    /// Latest time, nanoseconds from the origin.
    pub end: Option<i64>,
    /// Per event record class whether it is wanted; all when absent.
    pub classes: Option<Vec<bool>>,
    /// Per event record class whether a filter needs it, wanted or not, from the beginning.
    pub needed: Option<Vec<bool>>,
    /// Whether to decode every field of every record, to be sure that it can be decoded.
    pub check: bool,
}

impl Selection {
    /// Whether all records are wanted.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        self.begin.is_none() && self.end.is_none() && self.classes.is_none()
    }

    /// Whether a record is wanted for itself.
    #[inline]
    #[must_use]
    pub fn shows(&self, stream: &DataStream, record: &Record) -> bool {
        if let Some(classes) = &self.classes {
            if !classes.get(record.class as usize).copied().unwrap_or(false) {
                return false;
            }
        }
        if self.begin.is_none() && self.end.is_none() {
            return true;
        }
        let time = stream.nanoseconds(record.cycles);
        self.begin.is_none_or(|begin| time >= begin) && self.end.is_none_or(|end| time <= end)
    }

    /// Whether a record is wanted or needed.
    #[inline]
    pub(super) fn accepts(&self, stream: &DataStream, record: &Record) -> bool {
        let needed = self.needed.as_ref().and_then(|needed| needed.get(record.class as usize));
        needed.copied().unwrap_or(false) || self.shows(stream, record)
    }

    /// Whether a packet can hold a wanted record. Packets with lying times are another
    /// matter: they are read when the time range is not limited.
    pub(super) fn accepts_packet(&self, stream: &DataStream, packet: &PacketEntry) -> bool {
        let before = match (self.begin, packet.end) {
            (Some(begin), Some(end)) if end != 0 => stream.nanoseconds(end) < begin,
            _ => false,
        };
        let after = match (self.end, packet.beginning) {
            (Some(end), Some(beginning)) => stream.nanoseconds(beginning) > end,
            _ => false,
        };
        let needed = self.needed.as_ref().is_some_and(|needed| needed.contains(&true));
        !after && (needed || !before)
    }
}
