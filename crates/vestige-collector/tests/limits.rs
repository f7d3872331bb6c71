//! The size limit, and overwrite mode.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{collector_of, plan, record_count, run, trace, Folder, Packet, Program};
use vestige_collector::drain::Reach;
use vestige_collector::layout::{FULL, KEEP};

const PATIENCE: Duration = Duration::from_secs(5);

/// What the files take, as the limit counts it.
fn size(folder: &Folder) -> u64 {
    let entries = fs::read_dir(folder.trace()).unwrap();
    entries.map(|entry| entry.unwrap().metadata().unwrap().len().max(4096)).sum()
}

#[test]
fn a_recording_ends_at_its_limit_and_counts_what_comes_then() {
    let folder = Folder::new();
    let most = 300 * 1024;
    let collector = collector_of(&folder, &plan(), most);
    collector.start().unwrap();
    let program = Program::of(&folder);
    let count = 200_000;
    run([|| {
        let mut thread = program.thread(7, 8);
        let is_full = || program.memory.u32(128).load(Ordering::Relaxed) & FULL != 0;
        for _ in 0..count {
            while !(thread.put() || thread.switch() && thread.put()) {
                if is_full() {
                    thread.lose();
                    break;
                }
            }
        }
    }]);

    let outcome = collector.close(PATIENCE, false);

    let packets = &trace(&folder)["7-8"];
    assert_eq!(record_count(packets) as u64 + outcome.lost, count);
    assert_eq!(outcome.lost, packets.last().unwrap().discarded);
    assert_eq!(outcome.problems, Vec::<String>::new());
    assert!(collector.progress().is_full);
    let size = size(&folder);
    assert!(size <= most && size > most * 3 / 4, "{size}");
}

#[test]
fn without_a_limit_nothing_is_full() {
    let folder = Folder::new();
    let collector = collector_of(&folder, &plan(), 0);
    let program = Program::of(&folder);
    while program.pop_chunk().is_some() {
        collector.recording().keep_ahead();
    }

    assert!(!collector.progress().is_full);
}

fn overwriting() -> vestige_collector::arena::Plan {
    vestige_collector::arena::Plan { is_overwriting: true, ..plan() }
}

/// All packets of the streams in files that go away.
fn ring_packets(folder: &Folder) -> Vec<Packet> {
    let found = trace(folder);
    let mut packets: Vec<Packet> = found
        .into_iter()
        .filter(|(name, _)| name.starts_with("ring-"))
        .flat_map(|(_, packets)| packets)
        .collect();
    packets.sort_by_key(|packet| packet.number);
    packets
}

#[test]
fn overwrite_mode_keeps_the_newest_records() {
    let folder = Folder::new();
    let most = 1 << 20;
    let collector = collector_of(&folder, &overwriting(), most);
    collector.start().unwrap();
    let program = Program::of(&folder);
    let last = run([|| {
        let mut thread = program.thread(7, 8);
        thread.record(500_000);
        thread.clock
    }])[0];

    let outcome = collector.close(PATIENCE, false);

    let packets = ring_packets(&folder);
    assert_eq!(packets.last().unwrap().records.last(), Some(&last));
    assert!(packets.windows(2).all(|pair| pair[0].number + 1 == pair[1].number));
    assert_eq!((outcome.lost, outcome.problems.len()), (0, 0));
    let size = size(&folder);
    assert!(size <= most && size > most / 2, "{size}");
    // Each file counts with a block that is not in it.
    let rings = fs::read_dir(folder.trace()).unwrap().count() as u64 - 1;
    let gone = outcome.bytes - (size - 4096);
    assert!(outcome.overwritten >= gone, "{outcome:?} {gone} {rings}");
    assert!(outcome.overwritten <= gone + gone / 2, "{outcome:?} {gone} {rings}");
}

#[test]
fn some_packets_stay_in_overwrite_mode() {
    let folder = Folder::new();
    let collector = collector_of(&folder, &overwriting(), 1 << 20);
    collector.start().unwrap();
    let program = Program::of(&folder);
    let kept = run([|| {
        let mut thread = program.thread(7, 8);
        thread.record(1);
        program.chunk(thread.chunk).flags().store(KEEP, Ordering::Relaxed);
        let kept = thread.clock;
        thread.record(400_000);
        kept
    }])[0];

    collector.close(PATIENCE, false);

    let stays = &trace(&folder)["7-8"];
    assert_eq!((stays.len(), stays[0].records[0]), (1, kept));
    assert!(ring_packets(&folder)[0].number > 1);
}

#[test]
fn kept_packets_take_a_quarter_at_most() {
    let folder = Folder::new();
    let most = 1 << 20;
    let collector = collector_of(&folder, &overwriting(), most);
    collector.start().unwrap();
    let program = Program::of(&folder);
    run([|| {
        let mut thread = program.thread(7, 8);
        for _ in 0..400_000 {
            thread.record(1);
            program.chunk(thread.chunk).flags().store(KEEP, Ordering::Relaxed);
        }
    }]);

    collector.close(PATIENCE, false);

    let kept = fs::metadata(folder.trace().join("7-8")).unwrap().len();
    assert!(kept > most / 5 && kept <= most / 3, "{kept}");
    assert!(size(&folder) <= most);
}

/// Records now and then, each record a packet, until there is no room.
fn record_seldom(folder: &Folder, most: u64, classes: u32) -> (u64, u64) {
    let collector = collector_of(folder, &plan(), most);
    let program = Program::of(folder);
    let recording = collector.recording();
    let mut thread = program.thread(7, 8);
    let mut count = 0;
    for number in 0..4000 {
        if number % 100 == 0 && number / 100 < classes {
            program.register_class(&format!("a:{number:02000}"));
        }
        count += 1;
        if !(thread.put() || thread.switch() && thread.put()) {
            thread.lose();
        }
        recording.pass(0, Reach::Snapshot);
        recording.keep_ahead();
    }

    let outcome = collector.close(PATIENCE, false);

    assert_eq!(outcome.problems, Vec::<String>::new());
    let records = trace(folder).values().map(|packets| record_count(packets) as u64).sum::<u64>();
    assert_eq!(records + outcome.lost, count);
    (records, size(folder))
}

#[test]
fn packets_of_quiet_threads_leave_room_for_those_that_are_promised() {
    let folder = Folder::new();
    let most = 200 * 1024;
    let (records, size) = record_seldom(&folder, most, 0);

    assert!(size <= most, "{size}");
    assert!(records > 1000, "{records}");
}

#[test]
fn event_classes_count_as_well() {
    let folder = Folder::new();
    let most = 300 * 1024;
    let (records, size) = record_seldom(&folder, most, 10);

    assert!(fs::metadata(folder.trace().join("metadata")).unwrap().len() > 20_000);
    assert!(size <= most, "{size}");
    assert!(records > 1000, "{records}");
}
