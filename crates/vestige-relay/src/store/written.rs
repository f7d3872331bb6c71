//! A data file of a stream and its index file.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::index::{IndexVersion, PacketIndex, FILE_HEADER_BYTES};
use crate::memory::{Account, Share};
use crate::store::pool::{Pool, PooledFile};
use crate::sys;

const INDEX_FOLDER: &str = "index";
/// Bytes that are copied at once.
const COPY_BYTES: usize = 1 << 16;
/// Bytes of memory for a file and its index, beside its names.
const FILE_BYTES: usize = 768;

/// The name of a data file.
pub fn data_name(channel: &Path, number: Option<u64>) -> PathBuf {
    let mut name = channel.as_os_str().to_owned();
    if let Some(number) = number {
        name.push(format!("_{number}"));
    }
    name.into()
}

/// The name of its index file, from the same directory.
pub fn index_name(data: &Path) -> PathBuf {
    let mut name = Path::new(INDEX_FOLDER).join(data).into_os_string();
    name.push(".idx");
    name.into()
}

#[derive(Debug)]
struct IndexFile {
    file: PooledFile,
    end: u64,
    packets_end: u64,
}

/// A data file, and the index file that comes with its first packet.
#[derive(Debug)]
pub struct Written {
    directory: Arc<File>,
    data: PooledFile,
    index: Mutex<Option<IndexFile>>,
    _share: Share,
    /// Which one of its stream it is, from 1 on.
    pub number: u64,
}

impl Written {
    /// Takes the memory that is needed for one.
    pub fn account_for(account: &Arc<Account>, name: &Path) -> io::Result<Share> {
        account.take(FILE_BYTES + 2 * name.as_os_str().len())
    }

    /// Makes the data file. Who reads one of the same name still has all of it.
    pub fn create(
        pool: &Arc<Pool>,
        directory: &Arc<File>,
        name: PathBuf,
        number: u64,
        share: Share,
    ) -> io::Result<Self> {
        // An index without its data file leads nowhere.
        for old in [index_name(&name), name.clone()] {
            match sys::unlink_at(directory, &old) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        let data = pool.create(directory, name)?;
        let directory = Arc::clone(directory);
        Ok(Self { directory, data, index: Mutex::default(), _share: share, number })
    }

    fn index(&self) -> MutexGuard<'_, Option<IndexFile>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The name of the data file.
    pub fn data_name(&self) -> &Path {
        self.data.name()
    }

    /// Where the last packet ends that the index has.
    pub fn indexed_end(&self) -> u64 {
        self.index().as_ref().map_or(0, |index| index.packets_end)
    }

    /// Another file gets its name.
    pub fn set_replaced(&self) {
        self.data.set_replaced();
        self.index().iter().for_each(|index| index.file.set_replaced());
    }

    /// Where the index file ends; 0 as long as there is none.
    pub fn index_end(&self) -> u64 {
        self.index().as_ref().map_or(0, |index| index.end)
    }

    /// The data file, and the index file: who has these can read them when they have been removed.
    pub fn files(&self) -> io::Result<(Arc<File>, Arc<File>)> {
        let index = self.index();
        let index = index.as_ref().ok_or(io::ErrorKind::NotFound)?;
        Ok((self.data.get()?, index.file.get()?))
    }

    /// Reads bytes of the data file, up to its end.
    pub fn read(&self, at: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.data.get()?.read_at(buffer, at)
    }

    /// Makes the index file, if it is not there.
    pub fn begin_index(&self, pool: &Arc<Pool>, version: IndexVersion) -> io::Result<()> {
        let mut index = self.index();
        if index.is_some() {
            return Ok(());
        }
        let name = index_name(self.data.name());
        sys::make_directory_at(&self.directory, Path::new(INDEX_FOLDER))?;
        match sys::unlink_at(&self.directory, &name) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let file = pool.create(&self.directory, name.clone())?;
        if let Err(error) = file.get()?.write_all_at(&version.file_header(), 0) {
            // It may be begun again; an empty one is of no use.
            sys::unlink_at(&self.directory, &name)?;
            return Err(error);
        }
        *index = Some(IndexFile { file, end: FILE_HEADER_BYTES, packets_end: 0 });
        Ok(())
    }

    /// Adds an entry to the index file; it is there.
    pub fn add_entry(
        &self,
        version: IndexVersion,
        (offset, bytes): (u64, u64),
        packet: &PacketIndex,
    ) -> io::Result<()> {
        let mut index = self.index();
        let index = index.as_mut().ok_or(io::ErrorKind::NotFound)?;
        let entry = version.entry(offset, packet);
        let file = index.file.get()?;
        if let Err(error) = file.write_all_at(&entry, index.end) {
            // A part of it may be there.
            file.set_len(index.end)?;
            return Err(error);
        }
        index.end += entry.len() as u64;
        index.packets_end = index.packets_end.max(offset + bytes);
        Ok(())
    }

    /// Writes bytes of a packet.
    pub fn write(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        self.data.get()?.write_all_at(bytes, at)
    }

    /// Cuts it, or fills it with zeros, which take no space.
    pub fn set_end(&self, at: u64) -> io::Result<()> {
        self.data.get()?.set_len(at)
    }

    /// Keeps space for it on the disk, if there is; it is as long as before.
    pub fn reserve(&self, bytes: u64) {
        if let Ok(file) = self.data.get() {
            sys::reserve(&file, bytes);
        }
    }

    /// Copies bytes to another one.
    pub fn copy_to(&self, from: u64, other: &Self, to: u64, bytes: u64) -> io::Result<()> {
        let (source, target) = (self.data.get()?, other.data.get()?);
        let mut buffer = vec![0; COPY_BYTES];
        let mut done = 0;
        while done < bytes {
            let wanted = usize::try_from(bytes - done).unwrap_or(COPY_BYTES).min(COPY_BYTES);
            let place = buffer.get_mut(..wanted).unwrap_or_default();
            source.read_exact_at(place, from + done)?;
            target.write_all_at(place, to + done)?;
            done += wanted as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_as_lttng_names_them() {
        let (plain, third) = (Path::new("channel0_1"), Some(2));
        assert_eq!(index_name(&data_name(plain, None)), Path::new("index/channel0_1.idx"));
        assert_eq!(index_name(&data_name(plain, third)), Path::new("index/channel0_1_2.idx"));
    }
}
