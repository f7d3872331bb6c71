//! Any bytes as a data stream file, read the whole way: packets, records, merge, text,
//! columns.
//!
//! The first byte of an input chooses the metadata: one of the real ones below or, from
//! [`OWN_METADATA`] on, text that the input brings itself, behind its length in two bytes.

#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use vestige_ctf::columns::{
    decode, Layout, Options as ColumnOptions, RowFormat, RowWriter, StreamInput,
};
use vestige_ctf::metadata;
use vestige_ctf::model::TraceClass;
use vestige_ctf::muxer::{Merge, Muxer};
use vestige_ctf::record::check;
use vestige_ctf::stream::{Batch, DataFile, DataStream, Record, Selection, TraceIdentity};
use vestige_ctf::text::{Options, Renderer};

/// Metadata that `tools/fuzz.py` knows by the same indexes.
const METADATA: [&[u8]; 7] = [
    include_bytes!("../../../tests/data/fields/ust/uid/0/64-bit/metadata"),
    include_bytes!("../../../tests/data/hello/ust/uid/0/64-bit/metadata"),
    include_bytes!("../../../tests/data/lost/ust/uid/0/64-bit/metadata"),
    include_bytes!("../../../tests/data/reload/ust/uid/0/64-bit/metadata"),
    include_bytes!("../metadata/every_type.tsdl"),
    include_bytes!("../metadata/big_endian.tsdl"),
    include_bytes!("../metadata/every_kind.json-seq"),
];

/// First bytes from here on announce metadata in the input itself.
const OWN_METADATA: u8 = 0xc0;

/// Text as a whole may be long, but not longer than this many bytes for each byte read.
const MAX_TEXT_RATIO: usize = 1 << 14;

fn embedded(choice: u8) -> Option<Arc<TraceClass>> {
    static TRACES: OnceLock<Vec<Arc<TraceClass>>> = OnceLock::new();
    let parse = |bytes: &&[u8]| Arc::new(metadata::parse(bytes).expect("embedded metadata"));
    let traces = TRACES.get_or_init(|| METADATA.iter().map(parse).collect());
    traces.get(usize::from(choice) % traces.len()).cloned()
}

/// The trace class that an input asks for, and what is left of the input.
fn trace_class(data: &[u8]) -> Option<(Arc<TraceClass>, &[u8])> {
    let (&choice, rest) = data.split_first()?;
    if choice < OWN_METADATA {
        return Some((embedded(choice)?, rest));
    }
    let (length, rest) = rest.split_first_chunk::<2>()?;
    let length = usize::from(u16::from_le_bytes(*length)).min(rest.len());
    let (text, stream) = rest.split_at(length);
    Some((Arc::new(metadata::parse(text).ok()?), stream))
}

fuzz_target!(|data: &[u8]| {
    let Some((trace, bytes)) = trace_class(data) else { return };
    let Ok(file) = DataFile::open(&trace, Arc::new(bytes.to_vec()), None) else { return };
    let (class, file) = (file.first.stream_class, Arc::new(file));
    // The same file twice: the streams meet in the muxer, and their ties too.
    let streams = (0..2).map(|_| {
        let files = vec![Arc::clone(&file)];
        let stream = DataStream::new(Arc::clone(&trace), class, files, TraceIdentity::default());
        (Arc::new(stream), Selection::default())
    });
    let streams: Vec<_> = streams.collect();
    let layout = layout(&streams);
    let mut muxer = Muxer::new(streams);
    let mut renderer = Renderer::new(Options::default(), Arc::new(|_| 3600));
    let mut written = 0;
    while let Some(merge) = muxer.next_merge() {
        written += render(&mut renderer, &merge);
        written += decode_columns(&layout, &merge);
        validate(&merge);
    }
    assert!(written <= (data.len() + 64) * MAX_TEXT_RATIO, "{written} bytes of text");
});

/// All columns of the streams, with text and labels in dictionaries.
fn layout(streams: &[(Arc<DataStream>, Selection)]) -> Layout {
    let input = |(stream, _): &(Arc<DataStream>, Selection)| StreamInput {
        stream: Arc::clone(stream),
        id: 0,
        classes: None,
    };
    let options = ColumnOptions { labels: true, dictionary: true, ..ColumnOptions::default() };
    let made = Layout::new(streams.iter().map(input).collect(), &options);
    made.unwrap_or_else(|unknown| panic!("nothing was asked for: {unknown:?}"))
}

/// Decodes a merge in two parts and writes their rows; every record must have one.
fn decode_columns(layout: &Layout, merge: &Merge) -> usize {
    let mut written = 0;
    let cut = merge.records / 2;
    for rows in [0..cut, cut..merge.records] {
        let (decoded, error) = decode(layout, merge, rows.clone(), &[]);
        assert_eq!(error, None, "a record that was found could not be decoded");
        assert_eq!(decoded.batch.rows, rows.len());
        for array in &decoded.batch.columns {
            assert_eq!(array.length, rows.len());
        }
        for format in [RowFormat::JsonLines, RowFormat::Csv] {
            written += RowWriter::new(layout, &decoded, format).text().len();
        }
    }
    written
}

fn render(renderer: &mut Renderer, merge: &Merge) -> usize {
    let mut length = 0;
    let rendered = renderer.render(merge, 0..merge.runs.len(), 0, &[], &mut |piece| {
        length += piece.len();
        true
    });
    assert_eq!(rendered, Ok(()), "a record that was found could not be rendered");
    length
}

/// Builds the values of all records, as Python's event objects do.
fn validate(merge: &Merge) {
    for run in &merge.runs {
        let Some((batch, records)) = merge.run(run) else { continue };
        records.iter().for_each(|record| validate_record(batch, record));
    }
}

fn validate_record(batch: &Batch, record: &Record) {
    let mut state = batch.state_of(record);
    let mut reader = batch.body_reader(record, &mut state);
    for scope in batch.body_scopes(record).into_iter().flatten() {
        let built = check(scope, &mut reader, &mut state);
        assert_eq!(built, Ok(()), "a record that was found could not be decoded");
    }
}
