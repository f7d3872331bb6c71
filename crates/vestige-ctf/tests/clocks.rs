//! The clock of a data stream, from short and long time stamps.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use common::{read, BitWriter, HEAD};
use vestige_ctf::model::ByteOrder::{self, Big, Little};

const COMPACT: &str = "
stream {
  packet.context := struct { time timestamp_begin; };
  event.header := struct {
    enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;
    variant <id> {
      struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; } compact;
      struct { u32 id; time timestamp; } extended;
    } v;
  } align(8);
};
event { id = 0; name = e; };
event { id = 40; name = far; };
";

fn compact(writer: BitWriter, time: i64) -> BitWriter {
    writer.align(8).put(0, 5).put(time, 27)
}

fn extended(writer: BitWriter, id: i64, time: i64) -> BitWriter {
    writer.align(8).put(31, 5).align(8).put(id, 32).put(time, 64)
}

fn times(order: ByteOrder, writer: &BitWriter) -> Vec<i64> {
    let word = if order == Big { "be" } else { "le" };
    let head = HEAD.replace("byte_order = le", &format!("byte_order = {word}"));
    let outcome = read(&format!("{head}{COMPACT}"), &[writer.bytes()]);
    assert_eq!(outcome.damage, []);
    outcome.times()
}

#[test]
fn a_short_time_stamp_below_the_last_one_means_one_wrap() {
    for order in [Little, Big] {
        let begin = BitWriter::new(order).put((5 << 27) + 100, 64);
        let writer = [200, 200, 199, 198].into_iter().fold(begin, compact);
        let base = 5 << 27;
        let expected = [200, 200, (1 << 27) + 199, (2 << 27) + 198].map(|time| base + time);
        assert_eq!(times(order, &writer), expected);
    }
}

#[test]
fn a_long_time_stamp_sets_the_whole_clock() {
    for order in [Little, Big] {
        let writer = compact(BitWriter::new(order).put(0, 64), 10);
        let writer = compact(extended(writer, 40, (9 << 27) + 3), 2);
        assert_eq!(times(order, &writer), [10, (9 << 27) + 3, (10 << 27) + 2]);
    }
}

#[test]
fn the_beginning_of_a_packet_is_where_its_clock_starts() {
    let metadata = format!(
        "{HEAD}stream {{ packet.context := struct {{ u16 packet_size; time timestamp_begin; \
           time timestamp_end; }}; event.header := struct {{ integer {{ size = 8; \
           map = clock.c.value; }} timestamp; }}; }};\nevent {{ name = e; }};"
    );
    let packet = |begin: i64, end: i64, time: i64| {
        let size = 8 * (2 + 8 + 8 + 1);
        BitWriter::new(Little).put(size, 16).put(begin, 64).put(end, 64).put(time, 8).bytes()
    };
    // The end, which is decoded before the record, must not move the clock.
    let bytes = [packet(0x1f0, 0x2ef, 0xf5), packet(0x2fe, 0xffff, 0x01)].concat();
    assert_eq!(read(&metadata, &[bytes]).times(), [0x1f5, 0x301]);
}

#[test]
fn a_clock_without_nanoseconds_is_converted_by_its_frequency() {
    let metadata = "trace { byte_order = le; }; clock { name = c; freq = 1000; offset_s = 1; };\n\
        stream { event.header := struct { integer { size = 16; map = clock.c.value; } t; }; };\n\
        event { name = e; };";
    let bytes = BitWriter::new(Little).put(1, 16).put(2500, 16).bytes();
    assert_eq!(read(metadata, &[bytes]).times(), [1_001_000_000, 3_500_000_000]);
}

#[test]
fn clock_values_and_offsets_at_the_limits_of_their_type_do_no_harm() {
    for offset in [i64::MAX, i64::MIN + 1] {
        for frequency in [1, 7, 1_000_000_000, u64::MAX] {
            let metadata = format!(
                "trace {{ byte_order = le; }}; clock {{ name = c; freq = {frequency}; offset_s = {offset}; \
                   offset = 0xffffffffffffffff; }};\n\
                 stream {{ event.header := struct {{ integer {{ size = 64; map = clock.c.value; }} \
                   t; }}; }};\nevent {{ name = e; }};"
            );
            let bytes = BitWriter::new(Little).put(0, 64).put(-1, 64).bytes();
            let outcome = read(&metadata, &[bytes]);
            assert_eq!((outcome.records.len(), outcome.text.lines().count()), (2, 2));
        }
    }
}
