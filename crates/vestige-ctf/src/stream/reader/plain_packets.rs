//! Small packets with nothing unusual, straight into a batch.
//!
//! Reading a packet in windows, with an eye on all that may be wrong, costs more than the few
//! records of a small one. So a packet that is small, whole and in order is scanned at the place
//! in the batch where its records stay. Wherever anything differs, the batch is left as
//! it was and the packet is read from its beginning in the ordinary way, which also tells
//! what is wrong.

use std::sync::Arc;

use super::{Place, StreamReader, MOST_GATHERED, SMALL_PACKET};
use crate::stream::batch::Batch;
use crate::stream::data_stream::DataStream;
use crate::stream::file::DataFile;
use crate::stream::lost::losses;
use crate::stream::packet::{read_by_layout, Packet, PacketProperties};
use crate::stream::scan::{scan, ScanEnd, Window};
use crate::stream::selection::{PacketUse, Selection};
use crate::stream::MAX_ALIGNMENT;

impl StreamReader {
    /// Adds to a batch the packets that follow, as long as they are plain; `from` is the index
    /// of the first packet of the batch.
    pub(super) fn gather_plain(&mut self, batch: &mut Batch, from: usize) {
        self.end_read_packet();
        let is_between = self.pending.is_empty() && self.place.is_none() && self.skipped.is_none();
        // Expressions ask for fields of a packet that is no more than a part here.
        if !is_between || self.selection.filter.is_some() || self.stream.layout.is_none() {
            return;
        }
        let stream = Arc::clone(&self.stream);
        let selection = Arc::clone(&self.selection);
        let Some(file) = stream.files.get(batch.file) else { return };
        self.look_at(batch.file);
        while self.packets.start.saturating_sub(from) < MOST_GATHERED
            && !self.packets.is_empty()
            && self.add_plain(batch, &stream, file, &selection).is_some()
        {
            self.packets.start += 1;
        }
    }

    /// Ends the packet that the reader is in when all of it is read.
    fn end_read_packet(&mut self) {
        let is_read = |place: &Place| place.position >= place.packet.properties.available_bits;
        if self.place.as_ref().is_some_and(is_read) && self.pending.is_empty() {
            if let Some(place) = self.place.take() {
                self.end_packet(place);
            }
        }
    }

    /// Adds the next packet to a batch; `None` when it is not plain or there is no room.
    fn add_plain(
        &mut self,
        batch: &mut Batch,
        stream: &DataStream,
        file: &DataFile,
        selection: &Selection,
    ) -> Option<()> {
        let index = self.packets.start;
        let (_, packet) = stream.packets.get(index).filter(|&(file, _)| file == batch.file)?;
        let offset = file.packets.offset(packet)?;
        let is_usual = self.is_undamaged(file, batch.file, offset)
            && selection.use_of(stream, index) == PacketUse::Read;
        if !is_usual {
            return None;
        }
        let clock = self.state.clock;
        let source = file.source.as_ref();
        let layout = stream.layout.as_ref()?;
        let read = read_by_layout(&mut self.window, source, offset, layout, &mut self.state)?;
        let added = self.scan_plain(batch, stream, file, selection, packet, read);
        if added.is_none() {
            self.state.clock = clock;
        }
        added
    }

    /// Whether nothing is known to be wrong with a file up to an offset.
    fn is_undamaged(&self, file: &DataFile, index: usize, offset: u64) -> bool {
        let Some(&reported) = self.reported.get(index) else { return false };
        // A file that is given up has no damage behind the last one, and nothing is read of it.
        let next = file.damage.get(reported);
        reported != usize::MAX
            && next.is_none_or(|damage| damage.start > offset)
            && !file.sizes.contains_key(&offset)
    }

    fn scan_plain(
        &mut self,
        batch: &mut Batch,
        stream: &DataStream,
        file: &DataFile,
        selection: &Selection,
        packet: usize,
        properties: PacketProperties,
    ) -> Option<()> {
        let PacketProperties { offset, total_bits, content_bits, events_at, .. } = properties;
        let end_of_file = file.source.len();
        let beginning = file.trust.beginning_of(&properties);
        let is_plain = total_bits / 8 <= SMALL_PACKET
            && offset.saturating_add(total_bits / 8) <= end_of_file
            && (events_at + 1..=properties.available_bits).contains(&content_bits)
            && events_at < u64::from(MAX_ALIGNMENT)
            // One that was empty when it was listed is written by now.
            && file.packets.content_without_records(packet).is_none()
            && beginning.is_none_or(|beginning| self.last.is_none_or(|last| last <= beginning))
            && losses(self.previous.as_ref(), &properties).is_empty();
        if !is_plain {
            return None;
        }
        let size = content_bits.div_ceil(8) as usize;
        let bytes = self.window.bytes(file.source.as_ref(), offset, size).ok()?;
        let used = events_at.div_ceil(8) as usize;
        let packet_size = size_of::<Packet>() + used + self.state.slots.len() * size_of::<u64>();
        let (at, before) = batch.add_bytes(bytes, packet_size, self.gather)?;
        let start = at as u64 * 8;
        let floor = beginning.unwrap_or(0);
        let class = stream.trace.stream_classes.get(stream.class)?;
        let (begin, end) = (start + events_at, start + content_bits);
        // Expressions are not looked at here.
        let window = Window { packet: None, data: &batch.data, start: begin, end, floor };
        let slots = self.state.slots.clone();
        let records = std::mem::take(&mut batch.records);
        let scan =
            scan((stream, class), &window, records, &mut self.state, (selection, &mut self.steps));
        batch.records = scan.records;
        let limit = file.trust.end_of(&properties);
        let limit = limit.or_else(|| self.beginning_of(self.packets.start + 1)).unwrap_or(u64::MAX);
        let is_right = scan.end == ScanEnd::Done
            && scan.position == end
            && scan.last <= limit
            && batch.goes_on(&before);
        let times = self.plain_times(&properties, scan.last);
        if !is_right || times.is_some() != self.boundaries.is_some() {
            batch.shrink_to(&before);
            return None;
        }
        if selection.is_everything() {
            self.seen.0 += (batch.records.len() - before.records) as u64;
            self.seen.1 += content_bits - events_at;
        }
        self.last = Some(scan.last);
        self.gap = false;
        self.previous = Some(properties.clone());
        let is_empty = batch.records.len() == before.records;
        if is_empty && times.is_none() {
            batch.shrink_to(&before);
            return Some(());
        }
        let head = batch.data.get(at..at + used).unwrap_or_default().to_vec();
        let packet = Arc::new(Packet { properties, head, slots });
        if let Some(times) = times {
            batch.add_packet_boundaries(&packet, &before, times);
        }
        match is_empty {
            true => batch.shrink_to(&before),
            false => batch.add_part(packet, &before, at),
        }
        Some(())
    }
}
