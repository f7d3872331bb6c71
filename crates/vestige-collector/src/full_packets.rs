//! Full packets of rings that programs of LTTng-UST write, copied to files and given back.
//!
//! A program that waits for room sleeps for a tenth of a second: it has to be faster here than
//! it fills the next sub-buffer. Numbers are read at places of the ring's file, since a program
//! may cut it at any time; packets are mapped, and only the kernel reads them. What is rare (a
//! new file, a disk that is full, sizes that make no sense) stays in the ring for others.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, RawFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{fence, Ordering};

use crate::mapping::Mapping;
use crate::sys::{self, Span};

/// Where a ring says how much was reserved; behind it, how much was consumed.
const RESERVED: u64 = 128;
const CONSUMED: u64 = 152;
/// Of a packet's header: stream, instance, begin, end, content, packet, sequence number and
/// discarded records.
const HEADER_BYTES: u64 = 84;
const CONTEXT: u64 = 20;

/// The layout of a ring.
#[derive(Clone, Copy)]
pub struct Layout {
    pub bytes: u64,
    pub subbuffer: u64,
    pub count: u64,
    /// Where it says which sub-buffers the reader may have.
    pub delivered: u64,
    /// Where the sub-buffers are.
    pub data: u64,
}

/// The files of a ring, which are open.
#[derive(Clone, Copy)]
pub struct Files {
    pub ring: RawFd,
    /// Negative for none: then nothing is copied.
    pub data: RawFd,
    /// Negative for none.
    pub index: RawFd,
    /// Bytes of the data file.
    pub written: u64,
    /// Bytes that it may still get.
    pub room: u64,
    /// The number of a packet up to which the file has all.
    pub last: Option<u64>,
}

/// A ring that packets are copied from.
pub struct Ring {
    layout: Layout,
    memory: Mapping,
}

/// What a header says of its packet, in bits and times of programs.
struct Context {
    stream: u64,
    instance: u64,
    begin: u64,
    end: u64,
    content: u64,
    packet: u64,
    sequence: u64,
    lost: u64,
}

fn borrowed(file: RawFd) -> io::Result<ManuallyDrop<File>> {
    if file < 0 {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: it is not closed here, and whoever passes it keeps it open meanwhile.
    Ok(ManuallyDrop::new(unsafe { File::from_raw_fd(file) }))
}

/// The same file, to keep.
pub fn duplicate(file: RawFd) -> io::Result<File> {
    borrowed(file)?.try_clone()
}

fn word(raw: &[u8], at: usize) -> u64 {
    let bytes = raw.get(at..at + 8).and_then(|part| part.try_into().ok());
    u64::from_ne_bytes(bytes.unwrap_or_default())
}

impl Context {
    fn new(raw: &[u8]) -> Self {
        let stream = raw.get(..4).and_then(|part| part.try_into().ok());
        Self {
            stream: u64::from(u32::from_ne_bytes(stream.unwrap_or_default())),
            instance: word(raw, 4),
            begin: word(raw, 12),
            end: word(raw, 20),
            content: word(raw, 28),
            packet: word(raw, 36),
            sequence: word(raw, 44),
            lost: word(raw, 52),
        }
    }

    fn is_sound(&self, subbuffer: u64) -> bool {
        HEADER_BYTES * 8 <= self.content
            && self.content <= self.packet
            && self.packet <= subbuffer.saturating_mul(8)
            && self.packet % 8 == 0
    }

    /// The entry of the index.
    fn entry(&self, at: u64) -> [u8; 72] {
        let facts = [at, self.packet, self.content, self.begin, self.end, self.lost];
        let ids = [self.stream, self.instance, self.sequence];
        let mut entry = [0; 72];
        for (place, value) in entry.chunks_exact_mut(8).zip(facts.iter().chain(&ids)) {
            place.copy_from_slice(&value.to_be_bytes());
        }
        entry
    }
}

impl Ring {
    /// Maps a ring.
    pub fn new(file: RawFd, layout: Layout) -> io::Result<Self> {
        let is_sound = layout.subbuffer.is_power_of_two() && layout.count.is_power_of_two();
        if !is_sound || layout.subbuffer.checked_mul(layout.count).is_none() {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(Self { layout, memory: Mapping::new(&*borrowed(file)?, layout.bytes)? })
    }

    /// How much was consumed, if the sub-buffer after it is full.
    fn full(&self, ring: &File) -> io::Result<Option<u64>> {
        let Layout { subbuffer, count, delivered, .. } = self.layout;
        let mut raw = [0; (CONSUMED + 8 - RESERVED) as usize];
        ring.read_exact_at(&mut raw, RESERVED)?;
        let (reserved, consumed) = (word(&raw, 0), word(&raw, (CONSUMED - RESERVED) as usize));
        if reserved / subbuffer == consumed / subbuffer {
            return Ok(None);
        }
        let mut raw = [0; 8];
        ring.read_exact_at(&mut raw, delivered + 128 * (consumed / subbuffer % count))?;
        let mask = u64::MAX >> count.trailing_zeros();
        let full = (consumed & (subbuffer * count).wrapping_neg()) / count;
        let is_full = word(&raw, 0).wrapping_sub(subbuffer) & mask == full & mask;
        Ok(is_full.then_some(consumed))
    }

    /// Copies the next packet and gives its sub-buffer back; how many bytes, 0 for none.
    fn copy_one(&self, files: &Files) -> io::Result<u64> {
        let ring = borrowed(files.ring)?;
        let Some(consumed) = self.full(&ring)? else { return Ok(0) };
        // What was committed before it was delivered is seen after that.
        fence(Ordering::Acquire);
        let Layout { subbuffer, count, data, .. } = self.layout;
        let at = data + consumed % (subbuffer * count);
        let mut raw = [0; 60];
        ring.read_exact_at(&mut raw, at + CONTEXT)?;
        let context = Context::new(&raw);
        let bytes = context.packet / 8;
        let is_new = files.last.is_none_or(|last| context.sequence > last);
        if !context.is_sound(subbuffer) || bytes > files.room || !is_new {
            return Ok(0);
        }
        self.append(files, at, bytes, &context.entry(files.written))?;
        let after = consumed.wrapping_add(subbuffer);
        ring.write_all_at(&after.to_ne_bytes(), CONSUMED)?;
        Ok(bytes)
    }

    /// Appends a packet and its entry of the index, or nothing.
    fn append(&self, files: &Files, at: u64, bytes: u64, entry: &[u8]) -> io::Result<()> {
        let mut data = borrowed(files.data)?;
        let count = u32::try_from(bytes).map_err(|_| io::ErrorKind::InvalidInput)?;
        let span = Span { memory: &self.memory, at, bytes: count };
        let mut done = sys::append(&data, span).and_then(whole(bytes));
        if done.is_ok() && files.index >= 0 {
            let mut index = borrowed(files.index)?;
            let before = index.metadata()?.len();
            done = index.write(entry).map(|written| written as u64).and_then(whole(72));
            if done.is_err() {
                cut(&mut index, before);
            }
        }
        if done.is_err() {
            cut(&mut data, files.written);
        }
        done
    }
}

/// Whether all was written.
fn whole(bytes: u64) -> impl Fn(u64) -> io::Result<()> {
    move |written| if written == bytes { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
}

/// Takes away what was written in part; whoever writes next finds the end there.
fn cut(file: &mut File, bytes: u64) {
    // It is tried again as part of the next write.
    let _ = file.set_len(bytes);
    let _ = file.seek(SeekFrom::Start(bytes));
}

/// Copies the next packet of each ring, and adds its bytes; how many bytes in all.
///
/// What is not copied for an error stays, and its ring is left alone then: whoever tries it once
/// more finds the same.
pub fn copy_each(rings: &[Ring], files: &mut [Files], copied: &mut [u64]) -> u64 {
    let mut all = 0;
    for ((ring, one), sum) in rings.iter().zip(files).zip(copied) {
        if one.data < 0 {
            continue;
        }
        match ring.copy_one(one) {
            Ok(bytes) => {
                one.written += bytes;
                one.room -= bytes;
                *sum += bytes;
                all += bytes;
            }
            Err(_) => one.data = -1,
        }
    }
    all
}

/// Whether there is a full packet.
pub fn is_any_full(rings: &[Ring], files: &[Files]) -> bool {
    rings.iter().zip(files).any(|(ring, one)| {
        let full = borrowed(one.ring).and_then(|file| ring.full(&file));
        full.is_ok_and(|at| at.is_some())
    })
}

/// Copies what is full of several rings, and gives it back at once; how many bytes of each.
pub fn copy(rings: &[Ring], files: &mut [Files]) -> Vec<u64> {
    let mut copied = vec![0; rings.len()];
    // Programs may fill them as fast: each is looked at as often as it has sub-buffers.
    let most = rings.iter().map(|ring| ring.layout.count).max().unwrap_or(0);
    for _ in 0..most {
        if copy_each(rings, files, &mut copied) == 0 {
            break;
        }
    }
    copied
}
