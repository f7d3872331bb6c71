//! The packet header and context, as `tracer/agreement/agreement.h` and the metadata have them.

use crate::layout::{CPU_PACKET_BYTES, PACKET_BYTES, STREAM_CLASS, STREAM_CLASS_OF_CPUS};

const MAGIC: u32 = 0xC1FC_1FC1;
const BITS: u64 = 8;
/// Packets begin at multiples of this.
pub const ALIGNMENT: u32 = 8;

/// Bytes that tell which stream of which trace a packet is of: number, UUID, class, instance.
pub const HEAD_BYTES: usize = 32;

/// The stream whose packet begins so, in the trace with a UUID.
pub fn instance_of(head: &[u8; HEAD_BYTES], uuid: &[u8; 16]) -> Option<u64> {
    let (magic, rest) = head.split_first_chunk()?;
    let (found, rest) = rest.split_first_chunk::<16>()?;
    let (_class, rest) = rest.split_first_chunk::<4>()?;
    let instance = rest.first_chunk()?;
    let is_good = u32::from_ne_bytes(*magic) == MAGIC && found == uuid;
    is_good.then(|| u64::from_ne_bytes(*instance))
}

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
    /// Where the ring is that of a CPU: in place of the three before.
    pub cpu: Option<u32>,
}

impl Head {
    /// Bytes that follow the records.
    #[must_use]
    pub const fn padding(&self) -> u32 {
        let content = self.content();
        content.next_multiple_of(ALIGNMENT) - content
    }

    /// Bytes of header, context and records.
    #[must_use]
    pub const fn content(&self) -> u32 {
        let head = if self.cpu.is_some() { CPU_PACKET_BYTES } else { PACKET_BYTES };
        head + self.record_bytes
    }

    /// The number of its stream class.
    #[must_use]
    pub const fn class(&self) -> u32 {
        if self.cpu.is_some() {
            STREAM_CLASS_OF_CPUS
        } else {
            STREAM_CLASS
        }
    }

    /// Appends the bytes that stand in a file.
    pub fn put(&self, uuid: &[u8; 16], out: &mut Vec<u8>) {
        let content = u64::from(self.content());
        let size = content + u64::from(self.padding());
        out.extend(MAGIC.to_ne_bytes());
        out.extend(uuid);
        out.extend(self.class().to_ne_bytes());
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
        if let Some(cpu) = self.cpu {
            out.extend(cpu.to_ne_bytes());
            return;
        }
        out.extend(self.vpid.to_ne_bytes());
        out.extend(self.vtid.to_ne_bytes());
        out.extend(self.procname);
    }
}
