//! Where packets go: a data stream file and its index, both open.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// The first bytes of an index of version 1.1, whose entries have 72 bytes each; big-endian.
const INDEX_HEADER: [u32; 4] = [0xc1f1_dcc1, 1, 1, 72];

/// Takes packets.
pub trait Output {
    /// Takes a packet, and what the index says of it but its place.
    ///
    /// # Errors
    ///
    /// It could not be written; the next one takes its place.
    fn put(&mut self, packet: &[u8], facts: &[u64; 8]) -> io::Result<()>;
}

/// A data stream file and its index.
pub struct Files {
    data: File,
    index: File,
    written: u64,
    indexed: u64,
}

impl Files {
    /// Two files that are empty.
    ///
    /// # Errors
    ///
    /// The index cannot be written.
    pub fn new(data: File, index: File) -> io::Result<Self> {
        let header: Vec<u8> = INDEX_HEADER.iter().flat_map(|word| word.to_be_bytes()).collect();
        index.write_all_at(&header, 0)?;
        Ok(Self { data, index, written: 0, indexed: header.len() as u64 })
    }

    /// Cuts off what was written of packets that are not there.
    ///
    /// # Errors
    ///
    /// A file cannot be cut.
    pub fn close(self) -> io::Result<()> {
        self.cut()
    }

    /// Does what [`Files::close`] does, and more may come.
    ///
    /// # Errors
    ///
    /// A file cannot be cut.
    pub fn cut(&self) -> io::Result<()> {
        self.data.set_len(self.written)?;
        self.index.set_len(self.indexed)
    }
}

impl Output for Files {
    fn put(&mut self, packet: &[u8], facts: &[u64; 8]) -> io::Result<()> {
        self.data.write_all_at(packet, self.written)?;
        let mut entry = self.written.to_be_bytes().to_vec();
        entry.extend(facts.iter().flat_map(|fact| fact.to_be_bytes()));
        self.index.write_all_at(&entry, self.indexed)?;
        self.written += packet.len() as u64;
        self.indexed += entry.len() as u64;
        Ok(())
    }
}

/// Memory, for tests.
impl Output for Vec<u8> {
    fn put(&mut self, packet: &[u8], _facts: &[u64; 8]) -> io::Result<()> {
        self.extend_from_slice(packet);
        Ok(())
    }
}
