//! The windows of a packet: bytes that are read at once, and the records in them.

use std::sync::Arc;

use super::{no_file, Held, Place, Read, StreamReader, SMALL_PACKET};
use crate::stream::batch::Batch;
use crate::stream::damage::Damage;
use crate::stream::evidence_strength::EvidenceStrength;
use crate::stream::file_window::read_exactly;
use crate::stream::packet::PacketProperties;
use crate::stream::pool::Buffers;
use crate::stream::record_place::Record;
use crate::stream::scan::{scan, Scan, ScanEnd, Window};
use crate::stream::selection::Selection;
use crate::stream::step_table::StepTable;
use crate::stream::MAX_ALIGNMENT;

/// Bytes of a packet that are read at once.
const WINDOW: u64 = 256 * 1024;
/// Largest event record: bit offsets inside a window are 32 bits wide.
const MAX_RECORD: u64 = 256 * 1024 * 1024;

impl StreamReader {
    /// Reads a window at `place` and gives its records, or what is wrong there.
    pub(super) fn read_window(&mut self, mut place: Place) {
        let properties = &place.packet.properties;
        if place.position >= properties.available_bits {
            return self.end_packet(place);
        }
        let boundary = u64::from(MAX_ALIGNMENT) / 8;
        let base = place.position / 8 / boundary * boundary;
        let left = properties.available_bits.div_ceil(8) - base;
        let mut size = (place.position / 8 - base + WINDOW).min(left);
        let Buffers { mut data, mut records } = self.stream.pool.take();
        let clock = self.state.clock;
        loop {
            self.passed = self.passed.saturating_add(size);
            data = match self.read_bytes(&place, base, size, data) {
                Ok(data) => data,
                Err(damage) => {
                    self.release(place.held.take());
                    self.give_up(place.file, damage);
                    return self.tell_end(&place);
                }
            };
            records.clear();
            self.state.clock = clock;
            let selection = Arc::clone(&self.selection);
            let mut steps = std::mem::take(&mut self.steps);
            let scan = self.scan(&place, base, &data, records, (&selection, &mut steps));
            self.steps = steps;
            let whole = size == left;
            match (&scan.end, scan.progress, whole) {
                (ScanEnd::Partial, false, false) if size < MAX_RECORD => {
                    size = size.saturating_mul(4).min(left).min(MAX_RECORD);
                    records = scan.records;
                }
                _ => return self.finish(place, Read { base, data, clock, whole }, scan),
            }
        }
    }

    pub(super) fn read_bytes(
        &mut self,
        place: &Place,
        base: u64,
        size: u64,
        mut buffer: Vec<u8>,
    ) -> Result<Vec<u8>, Damage> {
        let PacketProperties { offset, total_bits, .. } = place.packet.properties;
        self.look_at(place.file);
        let Some(file) = self.stream.files.get(place.file) else { return Err(no_file(offset)) };
        let source = file.source.as_ref();
        if total_bits / 8 > SMALL_PACKET {
            return read_exactly(source, offset + base, size as usize, buffer);
        }
        buffer.clear();
        buffer.extend_from_slice(self.window.bytes(source, offset + base, size as usize)?);
        Ok(buffer)
    }

    pub(super) fn scan(
        &mut self,
        place: &Place,
        base: u64,
        data: &[u8],
        records: Vec<Record>,
        (selection, steps): (&Selection, &mut StepTable),
    ) -> Scan {
        let start = place.position - base * 8;
        let content = place.packet.properties.available_bits - base * 8;
        let end = content.min(data.len() as u64 * 8);
        let floor = place.floor;
        let stream = Arc::clone(&self.stream);
        let Some(class) = stream.trace.stream_classes.get(stream.class) else {
            let (progress, position) = (true, end);
            return Scan { records, position, last: floor, progress, end: ScanEnd::Done };
        };
        let window = Window { packet: Some(&place.packet), data, start, end, floor };
        scan((&stream, class), &window, records, &mut self.state, (selection, steps))
    }

    /// Gives the records of a window, and notes where to go on.
    pub(super) fn finish(&mut self, mut place: Place, read: Read, mut scan: Scan) {
        if scan.last > place.limit {
            scan = self.cut_at_limit(&place, &read, scan);
        }
        let failure = self.failure(&place, &read, &scan);
        if let Some(damage) = failure {
            return self.fail(place, read, scan, damage);
        }
        if self.selection.is_everything() {
            self.seen.0 += scan.records.len() as u64;
            self.seen.1 += read.base * 8 + scan.position - place.position;
        }
        let at_end = matches!(scan.end, ScanEnd::Partial) && read.whole;
        let floor = std::mem::replace(&mut place.floor, scan.last);
        place.position = read.base * 8 + scan.position;
        self.last = Some(scan.last);
        self.release(place.held.take());
        let end = scan.position;
        if let Some(batch) = self.batch(&place, read, scan.records) {
            let short = self.trust(&place).is_some_and(|trust| trust.time_bits < u64::BITS);
            if short && place.position < place.packet.properties.available_bits {
                place.held = Some(Held { batch, floor, end });
            } else {
                self.give(batch);
            }
        }
        if at_end {
            self.end_packet(place);
        } else {
            self.place = Some(place);
        }
    }

    pub(super) fn trust(&self, place: &Place) -> Option<EvidenceStrength> {
        self.stream.files.get(place.file).map(|file| file.trust)
    }

    pub(super) fn batch(
        &mut self,
        place: &Place,
        read: Read,
        records: Vec<Record>,
    ) -> Option<Batch> {
        let Read { base, data, .. } = read;
        if records.is_empty() {
            self.stream.pool.give(Buffers { data, records });
            return None;
        }
        let stream = Arc::clone(&self.stream);
        let selection = Arc::clone(&self.selection);
        let packet = Arc::clone(&place.packet);
        let buffers = Buffers { data, records };
        Some(Batch::of_window(stream, selection, (packet, base), place.file, buffers))
    }
}
