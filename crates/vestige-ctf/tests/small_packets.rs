//! Small packets: one read and one batch serve many of them, and nothing gets mixed up.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use common::{open, parse, read, BitWriter, HEAD};
use vestige_ctf::model::ByteOrder::Little;
use vestige_ctf::muxer::{Merge, Muxer, Notice};
use vestige_ctf::source::ReadAt;
use vestige_ctf::stream::{
    Batch, DataFile, DataStream, Item, LostKind, Selection, StreamReader, TraceIdentity,
};

const CONTEXT: &str = "u16 packet_size; u16 content_size; time timestamp_begin; \
     time timestamp_end; u32 events_discarded; u32 packet_seq_num; u32 number;";
/// Bytes of a packet without its records: those of its context.
const CONTEXT_SIZE: i64 = 2 + 2 + 8 + 8 + 4 + 4 + 4;

fn metadata() -> String {
    format!(
        "{HEAD}stream {{ packet.context := struct {{ {CONTEXT} }}; \
           event.header := struct {{ time timestamp; }}; }};\n\
         event {{ name = e; fields := struct {{ u32 value; }}; }};"
    )
}

/// A packet of some records a cycle apart, whose values are their times.
fn packet(number: i64, count: i64, discarded: i64, sequence: i64) -> Vec<u8> {
    let begin = 1000 * number;
    let size = 8 * (CONTEXT_SIZE + count * 12);
    let mut writer = BitWriter::new(Little).put(size, 16).put(size, 16);
    writer = writer.put(begin, 64).put(begin + 999, 64).put(discarded, 32);
    writer = writer.put(sequence, 32).put(number, 32);
    for index in 0..count {
        writer = writer.put(begin + index, 64).put(begin + index, 32);
    }
    writer.bytes()
}

fn packets(count: i64) -> Vec<u8> {
    (0..count).flat_map(|number| packet(number, number % 4, 0, number)).collect()
}

fn batches(stream: &Arc<DataStream>) -> Vec<Batch> {
    let mut reader = StreamReader::new(Arc::clone(stream), Selection::default());
    let mut found = Vec::new();
    while let Some(item) = reader.next_item() {
        match item {
            Item::Batch(batch) => found.push(batch),
            Item::Lost(lost) => panic!("{lost:?}"),
            Item::Nothing | Item::Boundary(_) => {}
            Item::Damage(_, damage) => panic!("{damage:?}"),
        }
    }
    found
}

fn merges(streams: &[Arc<DataStream>]) -> Vec<Merge> {
    let wanted = streams.iter().map(|stream| (Arc::clone(stream), Selection::default()));
    let mut muxer = Muxer::new(wanted.collect());
    std::iter::from_fn(|| muxer.next_merge()).collect()
}

/// A source that counts how often it is read.
struct Counted {
    bytes: Vec<u8>,
    reads: Arc<AtomicUsize>,
}

impl ReadAt for Counted {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes.read_at(offset, buffer)
    }
}

#[test]
fn a_read_serves_many_packets() {
    let trace = Arc::new(parse(&metadata()));
    let reads = Arc::new(AtomicUsize::new(0));
    let source = Counted { bytes: packets(10_000), reads: Arc::clone(&reads) };
    let file = Arc::new(DataFile::open(&trace, Arc::new(source), None).unwrap());
    assert_eq!(file.packets.len(), 10_000);
    let listing = reads.swap(0, Ordering::Relaxed);
    let stream = DataStream::new(trace, 0, vec![file], TraceIdentity::default());
    assert!(!batches(&Arc::new(stream)).is_empty());
    let reading = reads.load(Ordering::Relaxed);
    assert!(listing < 20 && reading < 20, "{listing} and {reading} reads for 10,000 packets");
}

#[test]
fn a_batch_has_the_records_of_many_packets() {
    let bytes = packets(10_000);
    let stream = open(&Arc::new(parse(&metadata())), bytes.clone());
    let batches = batches(&stream);
    assert!(batches.len() < 10, "{} batches", batches.len());
    let mut expected = (0..10_000).flat_map(|number| (0..number % 4).map(move |i| (number, i)));
    for batch in &batches {
        assert!(batch.data.len() <= 256 * 1024);
        for (row, record) in batch.records.iter().enumerate() {
            let (number, index) = expected.next().unwrap();
            assert_eq!(record.cycles, 1000 * number + index);
            let part = batch.part_of(record);
            assert_eq!(part.packet.properties.sequence_number, Some(number));
            assert_eq!(part.packet.properties.offset, stream_offset(number));
            let at = batch.part(batch.part_of_row(row));
            assert!(Arc::ptr_eq(&at.packet, &part.packet));
            let offset = batch.file_offset(record);
            assert_eq!(offset, stream_offset(number) + CONTEXT_SIZE as u64 + 12 * index);
            let time = &bytes[offset as usize..][..8];
            assert_eq!(time, record.cycles.to_le_bytes());
        }
    }
    assert_eq!(expected.next(), None);
}

/// Where a packet of [`packets`] begins.
fn stream_offset(number: u64) -> u64 {
    (0..number).map(|number| CONTEXT_SIZE as u64 + 12 * (number % 4)).sum()
}

#[test]
fn a_run_is_of_one_packet_and_shows_its_context() {
    let stream = open(&Arc::new(parse(&metadata())), packets(3000));
    let mut seen = Vec::new();
    for merge in merges(&[stream]) {
        for run in &merge.runs {
            let (batch, records) = merge.run(run).unwrap();
            let packet = &merge.part(run).unwrap().packet;
            let same = |record| Arc::ptr_eq(&batch.part_of(record).packet, packet);
            assert!(records.iter().all(same));
            seen.push((packet.properties.sequence_number.unwrap(), records.len() as u64));
        }
    }
    // A packet may be cut where a merge is full.
    let mut counts = vec![0; 3000];
    seen.iter().for_each(|&(number, count)| counts[number as usize] += count);
    assert!(counts.iter().zip(0..).all(|(&count, number)| count == number % 4));
    let outcome = read(&metadata(), &[packets(3000)]);
    for (line, time) in outcome.lines().iter().zip(outcome.times()) {
        assert!(line.contains(&format!("{{ number = {} }}, ", time / 1000)), "{time}: {line}");
        assert!(line.ends_with(&format!("{{ value = {time} }}")), "{time}: {line}");
    }
    assert_eq!(outcome.lines().len(), 4500);
}

#[test]
fn packets_of_which_much_is_kept_are_not_gathered_without_end() {
    // Lengths of sequences are kept with each packet, those of all event record classes.
    let fields: String =
        (0..1000).map(|index| format!("u8 n{index}; u8 s{index}[n{index}]; ")).collect();
    let metadata = format!(
        "{HEAD}stream {{ packet.context := struct {{ u16 packet_size; }}; \
           event.header := struct {{ u8 id; }}; }};\n\
         event {{ name = e; id = 0; fields := struct {{ u8 value; }}; }};\n\
         event {{ name = f; id = 1; fields := struct {{ {fields} }}; }};"
    );
    let packet = |value: i64| BitWriter::new(Little).put(32, 16).put(0, 8).put(value, 8).bytes();
    let stream = open(&Arc::new(parse(&metadata)), (0..2000).flat_map(packet).collect());
    let batches = batches(&stream);
    let size = |batch: &Batch| batch.parts().map(|part| part.packet.slots.len() * 8).sum::<usize>();
    assert!(batches.iter().map(size).max().unwrap() <= 2 << 20);
    assert!(batches.iter().map(size).sum::<usize>() > 8 << 20);
    assert_eq!(batches.iter().map(|batch| batch.records.len()).sum::<usize>(), 2000);
}

#[test]
fn data_streams_of_small_packets_interleave() {
    let parts: [Vec<u8>; 2] = [0, 1].map(|odd| {
        (0..2000).filter(|number| number % 2 == odd).flat_map(|n| packet(n, 3, 0, n / 2)).collect()
    });
    let outcome = read(&metadata(), &parts);
    let expected: Vec<_> = (0..2000)
        .flat_map(|number| (0..3).map(move |index| (1000 * number + index, number as usize % 2)))
        .collect();
    assert_eq!(outcome.records, expected);
    assert_eq!((outcome.lost, outcome.damage), (vec![], vec![]));
}

#[test]
fn a_loss_stands_between_the_packets_that_reveal_it() {
    // Records are lost before packet 40, packets before packet 70.
    let packets: Vec<u8> = (0..100)
        .flat_map(|n| packet(n, 2, if n < 40 { 0 } else { 5 }, n + i64::from(n >= 70) * 3))
        .collect();
    let stream = open(&Arc::new(parse(&metadata())), packets);
    let merges = merges(&[stream]);
    assert_eq!(merges.len(), 1);
    let merge = &merges[0];
    let first_after = |run: usize| {
        let (_, records) = merge.run(&merge.runs[run]).unwrap();
        records[0].cycles / 1000
    };
    let found: Vec<_> = merge
        .notices
        .iter()
        .map(|(_, run, notice)| match notice {
            Notice::Lost(lost) => (lost.kind, lost.count, first_after(*run)),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(found, [(LostKind::Events, Some(5), 40), (LostKind::Packets, Some(3), 70)]);
}

#[test]
fn damage_ends_only_the_packet_it_is_in() {
    let mut packets: Vec<Vec<u8>> = (0..100).map(|number| packet(number, 3, 0, number)).collect();
    // The second record of packet 50 lies after its end.
    let at = CONTEXT_SIZE as usize + 12;
    packets[50][at..at + 8].copy_from_slice(&60_000u64.to_le_bytes());
    let outcome = read(&metadata(), &[packets.concat()]);
    let expected: Vec<i64> = (0..100)
        .flat_map(|number| (0..if number == 50 { 1 } else { 3 }).map(move |i| 1000 * number + i))
        .collect();
    assert_eq!(outcome.times(), expected);
    assert_eq!(outcome.only_damage().start, 50 * (CONTEXT_SIZE as u64 + 36) + at as u64);
}

/// What a reader gives: records with their places, losses and damage, in order.
fn told(stream: &Arc<DataStream>, gathered: usize) -> Vec<String> {
    let reader = StreamReader::new(Arc::clone(stream), Selection::default());
    let mut reader = reader.gathering(gathered);
    let mut told = Vec::new();
    while let Some(item) = reader.next_item() {
        match item {
            Item::Batch(batch) => told.extend(batch.records.iter().map(|record| {
                let part = batch.part_of(record);
                let values = (record.cycles, record.class, batch.file_offset(record));
                format!("{values:?} {:?} {:?}", part.packet.properties, part.packet.head)
            })),
            Item::Lost(lost) => told.push(format!("{lost:?}")),
            Item::Damage(file, damage) => told.push(format!("{file} {damage:?}")),
            Item::Nothing | Item::Boundary(_) => {}
        }
    }
    told
}

#[test]
fn packets_that_are_put_together_are_read_as_those_that_are_not() {
    let trace = Arc::new(parse(&metadata()));
    let right: Vec<u8> =
        (0..12).flat_map(|n| packet(n, n % 4, n / 5, n + i64::from(n > 8))).collect();
    let damaged = (0..right.len()).flat_map(|at| {
        [1, 0x40, 0xff].map(|bits| {
            let mut bytes = right.clone();
            bytes[at] ^= bits;
            bytes
        })
    });
    let cut = (60..right.len()).map(|length| right[..length].to_vec());
    let mut differing = 0;
    for bytes in std::iter::once(right.clone()).chain(damaged).chain(cut) {
        // Nobody knows what a file is whose only packets cannot be read.
        if DataFile::open(&trace, Arc::new(bytes.clone()), None).is_err() {
            continue;
        }
        let stream = open(&trace, bytes);
        let alone = told(&stream, 0);
        assert_eq!(told(&stream, 1 << 16), alone);
        differing += usize::from(alone.len() != 12 * 3 / 2);
    }
    assert!(differing > 100);
}

#[test]
fn fields_keep_the_alignment_that_they_have_in_their_packet() {
    for alignment in [8, 32, 256, 4096] {
        let metadata = format!(
            "{HEAD}stream {{ packet.context := struct {{ u16 packet_size; }}; \
               event.header := struct {{ u8 id; }}; }};\n\
             event {{ name = e; id = 7; fields := struct {{ string text; u8 selector; \
               integer {{ size = 32; align = {alignment}; }} values[1]; }}; }};"
        );
        // The structure begins at the alignment of what is in it.
        let packet = |index: i64| {
            let text = "x".repeat(index as usize % 9);
            let writer = BitWriter::new(Little).put(0, 16).put(7, 8).align(alignment);
            let writer = writer.raw(text.as_bytes()).put(0, 8).put(1, 8);
            let mut bytes = writer.align(alignment).put(index, 32).bytes();
            let size = bytes.len() as u16 * 8;
            bytes[..2].copy_from_slice(&size.to_le_bytes());
            bytes
        };
        let outcome = read(&metadata, &[(0..300).flat_map(packet).collect()]);
        assert_eq!(outcome.damage, [], "{alignment}");
        assert_eq!(outcome.lines().len(), 300);
        for (index, line) in outcome.lines().iter().enumerate() {
            assert!(line.ends_with(&format!("values = [ [0] = {index} ] }}")), "{line}");
        }
    }
}

#[test]
fn packets_whose_times_go_back_keep_their_order() {
    let metadata = format!(
        "{HEAD}stream {{ packet.context := struct {{ u16 packet_size; }}; \
           event.header := struct {{ time timestamp; }}; }};\nevent {{ name = e; }};"
    );
    let times = [50, 60, 20, 30, 70, 10];
    let packet = |&time: &i64| BitWriter::new(Little).put(80, 16).put(time, 64).bytes();
    let outcome = read(&metadata, &[times.iter().flat_map(packet).collect()]);
    assert_eq!(outcome.times(), times);
    assert_eq!(outcome.damage, []);
}

#[test]
fn a_notice_stays_between_the_records_of_one_packet_that_are_shown() {
    // The loss in the second data stream lies between two records of the first.
    let one = packet(1, 3, 0, 0);
    let lossy = [packet(0, 1, 0, 0), packet(2, 1, 0, 4)].concat();
    let trace = Arc::new(parse(&metadata()));
    let mut bytes = lossy;
    // The first packet ends at the second record of the other data stream.
    bytes[12..20].copy_from_slice(&1001u64.to_le_bytes());
    let streams = [open(&trace, one), open(&trace, bytes)];
    let wanted = Selection { classes: Some(vec![true]), ..Selection::default() };
    let wanted = streams.iter().map(|stream| (Arc::clone(stream), wanted.clone()));
    let merge = Muxer::new(wanted.collect()).next_merge().unwrap();
    // As a filter that hides nothing: where all are wanted, the merge stays as it is.
    assert!(merge.shown(None).is_none());
    let (shown, _) = merge.shown(Some(&vec![true; merge.records])).unwrap();
    let (_, run, _) = shown.notices[0];
    let before: Vec<u64> = shown.runs[..run]
        .iter()
        .flat_map(|run| shown.run(run).unwrap().1.iter().map(|record| record.cycles))
        .collect();
    assert_eq!(before, [0, 1000, 1001]);
    assert_eq!((shown.records, shown.notices.len()), (5, 1));
}
