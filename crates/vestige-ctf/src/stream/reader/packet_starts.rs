//! Entering a packet: its header, what is wrong with it, and what was lost before it.

use std::sync::Arc;

use super::{no_file, Item, Place, StreamReader};
use crate::stream::damage::{Damage, DamageKind};
use crate::stream::file::DataFile;
use crate::stream::header_faults::damage_of_stream;
use crate::stream::lost::{losses, LostKind};
use crate::stream::packet::{read_packet, Packet};
use crate::stream::packet_list::PacketList;
use crate::stream::selection::PacketUse;

impl StreamReader {
    pub(super) fn enter_packet(&mut self, (file, packet): (usize, usize)) {
        let Some(data) = self.stream.files.get(file).cloned() else { return };
        let Some(offset) = data.packets.offset(packet) else { return };
        if self.reported.get(file) == Some(&usize::MAX) {
            return;
        }
        if !data.damage.is_empty() {
            self.report_until(file, Some((offset, data.packets.beginning(packet))));
        }
        let usage = self.selection.use_of(&self.stream, self.packets.start - 1);
        if usage == PacketUse::Before {
            self.skipped = Some((file, packet));
            self.note_skipped(data.packets.beginning(packet));
            return;
        }
        self.read_skipped();
        let clock = self.state.clock;
        let read = self.read_head(file, offset);
        if was_replaced(&data.packets, packet, &read) {
            self.state.clock = clock;
            return;
        }
        let size = data.packets.size(packet).unwrap_or(0);
        match read.and_then(|packet| self.note_faults(file, &data, packet, size)) {
            Ok(packet) => {
                self.begin_packet(file, packet);
                if usage == PacketUse::After {
                    // What follows is later still; only what was lost until here matters.
                    self.place = None;
                    self.packets = 0..0;
                }
            }
            Err(damage) => {
                self.state.clock = clock;
                let end = offset.saturating_add(size).min(data.source.len());
                let start = offset;
                self.give_up(file, Damage { start, end: end.max(start), ..damage });
            }
        }
    }

    /// Gives what is wrong in a packet header; refuses the packet when it is not the one that
    /// was listed there.
    pub(super) fn note_faults(
        &mut self,
        file: usize,
        data: &DataFile,
        packet: Packet,
        size: u64,
    ) -> Result<Packet, Damage> {
        let properties = &packet.properties;
        let Some(faults) = &properties.faults else { return Ok(packet) };
        if properties.total_bits / 8 != size {
            return Err(faults.refusal(properties.offset, data.source.len()));
        }
        let same = faults.uuid.filter(|uuid| Some(uuid.found) == data.other_uuid);
        for damage in faults.damage(properties.offset) {
            let damage = match same.filter(|_| damage.kind == DamageKind::OtherUuid) {
                None => damage,
                Some(_) if self.other_uuid.replace(file) == Some(file) => continue,
                Some(uuid) => damage_of_stream(properties.offset, uuid),
            };
            let damage = Damage { after: self.last, before: properties.beginning, ..damage };
            self.pending.push_back(Item::Damage(file, damage));
        }
        Ok(packet)
    }

    /// Reads the header of the packet that was skipped last: its counters tell what was lost
    /// until the next one.
    pub(super) fn read_skipped(&mut self) {
        let Some((file, packet)) = self.skipped.take() else { return };
        let Some(data) = self.stream.files.get(file).cloned() else { return };
        let Some(entry) = data.packets.get(packet) else { return };
        let read = self.read_head(file, entry.offset);
        self.previous = read.ok().map(|packet| packet.properties);
    }

    /// Reads the header and the context of the packet at an offset of a file.
    pub(super) fn read_head(&mut self, file: usize, offset: u64) -> Result<Packet, Damage> {
        self.look_at(file);
        let Some(data) = self.stream.files.get(file) else { return Err(no_file(offset)) };
        let (source, trace) = (data.source.as_ref(), self.stream.trace.as_ref());
        let trace = (trace, Some(self.stream.class));
        read_packet(&mut self.window, source, offset, trace, &mut self.state)
    }

    pub(super) fn begin_packet(&mut self, file: usize, mut packet: Packet) {
        let Some(data) = self.stream.files.get(file).cloned() else { return };
        let properties = &mut packet.properties;
        let size = data.sizes.get(&properties.offset).copied();
        if let Some(size) = size {
            let there = size.saturating_mul(8);
            properties.available_bits = properties.available_bits.min(there);
        }
        if properties.available_bits < properties.events_at {
            let message = "packet cut: another one begins in its header";
            let end = properties.offset + size.unwrap_or(0);
            let damage = Damage::new(DamageKind::PacketCut, properties.offset, end, message);
            return self.give_up(file, damage);
        }
        let beginning = data.trust.beginning_of(properties);
        if let (Some(beginning), Some(last)) = (beginning, self.last) {
            if beginning < last {
                let message = format!(
                    "packet that begins at clock value {beginning}, before the {last} of the \
                     last event record"
                );
                let end = (properties.offset + properties.total_bits / 8).min(data.source.len());
                let kind = DamageKind::TimeGoesBack;
                let damage = Damage::new(kind, properties.offset, end, message);
                return self.give_up(file, damage);
            }
        }
        let end = data.trust.end_of(properties);
        let limit = end.or_else(|| self.beginning_of(self.packets.start)).unwrap_or(u64::MAX);
        // A wrong time of one record must not hide the packets behind it: without a beginning
        // to compare with, a packet starts anew.
        let floor = beginning.unwrap_or(0);
        let found = losses(self.previous.as_ref(), properties);
        let gap = std::mem::take(&mut self.gap);
        let counted = found.into_iter().filter(|lost| !(gap && lost.kind == LostKind::Packets));
        let counted: Vec<_> = counted.collect();
        self.previous = Some(properties.clone());
        let position = properties.events_at;
        let packet = Arc::new(packet);
        self.tell_beginning(&packet, counted);
        self.place = Some(Place { packet, file, position, limit, floor, held: None });
    }

    /// The beginning of the packet at an index, when it can be believed.
    pub(super) fn beginning_of(&self, index: usize) -> Option<u64> {
        let (file, packet) = self.stream.packets.get(index)?;
        let file = self.stream.files.get(file)?;
        file.packets.beginning(packet).filter(|_| file.trust.beginning)
    }
}

/// Whether a packet without records has been replaced since the file was opened: a tracer
/// writes where it stood.
fn was_replaced(listed: &PacketList, index: usize, read: &Result<Packet, Damage>) -> bool {
    let Some(content) = listed.content_without_records(index) else { return false };
    match read {
        Ok(packet) => packet.properties.content_bits != content,
        Err(damage) => damage.kind == DamageKind::ReadFailed,
    }
}
