//! Half a megabyte of metadata that multiplies is read or refused at once.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fmt::Write as _;
use std::time::Duration;

use common::{processor_time, text_of, BitWriter, HEAD};
use vestige_ctf::metadata;
use vestige_ctf::model::ByteOrder::Little;

const MANY: usize = 20_000;

/// Far more than it takes, far less than what grows with the square needs.
const LIMIT: Duration = Duration::from_secs(3);

fn repeat(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

fn event(fields: &str) -> String {
    format!("event {{ name = e; fields := struct {{ {fields} }}; }};\n")
}

/// Parses what stands behind [`HEAD`]; gives the message if it is refused.
fn timed(rest: &str) -> Option<String> {
    let text = format!("{HEAD}{rest}");
    let start = processor_time();
    let result = metadata::parse(text.as_bytes());
    let taken = processor_time() - start;
    assert!(taken < LIMIT, "{taken:?} for {} bytes", text.len());
    result.err().map(|error| error.message)
}

#[test]
fn many_lengths_in_one_structure() {
    assert_eq!(timed(&event(&repeat(MANY, |n| format!("u8 m{n}; u8 s{n}[m{n}];")))), None);
}

#[test]
fn many_lengths_in_another_structure() {
    let members = repeat(MANY, |n| format!("u8 m{n};"));
    let users = repeat(MANY, |n| format!("u8 s{n}[o.m{n}];"));
    assert_eq!(timed(&event(&format!("struct {{ {members} }} o; {users}"))), None);
    let stream = format!("stream {{ event.context := struct {{ {members} }}; }};\n");
    let users = repeat(MANY, |n| format!("u8 s{n}[m{n}];"));
    assert_eq!(timed(&format!("{stream}{}", event(&users))), None);
}

#[test]
fn many_variants_of_one_enumeration() {
    let labels = repeat(MANY, |n| format!("l{n},"));
    let variants = repeat(MANY / 2, |n| format!("variant <t> {{ u8 l{}; }} v{n};", MANY - 1 - n));
    assert_eq!(timed(&event(&format!("enum : u64 {{ {labels} }} t; {variants}"))), None);
}

#[test]
fn labels_and_variants_that_multiply_are_refused() {
    let labels = repeat(MANY, |n| format!("l = {n},"));
    let variants = repeat(MANY / 2, |n| format!("variant <t> {{ u8 l; }} v{n};"));
    let message = timed(&event(&format!("enum : u64 {{ {labels} }} t; {variants}"))).unwrap();
    assert!(message.contains("multiply to more than a million"), "{message}");
}

#[test]
fn many_streams_and_clocks() {
    let header = "trace { byte_order = le; packet.header := struct { u32 stream_id; }; };\n";
    let streams = repeat(MANY, |n| format!("stream {{ id = {n}; }};\n"));
    assert_eq!(timed(&format!("{header}{streams}")), None);
    let clocks = repeat(MANY / 2, |n| {
        format!("clock {{ name = c{n}; }}; typealias integer {{ size = 8; map = clock.c{n}.value; }} := t{n};\n")
    });
    assert_eq!(timed(&clocks.replace("c0;", "first;").replace("clock.c0.", "clock.first.")), None);
}

#[test]
fn arrays_without_end_are_no_more_than_a_number() {
    assert_eq!(timed(&event("u8 a[1152921504606846976][1152921504606846976];")), None);
    assert_eq!(timed(&event("struct { } a[18446744073709551615];")), None);
    let message = timed(&event("u8 a[18446744073709551616];")).unwrap();
    assert!(message.contains("is no integer of at most 64 bits"), "{message}");
}

#[test]
fn a_type_does_not_contain_itself() {
    let message = timed("struct r { u8 a; struct r b; };").unwrap();
    assert!(message.contains("unknown type 'r'"), "{message}");
}

/// Of ranges that overlap the first selects, however many there are.
#[test]
fn an_option_is_found_among_many_ranges() {
    let mut labels = String::new();
    for n in 0..50 {
        write!(labels, "l{n} = {} ... {},", n * 10, n * 10 + 4).unwrap();
    }
    let others = repeat(49, |n| format!("u8 l{};", n + 1));
    let first = "integer { size = 8; base = 16; } l0;";
    let fields = format!(
        "enum : u16 {{ {labels} l0 = 0 ... 1000 }} t; variant <t> {{ {others} {first} }} v;"
    );
    for (value, shown) in
        [(0, "0x7"), (5, "0x7"), (10, "7"), (123, "7"), (494, "7"), (495, "0x7"), (1000, "0x7")]
    {
        let text = text_of(Little, &fields, &BitWriter::new(Little).put(value, 16).put(7, 8));
        assert!(text.ends_with(&format!("v = {{ {shown} }} }}")), "{value}: {text}");
    }
}
