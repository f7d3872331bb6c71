//! Names and numbers of data streams, and threads that go on with those of others.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::time::Duration;

use common::{collector, run, trace, Folder, Program, Thread};
use vestige_collector::collector::Collector;
use vestige_collector::drain::Reach;

const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a thread to its end.
fn live_through(collector: &Collector, record: impl FnOnce() + Send) {
    run([record]);
    collector.recording().pass(0, Reach::Complete);
}

fn at(mut thread: Thread<'_>, time: u64) -> Thread<'_> {
    thread.clock = time;
    thread
}

#[test]
fn namesakes_get_numbers() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    for start in 1..=3 {
        live_through(&collector, || program.thread_since(7, 8, start).record(1));
    }

    let found = trace(&folder);

    assert_eq!(found.keys().collect::<Vec<_>>(), ["7-8", "7-8.2", "7-8.3"]);
    let instances: Vec<u64> = found.values().map(|one| one[0].instance).collect();
    assert_eq!(instances, [0, 1, 2].map(|n| 7 << 42 | 8 << 10 | n));
}

#[test]
fn files_of_others_are_left_alone() {
    let folder = Folder::new();
    fs::write(folder.trace().join("7-8"), "not ours").unwrap();
    std::os::unix::fs::symlink("/dev/null", folder.trace().join("7-8.2")).unwrap();
    let collector = collector(&folder);
    let program = Program::of(&folder);

    live_through(&collector, || program.thread(7, 8).record(1));

    assert_eq!(fs::read(folder.trace().join("7-8")).unwrap(), b"not ours");
    let found = common::packets(&folder.trace().join("7-8.3"));
    assert_eq!((found[0].records.len(), found[0].instance & 1023), (1, 2));
}

#[test]
fn a_later_thread_of_a_process_goes_on_with_a_file() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    live_through(&collector, || {
        let mut thread = program.thread(7, 8);
        thread.record(5);
        thread.lose();
    });
    live_through(&collector, || {
        let mut thread = at(program.thread(7, 9), 5000);
        thread.lose();
        thread.record(5);
    });

    let found = trace(&folder);

    assert_eq!(found.keys().collect::<Vec<_>>(), ["7-8"]);
    let told: Vec<(u32, usize, u64)> =
        found["7-8"].iter().map(|one| (one.vtid, one.records.len(), one.discarded)).collect();
    assert_eq!(told, [(8, 5, 0), (8, 0, 1), (9, 0, 2), (9, 5, 2)]);
    let outcome = collector.close(PATIENCE, false);
    assert_eq!((outcome.streams, outcome.lost), (1, 2));
}

#[test]
fn a_thread_that_began_earlier_does_not() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    live_through(&collector, || at(program.thread(7, 8), 5000).record(5));
    live_through(&collector, || program.thread(7, 9).record(5));

    assert_eq!(trace(&folder).keys().collect::<Vec<_>>(), ["7-8", "7-9"]);
}

#[test]
fn a_thread_of_another_process_does_not() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    live_through(&collector, || program.thread_since(7, 8, 1).record(5));
    live_through(&collector, || at(program.thread_since(7, 9, 2), 5000).record(5));

    assert_eq!(trace(&folder).keys().collect::<Vec<_>>(), ["7-8", "7-9"]);
}

#[test]
fn other_namespaces_are_numbered_as_they_come() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    for namespace in [5, 9, 5] {
        live_through(&collector, || {
            let mut thread = program.thread_since(7, 7, namespace);
            thread.place().pid_namespace().store(namespace, std::sync::atomic::Ordering::Release);
            thread.clock = 1000 * namespace;
            thread.record(1);
        });
    }

    let spaces: Vec<u64> =
        trace(&folder).values().map(|one| one[0].instance >> 32 & 1023).collect();

    // 0 is that of the collector.
    assert_eq!(spaces, [1, 2, 1]);
}
