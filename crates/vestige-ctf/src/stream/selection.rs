//! Which event records of a data stream are wanted.

use std::sync::Arc;

use super::data_stream::DataStream;
use super::lost::Lost;
use super::record_place::Record;
use crate::filter::StreamFilter;

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
    /// Expressions that must be true of the records.
    pub filter: Option<Arc<StreamFilter>>,
    /// Whether to decode every field of every record, to be sure that it can be decoded.
    pub check: bool,
    /// Whether to tell where the data stream and its packets begin and end.
    pub boundaries: bool,
    /// Whether to give the records in front of damage, too, that may be misread.
    pub doubtful: bool,
    /// Whether to tell of all that was lost before the latest time, for whoever needs records
    /// from the beginning.
    pub early_losses: bool,
}

impl Selection {
    /// Whether all records are wanted.
    #[must_use]
    pub fn is_everything(&self) -> bool {
        let any_time = self.begin.is_none() && self.end.is_none();
        any_time && self.classes.is_none() && self.filter.is_none()
    }

    /// Whether a record is wanted for itself, as far as its class and its time tell.
    #[inline]
    #[must_use]
    pub fn shows(&self, stream: &DataStream, record: &Record) -> bool {
        self.use_of_class(record.class as usize).shown && self.is_in_time(stream, record)
    }

    /// Whether a record is not wanted for its class alone: its time is.
    #[must_use]
    pub fn leaves_out(&self, stream: &DataStream, record: &Record) -> bool {
        !self.use_of_class(record.class as usize).shown && self.is_in_time(stream, record)
    }

    /// Whether a record is in the range of time.
    #[inline]
    #[must_use]
    pub fn is_in_time(&self, stream: &DataStream, record: &Record) -> bool {
        if self.begin.is_none() && self.end.is_none() {
            return true;
        }
        let time = stream.nanoseconds(record.cycles);
        self.begin.is_none_or(|begin| time >= begin) && self.end.is_none_or(|end| time <= end)
    }

    /// Whether a record is before the range of time.
    #[must_use]
    pub fn is_before(&self, stream: &DataStream, record: &Record) -> bool {
        self.begin.is_some_and(|begin| stream.nanoseconds(record.cycles) < begin)
    }

    /// Whether records of a class are wanted, if their time is.
    #[must_use]
    pub fn wants_class(&self, class: usize) -> bool {
        self.use_of_class(class).shown
    }

    /// What is wanted of the records of an event record class.
    #[inline]
    pub(super) fn use_of_class(&self, class: usize) -> ClassUse {
        let flag = |list: &Vec<bool>| list.get(class).copied().unwrap_or(false);
        let needed = self.needed.as_ref().is_some_and(flag);
        ClassUse { shown: self.classes.as_ref().is_none_or(flag), needed }
    }

    /// Whether a filter needs any class of records.
    pub(super) fn needs_any(&self) -> bool {
        self.needed.as_ref().is_some_and(|needed| needed.contains(&true))
    }

    /// What the packet at an index of the data stream is good for.
    pub(super) fn use_of(&self, stream: &DataStream, index: usize) -> PacketUse {
        if self.begin.is_none() && self.end.is_none() {
            return PacketUse::Read;
        }
        let times = stream.packet_times(index);
        if let (Some(end), Some(beginning)) = (self.end, times.beginning) {
            if stream.nanoseconds(beginning) > end {
                return PacketUse::After;
            }
        }
        let needed = self.needs_any();
        match (self.begin, times.end) {
            (Some(begin), Some(end)) if !needed && stream.nanoseconds(end) < begin => {
                PacketUse::Before
            }
            _ => PacketUse::Read,
        }
    }

    /// The part of a loss that is in the time range. How many were lost in a part of its
    /// time nobody knows, so the count goes when an end is moved.
    pub(super) fn part_of(&self, stream: &DataStream, mut lost: Lost) -> Option<Lost> {
        if let Some(earliest) = self.begin.filter(|_| !self.early_losses) {
            lost = loss_since(lost, stream, earliest)?;
        }
        let (Some(beginning), Some(end)) = (lost.beginning, lost.end) else { return Some(lost) };
        if let Some(latest) = self.end {
            if stream.nanoseconds(beginning) > latest {
                return None;
            }
            if stream.nanoseconds(end) > latest {
                lost.end = Some(stream.cycles(latest));
                lost.count = None;
            }
        }
        Some(lost)
    }
}

/// The part of a loss that is not before a time, nanoseconds; `None` if there is none. How many
/// were lost in a part of its time nobody knows, so the count goes when it is cut.
#[must_use]
pub fn loss_since(mut lost: Lost, stream: &DataStream, earliest: i64) -> Option<Lost> {
    let (Some(beginning), Some(end)) = (lost.beginning, lost.end) else { return Some(lost) };
    if stream.nanoseconds(end.max(beginning)) < earliest {
        return None;
    }
    if stream.nanoseconds(beginning) < earliest {
        lost.beginning = Some(stream.cycles(earliest));
        lost.count = None;
    }
    Some(lost)
}

/// What is wanted of the records of an event record class.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ClassUse {
    /// Whether they are wanted for themselves, if their time is.
    pub shown: bool,
    /// Whether a filter needs them, wanted or not.
    pub needed: bool,
}

/// What a packet is good for under a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PacketUse {
    /// It may hold wanted records.
    Read,
    /// All of it is before the time range: only its counters matter.
    Before,
    /// All of it is after the time range: only what was lost before it matters.
    After,
}
