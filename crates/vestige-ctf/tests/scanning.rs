//! Records of whole bytes are found as all others are: at the same places, in the same classes.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::Arc;

use common::{open, parse, BitWriter};
use vestige_ctf::model::ByteOrder::{self, Big, Little};
use vestige_ctf::stream::{DataStream, Item, Record, Selection, StreamReader};

/// IDs of classes: in order, out of order, and far away.
const IDS: [i64; 5] = [0, 1, 7, 4095, 60_000];
/// How many bytes a record has behind its header, without its strings.
const FIELDS: [&str; 5] = [
    "u32 a; u16 b;",
    "u8 a; string s; u32 b; string t; string u;",
    "char name[16]; u8 a; char other[3]; u16 b[2];",
    "u32a32 a; u8 b; string s; u32a32 c;",
    "u8 count; u16 list[count]; u8 a;",
];

fn metadata(order: &str, header: &str) -> String {
    let classes: String = IDS
        .iter()
        .zip(FIELDS)
        .map(|(id, fields)| {
            format!("event {{ name = e{id}; id = {id}; fields := struct {{ {fields} }}; }};\n")
        })
        .collect();
    format!(
        "typealias integer {{ size = 8; align = 8; }} := u8;
         typealias integer {{ size = 8; align = 8; encoding = UTF8; }} := char;
         typealias integer {{ size = 16; align = 8; }} := u16;
         typealias integer {{ size = 32; align = 8; }} := u32;
         typealias integer {{ size = 32; align = 32; }} := u32a32;
         trace {{ major = 1; minor = 8; byte_order = {order}; }};
         clock {{ name = c; }};
         typealias integer {{ size = 64; align = 8; map = clock.c.value; }} := time;
         typealias integer {{ size = 27; align = 1; map = clock.c.value; }} := u27;
         stream {{ event.header := struct {{ {header} }} align(8); }};
         {classes}"
    )
}

/// Numbers that look random and are the same each time.
fn numbers(seed: u64) -> impl Iterator<Item = i64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 33) as i64
    })
}

/// Records of random classes, each with the index of its class and the byte where it begins.
fn records(order: ByteOrder, compact: bool, seed: u64) -> (Vec<u8>, Vec<(u32, u32)>) {
    let mut numbers = numbers(seed);
    let mut next = || numbers.next().unwrap();
    let (mut writer, mut places) = (BitWriter::new(order), Vec::new());
    for time in 0..3000 {
        let class = (next() % 5) as usize;
        places.push((class as u32, writer.position() as u32 / 8));
        writer = match (compact, IDS[class]) {
            (false, id) => writer.put(id, 16).put(time, 64),
            (true, id) if id < 31 && next() % 4 > 0 => writer.put(id, 5).put(time, 27),
            (true, id) => writer.put(31, 5).align(8).put(id, 32).put(time, 64),
        };
        let text = vec![b'x'; (next() % 21) as usize];
        writer = match class {
            0 => writer.put(next(), 48),
            1 => writer.put(1, 8).raw(&text).put(0, 8).put(next(), 32).raw(&text).put(0, 16),
            2 => writer.raw(&[b'y'; 16]).put(3, 8).raw(b"abc").put(next(), 16).put(next(), 16),
            3 => writer.align(32).put(next(), 40).raw(&text).put(0, 8).align(32).put(5, 32),
            _ => writer.put(2, 8).put(next(), 32).put(9, 8),
        };
    }
    (writer.bytes(), places)
}

fn found(stream: &Arc<DataStream>, selection: Selection) -> Vec<Record> {
    let mut reader = StreamReader::new(Arc::clone(stream), selection);
    let mut found = Vec::new();
    while let Some(item) = reader.next_item() {
        match item {
            Item::Batch(batch) => found.extend(batch.records.iter().copied()),
            Item::Damage(_, damage) => panic!("{damage:?}"),
            _ => {}
        }
    }
    found
}

#[test]
fn records_are_found_where_they_begin_whatever_their_class() {
    let plain = "u16 id; time timestamp;";
    let compact = "enum : integer { size = 5; align = 1; } { brief = 0 ... 30, full = 31 } id;
         variant <id> { struct { u27 timestamp; } brief;
                        struct { u32 id; time timestamp; } full; } v;";
    for (seed, (order, name)) in [(Little, "le"), (Big, "be")].into_iter().enumerate() {
        for (is_compact, header) in [(false, plain), (true, compact)] {
            let (bytes, places) = records(order, is_compact, seed as u64 + 1);
            let stream = open(&Arc::new(parse(&metadata(name, header))), bytes);
            let all = found(&stream, Selection::default());
            let seen: Vec<_> = all.iter().map(|one| (one.class, one.start / 8)).collect();
            assert_eq!(seen, places, "{name} {header}");
            assert!(all.iter().zip(0..).all(|(record, time)| record.cycles == time));
            let decoded = found(&stream, Selection { check: true, ..Selection::default() });
            assert_eq!(all, decoded, "{name} {header}");
            let classes = Some(vec![false, true, false, false, true]);
            let chosen = found(&stream, Selection { classes, ..Selection::default() });
            let wanted = all.iter().filter(|record| [1, 4].contains(&record.class)).copied();
            assert_eq!(chosen, wanted.collect::<Vec<_>>(), "{name} {header}");
        }
    }
}
