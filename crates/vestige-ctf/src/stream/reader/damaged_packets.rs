//! What is wrong in a packet, and which of its records are given all the same.

use std::sync::Arc;

use super::{estimate, Held, Place, Read, StreamReader};
use crate::stream::damage::{Damage, DamageKind};
use crate::stream::packet::PacketProperties;
use crate::stream::record_evidence::RecordEvidence;
use crate::stream::record_place::Record;
use crate::stream::scan::{Scan, ScanEnd};
use crate::stream::selection::Selection;
use crate::stream::step_table::StepTable;

impl StreamReader {
    /// Whether a packet ends before its content: then a part of a record at its end is no
    /// wonder.
    pub(super) fn is_cut(&self, place: &Place) -> bool {
        let properties = &place.packet.properties;
        let sized = self.trust(place).is_some_and(|trust| trust.sized);
        !sized || properties.available_bits < properties.content_bits
    }

    /// Whether a packet is cut by the end of its file and by nothing else.
    pub(super) fn is_cut_by_file(&self, place: &Place) -> bool {
        let files = &self.stream.files;
        let offset = place.packet.properties.offset;
        let size = files.get(place.file).and_then(|file| file.sizes.get(&offset));
        self.is_cut(place) && size.is_none()
    }

    /// Whether bytes of a packet are missing somewhere before its end.
    pub(super) fn is_spliced(&self, place: &Place) -> bool {
        let file = self.stream.files.get(place.file);
        let offset = place.packet.properties.offset;
        let size = file.and_then(|file| file.sizes.get(&offset).copied());
        size.is_some_and(|size| size < place.packet.properties.content_bits.div_ceil(8))
    }

    /// What is wrong at the end of a scan, if anything.
    pub(super) fn failure(&self, place: &Place, read: &Read, scan: &Scan) -> Option<Damage> {
        let properties = &place.packet.properties;
        let start = properties.offset + read.base;
        let end = properties.offset + properties.available_bits.div_ceil(8);
        let position = read.base * 8 + scan.position;
        let at_end = position >= properties.available_bits;
        match &scan.end {
            ScanEnd::Partial if read.whole && self.is_spliced(place) => self.cut(place, position),
            ScanEnd::Done if at_end && self.is_spliced(place) => self.cut(place, position),
            ScanEnd::Failed { start: at, kind, message } => {
                Some(Damage::new(*kind, start + at / 8, end, message.clone()))
            }
            ScanEnd::Partial if read.whole && self.is_cut_by_file(place) => None,
            ScanEnd::Partial if read.whole || !scan.progress => {
                let start = start + scan.position / 8;
                Some(partial(properties, start, end))
            }
            _ => None,
        }
    }

    /// Ends a packet in which nothing was wrong but, perhaps, its size.
    pub(super) fn end_packet(&mut self, mut place: Place) {
        self.release(place.held.take());
        let file = self.stream.files.get(place.file);
        if let Some(damage) = self.cut(&place, place.position) {
            if !file.is_some_and(|file| file.is_being_written(&damage)) {
                self.push_damage(&place, damage);
            }
        }
        self.tell_end(&place);
    }

    /// What is missing of a packet behind a bit offset, if anything.
    pub(super) fn cut(&self, place: &Place, position: u64) -> Option<Damage> {
        let file = self.stream.files.get(place.file)?;
        let properties = &place.packet.properties;
        let corrected = file.sizes.get(&properties.offset).copied();
        let rest = file.source.len() - properties.offset;
        let there = corrected.unwrap_or(rest);
        let is_cut = properties.total_bits / 8 > there;
        let is_partial = position < properties.available_bits;
        if !is_cut && !is_partial {
            return None;
        }
        let content = properties.content_bits.div_ceil(8);
        let size = properties.total_bits / 8;
        let message = match (corrected, content > there) {
            _ if !is_cut => "data stream cut: its last event record is not complete".to_owned(),
            (Some(_), _) => {
                format!("packet cut: it has {size} bytes, the next one begins after {there}")
            }
            (None, true) => format!(
                "packet cut: its content has {content} bytes, the file holds {there} of them"
            ),
            (None, false) => {
                format!("packet cut: it has {size} bytes, the file holds {there} of them")
            }
        };
        let start = properties.offset + position.div_ceil(8);
        let end = (properties.offset + there).max(start);
        let missing = properties.content_bits.saturating_sub(position);
        let records = if missing == 0 { Some(0) } else { estimate(self.seen, missing) };
        Some(Damage { records, ..Damage::new(DamageKind::PacketCut, start, end, message) })
    }

    /// Cuts a scan at the first record that lies after the end of the packet.
    pub(super) fn cut_at_limit(&mut self, place: &Place, read: &Read, scan: Scan) -> Scan {
        let all = self.all_records(place, read, scan.position);
        let count = all.partition_point(|record| record.cycles <= place.limit);
        let Some(first) = all.get(count).copied() else { return scan };
        let last = all.get(..count).and_then(<[Record]>::last);
        let last = last.map_or(place.floor, |record| record.cycles);
        let mut records = scan.records;
        records.retain(|record| record.start < first.start);
        let position = u64::from(first.start);
        let message = format!(
            "event record at clock value {}, after the end of its packet at {}",
            first.cycles, place.limit
        );
        let end = ScanEnd::Failed { start: position, kind: DamageKind::TimePastPacket, message };
        Scan { records, position, last, progress: count > 0, end }
    }

    /// All records of a window up to a bit offset, wanted or not.
    pub(super) fn all_records(&mut self, place: &Place, read: &Read, until: u64) -> Vec<Record> {
        let clock = std::mem::replace(&mut self.state.clock, read.clock);
        let everything = Selection { check: self.selection.check, ..Selection::default() };
        let mut steps = StepTable::default();
        let mut all = Vec::new();
        let mut at = Place { packet: Arc::clone(&place.packet), held: None, ..*place };
        loop {
            let scan = self.scan(&at, read.base, &read.data, Vec::new(), (&everything, &mut steps));
            all.extend(scan.records.into_iter().filter(|record| u64::from(record.start) < until));
            at.position = read.base * 8 + scan.position;
            at.floor = scan.last;
            if scan.end != ScanEnd::Done || !scan.progress || scan.position >= until {
                break;
            }
        }
        self.state.clock = clock;
        all
    }

    /// Ends a packet at a record that makes no sense, and leaves out those before it that
    /// may begin at wrong places already.
    pub(super) fn fail(&mut self, mut place: Place, read: Read, scan: Scan, damage: Damage) {
        let all = self.all_records(&place, &read, scan.position);
        let stream = Arc::clone(&self.stream);
        let mut held = place.held.take();
        let mut left_out = all.len() as u64;
        let mut records = scan.records;
        let mut start = damage.start;
        let mut last = None;
        if self.selection.doubtful {
            left_out = 0;
            last = all.last();
            self.last = last.map(|record| record.cycles).max(self.last);
        } else if let Some(trust) = self.trust(&place) {
            let mut doubt = RecordEvidence::new(&stream, trust, &place.packet.slots);
            let is_spliced = self.is_spliced(&place);
            let certain = doubt.certain(&read.data, &all, place.floor, scan.position);
            let certain = certain.min(doubt.timed(&read.data, &all, place.floor, is_spliced));
            let base = place.packet.properties.offset + read.base;
            if let Some(first) = all.get(certain) {
                records.retain(|record| record.start < first.start);
                start = base + u64::from(first.start) / 8;
            }
            left_out -= certain as u64;
            last = certain.checked_sub(1).and_then(|index| all.get(index));
            let last = last.map_or(place.floor, |record| record.cycles);
            self.last = Some(self.last.map_or(last, |before| before.max(last)));
            if certain == 0 && !doubt.is_settled() {
                held = held.and_then(|held| {
                    let (held, dropped, first) = doubt_held(&mut doubt, held);
                    left_out += dropped;
                    start = first.unwrap_or(start);
                    held
                });
            }
        }
        self.state.clock = last.map_or(self.state.clock, |record| record.cycles);
        self.release(held);
        if let Some(batch) = self.batch(&place, read, records) {
            self.give(batch);
        }
        let mut message = damage.message;
        if left_out > 0 {
            let records = if left_out == 1 { "record" } else { "records" };
            message = format!(
                "{message} (at byte {}); left out with it: {left_out} {records} in front of it \
                 that may be misread too",
                damage.start
            );
        }
        let bits = (damage.end.saturating_sub(start)) * 8;
        let records = match damage.records {
            Some(missing) => Some(missing.saturating_add(left_out)),
            None => estimate(self.seen, bits).or((left_out > 0).then_some(left_out)),
        };
        self.push_damage(&place, Damage { start, message, records, ..damage });
        self.tell_end(&place);
    }
}

/// Leaves out the records of a held window that are in doubt: what remains, how many are
/// left out, and the byte offset of the first of these.
fn doubt_held(doubt: &mut RecordEvidence<'_>, held: Held) -> (Option<Held>, u64, Option<u64>) {
    let Held { mut batch, floor, end } = held;
    let certain = doubt.certain(&batch.data, &batch.records, floor, end);
    let first = batch.records.get(certain).map(|record| batch.file_offset(record));
    let dropped = (batch.records.len() - certain) as u64;
    batch.truncate(certain);
    let batch = (certain > 0).then_some(Held { batch, floor, end });
    (batch, dropped, first)
}

fn partial(properties: &PacketProperties, start: u64, end: u64) -> Damage {
    let message = format!(
        "event record runs past the end of its packet's content, {} bits from byte {}",
        properties.available_bits.min(properties.content_bits),
        properties.offset
    );
    Damage::new(DamageKind::RecordPastContent, start, end, message)
}
