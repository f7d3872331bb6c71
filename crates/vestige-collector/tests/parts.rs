//! Packets of several chunks: whole in a file, or not there at all.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{collector, packets, plan, run, Folder, Packet, Program, Thread};
use vestige_collector::drain::Reach;
use vestige_collector::layout::{CONTINUED, CONTINUES, RECORDS_AT};

const PATIENCE: Duration = Duration::from_secs(5);
/// Of 8 bytes, in a chunk.
const RECORDS: usize = (4096 - RECORDS_AT as usize) / 8;

/// Goes on to another chunk with these flags, and fills it.
fn fill(thread: &mut Thread<'_>, flags: u32, records: usize) {
    assert!(thread.switch());
    thread.program.chunk(thread.chunk).flags().store(flags, Ordering::Relaxed);
    for _ in 0..records {
        assert!(thread.put());
    }
}

fn found(folder: &Folder) -> Vec<Packet> {
    let path = folder.trace().join("7-8");
    if path.exists() {
        packets(&path)
    } else {
        Vec::new()
    }
}

fn counts(folder: &Folder) -> Vec<usize> {
    found(folder).iter().map(|one| one.records.len()).collect()
}

#[test]
fn parts_become_one_packet_when_the_last_is_complete() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    fill(&mut thread, 0, 3);
    fill(&mut thread, CONTINUES, RECORDS);
    fill(&mut thread, CONTINUED | CONTINUES, RECORDS);
    fill(&mut thread, CONTINUED, 5);

    collector.recording().pass(0, Reach::Complete);
    assert_eq!(counts(&folder), [3]);
    fill(&mut thread, 0, 2);
    collector.recording().pass(0, Reach::Complete);

    assert_eq!(counts(&folder), [3, 2 * RECORDS + 5]);
    let all = found(&folder);
    assert!(all[1].records.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(all[1].end, *all[1].records.last().unwrap());
    let outcome = collector.close(PATIENCE, false);
    assert_eq!(counts(&folder), [3, 2 * RECORDS + 5, 2]);
    assert!(outcome.problems.is_empty() && outcome.lost == 0);
}

#[test]
fn their_chunks_become_free() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);

    // Ten times what a ring holds.
    for _ in 0..plan().ring_chunks {
        for flags in
            std::iter::once(CONTINUES).chain([CONTINUED | CONTINUES; 7]).chain([CONTINUED, 0])
        {
            fill(&mut thread, flags, 1);
        }
        collector.recording().pass(0, Reach::Complete);
    }

    collector.close(PATIENCE, false);
    let expected = [9, 1].repeat(plan().ring_chunks as usize);
    assert_eq!(counts(&folder), expected);
}

#[test]
fn a_snapshot_does_not_take_parts() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    fill(&mut thread, CONTINUES, RECORDS);
    collector.recording().pass(0, Reach::Snapshot);
    fill(&mut thread, CONTINUED, 4);
    collector.recording().pass(0, Reach::Snapshot);
    assert_eq!(counts(&folder), [] as [usize; 0]);

    fill(&mut thread, 0, 1);
    collector.recording().pass(0, Reach::Snapshot);

    assert_eq!(counts(&folder), [RECORDS + 4, 1]);
}

#[test]
fn parts_that_do_not_match_are_left_out() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    fill(&mut thread, 0, 1);
    // The end of a record that has no beginning.
    fill(&mut thread, CONTINUED, 10);
    fill(&mut thread, 0, 2);
    // A beginning without an end.
    fill(&mut thread, CONTINUES, 10);
    fill(&mut thread, CONTINUED | CONTINUES, 10);
    fill(&mut thread, 0, 3);
    // An end in which nothing is.
    fill(&mut thread, CONTINUES, 10);
    fill(&mut thread, CONTINUED, 0);
    fill(&mut thread, 0, 4);
    fill(&mut thread, 0, 0);

    let outcome = collector.close(PATIENCE, false);

    assert_eq!(counts(&folder), [1, 2, 3, 4]);
    assert_eq!(outcome.problems, [] as [String; 0]);
}

#[test]
fn what_a_thread_had_begun_when_it_ended_is_left_out() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    run([|| {
        let mut thread = program.thread(7, 8);
        fill(&mut thread, 0, 1);
        fill(&mut thread, CONTINUES, RECORDS);
        fill(&mut thread, CONTINUED | CONTINUES, 7);
    }]);

    let outcome = collector.close(PATIENCE, false);

    assert_eq!((counts(&folder), outcome.lost), (vec![1], 0));
    assert!(outcome.running.is_empty() && outcome.is_drained);
}

#[test]
fn a_thread_that_ended_with_the_last_part_has_its_record() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    run([|| {
        let mut thread = program.thread(7, 8);
        fill(&mut thread, CONTINUES, RECORDS);
        fill(&mut thread, CONTINUED, 7);
    }]);

    collector.close(PATIENCE, false);

    assert_eq!(counts(&folder), [RECORDS + 7]);
}

#[test]
fn records_that_never_end_keep_no_more_than_a_ring() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    run([|| {
        let mut thread = program.thread(7, 8);
        for number in 0..plan().ring_chunks {
            fill(&mut thread, CONTINUES | if number > 0 { CONTINUED } else { 0 }, 1);
            collector.recording().pass(0, Reach::Complete);
        }
        // It has what it may have, until it ends.
        assert!(!thread.switch());
    }]);
    run([|| program.thread(7, 9).record(3 * RECORDS)]);

    let outcome = collector.close(PATIENCE, false);

    assert_eq!(counts(&folder), [] as [usize; 0]);
    let others = packets(&folder.trace().join("7-9"));
    assert_eq!(others.iter().map(|one| one.records.len()).sum::<usize>(), 3 * RECORDS);
    assert!(outcome.is_drained);
}

#[test]
fn each_part_is_bounded_by_its_chunk() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    for flags in [CONTINUES, CONTINUED | CONTINUES, CONTINUED] {
        fill(&mut thread, flags, 1);
        program.chunk(thread.chunk).committed().store(u32::MAX, Ordering::Relaxed);
    }
    fill(&mut thread, 0, 0);

    collector.close(PATIENCE, false);

    let length = std::fs::metadata(folder.trace().join("7-8")).unwrap().len();
    assert_eq!(length, 104 + 3 * (4096 - u64::from(RECORDS_AT)));
}
