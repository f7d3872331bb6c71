//! Who records may ask a collector how far the recording is.
#![allow(clippy::unwrap_used)]

mod common;

use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::Duration;

use common::{collector, Folder, Program};
use vestige_collector::collector::Collector;
use vestige_collector::sys::{self, Peer};
use vestige_collector::watch::{is_allowed, QUESTION};

const PATIENCE: Duration = Duration::from_secs(30);

/// The words of an answer; none if there is no answer.
fn ask(collector: &Collector) -> Vec<String> {
    let address = SocketAddr::from_abstract_name(collector.socket().unwrap().0).unwrap();
    let mut connection = UnixStream::connect_addr(&address).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    connection.write_all(QUESTION).unwrap();
    let mut told = String::new();
    connection.read_to_string(&mut told).unwrap();
    told.split_terminator('\0').map(str::to_owned).collect()
}

#[test]
fn who_records_is_told_how_far_it_is() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.let_watch();
    collector.start().unwrap();
    let program = Program::of(&folder);
    let mut main = program.thread(70, 70);
    main.record(3);
    let mut other = program.thread(70, 71);
    other.record(1);

    let words = ask(&collector);

    let has = |word: &str| words.iter().any(|one| one == word);
    assert!(has(&format!("directory={}", folder.trace().display())), "{words:?}");
    assert!(has("lost=0") && has("rotated=0"), "{words:?}");
    let processes: Vec<_> = words.iter().filter(|one| one.starts_with("process=")).collect();
    assert_eq!(processes.len(), 1);
    assert!(processes.iter().all(|one| one.starts_with("process=70,")), "{words:?}");
}

#[test]
fn a_collector_that_is_not_watched_says_nothing() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();

    assert!(ask(&collector).is_empty());
}

#[test]
fn others_are_told_nothing() {
    let own = sys::effective_user();
    let peer = |user: u32| Peer { process: 1, user };

    assert!(is_allowed(peer(own)) && is_allowed(peer(0)));
    assert!(!is_allowed(peer(own + 1)));
}
