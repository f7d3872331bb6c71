//! Event classes that programs register are in the metadata before their events.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{class_text, collector, Folder, Program};
use vestige_collector::drain::Reach;
use vestige_collector::layout::CLASS_BYTES;
use vestige_collector::{recovery, sys};

const PATIENCE: Duration = Duration::from_secs(5);

fn metadata(folder: &Folder) -> String {
    fs::read_to_string(folder.trace().join("metadata")).unwrap()
}

fn refusal(process: u32) -> String {
    format!(
        "process {process} of user {} describes events as no tracer does: \
         these event classes are left out",
        sys::effective_user()
    )
}

#[test]
fn classes_get_numbers_in_order() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    program.register_class("a:b");
    program.register_class("a:c");
    program.thread(7, 8).record(1);

    collector.close(PATIENCE, false);

    assert_eq!(
        metadata(&folder),
        format!(
            "/* CTF 1.8 */\n\
             \nevent {{\n\tid = 26;\n{}}};\n\
             \nevent {{\n\tid = 27;\n{}}};\n",
            class_text("a:b"),
            class_text("a:c"),
        )
    );
}

#[test]
fn each_is_written_once() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    for number in 0..3 {
        program.register_class(&format!("a:{number}"));
        thread.record(500);
        collector.recording().pass(0, Reach::Complete);
    }
    collector.close(PATIENCE, false);

    for number in 0..3 {
        assert_eq!(metadata(&folder).matches(&format!("a:{number}")).count(), 1);
    }
}

#[test]
fn the_head_may_be_written_anew_meanwhile() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    program.register_class("a:b");
    thread.record(500);
    collector.recording().pass(0, Reach::Complete);
    let text = metadata(&folder).replace("1.8", "2.9");
    fs::write(folder.trace().join("metadata"), text).unwrap();
    program.register_class("a:c");
    thread.record(500);

    collector.close(PATIENCE, false);

    let text = metadata(&folder);
    assert!(text.starts_with("/* CTF 2.9 */\n") && text.contains("a:b") && text.contains("a:c"));
}

#[test]
fn texts_that_lie_elsewhere_are_left_out() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    program.register_class("a:b");
    program.register_class("a:c");
    let entry = program.geometry.classes_at;
    program.memory.u32(entry + 16).store(u32::MAX - 5, Ordering::Relaxed);
    program.thread(7, 8).record(1);

    let outcome = collector.close(PATIENCE, false);

    assert_eq!(outcome.problems, [refusal(0)]);
    assert!(!metadata(&folder).contains("a:b") && metadata(&folder).contains("a:c"));
}

#[test]
fn texts_get_memory_ahead_of_need() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let ready = program.shared().class_text_ready().load(Ordering::Relaxed);
    assert_eq!(ready, 256 << 10);

    program.shared().class_text_used().store(ready - 100, Ordering::Relaxed);
    collector.recording().keep_ahead();

    assert_eq!(program.shared().class_text_ready().load(Ordering::Relaxed), 512 << 10);
}

#[test]
fn records_are_written_without_metadata() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    program.register_class("a:b");
    fs::remove_file(folder.trace().join("metadata")).unwrap();
    program.thread(7, 8).record(1);

    let outcome = collector.close(PATIENCE, false);

    assert!(outcome.is_drained && outcome.packets == 1);
    assert_eq!(outcome.problems, ["metadata is gone: it lacks event classes"]);
}

#[test]
fn what_would_spoil_the_metadata_is_left_out() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let good = class_text("a:b");
    let hostile = [
        good.clone() + "}; trace { major = 9; }; event { id = 3;",
        good.replace("struct { ", "struct { /* "),
        good.replace("a:b", "a\"; }; env { a = 1; }; event { name = \"b"),
        good.replace("struct { ", "struct { integer { size = 4000000000; } _a; "),
    ];
    for (place, text) in (0_u64..).zip(&hostile) {
        program.register_text(text);
        let entry = program.geometry.classes_at + place * CLASS_BYTES;
        program.memory.u32(entry + 24).store(77, Ordering::Relaxed);
    }
    program.register_text(&good);
    program.thread(7, 8).record(1);

    let outcome = collector.close(PATIENCE, false);

    assert_eq!(outcome.problems, [refusal(77)]);
    let text = metadata(&folder);
    assert_eq!(text, format!("/* CTF 1.8 */\n\nevent {{\n\tid = 30;\n{good}}};\n"));
}

#[test]
fn classes_that_share_a_text_take_no_more_than_texts_may() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let field = |number| format!("string _f{number}; ");
    let fields: String = (0..3000).map(field).collect();
    program.register_text(&class_text("a:b").replace("struct { ", &format!("struct {{ {fields}")));
    let entry = program.geometry.classes_at;
    let size = program.memory.u32(entry + 20).load(Ordering::Relaxed);
    for place in 1..4096 {
        program.memory.u32(entry + place * CLASS_BYTES + 20).store(size, Ordering::Relaxed);
    }
    program.shared().class_count().store(4096, Ordering::Release);
    program.thread(7, 8).record(1);

    let outcome = collector.close(PATIENCE, false);

    let most = program.geometry.classes_bytes / u64::from(size);
    assert_eq!(outcome.problems, [refusal(0)]);
    assert_eq!(metadata(&folder).matches("a:b").count() as u64, most);
}

#[test]
fn going_on_with_many_classes_takes_no_time() {
    let folder = Folder::new();
    let killed = collector(&folder);
    let program = Program::of(&folder);
    for number in 0..4000 {
        program.register_class(&format!("a:{number}"));
    }
    drop(killed);
    // None of them is there, and much else is.
    let text = "\nevent {\n\tid = 7;\n};\n".repeat(500_000);
    fs::write(folder.trace().join("metadata"), &text).unwrap();
    let started = sys::processor_time();
    let arena = folder.arena().unwrap();
    let write = Box::new(sys::write_parts);
    recovery::recover(&folder.trace(), &arena, 0, write).unwrap();

    // Searching through all of it for each takes a minute.
    let taken = Duration::from_nanos(sys::processor_time() - started);
    assert!(taken < Duration::from_secs(10), "{taken:?}");
    // The end of a line might be the beginning of a class that was cut.
    let now = metadata(&folder);
    assert!(text.starts_with(&now) && now.len() + 1 >= text.len(), "{}", now.len());
}
