//! Listing the packets of a data stream file, whatever lies between them.
//!
//! Packets follow each other without a gap. Where none follows, the next one is searched:
//! by its magic number and UUID, then by whether the bytes there make sense as a packet, and
//! whether another packet, or the end of the file, follows that one.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::damage::{Damage, DamageKind};
use super::evidence_strength::EvidenceStrength;
use super::file_window::{read_exactly, FileWindow};
use super::head_layout::HeadLayout;
use super::header_vote::{is_packet, Surroundings};
use super::order::{damage_of_all, is_kept, judge};
use super::packet::{read_by_layout, read_packet, Packet, PacketProperties};
use super::packet_list::PacketList;
use super::pattern::Marks;
use crate::model::TraceClass;
use crate::record::State;
use crate::source::ReadAt;

/// Bytes that are searched at once.
const WINDOW: u64 = 256 * 1024;
/// How many places of a file are tried that look like a packet and are none: enough for any
/// real damage, and an end for a file made of such places.
const MOST_TRIES: u64 = 100_000;
/// The greatest step in time that speaks for a packet, cycles: some hours.
const NEAR: u64 = 1 << 44;
/// How many boundaries are tried where packets of one size without a mark should stand.
const MOST_BOUNDARIES: usize = 10_000;
/// How many bytes of heads count as a try.
const BYTES_OF_TRY: u64 = 64 * 1024;
/// How far the next packet is searched; a file of a terabyte may be nothing but a hole.
const MOST_SEARCHED: u64 = 1 << 30;

/// The packets of a file and what is wrong between them.
#[derive(Debug, Default)]
pub struct Listing {
    /// The packets in the order of the file.
    pub packets: PacketList,
    /// A packet that tells to which data stream the file belongs.
    pub first: Option<PacketProperties>,
    /// What is wrong, in the order of the file.
    pub damage: Vec<Damage>,
    /// The bytes that a packet really has, by its byte offset, when another packet begins
    /// inside of it.
    pub sizes: BTreeMap<u64, u64>,
    /// A UUID that is not that of the metadata, when most packets have it.
    pub other_uuid: Option<[u8; 16]>,
}

/// Lists the packets of a file from an offset on. `hints` are offsets at which an index saw
/// packets.
#[must_use]
pub fn list(trace: &TraceClass, source: &dyn ReadAt, from: u64, hints: &[u64]) -> Listing {
    let walk = |usual| {
        let mut walker = Walker {
            trace,
            source,
            window: FileWindow::default(),
            state: State::new(trace.slot_count),
            marks: Marks::of(trace),
            hints,
            usual,
            layout: None,
            found: PacketList::default(),
            first: None,
            last: None,
            sizes: BTreeMap::new(),
            uuids: BTreeMap::new(),
            tries: 0,
            listing: Listing::default(),
        };
        walker.walk(from);
        walker
    };
    let walker = walk(None);
    // What stands before the first good packet may be one whose stream class nobody knew yet.
    match &walker.first {
        Some(first) if first.offset > from => walk(Some(first.stream_class)).finish(),
        _ => walker.finish(),
    }
}

struct Walker<'a> {
    trace: &'a TraceClass,
    source: &'a dyn ReadAt,
    window: FileWindow,
    state: State,
    marks: Marks,
    hints: &'a [u64],
    /// The stream class of packets whose own is unknown; else that of the first packet.
    usual: Option<usize>,
    /// Where the fields of the packets of its class stand, once the first packet is read.
    layout: Option<HeadLayout>,
    found: PacketList,
    /// The first and the last of these.
    first: Option<PacketProperties>,
    last: Option<PacketProperties>,
    /// Sizes of the packets so far, bytes: how many have it, and the index of the first.
    sizes: BTreeMap<u64, (usize, Reverse<usize>)>,
    /// UUIDs that are not that of the metadata, and how many packets have them.
    uuids: BTreeMap<[u8; 16], usize>,
    /// Places that were tried, those with long heads counting more.
    tries: u64,
    listing: Listing,
}

impl Walker<'_> {
    fn walk(&mut self, mut offset: u64) {
        while offset < self.source.len() {
            offset = match self.read(offset).and_then(|packet| self.expect(packet)) {
                Ok(packet) => self.accept(packet),
                Err(damage) if damage.kind == DamageKind::ReadFailed => {
                    self.listing.damage.push(damage);
                    return;
                }
                Err(damage) => self.resume(offset, damage),
            };
        }
    }

    fn read_head(&mut self, offset: u64) -> Result<Packet, Damage> {
        let trace = (self.trace, self.usual_class());
        read_packet(&mut self.window, self.source, offset, trace, &mut self.state)
    }

    fn usual_class(&self) -> Option<usize> {
        self.usual.or(self.first.as_ref().map(|packet| packet.stream_class))
    }

    /// The packet that is expected at an offset.
    fn read(&mut self, offset: u64) -> Result<PacketProperties, Damage> {
        if let Some(layout) = &self.layout {
            let (window, state) = (&mut self.window, &mut self.state);
            if let Some(packet) = read_by_layout(window, self.source, offset, layout, state) {
                return Ok(packet);
            }
        }
        let packet = self.read_head(offset)?;
        self.believe(packet, true)
    }

    /// Refuses a packet of whose header too much is wrong.
    fn believe(&mut self, packet: Packet, is_expected: bool) -> Result<PacketProperties, Damage> {
        let Some(faults) = &packet.properties.faults else { return Ok(packet.properties) };
        let refusal = faults.refusal(packet.properties.offset, self.source.len());
        let clock = self.state.clock;
        let around = Surroundings {
            is_expected,
            ends_well: self.ends_well(&packet.properties),
            before: self.last.as_ref(),
            has_magic: self.marks.magic.is_some(),
            has_uuid: self.marks.uuid.is_some(),
        };
        self.state.clock = clock;
        if is_packet(self.trace, self.source, &packet, &around) {
            Ok(packet.properties)
        } else {
            Err(refusal)
        }
    }

    /// Whether the file, or what has the mark of a packet, begins where a packet ends.
    fn ends_well(&mut self, packet: &PacketProperties) -> bool {
        let end = packet.offset.saturating_add(packet.total_bits / 8);
        if end >= self.source.len() {
            return end == self.source.len();
        }
        let both = self.marks.magic.is_some() && self.marks.uuid.is_some();
        self.read_head(end).is_ok_and(|next| match &next.properties.faults {
            None => true,
            Some(faults) => both && (faults.magic.is_none() || faults.uuid.is_none()),
        })
    }

    /// Refuses what only looks like a packet because anything would, without a mark to
    /// check: neither its size nor its time nor its number goes on from the one before.
    fn expect(&mut self, packet: PacketProperties) -> Result<PacketProperties, Damage> {
        let Some(last) = self.last.as_ref().filter(|_| self.marks.is_empty()) else {
            return Ok(packet);
        };
        let trust = EvidenceStrength::of(self.trace, packet.stream_class);
        let after = trust.end_of(last).or(last.beginning);
        let time = packet.beginning.filter(|_| trust.beginning).zip(after);
        let number = packet.sequence_number.zip(last.sequence_number);
        let near = time.map(|(now, before)| now.wrapping_sub(before) < NEAR);
        let next = number.map(|(now, before)| now == before.wrapping_add(1));
        if (near, next) == (None, None)
            || near == Some(true)
            || next == Some(true)
            || packet.total_bits == last.total_bits
        {
            return Ok(packet);
        }
        let end = packet.offset.saturating_add(packet.total_bits / 8);
        if end == self.source.len() || (end < self.source.len() && self.read(end).is_ok()) {
            return Ok(packet);
        }
        let message = "no packet begins here: neither size nor time nor number goes on from \
                       the packet before";
        let end = self.source.len();
        Err(Damage::new(DamageKind::PacketHeader, packet.offset, end, message))
    }

    /// Notes a packet; returns where the next one is expected.
    fn accept(&mut self, packet: PacketProperties) -> u64 {
        let length = self.source.len();
        let offset = packet.offset;
        let end = offset.saturating_add(packet.total_bits / 8);
        let next = if end > length {
            // Cut, or its size is wrong and others follow.
            self.search(head_end(&packet), length, true)
        } else if self.may_swallow(&packet) {
            let content_end = offset.saturating_add(packet.content_bits.div_ceil(8));
            // What a tracer is about to write there has no magic number yet.
            self.search(content_end, end, false)
        } else {
            None
        };
        if next.is_some() && self.was_replaced(&packet) {
            return offset;
        }
        let rank = (0, Reverse(self.found.len()));
        self.sizes.entry(packet.total_bits / 8).or_insert(rank).0 += 1;
        self.found.push(&packet);
        if let Some(uuid) = packet.faults.as_ref().and_then(|faults| faults.uuid) {
            *self.uuids.entry(uuid.found).or_default() += 1;
        }
        if self.first.is_none() {
            self.layout = HeadLayout::new(self.trace, packet.stream_class);
            self.first = Some(packet.clone());
        }
        self.last = Some(packet);
        if let Some(next) = next {
            self.correct(offset, next);
        }
        next.unwrap_or(end)
    }

    /// Whether another packet stands by now where an empty one was: what was found behind its
    /// content has been written since.
    fn was_replaced(&mut self, packet: &PacketProperties) -> bool {
        if packet.content_bits != packet.events_at {
            return false;
        }
        self.window.clear();
        let clock = self.state.clock;
        let now = self.read_head(packet.offset);
        self.state.clock = clock;
        now.is_ok_and(|now| now.properties.total_bits < packet.total_bits)
    }

    /// Whether a packet has so much padding that a packet may stand in it: its size may be
    /// wrong and happen to end where some packet begins.
    fn may_swallow(&self, packet: &PacketProperties) -> bool {
        let padding = (packet.total_bits - packet.content_bits) / 8;
        let smallest = self.sizes.keys().next().copied();
        let smallest = smallest.unwrap_or_else(|| packet.content_bits.div_ceil(8));
        padding >= smallest.max(packet.events_at.div_ceil(8)).max(1)
    }

    fn correct(&mut self, offset: u64, next: u64) {
        self.listing.sizes.insert(offset, next.saturating_sub(offset));
    }

    /// No packet begins at `offset`: finds the next one and notes what lies before it.
    fn resume(&mut self, offset: u64, damage: Damage) -> u64 {
        let last = self.last.as_ref().filter(|packet| {
            packet.offset.saturating_add(packet.total_bits / 8) == offset
                && !self.listing.sizes.contains_key(&packet.offset)
        });
        // The size of the packet before may be what is wrong.
        let inside = last.map(|packet| (packet.offset, head_end(packet)));
        let from = inside.map_or(offset.saturating_add(1), |(_, from)| from);
        let next = self.search(from, self.source.len(), true);
        match (next, inside) {
            (Some(next), Some((packet, _))) if next < offset => {
                self.correct(packet, next);
                next
            }
            _ => {
                let end = next.unwrap_or_else(|| self.source.len());
                let found = self.classify(offset, end, damage);
                self.listing.damage.push(found);
                end
            }
        }
    }

    /// The first packet that begins in a range, with faults in its header or without any.
    fn search(&mut self, from: u64, to: u64, faulty: bool) -> Option<u64> {
        if self.tries > MOST_TRIES {
            return None;
        }
        if self.marks.is_empty() {
            return self.search_boundaries(from, to);
        }
        let marks = self.marks.clone();
        let to = to.min(self.source.len()).min(from.saturating_add(MOST_SEARCHED));
        let (mut at, mut buffer) = (from, Vec::new());
        while at < to {
            let span = WINDOW.min(to - at);
            let size = (span + marks.reach()).min(self.source.len() - at);
            buffer = read_exactly(self.source, at, size as usize, buffer).ok()?;
            let hits = marks.iter().flat_map(|mark| mark.find(&buffer));
            let mut hits: Vec<u64> = hits.map(|hit| hit as u64).filter(|&hit| hit < span).collect();
            hits.sort_unstable();
            hits.dedup();
            for hit in hits {
                if self.is_plausible(at + hit, faulty) {
                    return Some(at + hit);
                }
                if self.tries > MOST_TRIES {
                    return None;
                }
            }
            at += span;
        }
        None
    }

    /// Packets that carry nothing to search for: where an index saw them, or where packets
    /// of one size stand.
    fn search_boundaries(&mut self, from: u64, to: u64) -> Option<u64> {
        let size = self.sizes.iter().max_by_key(|&(_, rank)| rank).map(|(size, _)| *size);
        let last = self.last.as_ref().map_or(0, |packet| packet.offset);
        let boundaries = size.filter(|&size| size > 0).into_iter().flat_map(|size| {
            let steps = from.saturating_sub(last).div_ceil(size);
            (steps..).map_while(move |step| last.checked_add(step.checked_mul(size)?))
        });
        let boundaries = boundaries.take_while(|&at| at < to).take(MOST_BOUNDARIES);
        let hints = self.hints.iter().copied().filter(|hint| (from..to).contains(hint));
        let mut candidates: Vec<u64> = boundaries.chain(hints).collect();
        candidates.sort_unstable();
        candidates.into_iter().find(|&at| self.is_plausible(at, true))
    }

    /// Whether a packet begins at an offset, and another one or the end follows it.
    fn is_plausible(&mut self, offset: u64, faulty: bool) -> bool {
        if self.tries > MOST_TRIES {
            return false;
        }
        let clock = self.state.clock;
        // What looks like a packet may claim a head of megabytes, each time.
        let counted = Counted { source: self.source, bytes: AtomicU64::new(0) };
        let trace = (self.trace, self.usual_class());
        let packet =
            read_packet(&mut FileWindow::default(), &counted, offset, trace, &mut self.state);
        self.tries += 1 + counted.bytes.into_inner() / BYTES_OF_TRY;
        let found = packet.and_then(|packet| self.believe(packet, false));
        let found = found.and_then(|packet| self.expect(packet));
        let found = found
            .is_ok_and(|packet| (faulty || packet.faults.is_none()) && self.is_credible(&packet));
        self.state.clock = clock;
        found
    }

    fn is_credible(&mut self, packet: &PacketProperties) -> bool {
        let same_class =
            self.first.as_ref().is_none_or(|first| first.stream_class == packet.stream_class);
        let end = packet.offset.saturating_add(packet.total_bits / 8);
        if !same_class {
            return false;
        }
        if end == self.source.len() || (end < self.source.len() && self.read(end).is_ok()) {
            return true;
        }
        // What follows may be damaged too; then a UUID must speak for it, or its times.
        let last = self.last.as_ref().and_then(|last| last.beginning);
        let in_order = matches!(
            (last, packet.beginning, packet.end),
            (Some(last), Some(beginning), Some(end)) if last <= beginning && beginning <= end
        );
        let faults = packet.faults.as_deref();
        let has_uuid =
            self.marks.uuid.is_some() && faults.is_none_or(|faults| faults.uuid.is_none());
        has_uuid || (in_order && !self.marks.is_empty())
    }

    /// Names what lies where a packet was expected.
    fn classify(&self, start: u64, end: u64, damage: Damage) -> Damage {
        if self.is_zero(start, end) {
            let message = format!("{} bytes of zero where a packet is expected", end - start);
            return Damage::new(DamageKind::ZeroPadding, start, end, message);
        }
        let size = end - start;
        let is_packet = self.sizes.contains_key(&size);
        let looked_for = matches!(damage.kind, DamageKind::BadMagic | DamageKind::OtherUuid);
        if looked_for && !is_packet {
            let message = format!("{size} bytes that are no packet: {}", damage.message);
            return Damage::new(DamageKind::Garbage, start, end, message);
        }
        Damage { start, end, ..damage }
    }

    fn is_zero(&self, start: u64, end: u64) -> bool {
        let (mut at, mut buffer) = (start, Vec::new());
        let end = end.min(start.saturating_add(MOST_SEARCHED));
        while at < end {
            let size = WINDOW.min(end - at);
            match read_exactly(self.source, at, size as usize, buffer) {
                Ok(bytes) if bytes.iter().all(|&byte| byte == 0) => buffer = bytes,
                _ => return false,
            }
            at += size;
        }
        true
    }

    fn finish(self) -> Listing {
        let Self { trace, source, found, uuids, mut listing, .. } = self;
        let most = uuids.into_iter().find(|&(_, count)| count * 2 > found.len());
        listing.other_uuid = most.map(|(uuid, _)| uuid);
        let class = found.common_stream_class();
        let (mine, others) = found.split_by_class(class);
        for packet in others {
            let end = packet.offset.saturating_add(packet.total_bits / 8).min(source.len());
            let message = "the packet belongs to another stream class than most packets of \
                           the file";
            listing.damage.push(Damage::new(DamageKind::PacketHeader, packet.offset, end, message));
        }
        let verdicts = judge(&mine, EvidenceStrength::of(trace, class.unwrap_or(0)));
        listing.damage.extend(damage_of_all(&verdicts, &mine, source.len()));
        let instance = mine.common_stream_instance();
        listing.packets = mine.filtered(|index| is_kept(verdicts.get(index)));
        let mut kept = listing.packets.all_properties();
        listing.first = kept.find(|packet| Some(packet.stream_instance) == instance);
        drop(kept);
        listing.damage.sort_by_key(|damage| damage.start);
        listing
    }
}

/// A source that counts the bytes that are read of it.
struct Counted<'a> {
    source: &'a dyn ReadAt,
    bytes: AtomicU64,
}

impl ReadAt for Counted<'_> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.bytes.fetch_add(buffer.len() as u64, Ordering::Relaxed);
        self.source.read_at(offset, buffer)
    }
}

fn head_end(packet: &PacketProperties) -> u64 {
    packet.offset.saturating_add(packet.events_at.div_ceil(8).max(1))
}
