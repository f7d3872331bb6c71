//! Numbers of any size in few bytes: seven bits a byte, the lowest first (LEB128).

/// Adds a number.
#[inline]
pub fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Adds a number with a sign, near 0 in few bytes.
#[inline]
pub fn put_signed(bytes: &mut Vec<u8>, value: i64) {
    put(bytes, ((value << 1) ^ (value >> 63)) as u64);
}

/// Adds bytes with their number in front.
pub fn put_bytes(bytes: &mut Vec<u8>, data: &[u8]) {
    put(bytes, data.len() as u64);
    bytes.extend_from_slice(data);
}

/// Takes numbers from bytes, whatever these are.
#[derive(Debug, Clone)]
pub struct Unpacker<'a> {
    bytes: &'a [u8],
}

impl<'a> Unpacker<'a> {
    /// Begins with the first byte.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// How many bytes are left.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Takes a number.
    #[inline]
    pub fn take(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                return None;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// Takes a number with a sign.
    #[inline]
    pub fn take_signed(&mut self) -> Option<i64> {
        let value = self.take()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Takes a number of 32 bits.
    pub fn small(&mut self) -> Option<u32> {
        self.take()?.try_into().ok()
    }

    /// Takes a number of 32 bits with a sign.
    pub fn small_signed(&mut self) -> Option<i32> {
        self.take_signed()?.try_into().ok()
    }

    /// Takes how many things follow, of at least a byte each.
    pub fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.take()?).ok()?;
        (count <= self.bytes.len()).then_some(count)
    }

    /// Takes bytes with their number in front.
    pub fn bytes(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let numbers = (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, !(1 << bit)]);
        let numbers: Vec<u64> = numbers.chain([u64::MAX]).collect();
        let mut bytes = Vec::new();
        for &number in &numbers {
            put(&mut bytes, number);
            put_signed(&mut bytes, number as i64);
        }
        put_bytes(&mut bytes, b"abc");
        let mut unpacker = Unpacker::new(&bytes);
        for &number in &numbers {
            assert_eq!(unpacker.take(), Some(number));
            assert_eq!(unpacker.take_signed(), Some(number as i64));
        }
        assert_eq!(unpacker.bytes(), Some(&b"abc"[..]));
        assert!(unpacker.is_empty());
        assert_eq!(unpacker.take(), None);
    }

    #[test]
    fn what_is_no_number_is_none() {
        assert_eq!(Unpacker::new(&[0xFF; 20]).take(), None);
        assert_eq!(Unpacker::new(&[0x80; 3]).take(), None);
        assert_eq!(Unpacker::new(&[5, 1, 2]).bytes(), None);
    }
}
