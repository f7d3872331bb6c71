//! A bit writer, and reading whole traces that lie in memory.
#![allow(dead_code)]

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use vestige_ctf::metadata;
use vestige_ctf::model::{ByteOrder, FieldClass, TraceClass};
use vestige_ctf::muxer::{Muxer, Notice};
use vestige_ctf::stream::{Damage, DataFile, DataStream, Lost, Selection, TraceIdentity};
use vestige_ctf::text::{Options, Renderer};
use vestige_ctf::CtfError;

/// Integer types, a clock and a trace block, for tests about something else.
pub const HEAD: &str = "\
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
trace { major = 1; minor = 8; byte_order = le; };
clock { name = c; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
";

/// What this thread has used: a busy machine lets it wait as long as it likes.
pub fn processor_time() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split(' ').next().unwrap().parse().unwrap())
}

/// Writes fields at any bit offset.
pub struct BitWriter {
    order: ByteOrder,
    bits: Vec<bool>,
}

impl BitWriter {
    pub fn new(order: ByteOrder) -> Self {
        Self { order, bits: Vec::new() }
    }

    pub fn align(mut self, alignment: usize) -> Self {
        self.bits.resize(self.bits.len().next_multiple_of(alignment), false);
        self
    }

    /// The lowest `size` bits of `value`, right behind what is written.
    pub fn put(mut self, value: i64, size: u32) -> Self {
        let bit = |index: u32| value >> index & 1 == 1;
        match self.order {
            ByteOrder::Little => self.bits.extend((0..size).map(bit)),
            ByteOrder::Big => self.bits.extend((0..size).rev().map(bit)),
        }
        self
    }

    pub fn raw(mut self, bytes: &[u8]) -> Self {
        for &byte in bytes {
            self = self.put(i64::from(byte), 8);
        }
        self
    }

    /// How many bits are written.
    pub fn position(&self) -> usize {
        self.bits.len()
    }

    pub fn bytes(&self) -> Vec<u8> {
        let byte = |bits: &[bool]| {
            bits.iter().enumerate().fold(0u8, |byte, (index, &bit)| match self.order {
                ByteOrder::Little => byte | u8::from(bit) << index,
                ByteOrder::Big => byte | u8::from(bit) << (7 - index),
            })
        };
        self.bits.chunks(8).map(byte).collect()
    }
}

/// A trace class from metadata that is right.
pub fn parse(text: &str) -> TraceClass {
    metadata::parse(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The error of metadata that is wrong.
pub fn refusal(text: &str) -> CtfError {
    match metadata::parse(text.as_bytes()) {
        Ok(_) => panic!("accepted:\n{text}"),
        Err(error) => error,
    }
}

/// The payload class of the only event of `HEAD` with some fields.
pub fn payload(fields: &str) -> FieldClass {
    let trace = parse(&format!("{HEAD}event {{ name = e; fields := struct {{ {fields} }}; }};"));
    trace.stream_classes[0].event_classes[0].payload.clone().unwrap()
}

/// What reading a trace gives.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Time and index of the data stream of each record, in the merged order.
    pub records: Vec<(i64, usize)>,
    /// The text of the records.
    pub text: String,
    /// What the tracer lost.
    pub lost: Vec<Lost>,
    /// What is wrong, with the index of the data stream.
    pub damage: Vec<(usize, Damage)>,
}

impl Outcome {
    /// The lines of the text without their times.
    pub fn lines(&self) -> Vec<&str> {
        self.text
            .lines()
            .map(|line| line.rsplit_once(") ").map_or(line, |(_, rest)| rest))
            .collect()
    }

    pub fn times(&self) -> Vec<i64> {
        self.records.iter().map(|record| record.0).collect()
    }

    /// The one error that was met.
    pub fn only_damage(&self) -> &Damage {
        assert_eq!(self.damage.len(), 1, "{:?}", self.damage);
        &self.damage[0].1
    }
}

/// Reads data stream files, a data stream each, merged by time.
pub fn read(metadata: &str, files: &[Vec<u8>]) -> Outcome {
    let trace = Arc::new(parse(metadata));
    let streams = files.iter().map(|bytes| open(&trace, bytes.clone())).collect();
    merge(streams)
}

/// A data stream of one file.
pub fn open(trace: &Arc<TraceClass>, bytes: Vec<u8>) -> Arc<DataStream> {
    let file = DataFile::open(trace, Arc::new(bytes), None).unwrap();
    let class = file.first.stream_class;
    let files = vec![Arc::new(file)];
    Arc::new(DataStream::new(Arc::clone(trace), class, files, TraceIdentity::default()))
}

/// Reads data streams, merged by time.
pub fn merge(streams: Vec<Arc<DataStream>>) -> Outcome {
    let ranks = streams.clone();
    let selected = streams.into_iter().map(|stream| (stream, Selection::default()));
    let mut muxer = Muxer::new(selected.collect());
    let mut options = Options::default();
    options.names.payload = true;
    options.names.context = true;
    options.clock.delta = true;
    let mut renderer = Renderer::new(options, Arc::new(|_| 0));
    let mut outcome = Outcome::default();
    while let Some(merge) = muxer.next_merge() {
        for run in &merge.runs {
            let (batch, records) = merge.run(run).unwrap();
            let rank = ranks.iter().position(|stream| Arc::ptr_eq(stream, &batch.stream)).unwrap();
            outcome.records.extend(records.iter().map(|r| (batch.nanoseconds(r), rank)));
        }
        let mut text = Vec::new();
        let rendered = renderer.render(&merge, 0..merge.runs.len(), 0, &[], &mut |piece| {
            text.extend_from_slice(piece);
            true
        });
        outcome.text.push_str(&String::from_utf8(text).unwrap());
        outcome
            .damage
            .extend(rendered.err().map(|(rank, error)| (rank, Damage::of_error(&error, 0))));
        for (rank, _, notice) in merge.notices {
            match notice {
                Notice::Lost(lost) => outcome.lost.push(lost),
                Notice::Damage(_, damage) => outcome.damage.push((rank, damage)),
                Notice::Boundary(_) | Notice::Inactivity(_) => {}
            }
        }
    }
    outcome
}

/// The text of the only record of the only event of a trace in a byte order.
pub fn text_of(order: ByteOrder, fields: &str, data: &BitWriter) -> String {
    let word = if order == ByteOrder::Little { "le" } else { "be" };
    let head = HEAD.replace("byte_order = le", &format!("byte_order = {word}"));
    let metadata = format!("{head}event {{ name = e; fields := struct {{ {fields} }}; }};");
    let outcome = read(&metadata, &[data.bytes()]);
    assert_eq!(outcome.damage, [], "{}", outcome.text);
    outcome.text.trim_end().trim_start_matches("e: ").to_owned()
}
