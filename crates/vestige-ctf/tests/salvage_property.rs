//! Nothing is invented, and nothing outside of the damaged packets is lost.
//!
//! Traces of known records are damaged at random, and every byte of the result remembers
//! where it comes from. A record that is read from bytes as the tracer wrote them must be
//! one that the tracer wrote, with its time, class and payload, and be read once. A record
//! that holds an altered byte, or a place where bytes were removed or inserted, is the one
//! exception: the format has no checksums. Packets whose bytes are all in place must give
//! all of their records.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;
#[path = "common/damaging.rs"]
mod damaging;
#[path = "common/recorded.rs"]
mod recorded;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use damaging::{damage, Damaged, Random};
use vestige_ctf::stream::DamageKind;

use recorded::{read_all, recording, Found, Header, Recorded, Recording};

const CASES: u64 = 4000;

/// What a case has shown.
#[derive(Debug, Default)]
struct Tally {
    cases: usize,
    damaged: usize,
    altered: usize,
    shifted: usize,
    salvaged: usize,
}

/// How the bytes of a record relate to those that the tracer wrote.
enum Origin {
    /// The same bytes in a row, from this offset on.
    Intact(usize),
    Altered,
}

fn origin(damaged: &Damaged, found: &Found) -> Origin {
    let bytes = &damaged.origins[found.bytes.clone()];
    match bytes[0] {
        Some(first) if bytes.iter().zip(first..).all(|(&at, expected)| at == Some(expected)) => {
            Origin::Intact(first)
        }
        _ => Origin::Altered,
    }
}

/// Checks one damaged trace.
fn check(recording: &Recording, damaged: &Damaged, tally: &mut Tally) {
    let result = read_all(recording, &damaged.bytes);
    let written: HashMap<usize, &Recorded> =
        recording.records.iter().map(|record| (record.bytes.start, record)).collect();
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    for found in &result.records {
        let Origin::Intact(at) = origin(damaged, found) else {
            tally.altered += 1;
            continue;
        };
        let same = written.get(&at).is_some_and(|record| record.matches(found));
        if same {
            *seen.entry(at).or_default() += 1;
            continue;
        }
        // Bytes that are missing in the last packet look as if the file were cut.
        let is_cut = damaged.has_moved && found.packet.end > damaged.bytes.len() as u64;
        let silent =
            is_cut || !result.damage.iter().any(|damage| found.packet.contains(&damage.start));
        assert!(
            recording.header == Header::Compact && silent,
            "{}: invented {found:?}, from byte {at}: {:?}\n{:?}",
            damaged.what,
            written.get(&at),
            result.damage,
        );
        tally.shifted += 1;
    }
    for (at, count) in &seen {
        assert_eq!(*count, 1, "{}: the record at {at} is given twice", damaged.what);
    }
    // Without a mark, packets are found by the size and the times of the first one only.
    let head = 0..recording.records[0].bytes.start;
    let can_be_found = recording.is_marked || (damaged.holds_whole(&head) && !damaged.has_moved);
    for packet in &recording.packets {
        if !can_be_found || !damaged.holds_whole(packet) {
            continue;
        }
        let lost = recording
            .records
            .iter()
            .filter(|record| packet.contains(&record.bytes.start))
            .filter(|record| !seen.contains_key(&record.bytes.start))
            .count();
        assert_eq!(
            lost, 0,
            "{}: records of the intact packet {packet:?} are lost\n{:?}",
            damaged.what, result.damage
        );
    }
    tally.cases += 1;
    tally.damaged += usize::from(!result.damage.is_empty());
    tally.salvaged += seen.len();
}

fn run(header: Header, is_marked: bool) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..CASES {
        let mut random = Random::new(seed * 4 + u64::from(is_marked) + 2 * header as u64);
        let recording = recording(header, is_marked, &mut random);
        let undamaged = Damaged::none(&recording.bytes);
        if seed == 0 {
            let mut whole = Tally::default();
            check(&recording, &undamaged, &mut whole);
            assert_eq!((whole.damaged, whole.salvaged), (0, recording.records.len()));
        }
        check(&recording, &damage(&recording, undamaged, &mut random), &mut tally);
    }
    println!("{header:?}, marked {is_marked}: {tally:?}");
    assert!(tally.damaged * 2 > tally.cases, "{tally:?}");
    tally
}

#[test]
fn whole_time_stamps() {
    assert_eq!(run(Header::Whole, true).shifted, 0);
}

#[test]
fn whole_time_stamps_without_magic_number_and_uuid() {
    assert_eq!(run(Header::Whole, false).shifted, 0);
}

#[test]
fn short_time_stamps() {
    // A reading that is shifted and yet ends where the packet ends is valid CTF.
    let tally = run(Header::Compact, true);
    assert!(tally.shifted * 500 < tally.salvaged, "{tally:?}");
}

#[test]
fn short_time_stamps_without_magic_number_and_uuid() {
    let tally = run(Header::Compact, false);
    assert!(tally.shifted * 500 < tally.salvaged, "{tally:?}");
}

#[test]
fn records_missing_between_others_make_no_wrong_times() {
    let mut tally = Tally::default();
    for seed in 0..1000 {
        let mut random = Random::new(seed);
        let recording = recording(Header::Compact, true, &mut random);
        let packet = &recording.packets[random.below(5) as usize];
        let inside: Vec<_> = recording
            .records
            .iter()
            .filter(|record| packet.contains(&record.bytes.start))
            .map(|record| record.bytes.start)
            .collect();
        let first = 1 + random.below(inside.len() as u64 / 2) as usize;
        let last = first + 1 + random.below((inside.len() - first - 1) as u64) as usize;
        let mut damaged = Damaged::none(&recording.bytes);
        damaged.remove(inside[first]..inside[last]);
        damaged.what = format!("removed records {first}..{last} of {packet:?}");
        check(&recording, &damaged, &mut tally);
    }
    assert_eq!((tally.damaged, tally.shifted), (1000, 0));
}

/// Where the facts of a packet header stand that have bytes of their own.
const FACTS: [(Range<usize>, DamageKind); 3] = [
    (0..4, DamageKind::BadMagic),
    (4..20, DamageKind::OtherUuid),
    (20..24, DamageKind::PacketHeader),
];

#[test]
fn one_wrong_fact_of_a_packet_header_costs_no_record() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let header = if seed % 2 == 0 { Header::Whole } else { Header::Compact };
        let recording = recording(header, true, &mut random);
        let packet = random.below(recording.packets.len() as u64) as usize;
        let start = recording.packets[packet].start;
        let (fact, kind) = FACTS[random.below(3) as usize].clone();
        let at = start + fact.start + random.below(fact.len() as u64) as usize;
        let mut bytes = recording.bytes.clone();
        bytes[at] ^= 1 << random.below(8);
        let found = read_all(&recording, &bytes);
        let what = format!("byte {at} of packet {packet}, seed {seed}");
        assert_eq!(found.records.len(), recording.records.len(), "{what}: {:?}", found.damage);
        for (record, written) in found.records.iter().zip(&recording.records) {
            assert!(written.matches(record), "{what}");
        }
        let damage: Vec<_> =
            found.damage.iter().map(|one| (one.kind, one.start, one.end)).collect();
        let own = (start + fact.start) as u64..(start + fact.end) as u64;
        assert_eq!(damage, [(kind, own.start, own.end)], "{what}");
        assert_eq!(found.damage[0].records, Some(0));
    }
}

#[test]
fn a_single_packet_with_a_wrong_magic_number_or_uuid_is_read() {
    for (fact, kind) in FACTS.into_iter().take(2) {
        let mut recording = recording(Header::Whole, true, &mut Random::new(1));
        recording.bytes.truncate(recording.packets[0].end);
        recording.records.retain(|record| record.bytes.start < recording.packets[0].end);
        recording.bytes[fact.start + 1] ^= 0x10;
        let found = read_all(&recording, &recording.bytes);
        assert_eq!(found.records.len(), recording.records.len());
        assert_eq!(found.damage.len(), 1);
        assert_eq!(found.damage[0].kind, kind);
    }
}

#[test]
fn a_uuid_that_is_wrong_in_all_packets_is_told_once() {
    let mut recording = recording(Header::Compact, true, &mut Random::new(7));
    for packet in &recording.packets {
        recording.bytes[packet.start + 4..packet.start + 20].fill(0x77);
    }
    let found = read_all(&recording, &recording.bytes);
    assert_eq!(found.records.len(), recording.records.len());
    let damage: Vec<_> = found.damage.iter().map(|one| (one.kind, one.start, one.end)).collect();
    assert_eq!(damage, [(DamageKind::OtherUuid, 4, 20)]);
    assert!(found.damage[0].message.starts_with("the packets have another UUID"));
}

#[test]
fn packets_behind_garbage_are_found_by_their_uuid_too() {
    let recording = recording(Header::Whole, true, &mut Random::new(3));
    let (before, behind) = (recording.packets[1].end, recording.packets[2].clone());
    let mut bytes = recording.bytes[..before].to_vec();
    bytes.extend([0xAB; 300]);
    bytes.extend(&recording.bytes[behind.start..]);
    bytes[before + 300] ^= 0xFF;
    let found = read_all(&recording, &bytes);
    assert_eq!(found.records.len(), recording.records.len(), "{:?}", found.damage);
    let kinds: Vec<_> = found.damage.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [DamageKind::Garbage, DamageKind::BadMagic]);
}
