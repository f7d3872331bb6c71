//! The order in which records of several data streams come.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::{Arc, Condvar, Mutex};

use common::{merge, open, parse, read, BitWriter, HEAD};
use vestige_ctf::model::ByteOrder::Little;
use vestige_ctf::muxer::{Merge, Muxer};
use vestige_ctf::source::ReadAt;
use vestige_ctf::stream::{DamageKind, DataFile, DataStream, Selection, TraceIdentity};

fn metadata() -> String {
    format!("{HEAD}stream {{ event.header := struct {{ time t; }}; }};\nevent {{ name = e; }};")
}

fn stream(times: impl IntoIterator<Item = i64>) -> Vec<u8> {
    times.into_iter().fold(BitWriter::new(Little), |writer, time| writer.put(time, 64)).bytes()
}

#[test]
fn records_come_in_time_order() {
    let files = [stream([1, 4, 5]), stream([2, 3, 9]), stream([6, 7, 8])];
    let outcome = read(&metadata(), &files);
    assert_eq!(outcome.times(), (1..=9).collect::<Vec<i64>>());
}

#[test]
fn the_first_stream_in_the_list_wins_a_tie() {
    let files = [stream([5, 5, 6]), stream([5, 6]), stream([4, 5, 6])];
    let outcome = read(&metadata(), &files);
    let expected = [(4, 2), (5, 0), (5, 0), (5, 1), (5, 2), (6, 0), (6, 1), (6, 2)];
    assert_eq!(outcome.records, expected);
}

#[test]
fn ties_keep_their_order_across_batches() {
    let files = [stream(vec![7; 50_000]), stream(vec![7; 40_000])];
    let ranks: Vec<usize> = read(&metadata(), &files).records.iter().map(|r| r.1).collect();
    assert!(ranks.is_sorted());
    assert_eq!(ranks.len(), 90_000);
}

#[test]
fn streams_that_interleave_record_by_record_are_merged_whole() {
    let files = [stream((0..60_000).map(|i| i * 2)), stream((0..60_000).map(|i| i * 2 + 1))];
    assert_eq!(read(&metadata(), &files).times(), (0..120_000).collect::<Vec<i64>>());
}

#[test]
fn records_without_a_clock_come_stream_by_stream() {
    let metadata = format!("{HEAD}event {{ name = e; fields := struct {{ u8 v; }}; }};");
    let outcome = read(&metadata, &[vec![1, 2], vec![3]]);
    assert_eq!(outcome.text, "e: { v = 1 }\ne: { v = 2 }\ne: { v = 3 }\n");
}

#[test]
fn time_that_goes_back_in_one_stream_ends_its_packet() {
    let outcome = read(&metadata(), &[stream([5, 3, 6]), stream([4])]);
    assert_eq!(outcome.records, [(4, 1), (5, 0)]);
    assert_eq!(outcome.only_damage().kind, DamageKind::TimeGoesBack);
}

#[test]
fn damage_in_one_stream_leaves_the_others_whole() {
    let mut cut = stream([1, 3]);
    cut.truncate(12);
    let outcome = read(&metadata(), &[cut, stream([2, 4])]);
    assert_eq!(outcome.times(), [1, 2, 4]);
    assert_eq!(outcome.only_damage().start, 8);
}

#[test]
fn files_of_one_stream_are_read_in_the_order_of_their_packets() {
    let text = format!(
        "{HEAD}stream {{ packet.context := struct {{ u16 packet_size; time timestamp_begin; \
           time timestamp_end; u64 packet_seq_num; }}; event.header := struct {{ time t; }}; }};\n\
         event {{ name = e; }};"
    );
    let trace = Arc::new(parse(&text));
    let packet = |time: i64, sequence: i64| {
        let writer = BitWriter::new(Little).put(8 * (2 + 8 * 4), 16).put(time, 64);
        writer.put(time, 64).put(sequence, 64).put(time, 64).bytes()
    };
    // The packet at 20 stands in both, as in overlapping snapshots.
    let parts = [[packet(20, 1), packet(30, 2)].concat(), [packet(10, 0), packet(20, 1)].concat()];
    let files = parts.map(|bytes| Arc::new(DataFile::open(&trace, Arc::new(bytes), None).unwrap()));
    let stream = DataStream::new(Arc::clone(&trace), 0, files.into(), TraceIdentity::default());
    let outcome = merge(vec![Arc::new(stream)]);
    assert_eq!(outcome.times(), [10, 20, 30]);
    assert_eq!(outcome.lost, []);
}

/// Long records make short merges: memory does not grow with the number of streams' records.
#[test]
fn a_merge_of_long_records_holds_few_of_them() {
    let metadata = format!("{HEAD}event {{ name = e; fields := struct {{ string s; }}; }};");
    let trace = Arc::new(parse(&metadata));
    let mut record = vec![b'x'; 1 << 20];
    record.push(0);
    let bytes = record.repeat(40);
    let selected = vec![(open(&trace, bytes), vestige_ctf::stream::Selection::default())];
    let mut muxer = vestige_ctf::muxer::Muxer::new(selected);
    let mut counts = Vec::new();
    while let Some(merge) = muxer.next_merge() {
        counts.push(merge.records);
    }
    assert_eq!(counts.iter().sum::<usize>(), 40);
    assert!(counts.iter().all(|&count| count <= 8), "{counts:?}");
}

/// Bytes that can be read once they are released.
struct Held {
    bytes: Vec<u8>,
    from: u64,
    is_released: Mutex<bool>,
    released: Condvar,
}

impl ReadAt for Held {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        let released = self.is_released.lock().unwrap();
        let must_wait = |released: &mut bool| offset >= self.from && !*released;
        drop(self.released.wait_while(released, must_wait).unwrap());
        self.bytes.read_at(offset, buffer)
    }
}

#[test]
fn a_merge_does_not_wait_long_for_what_is_being_read() {
    let trace = Arc::new(parse(&metadata()));
    let bytes = stream(0..200_000);
    let (is_released, released) = (Mutex::new(false), Condvar::new());
    let held = Arc::new(Held { bytes, from: 1 << 20, is_released, released });
    // Opening lists the packets, of which there is one.
    *held.is_released.lock().unwrap() = true;
    let file = DataFile::open(&trace, Arc::clone(&held) as Arc<dyn ReadAt>, None).unwrap();
    *held.is_released.lock().unwrap() = false;
    let files = vec![Arc::new(file)];
    let slow = DataStream::new(Arc::clone(&trace), 0, files, TraceIdentity::default());
    let fast = open(&trace, stream([5, 150_000]));
    let inputs = [Arc::new(slow), fast].map(|stream| (stream, Selection::default()));
    let mut muxer = Muxer::new(inputs.into());
    let mut times = Vec::new();
    let mut take = |merge: &Merge| {
        for run in &merge.runs {
            let (batch, records) = merge.run(run).unwrap();
            times.extend(records.iter().map(|record| batch.nanoseconds(record)));
        }
    };
    while let Some(merge) = muxer.next_merge() {
        if merge.records == 0 {
            // It came back with nothing, while the reading waits.
            *held.is_released.lock().unwrap() = true;
            held.released.notify_all();
        }
        take(&merge);
    }
    assert!(*held.is_released.lock().unwrap());
    assert_eq!(times.len(), 200_002);
    assert!(times.is_sorted());
}
