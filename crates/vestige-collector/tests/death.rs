//! Threads and processes that end at any place: what they committed is in files.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::env;
use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::Duration;

use common::{collector, packets, record_count, run, trace, wait_until, Folder, Program};

const PATIENCE: Duration = Duration::from_secs(5);
const ARENA: &str = "VESTIGE_TEST_ARENA";

/// This test program again, as a process that records until it is killed.
fn program(folder: &Folder, role: &str) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args([role, "--exact", "--ignored"]).env(ARENA, folder.arena().unwrap());
    command.stdout(std::process::Stdio::null()).spawn().unwrap()
}

#[test]
#[ignore = "a process that others start"]
fn records_until_it_is_killed() {
    let Some(arena) = env::var_os(ARENA) else { return };
    let program = Program::open(&PathBuf::from(arena));
    run((1..=3).map(|number| {
        let program = &program;
        move || program.thread(50, 50 + number).record(usize::MAX)
    }));
}

#[test]
fn a_killed_process_leaves_whole_packets() {
    for round in 0..5 {
        let folder = Folder::new();
        let collector = collector(&folder);
        collector.start().unwrap();
        let mut child = program(&folder, "records_until_it_is_killed");
        wait_until(|| collector.progress().streams == 3);
        wait_until(|| collector.progress().packets > 20 + round * 100);
        child.kill().unwrap();
        child.wait().unwrap();

        let outcome = collector.close(PATIENCE, false);

        assert!(outcome.is_drained && outcome.running.is_empty());
        assert_eq!((outcome.streams, outcome.problems), (3, vec![]));
        for (name, packets) in trace(&folder) {
            let times: Vec<u64> = packets.iter().flat_map(|one| one.records.clone()).collect();
            // Each record and each switch takes one step of the clock.
            let steps = times[times.len() - 1] - 1000;
            assert_eq!(steps, times.len() as u64 + packets.len() as u64, "{name}");
        }
    }
}

#[test]
fn a_chunk_that_was_begun_but_not_told_is_written() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    run([|| {
        let mut thread = program.thread(7, 8);
        thread.record(488);
        let chunk = program.pop_chunk().unwrap();
        let popped = thread.place().popped();
        popped.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        thread.prepare(chunk);
        thread.record(2);
    }]);

    collector.close(PATIENCE, false);

    let counts: Vec<usize> =
        packets(&folder.trace().join("7-8")).iter().map(|one| one.records.len()).collect();
    assert_eq!(counts, [488, 2]);
}

#[test]
fn a_spare_that_was_begun_but_not_told_is_written() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    run([|| {
        let mut thread = program.thread(7, 8);
        thread.record(489);
        collector.recording().pass(0, vestige_collector::drain::Reach::Complete);
        let spare = program.ledger(thread.slot).spare(0);
        thread.prepare(spare.load(std::sync::atomic::Ordering::Relaxed));
        thread.record(2);
    }]);

    collector.close(PATIENCE, false);

    assert_eq!(record_count(&packets(&folder.trace().join("7-8"))), 491);
}

#[test]
fn a_thread_that_ends_before_it_tells_its_name_leaves_its_slot() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let slot = run([|| {
        let thread = program.thread(7, 8);
        thread.place().claimed().store(0, std::sync::atomic::Ordering::Release);
        thread.slot
    }])[0];

    collector.recording().pass(0, vestige_collector::drain::Reach::Complete);

    assert_eq!(program.pop_slot(), Some(slot));
}

#[test]
fn a_process_of_which_the_kernel_says_nothing_is_forgotten_on_demand() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(3);
    let namespace = collector.live_slots()[0].identity.pid_namespace;

    collector.forget_process(7, namespace);
    collector.recording().pass(0, vestige_collector::drain::Reach::Complete);

    assert_eq!(collector.live_slots(), []);
    assert_eq!(record_count(&packets(&folder.trace().join("7-8"))), 3);
}

#[test]
fn chunks_come_back_from_threads_that_end() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    let program = Program::of(&folder);
    // All chunks of the arena several times.
    for number in 1..=100 {
        run([|| program.thread(number, number).record(8 * 488)]);
    }

    let outcome = collector.close(PATIENCE, false);

    assert_eq!((outcome.streams, outcome.lost), (100, 0));
    let recording = collector.recording();
    let handed_out = recording.pool.handed_out(&recording.stock());
    assert_eq!(handed_out, u64::from(collector.progress().free_chunks));
}
