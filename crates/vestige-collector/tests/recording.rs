//! Threads record by the protocol of the tracer, and the files hold what they recorded.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::time::Duration;

use common::{collector, packets, plan, record_count, run, trace, Folder, Program};
use vestige_collector::drain::Reach;

const PATIENCE: Duration = Duration::from_secs(5);

#[test]
fn all_records_of_all_threads_are_in_files() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    let program = Program::of(&folder);
    run((1..=4).map(|number| {
        let program = &program;
        move || program.thread(100, 100 + number).record(20_000)
    }));

    let outcome = collector.close(PATIENCE, false);

    assert_eq!((outcome.streams, outcome.lost), (4, 0));
    assert!(outcome.is_drained && outcome.problems.is_empty() && outcome.running.is_empty());
    let found = trace(&folder);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["100-101", "100-102", "100-103", "100-104"]);
    for (name, packets) in found {
        let records: Vec<u64> = packets.iter().flat_map(|one| one.records.clone()).collect();
        assert_eq!(records.len(), 20_000, "{name}");
        assert!(records.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
        assert_eq!(packets[0].number, 0);
        let first = &packets[0];
        assert!(packets.iter().all(|one| one.instance == first.instance && one.vpid == 100));
    }
    assert_eq!(folder.names(), ["100-101", "100-102", "100-103", "100-104", "metadata"]);
    assert_eq!(folder.arena(), None);
}

#[test]
fn complete_chunks_are_written_while_the_thread_goes_on() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(1000);

    collector.recording().pass(0, Reach::Complete);

    // 488 records a chunk; the third is not complete.
    assert_eq!(record_count(&packets(&folder.trace().join("7-8"))), 976);
    let outcome = collector.close(PATIENCE, false);
    assert_eq!(record_count(&packets(&folder.trace().join("7-8"))), 1000);
    assert_eq!(outcome.running.len(), 1);
    assert_eq!(outcome.running[0].identity.vtid, 8);
}

#[test]
fn a_snapshot_is_continued_in_the_next_packet() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(10);
    collector.recording().pass(0, Reach::Snapshot);
    let first = packets(&folder.trace().join("7-8"));

    thread.record(5);
    collector.recording().pass(0, Reach::Snapshot);
    thread.record(1000);
    collector.recording().pass(0, Reach::Complete);

    let all = packets(&folder.trace().join("7-8"));
    assert_eq!(first, all[..1]);
    assert_eq!(all[1].begin, all[0].end);
    let counts: Vec<usize> = all.iter().map(|one| one.records.len()).collect();
    assert_eq!(counts, [10, 5, 473, 488]);
}

#[test]
fn a_quiet_ring_is_written_after_a_second() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(3);

    common::wait_until(|| common::written_records(&folder.trace().join("7-8")) == 3);
}

#[test]
fn losses_are_told_where_they_were() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(10);
    let before = thread.clock;
    thread.lose();
    thread.lose();
    let after = thread.clock;
    thread.switch();
    thread.record(10);
    thread.switch();
    collector.recording().pass(0, Reach::Complete);

    let all = packets(&folder.trace().join("7-8"));

    let told: Vec<(usize, u64)> = all.iter().map(|p| (p.records.len(), p.discarded)).collect();
    assert_eq!(told, [(10, 0), (0, 2), (10, 2)]);
    assert!(all[1].begin >= before && all[1].end == after);
}

#[test]
fn a_first_packet_tells_no_losses() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    run([(8, 1), (9, 0)].map(|(number, count)| {
        let program = &program;
        move || {
            // Of two processes: no thread goes on with the file of the other.
            let mut thread = program.thread_since(7, number, u64::from(number));
            thread.lose();
            thread.record(count);
        }
    }));

    let outcome = collector.close(PATIENCE, false);

    // The first thread had a packet afterwards.
    assert_eq!((outcome.lost, outcome.lost_unbegun), (2, 1));
    let told = |name: &str| -> Vec<(usize, u64)> {
        let all = packets(&folder.trace().join(name));
        all.iter().map(|packet| (packet.records.len(), packet.discarded)).collect()
    };
    assert_eq!(told("7-8"), [(0, 0), (0, 1), (1, 1)]);
    assert_eq!(told("7-9"), [(0, 0), (0, 1)]);
}

#[test]
fn losses_at_the_end_of_a_thread_are_told() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let last = run([|| {
        let mut thread = program.thread(7, 8);
        thread.record(1);
        thread.lose();
        thread.clock
    }])[0];

    let outcome = collector.close(PATIENCE, false);

    let all = packets(&folder.trace().join("7-8"));
    assert_eq!((all[1].end, all[1].discarded, outcome.lost), (last, 1, 1));
    assert_eq!(outcome.lost_unbegun, 0);
    // New places come before those that are left of the first ones.
    assert!((1..640).contains(&outcome.most_threads));
}

#[test]
fn threads_that_find_no_room_count_all_that_they_lose() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    let program = Program::of(&folder);
    run((1..=3).map(|number| {
        let program = &program;
        move || program.thread(100, 100 + number).record_or_lose(100_000)
    }));

    let outcome = collector.close(PATIENCE, false);

    let found = trace(&folder);
    let recorded: usize = found.values().map(|one| record_count(one)).sum();
    let told: u64 = found.values().map(|one| one.last().unwrap().discarded).sum();
    assert_eq!(recorded as u64 + told, 300_000);
    assert_eq!(outcome.lost, told);
}

#[test]
fn a_thread_without_records_has_no_file() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.switch();

    let outcome = collector.close(PATIENCE, false);

    assert_eq!(outcome.streams, 0);
    assert_eq!(folder.names(), ["metadata"]);
}

#[test]
fn a_slot_is_used_again() {
    let folder = Folder::new();
    let mut plan = plan();
    plan.slot_count = 4;
    let collector = common::collector_of(&folder, &plan, 0);
    collector.start().unwrap();
    let program = Program::of(&folder);
    for number in 1..=50 {
        run([|| program.thread(number, number).record(600)]);
    }

    let outcome = collector.close(PATIENCE, false);

    assert_eq!((outcome.streams, outcome.lost), (50, 0));
    assert!(trace(&folder).values().all(|one| record_count(one) == 600));
}

#[test]
fn the_directory_must_be_ours_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    fs::set_permissions(folder.trace(), fs::Permissions::from_mode(0o777)).unwrap();

    let limits = vestige_collector::recording::Limits::default();
    let write = Box::new(vestige_collector::sys::write_parts);
    let made = vestige_collector::collector::Collector::new(
        &folder.trace(),
        &folder.memory(),
        &plan(),
        limits,
        write,
    );

    assert!(made.is_err());
    assert_eq!(folder.arena(), None);
}
