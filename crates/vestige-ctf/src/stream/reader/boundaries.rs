//! Telling where the data stream and its packets begin and end.
//!
//! Within a range of time they are told as Babeltrace 2's trimmer leaves them: what began before
//! the range begins with it, what ends behind it ends with it, and of what ends before it nothing
//! is told. A data stream begins and ends without a time, unless the range cuts it there.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Item, Place, StreamReader};
use crate::stream::batch::Batch;
use crate::stream::boundary::{Boundary, BoundaryKind};
use crate::stream::data_stream::DataStream;
use crate::stream::lost::Lost;
use crate::stream::packet::{PacketProperties, SharedPacket};
use crate::stream::selection::Selection;

/// What has been told so far.
#[derive(Default)]
pub(super) struct Boundaries {
    /// Whether the data stream has begun.
    begun: bool,
    /// Whether it has ended.
    ended: bool,
    /// Whether anything so far had a time.
    timed: bool,
    /// A packet whose beginning is told with what comes first in it, and the losses before it.
    held: Option<SharedPacket>,
    losses: Vec<Lost>,
}

/// What a stream class says that has no packets: then those that are read are a matter of how
/// its records are kept.
const PACKETS: &str = "supports_packets";

/// The data stream, the range of time, and where to tell.
struct Teller<'a> {
    stream: &'a DataStream,
    selection: &'a Selection,
    items: &'a mut VecDeque<Item>,
}

impl Teller<'_> {
    /// Gives what of losses is in the range of time.
    fn give_losses(&mut self, losses: Vec<Lost>) {
        let parts = losses.into_iter();
        let parts = parts.filter_map(|lost| self.selection.part_of(self.stream, lost));
        self.items.extend(parts.map(Item::Lost));
    }

    fn tell(&mut self, kind: BoundaryKind, cycles: Option<u64>) {
        self.push(Boundary { kind, cycles, is_cut: false });
    }

    /// The same where the range of time cuts the data stream.
    fn cut(&mut self, kind: BoundaryKind, cycles: Option<u64>) {
        let is_cut = cycles.is_some();
        self.push(Boundary { kind, cycles, is_cut });
    }

    fn push(&mut self, boundary: Boundary) {
        let is_packet =
            matches!(boundary.kind, BoundaryKind::PacketBeginning(_) | BoundaryKind::PacketEnd(_));
        let class = self.stream.trace.stream_classes.get(self.stream.class);
        if !is_packet || class.and_then(|class| class.says(PACKETS)) != Some(false) {
            self.items.push_back(Item::Boundary(boundary));
        }
    }

    /// A clock value of a packet; `None` without a clock.
    fn time(&self, cycles: Option<u64>) -> Option<u64> {
        cycles.filter(|_| self.stream.has_clock())
    }

    fn is_before(&self, cycles: Option<u64>) -> bool {
        let time = cycles.map(|cycles| self.stream.nanoseconds(cycles));
        time.zip(self.selection.begin).is_some_and(|(time, begin)| time < begin)
    }

    fn is_after(&self, cycles: Option<u64>) -> bool {
        let time = cycles.map(|cycles| self.stream.nanoseconds(cycles));
        time.zip(self.selection.end).is_some_and(|(time, end)| time > end)
    }

    fn begin(&self) -> Option<u64> {
        self.selection.begin.map(|begin| self.stream.cycles(begin))
    }

    fn end(&self) -> Option<u64> {
        self.selection.end.map(|end| self.stream.cycles(end))
    }
}

impl Boundaries {
    fn begin_stream(&mut self, to: &mut Teller<'_>) {
        if !std::mem::replace(&mut self.begun, true) {
            let begin = to.begin().filter(|_| self.timed);
            to.cut(BoundaryKind::StreamBeginning, begin);
        }
    }

    fn end_stream(&mut self, to: &mut Teller<'_>) {
        if self.begun && !self.ended {
            let end = to.end().filter(|_| self.timed);
            to.cut(BoundaryKind::StreamEnd, end);
        }
        self.ended = true;
    }

    fn give_losses(&mut self, losses: Vec<Lost>, to: &mut Teller<'_>) {
        // One behind the range of time tells that the data stream goes on until there.
        self.timed |= losses.iter().any(|lost| lost.beginning.is_some());
        to.give_losses(losses);
    }

    fn begin_packet(&mut self, packet: &SharedPacket, losses: Vec<Lost>, to: &mut Teller<'_>) {
        if self.ended {
            return;
        }
        let beginning = to.time(packet.properties.beginning);
        if to.is_before(beginning) || to.stream.quirks.event_before_packet {
            self.held = Some(Arc::clone(packet));
            self.losses.extend(losses);
            return;
        }
        self.begin_stream(to);
        let losses = std::mem::take(&mut self.losses).into_iter().chain(losses).collect();
        self.give_losses(losses, to);
        self.give_beginning(packet, beginning, to);
    }

    fn give_beginning(&mut self, packet: &SharedPacket, time: Option<u64>, to: &mut Teller<'_>) {
        if to.is_after(time) {
            return self.end_stream(to);
        }
        self.timed |= time.is_some();
        to.tell(BoundaryKind::PacketBeginning(Arc::clone(packet)), time);
    }

    /// Tells of the packet that is held, whose first event record has a time if there is one.
    fn release(&mut self, first: Option<u64>, to: &mut Teller<'_>) {
        let Some(packet) = self.held.take() else { return };
        let mut beginning = to.time(packet.properties.beginning);
        if to.stream.quirks.event_before_packet {
            beginning = beginning.map(|time| first.map_or(time, |first| first.min(time)));
        }
        let losses = std::mem::take(&mut self.losses);
        if to.is_before(beginning) {
            self.timed = true;
            self.begin_stream(to);
            to.cut(BoundaryKind::PacketBeginning(packet), to.begin());
            return self.give_losses(losses, to);
        }
        self.begin_stream(to);
        self.give_losses(losses, to);
        self.give_beginning(&packet, beginning, to);
    }

    /// Ends a packet; `last` is the time of its last event record, or of its beginning.
    fn end_packet(&mut self, packet: &SharedPacket, last: u64, to: &mut Teller<'_>) {
        if self.ended {
            return;
        }
        let end = to.time(end_of(to.stream, &packet.properties, last));
        if self.held.is_some() {
            if to.is_before(end) {
                self.timed = true;
                self.held = None;
                return;
            }
            self.release(None, to);
            if self.ended {
                return;
            }
        }
        let kind = BoundaryKind::PacketEnd(Arc::clone(packet));
        if to.is_after(end) {
            to.cut(kind, to.end());
            return self.end_stream(to);
        }
        self.timed |= end.is_some();
        to.tell(kind, end);
    }
}

/// The clock value at which a packet ends, not before its last event record.
fn end_of(stream: &DataStream, properties: &PacketProperties, last: u64) -> Option<u64> {
    let end = properties.end?;
    Some(stream.quirks.end_of_packet(properties.beginning, end, last).max(last))
}

impl StreamReader {
    /// Tells of the beginning of a packet, and gives what was lost before it.
    pub(super) fn tell_beginning(&mut self, packet: &SharedPacket, losses: Vec<Lost>) {
        match self.boundaries.take() {
            None if losses.is_empty() => {}
            None => self.teller().give_losses(losses),
            Some(mut told) => {
                told.begin_packet(packet, losses, &mut self.teller());
                self.boundaries = Some(told);
            }
        }
    }

    /// Tells of the end of a packet, behind its event records.
    pub(super) fn tell_end(&mut self, place: &Place) {
        let Some(mut told) = self.boundaries.take() else { return };
        let beginning = place.packet.properties.beginning;
        let last = self.last.max(beginning).unwrap_or(0);
        told.end_packet(&place.packet, last, &mut self.teller());
        if told.ended {
            // What follows is later still.
            self.packets = 0..0;
        }
        self.boundaries = Some(told);
    }

    /// Tells of the end of the data stream.
    pub(super) fn tell_stream_end(&mut self) {
        let Some(mut told) = self.boundaries.take() else { return };
        if told.begun && !told.ended {
            self.teller().tell(BoundaryKind::StreamEnd, None);
        }
        told.ended = true;
        self.boundaries = Some(told);
    }

    /// Notes that a packet before the range of time is not read.
    pub(super) fn note_skipped(&mut self, beginning: Option<u64>) {
        let is_timed = beginning.is_some() && self.stream.has_clock();
        if let Some(told) = &mut self.boundaries {
            told.timed |= is_timed;
        }
    }

    /// Tells of the packet that is held when event records of it are in the range of time.
    pub(super) fn tell_held(&mut self, batch: &Batch) {
        let Some(mut told) = self.boundaries.take() else { return };
        if told.held.is_some() {
            let is_in_time = |record: &&_| self.selection.is_in_time(&self.stream, record);
            if let Some(first) = batch.records.iter().find(is_in_time).map(|one| one.cycles) {
                told.release(Some(first), &mut self.teller());
            }
        }
        self.boundaries = Some(told);
    }

    /// The times at which a packet begins and ends whose last event record has a time; `None`
    /// when something about them is unusual.
    pub(super) fn plain_times(
        &mut self,
        properties: &PacketProperties,
        last: u64,
    ) -> Option<(Option<u64>, Option<u64>)> {
        let told = self.boundaries.as_ref()?;
        let is_usual = told.begun && !told.ended && told.held.is_none() && told.losses.is_empty();
        let quirks = self.stream.quirks;
        let last = properties.beginning.map_or(last, |beginning| beginning.max(last));
        let end = end_of(&self.stream, properties, last);
        let teller = self.teller();
        let (beginning, end) = (teller.time(properties.beginning), teller.time(end));
        let is_inside = !teller.is_before(beginning) && !teller.is_after(end);
        (is_usual && is_inside && !quirks.event_before_packet).then_some((beginning, end))
    }

    fn teller(&mut self) -> Teller<'_> {
        Teller { stream: &self.stream, selection: &self.selection, items: &mut self.pending }
    }
}
