//! Packets one behind the other, of which most are stored a register at a time.

use super::small::{Small, MOST_BYTES};

/// How many bytes a message takes with what comes before it, while it is stored.
const ROOM: usize = MOST_BYTES + 8;

/// Bytes that are put together until somebody writes them.
#[derive(Debug, Default)]
pub struct Packets {
    /// What is in use, and room behind it.
    bytes: Vec<u8>,
    length: usize,
}

impl Packets {
    /// Makes room for so many short messages.
    pub fn reserve(&mut self, count: usize) {
        let needed = self.length + (count + 1) * ROOM;
        if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
    }

    /// Appends up to seven bytes, the first one in the lowest bits, and a short message. Whole
    /// registers are stored; what comes next is put over the rest of them.
    #[inline(always)]
    pub fn push(&mut self, (first, length): (u64, u32), message: Small) {
        let length = (length & 7) as usize;
        let rest = self.bytes.get_mut(self.length..).unwrap_or_default();
        let Some(room) = rest.first_chunk_mut::<ROOM>() else {
            return self.push_slowly(&first.to_le_bytes(), length, message);
        };
        if let Some(place) = room.first_chunk_mut() {
            *place = first.to_le_bytes();
        }
        if let Some(place) = room.get_mut(length..length + MOST_BYTES) {
            place.copy_from_slice(&message.bytes());
        }
        self.length += length + message.length() as usize;
    }

    #[cold]
    fn push_slowly(&mut self, first: &[u8], length: usize, message: Small) {
        self.extend(first.get(..length).unwrap_or_default());
        self.extend(message.bytes().get(..message.length() as usize).unwrap_or_default());
    }

    /// Appends some bytes.
    pub fn extend(&mut self, more: &[u8]) {
        let end = self.length + more.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        if let Some(room) = self.bytes.get_mut(self.length..end) {
            room.copy_from_slice(more);
        }
        self.length = end;
    }

    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.length
    }

    /// They.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Begins anew, in the same memory.
    pub fn clear(&mut self) {
        self.length = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_follow_each_other_whatever_room_there_is() {
        let mut packets = Packets::default();
        let one = Small::default().push(0x0201, 2);
        for _ in 0..3 {
            packets.push((0x0908, 2), one);
            packets.extend(b"abc");
        }
        let all = b"\x08\x09\x01\x02abc\x08\x09\x01\x02abc\x08\x09\x01\x02abc";
        assert_eq!(packets.bytes(), all);
        packets.clear();
        packets.reserve(2);
        packets.push((0, 0), one);
        packets.push((0x0706_0504_0302_0100, 7), one);
        let all = b"\x01\x02\x00\x01\x02\x03\x04\x05\x06\x01\x02";
        assert_eq!((packets.len(), packets.bytes()), (11, &all[..]));
    }
}
