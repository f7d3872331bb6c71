//! Reads the buffers of all CPUs, a thread each, until somebody says when it ends.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;

use crate::output::Files;
use crate::packet::{Facts, Header};
use crate::stats::Counts;
use crate::stream::{Outcome, OwnRecord, Shared, Stream};
use crate::sys::poll;

/// Milliseconds after which buffers are looked at that the kernel says nothing of.
const PATIENCE: i32 = 1000;
/// Bytes of a file of statistics; it has some 200.
const STATISTICS: usize = 4096;

/// A CPU: its buffer, and where what was in it goes.
pub struct Cpu {
    pub number: u32,
    /// Gives pages, and does not wait.
    pub pages: File,
    pub statistics: File,
    pub data: File,
    pub index: File,
    /// Records to be put among its own, by their times.
    pub own: Vec<OwnRecord>,
}

/// What all data streams have in common.
#[derive(Clone, Copy)]
pub struct Recording {
    pub uuid: [u8; 16],
    pub header: Header,
    /// Bytes of a page.
    pub page: usize,
    /// The value of the clock where they begin.
    pub begin: u64,
}

/// Collects until the other end of `control` is closed, or gives the value of the clock at the end
/// (8 bytes, little-endian). It gets a byte once all threads are there.
///
/// # Errors
///
/// No thread could be started, or a pipe could not be made.
pub fn collect(
    recording: Recording,
    shared: Shared,
    cpus: Vec<Cpu>,
    mut control: UnixStream,
) -> io::Result<Vec<Outcome>> {
    let shared = Arc::new(shared);
    let end = Arc::new(AtomicU64::new(0));
    let (ended, ends) = UnixStream::pair()?;
    let ended = Arc::new(ended);
    let mut threads = Vec::new();
    for cpu in cpus {
        let shared = Arc::clone(&shared);
        let (end, ended) = (Arc::clone(&end), Arc::clone(&ended));
        let name = format!("kernel-{}", cpu.number);
        let run = move || follow(recording, shared, cpu, &ended, &end);
        threads.push(thread::Builder::new().name(name).spawn(run)?);
    }
    // Who has gone away says so when it is read, too.
    let _ = control.write_all(b"+");
    let mut value = [0; 8];
    if control.read_exact(&mut value).is_ok() {
        end.store(u64::from_le_bytes(value), Ordering::Release);
    }
    drop(ends);
    let failed = |_| Outcome { failure: Some("a thread has ended".into()), ..Outcome::default() };
    Ok(threads.into_iter().map(|one| one.join().unwrap_or_else(failed)).collect())
}

fn follow(
    recording: Recording,
    shared: Arc<Shared>,
    cpu: Cpu,
    ended: &impl AsFd,
    end: &AtomicU64,
) -> Outcome {
    let facts = Facts { uuid: recording.uuid, cpu: cpu.number, header: recording.header };
    let files = match Files::new(cpu.data, cpu.index) {
        Ok(files) => files,
        Err(error) => return Outcome { failure: Some(error.to_string()), ..Outcome::default() },
    };
    let mut stream = Stream::new(shared, facts, recording.begin, cpu.own, files);
    let mut room = vec![0; recording.page];
    let failure = loop {
        let ready = match poll([ended.as_fd(), cpu.pages.as_fd()], PATIENCE) {
            Ok(ready) => ready,
            Err(error) => break Some(error),
        };
        let [is_over, _] = ready;
        if let Err(error) = read_pages(&mut stream, &cpu.pages, &mut room, is_over) {
            break Some(error);
        }
        stream.count(counts(&cpu.statistics));
        if is_over {
            break None;
        }
    };
    let (mut outcome, files) = stream.end(end.load(Ordering::Acquire), counts(&cpu.statistics));
    let failure = failure.or_else(|| files.close().err());
    outcome.failure = outcome.failure.or_else(|| failure.map(|error| error.to_string()));
    outcome
}

/// Takes all pages, or those that are full: who reads behind a writer gets small ones.
fn read_pages(
    stream: &mut Stream<Files>,
    mut pages: &File,
    room: &mut [u8],
    is_last: bool,
) -> io::Result<()> {
    loop {
        let bytes = match pages.read(room) {
            Ok(0) => return Ok(()),
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let length = stream.add_page(room.get(..bytes).unwrap_or_default());
        if !is_last && length < room.len() / 2 {
            return Ok(());
        }
    }
}

fn counts(statistics: &File) -> Counts {
    let mut room = [0; STATISTICS];
    let bytes = statistics.read_at(&mut room, 0).unwrap_or(0);
    let text = room.get(..bytes).unwrap_or_default();
    Counts::read(&String::from_utf8_lossy(text))
}
