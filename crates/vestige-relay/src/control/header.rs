//! What comes before each command.

use crate::numbers::{Malformed, Reader};

/// Bytes of a header.
pub const HEADER_BYTES: usize = 24;

/// No command is longer: the longest ones are metadata, and rotations of very many streams.
pub const LARGEST_PAYLOAD: u64 = 16 << 20;

/// A header of the control protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Bytes that follow.
    pub bytes: usize,
    /// Which command.
    pub command: u32,
}

impl Header {
    /// Reads one.
    ///
    /// # Errors
    ///
    /// It is cut, or says more bytes than any command has.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        // Nobody uses the number of the circuit.
        reader.u64()?;
        let bytes = reader.u64()?;
        if bytes > LARGEST_PAYLOAD {
            return Err(Malformed("a command is longer than any may be"));
        }
        let bytes = usize::try_from(bytes).unwrap_or_default();
        Ok(Self { bytes, command: reader.u32()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(bytes: u64, command: u32) -> Vec<u8> {
        let mut all = vec![0; 8];
        all.extend(bytes.to_be_bytes());
        all.extend(command.to_be_bytes());
        all.extend([0; 4]);
        all
    }

    #[test]
    fn what_is_too_long_is_refused_before_it_is_read() {
        assert_eq!(Header::decode(&header(8, 5)), Ok(Header { bytes: 8, command: 5 }));
        assert!(Header::decode(&header(LARGEST_PAYLOAD + 1, 6)).is_err());
        assert!(Header::decode(&header(u64::MAX, 6)).is_err());
        assert!(Header::decode(&[0; 8]).is_err());
    }
}
