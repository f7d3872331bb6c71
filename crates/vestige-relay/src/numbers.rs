//! Numbers in network byte order, and texts that end in a zero.

/// Why a message makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed(pub &'static str);

impl std::fmt::Display for Malformed {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.0)
    }
}

impl std::error::Error for Malformed {}

/// Reads a message from its beginning.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// Begins with the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// Takes so many bytes.
    ///
    /// # Errors
    ///
    /// The message ends before.
    pub fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self
            .rest
            .split_at_checked(count)
            .ok_or(Malformed("the message ends before its last member"))?;
        self.rest = rest;
        Ok(taken)
    }

    /// Takes a number of one byte.
    ///
    /// # Errors
    ///
    /// The message ends before.
    pub fn u8(&mut self) -> Result<u8, Malformed> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Takes a number of four bytes.
    ///
    /// # Errors
    ///
    /// The message ends before.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    /// Takes a number of eight bytes.
    ///
    /// # Errors
    ///
    /// The message ends before.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    /// Takes bytes of a fixed count.
    ///
    /// # Errors
    ///
    /// The message ends before.
    pub fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], Malformed> {
        let mut array = [0; COUNT];
        array.copy_from_slice(self.take(COUNT)?);
        Ok(array)
    }

    /// Takes a field of so many bytes; its text ends before the first zero.
    ///
    /// # Errors
    ///
    /// The message ends before, or the text does not end in the field.
    pub fn text(&mut self, bytes: usize) -> Result<Vec<u8>, Malformed> {
        let field = self.take(bytes)?;
        let end = field.iter().position(|&byte| byte == 0);
        let text = end.and_then(|end| field.get(..end));
        text.map(<[u8]>::to_vec).ok_or(Malformed("a text does not end in a zero"))
    }

    /// All that is left.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_ends_inside_of_its_field() {
        assert_eq!(Reader::new(b"ab\0\0").text(4), Ok(b"ab".to_vec()));
        assert!(Reader::new(b"abcd").text(4).is_err());
        assert!(Reader::new(b"").text(0).is_err());
    }

    #[test]
    fn nothing_is_read_beyond_the_end() {
        let mut reader = Reader::new(&[0, 0, 1, 2, 3]);
        assert_eq!(reader.u32(), Ok(258));
        assert!(reader.u32().is_err());
        assert_eq!(reader.u8(), Ok(3));
    }
}
