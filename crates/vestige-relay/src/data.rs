//! What comes before each packet on a data connection.

use crate::numbers::{Malformed, Reader};

/// Bytes of a header.
pub const HEADER_BYTES: usize = 32;

/// A header of the data protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHeader {
    /// The stream, as the reply to "add stream" has numbered it.
    pub stream: u64,
    /// The number of the packet in its stream, from 0 on.
    pub sequence: u64,
    /// Bytes that follow.
    pub bytes: u32,
    /// Zeros that belong to the packet, but are not sent.
    pub padding: u32,
}

impl DataHeader {
    /// Reads one.
    ///
    /// # Errors
    ///
    /// It is cut.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        // Nobody uses the number of the circuit.
        reader.u64()?;
        Ok(Self {
            stream: reader.u64()?,
            sequence: reader.u64()?,
            bytes: reader.u32()?,
            padding: reader.u32()?,
        })
    }

    /// Writes it.
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        let members = [
            &0_u64.to_be_bytes()[..],
            &self.stream.to_be_bytes(),
            &self.sequence.to_be_bytes(),
            &self.bytes.to_be_bytes(),
            &self.padding.to_be_bytes(),
        ];
        for (place, byte) in bytes.iter_mut().zip(members.concat()) {
            *place = byte;
        }
        bytes
    }

    /// Bytes of the packet in its file.
    pub fn total(&self) -> u64 {
        u64::from(self.bytes) + u64::from(self.padding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let header = DataHeader { stream: 3, sequence: 1 << 40, bytes: 4096, padding: 12 };
        assert_eq!(DataHeader::decode(&header.encode()), Ok(header));
        assert!(DataHeader::decode(&header.encode()[..31]).is_err());
        assert_eq!(header.total(), 4108);
    }
}
