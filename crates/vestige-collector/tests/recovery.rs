//! Collectors that are killed, and others that go on where they were.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use common::{
    collector, next_collector, packets, plan, record_count, run, set_control, trace, wait_until,
    Folder, Kept, Program,
};
use vestige_collector::account::Account;
use vestige_collector::accounts::{path_of, Accounts};
use vestige_collector::collector::{Collector, Outcome};
use vestige_collector::drain::Reach;
use vestige_collector::recording::Limits;
use vestige_collector::{recovery, sys};

const FOLDER: &str = "VESTIGE_TEST_FOLDER";
const OVERWRITE: &str = "VESTIGE_TEST_OVERWRITE";

fn recover(folder: &Folder) -> Outcome {
    recover_told(folder, 0)
}

fn recover_told(folder: &Folder, told: u64) -> Outcome {
    let arena = folder.arena().unwrap();
    wait_until_unlocked(&arena);
    recovery::recover(&folder.trace(), &arena, told, Box::new(sys::write_parts)).unwrap()
}

/// Processes that other tests start have the open files of this one until they execute a program.
fn wait_until_unlocked(arena: &Path) {
    let file = fs::File::open(path_of(arena)).unwrap();
    wait_until(|| sys::lock_file(&file).is_ok());
    sys::unlock_file(&file).unwrap();
}

#[test]
fn an_arena_without_a_collector_is_written() {
    let folder = Folder::new();
    let killed = collector(&folder);
    let program = Program::of(&folder);
    run([|| program.thread(7, 8).record(2000)]);
    let mut living = program.thread(7, 9);
    living.record(700);
    drop(killed);

    let outcome = recover(&folder);

    assert_eq!((outcome.streams, outcome.is_drained), (2, true));
    assert_eq!(outcome.running.len(), 1);
    let found = trace(&folder);
    assert_eq!((record_count(&found["7-8"]), record_count(&found["7-9"])), (2000, 700));
    assert_eq!(folder.names(), ["7-8", "7-9", "metadata"]);
    assert_eq!(folder.arena(), None);
}

#[test]
fn an_arena_with_a_collector_is_left_alone() {
    let folder = Folder::new();
    let _living = collector(&folder);
    let arena = folder.arena().unwrap();

    let write = Box::new(sys::write_parts);
    let error = recovery::recover(&folder.trace(), &arena, 0, write).err().unwrap();

    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    assert!(arena.exists());
}

#[test]
fn recovery_goes_on_behind_what_was_written() {
    let folder = Folder::new();
    let killed = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(1000);
    thread.lose();
    killed.recording().pass(0, Reach::Snapshot);
    thread.record(1000);
    let last = thread.clock;
    drop(killed);
    // A packet that was being written.
    let path = folder.trace().join("7-8");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend([0xC1; 300]);
    fs::write(&path, bytes).unwrap();

    recover(&folder);

    let all = packets(&path);
    assert_eq!(record_count(&all), 2000);
    assert_eq!(all.last().unwrap().records.last(), Some(&last));
    assert_eq!(all.last().unwrap().discarded, 1);
}

#[test]
fn recovering_twice_gives_the_same() {
    let folder = Folder::new();
    let killed = collector(&folder);
    let program = Program::of(&folder);
    run([|| program.thread(7, 8).record(1500)]);
    let mut living = program.thread(7, 9);
    living.record(700);
    drop(killed);
    let arena = folder.arena().unwrap();
    let kept = Kept::of(&arena);
    recover(&folder);
    let first = trace(&folder);

    // As if it had been killed before it removed the arena, or wrote anything down.
    kept.put_back();
    for name in ["7-8", "7-9"] {
        fs::remove_file(folder.trace().join(name)).unwrap();
    }
    recover(&folder);

    assert_eq!(trace(&folder), first);
}

#[test]
fn a_recovery_that_is_killed_in_the_file_of_another_thread_is_done_again() {
    let folder = Folder::new();
    let killed = collector(&folder);
    let program = Program::of(&folder);
    run([|| program.thread(7, 8).record(5)]);
    run([|| {
        let mut thread = program.thread(7, 9);
        thread.clock = 5000;
        thread.record(5);
    }]);
    drop(killed);
    let arena = folder.arena().unwrap();
    let kept = Arc::new(Mutex::new(None));
    let written = AtomicU32::new(0);
    let (from, to) = (arena.clone(), Arc::clone(&kept));
    wait_until_unlocked(&arena);
    recovery::recover(
        &folder.trace(),
        &arena,
        0,
        Box::new(move |file, head, body, tail, at| {
            let done = sys::write_parts(file, head, body, tail, at);
            if written.fetch_add(1, Ordering::Relaxed) == 1 {
                *to.lock().unwrap() = Some(Kept::of(&from));
            }
            done
        }),
    )
    .unwrap();
    let whole = trace(&folder);
    assert_eq!(whole.keys().collect::<Vec<_>>(), ["7-8"]);
    assert_eq!(record_count(&whole["7-8"]), 10);

    // As it was when the second thread's packet was in the file, and nobody knew.
    kept.lock().unwrap().as_ref().unwrap().put_back();
    recover(&folder);

    assert_eq!(trace(&folder), whole);
}

#[test]
fn an_account_that_was_being_stored_leaves_the_one_before() {
    let folder = Folder::new();
    fs::write(folder.0.join("arena"), "").unwrap();
    let accounts = Accounts::make(&folder.0.join("arena"), 8).unwrap();
    let account = Account { drained_seq: 3, packets: 4, file_bytes: 4096, ..Account::default() };
    accounts.store(5, &Account::default());
    accounts.store(5, &account);
    drop(accounts);
    // As when the collector was killed in the middle of the next one.
    let path = path_of(&folder.0.join("arena"));
    let mut bytes = fs::read(&path).unwrap();
    let at = 65_536 + 4 * 256;
    let which = usize::from(bytes[at + 160]);
    bytes[at + (1 - which) * 80] = 77;
    fs::write(&path, bytes).unwrap();
    wait_until_unlocked(&folder.0.join("arena"));

    let accounts = Accounts::open(&folder.0.join("arena")).unwrap();

    assert_eq!(accounts.read(5), account);
    accounts.store(5, &Account { packets: 5, ..account });
    assert_eq!(accounts.read(5).packets, 5);
    assert_eq!(accounts.read(4), Account::default());
}

#[test]
fn files_that_are_no_arenas_are_refused() {
    let folder = Folder::new();
    let arena = folder.0.join("other");
    for bytes in [0, 100, 65536, 200_000] {
        fs::write(&arena, vec![1; bytes]).unwrap();
        let write = Box::new(sys::write_parts);
        assert!(recovery::recover(&folder.trace(), &arena, 0, write).is_err());
    }
}

#[test]
fn a_torn_event_class_is_written_again() {
    let folder = Folder::new();
    let killed = collector(&folder);
    let program = Program::of(&folder);
    program.register_class("a:b");
    program.register_class("a:c");
    killed
        .recording()
        .classes
        .write(&killed.recording().arena, &killed.recording().trace.files, &mut |_| ())
        .unwrap();
    let metadata = folder.trace().join("metadata");
    let whole = fs::read(&metadata).unwrap();
    program.thread(7, 8).record(1);
    drop(killed);
    let arena = folder.arena().unwrap();
    for torn in [0, 1, 5, 30] {
        let kept = Kept::of(&arena);
        fs::write(&metadata, &whole[..whole.len() - torn]).unwrap();

        recover(&folder);

        assert_eq!(fs::read(&metadata).unwrap(), whole);
        fs::remove_file(folder.trace().join("7-8")).unwrap();
        kept.put_back();
    }
}

/// This test program again, as a collector that is killed.
fn killable(folder: &Folder, overwrite: bool) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["collects_until_it_is_killed", "--exact", "--ignored"]);
    command.env(FOLDER, &folder.0).stdout(Stdio::null());
    if overwrite {
        command.env(OVERWRITE, "1");
    }
    command.spawn().unwrap()
}

#[test]
#[ignore = "a process that others start"]
fn collects_until_it_is_killed() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let folder = PathBuf::from(folder);
    let is_overwriting = env::var_os(OVERWRITE).is_some();
    let plan = vestige_collector::arena::Plan { is_overwriting, ..plan() };
    let max_bytes = if is_overwriting { 1 << 22 } else { 0 };
    let limits = Limits { max_bytes, is_overwriting, ..Limits::default() };
    let write = Box::new(sys::write_parts);
    let collector =
        Collector::new(&folder.join("trace"), &folder.join("memory"), &plan, limits, write)
            .unwrap();
    collector.start().unwrap();
    fs::write(folder.join("ready"), "").unwrap();
    loop {
        thread::sleep(Duration::from_secs(1));
    }
}

/// Threads record while the collector is killed; what the trace says then must add up.
fn kill_a_collector(round: u64, overwrite: bool) {
    let folder = Folder::new();
    let mut killed = killable(&folder, overwrite);
    wait_until(|| folder.0.join("ready").exists());
    let program = Program::of(&folder);
    let is_over = AtomicBool::new(false);
    let made: Vec<u64> = thread::scope(|scope| {
        let record = |number| {
            let (program, is_over) = (&program, &is_over);
            move || {
                let mut thread = program.thread(7, number);
                let mut made = 0;
                while !is_over.load(Ordering::Relaxed) {
                    thread.record_or_lose(1);
                    made += 1;
                }
                made
            }
        };
        let threads: Vec<_> = (1..=2).map(|number| scope.spawn(record(number))).collect();
        thread::sleep(Duration::from_micros(2_000 + round * 1_700));
        killed.kill().unwrap();
        killed.wait().unwrap();
        thread::sleep(Duration::from_millis(1));
        is_over.store(true, Ordering::Relaxed);
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });

    let outcome = recover(&folder);

    assert!(outcome.is_drained && outcome.problems.is_empty(), "{outcome:?}");
    let mut all: Vec<_> = trace(&folder).into_values().flatten().collect();
    all.sort_by_key(|packet| (packet.vtid, packet.number));
    for (number, made) in (1..=2).zip(made) {
        let own: Vec<_> = all.iter().filter(|packet| packet.vtid == number).cloned().collect();
        assert!(own.windows(2).all(|pair| pair[0].number + 1 == pair[1].number));
        assert!(own.windows(2).all(|pair| pair[0].end <= pair[1].begin));
        if !overwrite {
            let lost = own.last().map_or(0, |packet| packet.discarded);
            assert_eq!(record_count(&own) as u64 + lost, made);
        }
    }
}

#[test]
fn nothing_is_missing_or_twice_after_a_kill() {
    for round in 0..20 {
        kill_a_collector(round, false);
    }
}

#[test]
fn overwrite_mode_goes_on_after_a_kill() {
    for round in 0..5 {
        kill_a_collector(round * 3, true);
    }
}

#[test]
fn an_arena_stays_until_the_trace_tells_what_nobody_else_knows() {
    let folder = Folder::new();
    let killed = collector(&folder);
    let program = Program::of(&folder);
    run([|| program.thread(7, 8).record(20)]);
    program.shared().lost().store(5, Ordering::Relaxed);
    drop(killed);
    let arena = folder.arena().unwrap();

    assert_eq!(recover_told(&folder, 0).lost_unplaced, 5);
    assert!(arena.exists());
    assert_eq!(recover_told(&folder, 5).lost_unplaced, 5);
    assert!(!arena.exists());
}

#[test]
fn losses_of_a_thread_that_goes_on_are_told_by_who_takes_over() {
    let folder = Folder::new();
    let first = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(1);
    thread.lose();
    let handed_over = first.hand_over();

    let told = |at: usize| trace(&folder)["7-8"][at].discarded;
    assert_eq!((handed_over.lost, told(0)), (1, 0));

    let second = next_collector(&folder);
    // Complete before the loss would be told, were it told with the present chunk.
    thread.record(2000);
    let outcome = second.close(Duration::from_secs(5), false);

    assert_eq!((outcome.lost, record_count(&trace(&folder)["7-8"])), (1, 2001));
}

#[test]
fn losses_of_threads_without_a_slot_are_those_of_who_has_the_arena() {
    let folder = Folder::new();
    let first = collector(&folder);
    let program = Program::of(&folder);
    run([|| program.thread(7, 8).record(20)]);
    program.shared().lost().store(5, Ordering::Relaxed);
    let handed_over = first.hand_over();
    assert_eq!((handed_over.lost, handed_over.lost_untold), (5, 5));

    let second = next_collector(&folder);
    program.shared().lost().store(7, Ordering::Relaxed);
    assert_eq!(second.close(Duration::ZERO, false).lost, 7);
}

#[test]
fn what_is_handed_over_is_not_recovered() {
    let folder = Folder::new();
    let first = collector(&folder);
    first.start().unwrap();
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(10);
    first.hand_over();
    let arena = folder.arena().unwrap();

    let write = Box::new(sys::write_parts);
    let error = recovery::recover(&folder.trace(), &arena, 0, write).err().unwrap();

    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    let second = next_collector(&folder);
    second.start().unwrap();
    thread.record(10);
    assert_eq!(second.close(Duration::ZERO, false).lost, 0);
    assert_eq!(record_count(&trace(&folder)["7-8"]), 20);
}

#[test]
fn what_nobody_has_taken_over_is() {
    let folder = Folder::new();
    let first = collector(&folder);
    first.start().unwrap();
    let program = Program::of(&folder);
    run([|| program.thread(7, 8).record(10)]);
    first.hand_over();
    drop(first);
    // Who was to hand it over has ended.
    set_control(&folder.arena().unwrap(), 136, u32::MAX);

    assert!(recover(&folder).is_drained);
    assert_eq!(record_count(&trace(&folder)["7-8"]), 10);
}
