//! Chunks of a trace: each packet is in one of them, whoever is killed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{collector, next_collector, packets, record_count, Folder, Packet, Program};
use vestige_collector::collector::Collector;
use vestige_collector::drain::Reach;
use vestige_collector::layout::{KEEP, OWNER_DIED};

const PATIENCE: Duration = Duration::from_secs(5);
/// In a full chunk of memory.
const RECORDS: usize = 488;

/// Moves the directory of the trace away, and ends the chunk: where it is then.
fn cut(folder: &Folder, collector: &Collector, name: &str) -> PathBuf {
    let moved = folder.0.join(name);
    fs::rename(folder.trace(), &moved).unwrap();
    fs::create_dir(folder.trace()).unwrap();
    collector.cut(&folder.trace()).unwrap();
    moved
}

fn records(all: &[Packet]) -> usize {
    record_count(all)
}

#[test]
fn what_is_committed_is_in_the_chunk_that_ends() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    program.register_class("a:first");
    let mut thread = program.thread(7, 8);
    thread.record(3 * RECORDS + 5);
    let first = cut(&folder, &collector, "first");
    thread.record(7);
    let second = cut(&folder, &collector, "second");
    program.register_class("a:second");
    thread.record(1);
    let outcome = collector.close(PATIENCE, false);

    let of = |path: PathBuf| packets(&path.join("7-8"));
    let (one, two, three) = (of(first.clone()), of(second.clone()), of(folder.trace()));
    assert_eq!([records(&one), records(&two), records(&three)], [3 * RECORDS + 5, 7, 1]);
    let numbers: Vec<u64> = one.iter().chain(&two).chain(&three).map(|p| p.number).collect();
    assert_eq!(numbers, (0..numbers.len() as u64).collect::<Vec<_>>());
    assert!(outcome.problems.is_empty() && outcome.failure.is_none());
    for (path, classes) in [(first, 1), (second, 1), (folder.trace(), 2)] {
        let text = fs::read_to_string(path.join("metadata")).unwrap();
        assert_eq!(text.matches("event {").count(), classes);
        assert!(!path.join(".arena").exists() && !path.join(".arena.next").exists());
    }
}

#[test]
fn losses_between_chunks_are_told_in_the_second() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(2);
    let first = cut(&folder, &collector, "first");
    for _ in 0..5 {
        thread.lose();
    }
    thread.switch();
    thread.record(1);
    let outcome = collector.close(PATIENCE, false);

    let told = |path: PathBuf| {
        packets(&path.join("7-8")).iter().map(|one| one.discarded).collect::<Vec<_>>()
    };
    assert_eq!(told(first), [0]);
    let second = told(folder.trace());
    assert_eq!((second.first(), second.last()), (Some(&0), Some(&5)));
    assert_eq!(outcome.lost, 5);
}

#[test]
fn a_chunk_that_cannot_begin_leaves_all_as_it_was() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(2);
    let writable = folder.0.join("writable");
    fs::create_dir(&writable).unwrap();
    fs::set_permissions(&writable, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(collector.cut(&writable).is_err());
    let taken = folder.0.join("taken");
    fs::create_dir(&taken).unwrap();
    fs::create_dir(taken.join(".arena.next")).unwrap();
    assert!(collector.cut(&taken).is_err());
    assert!(!taken.join("metadata").exists());
    thread.record(3);
    collector.close(PATIENCE, false);

    assert_eq!(records(&packets(&folder.trace().join("7-8"))), 5);
}

#[test]
fn who_comes_after_a_killed_collector_goes_on_with_the_chunk() {
    let folder = Folder::new();
    let first = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(2);
    cut(&folder, &first, "first");
    thread.record(RECORDS);
    thread.switch();
    first.recording().pass(0, Reach::Complete);
    thread.record(3);
    drop(first);
    let next = next_collector(&folder);
    thread.record(4);
    let outcome = next.close(PATIENCE, false);

    assert_eq!(records(&packets(&folder.trace().join("7-8"))), RECORDS + 7);
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
}

#[test]
fn threads_that_ended_have_no_file_in_the_next_chunk() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    common::run([|| {
        let mut thread = program.thread(7, 8);
        thread.record(2);
    }]);
    let first = cut(&folder, &collector, "first");
    // It goes on with the stream of the one before.
    common::run([|| {
        let mut thread = program.thread(7, 9);
        thread.record(3);
    }]);
    collector.close(PATIENCE, false);

    assert_eq!(records(&packets(&first.join("7-8"))), 2);
    let files = fs::read_dir(folder.trace()).unwrap().map(|one| one.unwrap().path());
    let of_threads = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with('7');
    let files: Vec<PathBuf> = files.filter(of_threads).collect();
    assert_eq!(files.iter().map(|one| records(&packets(one))).sum::<usize>(), 3);
}

#[test]
fn clear_leaves_what_comes_after_it() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    program.register_class("a:first");
    let mut thread = program.thread(7, 8);
    thread.record(RECORDS);
    thread.switch();
    collector.recording().pass(0, Reach::Complete);
    thread.record(9);
    collector.clear().unwrap();
    assert_eq!(folder.names(), [".arena", "metadata"]);
    thread.record(4);
    let outcome = collector.close(PATIENCE, false);

    assert_eq!(records(&packets(&folder.trace().join("7-8"))), 4);
    let text = fs::read_to_string(folder.trace().join("metadata")).unwrap();
    assert_eq!(text.matches("event {").count(), 1);
    assert!(outcome.problems.is_empty() && outcome.failure.is_none());
}

/// The times of its records are told in part, and follow from that.
#[test]
fn what_comes_after_a_clear_in_the_same_memory_begins_where_that_was() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    program.register_class("a:first");
    let mut thread = program.thread(7, 8);
    thread.record(9);
    let cleared = thread.clock;
    collector.clear().unwrap();
    thread.record(4);
    collector.close(PATIENCE, false);

    let left = packets(&folder.trace().join("7-8"));
    let facts: Vec<_> = left.iter().map(|one| (one.begin, one.records.len())).collect();
    assert_eq!(facts, [(cleared, 4)]);
}

#[test]
fn what_is_archived_is_moved_away_and_the_rest_stays() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    program.register_class("a:first");
    let mut thread = program.thread(7, 8);
    thread.record(RECORDS + 5);
    let archive = folder.0.join("archive");
    fs::create_dir(&archive).unwrap();
    collector.archive(&archive).unwrap();
    assert_eq!(folder.names(), [".arena", "metadata"]);
    thread.record(7);
    let outcome = collector.close(PATIENCE, false);

    assert_eq!(records(&packets(&archive.join("7-8"))), RECORDS + 5);
    assert_eq!(records(&packets(&folder.trace().join("7-8"))), 7);
    let text = fs::read_to_string(archive.join("metadata")).unwrap();
    assert_eq!(text.matches("event {").count(), 1);
    assert!(outcome.problems.is_empty() && outcome.failure.is_none());
}

#[test]
fn what_processes_have_loaded_is_in_each_chunk() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.keep_states();
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(3);
    program.chunk(thread.chunk).flags().store(KEEP, Ordering::Relaxed);
    thread.switch();
    thread.record(RECORDS);
    let mut archives = Vec::new();
    for name in ["first", "second"] {
        let archive = folder.0.join(name);
        fs::create_dir(&archive).unwrap();
        collector.archive(&archive).unwrap();
        thread.record(2);
        archives.push(archive);
    }
    let outcome = collector.close(PATIENCE, false);

    assert_eq!(records(&packets(&archives[0].join("7-8"))), 3 + RECORDS);
    for later in [archives[1].clone(), folder.trace()] {
        assert_eq!(records(&packets(&later.join("7-8"))), 2);
        let copy = packets(&later.join("7-8.2"));
        assert_eq!((records(&copy), copy[0].number), (3, 0));
        assert_ne!(copy[0].instance, packets(&later.join("7-8"))[0].instance);
    }
    assert_eq!(folder.names(), ["7-8", "7-8.2", "metadata"]);
    assert!(outcome.problems.is_empty() && outcome.failure.is_none());
}

/// A process of which one thread tells what it has loaded, and ends.
fn tell_and_end(program: &Program, process: u32, thread: u32, start: u64) {
    let mut thread = program.thread_since(process, thread, start);
    let own = fs::metadata("/proc/self/ns/pid").unwrap().ino();
    thread.place().pid_namespace().store(own, Ordering::Relaxed);
    thread.record(3);
    program.chunk(thread.chunk).flags().store(KEEP, Ordering::Relaxed);
    thread.switch();
    thread.place().life().store(OWNER_DIED, Ordering::Release);
}

#[test]
fn a_process_of_which_no_thread_records_has_its_state_in_the_next_chunk() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.keep_states();
    let program = Program::of(&folder);
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let (here, gone) = (std::process::id(), child.id());
    tell_and_end(&program, here, 8, 5);
    // It has executed another program.
    tell_and_end(&program, here, 9, 6);
    tell_and_end(&program, gone, 8, 7);
    for name in ["first", "second"] {
        let archive = folder.0.join(name);
        fs::create_dir(&archive).unwrap();
        collector.archive(&archive).unwrap();
        let (copy, hidden) = (format!("{here}-9.2"), format!(".state-{here}-9.2"));
        assert_eq!(folder.names(), [".arena", &hidden, &copy, "metadata"]);
        assert_eq!(records(&packets(&folder.trace().join(copy))), 3);
    }
    collector.close(PATIENCE, false);
}
