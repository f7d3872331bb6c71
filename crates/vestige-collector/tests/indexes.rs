//! Index files: they list what data files have, and nothing depends on them.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use common::{next_collector, packets, plan, record_count, Folder, Program};
use vestige_collector::collector::Collector;
use vestige_collector::drain::Reach;
use vestige_collector::files::Write;
use vestige_collector::recording::Limits;
use vestige_collector::rollover::Rollover;
use vestige_collector::{recovery, sys};

const PATIENCE: Duration = Duration::from_secs(5);
/// In a full chunk.
const RECORDS: usize = 488;
const HEADER: usize = 16;
const ENTRY: usize = 72;

fn indexed() -> Folder {
    let folder = Folder::new();
    fs::create_dir(folder.trace().join("index")).unwrap();
    folder
}

fn made(folder: &Folder, rollover: Rollover, write: Box<Write>) -> Collector {
    let limits = Limits { rollover, ..Limits::default() };
    let made = Collector::new(&folder.trace(), &folder.memory(), &plan(), limits, write).unwrap();
    made.recording().keep_ahead();
    made
}

fn collector(folder: &Folder) -> Collector {
    made(folder, Rollover::default(), Box::new(sys::write_parts))
}

fn index(folder: &Folder, name: &str) -> PathBuf {
    folder.trace().join("index").join(format!("{name}.idx"))
}

/// The names of the indexes.
fn indexes(folder: &Folder) -> Vec<String> {
    let entries = fs::read_dir(folder.trace().join("index")).unwrap();
    let mut names: Vec<_> =
        entries.map(|one| one.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The numbers of the entries of an index.
fn entries(path: &PathBuf) -> Vec<Vec<u64>> {
    let bytes = fs::read(path).unwrap();
    assert_eq!(bytes[..4], [0xC1, 0xF1, 0xDC, 0xC1]);
    assert_eq!(bytes[4..HEADER], [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, ENTRY as u8]);
    assert_eq!((bytes.len() - HEADER) % ENTRY, 0);
    let number = |one: &[u8]| u64::from_be_bytes(one.try_into().unwrap());
    let entry = |one: &[u8]| one.chunks_exact(8).map(number).collect();
    bytes[HEADER..].chunks_exact(ENTRY).map(entry).collect()
}

/// An index lists the packets of its data file, all of it.
fn check(folder: &Folder, name: &str) {
    check_in(&folder.trace(), name);
}

fn check_in(trace: &Path, name: &str) {
    let path = trace.join(name);
    let bytes = fs::metadata(&path).unwrap().len();
    let found = packets(&path);
    let listed = entries(&trace.join("index").join(format!("{name}.idx")));
    assert_eq!(listed.len(), found.len());
    let mut place = 0;
    for (entry, packet) in listed.iter().zip(&found) {
        assert_eq!(entry[0], place);
        assert!(entry[2] <= entry[1]);
        assert_eq!(entry[2] / 8, 104 + 8 * packet.records.len() as u64);
        let rest = [packet.begin, packet.end, packet.discarded, 0, packet.instance, packet.number];
        assert_eq!(entry[3..], rest);
        place += entry[1] / 8;
    }
    assert_eq!(place, bytes);
}

#[test]
fn an_index_lists_all_packets() {
    let folder = indexed();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.lose();
    for _ in 0..5 {
        thread.record(RECORDS);
        collector.recording().pass(0, Reach::Complete);
    }
    thread.lose();
    let outcome = collector.close(PATIENCE, false);

    assert!(outcome.problems.is_empty() && outcome.failure.is_none());
    assert_eq!(indexes(&folder), ["7-8.idx"]);
    check(&folder, "7-8");
    assert!(packets(&folder.trace().join("7-8")).len() > 6);
}

#[test]
fn a_trace_without_the_directory_has_none() {
    let folder = Folder::new();
    let collector = collector(&folder);
    Program::of(&folder).thread(7, 8).record(RECORDS);
    collector.close(PATIENCE, false);

    assert_eq!(folder.names(), ["7-8", "metadata"]);
}

#[test]
fn an_index_goes_with_its_file() {
    let folder = indexed();
    let rollover = Rollover { file_bytes: 4096, file_count: 2 };
    let collector = made(&folder, rollover, Box::new(sys::write_parts));
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    for _ in 0..5 {
        thread.record(RECORDS);
        collector.recording().pass(0, Reach::Complete);
        for name in ["7-8_0", "7-8_1"] {
            if folder.trace().join(name).exists() {
                check(&folder, name);
            }
        }
    }
    collector.close(PATIENCE, false);

    assert_eq!(indexes(&folder), ["7-8_0.idx", "7-8_1.idx"]);
    check(&folder, "7-8_0");
    check(&folder, "7-8_1");
}

#[test]
fn a_chunk_of_the_trace_has_its_own() {
    let folder = indexed();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(RECORDS);
    collector.recording().pass(0, Reach::Complete);
    let moved = folder.0.join("moved");
    fs::rename(folder.trace(), &moved).unwrap();
    fs::create_dir_all(folder.trace().join("index")).unwrap();
    thread.record(RECORDS);
    collector.cut(&folder.trace()).unwrap();
    thread.record(3 * RECORDS);
    collector.close(PATIENCE, false);

    check_in(&moved, "7-8");
    check(&folder, "7-8");
    let counts = [moved, folder.trace()].map(|one| record_count(&packets(&one.join("7-8"))));
    assert_eq!(counts, [2 * RECORDS, 3 * RECORDS]);
}

#[test]
fn what_is_cleared_is_listed_no_more() {
    let folder = indexed();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(2 * RECORDS);
    collector.recording().pass(0, Reach::Complete);
    assert_eq!(indexes(&folder), ["7-8.idx"]);
    collector.clear().unwrap();
    assert!(indexes(&folder).is_empty(), "{:?}", indexes(&folder));
    thread.record(RECORDS);
    collector.close(PATIENCE, false);

    assert_eq!(indexes(&folder), ["7-8.idx"]);
    check(&folder, "7-8");
}

/// Records, changes the index while there is no collector, and records again.
///
/// Each time in a thread of its own, which has the robust mutex of its slot in its list also when the
/// memory is gone.
fn between(change: impl FnOnce(&PathBuf) + Send) -> Folder {
    thread::scope(|scope| scope.spawn(|| record_around(change)).join().unwrap())
}

fn record_around(change: impl FnOnce(&PathBuf)) -> Folder {
    let folder = indexed();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(2 * RECORDS);
    thread.switch();
    collector.recording().pass(0, Reach::Complete);
    check(&folder, "7-8");
    drop(collector);
    change(&index(&folder, "7-8"));
    let next = next_collector(&folder);
    thread.record(RECORDS);
    thread.switch();
    next.recording().pass(0, Reach::Complete);
    let outcome = next.close(PATIENCE, false);

    assert!(!outcome.is_damaged, "{:?}", outcome.problems);
    assert_eq!(record_count(&packets(&folder.trace().join("7-8"))), 3 * RECORDS);
    folder
}

#[test]
fn the_next_collector_goes_on_with_it() {
    check(&between(|_| ()), "7-8");
}

#[test]
fn what_a_killed_collector_has_listed_too_much_is_cut_off() {
    for more in [ENTRY, ENTRY + 5, 1] {
        let folder = between(|path| {
            let mut bytes = fs::read(path).unwrap();
            let size = u64::from_be_bytes(bytes[HEADER + 8..HEADER + 16].try_into().unwrap()) / 8;
            let end = fs::metadata(path.with_file_name("../7-8")).unwrap().len();
            let mut entry = end.to_be_bytes().to_vec();
            entry.extend((size * 8).to_be_bytes());
            entry.resize(2 * ENTRY, 0);
            bytes.extend(&entry[..more]);
            fs::write(path, bytes).unwrap();
        });
        check(&folder, "7-8");
    }
}

#[test]
fn one_that_does_not_list_its_file_goes() {
    let cut = |path: &PathBuf, bytes: usize| {
        let found = fs::read(path).unwrap();
        fs::write(path, &found[..found.len() - bytes]).unwrap();
    };
    let changes: [&(dyn Fn(&PathBuf) + Sync); 5] = [
        &|path| cut(path, 5),
        &|path| cut(path, ENTRY),
        &|path| fs::write(path, "").unwrap(),
        &|path| fs::write(path, [0xFF; 4000]).unwrap(),
        &|path| fs::remove_file(path).unwrap(),
    ];
    for change in changes {
        let folder = between(change);
        assert!(indexes(&folder).is_empty(), "{:?}", indexes(&folder));
    }
}

#[test]
fn recovery_lists_what_it_writes() {
    let folder = indexed();
    let killed = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(2 * RECORDS);
    killed.recording().pass(0, Reach::Snapshot);
    thread.record(RECORDS);
    drop(killed);
    let arena = folder.arena().unwrap();
    recovery::recover(&folder.trace(), &arena, 0, Box::new(sys::write_parts)).unwrap();

    check(&folder, "7-8");
}

#[test]
fn where_an_index_cannot_be_written_the_trace_is() {
    let folder = indexed();
    let is_full = Arc::new(AtomicBool::new(false));
    let full = Arc::clone(&is_full);
    let write: Box<Write> = Box::new(move |file, head, body, tail, at| {
        let is_index = body.is_none() && (head.len() == ENTRY || head.len() == HEADER);
        if is_index && full.load(Ordering::Relaxed) {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        sys::write_parts(file, head, body, tail, at)
    });
    let collector = made(&folder, Rollover::default(), write);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    for round in 0..3 {
        is_full.store(round == 1, Ordering::Relaxed);
        thread.record(RECORDS);
        thread.switch();
        collector.recording().pass(0, Reach::Complete);
    }
    let outcome = collector.close(PATIENCE, false);

    assert!(outcome.failure.is_none());
    assert_eq!(record_count(&packets(&folder.trace().join("7-8"))), 3 * RECORDS);
    assert!(indexes(&folder).is_empty(), "{:?}", indexes(&folder));
}
