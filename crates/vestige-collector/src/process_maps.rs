//! The files that a process has mapped, as `proc(5)` tells them, and opening those.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::looks::{look_at, look_inside, read_link};
use crate::sys;

/// Thousands of mappings take a megabyte; a process may have 65,530 with long paths.
const MOST_BYTES: u64 = 16 << 20;
const DELETED: &[u8] = b" (deleted)";
/// How a new line in a path is written.
const NEW_LINE: &[u8] = b"\\012";

/// A part of a file in the memory of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileMapping {
    pub start: u64,
    pub end: u64,
    pub is_executable: bool,
    /// Of the first byte, in the file.
    pub offset: u64,
    /// The file system and the inode, as the kernel calls them there.
    pub file: (u64, u64),
    /// As the process sees it.
    pub path: Vec<u8>,
    pub is_deleted: bool,
}

/// A process that is looked at: what is read of it later is of the same one, or nothing.
pub struct ProcessFolder {
    folder: File,
    root: Vec<u8>,
}

impl ProcessFolder {
    /// That of a process.
    ///
    /// # Errors
    ///
    /// There is no such process.
    pub fn open(process: u32) -> io::Result<Self> {
        let folder = sys::open_directory(Path::new(&format!("/proc/{process}")))?;
        // Paths are told with the root of who reads them.
        let root = read_link(&folder, "root").unwrap_or_default();
        let root = if root == b"/" { Vec::new() } else { root };
        Ok(Self { folder, root })
    }

    /// The files that are mapped now, ordered by address; none of a process that has ended.
    ///
    /// # Errors
    ///
    /// They may not be read, or the process is gone.
    pub fn mappings(&self) -> io::Result<Vec<FileMapping>> {
        let file = sys::open_at(&self.folder, "maps", libc::O_RDONLY)?;
        let mut text = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut text)?;
        Ok(text.split(|byte| *byte == b'\n').filter_map(|line| self.parse(line)).collect())
    }

    /// A line; `None` for memory without a file.
    fn parse(&self, line: &[u8]) -> Option<FileMapping> {
        let mut rest = line;
        let (start, end) = split(word(&mut rest), b'-')?;
        let is_executable = word(&mut rest).get(2) == Some(&b'x');
        let offset = number(word(&mut rest))?;
        let (major, minor) = split(word(&mut rest), b':')?;
        let inode = std::str::from_utf8(word(&mut rest)).ok()?.parse().ok()?;
        let path = rest.trim_ascii_start();
        if inode == 0 || !path.starts_with(b"/") {
            return None;
        }
        let is_deleted = path.ends_with(DELETED);
        let path = path.strip_suffix(DELETED).unwrap_or(path);
        let inside = path.strip_prefix(self.root.as_slice());
        let path = inside.filter(|path| path.starts_with(b"/")).unwrap_or(path);
        let device = libc::makedev(u32::try_from(major).ok()?, u32::try_from(minor).ok()?);
        let file = (device, inode);
        let path = with_new_lines(path);
        Some(FileMapping { start, end, is_executable, offset, file, path, is_deleted })
    }

    /// Whether a program answers for a file system: one that does not would hold up all.
    fn is_of_program(&self, device: u64) -> io::Result<bool> {
        let file = sys::open_at(&self.folder, "mountinfo", libc::O_RDONLY)?;
        let mut text = Vec::new();
        file.take(MOST_BYTES).read_to_end(&mut text)?;
        Ok(kind_of(&text, device).is_some_and(|kind| kind.starts_with(b"fuse")))
    }

    /// Opens the file of a mapping, without waiting, and only if it is a regular one.
    ///
    /// The kernel opens it for who may see all of a process; for others its path does, if
    /// the same file has it.
    ///
    /// # Errors
    ///
    /// It cannot be opened, or another file has its path now.
    pub fn open_file(&self, mapping: &FileMapping) -> io::Result<File> {
        if libc::major(mapping.file.0) == 0 && self.is_of_program(mapping.file.0)? {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let link = format!("map_files/{:x}-{:x}", mapping.start, mapping.end);
        if let Ok(found) = look_at(&self.folder, &link) {
            return open_regular(&found);
        }
        let root = look_at(&self.folder, "root")?;
        let path = mapping.path.strip_prefix(b"/").unwrap_or_default();
        let found = look_inside(&root, OsStr::from_bytes(path))?;
        let status = found.metadata()?;
        // Some file systems have two numbers each: theirs cannot be compared.
        let is_same = status.ino() == mapping.file.1 || status.dev() != mapping.file.0;
        if mapping.is_deleted || !is_same {
            return Err(io::ErrorKind::NotFound.into());
        }
        open_regular(&found)
    }
}

/// Opens what was only looked at: to open a pipe waits, and to open a device may do anything.
fn open_regular(found: &File) -> io::Result<File> {
    if !found.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    fs::OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
        .open(format!("/proc/self/fd/{}", found.as_raw_fd()))
}

/// The type of the file system with a number, among all mounts.
fn kind_of(mounts: &[u8], device: u64) -> Option<&[u8]> {
    let number = format!("{}:{}", libc::major(device), libc::minor(device));
    let is_it = |line: &&[u8]| line.split(|byte| *byte == b' ').nth(2) == Some(number.as_bytes());
    let line = mounts.split(|byte| *byte == b'\n').find(is_it)?;
    // After words whose number differs, and a dash.
    let mut words = line.split(|byte| *byte == b' ').skip(6).skip_while(|word| *word != b"-");
    words.nth(1)
}

/// Takes a word off the front, and the blank behind it.
fn word<'a>(rest: &mut &'a [u8]) -> &'a [u8] {
    let end = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
    let (found, tail) = rest.split_at(end);
    *rest = tail.get(1..).unwrap_or_default();
    found
}

fn number(digits: &[u8]) -> Option<u64> {
    u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn split(pair: &[u8], between: u8) -> Option<(u64, u64)> {
    let at = pair.iter().position(|byte| *byte == between)?;
    Some((number(pair.get(..at)?)?, number(pair.get(at + 1..)?)?))
}

fn with_new_lines(path: &[u8]) -> Vec<u8> {
    let mut found = Vec::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.windows(NEW_LINE.len()).position(|part| part == NEW_LINE) {
        let (before, behind) = rest.split_at(at);
        found.extend_from_slice(before);
        found.push(b'\n');
        rest = behind.get(NEW_LINE.len()..).unwrap_or_default();
    }
    found.extend_from_slice(rest);
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn parse(root: &[u8], line: &str) -> Option<FileMapping> {
        let folder = File::open("/").unwrap();
        ProcessFolder { folder, root: root.to_vec() }.parse(line.as_bytes())
    }

    const LINE: &str = "7f0a-7f0b r-xp 0000a000 08:01 123                    ";

    #[test]
    fn a_line_is_taken_apart() {
        let found = parse(b"", &format!("{LINE}/usr/a b\\012c (deleted)")).unwrap();
        assert_eq!((found.start, found.end, found.offset), (0x7f0a, 0x7f0b, 0xa000));
        assert_eq!(found.file, (libc::makedev(8, 1), 123));
        assert_eq!(found.path, b"/usr/a b\nc");
        assert!(found.is_deleted && found.is_executable);
        assert!(!parse(b"", &LINE.replace('x', "-")).is_some_and(|one| one.is_executable));
    }

    #[test]
    fn a_path_begins_at_the_root_of_its_process() {
        let path = |root: &[u8]| parse(root, &format!("{LINE}/srv/a/lib")).unwrap().path;
        assert_eq!(path(b"/srv/a"), b"/lib");
        assert_eq!(path(b"/sr"), b"/srv/a/lib");
        assert_eq!(path(b"/srv/b"), b"/srv/a/lib");
    }

    #[test]
    fn mounts_tell_what_a_file_system_is() {
        let mounts = b"29 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n\
            77 29 0:52 / /home/a/- rw,nosuid - fuse.sshfs there rw,user_id=0\n\
            78 29 0:53 / /tmp rw,nosuid master:1 shared:2 - tmpfs tmpfs rw\n";
        let kind = |minor| kind_of(mounts, libc::makedev(0, minor));
        assert_eq!(kind(52), Some(&b"fuse.sshfs"[..]));
        assert_eq!(kind(53), Some(&b"tmpfs"[..]));
        assert_eq!((kind(5), kind_of(b"", 1), kind_of(b"1 2 0:1 -", 1)), (None, None, None));
    }

    #[test]
    fn what_is_no_file_or_no_line_is_passed_over() {
        for name in ["", "[heap]", "anon_inode:x"] {
            assert_eq!(parse(b"", &format!("{LINE}{name}")), None);
        }
        let whole = format!("{LINE}/lib");
        for end in 0..LINE.len() {
            assert_eq!(parse(b"", &whole[..end]), None);
        }
        assert_eq!(parse(b"", &whole.replace("08:01", "fffffffff:01")), None);
    }
}
