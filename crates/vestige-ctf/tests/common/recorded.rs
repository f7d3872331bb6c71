//! Traces whose records are known, and reading them with all that is known of each record.

use std::ops::Range;
use std::sync::Arc;

use vestige_ctf::stream::{
    Batch, Damage, DataFile, DataStream, Item, Record, Selection, StreamReader, TraceIdentity,
};

use crate::common::parse;
use crate::damaging::Random;

/// The shape of record headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// An ID of 16 bits and a time stamp of 64.
    Whole,
    /// LTTng's: an ID of 5 bits and a time stamp of 27, or an escape and a whole one.
    Compact,
}

/// A record as it was written.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub bytes: Range<usize>,
    pub cycles: u64,
    pub class: u32,
    pub payload: Vec<u8>,
}

impl Recorded {
    pub fn matches(&self, found: &Found) -> bool {
        (self.cycles, self.class, &self.payload) == (found.cycles, found.class, &found.payload)
    }
}

/// A record as it was read.
#[derive(Debug, Clone)]
pub struct Found {
    pub bytes: Range<usize>,
    pub cycles: u64,
    pub class: u32,
    pub payload: Vec<u8>,
    /// The bytes of its packet.
    pub packet: Range<u64>,
}

/// A data stream file and what it holds.
pub struct Recording {
    pub metadata: String,
    pub header: Header,
    /// Whether packets begin with a magic number and a UUID.
    pub is_marked: bool,
    pub bytes: Vec<u8>,
    pub packets: Vec<Range<usize>>,
    pub records: Vec<Recorded>,
}

const TYPES: &str = "\
typealias integer { size = 8; align = 8; } := u8;
typealias integer { size = 16; align = 8; } := u16;
typealias integer { size = 32; align = 8; } := u32;
typealias integer { size = 64; align = 8; } := u64;
clock { name = c; };
typealias integer { size = 64; align = 8; map = clock.c.value; } := time;
";
const UUID: [u8; 16] = *b"\x2a\x64\x22\xd0\x6c\xee\x11\xe0\x8c\x08\xcb\x07\xd7\xb3\xa5\x64";
const WHOLE: &str = "struct { u16 id; time timestamp; }";
const COMPACT: &str = "struct {
  enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;
  variant <id> {
    struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; } compact;
    struct { u32 id; time timestamp; } extended;
  } v; } align(8)";
const PAYLOADS: [&str; 4] =
    ["u32 value;", "string text; u32 value;", "u16 n; u8 list[n]; u32 value;", "u64 a; u64 b;"];

fn metadata(header: Header, is_marked: bool) -> String {
    let trace = if is_marked {
        "trace { major = 1; minor = 8; byte_order = le; \
         uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\"; \
         packet.header := struct { u32 magic; u8 uuid[16]; u32 stream_id; }; };"
    } else {
        "trace { major = 1; minor = 8; byte_order = le; };"
    };
    let header = if header == Header::Whole { WHOLE } else { COMPACT };
    let mut text = format!(
        "{TYPES}{trace}\nstream {{ id = 0; packet.context := struct {{ u64 packet_size; \
         u64 content_size; time timestamp_begin; time timestamp_end; u64 packet_seq_num; }}; \
         event.header := {header}; }};\n"
    );
    for (id, fields) in PAYLOADS.iter().enumerate() {
        text += &format!(
            "event {{ id = {id}; stream_id = 0; name = e{id}; fields := struct {{ {fields} }}; }};\n"
        );
    }
    text
}

fn payload(class: u32, random: &mut Random) -> Vec<u8> {
    let value = random.next().to_le_bytes();
    match class {
        0 => value[..4].to_vec(),
        1 => {
            let length = random.below(20) as usize;
            let text = (0..length).map(|_| b'a' + random.below(26) as u8);
            text.chain([0]).chain(value[..4].iter().copied()).collect()
        }
        2 => {
            let length = random.below(30) as u16;
            let list = (0..length).map(|_| random.below(256) as u8).collect::<Vec<_>>();
            [&length.to_le_bytes()[..], &list, &value[..4]].concat()
        }
        _ => [value, random.next().to_le_bytes()].concat(),
    }
}

fn record(header: Header, class: u32, time: u64, step: u64) -> Vec<u8> {
    match header {
        Header::Whole => [&(class as u16).to_le_bytes()[..], &time.to_le_bytes()].concat(),
        Header::Compact if step < 1 << 27 => {
            let word = (time as u32 & ((1 << 27) - 1)) << 5 | class;
            word.to_le_bytes().to_vec()
        }
        Header::Compact => [&[31], &class.to_le_bytes()[..], &time.to_le_bytes()].concat(),
    }
}

/// A recording of some packets; `random` decides what is in them.
pub fn recording(header: Header, is_marked: bool, random: &mut Random) -> Recording {
    let mut whole = Recording {
        metadata: metadata(header, is_marked),
        header,
        is_marked,
        bytes: Vec::new(),
        packets: Vec::new(),
        records: Vec::new(),
    };
    // Without marks, packets are found by their common size.
    let size = if is_marked { 0 } else { 2048 };
    // From some records in a microsecond to some in a second.
    let pace = 1 << (4 + random.below(22));
    let mut time = 1 << 40 | random.below(1 << 30);
    for number in 0..6 + random.below(4) {
        packet(&mut whole, number, &mut time, (size, pace), random);
    }
    whole
}

fn packet(
    whole: &mut Recording,
    number: u64,
    time: &mut u64,
    (size, pace): (usize, u64),
    random: &mut Random,
) {
    let start = whole.bytes.len();
    if whole.is_marked {
        whole.bytes.extend(0xC1FC_1FC1u32.to_le_bytes());
        whole.bytes.extend(UUID);
        whole.bytes.extend(0u32.to_le_bytes());
    }
    let sizes = whole.bytes.len();
    *time += random.below(pace);
    let begin = *time;
    whole.bytes.extend([0; 40]);
    for _ in 0..20 + random.below(30) {
        let step = random.below(pace) + 1;
        let class = random.below(4) as u32;
        let at = whole.bytes.len();
        let payload = payload(class, random);
        *time += step;
        whole.bytes.extend(record(whole.header, class, *time, step));
        whole.bytes.extend(&payload);
        if size > 0 && whole.bytes.len() > start + size {
            whole.bytes.truncate(at);
            *time -= step;
            break;
        }
        let bytes = at..whole.bytes.len();
        whole.records.push(Recorded { bytes, cycles: *time, class, payload });
    }
    let content = whole.bytes.len() - start;
    let total = if size > 0 { size } else { content + random.below(64) as usize };
    whole.bytes.resize(start + total, 0);
    let facts = [total as u64 * 8, content as u64 * 8, begin, *time, number];
    for (at, fact) in (sizes..).step_by(8).zip(facts) {
        whole.bytes[at..at + 8].copy_from_slice(&fact.to_le_bytes());
    }
    whole.packets.push(start..start + total);
}

/// All that is read of a damaged recording.
#[derive(Debug, Default)]
pub struct Everything {
    pub records: Vec<Found>,
    pub damage: Vec<Damage>,
}

/// Reads a data stream file.
pub fn read_all(recording: &Recording, bytes: &[u8]) -> Everything {
    let mut everything = Everything::default();
    let trace = Arc::new(parse(&recording.metadata));
    let file = match DataFile::open(&trace, Arc::new(bytes.to_vec()), None) {
        Ok(file) => Arc::new(file),
        Err(damage) => {
            everything.damage.push(damage);
            return everything;
        }
    };
    let stream = DataStream::new(trace, 0, vec![file], TraceIdentity::default());
    let mut reader = StreamReader::new(Arc::new(stream), Selection::default());
    while let Some(item) = reader.next_item() {
        match item {
            Item::Batch(batch) => {
                everything.records.extend(batch.records.iter().map(|record| found(&batch, record)));
            }
            Item::Damage(_, damage) => everything.damage.push(damage),
            Item::Lost(_) | Item::Boundary(_) | Item::Nothing => {}
        }
    }
    everything
}

fn found(batch: &Batch, record: &Record) -> Found {
    let body = (record.body as usize).div_ceil(8);
    let data = &batch.data[body..];
    let length = match record.class {
        0 => 4,
        1 => data.iter().position(|&byte| byte == 0).unwrap() + 5,
        2 => usize::from(u16::from_le_bytes([data[0], data[1]])) + 6,
        _ => 16,
    };
    let start = batch.file_offset(record) as usize;
    let end = start + body - record.start as usize / 8 + length;
    let properties = &batch.part_of(record).packet.properties;
    Found {
        bytes: start..end,
        cycles: record.cycles,
        class: record.class,
        payload: data[..length].to_vec(),
        packet: properties.offset..properties.offset + properties.available_bits.div_ceil(8) + 1,
    }
}
