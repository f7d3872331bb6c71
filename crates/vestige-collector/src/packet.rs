//! The packet header and context, as `tracer/agreement/agreement.h` and the metadata have them.

use crate::layout::PACKET_BYTES;

const MAGIC: u32 = 0xC1FC_1FC1;
const BITS: u64 = 8;
/// Packets begin at multiples of this.
pub const ALIGNMENT: u32 = 8;

/// What a packet says in front of its records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Head {
    pub instance_id: u64,
    pub begin: u64,
    pub end: u64,
    /// Bytes of records.
    pub record_bytes: u32,
    pub number: u64,
    /// Records lost from the beginning of the stream to the end of the packet.
    pub discarded: u64,
    pub vpid: u32,
    pub vtid: u32,
    pub procname: [u8; 16],
}

impl Head {
    /// Bytes that follow the records.
    #[must_use]
    pub const fn padding(&self) -> u32 {
        self.record_bytes.next_multiple_of(ALIGNMENT) - self.record_bytes
    }

    /// Appends the bytes that stand in a file.
    pub fn put(&self, uuid: &[u8; 16], out: &mut Vec<u8>) {
        let content = u64::from(PACKET_BYTES + self.record_bytes);
        let size = content + u64::from(self.padding());
        out.extend(MAGIC.to_ne_bytes());
        out.extend(uuid);
        out.extend(0_u32.to_ne_bytes());
        let numbers = [
            self.instance_id,
            self.begin,
            self.end,
            content * BITS,
            size * BITS,
            self.number,
            self.discarded,
        ];
        out.extend(numbers.iter().flat_map(|number| number.to_ne_bytes()));
        out.extend(self.vpid.to_ne_bytes());
        out.extend(self.vtid.to_ne_bytes());
        out.extend(self.procname);
    }
}
