//! Arenas that whoever records next finds.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::Ordering;

use common::{collector, run, Folder, Program};
use vestige_collector::abandoned::{look, remove};
use vestige_collector::layout::OWNER_DIED;

/// Where the first word of the collector's life lies.
const LIFE_AT: u64 = 192;

#[test]
fn an_arena_says_whose_trace_it_holds() {
    let folder = Folder::new();
    let killed = collector(&folder);
    killed.start().unwrap();
    let program = Program::of(&folder);
    run([|| program.thread(7, 8).record(10)]);
    let arena = folder.arena().unwrap();
    assert_eq!(look(&arena).unwrap(), None);
    drop(killed);

    let found = look(&arena).unwrap().unwrap();

    let directory = fs::metadata(folder.trace()).unwrap();
    assert_eq!(found.directory, folder.trace());
    assert_eq!((found.directory_device, found.directory_inode), (directory.dev(), directory.ino()));
    assert!(found.is_seen_from_here);
    assert!((1 << 20..1 << 26).contains(&found.bytes), "{}", found.bytes);
    assert_eq!(found.live, 0);
    assert!(remove(&arena).unwrap());
    assert!(!arena.exists());
}

#[test]
fn an_arena_that_a_thread_writes_to_stays() {
    let folder = Folder::new();
    let killed = collector(&folder);
    killed.start().unwrap();
    let program = Program::of(&folder);
    let mut living = program.thread(7, 9);
    living.record(10);
    drop(killed);
    let arena = folder.arena().unwrap();

    assert_eq!(look(&arena).unwrap().unwrap().live, 1);
    assert!(!remove(&arena).unwrap());
    assert!(arena.exists());
}

#[test]
fn an_arena_between_two_collectors_stays() {
    let folder = Folder::new();
    let first = collector(&folder);
    first.start().unwrap();
    first.hand_over();
    let arena = folder.arena().unwrap();

    // Nobody has locked it, and the process that gave it away is there until it is taken.
    assert_eq!(look(&arena).unwrap(), None);
    assert!(!remove(&arena).unwrap());
    Program::of(&folder).memory.u32(136).store(u32::MAX, Ordering::Relaxed);
    assert!(look(&arena).unwrap().is_some());
}

#[test]
fn an_arena_with_a_lock_stays() {
    let folder = Folder::new();
    let living = collector(&folder);
    living.start().unwrap();
    let arena = folder.arena().unwrap();
    // As if somebody recovered it just now.
    let life = Program::of(&folder);
    let word = life.memory.u32(LIFE_AT);
    let before = word.fetch_or(OWNER_DIED, Ordering::Relaxed);

    assert_eq!(look(&arena).unwrap(), None);
    assert!(!remove(&arena).unwrap());
    word.store(before, Ordering::Relaxed);
}

#[test]
fn other_files_are_left_alone() {
    let folder = Folder::new();
    let other = folder.memory().join("vestige-0-1");
    for bytes in [0, 100, 300_000] {
        fs::write(&other, vec![0x40; bytes]).unwrap();
        assert_eq!(look(&other).unwrap(), None);
        assert!(!remove(&other).unwrap());
    }
    let link = folder.memory().join("vestige-0-2");
    std::os::unix::fs::symlink(&other, &link).unwrap();
    assert_eq!(look(&link).unwrap(), None);
    assert!(other.exists());
}
