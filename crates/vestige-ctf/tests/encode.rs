//! What is encoded by parsed metadata is decoded by them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use std::io;
use std::sync::{Arc, Mutex};

use vestige_ctf::encode::value::{Cell, Column, Value};
use vestige_ctf::encode::{Append, EventLayout, PacketWriter, Record, Rows, WriteError};
use vestige_ctf::metadata;
use vestige_ctf::source::ReadAt;
use vestige_ctf::stream::DataFile;

const METADATA: &str = "/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = be; uuid = \"2a6422d0-6cee-11e0-8c08-cb07d7b3a564\";
  packet.header := struct {
    integer { size = 32; align = 8; } magic;
    integer { size = 8; align = 8; } uuid[16];
  };
};
clock { name = c; };
stream {
  packet.context := struct {
    integer { size = 32; align = 8; } packet_size;
    integer { size = 32; align = 8; } content_size;
    integer { size = 64; align = 8; map = clock.c.value; } timestamp_begin;
    integer { size = 64; align = 8; map = clock.c.value; } timestamp_end;
  };
  event.header := struct {
    integer { size = 5; } id;
    integer { size = 27; map = clock.c.value; } timestamp;
  };
};
event { name = e; id = 3; fields := struct {
  integer { size = 3; } small;
  integer { size = 8; align = 8; } count;
  integer { size = 11; signed = true; } list[count];
  string text;
}; };";

/// A file in memory with room for some bytes.
struct Memory {
    data: Arc<Mutex<Vec<u8>>>,
    room: Arc<Mutex<usize>>,
}

impl Append for Memory {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut data = self.data.lock().unwrap();
        if data.len() + bytes.len() > *self.room.lock().unwrap() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        data.extend_from_slice(bytes);
        Ok(())
    }
}

struct Bytes(Vec<u8>);

impl ReadAt for Bytes {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = self.0.get(offset as usize..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

struct Written {
    writer: PacketWriter<Memory>,
    layout: EventLayout,
    data: Arc<Mutex<Vec<u8>>>,
    room: Arc<Mutex<usize>>,
}

fn begin(packet_size: u64) -> Written {
    let trace = Arc::new(metadata::parse(METADATA.as_bytes()).unwrap());
    let data = Arc::new(Mutex::new(Vec::new()));
    let room = Arc::new(Mutex::new(usize::MAX));
    let memory = Memory { data: Arc::clone(&data), room: Arc::clone(&room) };
    let layout = EventLayout::new(Arc::clone(&trace), 0, 0).unwrap();
    let writer = PacketWriter::new(memory, trace, 0, 0, packet_size, u64::MAX);
    Written { writer, layout, data, room }
}

fn payload(numbers: &[i128], text: &str) -> Value {
    let list = numbers.iter().map(|&number| Value::Integer(number)).collect();
    let text = Value::Bytes(text.as_bytes().to_vec());
    Value::Structure(vec![Value::Integer(5), Value::Absent, Value::List(list), text])
}

impl Written {
    fn write(&mut self, time: u64, payload: &Value) -> Result<(), WriteError> {
        let scopes = [&Value::Absent, &Value::Absent, payload];
        self.writer.write(&self.layout, Record { time, scopes })
    }

    fn packets(&self) -> usize {
        let trace = metadata::parse(METADATA.as_bytes()).unwrap();
        let source = Arc::new(Bytes(self.data.lock().unwrap().clone()));
        let file = DataFile::open(&trace, source, None).unwrap();
        assert!(file.damage.is_empty(), "{:?}", file.damage);
        file.packets.len()
    }
}

#[test]
fn a_length_is_taken_from_the_array_behind_it() {
    let mut written = begin(4096);
    written.write(1, &payload(&[-1024, 1023], "ab")).unwrap();
    written.writer.flush().unwrap();
    let data = written.data.lock().unwrap().clone();
    // Header of 20 bytes, context of 24: then 3 and 1 in 5 and 27 bits, 5 in 3 bits, the
    // count in the next byte, two times 11 bits from the most significant one on.
    assert_eq!(data[44..48], (3u32 << 27 | 1).to_be_bytes());
    assert_eq!(data[48..], [0b1010_0000, 2, 0x80, 0x0f, 0xfc, b'a', b'b', 0]);
    assert_eq!(written.packets(), 1);
}

#[test]
fn a_refused_record_leaves_no_bit() {
    let (mut one, mut other) = (begin(4096), begin(4096));
    for written in [&mut one, &mut other] {
        written.write(1, &payload(&[1], "ab")).unwrap();
    }
    for bad in [payload(&[1, 1024], "x"), payload(&[], "a\0b"), Value::Absent] {
        assert!(matches!(one.write(2, &bad), Err(WriteError::Value(..))));
    }
    assert!(matches!(one.write(0, &payload(&[], "")), Err(WriteError::Time { back: true, .. })));
    for written in [&mut one, &mut other] {
        written.write(3, &payload(&[], "")).unwrap();
        written.writer.flush().unwrap();
    }
    assert_eq!(*one.data.lock().unwrap(), *other.data.lock().unwrap());
}

#[test]
fn a_packet_waits_for_space() {
    let mut written = begin(60);
    written.write(1, &payload(&[1], "ab")).unwrap();
    *written.room.lock().unwrap() = 10;
    assert!(matches!(written.write(2, &payload(&[1], "cd")), Err(WriteError::Io(..))));
    assert!(written.data.lock().unwrap().is_empty());
    *written.room.lock().unwrap() = usize::MAX;
    written.write(2, &payload(&[1], "cd")).unwrap();
    written.writer.flush().unwrap();
    assert_eq!(written.packets(), 2);
}

#[test]
fn rows_are_written_as_one_by_one() {
    let (mut one, mut rows) = (begin(200), begin(200));
    let times: Vec<u64> = (0..100).collect();
    for &time in &times {
        one.write(time, &payload(&[time as i128, -3], "t")).unwrap();
    }
    let elements = times.iter().flat_map(|&time| [time as i16, -3]).collect();
    let elements = Box::new(Column::I16(elements));
    let columns = Column::Structure(vec![
        Column::Constant(Value::Integer(5)),
        Column::Constant(Value::Absent),
        Column::Lists { width: 2, rows: 100, elements },
        Column::texts(vec![b't'; 100], (0..=100).collect()).unwrap(),
    ]);
    let none = Column::Constant(Value::Absent);
    let scopes = [&none, &none, &columns];
    rows.writer.write_rows(&rows.layout, Rows { times: &times, scopes }).unwrap();
    for written in [&mut one, &mut rows] {
        written.writer.flush().unwrap();
    }
    assert_eq!(*one.data.lock().unwrap(), *rows.data.lock().unwrap());
    assert!(rows.packets() > 5);
}

#[test]
fn offsets_of_texts_stay_in_their_data() {
    assert!(Column::texts(vec![0; 3], vec![0, 2, 1]).is_none());
    assert!(Column::texts(vec![0; 3], vec![0, 4]).is_none());
    assert!(Column::texts(vec![0; 3], vec![]).is_none());
    let column = Column::texts(vec![1, 2, 3], vec![1, 1, 3]).unwrap();
    assert_eq!(Cell::Row(&column, 1).bytes(), Some(&[2, 3][..]));
    assert_eq!(Cell::Row(&column, 2).bytes(), None);
}
