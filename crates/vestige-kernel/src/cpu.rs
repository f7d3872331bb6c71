//! The thread that reads the buffer of a CPU, and does what it is told to.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::kept::Kept;
use crate::output::{Files, Limits};
use crate::packet::{Facts, Header};
use crate::page::Page;
use crate::spool::Spool;
use crate::stats::Counts;
use crate::stream::{Outcome, OwnRecord, Shared, Stream};
use crate::sys::{poll, read_pages, thread_id};

/// Time after which buffers are looked at that the kernel says nothing of.
const PATIENCE: Duration = Duration::from_secs(1);
/// Bytes of pages that are read with one system call at most.
const AT_ONCE: usize = 256 * 1024;
/// Of a full buffer, the part that is read before it is looked at again. The rest stays: who reads what
/// was just written takes it out of the cache of the CPU that writes, which slows that down.
const PART: usize = 4;
/// Bytes of a file of statistics; it has some 200.
const STATISTICS: usize = 4096;

/// A CPU, and its buffer.
pub struct Cpu {
    pub number: u32,
    /// Gives pages, and does not wait.
    pub pages: File,
    pub statistics: File,
}

/// A data file and its index, both empty.
pub struct Pair {
    pub data: File,
    pub index: File,
}

/// What all data streams of a channel have in common.
#[derive(Clone, Copy, Debug)]
pub struct Recording {
    pub uuid: [u8; 16],
    /// The class of its data streams.
    pub stream: u32,
    pub header: Header,
    /// Bytes of a page.
    pub page: usize,
    /// Bytes of the buffer of a CPU; 0: unknown.
    pub buffer: usize,
    /// The value of the clock where they begin.
    pub begin: u64,
    /// Time after which a packet is written in any case.
    pub period: Option<Duration>,
    /// Bytes of pages that stay in memory until they are asked for; `None`: all are written.
    pub kept: Option<usize>,
}

/// What the thread of a CPU is told. Times are values of the clock.
pub enum Order {
    /// Let what is read wait for records of our own.
    WaitForOwn,
    /// Records to be put among its own, by their times; those up to a time are there.
    Put { records: Vec<OwnRecord>, until: u64 },
    /// Write all that there is; whether nothing is recorded any more.
    Flush { end: u64, is_stopped: bool },
    /// Write what there is since the look before, if anything is: nothing older comes later.
    FlushSome { end: u64 },
    /// Take what is there: all up to a value of the clock, or as far as pages are full. In the first
    /// case, what is read later waits for the next flush: what is looked at meanwhile is written alone.
    Look { end: Option<u64> },
    /// Go on in more files when one has enough.
    Limit(Limits),
    /// Read nothing for the moment, or go on.
    Hold { is_held: bool },
    /// Write all, and what comes from then on goes to other files. What there is may be thrown away.
    Cut { end: u64, files: Option<Pair>, is_dropped: bool },
    /// Write what is kept, the newest so many bytes of it, to files of their own.
    Copy { end: u64, files: Pair, most: usize },
    /// Write all, and end.
    End { end: u64 },
}

/// How a thread is told, and how it says that it is done.
pub struct Told {
    pub order: Order,
    pub done: Sender<Outcome>,
}

/// The thread of a CPU.
pub struct Reader {
    cpu: Cpu,
    recording: Recording,
    shared: Arc<Shared>,
    room: Vec<u8>,
    /// Bytes that are asked for next: more than a page as long as there are full ones.
    asked: usize,
    state: State,
    /// What was read, but waits.
    spool: Spool,
    outcome: Arc<Mutex<Outcome>>,
    failure: Option<String>,
    is_held: bool,
    quiet: Quiet,
}

/// Since when nothing was dropped, as far as was looked.
#[derive(Default)]
struct Quiet {
    dropped: u64,
    since: u64,
}

impl Quiet {
    /// Whether nothing was dropped from a time on until the counts were told.
    fn lasts(&mut self, from: u64, counts: Counts) -> bool {
        if counts.dropped != self.dropped {
            *self = Self { dropped: counts.dropped, since: counts.now.max(1) };
            return false;
        }
        // Who does not tell the time tells nothing of what is older than the counts.
        self.dropped == 0 || (self.since > 1 && from >= self.since)
    }
}

/// Where pages go.
enum State {
    Written(Box<Stream<Files>>),
    Kept(Kept),
}

impl Reader {
    /// A thread that writes to files, or keeps pages.
    ///
    /// # Errors
    ///
    /// There are no files where there should be, or they cannot be written.
    pub fn new(
        cpu: Cpu,
        recording: Recording,
        shared: Arc<Shared>,
        files: Option<Pair>,
        outcome: Arc<Mutex<Outcome>>,
    ) -> io::Result<Self> {
        let state = match (files, recording.kept) {
            (_, Some(most)) => State::Kept(Kept::new(most)),
            (Some(files), None) => {
                let facts = facts(&recording, cpu.number);
                let files = Files::new(files.data, files.index)?;
                let shared = Arc::clone(&shared);
                let begin = recording.begin;
                State::Written(Box::new(Stream::new(shared, facts, begin, Vec::new(), files)))
            }
            (None, None) => return Err(ErrorKind::InvalidInput.into()),
        };
        let asked = recording.page.max(1);
        let room = vec![0; (AT_ONCE / asked).max(1) * asked];
        let (failure, is_held, quiet) = (None, false, Quiet::default());
        let spool = Spool::default();
        Ok(Self {
            cpu,
            recording,
            shared,
            room,
            asked,
            state,
            spool,
            outcome,
            failure,
            is_held,
            quiet,
        })
    }

    /// Puts records among those of the kernel; what is kept has none.
    pub fn put(&mut self, records: Vec<OwnRecord>) {
        if let State::Written(stream) = &mut self.state {
            stream.put_own(records);
        }
    }

    /// Reads until it is told to end, or nobody is there any more.
    pub fn run(mut self, orders: &Receiver<Told>, bell: &UnixStream) {
        let mut written = Instant::now();
        self.shared.threads().leave_out([(thread_id(), 0)]);
        loop {
            let wait = self.recording.period.unwrap_or(PATIENCE).min(PATIENCE);
            let is_idle =
                self.is_held || matches!(self.state, State::Kept(_)) || !self.spool.has_room();
            if let Err(error) = self.wait(bell, wait, is_idle) {
                self.fail(&error);
                // There is nobody to read from: it waits for orders alone.
                std::thread::sleep(wait);
            }
            self.shared.threads().refresh();
            self.convert(self.part());
            let is_due = self.recording.period.is_some_and(|one| written.elapsed() >= one);
            if !is_idle {
                self.read_some(is_due);
                self.count();
            }
            if is_due && !is_idle {
                if let State::Written(stream) = &mut self.state {
                    stream.write_some();
                }
                written = Instant::now();
            }
            self.publish();
            loop {
                match orders.try_recv() {
                    Ok(told) => {
                        let is_end = matches!(told.order, Order::End { .. });
                        self.do_as_told(told.order);
                        let _ = told.done.send(self.publish());
                        if is_end {
                            return;
                        }
                    }
                    Err(std::sync::mpsc::TryRecvError::Empty) => break,
                    Err(std::sync::mpsc::TryRecvError::Disconnected) => return,
                }
            }
        }
    }

    fn wait(&self, mut bell: &UnixStream, wait: Duration, is_idle: bool) -> io::Result<()> {
        let wait = i32::try_from(wait.as_millis()).unwrap_or(i32::MAX).max(1);
        let wait = if self.spool.has_ready() { 0 } else { wait };
        let [is_told, _] = if is_idle {
            [poll([bell.as_fd()], wait)?[0], false]
        } else {
            poll([bell.as_fd(), self.cpu.pages.as_fd()], wait)?
        };
        if is_told {
            // Orders say what it is; the bell of who has gone away says so for ever.
            let _ = bell.read(&mut [0; 64]);
        }
        Ok(())
    }

    fn do_as_told(&mut self, order: Order) {
        let waits = matches!(order, Order::WaitForOwn | Order::Put { .. } | Order::Hold { .. });
        if !waits && !matches!(order, Order::FlushSome { .. }) {
            // Nothing of our own comes any more.
            self.spool.go_on(u64::MAX);
            self.convert(usize::MAX);
        }
        match order {
            Order::WaitForOwn => {
                if let State::Written(_) = self.state {
                    self.spool.wait();
                }
            }
            Order::Put { records, until } => {
                self.put(records);
                self.spool.go_on(until);
            }
            Order::Look { end } => {
                if !self.is_held && matches!(self.state, State::Written(_)) {
                    self.read(usize::MAX, end);
                    self.count();
                    if end.is_some() {
                        self.spool.wait();
                    }
                }
            }
            Order::Flush { end, is_stopped } => self.flush(end, is_stopped),
            Order::FlushSome { end } => {
                self.spool.go_on(u64::MAX);
                if !self.is_held {
                    // What was lost stands behind what still waits.
                    let counts =
                        if self.spool.is_used() { Counts::default() } else { self.counts() };
                    if let State::Written(stream) = &mut self.state {
                        stream.flush_some(end, counts);
                    }
                }
            }
            Order::Limit(limits) => {
                if let State::Written(stream) = &mut self.state {
                    stream.limit(usize::try_from(limits.size).unwrap_or(usize::MAX));
                    stream.output_mut().limit(limits);
                }
            }
            Order::Hold { is_held } => self.is_held = is_held,
            Order::End { end } => {
                self.flush(end, true);
                self.close();
            }
            Order::Cut { end, files, is_dropped } => {
                if let Err(error) = self.cut(end, files, is_dropped) {
                    self.fail(&error);
                }
            }
            Order::Copy { end, files, most } => {
                if let Err(error) = self.copy(end, files, most) {
                    self.fail(&error);
                }
            }
        }
    }

    fn flush(&mut self, end: u64, is_stopped: bool) {
        if let State::Written(_) = self.state {
            self.read(usize::MAX, Some(end));
            let counts = self.counts();
            if let State::Written(stream) = &mut self.state {
                stream.flush(end, counts, is_stopped);
            }
        }
    }

    fn cut(&mut self, end: u64, files: Option<Pair>, is_dropped: bool) -> io::Result<()> {
        self.read(usize::MAX, Some(end));
        let counts = self.counts();
        match &mut self.state {
            State::Kept(kept) if is_dropped => kept.clear(),
            State::Kept(_) => (),
            State::Written(stream) => {
                let Some(files) = files else { return Err(ErrorKind::InvalidInput.into()) };
                let files = Files::new(files.data, files.index)?;
                if is_dropped {
                    stream.drop_records();
                }
                stream.flush(end, counts, false);
                stream.replace(files).close()?;
            }
        }
        Ok(())
    }

    fn copy(&mut self, end: u64, files: Pair, most: usize) -> io::Result<()> {
        self.read(usize::MAX, Some(end));
        let State::Kept(kept) = &self.state else { return Err(ErrorKind::InvalidInput.into()) };
        let mut pages = kept.newest(most).peekable();
        let begin = pages.peek().map_or(end, |one| Page::new(one).time());
        let facts = facts(&self.recording, self.cpu.number);
        let files = Files::new(files.data, files.index)?;
        let mut stream = Stream::new(Arc::clone(&self.shared), facts, begin, Vec::new(), files);
        let is_whole = self.counts().dropped == 0;
        for page in pages {
            if !is_whole {
                stream.forget();
            }
            stream.add_page(page);
        }
        let (outcome, files) = stream.end(end, Counts::default());
        let mut all = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        all.bytes += outcome.bytes;
        all.packets += outcome.packets;
        all.records += outcome.records;
        all.damaged += outcome.damaged;
        all.unknown += outcome.unknown;
        all.failure = all.failure.take().or(outcome.failure);
        drop(all);
        files.close()
    }

    fn close(&mut self) {
        if let State::Written(stream) = &mut self.state {
            if let Err(error) = stream.output().cut() {
                self.fail(&error);
            }
        }
    }

    fn count(&mut self) {
        // What was lost stands behind what came before.
        if self.spool.is_used() {
            return;
        }
        let counts = self.counts();
        if let State::Written(stream) = &mut self.state {
            stream.count(counts);
        }
    }

    /// Lets others see what became of it.
    fn publish(&mut self) -> Outcome {
        let mut seen = self.outcome.lock().unwrap_or_else(PoisonError::into_inner);
        match &self.state {
            State::Written(stream) => *seen = stream.outcome(),
            State::Kept(kept) => {
                let counts = self.counts();
                seen.lost = counts.dropped;
                seen.overwritten = counts.overwritten.saturating_add(kept.overwritten());
            }
        }
        seen.failure = seen.failure.take().or_else(|| self.failure.clone());
        seen.clone()
    }

    fn fail(&mut self, error: &io::Error) {
        self.failure.get_or_insert_with(|| error.to_string());
    }

    /// Takes some of the pages that are full, as who reads behind a writer gets small ones; all that there
    /// is, if that is due.
    fn read_some(&mut self, is_due: bool) {
        if is_due {
            // A kernel that does not tell the time says when there is nothing more.
            let now = self.counts().now;
            self.read(usize::MAX, Some(if now > 0 { now } else { u64::MAX }));
        } else {
            self.read(self.part(), None);
        }
    }

    fn part(&self) -> usize {
        let part = self.recording.buffer / PART;
        if part > 0 {
            part
        } else {
            usize::MAX
        }
    }

    /// Takes pages: so many bytes of those that are full, or all that was recorded up to a value of the clock.
    fn read(&mut self, most: usize, end: Option<u64>) {
        if let Err(error) = self.read_pages(most, end) {
            self.fail(&error);
        }
    }

    fn read_pages(&mut self, most: usize, end: Option<u64>) -> io::Result<()> {
        let page = self.recording.page.max(1);
        let mut left = most;
        while left > 0 {
            // Not more than wanted: what was written just now is left alone.
            let asked = self.asked.min((left / page).max(1) * page);
            let room = self.room.get_mut(..asked).unwrap_or_default();
            let bytes = match read_pages(&self.cpu.pages, room, page) {
                Ok(0) => return Ok(()),
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            left = left.saturating_sub(bytes);
            if self.take(bytes) && bytes == asked {
                self.asked = (self.asked * 2).min(self.room.len());
            } else {
                // It is near the one that writes.
                self.asked = page;
                if end.is_none() {
                    return Ok(());
                }
            }
            // Where system calls are recorded, each look at the buffer is something new in it: what is newer
            // than asked for is not waited for.
            if end.is_some_and(|end| self.last_time(bytes) > end) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The time of the last of the pages that were read.
    fn last_time(&self, bytes: usize) -> u64 {
        let page = self.recording.page.max(1);
        let pages = self.room.get(..bytes).unwrap_or_default().chunks(page);
        pages.last().map_or(0, |one| Page::new(one).time())
    }

    /// Takes the pages that were read; whether all were full, more or less.
    fn take(&mut self, bytes: usize) -> bool {
        let room = std::mem::take(&mut self.room);
        let page = self.recording.page.max(1);
        let mut are_full = true;
        let mut told = None;
        for one in room.get(..bytes).unwrap_or_default().chunks(page) {
            let length = if self.spool.is_used() {
                self.spool.add(one)
            } else {
                self.take_page(one, &mut told)
            };
            are_full &= length >= page / 2;
        }
        self.room = room;
        are_full
    }

    /// Takes pages that have waited, as many as have so many bytes.
    fn convert(&mut self, most: usize) {
        let mut left = most;
        let mut told = None;
        while left > 0 {
            let Some(page) = self.spool.take_ready() else { return };
            left = left.saturating_sub(page.len());
            self.take_page(&page, &mut told);
        }
    }

    /// Takes a page; how many bytes of records it has. Counts are looked at once, if need be.
    fn take_page(&mut self, page: &[u8], told: &mut Option<Counts>) -> usize {
        match &mut self.state {
            State::Kept(kept) => kept.add(page),
            State::Written(stream) => {
                if let Some(since) = stream.waiting_since() {
                    // It drops none within a page: one for which there is no room is its last one.
                    let counts = *told.get_or_insert_with(|| counts(&self.cpu.statistics));
                    if !self.quiet.lasts(since, counts) {
                        stream.forget();
                    }
                }
                stream.add_page(page)
            }
        }
    }

    fn counts(&self) -> Counts {
        counts(&self.cpu.statistics)
    }
}

fn counts(statistics: &File) -> Counts {
    let mut room = [0; STATISTICS];
    let bytes = statistics.read_at(&mut room, 0).unwrap_or(0);
    let text = room.get(..bytes).unwrap_or_default();
    Counts::read(&String::from_utf8_lossy(text))
}

fn facts(recording: &Recording, cpu: u32) -> Facts {
    Facts { uuid: recording.uuid, stream: recording.stream, cpu, header: recording.header }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Plans;
    use std::io::{Seek, Write};

    const PAGE: usize = 4096;

    /// A buffer of pages with so many bytes each, of which it is known when they were begun.
    fn buffer(times: impl Iterator<Item = u64>, length: u64) -> File {
        let path = std::env::temp_dir().join(format!("vestige-pages-{}", thread_id()));
        let mut file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        for time in times {
            let mut page = vec![0; PAGE];
            page[..8].copy_from_slice(&time.to_le_bytes());
            page[8..16].copy_from_slice(&length.to_le_bytes());
            file.write_all(&page).unwrap();
        }
        file.rewind().unwrap();
        file
    }

    fn reader(pages: File) -> Reader {
        reader_of(pages, None)
    }

    fn reader_of(pages: File, files: Option<Pair>) -> Reader {
        let recording = Recording {
            uuid: [0; 16],
            stream: 0,
            header: Header::Compact,
            page: PAGE,
            buffer: 0,
            begin: 0,
            period: None,
            kept: files.is_none().then_some(1 << 20),
        };
        let cpu = Cpu { number: 0, pages, statistics: File::open("/dev/null").unwrap() };
        let shared = Arc::new(Shared::new(Plans::new([]), Arc::default()));
        Reader::new(cpu, recording, shared, files, Arc::default()).unwrap()
    }

    fn pages_read(reader: &Reader) -> u64 {
        (&reader.cpu.pages).stream_position().unwrap() / PAGE as u64
    }

    #[test]
    fn no_more_is_read_than_a_part() {
        let mut reader = reader(buffer(1..100, PAGE as u64 - 16));

        for (most, all) in [(2, 2), (7, 9), (5, 14)] {
            reader.read(most * PAGE, None);
            assert_eq!(pages_read(&reader), all);
        }
    }

    #[test]
    fn what_is_newer_than_asked_for_is_not_waited_for() {
        let mut reader = reader(buffer(1..100, 8));

        reader.read(usize::MAX, Some(7));

        assert_eq!(pages_read(&reader), 8);
    }

    #[test]
    fn what_is_read_after_a_look_is_not_in_its_flush() {
        let nowhere = || File::create("/dev/null").unwrap();
        let files = Pair { data: nowhere(), index: nowhere() };
        let mut reader = reader_of(buffer(1..100, 8), Some(files));

        reader.do_as_told(Order::Look { end: Some(7) });
        reader.read(PAGE, None);
        assert!(!reader.spool.has_ready());
        reader.do_as_told(Order::FlushSome { end: 7 });
        assert!(reader.spool.has_ready());

        reader.convert(usize::MAX);
        assert!(!reader.spool.is_used());
        reader.do_as_told(Order::Look { end: None });
        assert!(!reader.spool.is_used());
    }

    #[test]
    fn what_is_older_than_asked_for_is_read_to_its_end() {
        let mut reader = reader(buffer(1..100, 8));

        reader.read(usize::MAX, Some(1000));

        assert_eq!(pages_read(&reader), 99);
    }
}
