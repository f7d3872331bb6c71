//! Messages of protocol buffers, see <https://protobuf.dev/programming-guides/encoding/>.

const NUMBER: u32 = 0;
const FIXED: u32 = 1;
const LENGTH: u32 = 2;

/// Appends a number, seven bits a byte.
#[inline]
pub fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value > 0x7f {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn push_tag(out: &mut Vec<u8>, field: u32, kind: u32) {
    push_varint(out, u64::from(field << 3 | kind));
}

/// Appends a field with a number.
pub fn push_number(out: &mut Vec<u8>, field: u32, value: u64) {
    push_tag(out, field, NUMBER);
    push_varint(out, value);
}

/// Appends a field with 64 bits of any kind.
pub fn push_fixed(out: &mut Vec<u8>, field: u32, bits: u64) {
    push_tag(out, field, FIXED);
    out.extend_from_slice(&bits.to_le_bytes());
}

/// Appends a field with a text or a message.
pub fn push_bytes(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    push_tag(out, field, LENGTH);
    push_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// A message that is made of fields.
#[must_use]
pub fn message(fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    fill(&mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_encoded_as_the_documentation_shows() {
        // The examples of its page on encoding: 150 in field 1, "testing" in field 2.
        let number = message(|out| push_number(out, 1, 150));
        assert_eq!(number, [0x08, 0x96, 0x01]);
        let text = message(|out| push_bytes(out, 2, b"testing"));
        assert_eq!(text, [&[0x12, 0x07][..], b"testing"].concat());
        let negative = message(|out| push_varint(out, -2i64 as u64));
        assert_eq!(negative, [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]);
    }
}
