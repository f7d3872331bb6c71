//! One data stream file: its packets, found through its index or through their headers.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::damage::{Damage, DamageKind};
use super::evidence_strength::EvidenceStrength;
use super::file_window::FileWindow;
use super::listing::{list, Listing};
use super::lttng_index;
use super::order::{damage_of_all, judge};
use super::packet::{read_packet, PacketProperties};
use super::packet_entry::PacketEntry;
use super::packet_list::PacketList;
use crate::model::TraceClass;
use crate::record::State;
use crate::source::{Beginning, ReadAt};

/// How many packets of an index are looked at before it is believed.
const INDEX_SAMPLES: usize = 64;

/// A data stream file with the list of its packets.
pub struct DataFile {
    /// The bytes.
    pub source: Arc<dyn ReadAt>,
    /// Its packets in the order of the file.
    pub packets: PacketList,
    /// A packet that says to which data stream the file belongs, mostly the first.
    pub first: PacketProperties,
    /// What is wrong between and with its packets, in the order of the file.
    pub damage: Vec<Damage>,
    /// The bytes that a packet really has, by its byte offset, where that is less than it
    /// tells because another packet begins inside of it.
    pub(super) sizes: BTreeMap<u64, u64>,
    /// A UUID that is not that of the metadata, when most packets have it.
    pub(super) other_uuid: Option<[u8; 16]>,
    /// How far its times can be believed.
    pub(super) trust: EvidenceStrength,
}

impl DataFile {
    /// Lists the packets of a file.
    ///
    /// `index` is the content of its LTTng index file, when there is one.
    ///
    /// # Errors
    ///
    /// When it has not a single packet.
    pub fn open(
        trace: &TraceClass,
        source: Arc<dyn ReadAt>,
        index: Option<&[u8]>,
    ) -> Result<Self, Damage> {
        let indexed = index.and_then(|bytes| lttng_index::parse(bytes, source.len()));
        let indexed = indexed.unwrap_or_default();
        let first = first_of_index(trace, source.as_ref(), &indexed)
            .filter(|first| is_in_order(trace, source.as_ref(), first, &indexed));
        let listing = match first {
            Some(first) => Listing { first: Some(first), packets: indexed, ..Listing::default() },
            None => {
                let offsets = (0..indexed.len()).filter_map(|index| indexed.offset(index));
                list(trace, source.as_ref(), 0, &offsets.collect::<Vec<u64>>())
            }
        };
        let (source, listing) = without_cover(source, listing);
        Self::of_listing(trace, source, listing)
    }

    /// Lists the packets of a file from an offset on, at which one begins.
    ///
    /// # Errors
    ///
    /// When there is not a single packet.
    pub fn open_part(
        trace: &TraceClass,
        source: Arc<dyn ReadAt>,
        from: u64,
    ) -> Result<Self, Damage> {
        let listing = list(trace, source.as_ref(), from, &[]);
        Self::of_listing(trace, source, listing)
    }

    fn of_listing(
        trace: &TraceClass,
        source: Arc<dyn ReadAt>,
        listing: Listing,
    ) -> Result<Self, Damage> {
        let Listing { packets, first, damage, sizes, other_uuid } = listing;
        let Some(first) = first else { return Err(unreadable(source.as_ref(), damage)) };
        let trust = EvidenceStrength::of(trace, first.stream_class);
        Ok(Self { source, packets, first, damage, sizes, other_uuid, trust })
    }
}

impl DataFile {
    /// Whether damage is but the end of what was there while more is being written.
    pub(super) fn is_being_written(&self, damage: &Damage) -> bool {
        damage.end == self.source.len() && self.source.has_grown()
    }

    /// Sequence number and end of the last packet that has event records.
    #[must_use]
    pub fn last_written(&self) -> Option<(u64, Option<u64>)> {
        let indexes = (0..self.packets.len()).rev();
        let mut packets = indexes.filter_map(|index| self.packets.properties(index));
        let last = packets.find(|packet| packet.content_bits > packet.events_at)?;
        Some((last.sequence_number?, last.end))
    }

    /// What is wrong with its packets, as far as their beginnings tell.
    pub fn packet_damage(&self) -> impl Iterator<Item = Damage> + '_ {
        self.damage.iter().cloned().chain(self.cut_at_end())
    }

    /// What is missing of the last packet at the end of the file, if anything.
    fn cut_at_end(&self) -> Option<Damage> {
        let last = self.packets.get(self.packets.len().checked_sub(1)?)?;
        let end = self.source.len();
        let there = end.checked_sub(last.offset)?;
        let size = last.size;
        let message = format!("packet cut: it has {size} bytes, the file holds {there} of them");
        (size > there).then(|| Damage::new(DamageKind::PacketCut, end, end, message))
    }

    /// How many bytes of a packet are there: fewer than it tells when it is cut.
    #[must_use]
    pub fn present(&self, entry: &PacketEntry) -> u64 {
        let rest = self.source.len().saturating_sub(entry.offset);
        let corrected = self.sizes.get(&entry.offset).copied().unwrap_or(u64::MAX);
        entry.size.min(rest).min(corrected)
    }
}

/// Leaves out the empty packet behind which a tracer will write the next ones: it has the number
/// of the one before it and reaches to the end of the file. Soon it may be another packet.
fn without_cover(source: Arc<dyn ReadAt>, mut listing: Listing) -> (Arc<dyn ReadAt>, Listing) {
    let packets = &listing.packets;
    let last = packets.len().saturating_sub(1);
    let pair = last.checked_sub(1).and_then(|before| packets.properties(before));
    let Some((before, cover)) = pair.zip(packets.properties(last)) else {
        return (source, listing);
    };
    let is_cover = cover.content_bits == cover.events_at
        && cover.sequence_number.is_some()
        && cover.sequence_number == before.sequence_number
        && cover.events_discarded == before.events_discarded
        && cover.offset.saturating_add(cover.total_bits / 8) == source.len();
    if !is_cover {
        return (source, listing);
    }
    let source = Arc::new(Beginning { source, length: cover.offset });
    listing.packets = listing.packets.filtered(|index| index != last);
    (source, listing)
}

/// Whether the packets of an index fit together: where one would be damaged, that may be the index.
fn is_in_order(
    trace: &TraceClass,
    source: &dyn ReadAt,
    first: &PacketProperties,
    entries: &PacketList,
) -> bool {
    let indexes = 0..entries.len();
    let counts = indexes.filter_map(|index| entries.get(index)?.events_discarded);
    let verdicts = judge(entries, EvidenceStrength::of(trace, first.stream_class));
    let mut damage = damage_of_all(&verdicts, entries, source.len());
    counts.is_sorted() && damage.next().is_none()
}

/// The first packet that an index lists, when it and some others are as the index says.
fn first_of_index(
    trace: &TraceClass,
    source: &dyn ReadAt,
    entries: &PacketList,
) -> Option<PacketProperties> {
    let mut state = State::new(trace.slot_count);
    let mut window = FileWindow::default();
    let mut read =
        |offset| read_packet(&mut window, source, offset, (trace, None), &mut state).ok();
    let first = read(entries.offset(0)?)?.properties;
    let step = entries.len().div_ceil(INDEX_SAMPLES);
    let samples = (0..entries.len()).step_by(step).chain(entries.len().checked_sub(1));
    for entry in samples.filter_map(|index| entries.get(index)) {
        let packet = read(entry.offset)?.properties;
        let same = packet.faults.is_none()
            && packet.total_bits / 8 == entry.size
            && packet.stream_class == first.stream_class
            && packet.beginning.is_none_or(|time| Some(time) == entry.beginning)
            && packet.end.is_none_or(|time| Some(time) == entry.end)
            && packet.events_discarded.is_none_or(|count| Some(count) == entry.events_discarded);
        if !same {
            return None;
        }
    }
    Some(first)
}

/// The one damage of a file without any packet.
fn unreadable(source: &dyn ReadAt, damage: Vec<Damage>) -> Damage {
    let first = damage.into_iter().next();
    match first {
        Some(damage) if damage.kind == DamageKind::ZeroPadding => damage,
        Some(damage) => {
            let kind = DamageKind::StreamUnreadable;
            Damage { kind, start: 0, end: source.len(), ..damage }
        }
        None => Damage::new(DamageKind::StreamUnreadable, 0, 0, "the file is empty"),
    }
}
