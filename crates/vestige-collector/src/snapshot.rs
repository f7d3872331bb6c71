//! Snapshots: what rings hold now, copied to another directory while threads go on.
//!
//! Nothing is taken out of a ring. A chunk is copied, and then looked at once more: if its
//! thread has given it up meanwhile, the copy is worth nothing. To copy a chunk takes a tenth of
//! the time in which a thread fills one, so that this is rare, and never so with the newest.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{fence, Ordering};
use std::sync::Arc;

use crate::account::Account;
use crate::append::Draft;
use crate::drain::Group;
use crate::file_error::at_path;
use crate::files::Files;
use crate::indexes::Indexes;
use crate::loaded_state::{LoadedState, Target};
use crate::packet::Head;
use crate::recording::{Recording, SlotState};
use crate::streams::{data_name, Identity, Streams};

/// What a snapshot holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    pub streams: u64,
    pub packets: u64,
    pub bytes: u64,
    /// Packets that their threads gave up while they were copied.
    pub given_up: u64,
}

/// A snapshot that is being written.
pub struct Snapshot {
    files: Files,
    indexes: Indexes,
    uuid: [u8; 16],
    channel: String,
    /// Chunks of all rings together, the newest of each.
    most: usize,
    streams: Streams,
    /// Records of a packet, with what follows them.
    records: Vec<u8>,
    pub taken: Taken,
    /// When the first packet begins.
    begin: u64,
}

/// The file of one ring in a snapshot.
struct Stream {
    file: Arc<File>,
    name: String,
    instance_id: u64,
    packets: u64,
    bytes: u64,
    last_end: u64,
    /// Losses before the first packet: they are none of the snapshot.
    lost_before: u64,
}

impl Snapshot {
    /// One in a directory that is empty, of a channel's trace.
    pub fn new(files: Files, uuid: [u8; 16], channel: String, most: usize) -> Self {
        Self {
            indexes: Indexes::open(&files.place()),
            files,
            uuid,
            channel,
            most,
            streams: Streams::default(),
            records: Vec::new(),
            taken: Taken::default(),
            begin: u64::MAX,
        }
    }

    fn begin(&mut self, thread: &Identity, draft: &Draft) -> io::Result<Stream> {
        let mut account = Account::default();
        self.streams.begin(0, thread, draft.begin, &mut account);
        let name = data_name(&self.channel, account.instance_id, 1);
        let file = self.files.create(&name);
        let file = file.map_err(|error| at_path(&error, &self.files.path_of(&name)))?;
        self.taken.streams += 1;
        Ok(Stream {
            file,
            name,
            instance_id: account.instance_id,
            packets: 0,
            bytes: 0,
            last_end: 0,
            lost_before: draft.lost,
        })
    }

    /// Tells what is loaded, before all else.
    pub fn write_state(&mut self, state: &LoadedState) -> io::Result<()> {
        if self.taken.packets == 0 {
            return Ok(());
        }
        let before = self.begin.saturating_sub(1);
        let target = Target { files: &self.files, indexes: &self.indexes, uuid: &self.uuid };
        state.write_kept(target, &mut self.streams, before)
    }

    /// Writes a packet with the records that were copied.
    fn write(&mut self, stream: &mut Stream, draft: &Draft) -> io::Result<()> {
        let begin = draft.begin.max(stream.last_end);
        self.begin = self.begin.min(begin);
        let head = Head {
            instance_id: stream.instance_id,
            begin,
            end: draft.end.max(begin),
            record_bytes: u32::try_from(self.records.len()).unwrap_or(u32::MAX),
            number: stream.packets,
            discarded: draft.lost.saturating_sub(stream.lost_before),
            vpid: draft.vpid,
            vtid: draft.vtid,
            procname: draft.procname,
            cpu: draft.cpu,
        };
        let mut bytes = Vec::with_capacity(128);
        head.put(&self.uuid, &mut bytes);
        self.records.resize(self.records.len() + head.padding() as usize, 0);
        self.files
            .write_at(&stream.file, &bytes, None, &self.records, stream.bytes)
            .map_err(|error| at_path(&error, &self.files.path_of(&stream.name)))?;
        self.indexes.add(&self.files, &stream.name, stream.bytes, &[head]);
        let size = (bytes.len() + self.records.len()) as u64;
        stream.packets += 1;
        stream.bytes += size;
        stream.last_end = head.end;
        self.taken.packets += 1;
        self.taken.bytes += size;
        Ok(())
    }
}

impl Recording {
    /// Copies what all rings hold.
    pub fn snapshot(&self, into: &mut Snapshot) -> io::Result<()> {
        let claimed = |slot: &u32| self.arena.slot(*slot).claimed().load(Ordering::Acquire) != 0;
        let slots: Vec<u32> = (1..=self.slots_in_use()).filter(claimed).collect();
        let shares = self.shares(&slots, into.most);
        for (slot, share) in slots.into_iter().zip(shares) {
            let Some(mut guard) = self.slot(slot).filter(|_| share > 0) else { continue };
            let state = guard.get_or_insert_with(|| Box::new(self.first_look(slot)));
            self.copy_ring(slot, state, share, into)?;
        }
        // Last: all that was copied is described.
        self.describe_classes()
    }

    /// How many chunks of each ring are copied: as many of each, and where there is no room for
    /// one of each, one of those that were written to last.
    fn shares(&self, slots: &[u32], most: usize) -> Vec<usize> {
        let all: Vec<_> = slots.iter().map(|slot| self.extent(*slot)).collect();
        let total = |share: usize| all.iter().map(|one| one.0.min(share)).sum::<usize>();
        let largest = self.arena.geometry().ring_chunks as usize + 1;
        if let Some(share) = (1..=largest).rev().find(|share| total(*share) <= most) {
            return vec![share; slots.len()];
        }
        let mut latest: Vec<_> = all.iter().map(|one| one.1).collect();
        latest.sort_unstable_by(|one, other| other.cmp(one));
        let least = latest.get(most.saturating_sub(1)).copied().unwrap_or(u64::MAX);
        let mut left = most;
        let share = |one: &(usize, u64)| {
            let is_one = one.1 >= least && left > 0;
            left -= usize::from(is_one);
            usize::from(is_one)
        };
        all.iter().map(share).collect()
    }

    /// How many chunks a ring has, and when something was written to it last.
    fn extent(&self, slot: u32) -> (usize, u64) {
        let place = self.arena.slot(slot);
        let cur = place.cur().load(Ordering::Acquire);
        let chunk = cur as u32;
        if chunk == 0 || chunk > self.pool.ready() {
            return (0, 0);
        }
        let count = (cur >> 32).saturating_sub(place.gone().load(Ordering::Acquire));
        let end = self.arena.chunk(chunk).packet().timestamp_end().load(Ordering::Relaxed);
        (usize::try_from(count).unwrap_or(usize::MAX).min(1 << 20), end)
    }

    fn copy_ring(
        &self,
        slot: u32,
        state: &mut SlotState,
        share: usize,
        into: &mut Snapshot,
    ) -> io::Result<()> {
        let mut list = self.list_present(slot, state);
        list.truncate(share);
        let mut stream: Option<Stream> = None;
        for group in self.groups(list, true) {
            if group.is_torn {
                continue;
            }
            match self.copy_group(slot, state, &group, &mut into.records)? {
                Some(draft) if !into.records.is_empty() => {
                    let mut open = match stream.take() {
                        Some(open) => open,
                        None => into.begin(&self.told_identity(state), &draft)?,
                    };
                    into.write(&mut open, &draft)?;
                    stream = Some(open);
                }
                Some(_) => {}
                None => {
                    into.taken.given_up += 1;
                    // A number that is left out tells readers that a packet is missing.
                    if let Some(open) = stream.as_mut() {
                        open.packets += 1;
                    }
                }
            }
        }
        if let Some(open) = stream {
            into.files.forget(&open.name);
        }
        Ok(())
    }

    /// The chunks of a ring with their numbers, the present one first.
    fn list_present(&self, slot: u32, state: &mut SlotState) -> Vec<(u32, u64)> {
        let place = self.arena.slot(slot);
        let cur = place.cur().load(Ordering::Acquire);
        let gone = place.gone().load(Ordering::Acquire);
        let most = self.arena.geometry().ring_chunks as usize + 1;
        let mut list: Vec<(u32, u64)> = Vec::new();
        let (mut chunk, mut seq) = (cur as u32, cur >> 32);
        while seq > gone && list.len() < most {
            let is_ours = self.claim(slot, state, chunk)
                && self.arena.chunk(chunk).seq().load(Ordering::Relaxed) == seq
                && !list.iter().any(|one| one.0 == chunk);
            if !is_ours {
                // Given up meanwhile, as are those before it.
                break;
            }
            list.push((chunk, seq));
            chunk = self.arena.chunk(chunk).prev().load(Ordering::Relaxed);
            seq -= 1;
        }
        list
    }

    /// Copies the records of a packet; none if its thread has given it up.
    fn copy_group(
        &self,
        slot: u32,
        state: &SlotState,
        group: &Group,
        records: &mut Vec<u8>,
    ) -> io::Result<Option<Draft>> {
        records.clear();
        let mut whole: Option<Draft> = None;
        for (chunk, seq) in &group.chunks {
            let draft = self.present_draft(slot, state, *chunk, *seq);
            for (at, bytes) in &draft.records {
                let before = records.len();
                records.resize(before + *bytes as usize, 0);
                // The kernel copies: pages that a program takes away are no fault of ours.
                let part = records.get_mut(before..).unwrap_or_default();
                self.arena.file().read_exact_at(part, *at)?;
            }
            if !self.is_still_there(slot, *chunk, *seq) || draft.missing > 0 {
                return Ok(None);
            }
            whole = Some(match whole.take() {
                Some(first) => Draft { end: first.end.max(draft.end), ..first },
                None => draft,
            });
        }
        Ok(whole)
    }

    /// Whether a chunk is what it was before it was copied.
    fn is_still_there(&self, slot: u32, chunk: u32, seq: u64) -> bool {
        fence(Ordering::SeqCst);
        let place = self.arena.chunk(chunk);
        place.seq().load(Ordering::SeqCst) == seq
            && place.owner().load(Ordering::Relaxed) == slot
            && self.arena.slot(slot).gone().load(Ordering::SeqCst) < seq
    }
}
