//! Programs that write what they like into what they share: no panic, no harm, no end.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs::OpenOptions;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{
    collector, collector_of, packets, plan, record_count, trace, wait_until, Folder, Program,
};
use vestige_collector::drain::Reach;
use vestige_collector::layout::CLASS_BYTES;
use vestige_collector::sys;

const PATIENCE: Duration = Duration::from_secs(5);

/// Numbers that look random, the same ones each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number that is often one that makes sense somewhere.
    fn value(&mut self) -> u64 {
        match self.next() % 4 {
            0 => self.next(),
            1 => self.next() % 300,
            2 => ((self.next() % 40) << 32) | (self.next() % 300),
            _ => 0,
        }
    }
}

#[test]
fn garbage_everywhere_hurts_nobody() {
    for seed in 1..=6 {
        let folder = Folder::new();
        let collector = collector(&folder);
        collector.start().unwrap();
        let program = Program::of(&folder);
        let from = program.geometry.shared_at;
        let is_over = AtomicBool::new(false);
        let started = Instant::now();
        thread::scope(|scope| {
            for number in 1..=2 {
                let (program, is_over) = (&program, &is_over);
                scope.spawn(move || {
                    let mut random = Random(seed * 1000 + number);
                    let ends = [from + 400, program.geometry.slots_at + 40 * 512];
                    while !is_over.load(Ordering::Relaxed) {
                        let (first, last) = match random.next() % 4 {
                            0 => (from, ends[0]),
                            1 => (program.geometry.slots_at, ends[1]),
                            2 => (program.geometry.classes_at, program.geometry.classes_at + 4096),
                            _ => (program.geometry.chunks_at, program.chunk_at(64)),
                        };
                        let place = first + random.next() % (last - first) / 8 * 8;
                        // Heads of chunks rather than their records.
                        let place = if place >= program.geometry.chunks_at {
                            place / 4096 * 4096 + random.next() % 24 * 8
                        } else {
                            place
                        };
                        let value = random.value();
                        program.memory.u64(place).store(value, Ordering::Relaxed);
                    }
                });
            }
            for _ in 0..2000 {
                collector.recording().pass(0, Reach::Complete);
                collector.live_slots();
            }
            is_over.store(true, Ordering::Relaxed);
        });

        let outcome = collector.close(Duration::from_millis(100), false);

        let panics = outcome.problems.iter().filter(|one| one.contains("ended by itself"));
        assert_eq!(panics.count(), 0);
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    }
}

#[test]
fn a_damaged_ring_leaves_others_alone() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut good = program.thread(7, 8);
    let mut bad = program.thread(7, 9);
    good.record(1500);
    bad.record(1500);
    // It points at a chunk of the other one.
    program.chunk(bad.chunk).prev().store(good.chunk, Ordering::Relaxed);

    let outcome = collector.close(PATIENCE, false);

    assert_eq!(record_count(&packets(&folder.trace().join("7-8"))), 1500);
    assert_eq!(outcome.problems.len(), 1);
    assert!(outcome.problems[0].contains("thread 9 of process 7"), "{:?}", outcome.problems);
}

#[test]
fn numbers_out_of_range_are_not_followed() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let thread = program.thread(7, 8);
    for cur in [1 << 32 | 9999, u64::MAX, 5 << 32, 3 << 32 | 1, 1_000_000 << 32 | 1] {
        thread.place().cur().store(cur, Ordering::Relaxed);
        collector.recording().pass(0, Reach::Snapshot);
    }

    assert_eq!(trace(&folder).len(), 0);
}

#[test]
fn what_is_committed_is_bounded_by_the_chunk() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(1);
    let chunk = program.chunk(thread.chunk);
    chunk.committed().store(u32::MAX, Ordering::Relaxed);

    collector.close(PATIENCE, false);

    let length = std::fs::metadata(folder.trace().join("7-8")).unwrap().len();
    assert_eq!(length, 104 + 4096 - 192);
}

#[test]
fn an_arena_that_is_truncated_ends_nobody() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    {
        let program = Program::of(&folder);
        let mut thread = program.thread(7, 8);
        thread.record(3000);
        wait_until(|| collector.progress().packets >= 6);
    }
    let arena = folder.arena().unwrap();
    OpenOptions::new().write(true).open(&arena).unwrap().set_len(0).unwrap();

    let outcome = collector.close(Duration::from_millis(200), false);

    assert!(outcome.problems.iter().any(|one| one.contains("took memory")), "{outcome:?}");
    assert!(record_count(&packets(&folder.trace().join("7-8"))) >= 6 * 488);
}

#[test]
fn more_losses_than_there_can_be_are_damage() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(1);
    program.shared().lost().store(u64::MAX / 3, Ordering::Relaxed);
    thread.place().lost().store(u64::MAX - 1, Ordering::Relaxed);
    let arena = folder.arena().unwrap();

    let outcome = collector.close(PATIENCE, false);

    assert_eq!((outcome.lost, outcome.packets), (0, 1));
    let damage = "the arena is damaged: it counts more lost events than there can be";
    assert_eq!(outcome.problems, [format!("{}: {damage}", arena.display())]);
}

#[test]
fn what_differs_in_numbers_only_is_not_told_again_and_again() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    for process in 0..90_u32 {
        program.register_text("nonsense");
        let entry = program.geometry.classes_at + u64::from(process) * CLASS_BYTES;
        program.memory.u32(entry + 24).store(1000 + process, Ordering::Relaxed);
        thread.record(1);
        collector.recording().pass(0, Reach::Snapshot);
    }

    let outcome = collector.close(PATIENCE, false);

    let (last, others) = outcome.problems.split_last().unwrap();
    assert_eq!(others.len(), 8, "{:?}", outcome.problems);
    assert!(last.starts_with("and 82 times the like: process N of user N "), "{last}");
}

#[test]
fn records_whose_pages_were_taken_away_are_told() {
    let folder = Folder::new();
    let mut plan = plan();
    plan.chunk_bytes = 65536;
    let collector = collector_of(&folder, &plan, 0);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(6000);
    let first = program.chunk_at(thread.chunk);
    thread.record(20_000);
    let arena = OpenOptions::new().write(true).open(folder.arena().unwrap()).unwrap();
    // What another program may do, in the chunk that was the present one.
    sys::take_blocks(&arena, first + 8192, 8192).unwrap();

    let outcome = collector.close(Duration::ZERO, false);

    assert!(outcome.is_damaged);
    assert_eq!(outcome.lost, 1);
    let told = "records are lost, which count as one event: a program took away memory";
    assert!(outcome.problems.iter().any(|one| one.contains(told)), "{:?}", outcome.problems);
}

#[test]
fn records_that_somebody_takes_back_are_told() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(100);
    let first = program.chunk(thread.chunk);
    let committed = first.committed().load(Ordering::Relaxed);
    assert!(thread.switch());
    program.chunk(thread.chunk).before().store(committed, Ordering::Relaxed);
    first.committed().store(committed - 80, Ordering::Relaxed);

    let outcome = collector.close(Duration::ZERO, false);

    assert!(outcome.is_damaged);
    assert_eq!(outcome.lost, 1);
    let told = "records are lost, which count as one event: a program changed memory";
    assert!(outcome.problems.iter().any(|one| one.contains(told)), "{:?}", outcome.problems);
}

#[test]
fn threads_are_found_whatever_a_program_says_of_how_many_there_are() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    assert!(thread.slot > 2, "the slots before it count as well");
    thread.record(1000);
    program.shared().slots_high().store(0, Ordering::Relaxed);

    collector.close(Duration::ZERO, false);

    assert_eq!(trace(&folder).values().map(|one| record_count(one)).sum::<usize>(), 1000);
}

#[test]
fn a_thread_whose_slot_is_wiped_is_told() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(1000);
    collector.recording().pass(0, Reach::Snapshot);
    thread.record(1000);
    // As when another program takes its pages away.
    program.slot(thread.slot).claimed().store(0, Ordering::Relaxed);
    program.shared().slots_high().store(0, Ordering::Relaxed);

    let outcome = collector.close(Duration::ZERO, false);

    assert!(outcome.is_damaged);
    let told = "thread 8 of process 7: its part of the arena is damaged";
    assert!(outcome.problems.iter().any(|one| one.contains(told)), "{:?}", outcome.problems);
}
