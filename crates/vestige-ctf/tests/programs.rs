//! A compiled program goes exactly as far through the bytes as the tree of field classes.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

use vestige_ctf::bits::BitReader;
use vestige_ctf::metadata::parse_text;
use vestige_ctf::model::{FieldClass, TraceClass};
use vestige_ctf::record::{check, skip, Program, State};

/// Fields of all kinds, in orders that make runs of any length and alignment.
const PAYLOADS: [&str; 9] = [
    "u8 a; u16 b; u32 c; u64 d; i5 e; i27 f; u8 g;",
    "i5 a; i5 b; i27 c; big12 d; big64 e; u8 f;",
    "u32a32 a; u8 b; u64a64 c; i5 d; struct { u8 x; u32a32 y; } e; u8 f;",
    "string a; u8 b; string c; string d;",
    "u8 n; u16 list[n]; big12 odd[n]; u8 rest;",
    "u8 a[5]; i5 bits[7]; struct { u8 x; u16a32 y; } pairs[3]; u8 none[0]; u64 last;",
    "u8 n; text8 words[n]; f32 a; f64 b; struct { struct { f64 x; } inner; string s; } c;",
    "enum : u8 { one = 0 ... 127, two } tag; variant <tag> { u64 one; string two; } v; u8 z;",
    "struct { } a; struct { } align(64) b; i5 c; struct { i5 x; } align(16) d; string e;",
];

fn metadata(payload: &str, order: &str) -> String {
    let integers: String = [
        ("u8", 8, 8, "", ""),
        ("u16", 16, 8, "", ""),
        ("u32", 32, 8, "", ""),
        ("u64", 64, 8, "", ""),
        ("i5", 5, 1, "signed = true;", ""),
        ("i27", 27, 1, "signed = true;", ""),
        ("big12", 12, 1, "", ""),
        ("big64", 64, 8, "", "be"),
        ("u16a32", 16, 32, "", ""),
        ("u32a32", 32, 32, "", ""),
        ("u64a64", 64, 64, "", ""),
        ("text8", 8, 8, "encoding = UTF8;", ""),
    ]
    .iter()
    .map(|(name, size, align, more, order)| {
        let order = if order.is_empty() { String::new() } else { format!("byte_order = {order};") };
        format!("typealias integer {{ size = {size}; align = {align}; {more} {order} }} := {name};")
    })
    .collect();
    format!(
        "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = {order}; }};
         {integers}
         typealias floating_point {{ exp_dig = 8; mant_dig = 24; align = 8; }} := f32;
         typealias floating_point {{ exp_dig = 11; mant_dig = 53; align = 1; }} := f64;
         stream {{ }};
         event {{ name = \"e\"; fields := struct {{ {payload} }}; }};"
    )
}

fn payload(trace: &TraceClass) -> &FieldClass {
    trace.stream_classes[0].event_classes[0].payload.as_ref().unwrap()
}

/// Bytes that look random and are the same each time; many are small, so that lengths fit.
fn noise(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let byte = (state >> 32) as u8;
            if state & 3 == 0 {
                byte & 7
            } else {
                byte
            }
        })
        .collect()
}

#[test]
fn programs_and_trees_end_at_the_same_bit() {
    let mut successes = 0;
    for (index, text) in PAYLOADS.iter().enumerate() {
        for order in ["le", "be"] {
            let trace = parse_text(metadata(text, order).as_bytes()).unwrap();
            let class = payload(&trace);
            let program = Program::new([class]);
            for seed in 0..400u64 {
                let data = noise(seed * 31 + index as u64, (seed % 90) as usize);
                let start = seed % 13;
                let end = data.len() as u64 * 8;
                let read = || {
                    let reader = BitReader::new(&data, start.min(end), end);
                    (reader, State::new(trace.slot_count))
                };
                let (mut tree, mut state) = read();
                let expected = check(class, &mut tree, &mut state);
                let (mut run, mut state) = read();
                let checked = program.run::<true>(&mut run, &mut state, &mut 0);
                let (mut stepped, mut state) = read();
                let skipped = program.run::<false>(&mut stepped, &mut state, &mut 0);
                let (mut walked, mut state) = read();
                let reference = skip(class, &mut walked, &mut state);
                assert_eq!(checked.is_ok(), expected.is_ok(), "{text} {order} {seed}");
                assert_eq!(skipped.is_ok(), reference.is_ok(), "{text} {order} {seed}");
                if expected.is_ok() {
                    successes += 1;
                    assert_eq!(run.position(), tree.position(), "{text} {order} {seed}");
                    assert_eq!(stepped.position(), tree.position(), "{text} {order} {seed}");
                }
            }
        }
    }
    assert!(successes > 2000, "only {successes} of the records fit: the test shows little");
}

#[test]
fn every_bit_of_a_number_is_decoded() {
    let text = "u8 a; i5 b; i27 c; u16 d; u64 e; big64 f; u16 g[2]; f32 h;";
    for order in ["le", "be"] {
        let trace = parse_text(metadata(text, order).as_bytes()).unwrap();
        let class = payload(&trace);
        let program = Program::new([class]);
        let sum = |data: &[u8]| {
            let mut reader = BitReader::new(data, 0, data.len() as u64 * 8);
            let mut sum = 0;
            program.run::<true>(&mut reader, &mut State::new(0), &mut sum).unwrap();
            (sum, reader.position())
        };
        let data = noise(7, 64);
        let (expected, size) = sum(&data);
        for bit in 0..size {
            let mut changed = data.clone();
            changed[(bit / 8) as usize] ^= 1 << (bit % 8);
            assert_eq!(sum(&changed).1, size);
            assert_ne!(sum(&changed).0, expected, "{order}: bit {bit} was not decoded");
        }
    }
}
