//! Event classes that programs register are in the metadata before their events.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{collector, Folder, Program};
use vestige_collector::drain::Reach;

const PATIENCE: Duration = Duration::from_secs(5);

fn metadata(folder: &Folder) -> String {
    fs::read_to_string(folder.trace().join("metadata")).unwrap()
}

#[test]
fn classes_get_numbers_in_order() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    program.register_class("\tname = \"a:b\";\n");
    program.register_class("\tname = \"a:c\";\n");
    program.thread(7, 8).record(1);

    collector.close(PATIENCE);

    assert_eq!(
        metadata(&folder),
        "/* CTF 1.8 */\n\
         \nevent {\n\tid = 26;\n\tname = \"a:b\";\n};\n\
         \nevent {\n\tid = 27;\n\tname = \"a:c\";\n};\n"
    );
}

#[test]
fn each_is_written_once() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    for number in 0..3 {
        program.register_class(&format!("\tname = \"a:{number}\";\n"));
        thread.record(500);
        collector.recording().pass(0, Reach::Complete);
    }
    collector.close(PATIENCE);

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
    program.register_class("\tname = \"a:b\";\n");
    thread.record(500);
    collector.recording().pass(0, Reach::Complete);
    let text = metadata(&folder).replace("1.8", "2.9");
    fs::write(folder.trace().join("metadata"), text).unwrap();
    program.register_class("\tname = \"a:c\";\n");
    thread.record(500);

    collector.close(PATIENCE);

    let text = metadata(&folder);
    assert!(text.starts_with("/* CTF 2.9 */\n") && text.contains("a:b") && text.contains("a:c"));
}

#[test]
fn texts_that_lie_elsewhere_are_left_out() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let program = Program::of(&folder);
    program.register_class("\tname = \"a:b\";\n");
    program.register_class("\tname = \"a:c\";\n");
    let entry = program.geometry.classes_at;
    program.memory.u32(entry + 16).store(u32::MAX - 5, Ordering::Relaxed);
    program.thread(7, 8).record(1);

    let outcome = collector.close(PATIENCE);

    assert_eq!(outcome.problems, ["event class 26 is damaged"]);
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
    program.register_class("\tname = \"a:b\";\n");
    fs::remove_file(folder.trace().join("metadata")).unwrap();
    program.thread(7, 8).record(1);

    let outcome = collector.close(PATIENCE);

    assert!(outcome.is_drained && outcome.packets == 1);
    assert_eq!(outcome.problems, ["metadata is gone: it lacks event classes"]);
}
