//! Where an arena is made.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::path::Path;

use common::{next_collector, packets, plan, record_count, run, Folder, Program};
use vestige_collector::collector::Collector;
use vestige_collector::recording::Limits;
use vestige_collector::sys;

fn collector(folder: &Folder, memory: &Path) -> Collector {
    let limits = Limits::default();
    Collector::new(&folder.trace(), memory, &plan(), limits, Box::new(sys::write_parts)).unwrap()
}

#[test]
fn without_shared_memory_it_is_in_the_trace() {
    for (name, why) in [("missing", "No such file"), ("file", "Not a directory")] {
        let folder = Folder::new();
        fs::write(folder.0.join("file"), "").unwrap();
        let memory = folder.0.join(name);
        let collector = collector(&folder, &memory);
        assert_eq!(collector.arena_path(), folder.trace().join(".arena-data"));
        let program = Program::open(&collector.arena_path());
        run([|| program.thread(7, 8).record(1000)]);

        let outcome = collector.close(std::time::Duration::ZERO, false);

        // Only where it goes to a disk.
        let is_told = outcome.problems.iter().any(|one| {
            one.starts_with(memory.to_str().unwrap()) && one.contains(why) && one.contains("disk")
        });
        let is_disk = !collector.recording().arena.is_in_memory();
        assert_eq!(is_told, is_disk, "{:?}", outcome.problems);
        assert_eq!(outcome.problems.len(), usize::from(is_disk));
        assert_eq!(record_count(&packets(&folder.trace().join("7-8"))), 1000);
        assert_eq!(folder.names(), ["7-8", "metadata"]);
    }
}

#[test]
fn what_is_taken_over_uses_shared_memory_for_others() {
    let folder = Folder::new();
    let first = collector(&folder, &folder.0.join("missing"));
    first.start().unwrap();
    first.hand_over();
    let second = next_collector(&folder);

    assert_eq!(second.arena_path(), folder.trace().join(".arena-data"));
    if sys::effective_user() == 0 {
        let other = second.arenas().of_user(65_534).unwrap();
        assert_eq!(other.arena.path().parent().unwrap(), folder.memory());
    }
    second.close(std::time::Duration::ZERO, false);
    assert_eq!(folder.arena(), None);
}
