//! Programs that are not recorded, as processes tell of them, truthfully or not.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests may panic")]

mod common;

use std::mem::offset_of;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{collector, Folder};
use vestige_collector::arena::Arena;
use vestige_collector::layout;
use vestige_collector::unreached::{AllUnreached, Unreached};

const STATIC: u32 = 2;
const WITHDRAWN: u32 = 0;

fn program(process: u32, reason: u32, name: &str) -> Unreached {
    Unreached { process, parent: 0, pid_namespace: 5, reason, name: name.to_owned() }
}

/// Writes an entry as the tracer does; the number may be a wrong one.
fn write(arena: &Arena, place: u32, number: u32, one: &Unreached) {
    let entry = arena.geometry().shared_at
        + offset_of!(layout::Shared, unreached) as u64
        + u64::from(place % 32) * size_of::<layout::Unreached>() as u64;
    let memory = arena.memory();
    let mut name = [0; 64];
    name[..one.name.len()].copy_from_slice(one.name.as_bytes());
    memory.u32(entry + 4).store(one.reason, Ordering::Relaxed);
    memory.u32(entry + 8).store(one.process, Ordering::Relaxed);
    memory.u32(entry + 12).store(one.parent, Ordering::Relaxed);
    memory.u64(entry + 16).store(one.pid_namespace, Ordering::Relaxed);
    memory.write(entry + 24, &name);
    memory.u32(entry).store(number, Ordering::Release);
}

fn tell(arena: &Arena, one: &Unreached) {
    let before = arena.shared().unreached_count().fetch_add(1, Ordering::AcqRel);
    write(arena, before, before + 1, one);
}

#[test]
fn what_is_told_is_in_the_outcome() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    let one = program(7, STATIC, &"x".repeat(64));
    tell(&collector.recording().arena, &one);
    let outcome = collector.close(Duration::ZERO, false);

    assert_eq!(outcome.unreached, [one]);
    assert_eq!(outcome.more_unreached, 0);
}

#[test]
fn what_is_withdrawn_is_not() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let arena = &collector.recording().arena;
    let (first, other) = (program(7, STATIC, "first"), program(8, STATIC, "other"));
    for one in [&first, &other, &program(7, STATIC, "late"), &program(7, WITHDRAWN, "late")] {
        tell(arena, one);
    }
    let outcome = collector.close(Duration::ZERO, false);

    assert_eq!(outcome.unreached, [first, other]);
    assert_eq!(outcome.more_unreached, 0);
}

#[test]
fn of_many_some_are_kept_and_all_are_counted() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let recording = collector.recording();
    let (mut all, mut seen) = (AllUnreached::default(), 0);
    for number in 0..250 {
        tell(&recording.arena, &program(number + 1, STATIC, "app"));
        all.read(&recording.arena, &mut seen);
    }

    assert_eq!((all.kept.len(), all.more, seen), (100, 150, 250));
}

#[test]
fn those_that_were_written_over_are_counted() {
    let folder = Folder::new();
    let collector = collector(&folder);
    for number in 0..40 {
        tell(&collector.recording().arena, &program(number + 1, STATIC, "app"));
    }
    let outcome = collector.close(Duration::ZERO, false);

    assert_eq!(outcome.unreached.len(), 32);
    assert_eq!(outcome.unreached[0].process, 9);
    assert_eq!(outcome.more_unreached, 8);
}

#[test]
fn a_process_that_was_killed_while_it_told_is_counted() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let arena = &collector.recording().arena;
    arena.shared().unreached_count().fetch_add(1, Ordering::AcqRel);
    tell(arena, &program(9, STATIC, "after"));
    let (mut all, mut seen) = (AllUnreached::default(), 0);
    all.read(arena, &mut seen);
    assert_eq!((all.kept.len(), seen), (0, 0));
    let outcome = collector.close(Duration::ZERO, false);

    assert_eq!(outcome.unreached, [program(9, STATIC, "after")]);
    assert_eq!(outcome.more_unreached, 1);
}

#[test]
fn a_hostile_program_makes_neither_work_nor_memory() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let arena = &collector.recording().arena;
    let (mut all, mut seen) = (AllUnreached::default(), 0);
    // A count that jumps, entries with the right numbers in wrong places, names without a text.
    for count in [u32::MAX, 3, 0x8000_0000, 2, 1, u32::MAX - 1] {
        arena.shared().unreached_count().store(count, Ordering::Release);
        for place in 0..32 {
            write(arena, place, count.wrapping_sub(place), &program(place, 77, "\u{1b}[2J"));
        }
        all.read(arena, &mut seen);
        all.read_rest(arena, &mut seen);
        assert_eq!(seen, count);
        assert!(all.kept.len() <= 100);
    }
}
