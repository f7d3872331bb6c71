//! A stream: its packets in its files, and what is known of them.
//!
//! Packets and what is to be known of them come on two connections, each in order, none before the
//! other: what has come without the other waits for it.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::data::DataHeader;
use crate::index::{IndexVersion, PacketIndex};
use crate::memory::{Account, Share};
use crate::store::directory::Directory;
use crate::store::parts::Parts;
use crate::store::pool::Pool;
use crate::store::written::{data_name, Written};

/// Bytes of memory for a packet that waits for what is to be known of it, or the other way around:
/// the larger one, and what a tree has beside it. Small packets may be far ahead of their indexes,
/// as many as there are in the buffers of a connection.
const WAITING_BYTES: usize = 160;
/// Bytes on the disk that are kept for metadata: packets that have filled it are of no use without.
const METADATA_BYTES: u64 = 64 << 10;
/// Those of a stream, beside its names: what whoever decides keeps of it, too.
const STREAM_BYTES: usize = 4096;

/// What a stream is.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The session that it is of.
    pub session: u64,
    /// The name of its files.
    pub channel: PathBuf,
    /// Whether it is the metadata of a trace.
    pub is_metadata: bool,
    /// Whether the session tells what is to be known of packets, and the version of index files.
    pub index: Option<IndexVersion>,
    /// Bytes of a data file; 0: without limit.
    pub file_bytes: u64,
    /// How many files there are at once; 0: without limit.
    pub file_count: u64,
    /// Bytes of metadata that may come.
    pub most_metadata: u64,
}

/// A packet that is in a file.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub written: Arc<Written>,
    pub offset: u64,
    pub bytes: u64,
    /// Whether there was no space for it; then it has no bytes.
    pub is_lost: bool,
}

/// A rotation that has not been done.
#[derive(Debug)]
pub(super) struct Rotation {
    /// The first packet of the next trace chunk.
    pub at: u64,
    /// The next trace chunk; nothing if the stream has none then.
    pub next: Option<Arc<Directory>>,
}

/// What has come of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketEnd {
    /// Whether the stream has ended with it.
    pub is_stream_end: bool,
    /// Whether it is the first one for which there was no space.
    pub is_first_lost: bool,
}

/// How far a stream is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamProgress {
    /// Packets that are in an index file.
    pub packets: u64,
    /// Bytes of metadata that have come since the last new beginning.
    pub metadata_bytes: u64,
    /// How often it went on in another trace chunk.
    pub rotations: u64,
    /// How often metadata began anew.
    pub resets: u64,
    /// Bytes of packets that have come.
    pub bytes: u64,
    /// Packets for which there was no space.
    pub lost_packets: u64,
    /// Bytes of these.
    pub lost_bytes: u64,
    /// Which data file of the trace chunk is written.
    pub file_number: u64,
    /// Up to when there is no event, as the sender last said while there was no packet.
    pub quiet_until: Option<u64>,
    /// The data stream class, once a packet has told it.
    pub stream_class: Option<u64>,
    /// Whether nothing more will come.
    pub is_ended: bool,
}

#[derive(Debug)]
pub(super) struct State {
    /// Its directory; nothing if it is in no trace chunk.
    pub directory: Option<Arc<Directory>>,
    /// Where the next packet goes; where the last one went, if there will be none.
    pub written: Option<Arc<Written>>,
    /// The files that can be read, up to the present one.
    pub parts: Parts,
    /// Where the next packet begins.
    pub end: u64,
    /// Bytes of it that have come.
    pub partial: u64,
    /// Whether there is no space for it: nothing of it is in the file.
    pub is_lost: bool,
    /// Packets that wait for what is to be known of them, by their numbers.
    pub places: BTreeMap<u64, Place>,
    /// The other way around.
    pub indexes: BTreeMap<u64, PacketIndex>,
    pub last_data: Option<u64>,
    pub last_index: Option<u64>,
    /// The last packet that is complete, as its tracer counts.
    pub last_number: Option<u64>,
    pub rotation: Option<Rotation>,
    pub progress: StreamProgress,
    /// Whether the metadata that comes next is the first of a new beginning.
    comes_anew: bool,
    /// Whether it was asked for since questions began.
    is_checked: bool,
    /// Whether the last packet is known, and which it is.
    close: Option<Option<u64>>,
    /// For what waits.
    share: Share,
}

impl State {
    fn new(share: Share) -> Self {
        Self {
            directory: None,
            written: None,
            parts: Parts::default(),
            end: 0,
            partial: 0,
            is_lost: false,
            places: BTreeMap::new(),
            indexes: BTreeMap::new(),
            last_data: None,
            last_index: None,
            last_number: None,
            rotation: None,
            progress: StreamProgress::default(),
            comes_anew: false,
            is_checked: false,
            close: None,
            share,
        }
    }

    /// Has memory for what waits, and for some more.
    fn account_for_waiting(&mut self, more: usize) -> io::Result<()> {
        let count = self.places.len() + self.indexes.len() + more;
        self.share.hold(count * WAITING_BYTES)
    }
}

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// Its number.
    pub number: u64,
    /// What it is.
    pub layout: Layout,
    pub(super) pool: Arc<Pool>,
    /// How many read it.
    pub(super) followers: AtomicUsize,
    account: Arc<Account>,
    state: Mutex<State>,
    _share: Share,
}

fn refused(text: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

/// Whether a number is that of a packet that came no later than another: all numbers are
/// after that of no packet, which is all ones.
fn has_come(last: Option<u64>, wanted: u64) -> bool {
    let ahead = last.unwrap_or(u64::MAX).wrapping_sub(wanted);
    ahead < 1 << 63
}

impl Stream {
    /// Makes the first file of a stream.
    ///
    /// # Errors
    ///
    /// It cannot be made.
    pub fn create(
        number: u64,
        layout: Layout,
        directory: &Arc<Directory>,
        pool: &Arc<Pool>,
        account: &Arc<Account>,
    ) -> io::Result<Self> {
        let name_bytes = layout.channel.as_os_str().len();
        let share = account.take(STREAM_BYTES + 2 * name_bytes)?;
        // Its files are there until its trace chunk is left.
        directory.chunk().account_for(account, name_bytes)?;
        let stream = Self {
            number,
            layout,
            pool: Arc::clone(pool),
            followers: AtomicUsize::new(0),
            account: Arc::clone(account),
            state: Mutex::new(State::new(account.take(0)?)),
            _share: share,
        };
        stream.make_file(&mut stream.state(), directory, 0)?;
        Ok(stream)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the next file, and lets it be the present one.
    pub(super) fn make_file(
        &self,
        state: &mut State,
        directory: &Arc<Directory>,
        number: u64,
    ) -> io::Result<Arc<Written>> {
        let is_numbered = self.layout.file_bytes > 0;
        let name = data_name(&self.layout.channel, is_numbered.then_some(number));
        let is_same = state.directory.as_ref().is_some_and(|old| Arc::ptr_eq(old, directory));
        for old in state.parts.present().filter(|old| is_same && old.data_name() == name) {
            old.set_replaced();
        }
        let next = state.parts.next_number();
        let share = Written::account_for(&self.account, &name).or_else(|_| {
            // They are there for viewers who come late.
            state.parts.make_room();
            Written::account_for(&self.account, &name)
        })?;
        let new = Arc::new(Written::create(&self.pool, directory.file(), name, next, share)?);
        let is_followed = self.followers.load(Ordering::Relaxed) > 0;
        state.parts.add(Arc::clone(&new), !is_same, self.layout.file_count, is_followed);
        state.directory = Some(Arc::clone(directory));
        state.written = Some(Arc::clone(&new));
        state.end = 0;
        state.comes_anew = false;
        state.progress.file_number = number;
        if self.layout.is_metadata {
            new.reserve(METADATA_BYTES);
        }
        Ok(new)
    }

    /// Where it is written to.
    fn present(state: &State) -> io::Result<(Arc<Directory>, Arc<Written>)> {
        let present = state.directory.clone().zip(state.written.clone());
        present.ok_or_else(|| refused("something came for a stream without a trace chunk"))
    }

    /// What is wrong, and with which stream.
    pub fn says(&self, error: &io::Error) -> String {
        format!("{} (stream {}): {error}", self.layout.channel.display(), self.number)
    }

    /// How far it is.
    pub fn progress(&self) -> StreamProgress {
        self.state().progress
    }

    /// A packet begins.
    ///
    /// # Errors
    ///
    /// The stream has no trace chunk, has ended, or is metadata; or there is no next file.
    pub fn begin_packet(&self, header: &DataHeader) -> io::Result<()> {
        let mut state = self.state();
        if self.layout.is_metadata {
            return Err(refused("a packet came for metadata"));
        }
        let (directory, _) = Self::present(&state)?;
        if state.partial > 0 {
            return Err(refused("two connections send packets of one stream"));
        }
        if state.last_data.is_some_and(|last| header.sequence <= last) {
            return Err(refused("a packet came that was there before"));
        }
        let limit = self.layout.file_bytes;
        if limit > 0 && state.end > 0 && state.end + u64::from(header.bytes) > limit {
            let next = state.progress.file_number + 1;
            let next = next.checked_rem(self.layout.file_count).unwrap_or(next);
            if let Err(error) = self.make_file(&mut state, &directory, next) {
                state.is_lost = is_full(&error);
                return if state.is_lost { Ok(()) } else { Err(error) };
            }
        }
        Ok(())
    }

    /// Bytes of a packet have come. One for which there is no space is left out: what comes after
    /// it, and the metadata of its trace, may find some.
    ///
    /// # Errors
    ///
    /// They cannot be written for another reason.
    pub fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.state();
        let at = state.end + state.partial;
        let (_, written) = Self::present(&state)?;
        state.partial += bytes.len() as u64;
        if state.is_lost {
            return Ok(());
        }
        match written.write(bytes, at) {
            Err(error) if is_full(&error) => {
                state.is_lost = true;
                written.set_end(state.end)
            }
            other => other,
        }
    }

    /// All bytes of a packet have come.
    ///
    /// # Errors
    ///
    /// It cannot be written, or the stream cannot go on elsewhere.
    pub fn end_packet(&self, header: &DataHeader) -> io::Result<PacketEnd> {
        let mut state = self.state();
        let (_, written) = Self::present(&state)?;
        let offset = state.end;
        let is_lost = std::mem::take(&mut state.is_lost);
        let is_lost = is_lost || !self.has_space(&written, offset, header)?;
        state.partial = 0;
        state.last_data = Some(header.sequence);
        let bytes = if is_lost { 0 } else { header.total() };
        state.end += bytes;
        state.progress.bytes += bytes;
        let is_first_lost = is_lost && state.progress.lost_packets == 0;
        if is_lost {
            lose(&mut state, header.total());
        }
        if let Some(version) = self.layout.index {
            let place = Place { written, offset, bytes, is_lost };
            match state.indexes.remove(&header.sequence) {
                Some(packet) => complete(&mut state, version, header.sequence, &place, &packet)?,
                None => {
                    state.account_for_waiting(1)?;
                    state.places.insert(header.sequence, place);
                }
            }
        }
        self.try_rotation(&mut state)?;
        Ok(PacketEnd { is_stream_end: end_if_all(&mut state), is_first_lost })
    }

    /// Whether there is space for the padding of a packet, and for an index.
    fn has_space(&self, written: &Written, at: u64, header: &DataHeader) -> io::Result<bool> {
        let padded = if header.padding > 0 { written.set_end(at + header.total()) } else { Ok(()) };
        let begun = padded.and_then(|()| match self.layout.index {
            Some(version) => written.begin_index(&self.pool, version),
            None => Ok(()),
        });
        match begun {
            Err(error) if is_full(&error) => written.set_end(at).map(|()| false),
            other => other.map(|()| true),
        }
    }

    /// A connection has ended in the midst of a packet.
    pub fn forget_partial(&self) {
        let mut state = self.state();
        state.is_lost = false;
        if std::mem::take(&mut state.partial) > 0 {
            let end = state.end;
            // Where it cannot be cut, readers find that it is cut.
            let _ = state.written.as_ref().map(|written| written.set_end(end));
        }
    }

    /// What is to be known of a packet has come.
    ///
    /// # Errors
    ///
    /// It cannot be written, or the stream cannot go on elsewhere.
    pub fn add_index(&self, sequence: u64, packet: PacketIndex) -> io::Result<()> {
        let Some(version) = self.layout.index else {
            return Err(refused("a session without index files has an index"));
        };
        let mut state = self.state();
        if packet.packet_bits == 0 {
            // There was no packet; while one is on its way, it says nothing.
            if state.progress.packets > 0 && state.places.is_empty() && state.indexes.is_empty() {
                state.progress.quiet_until = Some(packet.end);
            }
            return Ok(());
        }
        state.progress.quiet_until = None;
        state.progress.stream_class.get_or_insert(packet.stream_class);
        match state.places.remove(&sequence) {
            Some(place) => complete(&mut state, version, sequence, &place, &packet)?,
            None if state.last_data.is_some_and(|last| sequence <= last) => {
                return Err(refused("an index came that was there before"));
            }
            None => {
                state.account_for_waiting(1)?;
                state.indexes.insert(sequence, packet);
            }
        }
        self.try_rotation(&mut state)
    }

    /// Metadata has come.
    ///
    /// # Errors
    ///
    /// It is none, too much, or cannot be written.
    pub fn add_metadata(&self, bytes: &[u8], padding: u32) -> io::Result<()> {
        let mut state = self.state();
        let total = bytes.len() as u64 + u64::from(padding);
        if !self.layout.is_metadata {
            return Err(refused("metadata came for another stream"));
        }
        let end = if state.comes_anew { total } else { state.end + total };
        if end > self.layout.most_metadata {
            return Err(refused("there is more metadata than is allowed"));
        }
        let (directory, mut written) = Self::present(&state)?;
        if std::mem::take(&mut state.comes_anew) {
            written = self.make_file(&mut state, &directory, 0)?;
        }
        written.write(bytes, state.end)?;
        if padding > 0 {
            written.set_end(end)?;
        }
        state.end = end;
        state.progress.metadata_bytes = end;
        Ok(())
    }

    /// Metadata comes anew. What is there stays until the first of it has come: a sender that goes
    /// away between both leaves a trace that can be read.
    ///
    /// # Errors
    ///
    /// The stream is another, or has no trace chunk.
    pub fn reset_metadata(&self) -> io::Result<()> {
        let mut state = self.state();
        if !self.layout.is_metadata {
            return Err(refused("no metadata is to come anew"));
        }
        Self::present(&state)?;
        state.comes_anew = true;
        state.progress.metadata_bytes = 0;
        state.progress.resets += 1;
        Ok(())
    }

    /// Whether packets up to one have not come yet; it counts as asked for.
    pub fn is_pending(&self, last: u64) -> bool {
        let mut state = self.state();
        state.is_checked = true;
        !has_come(self.flushed(&state), last)
    }

    fn flushed(&self, state: &State) -> Option<u64> {
        if self.layout.index.is_some() && !self.layout.is_metadata {
            return state.last_data.min(state.last_index);
        }
        state.last_data
    }

    /// It counts as asked for, or not.
    pub fn set_checked(&self, is_checked: bool) {
        self.state().is_checked = is_checked;
    }

    /// Whether nobody has asked for it, though it has not ended.
    pub fn is_in_flight(&self) -> bool {
        let state = self.state();
        !state.is_checked && !state.progress.is_ended
    }

    /// Nothing comes after a packet, or after what is known now. Whether it has ended.
    pub fn close(&self, last: Option<u64>) -> bool {
        let mut state = self.state();
        let last = last.filter(|&last| last != u64::MAX);
        let last = last.or_else(|| state.indexes.last_key_value().map(|(last, _)| *last));
        state.close = Some(last);
        end_if_all(&mut state)
    }

    /// Nothing more will come, whatever is missing. Whether it had not ended before.
    pub fn abandon(&self) -> bool {
        let mut state = self.state();
        state.close = Some(None);
        end_if_all(&mut state)
    }
}

/// Whether there is no space left for a file.
fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Counts a packet for which there was no space.
fn lose(state: &mut State, bytes: u64) {
    state.progress.lost_packets += 1;
    state.progress.lost_bytes += bytes;
}

/// Writes the entry of a packet.
fn complete(
    state: &mut State,
    version: IndexVersion,
    sequence: u64,
    place: &Place,
    packet: &PacketIndex,
) -> io::Result<()> {
    state.last_index = Some(sequence);
    state.last_number = Some(packet.number);
    if place.is_lost {
        return state.account_for_waiting(0);
    }
    match place.written.add_entry(version, (place.offset, place.bytes), packet) {
        // It has been replaced meanwhile, and the packet with it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => state.progress.packets += 1,
        // Readers pass over what the index does not have.
        Err(error) if is_full(&error) => lose(state, place.bytes),
        other => {
            other?;
            state.progress.packets += 1;
        }
    }
    state.account_for_waiting(0)
}

/// Lets go of the files of a stream of which all has come.
fn end_if_all(state: &mut State) -> bool {
    let Some(last) = state.close else { return false };
    let is_waiting = last.is_some_and(|last| !has_come(state.last_data, last));
    if is_waiting || state.progress.is_ended {
        return false;
    }
    state.progress.is_ended = true;
    if state.progress.metadata_bytes > 0 || state.comes_anew {
        // What was kept for it is for others.
        let _ = state.written.as_ref().map(|written| written.set_end(state.end));
    }
    state.directory = None;
    state.rotation = None;
    state.places.clear();
    state.indexes.clear();
    // Giving back is never refused.
    let _ = state.account_for_waiting(0);
    true
}
