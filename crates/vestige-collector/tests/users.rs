//! Each user whose programs are recorded has an arena; all are written to one trace.
//!
//! Only root can give a file to another user; without, there is nothing to be tested.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::Arc;
use std::time::Duration;

use common::{
    collector, collector_of, next_collector, plan, record_count, run, trace, wait_until, Folder,
    Program,
};
use vestige_collector::drain::Reach;
use vestige_collector::recording::Recording;
use vestige_collector::{recovery, sys};

const PATIENCE: Duration = Duration::from_secs(5);
const NOBODY: u32 = 65534;

fn is_root() -> bool {
    sys::effective_user() == 0
}

fn path(recording: &Arc<Recording>) -> PathBuf {
    recording.arena.path().to_owned()
}

fn metadata(folder: &Folder) -> String {
    fs::read_to_string(folder.trace().join("metadata")).unwrap()
}

#[test]
fn no_other_user_gets_an_arena_from_one_who_is_not_root() {
    if is_root() {
        return;
    }
    let folder = Folder::new();
    let collector = collector(&folder);

    let error = collector.arenas().of_user(sys::effective_user() + 1).err().unwrap();

    assert_eq!(error.to_string(), "Vestige is not root");
}

#[test]
fn a_user_gets_a_file_of_its_own() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let collector = collector(&folder);
    let first = collector.arenas().of_user(0).unwrap();
    let other = collector.arenas().of_user(NOBODY).unwrap();

    assert_eq!(path(&first), collector.arena_path());
    assert_eq!(path(&other), path(&collector.arenas().of_user(NOBODY).unwrap()));
    let file = fs::metadata(path(&other)).unwrap();
    assert_eq!((file.uid(), file.mode() & 0o777), (NOBODY, 0o600));
    let register = fs::read_to_string(folder.trace().join(".arena")).unwrap();
    assert_eq!(register.lines().count(), 2);
    collector.close(PATIENCE, false);
    assert!(!path(&first).exists() && !path(&other).exists());
    assert_eq!(folder.names(), ["metadata"]);
}

#[test]
fn there_are_so_many_users_at_most() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let mut plan = plan();
    (plan.chunk_count, plan.slot_count) = (32, 64);
    let collector = collector_of(&folder, &plan, 0);
    let made = (1..100).filter(|user| collector.arenas().of_user(*user).is_ok()).count();

    assert_eq!(made, 63);
    assert!(collector.arenas().of_user(63).is_ok());
    collector.close(PATIENCE, false);
}

#[test]
fn all_of_them_are_collected() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    let users = [0, NOBODY, 1, 2];
    let programs = users.map(|user| {
        // A thread that ends would be taken for the collector's end; the test's is the server.
        Program::open(&path(&collector.arenas().of_user(user).unwrap()))
    });
    // The same IDs: each is a process in a namespace of its own.
    run(programs.iter().map(|program| || program.thread(7, 8).record(20_000)));

    let outcome = collector.close(PATIENCE, false);

    assert_eq!((outcome.streams, outcome.lost, outcome.is_drained), (4, 0, true));
    let found = trace(&folder);
    let names: Vec<&String> = found.keys().collect();
    assert_eq!(names, ["7-8", "7-8.2", "7-8.3", "7-8.4"]);
    assert!(found.values().all(|packets| record_count(packets) == 20_000));
}

#[test]
fn a_process_is_not_gone_on_with_by_another_user() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let collector = collector(&folder);
    for user in [0, NOBODY] {
        let program = Program::open(&path(&collector.arenas().of_user(user).unwrap()));
        run([|| program.thread_since(7, 8, 4711).record(10)]);
        collector.arenas().pass(0, 0, Reach::Complete);
    }
    collector.close(PATIENCE, false);

    assert_eq!(trace(&folder).len(), 2);
}

#[test]
fn what_a_user_writes_into_a_ledger_is_not_believed() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let collector = collector(&folder);
    let ours = Program::of(&folder);
    run([|| ours.thread(7, 8).record(1000)]);
    collector.arenas().pass(0, 0, Reach::Complete);
    let before = fs::read(folder.trace().join("7-8")).unwrap();
    let program = Program::open(&path(&collector.arenas().of_user(NOBODY).unwrap()));
    forge(&program);
    run([|| program.thread(9, 9).record(1000)]);

    collector.close(PATIENCE, false);

    assert_eq!(fs::read(folder.trace().join("7-8")).unwrap(), before);
    assert_eq!(record_count(&trace(&folder)["9-9"]), 1000);
}

/// Writes what would name the file of another thread, and control words that would change what
/// becomes of all files, wherever a program may try.
fn forge(program: &Program) {
    let instance = 7_u64 << 42 | 8 << 10;
    for slot in 0..8 {
        // As accounts were in ledgers once.
        let at = program.geometry.ledgers_at + slot * 512;
        for (place, word) in [(24, 0), (32, instance), (40, 1), (48, 0), (56, 1 << 32), (96, 1)] {
            program.memory.u64(at + place).store(word, Ordering::Relaxed);
        }
    }
    // UUID, overwrite mode, handed over by a process that lives, and a size limit.
    program.memory.u64(16).store(7, Ordering::Relaxed);
    program.memory.u32(136).store(1, Ordering::Relaxed);
    program.memory.u32(140).store(3, Ordering::Relaxed);
    program.memory.u64(160).store(4096, Ordering::Relaxed);
    program.memory.u32(112).store(1, Ordering::Relaxed);
}

#[test]
fn a_collector_that_takes_over_believes_no_ledger() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let first = collector(&folder);
    first.start().unwrap();
    let ours = Program::of(&folder);
    run([|| ours.thread(7, 8).record(1000)]);
    let program = Program::open(&path(&first.arenas().of_user(NOBODY).unwrap()));
    let mut thread = program.thread(9, 9);
    thread.record(1000);
    // Its own threads may have the slot just then, and write it a moment later.
    wait_until(|| {
        first.arenas().pass(0, 0, Reach::Snapshot);
        folder.trace().join("7-8").exists()
    });
    first.hand_over();
    let before = fs::read(folder.trace().join("7-8")).unwrap();
    assert!(!before.is_empty());
    forge(&program);

    let second = next_collector(&folder);
    second.start().unwrap();
    thread.record(1000);
    let outcome = second.close(PATIENCE, false);

    assert!(outcome.is_drained, "{:?}", outcome.problems);
    assert_eq!(fs::read(folder.trace().join("7-8")).unwrap(), before);
    assert_eq!(record_count(&trace(&folder)["9-9"]), 2000);
    assert_eq!(folder.names(), ["7-8", "9-9", "metadata"]);
}

#[test]
fn recovery_believes_no_ledger() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let killed = collector(&folder);
    let ours = Program::of(&folder);
    run([|| ours.thread(7, 8).record(1000)]);
    let other = path(&killed.arenas().of_user(NOBODY).unwrap());
    let program = Program::open(&other);
    let mut thread = program.thread(9, 9);
    thread.record(1000);
    killed.arenas().pass(0, 0, Reach::Snapshot);
    thread.record(1000);
    let before = fs::read(folder.trace().join("7-8")).unwrap();
    drop(killed);
    forge(&program);

    let write = Box::new(sys::write_parts);
    let outcome = recovery::recover(&folder.trace(), &other, 0, write).unwrap();

    assert!(outcome.is_drained, "{:?}", outcome.problems);
    assert_eq!(fs::read(folder.trace().join("7-8")).unwrap(), before);
    assert_eq!(record_count(&trace(&folder)["9-9"]), 2000);
}

#[test]
fn a_file_in_the_place_of_an_arena_is_told_and_left_alone() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let first = collector(&folder);
    first.start().unwrap();
    let ours = Program::of(&folder);
    let mut thread = ours.thread(7, 8);
    thread.record(1000);
    let other = path(&first.arenas().of_user(NOBODY).unwrap());
    first.hand_over();
    let kept = folder.0.join("kept");
    fs::rename(&other, &kept).unwrap();
    fs::copy(&kept, &other).unwrap();

    let second = next_collector(&folder);
    second.start().unwrap();
    thread.record(1000);
    let outcome = second.close(PATIENCE, false);

    assert!(outcome.problems.iter().any(|one| one.contains("another file is in its place")));
    assert_eq!(record_count(&trace(&folder)["7-8"]), 2000);
}

#[test]
fn event_classes_have_different_ids_and_leave_no_gap() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let collector = collector(&folder);
    let other = collector.arenas().of_user(NOBODY).unwrap();
    for (path, name) in [(collector.arena_path(), "a:b"), (path(&other), "a:c")] {
        let program = Program::open(&path);
        program.register_class(name);
        run([|| program.thread(7, 8).record(1)]);
    }
    assert!(!metadata(&folder).contains("unused"));
    collector.close(PATIENCE, false);

    let text = metadata(&folder);
    let ids = text.match_indices("\tid = ").map(|(at, start)| {
        text[at + start.len()..].split(';').next().unwrap().parse::<u32>().unwrap()
    });
    let mut ids: Vec<u32> = ids.collect();
    ids.sort_unstable();
    assert_eq!(ids, (26..=26 + 4096).collect::<Vec<u32>>());
    assert!(text.contains("id = 26;\n\tname = \"a:b\""));
    assert!(text.contains("id = 4122;\n\tname = \"a:c\""));
    assert_eq!(text.matches("vestige:unused_").count(), 4095);
}

#[test]
fn users_without_event_classes_leave_nothing_in_the_metadata() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let collector = collector(&folder);
    let before = metadata(&folder);
    let program = Program::open(&path(&collector.arenas().of_user(NOBODY).unwrap()));
    run([|| program.thread(7, 8).record(1)]);
    collector.close(PATIENCE, false);

    assert_eq!(metadata(&folder), before);
}

#[test]
fn all_are_handed_over() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let first = collector(&folder);
    first.start().unwrap();
    let paths = [first.arena_path(), path(&first.arenas().of_user(NOBODY).unwrap())];
    let programs = paths.map(|path| Program::open(&path));
    for program in &programs {
        program.register_class(&format!("a:{}", program.memory.address()));
    }
    let mut threads: Vec<_> = programs.iter().map(|program| program.thread(7, 8)).collect();
    threads.iter_mut().for_each(|thread| thread.record(1000));
    first.hand_over();
    threads.iter_mut().for_each(|thread| thread.record(1000));

    let second = next_collector(&folder);
    second.start().unwrap();
    assert_eq!(second.live_slots().len(), 2);
    threads.iter_mut().for_each(|thread| thread.record(1000));
    let third = second.arenas().of_user(1).unwrap();
    Program::open(&path(&third)).register_class("a:third");
    let program = Program::open(&path(&third));
    program.thread(7, 8).record(1);
    let outcome = second.close(PATIENCE, false);

    assert!(outcome.is_drained, "{:?}", outcome.problems);
    let found = trace(&folder);
    let counts: Vec<usize> = found.values().map(|packets| record_count(packets)).collect();
    assert_eq!(counts, [3000, 3000, 1]);
    assert!(metadata(&folder).contains("id = 8218;\n\tname = \"a:third\""));
    assert!(!folder.trace().join(".arena").exists());
}

#[test]
fn all_are_recovered() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let killed = collector(&folder);
    let paths = [killed.arena_path(), path(&killed.arenas().of_user(NOBODY).unwrap())];
    for path in &paths {
        let program = Program::open(path);
        program.register_class("a:b");
        run([|| program.thread(7, 8).record(1000)]);
        // Its class is at the beginning of its own block, whatever it says now.
        program.memory.u32(152).store(26, Ordering::Relaxed);
    }
    drop(killed);

    for path in &paths {
        let write = Box::new(sys::write_parts);
        let outcome = recovery::recover(&folder.trace(), path, 0, write).unwrap();
        assert!(outcome.is_drained);
    }

    assert_eq!(folder.names(), ["7-8", "7-8.2", "metadata"]);
    let text = metadata(&folder);
    assert!(text.contains("id = 26;\n\tname = \"a:b\""));
    assert!(text.contains("id = 4122;\n\tname = \"a:b\""));
    assert_eq!(text.matches("vestige:unused_").count(), 4095);
}

#[test]
fn they_share_the_size_of_the_recording() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let limit = 400 << 10;
    let collector = collector_of(&folder, &plan(), limit);
    collector.start().unwrap();
    let paths = [collector.arena_path(), path(&collector.arenas().of_user(NOBODY).unwrap())];
    let programs = paths.map(|path| Program::open(&path));
    let is_over = || collector.progress().is_full;
    let counts = run(programs.iter().map(|program| {
        || {
            let mut thread = program.thread(7, 8);
            let mut count = 0;
            while !is_over() || count < 20_000 {
                thread.record_or_lose(200);
                count += 200;
                std::thread::sleep(Duration::from_micros(100));
            }
            count as u64
        }
    }));
    let outcome = collector.close(PATIENCE, false);

    assert!(outcome.is_full);
    let found = trace(&folder);
    let recorded: usize = found.values().map(|packets| record_count(packets)).sum();
    let lost: u64 = found.values().map(|packets| packets.last().unwrap().discarded).sum();
    assert_eq!(recorded as u64 + lost, counts.into_iter().sum::<u64>());
    assert!(outcome.problems.is_empty(), "{:?}", outcome.problems);
    let sizes = folder.names().into_iter().map(|name| folder.trace().join(name));
    assert!(sizes.map(|path| fs::metadata(path).unwrap().len()).sum::<u64>() <= limit);
}
