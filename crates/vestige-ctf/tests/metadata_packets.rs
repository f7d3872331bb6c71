//! Metadata cut into packets, in both byte orders.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{parse, HEAD};
use vestige_ctf::metadata;
use vestige_ctf::model::ByteOrder::{self, Big, Little};

const HEADER_SIZE: usize = 37;

/// A metadata packet with padding behind its text.
fn packet(text: &str, order: ByteOrder, padding: usize) -> Vec<u8> {
    let number = |value: usize| match order {
        Little => (value as u32).to_le_bytes(),
        Big => (value as u32).to_be_bytes(),
    };
    let content = HEADER_SIZE + text.len();
    let mut bytes = number(0x75D1_1D57).to_vec();
    bytes.extend([7; 16]);
    bytes.extend(number(0));
    bytes.extend(number(content * 8));
    bytes.extend(number((content + padding) * 8));
    bytes.extend([0, 0, 0, 1, 8]);
    bytes.extend(text.bytes());
    bytes.resize(content + padding, 0xaa);
    bytes
}

fn text(order: ByteOrder) -> String {
    let head = match order {
        Little => HEAD.to_owned(),
        Big => HEAD.replace("= le;", "= be;"),
    };
    format!("{head}event {{ name = e; fields := struct {{ u8 a; }}; }};\n")
}

/// Cuts text into packets of 50 bytes, in the middle of whatever stands there.
fn packets(order: ByteOrder) -> Vec<u8> {
    let text = text(order);
    let pieces = text.as_bytes().chunks(50);
    pieces.flat_map(|piece| packet(std::str::from_utf8(piece).unwrap(), order, 11)).collect()
}

#[test]
fn packets_are_joined_without_their_padding() {
    for order in [Little, Big] {
        assert_eq!(metadata::packets::packet_order(&packets(order)), Some(order));
        assert_eq!(metadata::packets::text(&packets(order)).unwrap(), text(order).as_bytes());
        assert_eq!(metadata::parse(&packets(order)).unwrap(), parse(&text(order)));
    }
}

/// Changes one byte of the second packet; gives the message and the offset of the error.
fn damaged(at: usize, value: u8) -> (String, u64) {
    let mut bytes = packets(Little);
    bytes[HEADER_SIZE + 50 + 11 + at] = value;
    let error = metadata::parse(&bytes).unwrap_err();
    (error.message, error.offset.unwrap())
}

#[test]
fn damage_in_a_packet_header_is_named_with_its_offset() {
    let second = (HEADER_SIZE + 50 + 11) as u64;
    let expect = |at: usize, value: u8, message: &str, offset: u64| {
        let (found, place) = damaged(at, value);
        assert!(found.contains(message), "{found}");
        assert_eq!(place, second + offset);
    };
    expect(0, 0, "expected the metadata packet magic", 0);
    expect(4, 0, "another UUID", 4);
    expect(25, 0, "sizes contradict", 24);
    expect(26, 1, "sizes contradict", 24);
    expect(31, 1, "metadata packet cut", 28);
    expect(32, 1, "compression, encryption or checksum", 32);
    expect(36, 9, "expected 1.8", 35);
}

#[test]
fn a_packet_that_is_cut_is_an_error_wherever_the_cut_is() {
    let bytes = packets(Big);
    let whole = HEADER_SIZE + 50 + 11;
    for length in 4..bytes.len() {
        if length % whole != 0 {
            let error = metadata::parse(&bytes[..length]).unwrap_err();
            assert!(error.offset.is_some() || error.line.is_some(), "{length}: {error}");
        }
    }
}

#[test]
fn lines_are_counted_in_the_joined_text() {
    let text = text(Big).replace("u8 a;", "\n nothing a;");
    let line = text.lines().position(|line| line.contains("nothing")).unwrap() as u32 + 1;
    let error = metadata::parse(&packet(&text, Big, 0)).unwrap_err();
    assert_eq!(error.line, Some(line));
}
