//! Slots are there before threads need them, also where many threads come and go.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

mod common;

use common::{collector_of, plan, run, Folder, Program};
use vestige_collector::arena::Plan;
use vestige_collector::collector::Collector;
use vestige_collector::drain::Reach;

const MADE_FIRST: u32 = 640;

fn collector(folder: &Folder, slot_count: u32) -> Collector {
    collector_of(folder, &Plan { slot_count, ..plan() }, 0)
}

#[test]
fn more_are_made_before_all_are_taken() {
    let folder = Folder::new();
    let collector = collector(&folder, 4000);
    let program = Program::of(&folder);
    let recording = collector.recording();
    assert_eq!(recording.pool.slots_ready(), MADE_FIRST);

    // None of them is a thread's that the collector knows.
    for taken in 0..3000 {
        assert!(program.pop_slot().is_some(), "{taken}");
        recording.keep_ahead();
    }
}

#[test]
fn more_are_made_while_those_of_ended_threads_are_written() {
    let folder = Folder::new();
    let collector = collector(&folder, 4000);
    let program = Program::of(&folder);
    // In turn: each has ended when the next begins.
    for number in 0..MADE_FIRST - 20 {
        run([|| program.thread(1000 + number, 1000 + number).slot]);
    }
    let recording = collector.recording();
    assert_eq!(recording.pool.slots_ready(), MADE_FIRST);

    let found = recording.pass(0, Reach::Complete);

    assert_eq!(found.ended, MADE_FIRST - 20);
    assert!(recording.pool.slots_ready() > MADE_FIRST);
}

#[test]
fn there_are_no_more_than_the_arena_has_room_for() {
    let folder = Folder::new();
    let collector = collector(&folder, 1000);
    let program = Program::of(&folder);
    let recording = collector.recording();
    let mut taken = 0;
    while program.pop_slot().is_some() {
        taken += 1;
        recording.keep_ahead();
    }

    assert_eq!((taken, recording.pool.slots_ready()), (1000, 1000));
}
