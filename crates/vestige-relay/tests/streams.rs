//! Streams in files, and who reads them meanwhile.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use std::fs::{self, File};
use std::path::PathBuf;
use std::sync::Arc;

use vestige_relay::data::DataHeader;
use vestige_relay::events::{Event, Events};
use vestige_relay::index::{IndexVersion, PacketIndex};
use vestige_relay::memory::{Account, Memory};
use vestige_relay::server::ControlConnection;
use vestige_relay::store::{Chunk, Directory, Follower, Layout, Pool, Stream};

const BYTES: u32 = 64;

/// A directory that goes with the test, and what tells that trace chunks were left.
struct Output {
    path: PathBuf,
    events: Arc<Events>,
}

impl Output {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("relay-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self { path, events: Arc::new(Events::new().unwrap()) }
    }

    fn directory(&self, name: &str, chunk: u64) -> Arc<Directory> {
        let path = self.path.join(name);
        fs::create_dir_all(&path).unwrap();
        let chunk = Arc::new(Chunk::new(chunk, Arc::clone(&self.events)));
        Arc::new(Directory::new(File::open(path).unwrap(), chunk))
    }

    fn left(&self) -> Vec<u64> {
        let chunk = |event| match event {
            Event::ChunkLeft { chunk } => chunk,
            other => panic!("expected the end of a trace chunk: {other:?}"),
        };
        self.events.take().into_iter().map(chunk).collect()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.path).unwrap();
    }
}

const MEMORY: usize = 64 << 20;

fn stream(output: &Output, files: u64, most_open: usize) -> Arc<Stream> {
    stream_of(output, files, most_open, &Account::alone(MEMORY))
}

fn layout(channel: &str) -> Layout {
    Layout {
        session: 1,
        channel: channel.into(),
        is_metadata: false,
        index: Some(IndexVersion::of_protocol(11)),
        file_bytes: 0,
        file_count: 0,
        most_metadata: 0,
    }
}

fn stream_of(output: &Output, files: u64, most_open: usize, account: &Arc<Account>) -> Arc<Stream> {
    let layout = Layout {
        file_bytes: if files > 0 { 2 * u64::from(BYTES) } else { 0 },
        file_count: files,
        ..layout("c_0")
    };
    let pool = Arc::new(Pool::new(most_open));
    let directory = output.directory("first", 1);
    Arc::new(Stream::create(1, layout, &directory, &pool, account).unwrap())
}

fn packet(stream: &Stream, sequence: u64) {
    let header = DataHeader { stream: 1, sequence, bytes: BYTES, padding: 0 };
    stream.begin_packet(&header).unwrap();
    stream.write(&[sequence as u8; BYTES as usize]).unwrap();
    stream.end_packet(&header).unwrap();
}

fn index(stream: &Stream, sequence: u64) {
    let packet_bits = u64::from(BYTES) * 8;
    let packet = PacketIndex { packet_bits, number: sequence, ..PacketIndex::default() };
    stream.add_index(sequence, packet).unwrap();
}

fn both(stream: &Stream, sequence: u64) {
    packet(stream, sequence);
    index(stream, sequence);
}

/// The numbers of the packets that there are, each as the index and as the data have it.
fn numbers(follower: &mut Follower) -> Vec<u64> {
    let mut found = Vec::new();
    while let Some(entry) = follower.take().unwrap() {
        let word = |at: usize| u64::from_be_bytes(entry[at..at + 8].try_into().unwrap());
        let data = follower.read(word(0), BYTES as usize).unwrap();
        assert_eq!(data, [word(64) as u8; BYTES as usize]);
        found.push(word(64));
    }
    found
}

#[test]
fn a_follower_waits_for_entries_of_the_file_before() {
    let output = Output::new("late");
    let stream = stream(&output, 8, 16);
    let mut follower = Follower::new(Arc::clone(&stream));
    both(&stream, 0);
    // The third one is in the next file; of the second one nothing is known yet.
    packet(&stream, 1);
    both(&stream, 2);
    assert_eq!(numbers(&mut follower), [0]);
    index(&stream, 1);
    assert_eq!(numbers(&mut follower), [1, 2]);
    assert_eq!(numbers(&mut Follower::new(stream)), [0, 1, 2]);
}

#[test]
fn what_is_open_is_read_though_it_was_removed() {
    for most_open in [1, 16] {
        let output = Output::new(&format!("removed-{most_open}"));
        let stream = stream(&output, 2, most_open);
        let mut follower = Follower::new(Arc::clone(&stream));
        both(&stream, 0);
        assert_eq!(numbers(&mut follower), [0]);
        for sequence in 1..7 {
            both(&stream, sequence);
        }
        // Two files are left, and the first one is open.
        let found = numbers(&mut follower);
        assert_eq!(found.first(), Some(&1), "{most_open}");
        assert_eq!(found.get(found.len() - 3..), Some(&[4, 5, 6][..]), "{most_open}");
        assert_eq!(numbers(&mut Follower::new(stream)), [4, 5, 6]);
    }
}

#[test]
fn a_follower_goes_on_in_the_next_trace_chunk_and_keeps_none() {
    let output = Output::new("chunks");
    let stream = stream(&output, 0, 16);
    let mut follower = Follower::new(Arc::clone(&stream));
    both(&stream, 0);
    packet(&stream, 1);
    stream.rotate(1, Some(output.directory("second", 2))).unwrap();
    assert_eq!(output.left(), [1]);
    fs::remove_dir_all(output.path.join("first")).unwrap();
    index(&stream, 1);
    both(&stream, 2);
    assert_eq!(numbers(&mut follower), [1, 2], "the first one was removed");
    assert_eq!(numbers(&mut Follower::new(Arc::clone(&stream))), [1, 2]);
    assert!(stream.close(Some(2)));
    assert_eq!(output.left(), [2]);
    assert_eq!(numbers(&mut Follower::new(Arc::clone(&stream))), [1, 2]);
}

#[test]
fn a_rotation_in_the_midst_of_a_packet_moves_what_has_come() {
    let output = Output::new("midst");
    let stream = stream(&output, 0, 1);
    both(&stream, 0);
    let header = DataHeader { stream: 1, sequence: 1, bytes: BYTES, padding: 8 };
    stream.begin_packet(&header).unwrap();
    stream.write(&[1; 40]).unwrap();
    stream.rotate(1, Some(output.directory("second", 2))).unwrap();
    stream.write(&[1; 24]).unwrap();
    stream.end_packet(&header).unwrap();
    index(&stream, 1);
    let size = |name: &str| fs::metadata(output.path.join(name)).unwrap().len();
    assert_eq!((size("first/c_0"), size("second/c_0")), (64, 72));
    assert_eq!(numbers(&mut Follower::new(stream)), [1]);
}

#[test]
fn very_many_files_are_let_go_of() {
    let output = Output::new("many");
    let stream = stream(&output, 1, 4);
    both(&stream, 0);
    let mut follower = Follower::new(Arc::clone(&stream));
    assert_eq!(numbers(&mut follower), [0]);
    for sequence in 1..10_000 {
        both(&stream, sequence);
    }
    // It is too far behind for all of them.
    assert!(numbers(&mut follower).len() < 4);
}

#[test]
fn a_new_file_has_no_index_of_the_one_before() {
    let output = Output::new("again");
    let first = stream(&output, 0, 4);
    both(&first, 0);
    let index = output.path.join("first/index/c_0.idx");
    assert!(index.exists());
    let again = stream(&output, 0, 4);
    assert!(!index.exists());
    assert_eq!(numbers(&mut Follower::new(again)), [0; 0]);
}

#[test]
fn a_link_in_place_of_the_index_folder_is_not_followed() {
    let output = Output::new("link");
    let elsewhere = output.path.join("elsewhere");
    fs::create_dir_all(&elsewhere).unwrap();
    fs::create_dir_all(output.path.join("first")).unwrap();
    fs::write(elsewhere.join("c_0.idx"), b"of others").unwrap();
    std::os::unix::fs::symlink(&elsewhere, output.path.join("first/index")).unwrap();
    let pool = Arc::new(Pool::new(1));
    let layout = stream(&Output::new("layout"), 0, 1).layout.clone();
    let (first, account) = (output.directory("first", 1), Account::alone(MEMORY));
    assert!(Stream::create(1, layout, &first, &pool, &account).is_err());
    assert_eq!(fs::read(elsewhere.join("c_0.idx")).unwrap(), b"of others");
}

#[test]
fn whoever_begins_at_the_end_sees_what_comes_then() {
    for files in [0, 8] {
        let output = Output::new(&format!("end-{files}"));
        let stream = stream(&output, files, 16);
        let mut none = Follower::new(Arc::clone(&stream));
        none.pass_all();
        for sequence in 0..5 {
            both(&stream, sequence);
        }
        let mut late = Follower::new(Arc::clone(&stream));
        late.pass_all();
        assert_eq!(numbers(&mut late), [0; 0]);
        // Of one nothing is known yet, and the next ones are in another file.
        for sequence in 5..8 {
            packet(&stream, sequence);
        }
        let mut later = Follower::new(Arc::clone(&stream));
        later.pass_all();
        for sequence in 5..8 {
            index(&stream, sequence);
        }
        both(&stream, 8);
        assert_eq!(numbers(&mut late), [5, 6, 7, 8]);
        assert_eq!(numbers(&mut later), [5, 6, 7, 8]);
        assert_eq!(numbers(&mut none), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }
}

#[test]
fn packets_may_be_far_ahead_of_their_indexes_as_long_as_there_is_memory() {
    const COUNT: u64 = 20_000;
    let output = Output::new("ahead");
    let memory = Memory::new(8 << 20);
    let first = stream_of(&output, 0, 16, &memory.account("a"));
    for sequence in 0..COUNT {
        packet(&first, sequence);
    }
    for sequence in 0..COUNT {
        index(&first, sequence);
    }
    assert_eq!(numbers(&mut Follower::new(Arc::clone(&first))).len() as u64, COUNT);
    let header = |sequence| DataHeader { stream: 1, sequence, bytes: 0, padding: 8 };
    let refused = (COUNT..).find_map(|sequence| {
        first.begin_packet(&header(sequence)).unwrap();
        first.end_packet(&header(sequence)).err()
    });
    assert_eq!(refused.unwrap().to_string(), "the memory for this peer is used up");
    let used = memory.used();
    assert!((5 << 20..=6 << 20).contains(&used), "{used}");
    // Others have what is left.
    both(&stream_of(&output, 0, 16, &memory.account("b")), 0);
    first.abandon();
    assert!(memory.used() < 64 << 10);
}

#[test]
fn a_reader_that_stands_still_keeps_no_more_than_some_files() {
    let output = Output::new("still");
    let memory = Memory::new(MEMORY);
    let stream = stream_of(&output, 0, 4, &memory.account("a"));
    let mut follower = Follower::new(Arc::clone(&stream));
    both(&stream, 0);
    assert_eq!(numbers(&mut follower), [0]);
    for turn in 1..100 {
        let next = output.directory(&turn.to_string(), turn);
        stream.rotate(turn, Some(next)).unwrap();
        both(&stream, turn);
    }
    let open = fs::read_dir("/proc/self/fd").unwrap().filter(|entry| {
        let name = fs::read_link(entry.as_ref().unwrap().path()).unwrap_or_default();
        name.starts_with(&output.path)
    });
    assert!(open.count() < 40);
    let found = numbers(&mut follower);
    assert_eq!(found.last(), Some(&99));
    assert!(memory.used() < 64 << 10);
}

#[test]
fn a_connection_that_takes_no_replies_is_not_answered_without_end() {
    let memory = Memory::new(4 << 20);
    let account = memory.account("a");
    let mut connection = ControlConnection::new(&account).unwrap();
    let store = vestige_relay::store::Store::new(
        Arc::new(Pool::new(2)),
        Arc::new(Events::new().unwrap()),
        Memory::new(1 << 20),
    );
    let command = [[0; 16].as_slice(), &99_u32.to_be_bytes(), &[0; 4]].concat();
    connection.feed(&command.repeat(1 << 16)).unwrap();
    assert!(connection.run(&store).unwrap().is_none());
    assert!(connection.output.len() <= 65 << 10);
    let mut replies = 0;
    while !connection.output.is_empty() {
        replies += connection.output.len() / 4;
        connection.sent(connection.output.len());
        assert!(connection.run(&store).unwrap().is_none());
    }
    assert_eq!(replies, 1 << 16);
    assert!(memory.used() < 64 << 10);
    // More than there is for it.
    assert!(connection.feed(&vec![0; 4 << 20]).is_err());
}

#[test]
fn metadata_stays_until_the_first_of_a_new_beginning_has_come() {
    let output = Output::new("anew");
    let layout =
        Layout { is_metadata: true, index: None, most_metadata: 1 << 20, ..layout("metadata") };
    let (pool, account) = (Arc::new(Pool::new(4)), Account::alone(MEMORY));
    let directory = output.directory("first", 1);
    let stream = Stream::create(1, layout, &directory, &pool, &account).unwrap();
    let there = || fs::read(output.path.join("first/metadata")).unwrap();
    stream.add_metadata(b"older", 0).unwrap();
    stream.reset_metadata().unwrap();
    assert_eq!(&there()[..5], b"older");
    assert_eq!((stream.progress().metadata_bytes, stream.progress().resets), (0, 1));
    stream.add_metadata(b"new", 0).unwrap();
    stream.add_metadata(b"er", 0).unwrap();
    assert_eq!(&there()[..5], b"newer");
    stream.reset_metadata().unwrap();
    assert!(stream.close(None));
    assert_eq!(there(), b"newer");
}
