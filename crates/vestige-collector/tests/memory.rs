//! How much memory chunks take, and when it is given back.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;
use std::sync::Barrier;
use std::time::Duration;

use common::{collector_of, next_collector, plan, record_count, run, trace, Folder, Program};
use vestige_collector::arena::Plan;
use vestige_collector::pool::NOBODY;
use vestige_collector::recording::Recording;

/// Four rings of 16 chunks, and those that are free ahead of need.
const USEFUL: usize = 4 * 16 + 32;

fn roomy() -> Plan {
    Plan { chunk_count: 1024, ..plan() }
}

/// Takes chunks until there is none.
fn take_all(recording: &Recording, program: &Program) -> Vec<u32> {
    take(recording, program, || ())
}

/// As `take_all`, from a disk that is slow.
fn take_more(recording: &Recording, program: &Program) -> Vec<u32> {
    take(recording, program, || recording.trace.set_slow())
}

fn take(recording: &Recording, program: &Program, before: impl Fn()) -> Vec<u32> {
    let mut taken = Vec::new();
    loop {
        before();
        recording.keep_ahead();
        match program.pop_chunk() {
            Some(chunk) => taken.push(chunk),
            None => return taken,
        }
    }
}

fn give_all(recording: &Recording, chunks: &[u32]) {
    for chunk in chunks {
        recording.stock().free_chunk(&recording.pool, &recording.arena, *chunk, NOBODY);
    }
}

fn blocks(folder: &Folder) -> u64 {
    fs::metadata(folder.arena().unwrap()).unwrap().blocks() * 512
}

#[test]
fn threads_that_wait_have_no_more_chunks_than_are_of_use() {
    let folder = Folder::new();
    let collector = collector_of(&folder, &roomy(), 0);

    assert_eq!(take_all(&collector.recording(), &Program::of(&folder)).len(), USEFUL);
}

#[test]
fn each_thread_finds_a_chunk_while_all_others_keep_theirs() {
    const THREADS: u32 = 150;
    let folder = Folder::new();
    let few = Plan { chunk_count: 64 + 200, thread_chunks: 200, ring_chunks: 2, ..plan() };
    let collector = collector_of(&folder, &few, 0);
    collector.start().unwrap();
    let program = Program::of(&folder);
    let all = Barrier::new(THREADS as usize);

    run((0..THREADS).map(|number| {
        let (program, all) = (&program, &all);
        move || {
            program.thread(7, 8 + number).record(10);
            all.wait();
        }
    }));

    let outcome = collector.close(Duration::from_secs(5), false);
    assert_eq!((outcome.lost, outcome.problems), (0, vec![]));
    assert_eq!(trace(&folder).values().map(|one| record_count(one)).sum::<usize>(), 1500);
}

#[test]
fn memory_for_chunks_of_threads_is_there_for_as_many_as_there_are() {
    let folder = Folder::new();
    let some = Plan { chunk_count: 64 + 200, thread_chunks: 200, wait_ns: 0, ..plan() };
    let collector = collector_of(&folder, &some, 0);
    let program = Program::of(&folder);
    let first = take_all(&collector.recording(), &program);
    let _threads: Vec<_> = (0..20).map(|_| program.pop_slot().unwrap()).collect();
    program.shared().slots_high().store(20, Ordering::Relaxed);

    assert_eq!(first.len(), 64);
    assert_eq!(take_all(&collector.recording(), &program).len(), 20);
}

#[test]
fn threads_that_do_not_wait_have_all() {
    let folder = Folder::new();
    let collector = collector_of(&folder, &Plan { wait_ns: 0, ..roomy() }, 0);

    assert_eq!(take_all(&collector.recording(), &Program::of(&folder)).len(), 1024);
}

#[test]
fn a_slow_disk_lets_threads_have_all() {
    let folder = Folder::new();
    let collector = collector_of(&folder, &roomy(), 0);

    assert_eq!(take_more(&collector.recording(), &Program::of(&folder)).len(), 1024);
}

#[test]
fn memory_that_is_not_needed_is_given_back_and_can_be_had_again() {
    let folder = Folder::new();
    let plan = Plan { chunk_bytes: 16_384, ..roomy() };
    let collector = collector_of(&folder, &plan, 0);
    let (recording, program) = (collector.recording(), Program::of(&folder));
    let before = blocks(&folder);
    let taken = take_more(&recording, &program);
    let most = blocks(&folder);
    assert!(most >= before + 900 * 16_384, "{most}");

    give_all(&recording, &taken);
    for _ in 0..taken.len() {
        recording.give_memory_back();
    }

    let after = blocks(&folder);
    // A page of each stays.
    assert!(after <= before + 1024 * 4096 + 64 * 16_384, "{before} {after}");
    assert_eq!(take_more(&recording, &program).len(), 1024);
    assert!(blocks(&folder) >= most);
}

#[test]
fn who_takes_over_has_the_chunks_without_memory() {
    let folder = Folder::new();
    let first = collector_of(&folder, &Plan { chunk_bytes: 8192, ..roomy() }, 0);
    let (recording, program) = (first.recording(), Program::of(&folder));
    give_all(&recording, &take_more(&recording, &program));
    for _ in 0..1024 {
        recording.give_memory_back();
    }
    first.start().unwrap();
    first.hand_over();

    let second = next_collector(&folder);

    let taken = take_all(&second.recording(), &program);
    assert_eq!(taken.len(), USEFUL);
    give_all(&second.recording(), &taken);
    second.start().unwrap();
    run([|| program.thread(7, 8).record(100_000)]);
    let outcome = second.close(Duration::from_secs(5), false);
    assert_eq!((outcome.lost, outcome.problems), (0, vec![]));
    assert_eq!(record_count(trace(&folder).get("7-8").unwrap()), 100_000);
}

#[test]
fn programs_that_are_expected_find_memory_at_once() {
    let folder = Folder::new();
    let collector = collector_of(&folder, &Plan { wait_ns: 0, ..roomy() }, 0);
    let program = Program::of(&folder);
    collector.expect(100);

    let mut chunks = 0;
    while program.pop_chunk().is_some() {
        chunks += 1;
    }
    assert!(chunks >= 2 * 100, "{chunks}");
}

#[test]
fn no_more_programs_are_expected_than_have_room() {
    let folder = Folder::new();
    let collector = collector_of(&folder, &Plan { wait_ns: 0, ..roomy() }, 0);
    let program = Program::of(&folder);
    collector.expect(u32::MAX);

    let mut chunks = 0;
    while program.pop_chunk().is_some() {
        chunks += 1;
    }
    assert!((512..1024).contains(&chunks), "{chunks}");
}
