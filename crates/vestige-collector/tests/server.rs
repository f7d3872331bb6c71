//! Programs that cannot open their arena get it over a socket, if they belong to the recording.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod common;

use std::io::{Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::time::{Duration, Instant};

use common::{collector, next_collector, plan, trace, Folder, Program};
use vestige_collector::collector::Collector;
use vestige_collector::sys;

/// On a busy machine; the server waits for each of those who say nothing for a second.
const PATIENCE: Duration = Duration::from_secs(30);

fn connect(collector: &Collector) -> UnixStream {
    let address = SocketAddr::from_abstract_name(collector.socket().unwrap().0).unwrap();
    let connection = UnixStream::connect_addr(&address).unwrap();
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    connection
}

fn token(collector: &Collector) -> Vec<u8> {
    let text = collector.socket().unwrap().1;
    let byte = |place: usize| u8::from_str_radix(&text[place..place + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

/// How many bytes come as an answer; the descriptor is dropped.
fn ask(collector: &Collector, said: &[u8]) -> usize {
    let mut connection = connect(collector);
    connection.write_all(said).unwrap();
    connection.read(&mut [0; 8]).unwrap_or(0)
}

#[test]
fn who_says_the_token_gets_an_answer() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();

    assert_eq!(ask(&collector, &token(&collector)), 1);
    assert_eq!(collector.arenas().all().len(), 1);
}

#[test]
fn the_token_may_come_in_parts() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    let mut connection = connect(&collector);

    for byte in token(&collector) {
        connection.write_all(&[byte]).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }

    assert_eq!(connection.read(&mut [0; 8]).unwrap(), 1);
}

#[test]
fn another_token_gets_nothing() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    let right = token(&collector);

    for place in 0..right.len() {
        let mut wrong = right.clone();
        wrong[place] ^= 1;
        assert_eq!(ask(&collector, &wrong), 0);
    }
    assert_eq!(ask(&collector, &right), 1);
}

#[test]
fn who_says_too_little_is_sent_away() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    let begun = Instant::now();

    assert_eq!(ask(&collector, &token(&collector)[1..]), 0);
    assert!(begun.elapsed() < PATIENCE);
}

#[test]
fn those_who_say_nothing_stop_nobody() {
    let folder = Folder::new();
    let collector = collector(&folder);
    collector.start().unwrap();
    let silent: Vec<UnixStream> = (0..200).map(|_| connect(&collector)).collect();
    let begun = Instant::now();

    assert_eq!(ask(&collector, &token(&collector)), 1);
    // One after the other, sixty-four of them would have it wait longer.
    assert!(begun.elapsed() < PATIENCE);
    drop(silent);
}

#[test]
fn the_socket_goes_with_the_recording() {
    let folder = Folder::new();
    let collector = collector(&folder);
    let address = SocketAddr::from_abstract_name(collector.socket().unwrap().0).unwrap();
    collector.start().unwrap();
    collector.close(PATIENCE, false);

    assert!(UnixStream::connect_addr(&address).is_err());
}

#[test]
fn a_collector_that_takes_over_has_the_same_socket() {
    let folder = Folder::new();
    let first = collector(&folder);
    first.start().unwrap();
    let program = Program::of(&folder);
    let mut thread = program.thread(7, 8);
    thread.record(1);
    first.hand_over();

    let second = next_collector(&folder);
    second.start().unwrap();

    assert_eq!(second.socket(), first.socket());
    assert_eq!(ask(&second, &token(&first)), 1);
    thread.record(1);
    second.close(PATIENCE, false);
    assert_eq!(trace(&folder)["7-8"].len(), 2);
    assert_eq!(plan().user, sys::effective_user());
}
