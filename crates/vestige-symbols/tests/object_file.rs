//! Headers of both classes and byte orders, written byte by byte.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use vestige_symbols::ObjectFile;

const ET_EXEC: u16 = 2;
const ET_DYN: u16 = 3;
const PT_LOAD: u32 = 1;
const PT_NOTE: u32 = 4;
const FLAGS: u32 = 5;

/// Writes the numbers of a made-up object file.
struct Writer {
    data: Vec<u8>,
    big_endian: bool,
    is_64: bool,
}

impl Writer {
    fn number(&mut self, value: u64, size: usize) {
        let bytes = value.to_be_bytes();
        let bytes = &bytes[8 - size..];
        if self.big_endian {
            self.data.extend(bytes);
        } else {
            self.data.extend(bytes.iter().rev());
        }
    }

    fn u16(&mut self, value: u16) {
        self.number(value.into(), 2);
    }

    fn u32(&mut self, value: u32) {
        self.number(value.into(), 4);
    }

    fn word(&mut self, value: u64) {
        self.number(value, if self.is_64 { 8 } else { 4 });
    }

    fn segment(&mut self, kind: u32, offset: u64, address: u64, size: u64) {
        self.u32(kind);
        if self.is_64 {
            self.u32(FLAGS);
        }
        for value in [offset, address, address, size, size] {
            self.word(value);
        }
        if !self.is_64 {
            self.u32(FLAGS);
        }
        self.word(4);
    }
}

/// An object with two loaded segments, the first at `base`, and a build ID in a
/// note that no section names.
fn object(big_endian: bool, is_64: bool, file_type: u16, base: u64) -> Vec<u8> {
    let mut writer = Writer { data: Vec::new(), big_endian, is_64 };
    let (header_size, segment_size) = if is_64 { (64, 56) } else { (52, 32) };
    writer.data.extend(b"\x7fELF");
    writer.data.extend([1 + u8::from(is_64), 1 + u8::from(big_endian), 1]);
    writer.data.resize(16, 0);
    writer.u16(file_type);
    writer.u16(40);
    writer.u32(1);
    writer.word(0);
    writer.word(header_size);
    writer.word(0);
    writer.u32(0);
    for value in [header_size as u16, segment_size, 3, 0, 0, 0] {
        writer.u16(value);
    }
    let notes = header_size + 3 * u64::from(segment_size);
    writer.segment(PT_LOAD, 0, base, 0x80);
    writer.segment(PT_LOAD, 0x80, base + 0x1080, 0x40);
    writer.segment(PT_NOTE, notes, base, 48);
    for (kind, content) in [(1, [0xee; 8]), (3, *b"build-id")] {
        writer.u32(4);
        writer.u32(8);
        writer.u32(kind);
        writer.data.extend(b"GNU\0");
        writer.data.extend(content);
    }
    writer.data
}

#[test]
fn headers_of_every_class_and_byte_order_are_read() {
    for (big_endian, is_64) in [(false, false), (false, true), (true, false), (true, true)] {
        let data = object(big_endian, is_64, ET_DYN, 0);
        let object = ObjectFile::new(Box::new(data)).unwrap();
        assert_eq!((object.is_big_endian(), object.bits() == 64), (big_endian, is_64));
        assert_eq!((object.is_pic(), object.machine_name().as_str()), (true, "arm"));
        assert_eq!(object.build_id(), Some(&b"build-id"[..]));
        assert_eq!(object.text_ranges(), [(0, 0x80), (0x1080, 0x10c0)]);
        assert_eq!((object.has_dwarf(), object.has_symbol_table()), (Ok(false), false));
        assert_eq!(object.debug_link(), None);
    }
}

#[test]
fn the_link_base_is_the_first_segment_and_not_rounded() {
    for base in [0, 0x40_0000, 0x1234] {
        let object = ObjectFile::new(Box::new(object(false, true, ET_EXEC, base))).unwrap();
        assert_eq!(object.link_base(), base);
        assert!(object.is_fixed_executable() && !object.is_pic());
    }
}
