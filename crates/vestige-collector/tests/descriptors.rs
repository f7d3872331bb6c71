//! More data streams than the process may have open files.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::fs::File;
use std::time::Duration;

use common::{record_count, trace, Folder, Program};
use vestige_collector::drain::Reach;

#[test]
fn files_are_closed_and_opened_again() {
    let folder = Folder::new();
    let mut plan = common::plan();
    plan.chunk_count = 1024;
    let collector = common::collector_of(&folder, &plan, 0);
    let program = Program::of(&folder);
    // All descriptors but a few are taken by the rest of the program.
    let mut others = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        others.push(file);
        if others.len() > 1_000_000 {
            return;
        }
    }
    others.truncate(others.len() - 3);
    let mut threads: Vec<_> = Vec::new();
    for number in 1..=40 {
        collector.recording().keep_ahead();
        let mut thread = program.thread(9, number);
        thread.record(500);
        threads.push(thread);
    }

    collector.recording().pass(0, Reach::Complete);
    for thread in &mut threads {
        thread.record(500);
    }
    collector.recording().pass(0, Reach::Snapshot);

    drop(others);
    assert_eq!(collector.close(Duration::from_secs(5), false).streams, 40);
    let found = trace(&folder);
    assert_eq!(found.len(), 40);
    assert!(found.values().all(|one| record_count(one) == 1000));
    assert!(fs::metadata(folder.trace()).is_ok());
}
