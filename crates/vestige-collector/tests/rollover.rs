//! Files of a limited size and number: the newest packets stay, whoever is killed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::time::Duration;

use common::{next_collector, packets, plan, record_count, Folder, Packet, Program};
use vestige_collector::collector::Collector;
use vestige_collector::drain::Reach;
use vestige_collector::recording::Limits;
use vestige_collector::rollover::Rollover;
use vestige_collector::sys;
use vestige_collector::timers::Timers;

const PATIENCE: Duration = Duration::from_secs(5);
/// In a full chunk.
const RECORDS: usize = 488;

fn limited(folder: &Folder, file_bytes: u64, file_count: u32) -> Collector {
    let rollover = Rollover { file_bytes, file_count };
    made(folder, Limits { rollover, ..Limits::default() })
}

fn made(folder: &Folder, limits: Limits) -> Collector {
    let write = Box::new(sys::write_parts);
    let made = Collector::new(&folder.trace(), &folder.memory(), &plan(), limits, write).unwrap();
    made.recording().keep_ahead();
    made
}

fn file(folder: &Folder, number: u32) -> Vec<Packet> {
    packets(&folder.trace().join(format!("7-8_{number}")))
}

/// The numbers of the packets in each file.
fn numbers(folder: &Folder, files: u32) -> Vec<Vec<u64>> {
    let numbers_of = |all: Vec<Packet>| all.iter().map(|one| one.number).collect();
    (0..files).map(|number| numbers_of(file(folder, number))).collect()
}

#[test]
fn a_stream_goes_on_in_the_next_file() {
    let folder = Folder::new();
    let collector = limited(&folder, 8192, 0);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    for _ in 0..5 {
        thread.record(RECORDS);
        collector.recording().pass(0, Reach::Complete);
    }
    let outcome = collector.close(PATIENCE, false);

    assert_eq!(folder.names(), ["7-8_0", "7-8_1", "7-8_2", "metadata"]);
    assert_eq!(numbers(&folder, 3), [vec![0, 1], vec![2, 3], vec![4]]);
    assert_eq!(file(&folder, 2)[0].instance, file(&folder, 0)[0].instance);
    assert!(outcome.problems.is_empty() && outcome.failure.is_none());
    assert_eq!(outcome.streams, 1);
}

#[test]
fn the_oldest_file_makes_room() {
    let folder = Folder::new();
    let collector = limited(&folder, 4096, 3);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    for _ in 0..8 {
        thread.record(RECORDS);
        collector.recording().pass(0, Reach::Complete);
    }
    let outcome = collector.close(PATIENCE, false);

    assert_eq!(folder.names(), ["7-8_0", "7-8_1", "7-8_2", "metadata"]);
    assert_eq!(numbers(&folder, 3), [[6], [7], [5]]);
    assert!(outcome.problems.is_empty() && outcome.failure.is_none());
}

#[test]
fn who_reads_the_oldest_file_keeps_it() {
    let folder = Folder::new();
    let collector = limited(&folder, 4096, 1);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    let mut pass = || {
        thread.record(RECORDS);
        thread.switch();
        collector.recording().pass(0, Reach::Complete);
    };
    pass();
    let path = folder.trace().join("7-8_0");
    let reader = folder.0.join("reader");
    fs::hard_link(&path, &reader).unwrap();
    pass();

    assert_eq!(packets(&reader)[0].number, 0);
    assert_eq!(packets(&path)[0].number, 1);
}

#[test]
fn the_next_collector_goes_on_with_the_same_limits() {
    let folder = Folder::new();
    let collector = limited(&folder, 4096, 2);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(3 * RECORDS);
    thread.switch();
    collector.recording().pass(0, Reach::Complete);
    collector.hand_over();
    let next = next_collector(&folder);
    thread.record(2 * RECORDS);
    thread.switch();
    next.recording().pass(0, Reach::Complete);
    let outcome = next.close(PATIENCE, false);

    assert_eq!(numbers(&folder, 2), [[4], [3]]);
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    assert_eq!(outcome.streams, 0);
}

/// A collector is killed when it has noted a file, and not yet made it or not yet removed the one
/// before it.
///
/// Once in a thread, which has the robust mutex of its slot in its list also when the memory is gone.
fn kill_between_two_files(is_removed: bool) {
    let folder = Folder::new();
    let collector = limited(&folder, 4096, 1);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(RECORDS);
    thread.switch();
    collector.recording().pass(0, Reach::Complete);
    let recording = collector.recording();
    let mut noted = recording.arena.accounts().read(thread.slot);
    assert!(noted.file_bytes > 0);
    noted.file_bytes = 0;
    recording.arena.note(thread.slot, &noted);
    drop(recording);
    drop(collector);
    let path = folder.trace().join("7-8_0");
    if is_removed {
        fs::remove_file(&path).unwrap();
    }
    let next = next_collector(&folder);
    thread.record(RECORDS);
    thread.switch();
    next.recording().pass(0, Reach::Complete);
    let outcome = next.close(PATIENCE, false);

    assert!(!outcome.is_damaged, "{:?}", outcome.problems);
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    assert_eq!(numbers(&folder, 1), [[1]]);
}

#[test]
fn a_kill_before_the_older_file_is_removed_is_no_damage() {
    kill_between_two_files(false);
}

#[test]
fn a_kill_before_the_newer_file_is_made_is_no_damage() {
    kill_between_two_files(true);
}

#[test]
fn a_switch_timer_writes_what_is_not_full() {
    let (folder, slow_folder) = (Folder::new(), Folder::new());
    let timers = Timers { switch_ns: 1_000_000, ..Timers::default() };
    let collector = made(&folder, Limits { timers, ..Limits::default() });
    let slow = made(&slow_folder, Limits::default());
    let programs = [Program::of(&folder), Program::of(&slow_folder)];
    let mut threads = programs.each_ref().map(|program| program.thread(7, 8));
    let paths = [&folder, &slow_folder].map(|one| one.trace().join("7-8"));
    for round in 1..=20 {
        threads.iter_mut().for_each(|thread| thread.record(1));
        common::wait_until(|| {
            slow.recording().pass(0, Reach::Complete);
            collector.recording().pass(0, Reach::Complete);
            paths[0].exists() && record_count(&packets(&paths[0])) == round
        });
    }
    // Each round is a packet; without the timer, a packet is what a second has brought.
    let written = paths.map(|path| if path.exists() { packets(&path).len() } else { 0 });
    assert!(written[0] == 20 && written[1] < 20, "{written:?}");
}

#[test]
fn nobody_rings_where_there_is_a_read_timer() {
    let folder = Folder::new();
    let timers = Timers { read_ns: 1_000_000, ..Timers::default() };
    let collector = made(&folder, Limits { timers, ..Limits::default() });
    collector.start().unwrap();
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    let path = folder.trace().join("7-8");
    for round in 1..=5 {
        thread.record(RECORDS);
        thread.switch();
        common::wait_until(|| common::written_records(&path) >= round * RECORDS);
        assert_eq!(program.shared().asleep().load(std::sync::atomic::Ordering::SeqCst), 0);
    }
    collector.close(PATIENCE, false);
}
