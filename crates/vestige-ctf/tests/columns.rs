//! Event records as columns: what the arrays hold, byte by byte.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::sync::{Arc, RwLock};

use common::{open, parse, BitWriter, HEAD};
use vestige_ctf::columns::{
    csv_header, decode, AddedField, Array, Buffer, Decoded, Dictionaries, Layout, Options,
    RowFormat, RowWriter, StreamInput,
};
use vestige_ctf::derived::{Derived, NO_VALUE};
use vestige_ctf::encode::value::Value;
use vestige_ctf::model::{ByteOrder, FieldClass, FieldKind};
use vestige_ctf::muxer::{Merge, Muxer};
use vestige_ctf::places::{place_class, place_value};
use vestige_ctf::stream::Selection;

/// Two event record classes whose headers are an ID of a byte.
const EVENTS: &str = "stream { event.header := struct { u8 id; }; };
    event { id = 0; name = zero; fields := struct { u16 a; string text; }; };
    event { id = 1; name = one; fields := struct { u8 n; u32 list[n]; }; };";

struct Opened {
    layout: Layout,
    merge: Merge,
}

fn opened(events: &str, data: &BitWriter, options: &Options) -> Opened {
    let trace = Arc::new(parse(&format!("{HEAD}{events}")));
    let stream = open(&trace, data.bytes());
    let input = StreamInput { stream: Arc::clone(&stream), id: 7, classes: None };
    let layout = Layout::new(vec![input], options).unwrap();
    let merge = Muxer::new(vec![(stream, Selection::default())]).next_merge().unwrap();
    Opened { layout, merge }
}

impl Opened {
    fn rows(&self, rows: std::ops::Range<usize>) -> Decoded {
        let (decoded, error) = decode(&self.layout, &self.merge, rows, &[]);
        assert_eq!(error, None);
        decoded
    }

    fn column<'a>(&self, decoded: &'a Decoded, name: &str) -> &'a Array {
        let index = self.layout.columns.iter().position(|column| column.name == name).unwrap();
        &decoded.batch.columns[index]
    }
}

fn little() -> BitWriter {
    BitWriter::new(ByteOrder::Little)
}

fn mixed() -> BitWriter {
    little()
        .raw(&[0, 1, 2, b'h', b'i', 0])
        .raw(&[1, 2, 1, 0, 0, 0, 2, 0, 0, 0])
        .raw(&[1, 0])
        .raw(&[0, 3, 4, 0])
        .raw(&[1, 1, 9, 0, 0, 0])
}

#[test]
fn values_and_nulls_are_laid_out_as_arrow_has_them() {
    let opened = opened(EVENTS, &mixed(), &Options::default());
    let decoded = opened.rows(0..5);
    let a = opened.column(&decoded, "a");

    assert_eq!((a.length, a.nulls), (5, 3));
    assert!(matches!(&a.validity, Some(Buffer::U8(bits)) if bits == &[0b0000_1001]));
    assert!(matches!(&a.buffers[..], [Buffer::U16(values)] if values == &[0x201, 0, 0, 0x403, 0]));
    let text = opened.column(&decoded, "text");
    assert!(matches!(&text.buffers[..], [Buffer::I32(offsets), Buffer::U8(data)]
        if offsets == &[0, 2, 2, 2, 2, 2] && data == b"hi"));
    assert!(text.is_valid(3) && !text.is_valid(4));
    let list = opened.column(&decoded, "list");
    assert!(matches!(&list.buffers[..], [Buffer::I32(offsets)] if offsets == &[0, 0, 2, 2, 2, 3]));
    assert!(matches!(&list.children[0].buffers[..], [Buffer::U32(values)] if values == &[1, 2, 9]));
    assert_eq!((list.children[0].length, list.children[0].validity.is_none()), (3, true));
    let id = opened.column(&decoded, "stream_id");
    assert!(id.validity.is_none());
    assert!(matches!(&id.buffers[..], [Buffer::U64(values)] if values == &[7; 5]));
}

#[test]
fn a_part_of_the_rows_is_that_part_of_all() {
    let opened = opened(EVENTS, &mixed(), &Options::default());
    let text = |rows: std::ops::Range<usize>| {
        let decoded = opened.rows(rows);
        let writer = RowWriter::new(&opened.layout, &decoded, RowFormat::JsonLines);
        String::from_utf8(writer.text()).unwrap()
    };
    let whole = text(0..5);

    for cut in 0..=5 {
        assert_eq!(text(0..cut) + &text(cut..5), whole, "{cut}");
    }
    assert_eq!(whole.lines().next(), Some(r#"{"event":"zero","stream_id":7,"a":513,"text":"hi"}"#));
}

#[test]
fn a_column_without_a_value_takes_no_memory_of_its_own() {
    let opened = opened(EVENTS, &little().raw(&[1, 0, 1, 0]), &Options::default());
    let decoded = opened.rows(0..2);
    for name in ["timestamp", "a", "text"] {
        let array = opened.column(&decoded, name);
        assert_eq!((array.length, array.nulls), (2, 2), "{name}");
        assert!(array.buffers.iter().all(|buffer| matches!(buffer, Buffer::Zeros(_))), "{name}");
    }
}

#[test]
fn labels_of_many_batches_are_numbered_in_their_order() {
    let events = "event { name = e; fields := struct { enum : u8 { ONE = 1 } x; }; };";
    let options = Options { labels: true, ..Options::default() };
    let opened = opened(events, &little().raw(&[1, 9, 8, 9, 1, 7, 8, 7]), &options);
    let mut dictionaries = Dictionaries::new(&opened.layout.columns);
    let mut seen = Vec::new();
    for start in (0..8).step_by(2) {
        let batch = dictionaries.complete(&opened.layout.columns, opened.rows(start..start + 2));
        let array = batch.columns.last().unwrap();
        let labels = array.dictionary.as_ref().unwrap();
        for row in 0..2 {
            let label = labels.bytes(array.bits(row) as usize);
            seen.push((array.bits(row), String::from_utf8(label.to_vec()).unwrap()));
        }
    }
    let expected =
        [(0, "ONE"), (1, "9"), (2, "8"), (1, "9"), (0, "ONE"), (3, "7"), (2, "8"), (3, "7")];
    assert_eq!(seen, expected.map(|(index, label)| (index, label.to_owned())));
}

#[test]
fn csv_quotes_what_needs_it() {
    let data = little().raw(b"\0\x01\0a,\"b\0").raw(b"\0\x02\0\0").raw(&[1, 1, 5, 0, 0, 0]);
    let names = ["a", "text", "list"].map(str::to_owned).to_vec();
    let options = Options { columns: Some(names), ..Options::default() };
    let opened = opened(EVENTS, &data, &options);
    let decoded = opened.rows(0..3);
    let writer = RowWriter::new(&opened.layout, &decoded, RowFormat::Csv);

    assert_eq!(csv_header(&opened.layout), b"a,text,list\n");
    let expected = "1,\"a,\"\"b\",\n2,\"\",\n,,[5]\n";
    assert_eq!(String::from_utf8(writer.text()).unwrap(), expected);
}

#[test]
fn an_unknown_column_is_refused_with_those_there_are() {
    let trace = Arc::new(parse(&format!("{HEAD}{EVENTS}")));
    let stream = open(&trace, vec![1, 0]);
    let input = StreamInput { stream, id: 0, classes: None };
    let options = Options { columns: Some(vec!["b".to_owned()]), ..Options::default() };
    let unknown = Layout::new(vec![input], &options).err().unwrap();

    assert_eq!(unknown.name, "b");
    assert!(unknown.known.iter().any(|name| name == "list"));
}

/// Every kind of field, each with a part that decides about another.
const EVERY_KIND: &str = "stream { event.header := struct { integer { size = 1; } id; };
        event.context := struct { integer { size = 3; } bits; }; };
    event { id = 0; fields := struct {
        enum : u8 { SMALL = 0 ... 99, LARGE = 100 ... 255 } label;
        integer { size = 2; } n;
        struct { integer { size = 5; signed = true; } x; string words[2]; u16 inner[n]; } s[n];
        variant <label> { u32 SMALL; string LARGE; } chosen;
        integer { size = 100; } wide;
        floating_point { exp_dig = 8; mant_dig = 24; align = 8; } real;
        integer { size = 8; align = 8; encoding = UTF8; } text[4];
        struct { } nothing[n]; }; };
    event { id = 1; fields := struct { string n; u64 label; }; };";

/// Numbers that look random and are the same in each run.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        // Many small bytes: they make short arrays and known classes.
        let byte = (state >> 32) as u8;
        if byte & 1 == 0 {
            byte >> 6
        } else {
            byte
        }
    };
    (0..length).map(|_| next()).collect()
}

#[test]
fn whatever_records_are_found_have_a_row() {
    let trace = Arc::new(parse(&format!("{HEAD}{EVERY_KIND}")));
    let mut rows = 0;
    for seed in 0..400 {
        let stream = open(&trace, noise(seed, 300));
        let input = StreamInput { stream: Arc::clone(&stream), id: 0, classes: None };
        let flags = [seed % 2 == 0, seed % 3 == 0];
        let options = Options { labels: flags[0], dictionary: flags[1], ..Options::default() };
        let layout = Layout::new(vec![input], &options).unwrap();
        let mut dictionaries = Dictionaries::new(&layout.columns);
        let mut muxer = Muxer::new(vec![(stream, Selection::default())]);
        while let Some(merge) = muxer.next_merge() {
            let (decoded, error) = decode(&layout, &merge, 0..merge.records, &[]);
            assert_eq!(error, None, "{seed}");
            let text = RowWriter::new(&layout, &decoded, RowFormat::JsonLines).text();
            assert_eq!(text.split(|&byte| byte == b'\n').count(), merge.records + 1);
            let batch = dictionaries.complete(&layout.columns, decoded);
            batch.columns.iter().for_each(|array| consistent(array, merge.records));
            rows += batch.rows;
        }
    }
    assert!(rows > 500, "{rows}");
}

/// Checks lengths, offsets and indexes of an array and its parts.
fn consistent(array: &Array, length: usize) {
    assert_eq!(array.length, length);
    let nulls = (0..length).filter(|&row| !array.is_valid(row)).count();
    assert_eq!(array.nulls, nulls);
    if let Some(dictionary) = &array.dictionary {
        assert!((0..length).all(|row| (array.bits(row) as usize) < dictionary.length.max(1)));
    }
    if let Some(Buffer::I32(offsets)) = array.buffers.first() {
        assert_eq!(offsets.len(), length + 1);
        assert!(offsets.windows(2).all(|pair| pair[0] <= pair[1]));
        let end = usize::try_from(offsets[length]).unwrap();
        match (&array.children[..], array.buffers.get(1)) {
            ([element], None) => consistent(element, end),
            (_, Some(Buffer::U8(data))) => assert_eq!(data.len(), end),
            other => panic!("{other:?}"),
        }
    } else {
        array.children.iter().for_each(|child| consistent(child, child.length));
    }
}

#[test]
fn fields_that_filters_add_are_columns_of_their_own_types() {
    let number =
        FieldClass::new(FieldKind::Float { size: 32, alignment: 8, order: ByteOrder::Big });
    let (number, place) = (Arc::new(number), Arc::new(place_class()));
    let field = |name: &str, class| AddedField { name: name.to_owned(), class };
    let added = vec![field("number", Arc::clone(&number)), field("place", Arc::clone(&place))];
    let opened = opened(EVENTS, &mixed(), &Options { added, ..Options::default() });
    let derived = |name: &str, class, column, values| {
        let table = Arc::new(RwLock::new(values));
        Arc::new(Derived { name: name.to_owned(), class, column, table, streams: None })
    };
    let texts = ["", "f", "f.c:1"].map(str::to_owned);
    let all = [
        derived("place", place, vec![NO_VALUE, 0, 0, NO_VALUE, NO_VALUE], vec![place_value(texts)]),
        derived(
            "number",
            number,
            vec![1, NO_VALUE, 0, NO_VALUE, 1],
            vec![Value::Float(0.5), Value::Float(2.0)],
        ),
    ];
    let (decoded, error) = decode(&opened.layout, &opened.merge, 0..5, &all);

    assert_eq!(error, None);
    let number = opened.column(&decoded, "number");
    assert!(matches!(&number.buffers[..], [Buffer::U32(values)]
        if values.iter().map(|bits| f32::from_bits(*bits)).eq([2.0, 0.0, 0.5, 0.0, 2.0])));
    assert_eq!((number.length, number.nulls), (5, 2));
    let place = opened.column(&decoded, "place");
    assert_eq!((place.length, place.nulls, place.children.len()), (5, 3, 3));
    let nulls: Vec<usize> = place.children.iter().map(|member| member.nulls).collect();
    assert_eq!(nulls, [5, 3, 3]);
}
