//! Which packets of a file do not fit into the order of time.

use super::damage::{Damage, DamageKind};
use super::packet::PacketProperties;
use super::trust::Trust;

/// What is to be done with a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It fits.
    Keep,
    /// It fits, but for its end.
    KeepWithoutEnd,
    /// Its times cannot be right.
    Drop,
    /// It stands in the file before.
    Duplicate,
}

/// Judges the packets of a file: the longest list that is in order is kept.
///
/// One packet with a wrong beginning must not hide those behind it, so the judgement is
/// about all of them together.
#[must_use]
pub fn judge(packets: &[PacketProperties], trust: Trust) -> Vec<Verdict> {
    let times: Option<Vec<(u64, u64)>> = packets
        .iter()
        .map(|packet| {
            let beginning = trust.beginning_of(packet)?;
            Some((beginning, trust.end_of(packet).unwrap_or(beginning)))
        })
        .collect();
    let mut verdicts = vec![Verdict::Keep; packets.len()];
    let Some(times) = times else { return verdicts };
    if times.windows(2).any(|pair| matches!(pair, [left, right] if right.0 < left.1)) {
        let kept = longest_chain(&times);
        for (verdict, keep) in verdicts.iter_mut().zip(&kept) {
            if !keep {
                *verdict = Verdict::Drop;
            }
        }
        give_second_chance(&times, &kept, &mut verdicts);
    }
    mark_duplicates(packets, &mut verdicts);
    verdicts
}

/// The longest list of packets in which none begins before the end of the one in front.
fn longest_chain(times: &[(u64, u64)]) -> Vec<bool> {
    let mut ends: Vec<u64> = times.iter().map(|&(_, end)| end).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut best = Fenwick(vec![(0, None); ends.len() + 1]);
    let mut before = Vec::with_capacity(times.len());
    let mut longest = (0, None);
    for (index, &(beginning, end)) in times.iter().enumerate() {
        let (length, previous) = best.up_to(ends.partition_point(|&other| other <= beginning));
        before.push(previous);
        best.raise(ends.partition_point(|&other| other < end) + 1, (length + 1, Some(index)));
        if length + 1 > longest.0 {
            longest = (length + 1, Some(index));
        }
    }
    let mut kept = vec![false; times.len()];
    let mut next = longest.1;
    while let Some(index) = next {
        if let Some(keep) = kept.get_mut(index) {
            *keep = true;
        }
        next = before.get(index).copied().flatten();
    }
    kept
}

/// The longest chain that ends at or below a value: its length and its last packet.
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

/// Keeps a packet of which only the end is wrong: its beginning lies between its neighbours.
fn give_second_chance(times: &[(u64, u64)], kept: &[bool], verdicts: &mut [Verdict]) {
    let mut next_beginnings = vec![u64::MAX; times.len()];
    let mut next = u64::MAX;
    for (index, (&(beginning, _), &keep)) in times.iter().zip(kept).enumerate().rev() {
        if let Some(place) = next_beginnings.get_mut(index) {
            *place = next;
        }
        next = if keep { beginning } else { next };
    }
    let mut last_end = 0;
    for (index, &(beginning, end)) in times.iter().enumerate() {
        if kept.get(index) == Some(&true) {
            last_end = end;
            continue;
        }
        let next = next_beginnings.get(index).copied().unwrap_or(u64::MAX);
        if beginning >= last_end && beginning < next && end > next {
            if let Some(verdict) = verdicts.get_mut(index) {
                *verdict = Verdict::KeepWithoutEnd;
            }
            last_end = beginning;
        }
    }
}

/// A packet with the same sizes, times and number as another is that packet once more.
fn mark_duplicates(packets: &[PacketProperties], verdicts: &mut [Verdict]) {
    let facts = |packet: &PacketProperties| {
        (
            packet.total_bits,
            packet.content_bits,
            packet.beginning,
            packet.end,
            packet.sequence_number,
            packet.events_discarded,
        )
    };
    let mut seen = std::collections::HashSet::new();
    for (packet, verdict) in packets.iter().zip(verdicts.iter()) {
        if *verdict != Verdict::Drop {
            seen.insert(facts(packet));
        }
    }
    let mut last = None;
    for (packet, verdict) in packets.iter().zip(verdicts.iter_mut()) {
        let facts = facts(packet);
        if *verdict == Verdict::Drop {
            if seen.contains(&facts) {
                *verdict = Verdict::Duplicate;
            }
            continue;
        }
        // Without a number, packets of one instant may be alike and yet be two.
        if last == Some(facts) && packet.sequence_number.is_some() {
            *verdict = Verdict::Duplicate;
        }
        last = Some(facts);
    }
}

/// The damage that a verdict stands for.
#[must_use]
pub fn damage_of(verdict: Verdict, packet: &PacketProperties, file_end: u64) -> Option<Damage> {
    let end = packet.offset.saturating_add(packet.total_bits / 8).min(file_end);
    let times = || match (packet.beginning, packet.end) {
        (Some(beginning), Some(end)) => format!("from {beginning} to {end}"),
        _ => "without times".to_owned(),
    };
    match verdict {
        Verdict::Keep => None,
        Verdict::KeepWithoutEnd => {
            let message =
                format!("packet {}: it ends after the beginning of the next packet", times());
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
