//! Short messages, put together in a register: there are two for each call.

/// How many bytes a short message has at most.
pub const MOST_BYTES: usize = 16;

/// A message of at most [`MOST_BYTES`] bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Small {
    bytes: u128,
    length: u32,
}

impl Small {
    /// Adds up to eight bytes, the first one in the lowest bits.
    #[inline(always)]
    pub fn push(self, bytes: u64, length: u32) -> Self {
        let shift = self.length * u8::BITS;
        Self {
            bytes: self.bytes | u128::from(bytes) << (shift & 127),
            length: self.length + length,
        }
    }

    /// Adds a number of less than 28 bits, seven bits a byte.
    #[inline(always)]
    pub fn varint(self, value: u32) -> Self {
        let (bytes, length) = varint(value);
        self.push(bytes, length)
    }

    /// Adds another message, if both have room in one.
    #[inline(always)]
    pub fn with(self, other: Self) -> Option<Self> {
        let length = self.length + other.length;
        let shift = self.length * u8::BITS;
        (length as usize <= MOST_BYTES)
            .then(|| Self { bytes: self.bytes | other.bytes << (shift & 127), length })
    }

    /// How many bytes it has.
    #[inline(always)]
    pub fn length(self) -> u32 {
        self.length
    }

    /// Its bytes, with zeros behind them.
    #[inline(always)]
    pub fn bytes(self) -> [u8; MOST_BYTES] {
        self.bytes.to_le_bytes()
    }
}

/// A number of less than 28 bits, seven bits a byte, and how many bytes that is. How many is a
/// matter of chance where times are told, so no branch depends on it.
#[inline(always)]
pub fn varint(value: u32) -> (u64, u32) {
    let length = (u32::BITS + 6 - (value | 1).leading_zeros()) / 7;
    let lower = value & 0x7f | (value & 0x3f80) << 1;
    let spread = lower | (value & 0x1f_c000) << 2 | (value & 0xfe0_0000) << 3;
    let more = 0x0080_8080 & ((1 << (8 * (length & 7) - 8)) - 1);
    (u64::from(spread | more), length)
}

#[cfg(test)]
mod tests {
    use super::super::protobuf::push_varint;
    use super::*;

    #[test]
    fn numbers_of_any_length_are_as_elsewhere() {
        for bits in 0..28 {
            for value in [1u32 << bits, (1u32 << bits) - 1, (1 << 28) - 1 - (1 << bits)] {
                let (mut mine, mut theirs) = (Vec::new(), Vec::new());
                let one = Small::default().push(0x0a, 1).varint(value);
                mine.extend_from_slice(&one.bytes()[..one.length() as usize]);
                theirs.push(0x0a);
                push_varint(&mut theirs, value.into());
                assert_eq!(mine, theirs, "{value}");
            }
        }
    }

    #[test]
    fn what_is_too_long_is_refused() {
        let eight = Small::default().push(u64::MAX, 8);
        assert_eq!(eight.with(eight).map(Small::length), Some(16));
        assert!(eight.push(0, 1).with(eight).is_none());
    }
}
