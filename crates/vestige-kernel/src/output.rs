//! Where packets go: a data stream file and its index, both open.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use crate::sys::open_new;

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

/// Where more files of a data stream are made, once one has enough.
#[derive(Clone)]
pub struct Limits {
    /// The directories of data files and of indexes, which are open.
    pub data: Arc<File>,
    pub index: Arc<File>,
    /// The beginning of the names; the number of a file follows.
    pub name: String,
    /// Bytes of a data file.
    pub size: u64,
    /// How many of them stay; 0: all.
    pub count: u64,
}

/// A data stream file and its index.
pub struct Files {
    data: File,
    index: File,
    written: u64,
    indexed: u64,
    limits: Option<Limits>,
    number: u64,
}

impl Files {
    /// Two files that are empty.
    ///
    /// # Errors
    ///
    /// The index cannot be written.
    pub fn new(data: File, index: File) -> io::Result<Self> {
        let indexed = begin_index(&index)?;
        Ok(Self { data, index, written: 0, indexed, limits: None, number: 0 })
    }

    /// Goes on in more files from now on, when one has enough.
    pub fn limit(&mut self, limits: Limits) {
        self.limits = Some(limits);
    }

    /// Begins the next file, in place of the oldest one if there are enough.
    fn begin_next(&mut self) -> io::Result<()> {
        let Some(limits) = &self.limits else { return Ok(()) };
        let number = self.number + 1;
        let place = if limits.count > 0 { number % limits.count } else { number };
        let name = format!("{}_{place}", limits.name);
        // An index without its data tells of a loss.
        let index = open_new(&*limits.index, &format!("{name}.idx"))?;
        let data = open_new(&*limits.data, &name)?;
        let indexed = begin_index(&index)?;
        self.cut()?;
        (self.data, self.index) = (data, index);
        (self.written, self.indexed, self.number) = (0, indexed, number);
        Ok(())
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
        self.index.set_len(self.indexed)?;
        self.data.set_len(self.written)
    }
}

impl Output for Files {
    fn put(&mut self, packet: &[u8], facts: &[u64; 8]) -> io::Result<()> {
        let more = packet.len() as u64;
        let is_full = |one: &Limits| self.written > 0 && self.written + more > one.size;
        if self.limits.as_ref().is_some_and(is_full) {
            self.begin_next()?;
        }
        self.data.write_all_at(packet, self.written)?;
        let mut entry = self.written.to_be_bytes().to_vec();
        entry.extend(facts.iter().flat_map(|fact| fact.to_be_bytes()));
        self.index.write_all_at(&entry, self.indexed)?;
        self.written += packet.len() as u64;
        self.indexed += entry.len() as u64;
        Ok(())
    }
}

fn begin_index(index: &File) -> io::Result<u64> {
    let header: Vec<u8> = INDEX_HEADER.iter().flat_map(|word| word.to_be_bytes()).collect();
    index.write_all_at(&header, 0)?;
    Ok(header.len() as u64)
}

/// Memory, for tests.
impl Output for Vec<u8> {
    fn put(&mut self, packet: &[u8], _facts: &[u64; 8]) -> io::Result<()> {
        self.extend_from_slice(packet);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;

    #[test]
    fn of_a_file_that_is_replaced_the_index_goes_first() {
        let folder = std::env::temp_dir().join(format!("vestige-output-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let open = || Arc::new(File::open(&folder).unwrap());
        let file = |name: &str| open_new(&*open(), name).unwrap();
        let mut files = Files::new(file("c_0"), file("c_0.idx")).unwrap();
        let (data, index) = (open(), open());
        files.limit(Limits { data, index, name: "c".into(), size: 10, count: 2 });
        files.put(&[1; 8], &[0; 8]).unwrap();
        files.put(&[1; 8], &[0; 8]).unwrap();
        // It cannot be replaced.
        fs::remove_file(folder.join("c_0")).unwrap();
        fs::create_dir(folder.join("c_0")).unwrap();
        assert!(files.put(&[1; 8], &[0; 8]).is_err());
        assert_eq!(fs::metadata(folder.join("c_0.idx")).unwrap().len(), 0);
        assert_eq!(fs::metadata(folder.join("c_1.idx")).unwrap().len(), 16 + 72);
        fs::remove_dir_all(folder).unwrap();
    }
}
