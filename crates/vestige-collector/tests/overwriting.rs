//! Rings that overwrite: the newest packets are there, and how many are not is told.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::time::Duration;

use common::{packets_with_gaps, plan, record_count, run, wait_until, Folder, Packet, Program};
use vestige_collector::arena::Plan;
use vestige_collector::collector::{Collector, Outcome};
use vestige_collector::files::Write;
use vestige_collector::layout::{CONTINUED, CONTINUES};
use vestige_collector::recording::Limits;
use vestige_collector::sys;

const PATIENCE: Duration = Duration::from_secs(5);
/// What a packet has room for.
const RECORDS: usize = (4096 - 192) / 8;

/// Of the five chunks, one is with the collector.
fn overwriting() -> Plan {
    Plan { ring_chunks: 5, wait_ns: 0, rings_overwrite: true, ..plan() }
}

fn collector(folder: &Folder) -> Collector {
    collector_with(folder, Box::new(sys::write_parts))
}

fn collector_with(folder: &Folder, write: Box<Write>) -> Collector {
    let limits = Limits::default();
    let made =
        Collector::new(&folder.trace(), &folder.memory(), &overwriting(), limits, write).unwrap();
    made.recording().keep_ahead();
    made
}

/// A disk that may be full.
fn disk(is_full: &Arc<AtomicBool>) -> Box<Write> {
    let is_full = Arc::clone(is_full);
    Box::new(move |file, head, body, tail, at| {
        if is_full.load(Ordering::Relaxed) {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        sys::write_parts(file, head, body, tail, at)
    })
}

fn data(folder: &Folder) -> PathBuf {
    folder.trace().join("7-8")
}

/// Fails unless each packet was written or is counted, and the numbers tell where; the packets.
fn check(folder: &Folder, outcome: &Outcome, lost: u64) -> Vec<Packet> {
    assert_eq!((outcome.lost, outcome.problems.len()), (0, 0), "{outcome:?}");
    let found = packets_with_gaps(&data(folder));
    let all = found.last().unwrap().number + 1;
    assert_eq!((found.len() as u64 + lost, found[0].number), (all, 0));
    let records: Vec<u64> = found.iter().flat_map(|one| one.records.clone()).collect();
    assert!(records.windows(2).all(|pair| pair[0] < pair[1]));
    found
}

#[test]
fn the_newest_packets_are_there_when_nobody_has_read() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let last = run([|| {
        let mut thread = program.thread(7, 8);
        thread.record(20 * RECORDS);
        thread.clock
    }])[0];

    let outcome = collector.close(PATIENCE, false);

    // Nothing was written before: an empty packet comes first, so that readers see what is missing.
    assert_eq!(outcome.lost_packets, 16);
    let found = check(&folder, &outcome, 16);
    let counts: Vec<usize> = found.iter().map(|one| one.records.len()).collect();
    assert_eq!(counts, [0, RECORDS, RECORDS, RECORDS, RECORDS]);
    assert_eq!(found[1].number, 17);
    assert_eq!(found.last().unwrap().records.last(), Some(&last));
}

#[test]
fn nothing_is_given_up_that_has_room() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    run([|| program.thread(7, 8).record(4 * RECORDS)]);

    let outcome = collector.close(PATIENCE, false);

    assert_eq!(outcome.lost_packets, 0);
    assert_eq!(record_count(&check(&folder, &outcome, 0)), 4 * RECORDS);
}

#[test]
fn a_thread_that_is_faster_than_the_collector_never_waits() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    let program = Program::of(&folder);
    let last = run([|| {
        let mut thread = program.thread(7, 8);
        thread.record(2000 * RECORDS);
        thread.clock
    }])[0];

    let outcome = collector.close(PATIENCE, false);

    let found = check(&folder, &outcome, outcome.lost_packets);
    assert_eq!(found.last().unwrap().records.last(), Some(&last));
}

#[test]
fn what_is_there_is_read_while_the_thread_goes_on() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(10 * RECORDS + 3);
    let first = collector.hand_over();
    drop(collector);
    let next = common::next_collector(&folder);
    thread.record(RECORDS);
    let outcome = next.close(PATIENCE, false);

    assert_eq!((first.lost_packets, outcome.lost_packets), (7, 0));
    let found = check(&folder, &outcome, 7);
    assert_eq!(record_count(&found), 4 * RECORDS + 3);
}

#[test]
fn a_packet_that_was_written_in_part_counts_once_if_the_rest_is_given_up() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(5);
    collector.hand_over();
    drop(collector);
    let next = common::next_collector(&folder);
    thread.record(10 * RECORDS - 5);
    let outcome = next.close(PATIENCE, false);

    assert_eq!(outcome.lost_packets, 6);
    let found = check(&folder, &outcome, 6);
    assert_eq!(record_count(&found), 5 + 4 * RECORDS);
}

#[test]
fn what_the_collector_has_taken_is_not_given_up() {
    let folder = Folder::new();
    let is_full = Arc::new(AtomicBool::new(true));
    let collector = collector_with(&folder, disk(&is_full));
    collector.start().unwrap();
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(2 * RECORDS);
    wait_until(|| collector.progress().failure.is_some());
    thread.record(50 * RECORDS);
    is_full.store(false, Ordering::Relaxed);

    let outcome = collector.close(PATIENCE, false);

    let found = check(&folder, &outcome, 47);
    assert_eq!(outcome.lost_packets, 47);
    assert_eq!(found[0].records[0], 1002);
}

#[test]
fn what_a_collector_had_taken_is_written_by_the_next() {
    let folder = Folder::new();
    let is_full = Arc::new(AtomicBool::new(true));
    let collector = collector_with(&folder, disk(&is_full));
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(2 * RECORDS);
    // As far as taking it, but not to a file.
    collector.hand_over();
    drop(collector);
    thread.record(50 * RECORDS);

    let outcome = common::next_collector(&folder).close(PATIENCE, false);

    let found = check(&folder, &outcome, 47);
    assert_eq!(outcome.lost_packets, 47);
    assert_eq!(found[0].records[0], 1002);
}

#[test]
fn a_long_record_is_there_as_a_whole_or_counts_as_lost() {
    for rounds in 1..8 {
        let folder = Folder::new();
        let collector = collector(&folder);
        let program = Program::of(&folder);
        run([|| {
            let mut thread = program.thread(7, 8);
            thread.record(RECORDS);
            for round in 0..rounds {
                let flags = match round {
                    0 => CONTINUES,
                    1 => CONTINUED,
                    _ => 0,
                };
                thread.record(1);
                program.chunk(thread.chunk).flags().store(flags, Ordering::Relaxed);
                thread.record(RECORDS - 1);
            }
        }]);
        let outcome = collector.close(PATIENCE, false);
        let found = check(&folder, &outcome, outcome.lost_packets);
        let chunks: Vec<usize> = found.iter().map(|one| one.records.len() / RECORDS).collect();
        let expected: &[usize] = match rounds {
            // Its second part is not there.
            1 => &[1, 0],
            2 => &[1, 2],
            3 => &[1, 2, 1],
            4 => &[0, 2, 1, 1],
            5 => &[0, 0, 1, 1, 1],
            _ => &[0, 1, 1, 1, 1],
        };
        assert_eq!(chunks, expected, "{rounds}");
    }
}

#[test]
fn nonsense_is_reported() {
    for gone in [3, 1 << 40, u64::MAX] {
        let folder = Folder::new();
        let collector = collector(&folder);
        let program = Program::of(&folder);
        // Each time another thread: the kernel has a list of what it holds.
        let outcome = run([|| {
            let mut thread = program.thread(7, 8);
            thread.record(2 * RECORDS);
            thread.place().gone().store(gone, Ordering::Relaxed);
            collector.close(PATIENCE, false)
        }]);

        assert!(outcome[0].is_damaged, "{gone} {outcome:?}");
    }
}

#[test]
fn a_snapshot_has_chunks_since_a_clear_as_wholes() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(9);
    collector.clear().unwrap();
    // In the chunk that was cleared, and in the next one, with less in it than was cleared.
    thread.record(RECORDS - 9 + 5);
    let place = folder.0.join("snapshot");
    fs::create_dir(&place).unwrap();
    collector.snapshot(&place, usize::MAX).unwrap();

    let found = packets_with_gaps(&place.join("7-8"));
    let counts: Vec<usize> = found.iter().map(|one| one.records.len()).collect();
    assert_eq!(counts, [RECORDS - 9, 5]);
}
