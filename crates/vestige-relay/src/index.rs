//! Index files, versions 1.0 and 1.1: where packets are, and what they say of themselves.

/// Bytes of the header of an index file.
pub const FILE_HEADER_BYTES: u64 = 16;

const MAGIC: u32 = 0xC1F1_DCC1;
const MAJOR: u32 = 1;

/// What an index says of a packet, beside where it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketIndex {
    /// Bits, with padding.
    pub packet_bits: u64,
    /// Bits without padding.
    pub content_bits: u64,
    /// Cycles of the clock.
    pub begin: u64,
    /// Cycles of the clock.
    pub end: u64,
    /// Events that were lost, since the stream began.
    pub discarded: u64,
    /// The data stream class.
    pub stream_class: u64,
    /// Which stream of its class; all ones from peers that do not say it.
    pub instance: u64,
    /// The number of the packet as its tracer counts; all ones as above.
    pub number: u64,
}

/// The version of index files: by the protocol that the sender speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexVersion {
    is_latest: bool,
}

impl IndexVersion {
    /// The version for a minor version of the protocol.
    pub fn of_protocol(minor: u32) -> Self {
        Self { is_latest: minor >= 8 }
    }

    /// Bytes of an entry.
    pub fn entry_bytes(self) -> u64 {
        if self.is_latest {
            72
        } else {
            56
        }
    }

    /// The header of an index file.
    pub fn file_header(self) -> Vec<u8> {
        let bytes = u32::try_from(self.entry_bytes()).unwrap_or_default();
        let words = [MAGIC, MAJOR, u32::from(self.is_latest), bytes];
        words.iter().flat_map(|word| word.to_be_bytes()).collect()
    }

    /// An entry for a packet at an offset of its data file.
    pub fn entry(self, offset: u64, packet: &PacketIndex) -> Vec<u8> {
        let words = [
            offset,
            packet.packet_bits,
            packet.content_bits,
            packet.begin,
            packet.end,
            packet.discarded,
            packet.stream_class,
            packet.instance,
            packet.number,
        ];
        let count = if self.is_latest { 9 } else { 7 };
        words.iter().take(count).flat_map(|word| word.to_be_bytes()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_the_bytes_that_the_header_says() {
        for minor in [4, 7, 8, 11] {
            let version = IndexVersion::of_protocol(minor);
            let header = version.file_header();
            assert_eq!(header.len() as u64, FILE_HEADER_BYTES);
            assert_eq!(header.get(12..), Some(&(version.entry_bytes() as u32).to_be_bytes()[..]));
            let entry = version.entry(7, &PacketIndex::default());
            assert_eq!(entry.len() as u64, version.entry_bytes());
        }
    }
}
