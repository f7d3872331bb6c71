//! Losses that the counters in packet contexts tell.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{read, BitWriter, HEAD};
use vestige_ctf::model::ByteOrder::Little;
use vestige_ctf::stream::{Lost, LostKind};

fn metadata(context: &str) -> String {
    format!(
        "{HEAD}stream {{ packet.context := struct {{ u16 packet_size; {context} }}; \
           event.header := struct {{ time timestamp; }}; }};\nevent {{ name = e; }};"
    )
}

/// A packet with one record: beginning, end, discarded records, sequence number.
fn packet(begin: i64, end: i64, discarded: i64, sequence: i64) -> Vec<u8> {
    let size = 8 * (2 + 8 * 5);
    let writer = BitWriter::new(Little).put(size, 16).put(begin, 64).put(end, 64);
    writer.put(discarded, 64).put(sequence, 64).put(begin, 64).bytes()
}

fn lost(kind: LostKind, count: Option<u64>, begin: u64, end: u64) -> Lost {
    Lost { kind, count, beginning: Some(begin), end: Some(end) }
}

const TIMED: &str =
    "time timestamp_begin; time timestamp_end; u64 events_discarded; u64 packet_seq_num;";

#[test]
fn counters_that_stand_still_tell_of_no_loss() {
    let packets = [packet(10, 20, 0, 0), packet(30, 40, 0, 1)].concat();
    let outcome = read(&metadata(TIMED), &[packets]);
    assert_eq!(outcome.lost, []);
    assert_eq!(outcome.times(), [10, 30]);
}

#[test]
fn losses_lie_between_the_packets_that_reveal_them() {
    let packets = [packet(10, 20, 5, 7), packet(30, 40, 9, 8), packet(50, 60, 9, 12)].concat();
    let outcome = read(&metadata(TIMED), &[packets]);
    let expected = [
        lost(LostKind::Events, None, 10, 20),
        lost(LostKind::Events, Some(4), 20, 40),
        lost(LostKind::Packets, Some(3), 40, 50),
    ];
    assert_eq!(outcome.lost, expected);
    assert_eq!(outcome.damage, []);
}

#[test]
fn a_counter_that_wraps_counts_on() {
    let packets = [packet(10, 20, 0, -2), packet(30, 40, 0, 1)].concat();
    let outcome = read(&metadata(TIMED), &[packets]);
    assert_eq!(outcome.lost, [lost(LostKind::Packets, Some(2), 20, 30)]);
}

#[test]
fn without_times_of_packets_a_loss_has_none() {
    let context = "u64 a; u64 b; u64 events_discarded; u64 packet_seq_num;";
    let packets = [packet(10, 20, 0, 0), packet(30, 40, 3, 1)].concat();
    let outcome = read(&metadata(context), &[packets]);
    let expected = Lost { kind: LostKind::Events, count: Some(3), beginning: None, end: None };
    assert_eq!(outcome.lost, [expected]);
}
