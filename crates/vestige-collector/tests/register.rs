//! The file that names arenas, where programs have put something else.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use common::{collector, Folder};
use vestige_collector::register::Register;

const NAME: &str = ".arena";

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let path = folder.trace().join(NAME);
    fs::remove_file(&path).unwrap();
    make_pipe(&path);

    let outcome = collector.close(Duration::ZERO, false);

    assert!(outcome.is_drained);
    assert!(Register::new(&folder.trace()).arenas().is_err());
}

#[test]
fn a_link_is_not_followed() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let path = folder.trace().join(NAME);
    // What it names is what a collector removes, or writes again without it.
    let victim = folder.trace().join("victim");
    let text = fs::read_to_string(&path).unwrap() + "kept\n";
    fs::write(&victim, &text).unwrap();
    fs::remove_file(&path).unwrap();
    symlink(&victim, &path).unwrap();

    collector.close(Duration::ZERO, false);

    assert_eq!(fs::read_to_string(&victim).unwrap(), text);
}

#[test]
fn a_file_with_another_name_is_left_alone() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let path = folder.trace().join(NAME);
    let other = folder.trace().join("other");
    let text = fs::read_to_string(&path).unwrap() + "kept\n";
    fs::write(&path, &text).unwrap();
    fs::hard_link(&path, &other).unwrap();

    collector.close(Duration::ZERO, false);

    assert_eq!(fs::read_to_string(&other).unwrap(), text);
}
