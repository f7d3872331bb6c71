//! State dumps that the collector writes itself.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::path::Path;
use std::time::Duration;

use common::{collector, collector_of, plan, Folder, Program};
use vestige_collector::arena::Plan;
use vestige_collector::collector::Collector;
use vestige_collector::loaded::{Loaded, LoadedObjects};
use vestige_collector::loaded_state::Told;
use vestige_collector::sys;

const PATIENCE: Duration = Duration::from_secs(5);
const FILE: &str = "vestige-state";
/// In the packet header and context: the stream, the two times and the process.
const STREAM: usize = 24;
const TIMES: [usize; 2] = [32, 40];
const VPID: usize = 80;
const RECORDS: usize = 104;
const EXTENDED: u8 = 255;

fn told() -> (Vec<Told>, Loaded) {
    let process = std::process::id();
    let one = Told {
        process,
        vpid: 77,
        procname: *b"tested\0\0\0\0\0\0\0\0\0\0",
        contexts: vec![0xAB; 3],
        ..Told::default()
    };
    let gone = Told { process: u32::MAX, ..one.clone() };
    (vec![gone, one], LoadedObjects::default().read(&[process]))
}

fn word(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap())
}

/// The time of all of a dump.
fn time_of(bytes: &[u8]) -> u64 {
    let [begin, end] = TIMES.map(|at| word(bytes, at));
    assert_eq!((begin, bytes[RECORDS]), (end, EXTENDED));
    assert_eq!(word(bytes, RECORDS + 5), begin);
    assert_eq!(bytes[RECORDS + 13..RECORDS + 16], [0xAB; 3]);
    begin
}

fn cut(folder: &Folder, collector: &Collector, name: &str) {
    fs::rename(folder.trace(), folder.0.join(name)).unwrap();
    fs::create_dir(folder.trace()).unwrap();
    collector.cut(&folder.trace()).unwrap();
}

fn dump(path: &Path) -> Vec<u8> {
    fs::read(path.join(FILE)).unwrap()
}

#[test]
fn a_dump_has_the_time_of_the_cut_or_of_a_record_before_it() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(1);
    let (processes, loaded) = told();
    let before = sys::counter();
    cut(&folder, &collector, "first");
    let after = sys::counter();
    collector.write_state(&processes, &loaded, None).unwrap();
    let made = dump(&folder.trace());
    // Its time is one of long ago.
    thread.record(1);
    collector.close(PATIENCE, false);

    let again = dump(&folder.trace());
    assert!((before..=after).contains(&time_of(&made)));
    assert!(time_of(&again) < before);
    assert_eq!((made.len(), word(&made, STREAM)), (again.len(), word(&again, STREAM)));
    assert_eq!(made[VPID..VPID + 4], 77_u32.to_ne_bytes());
    let own = std::env::current_exe().unwrap();
    let path = own.as_os_str().as_encoded_bytes();
    assert!(again.windows(path.len()).any(|part| part == path));
    assert!(!folder.0.join("first").join(FILE).exists());
}

#[test]
fn dumps_of_other_times_are_files_of_their_own() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    let (processes, loaded) = told();
    let time = collector.now();
    collector.write_state(&processes, &loaded, Some(time)).unwrap();
    collector.write_state(&processes, &loaded, Some(time + 5)).unwrap();
    collector.write_state(&[], &loaded, Some(time)).unwrap();
    thread.record(1);
    collector.close(PATIENCE, false);

    let second = fs::read(folder.trace().join(format!("{FILE}.1"))).unwrap();
    assert_eq!(time_of(&dump(&folder.trace())), time);
    assert_eq!(time_of(&second), time + 5);
    assert!(!folder.trace().join(format!("{FILE}.2")).exists());
}

#[test]
fn what_was_cleared_takes_its_dump_with_it() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let (processes, loaded) = told();
    collector.write_state(&processes, &loaded, Some(3)).unwrap();
    let before = sys::counter();
    collector.clear().unwrap();
    assert!(!folder.trace().join(FILE).exists());
    collector.write_state(&processes, &loaded, None).unwrap();
    collector.close(PATIENCE, false);

    assert!((before..=sys::counter()).contains(&time_of(&dump(&folder.trace()))));
}

#[test]
fn where_cpus_have_rings_all_streams_are_of_one_namespace() {
    let folder = Folder::new();
    let collector = collector_of(&folder, &Plan { cpu_rings: 2, ..plan() }, 0);
    let program = Program::of(&folder);
    // What the next collector meets first: streams of CPUs are known from the one before.
    let mut thread = program.thread(7, 8);
    thread.record(1);
    let (processes, loaded) = told();
    cut(&folder, &collector, "first");
    collector.write_state(&processes, &loaded, None).unwrap();
    collector.close(PATIENCE, false);

    let stream = |path: &Path| word(&fs::read(path).unwrap(), STREAM) >> 32 & 0x3FF;
    let recorded = stream(&folder.0.join("first").join("7-8"));
    assert_eq!((recorded, stream(&folder.trace().join(FILE))), (0, 0));
}
