//! Which packets of a file do not fit into the order of time.

use std::collections::HashSet;

use super::damage::{Damage, DamageKind};
use super::evidence_strength::EvidenceStrength;
use super::packet::PacketProperties;
use super::packet_list::PacketList;

/// What is to be done with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It fits.
    Keep,
    /// It fits, but its end lies behind all of the next one.
    EndDoubtful,
    /// Its times cannot be right.
    Drop,
    /// It stands in the file before.
    Duplicate,
}

/// Judges the packets of a file.
///
/// One packet with a wrong beginning must not hide those behind it: where beginnings are not
/// in order, the longest list that is in order is kept. Where only an end lies behind all of
/// the next packet, nobody can tell which of the two is wrong before the records are read;
/// the reader decides then.
#[must_use]
pub fn judge(packets: &PacketList, trust: EvidenceStrength) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::Keep; packets.len()];
    let times = Times { packets, trust };
    if times.are_complete() {
        if !times.beginnings().is_sorted() {
            let times: Vec<(u64, u64)> = times.iter().collect();
            let weight = |packet| if trust.contradicts_itself(&packet) { 1 } else { 2 };
            let weights: Vec<usize> = packets.all_properties().map(weight).collect();
            drop_what_is_out_of_order(&times, &weights, &mut verdicts);
        }
        mark_duplicates(packets, &mut verdicts);
        doubt_ends(times.iter(), &mut verdicts);
    } else {
        mark_duplicates(packets, &mut verdicts);
    }
    verdicts
}

/// When packets begin and end, as far as that can be believed.
struct Times<'a> {
    packets: &'a PacketList,
    trust: EvidenceStrength,
}

impl Times<'_> {
    fn are_complete(&self) -> bool {
        let mut indexes = 0..self.packets.len();
        self.trust.beginning && indexes.all(|index| self.packets.beginning(index).is_some())
    }

    fn beginnings(&self) -> impl Iterator<Item = u64> + '_ {
        (0..self.packets.len()).map(|index| self.packets.beginning(index).unwrap_or(0))
    }

    fn iter(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.beginnings().enumerate().map(|(index, beginning)| {
            let end = self.packets.end(index);
            (beginning, self.trust.believed_end(Some(beginning), end).unwrap_or(beginning))
        })
    }
}

/// Whether a packet with a verdict is read.
#[must_use]
pub fn is_kept(verdict: Option<&Verdict>) -> bool {
    matches!(verdict, Some(Verdict::Keep | Verdict::EndDoubtful))
}

/// The damage that verdicts on packets stand for.
pub fn damage_of_all<'a>(
    verdicts: &'a [Verdict],
    packets: &'a PacketList,
    file_end: u64,
) -> impl Iterator<Item = Damage> + 'a {
    let doubtful = verdicts.iter().enumerate().filter(|(_, verdict)| **verdict != Verdict::Keep);
    doubtful.filter_map(move |(index, verdict)| {
        damage_of(*verdict, &packets.properties(index)?, file_end)
    })
}

fn drop_what_is_out_of_order(times: &[(u64, u64)], weights: &[usize], verdicts: &mut [Verdict]) {
    for (verdict, keep) in verdicts.iter_mut().zip(heaviest_chain(times, weights)) {
        if !keep {
            *verdict = Verdict::Drop;
        }
    }
}

fn doubt_ends(times: impl Iterator<Item = (u64, u64)>, verdicts: &mut [Verdict]) {
    let mut last: Option<(usize, u64)> = None;
    for (index, (beginning, end)) in times.enumerate() {
        if verdicts.get(index) != Some(&Verdict::Keep) {
            continue;
        }
        // Old tracers begin a packet some moments before they end the one in front.
        let next = end.max(beginning);
        if let Some((before, _)) = last.filter(|&(_, end)| end > next) {
            if let Some(verdict) = verdicts.get_mut(before) {
                *verdict = Verdict::EndDoubtful;
            }
        }
        last = Some((index, end));
    }
}

/// The heaviest list of packets in which none begins before the end of the one in front.
/// Of several, one that ends early: times are damaged to large numbers more often.
fn heaviest_chain(times: &[(u64, u64)], weights: &[usize]) -> Vec<bool> {
    let mut ends: Vec<u64> = times.iter().map(|&(_, end)| end).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut best = Fenwick(vec![(0, None); ends.len() + 1]);
    let mut before = Vec::with_capacity(times.len());
    let mut heaviest = ((0, std::cmp::Reverse(0)), None);
    for (index, (&(beginning, end), own)) in times.iter().zip(weights).enumerate() {
        let (weight, previous) = best.up_to(ends.partition_point(|&other| other <= beginning));
        before.push(previous);
        best.raise(ends.partition_point(|&other| other < end) + 1, (weight + own, Some(index)));
        let rank = (weight + own, std::cmp::Reverse(end));
        if heaviest.1.is_none() || rank > heaviest.0 {
            heaviest = (rank, Some(index));
        }
    }
    let mut kept = vec![false; times.len()];
    let mut next = heaviest.1;
    while let Some(index) = next {
        if let Some(keep) = kept.get_mut(index) {
            *keep = true;
        }
        next = before.get(index).copied().flatten();
    }
    kept
}

/// The heaviest chain that ends at or below a value: its weight and its last packet.
struct Fenwick(Vec<(usize, Option<usize>)>);

impl Fenwick {
    fn up_to(&self, mut index: usize) -> (usize, Option<usize>) {
        let mut best = (0, None);
        while index > 0 {
            if let Some(&entry) = self.0.get(index).filter(|entry| entry.0 > best.0) {
                best = entry;
            }
            index &= index - 1;
        }
        best
    }

    fn raise(&mut self, mut index: usize, entry: (usize, Option<usize>)) {
        while let Some(place) = self.0.get_mut(index) {
            if entry.0 > place.0 {
                *place = entry;
            }
            index += index & index.wrapping_neg();
        }
    }
}

/// A packet with the same sizes, times and number as another is that packet once more.
fn mark_duplicates(packets: &PacketList, verdicts: &mut [Verdict]) {
    let numbers = (0..packets.len()).map(|index| packets.sequence_number(index));
    if numbers.is_sorted_by(|left, right| left.is_some() && left < right) {
        return;
    }
    let is_ordered = (0..packets.len()).map(|index| packets.beginning(index)).is_sorted()
        && verdicts.iter().all(|verdict| *verdict == Verdict::Keep);
    let mut seen = HashSet::new();
    let mut beginning = None;
    // Those that fit come first: a copy in another place is the one that goes.
    for wanted in [Verdict::Keep, Verdict::Drop] {
        for (packet, verdict) in packets.all_properties().zip(verdicts.iter_mut()) {
            if is_ordered && beginning != packet.beginning {
                // What is equal begins at the same time, so it is next to each other.
                beginning = packet.beginning;
                seen.clear();
            }
            let Some(facts) = facts(&packet).filter(|_| *verdict == wanted) else { continue };
            if !seen.insert(facts) {
                *verdict = Verdict::Duplicate;
            }
        }
    }
}

/// Sizes in bits, beginning and end, number and count of losses.
type Facts = (u64, u64, Option<u64>, Option<u64>, Option<u64>, Option<u64>);

/// What is equal in two packets only if they are the same.
fn facts(packet: &PacketProperties) -> Option<Facts> {
    // Without a number, packets of one instant may be alike and yet be two.
    let single = packet.sequence_number.is_some()
        || matches!((packet.beginning, packet.end), (Some(from), Some(to)) if from < to);
    single.then_some((
        packet.total_bits,
        packet.content_bits,
        packet.beginning,
        packet.end,
        packet.sequence_number,
        packet.events_discarded,
    ))
}

/// The damage that a verdict stands for.
fn damage_of(verdict: Verdict, packet: &PacketProperties, file_end: u64) -> Option<Damage> {
    let end = packet.offset.saturating_add(packet.total_bits / 8).min(file_end);
    let times = || match (packet.beginning, packet.end) {
        (Some(beginning), Some(end)) => format!("from {beginning} to {end}"),
        _ => "without times".to_owned(),
    };
    match verdict {
        Verdict::Keep => None,
        Verdict::EndDoubtful => {
            let message = format!("packet {}: it ends after the end of the next packet", times());
            let end = packet.offset.saturating_add(packet.events_at / 8);
            let damage = Damage::new(DamageKind::PacketTimes, packet.offset, end, message);
            Some(Damage { records: Some(0), ..damage })
        }
        Verdict::Drop => {
            let message = format!(
                "packet {}, which is not between the packets before and behind it",
                times()
            );
            Some(Damage::new(DamageKind::PacketTimes, packet.offset, end, message))
        }
        Verdict::Duplicate => {
            let message = "the same packet once more: same sizes, times and number";
            Some(Damage::new(DamageKind::DuplicatePacket, packet.offset, end, message))
        }
    }
}
