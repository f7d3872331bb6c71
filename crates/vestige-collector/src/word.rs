//! A word of a file that programs map, changed from outside by an atomic operation.
//!
//! The owner of the file may cut it at any time: the word is mapped only for the operation, and
//! guarded.

#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, RawFd};
use std::sync::atomic::Ordering;

use crate::fault::Guard;
use crate::mapping::Mapping;

const BYTES: u64 = 8;

/// Writes `new` where `expected` is; gives what was there.
pub fn exchange(file: RawFd, at: u64, expected: u64, new: u64) -> io::Result<u64> {
    let end = at.checked_add(BYTES).filter(|_| at % BYTES == 0);
    let end = end.ok_or(io::ErrorKind::InvalidInput)?;
    if file < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: it is not closed here, and whoever passes it keeps it open meanwhile.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(file) });
    if file.metadata()?.len() < end {
        return Err(io::Error::from_raw_os_error(libc::EFAULT));
    }
    let memory = Mapping::new(&file, end)?;
    let guard = Guard::new(&memory);
    if !guard.is_set() {
        return Err(io::Error::from_raw_os_error(libc::EAGAIN));
    }
    let word = memory.u64(at);
    let done = word.compare_exchange(expected, new, Ordering::SeqCst, Ordering::SeqCst);
    if guard.is_damaged() {
        return Err(io::Error::from_raw_os_error(libc::EFAULT));
    }
    Ok(done.unwrap_or_else(|found| found))
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;
    use std::thread;

    use super::*;

    /// A file of one page, which has no name any more.
    fn file(name: &str) -> io::Result<File> {
        let path = std::env::temp_dir().join(format!("vestige-word-{}-{name}", std::process::id()));
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
        std::fs::remove_file(path)?;
        file.set_len(4096)?;
        Ok(file)
    }

    #[test]
    fn a_word_changes_only_if_it_is_the_expected_one() -> io::Result<()> {
        let file = file("one")?;
        assert_eq!(exchange(file.as_raw_fd(), 16, 0, 7)?, 0);
        assert_eq!(exchange(file.as_raw_fd(), 16, 0, 9)?, 7);
        let mut raw = [0; 8];
        file.read_exact_at(&mut raw, 16)?;
        assert_eq!(u64::from_ne_bytes(raw), 7);
        Ok(())
    }

    #[test]
    fn threads_that_add_lose_nothing() -> io::Result<()> {
        let file = file("many")?;
        let number = file.as_raw_fd();
        let add = || -> io::Result<()> {
            for _ in 0..200 {
                let mut old = 0;
                loop {
                    let found = exchange(number, 8, old, old + 1)?;
                    if found == old {
                        break;
                    }
                    old = found;
                }
            }
            Ok(())
        };
        thread::scope(|scope| {
            let all = [scope.spawn(add), scope.spawn(add), scope.spawn(add)];
            for one in all {
                assert!(one.join().is_ok_and(|done| done.is_ok()));
            }
        });
        assert_eq!(exchange(number, 8, 0, 0)?, 600);
        Ok(())
    }

    #[test]
    fn a_word_that_is_not_there_is_an_error() -> io::Result<()> {
        let file = file("none")?;
        assert!(exchange(file.as_raw_fd(), 4096, 0, 1).is_err());
        assert!(exchange(file.as_raw_fd(), 4, 0, 1).is_err());
        assert!(exchange(file.as_raw_fd(), u64::MAX - 7, 0, 1).is_err());
        assert!(exchange(-1, 0, 0, 1).is_err());
        Ok(())
    }
}
