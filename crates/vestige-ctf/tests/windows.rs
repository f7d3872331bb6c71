//! Packets and records that are larger than the window through which they are read.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{read, BitWriter, HEAD};
use vestige_ctf::model::ByteOrder::{Big, Little};

const WINDOW: usize = 256 * 1024;

fn numbers() -> String {
    format!("{HEAD}event {{ name = e; fields := struct {{ u32 value; string text; }}; }};")
}

fn record(value: u32, text_size: usize) -> Vec<u8> {
    let mut bytes = value.to_le_bytes().to_vec();
    bytes.resize(4 + text_size, b'x');
    bytes.push(0);
    bytes
}

fn assert_in_order(sizes: &[usize]) {
    let records = sizes.iter().zip(0..).flat_map(|(&size, value)| record(value, size));
    let outcome = read(&numbers(), &[records.collect()]);
    assert_eq!(outcome.damage, []);
    let lines: Vec<&str> = outcome.text.lines().collect();
    assert_eq!(lines.len(), sizes.len());
    for (index, (line, size)) in lines.iter().zip(sizes).enumerate() {
        let start = format!("e: {{ value = {index}, text = \"x");
        assert!(line.starts_with(&start[..start.len() - usize::from(*size == 0)]), "{index}");
        let frame = format!("e: {{ value = {index}, text = \"\" }}").len();
        assert_eq!(line.len(), frame + size, "{index}");
    }
}

#[test]
fn a_packet_of_many_windows_gives_each_record_once() {
    assert_in_order(&vec![100; 4 * WINDOW / 105]);
}

#[test]
fn records_that_end_at_or_around_the_end_of_a_window_are_whole() {
    for off in 0..12 {
        assert_in_order(&[WINDOW - 5 - 4 + off - 5, 0, 3, 1]);
    }
}

#[test]
fn records_larger_than_a_window_are_read_whole() {
    assert_in_order(&[10, 3 * WINDOW, 10, WINDOW, 0, WINDOW + 1, 20]);
}

#[test]
fn a_string_of_several_mebibytes_is_read_whole() {
    assert_in_order(&[1, 5 << 20, 1, 9 << 20, 2]);
}

#[test]
fn fields_keep_their_alignment_in_every_window() {
    let metadata = format!(
        "{HEAD}event {{ name = e; fields := struct {{ integer {{ size = 3; align = 1; }} a; \
           integer {{ size = 9; align = 4096; }} b; string text; }}; }};"
    );
    let mut writer = BitWriter::new(Little);
    let count = 2 * WINDOW / 700;
    for index in 0..count {
        // The structure has the greatest alignment of its members.
        writer = writer.align(4096).put(index as i64 % 8, 3).align(4096);
        writer = writer.put(index as i64 % 512, 9).align(8).raw(b"text\0");
    }
    let outcome = read(&metadata, &[writer.bytes()]);
    assert_eq!(outcome.damage, []);
    for (index, line) in outcome.text.lines().enumerate() {
        let (a, b) = (index % 8, index % 512);
        assert_eq!(line, format!("e: {{ a = {a}, b = {b}, text = \"text\" }}"));
    }
    assert_eq!(outcome.records.len(), count);
}

#[test]
fn bit_records_run_on_across_windows_and_batches() {
    let metadata = "trace { byte_order = be; };\n\
        event { name = e; fields := struct { integer { size = 13; align = 1; } v; }; };";
    let count = 8 * 40_000;
    let writer = (0..count).fold(BitWriter::new(Big), |writer, index| writer.put(index % 8192, 13));
    let outcome = read(metadata, &[writer.bytes()]);
    assert_eq!(outcome.damage, []);
    assert_eq!(outcome.records.len() as i64, count);
    for (line, index) in outcome.text.lines().zip(0..) {
        assert_eq!(line, format!("e: {{ v = {} }}", index % 8192));
    }
}
