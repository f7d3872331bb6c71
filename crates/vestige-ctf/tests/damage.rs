//! Data streams that are cut or that lie: what comes before the damage is kept.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::Arc;

use common::{parse, read, BitWriter, HEAD};
use vestige_ctf::model::ByteOrder::Little;
use vestige_ctf::stream::{Damage, DamageKind, DataFile};

/// Bytes of the header and context of a packet.
const PACKET_HEAD: usize = 4 + 8 + 8;
/// Bytes of a record.
const RECORD: usize = 1 + 8 + 2;
const RECORDS: usize = 5;
const PADDING: usize = 7;
const PACKET: usize = PACKET_HEAD + RECORDS * RECORD + PADDING;

fn metadata() -> String {
    format!(
        "{HEAD}trace {{ packet.header := struct {{ u32 magic; }}; }};\n\
         stream {{ packet.context := struct {{ u64 packet_size; u64 content_size; }}; \
           event.header := struct {{ u8 id; time timestamp; }}; }};\n\
         event {{ id = 0; name = e; fields := struct {{ u16 value; }}; }};\n\
         event {{ id = 1; name = list; fields := struct {{ u16 n; u64 list[n]; }}; }};\n\
         event {{ id = 2; name = many; fields := struct {{ u64 n; u8 many[n]; }}; }};\n\
         event {{ id = 3; name = choice; fields := struct {{ enum : u16 {{ one = 1 }} t; \
           variant <t> {{ u8 one; }} v; }}; }};\n\
         event {{ id = 4; name = huge; fields := struct {{ u8 all[0x1000000000000000]; }}; }};"
    )
}

/// A packet that begins at `time`, with sizes as given in bits.
fn packet_of(time: i64, total: usize, content: usize) -> Vec<u8> {
    let mut writer = BitWriter::new(Little).put(0xC1FC_1FC1, 32);
    writer = writer.put(total as i64, 64).put(content as i64, 64);
    for index in 0..RECORDS as i64 {
        writer = writer.put(0, 8).put(time + index, 64).put(index, 16);
    }
    writer.raw(&[0; PADDING]).bytes()
}

fn packet(time: i64) -> Vec<u8> {
    packet_of(time, PACKET * 8, (PACKET - PADDING) * 8)
}

fn two_packets() -> Vec<u8> {
    [packet(100), packet(200)].concat()
}

/// The error of a file whose first packet cannot be used.
fn refused(bytes: Vec<u8>) -> Damage {
    let trace = parse(&metadata());
    match DataFile::open(&trace, Arc::new(bytes), None) {
        Ok(_) => panic!("accepted"),
        Err(error) => error,
    }
}

#[test]
fn a_stream_cut_anywhere_keeps_the_records_before_the_cut() {
    let whole = two_packets();
    for length in PACKET_HEAD..whole.len() {
        let outcome = read(&metadata(), &[whole[..length].to_vec()]);
        let inside = |length: usize| (length.saturating_sub(PACKET_HEAD) / RECORD).min(RECORDS);
        let first = inside(length.min(PACKET));
        let expected = first + inside(length.saturating_sub(PACKET));
        assert_eq!(outcome.records.len(), expected, "cut at {length}");
        if length == PACKET {
            assert_eq!(outcome.damage, [], "cut at {length}");
            continue;
        }
        let damage = outcome.only_damage();
        assert_eq!(damage.end, length as u64, "cut at {length}");
        assert!(damage.message.contains("cut"), "cut at {length}");
        let (packet, good) = match length < PACKET {
            true => (0, first),
            false => (PACKET, expected - RECORDS),
        };
        let is_head = length - packet < PACKET_HEAD;
        let lost = if is_head { 0 } else { PACKET_HEAD + good * RECORD };
        assert_eq!(damage.start, (packet + lost) as u64, "cut at {length}");
        let kind = if is_head { DamageKind::PacketHeader } else { DamageKind::PacketCut };
        assert_eq!(damage.kind, kind, "cut at {length}");
    }
}

#[test]
fn a_file_without_a_whole_packet_header_is_refused() {
    assert_eq!(refused(Vec::new()).message, "the file is empty");
    for length in 1..PACKET_HEAD {
        let error = refused(two_packets()[..length].to_vec());
        assert!(error.message.contains("packet header cut"), "{length}: {error:?}");
        assert_eq!((error.kind, error.start), (DamageKind::StreamUnreadable, 0));
    }
}

#[test]
fn sizes_that_lie_are_refused_with_what_they_say() {
    let cases = [
        ((0, 0), "packet size of 0 bits"),
        ((PACKET * 8 + 1, 160), "expected whole bytes"),
        ((80, 80), "content size of 80 bits is less than the 160 bits"),
        ((800, 808), "content size of 808 bits is greater than the packet size of 800"),
        ((PACKET * 8, 8), "content size of 8 bits is less"),
    ];
    for ((total, content), message) in cases {
        let error = refused(packet_of(1, total, content));
        assert!(error.message.contains(message), "{error:?}");
        // The same in the second packet: the first one is read.
        let bytes = [packet(100), packet_of(200, total, content)].concat();
        let outcome = read(&metadata(), &[bytes]);
        assert_eq!(outcome.times(), [100, 101, 102, 103, 104]);
        assert_eq!(outcome.only_damage().start, PACKET as u64);
        assert_eq!(outcome.only_damage().end, 2 * PACKET as u64);
        // And before the end: those behind it are read.
        let bytes = [packet(100), packet_of(200, total, content), packet(300)].concat();
        let outcome = read(&metadata(), &[bytes]);
        assert_eq!(outcome.times(), [100, 101, 102, 103, 104, 300, 301, 302, 303, 304]);
        assert_eq!(outcome.only_damage().end, 2 * PACKET as u64);
    }
}

#[test]
fn a_packet_larger_than_the_file_gives_its_records_and_an_error() {
    for size in [PACKET * 8 + 8, 1 << 40, usize::MAX / 8 * 8] {
        let bytes = [packet(100), packet_of(200, size, (PACKET - PADDING) * 8)].concat();
        let outcome = read(&metadata(), &[bytes]);
        assert_eq!(outcome.records.len(), 2 * RECORDS);
        assert_eq!(outcome.only_damage().kind, DamageKind::PacketCut);
        assert_eq!(outcome.only_damage().start, (2 * PACKET - PADDING) as u64);
    }
}

#[test]
fn content_that_ends_inside_a_record_is_an_error_at_that_record() {
    let content = PACKET - PADDING - 3;
    let outcome = read(&metadata(), &[packet_of(100, PACKET * 8, content * 8)]);
    assert_eq!(outcome.records.len(), RECORDS - 1);
    let at = PACKET_HEAD + (RECORDS - 1) * RECORD;
    assert_eq!(outcome.only_damage().start, at as u64);
    assert_eq!(outcome.only_damage().kind, DamageKind::RecordPastContent);
    assert!(outcome.only_damage().message.contains("past the end of its packet's content"));
}

#[test]
fn garbage_behind_the_last_packet_is_an_error_there() {
    for (garbage, kind) in [
        (vec![0; 4096], DamageKind::ZeroPadding),
        (vec![0xff; 3], DamageKind::PacketHeader),
        (b"no packet at all, but text".to_vec(), DamageKind::Garbage),
    ] {
        let end = (2 * PACKET + garbage.len()) as u64;
        let outcome = read(&metadata(), &[[two_packets(), garbage].concat()]);
        assert_eq!(outcome.records.len(), 2 * RECORDS);
        let damage = outcome.only_damage();
        assert_eq!((damage.kind, damage.start, damage.end), (kind, 2 * PACKET as u64, end));
    }
}

/// The outcome of one more record at the end of a packet.
fn with_record(id: u8, body: &[u8]) -> Damage {
    let mut bytes = packet(100);
    bytes.truncate(PACKET - PADDING);
    bytes.push(id);
    bytes.extend(300u64.to_le_bytes());
    bytes.extend(body);
    let size = bytes.len() * 8;
    bytes[4..12].copy_from_slice(&(size as u64).to_le_bytes());
    bytes[12..20].copy_from_slice(&(size as u64).to_le_bytes());
    let outcome = read(&metadata(), &[bytes]);
    assert_eq!(outcome.times(), [100, 101, 102, 103, 104]);
    assert_eq!(outcome.only_damage().start, (PACKET - PADDING) as u64);
    outcome.only_damage().clone()
}

#[test]
fn a_record_that_makes_no_sense_is_an_error_behind_the_good_ones() {
    assert!(with_record(77, &[]).message.contains("class 77, which the metadata does not declare"));
    assert!(with_record(3, &[9, 0]).message.contains("value 9 of 't' selects no option"));
    assert!(with_record(1, &[0xff, 0xff, 1]).message.contains("past the end"));
    for length in [1u64 << 60, 1 << 61, u64::MAX, u64::MAX / 8 + 1] {
        assert!(with_record(2, &length.to_le_bytes()).message.contains("past the end"));
    }
    assert!(with_record(4, &[0; 64]).message.contains("past the end"));
}

#[test]
fn records_without_a_single_bit_do_not_go_on_for_ever() {
    let metadata = "trace { byte_order = le; }; event { name = e; fields := struct { }; };";
    let outcome = read(metadata, &[vec![0; 4]]);
    assert!(outcome.only_damage().message.contains("without a single bit"));
}

#[test]
fn elements_without_a_single_bit_are_believed_up_to_a_bound() {
    let fields = |fields: &str| {
        let text = format!("{HEAD}event {{ name = e; fields := struct {{ u8 n; {fields} }}; }};");
        read(&text, &[vec![0; 4]])
    };
    let outcome = fields("struct { } few[100]; u8 none[n];");
    assert_eq!((outcome.records.len(), outcome.damage), (4, vec![]));
    for many in [
        "struct { } a[0x1000000000000000];",
        "struct { } a[4097];",
        "struct { } a[4000][4000][4000][4000];",
        "struct { struct { } a[100]; } b[100];",
        "struct { u8 a[n]; } b[100][100];",
    ] {
        assert_eq!(fields(many).damage.len(), 1, "{many}");
    }
}
