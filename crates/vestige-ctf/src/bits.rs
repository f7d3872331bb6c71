//! Reading integers of any size at any bit offset, in both byte orders.
//!
//! CTF 1.8.3, section 4.1.2: a little-endian bit field fills each byte from its least
//! significant bit on, a big-endian one from its most significant bit on.

use crate::model::ByteOrder;

/// The data ended before the field did. Whoever knows the file turns this into a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfData;

/// A cursor over the bits of a byte slice.
#[derive(Debug, Clone)]
pub struct BitReader<'a> {
    data: &'a [u8],
    position: u64,
    end: u64,
}

impl<'a> BitReader<'a> {
    /// A reader of `data` from bit `position` to bit `end`, both counted from its start.
    #[must_use]
    pub fn new(data: &'a [u8], position: u64, end: u64) -> Self {
        let end = end.min((data.len() as u64).saturating_mul(8));
        Self { data, position, end }
    }

    /// The bit that is read next.
    #[inline]
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// How many bits are left.
    #[inline]
    #[must_use]
    pub fn remaining(&self) -> u64 {
        self.end.saturating_sub(self.position)
    }

    /// Moves to the next multiple of `alignment`, a power of two.
    ///
    /// # Errors
    ///
    /// [`OutOfData`] when that lies past the end.
    #[inline(always)]
    pub fn align(&mut self, alignment: u32) -> Result<(), OutOfData> {
        let mask = u64::from(alignment).wrapping_sub(1);
        let aligned = self.position.checked_add(mask).ok_or(OutOfData)? & !mask;
        if aligned > self.end {
            return Err(OutOfData);
        }
        self.position = aligned;
        Ok(())
    }

    /// Moves forward by `bits`.
    ///
    /// # Errors
    ///
    /// [`OutOfData`] when that lies past the end.
    #[inline]
    pub fn skip(&mut self, bits: u64) -> Result<(), OutOfData> {
        if bits > self.remaining() {
            return Err(OutOfData);
        }
        self.position += bits;
        Ok(())
    }

    /// Reads an unsigned integer of 1 to 64 bits.
    ///
    /// # Errors
    ///
    /// [`OutOfData`] when fewer bits are left.
    #[inline(always)]
    pub fn unsigned(&mut self, size: u32, order: ByteOrder) -> Result<u64, OutOfData> {
        let start = self.position;
        self.skip(u64::from(size))?;
        Ok(read_bits(self.data, start, size, order))
    }

    /// The eight bytes at the position, which must be on a byte; `None` near the end.
    #[inline(always)]
    #[must_use]
    pub fn word(&self) -> Option<[u8; 8]> {
        let start = (self.position / 8) as usize;
        self.data.get(start..start.checked_add(8)?)?.try_into().ok()
    }

    /// All of the bytes, read or not.
    #[inline]
    #[must_use]
    pub fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Reads a NUL-terminated string, without its NUL; the position must be on a byte.
    ///
    /// # Errors
    ///
    /// [`OutOfData`] when no NUL byte follows.
    #[inline]
    pub fn string(&mut self) -> Result<&'a [u8], OutOfData> {
        let start = (self.position / 8) as usize;
        let end = (self.end / 8) as usize;
        let rest = self.data.get(start..end).ok_or(OutOfData)?;
        let length = find_nul(rest).ok_or(OutOfData)?;
        self.position += (length as u64 + 1) * 8;
        rest.get(..length).ok_or(OutOfData)
    }

    /// Reads `count` bytes; the position must be on a byte.
    ///
    /// # Errors
    ///
    /// [`OutOfData`] when fewer bytes are left.
    #[inline]
    pub fn bytes(&mut self, count: u64) -> Result<&'a [u8], OutOfData> {
        let start = (self.position / 8) as usize;
        self.skip(count.checked_mul(8).ok_or(OutOfData)?)?;
        self.data.get(start..start + count as usize).ok_or(OutOfData)
    }
}

/// The unsigned integer of 1 to 64 bits at a bit offset; bits past the end read as 0.
#[inline(always)]
#[must_use]
pub fn read_bits(data: &[u8], start: u64, size: u32, order: ByteOrder) -> u64 {
    let byte = (start / 8) as usize;
    let shift = (start % 8) as u32;
    if let Some(window) = data.get(byte..byte.saturating_add(8)) {
        let raw: [u8; 8] = window.try_into().unwrap_or_default();
        if shift + size <= 64 {
            return match order {
                ByteOrder::Little => low_bits(u64::from_le_bytes(raw) >> shift, size),
                ByteOrder::Big => low_bits(u64::from_be_bytes(raw) >> (64 - shift - size), size),
            };
        }
    }
    read_bytewise(data, start, size, order)
}

/// The same for the last bytes of the data and for integers that span nine bytes.
#[cold]
fn read_bytewise(data: &[u8], start: u64, size: u32, order: ByteOrder) -> u64 {
    let first = (start / 8) as usize;
    let last = ((start + u64::from(size)).div_ceil(8)) as usize;
    let bytes = data.get(first..last).unwrap_or_default();
    let shift = (start % 8) as u32;
    let wide = match order {
        ByteOrder::Little => {
            bytes.iter().rev().fold(0u128, |value, &byte| value << 8 | u128::from(byte)) >> shift
        }
        ByteOrder::Big => {
            let unused = (bytes.len() as u32 * 8).saturating_sub(shift + size);
            bytes.iter().fold(0u128, |value, &byte| value << 8 | u128::from(byte)) >> unused
        }
    };
    low_bits(wide as u64, size)
}

/// The index of the first NUL byte.
///
/// Most strings of traces are short: looking at 16 bytes costs less than a call.
#[inline(always)]
pub(crate) fn find_nul(bytes: &[u8]) -> Option<usize> {
    const LOW: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const NEAR: usize = 16;
    for (index, chunk) in bytes.chunks_exact(8).take(NEAR / 8).enumerate() {
        let word = u64::from_le_bytes(chunk.try_into().unwrap_or_default());
        // The lowest high bit that is left marks the first byte that is 0.
        let zero = word.wrapping_sub(LOW) & !word & HIGH;
        if zero != 0 {
            return Some(index * 8 + (zero.trailing_zeros() / 8) as usize);
        }
    }
    let far = if bytes.len() < NEAR { bytes.len() / 8 * 8 } else { NEAR };
    memchr::memchr(0, bytes.get(far..)?).map(|index| far + index)
}

/// Writes the `size` lowest bits of a value at bit `start`, over what is there. Bits that lie
/// behind the data are not written.
pub fn write_unsigned(data: &mut [u8], start: u64, size: u32, order: ByteOrder, value: u64) {
    for index in 0..size.min(64) {
        let at = start + u64::from(index);
        let Some(byte) = data.get_mut((at / 8) as usize) else { return };
        let within = (at % 8) as u32;
        let (bit, mask) = match order {
            ByteOrder::Little => (value >> index & 1, 1u8 << within),
            ByteOrder::Big => (value >> (size - 1 - index) & 1, 0x80u8 >> within),
        };
        *byte = if bit == 1 { *byte | mask } else { *byte & !mask };
    }
}

/// The `size` lowest bits of a value.
#[inline]
#[must_use]
pub fn low_bits(value: u64, size: u32) -> u64 {
    if size >= 64 {
        value
    } else {
        value & ((1u64 << size) - 1)
    }
}

/// Reads the `size` lowest bits of a value as a two's complement integer.
#[inline]
#[must_use]
pub fn sign_extend(value: u64, size: u32) -> i64 {
    let unused = 64u32.saturating_sub(size);
    ((value << unused) as i64) >> unused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_little_endian_bit_fields_from_the_least_significant_bit() {
        let data = [0b1010_0110, 0xff, 0, 0, 0, 0, 0, 0, 0, 0];
        let mut reader = BitReader::new(&data, 0, 80);
        assert_eq!(reader.unsigned(3, ByteOrder::Little), Ok(0b110));
        assert_eq!(reader.unsigned(7, ByteOrder::Little), Ok(0b11_10100));
    }

    #[test]
    fn reads_big_endian_bit_fields_from_the_most_significant_bit() {
        let data = [0b1010_0110, 0b1100_0000];
        let mut reader = BitReader::new(&data, 0, 16);
        assert_eq!(reader.unsigned(3, ByteOrder::Big), Ok(0b101));
        assert_eq!(reader.unsigned(7, ByteOrder::Big), Ok(0b0011011));
        assert_eq!(reader.unsigned(7, ByteOrder::Big), Err(OutOfData));
    }

    #[test]
    fn both_ways_of_reading_agree_at_every_offset_and_size() {
        let data: Vec<u8> = (0..24u8).map(|i| i.wrapping_mul(37).wrapping_add(11)).collect();
        for order in [ByteOrder::Little, ByteOrder::Big] {
            for start in 0..64 {
                for size in 1..=64 {
                    let mut reader = BitReader::new(&data, start, 192);
                    let slow = read_bytewise(&data, start, size, order);
                    assert_eq!(reader.unsigned(size, order), Ok(slow), "{start} {size}");
                }
            }
        }
    }

    #[test]
    fn a_string_without_its_nul_is_out_of_data() {
        let mut reader = BitReader::new(b"abc\0def", 0, 56);
        assert_eq!(reader.string(), Ok(&b"abc"[..]));
        assert_eq!(reader.string(), Err(OutOfData));
    }

    #[test]
    fn the_first_nul_is_found_at_any_distance() {
        for length in 0..40 {
            for rest in 0..20 {
                let mut data = vec![0x80; length];
                data.push(0);
                data.extend((0..rest).map(|index| index % 3));
                assert_eq!(find_nul(&data), Some(length), "{length} {rest}");
            }
            assert_eq!(find_nul(&vec![1; length]), None);
        }
    }

    #[test]
    fn sign_extension_keeps_the_sign_of_odd_sizes() {
        assert_eq!(sign_extend(0b111, 3), -1);
        assert_eq!(sign_extend(0b011, 3), 3);
        assert_eq!(sign_extend(u64::MAX, 64), -1);
    }
}
