//! Recordings that are watched while they are made: what is told is in files.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{next_collector, packets, plan, record_count, Folder, Program};
use vestige_collector::collector::Collector;
use vestige_collector::layout::CONTINUES;
use vestige_collector::live::{BYTES, MAGIC, NAME};
use vestige_collector::recording::Limits;
use vestige_collector::sys;
use vestige_collector::timers::Timers;

const PATIENCE: Duration = Duration::from_secs(5);

fn live(folder: &Folder, live_ns: u64) -> Collector {
    let limits = Limits { timers: Timers { live_ns, ..Timers::default() }, ..Limits::default() };
    let write = Box::new(sys::write_parts);
    let made = Collector::new(&folder.trace(), &folder.memory(), &plan(), limits, write).unwrap();
    made.recording().keep_ahead();
    made
}

/// Until when all is in files, as the file tells; nothing before it has been written once.
fn told(directory: &Path) -> Option<u64> {
    let bytes = fs::read(directory.join(NAME)).ok().filter(|bytes| !bytes.is_empty())?;
    assert_eq!((bytes.len(), &bytes[..8]), (BYTES, &MAGIC[..]));
    let word = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap());
    assert_eq!(word(8), !word(16));
    Some(word(8))
}

#[test]
fn what_is_told_is_in_files() {
    let folder = Folder::new();
    let collector = live(&folder, u64::MAX);
    let program = Program::of(&folder);
    let mut threads = [program.thread(7, 8), program.thread(7, 9)];
    let counts = |name| record_count(&packets(&folder.trace().join(name)));
    for round in 1..=3 {
        // Some fill chunks, and some do not.
        threads[0].record(1000);
        threads[1].record(1);
        let time = threads[0].clock.max(threads[1].clock) + 1;
        threads.iter_mut().for_each(|thread| thread.clock = time);
        collector.arenas().show(time);
        assert_eq!(told(&folder.trace()), Some(time));
        assert_eq!((counts("7-8"), counts("7-9")), (1000 * round, round));
    }
}

#[test]
fn who_has_not_completed_a_record_holds_the_time_back() {
    let folder = Folder::new();
    let collector = live(&folder, u64::MAX);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(1);
    collector.arenas().show(collector.now());
    let first = told(&folder.trace());
    thread.record(1);
    let chunk = thread.place().cur().load(Ordering::Relaxed) as u32;
    program.chunk(chunk).flags().store(CONTINUES, Ordering::Relaxed);
    collector.arenas().show(collector.now());
    assert_eq!(told(&folder.trace()), first);
    program.chunk(chunk).flags().store(0, Ordering::Relaxed);
    collector.arenas().show(collector.now());
    assert!(told(&folder.trace()) > first);
}

#[test]
fn no_packet_begins_before_what_was_told() {
    let folder = Folder::new();
    let collector = live(&folder, u64::MAX);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(1);
    let time = thread.clock + 100;
    collector.arenas().show(time);
    thread.clock = time;
    thread.record(1);
    collector.arenas().show(time + 100);
    let begins: Vec<u64> =
        packets(&folder.trace().join("7-8")).iter().map(|packet| packet.begin).collect();
    assert!(begins[0] < time && begins[1] >= time, "{begins:?}");
}

#[test]
fn it_is_told_each_period_and_whoever_collects() {
    let folder = Folder::new();
    let collector = live(&folder, 1_000_000);
    collector.start().unwrap();
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    let path = folder.trace().join("7-8");
    let grows = |round: usize| {
        let before = told(&folder.trace());
        common::wait_until(|| told(&folder.trace()) > before);
        common::wait_until(|| path.exists() && record_count(&packets(&path)) == round);
    };
    for round in 1..=2 {
        thread.clock = collector.now();
        thread.record(1);
        grows(round);
    }
    collector.hand_over();
    let collector = next_collector(&folder);
    collector.start().unwrap();
    thread.clock = collector.now();
    thread.record(1);
    grows(3);
    collector.close(PATIENCE, false);
    assert_eq!(told(&folder.trace()), None);
}

#[test]
fn it_goes_with_the_chunk_that_is_written() {
    let folder = Folder::new();
    let collector = live(&folder, u64::MAX);
    collector.arenas().show(collector.now());
    let moved = folder.0.join("moved");
    fs::rename(folder.trace(), &moved).unwrap();
    fs::create_dir(folder.trace()).unwrap();
    collector.cut(&folder.trace()).unwrap();
    collector.arenas().show(collector.now());
    assert_eq!(told(&moved), None);
    assert!(told(&folder.trace()).is_some());
}
