//! Packets one behind the other, of which most are stored a register at a time.

use super::small::{Small, MOST_BYTES};

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
        let needed = self.length + (count + 1) * MOST_BYTES;
        if self.bytes.len() < needed {
            self.bytes.resize(needed, 0);
        }
    }

    /// Appends a short message. A whole register is stored; what comes next is put over the
    /// rest of it.
    #[inline(always)]
    pub fn push(&mut self, message: Small) {
        let rest = self.bytes.get_mut(self.length..).unwrap_or_default();
        let Some(room) = rest.first_chunk_mut() else {
            self.reserve(1);
            return self.extend(message.bytes().get(..message.length() as usize).unwrap_or(&[]));
        };
        *room = message.bytes();
        self.length += message.length() as usize;
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
            packets.push(one);
            packets.extend(b"abc");
        }
        assert_eq!(packets.bytes(), b"\x01\x02abc\x01\x02abc\x01\x02abc");
        packets.clear();
        packets.reserve(2);
        packets.push(one);
        packets.push(one);
        assert_eq!((packets.len(), packets.bytes()), (4, &b"\x01\x02\x01\x02"[..]));
    }
}
