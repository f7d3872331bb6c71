//! Disks that refuse: nothing is lost that is in memory, and no part of a packet stays.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{
    packets, plan, record_count, run, trace, wait_until, written_records, Folder, Program,
};
use vestige_collector::collector::Collector;
use vestige_collector::drain::Reach;
use vestige_collector::files::Write;
use vestige_collector::layout::{KEEP, OWNER_DIED};
use vestige_collector::recording::Limits;
use vestige_collector::{recovery, sys};

const PATIENCE: Duration = Duration::from_secs(5);

/// A disk that can be full, after some bytes of each packet.
fn disk(error: &Arc<AtomicI32>) -> Box<Write> {
    let error = Arc::clone(error);
    Box::new(move |file, head, body, tail, at| match error.load(Ordering::Relaxed) {
        0 => sys::write_parts(file, head, body, tail, at),
        code if body.is_none() || head.len() < 104 => Err(io::Error::from_raw_os_error(code)),
        _ => sys::write_parts(file, &head[..50], None, &[], at),
    })
}

fn collector(folder: &Folder, write: Box<Write>) -> Collector {
    let limits = Limits::default();
    Collector::new(&folder.trace(), &folder.memory(), &plan(), limits, write).unwrap()
}

#[test]
fn a_disk_that_gets_room_again_has_all() {
    let folder = Folder::new();
    let error = Arc::new(AtomicI32::new(0));
    let collector = collector(&folder, disk(&error));
    collector.start().unwrap();
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(1000);
    wait_until(|| collector.progress().packets > 0);
    error.store(libc::ENOSPC, Ordering::Relaxed);
    thread.record(4000);
    wait_until(|| collector.progress().failure.is_some());
    let failure = collector.progress().failure.unwrap();
    assert_eq!(failure.errno, Some(libc::ENOSPC));
    assert_eq!(failure.path, folder.trace().join("7-8"));
    let whole = record_count(&packets(&folder.trace().join("7-8")));
    assert!(whole < 5000);

    error.store(0, Ordering::Relaxed);
    let outcome = collector.close(PATIENCE, false);

    assert_eq!((outcome.lost, outcome.is_drained), (0, true));
    assert_eq!(record_count(&packets(&folder.trace().join("7-8"))), 5000);
}

#[test]
fn what_an_ended_thread_has_left_has_its_state_in_the_next_chunk() {
    let folder = Folder::new();
    let error = Arc::new(AtomicI32::new(0));
    let collector = collector(&folder, disk(&error));
    collector.keep_states();
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(3);
    program.chunk(thread.chunk).flags().store(KEEP, Ordering::Relaxed);
    thread.switch();
    collector.recording().pass(0, Reach::Complete);
    thread.record(9);
    thread.place().life().store(OWNER_DIED, Ordering::Release);
    error.store(libc::ENOSPC, Ordering::Relaxed);
    let archive = folder.0.join("archive");
    fs::create_dir(&archive).unwrap();
    collector.archive(&archive).unwrap();
    error.store(0, Ordering::Relaxed);
    collector.close(PATIENCE, false);

    assert_eq!(record_count(&packets(&archive.join("7-8"))), 3);
    assert_eq!(record_count(&packets(&folder.trace().join("7-8"))), 9);
    assert_eq!(record_count(&packets(&folder.trace().join("7-8.2"))), 3);
}

#[test]
fn what_finds_no_room_stays_in_the_arena() {
    let folder = Folder::new();
    let error = Arc::new(AtomicI32::new(libc::EDQUOT));
    let collector = collector(&folder, disk(&error));
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(2000);

    let started = Instant::now();
    let outcome = collector.close(Duration::from_millis(200), false);

    assert!(started.elapsed() < PATIENCE);
    assert!(!outcome.is_drained);
    assert_eq!(trace(&folder).len(), 0);
    let arena = folder.arena().unwrap();
    assert!(folder.names().contains(&".arena".to_owned()));
    drop(collector);
    let outcome =
        recovery::recover(&folder.trace(), &arena, 0, Box::new(sys::write_parts)).unwrap();
    assert!(outcome.is_drained);
    assert_eq!(record_count(&packets(&folder.trace().join("7-8"))), 2000);
    assert_eq!(folder.names(), ["7-8", "metadata"]);
}

#[test]
fn losses_that_find_no_room_are_told_all_the_same() {
    let folder = Folder::new();
    let error = Arc::new(AtomicI32::new(libc::ENOSPC));
    let collector = collector(&folder, disk(&error));
    let program = Program::of(&folder);
    let mut goes_on = program.thread(7, 8);
    goes_on.record(500);
    goes_on.place().lost().store(30, Ordering::Release);
    run([|| {
        let mut ends = program.thread(7, 9);
        ends.record(500);
        ends.place().lost().store(4, Ordering::Release);
    }]);

    let outcome = collector.close(Duration::from_millis(50), false);

    assert_eq!((outcome.lost, outcome.is_drained), (34, false));
    let arena = folder.arena().unwrap();
    drop(collector);
    let again = recovery::recover(&folder.trace(), &arena, 0, disk(&error)).unwrap();
    assert_eq!((again.lost, again.is_drained), (34, false));
    let all = recovery::recover(&folder.trace(), &arena, 0, Box::new(sys::write_parts)).unwrap();
    assert_eq!((all.lost, all.is_drained), (34, true));
}

#[test]
fn a_file_that_can_be_no_larger_is_continued_in_another() {
    let folder = Folder::new();
    let write: Box<Write> = Box::new(|file, head, body, tail, at| {
        if at > 10_000 {
            return Err(io::Error::from_raw_os_error(libc::EFBIG));
        }
        sys::write_parts(file, head, body, tail, at)
    });
    let collector = collector(&folder, write);
    collector.start().unwrap();
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(5000);

    let outcome = collector.close(PATIENCE, false);

    assert_eq!(outcome.failure.map(|failure| failure.errno), None);
    let found = trace(&folder);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["7-8", "7-8@2", "7-8@3", "7-8@4"]);
    let all: Vec<_> = found.into_values().flatten().collect();
    assert_eq!(record_count(&all), 5000);
    assert!(all.windows(2).all(|pair| pair[0].number + 1 == pair[1].number));
}

#[test]
fn others_write_while_one_disk_is_slow() {
    let folder = Folder::new();
    let together = Arc::new(AtomicU64::new(0));
    let most = Arc::new(AtomicU64::new(0));
    let is_slow = Arc::new(AtomicBool::new(true));
    let (now, seen, slow) = (Arc::clone(&together), Arc::clone(&most), Arc::clone(&is_slow));
    let write: Box<Write> = Box::new(move |file, head, body, tail, at| {
        let others = now.fetch_add(1, Ordering::Relaxed);
        seen.fetch_max(others + 1, Ordering::Relaxed);
        if slow.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(2));
        }
        let done = sys::write_parts(file, head, body, tail, at);
        now.fetch_sub(1, Ordering::Relaxed);
        done
    });
    let collector = collector(&folder, write);
    collector.start().unwrap();
    let program = Program::of(&folder);
    run((1..=4).map(|number| {
        let program = &program;
        move || program.thread(7, number).record(100 * 488)
    }));
    is_slow.store(false, Ordering::Relaxed);

    let outcome = collector.close(PATIENCE, false);

    assert_eq!((outcome.lost, outcome.streams), (0, 4));
    assert!(trace(&folder).values().all(|one| record_count(one) == 48_800));
    assert!(most.load(Ordering::Relaxed) > 1);
}

#[test]
fn a_file_that_cannot_be_written_holds_up_no_other() {
    let folder = Folder::new();
    let bad = folder.trace().join("7-8");
    let write: Box<Write> = Box::new(move |file, head, body, tail, at| {
        let ours = file.metadata()?;
        let is_bad = std::fs::metadata(&bad).is_ok_and(|found| found.ino() == ours.ino());
        if is_bad {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        sys::write_parts(file, head, body, tail, at)
    });
    let collector = collector(&folder, write);
    collector.start().unwrap();
    let program = Program::of(&folder);
    let mut threads = [8, 9, 10].map(|number| program.thread_since(7, number, 0));
    for thread in &mut threads {
        thread.record(1000);
    }

    let path = |name: &str| folder.trace().join(name);
    wait_until(|| written_records(&path("7-9")) == 976);
    wait_until(|| written_records(&path("7-10")) == 976);

    assert_eq!(collector.progress().failure.unwrap().errno, Some(libc::EIO));
    assert!(!collector.close(Duration::from_millis(50), false).is_drained);
}

#[test]
fn a_chunk_that_can_never_be_written_is_counted() {
    let folder = Folder::new();
    let collector = collector(
        &folder,
        Box::new(|_, _, _, _, _| Err(io::Error::from_raw_os_error(libc::EFAULT))),
    );
    let program = Program::of(&folder);
    run([|| program.thread(7, 8).record(100)]);

    let outcome = collector.close(PATIENCE, false);

    assert_eq!((outcome.lost, outcome.lost_unplaced, outcome.is_drained), (1, 1, true));
    let told = "thread 8 of process 7: 800 bytes of records are lost, which count as one event";
    assert!(outcome.problems.iter().any(|one| one.starts_with(told)), "{:?}", outcome.problems);
}

#[test]
fn losses_that_only_the_arena_knows_keep_it() {
    let folder = Folder::new();
    let error = Arc::new(AtomicI32::new(0));
    let first = collector(&folder, disk(&error));
    Program::of(&folder).shared().lost().store(5, Ordering::Relaxed);

    let outcome = first.close(PATIENCE, true);

    assert_eq!((outcome.lost_unplaced, outcome.is_drained), (5, true));
    assert!(folder.names().contains(&".arena".to_owned()));
    assert!(folder.arena().is_some());
    first.remove();
    assert_eq!(folder.names(), ["metadata"]);
    assert_eq!(folder.arena(), None);
}
