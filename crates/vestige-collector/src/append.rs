//! Packets of a slot, appended to the files of its stream.

use std::fs::{self, File};
use std::io;
use std::sync::atomic::{fence, Ordering};
use std::sync::Arc;

use crate::account::Account;
use crate::agreement::{COMPACT_TIMES, HEADER_EXTENDED};
use crate::budget::FILE_BYTES;
use crate::layout::PACKET_BYTES;
use crate::packet::{Head, ALIGNMENT};
use crate::recording::{Recording, SlotState};
use crate::state::Process;
use crate::streams::ring_name;
use crate::sys::Span;

/// A file may go away while a packet is written to it, in overwrite mode; then there is another.
const MOST_FILES: u32 = 4;
/// Ticks of a clock that are no less than one, whatever its frequency is: Babeltrace 2 turns
/// packets of several chunks around that begin in the same one.
const NANOSECOND: u64 = 8;

/// What is to be written of one chunk or several, and what was lost before.
#[derive(Clone, Default)]
pub struct Draft {
    pub begin: u64,
    pub end: u64,
    /// Where the records lie in the arena, and their bytes: several parts for one that is longer
    /// than a chunk.
    pub records: Vec<(u64, u32)>,
    /// Records that the slot lost up to the end of the packet.
    pub lost: u64,
    /// When the first and the last of them were lost, if that was before the packet.
    pub losses: Option<(u64, u64)>,
    /// Bytes of records that were taken away.
    pub missing: u32,
    pub vpid: u32,
    pub vtid: u32,
    pub procname: [u8; 16],
    /// Never taken away in overwrite mode.
    pub is_kept: bool,
    /// Whose ring it is, if it is none of a thread.
    pub cpu: Option<u32>,
    /// Packets before this one that the ring has given up.
    pub given_up: u64,
    /// The slot and the number of a chunk that its ring may give up while it is written.
    pub is_in_ring: Option<(u32, u64)>,
}

impl Draft {
    /// Bytes of all records: no more than a ring has.
    pub fn bytes(&self) -> u32 {
        self.records.iter().map(|part| part.1).fold(0, u32::saturating_add)
    }
}

/// Why nothing was written.
#[derive(Debug)]
pub enum Stall {
    /// The disk refuses; it may take the packet later.
    Disk,
    /// It will never be written.
    Never(&'static str),
    /// The ring has given up the chunk meanwhile.
    GivenUp,
}

/// The packets of a draft, one behind the other.
struct Packets {
    heads: Vec<u8>,
    /// What these say, if it is kept for an index.
    listed: Vec<Head>,
    count: u64,
    padding: u32,
}

impl Packets {
    fn bytes(&self, draft: &Draft) -> u64 {
        self.heads.len() as u64 + u64::from(draft.bytes()) + u64::from(self.padding)
    }
}

const EXTENDED_HEADER_BYTES: usize = 13;

/// The time of a record, as readers find it: after the beginning of its packet.
fn time_of(head: &[u8; EXTENDED_HEADER_BYTES], begin: u64) -> u64 {
    let [first, second, third, fourth, _, time @ ..] = *head;
    if u32::from(first) == HEADER_EXTENDED {
        return u64::from_ne_bytes(time);
    }
    let lower = if cfg!(target_endian = "little") {
        u32::from_le_bytes([second, third, fourth, 0])
    } else {
        u32::from_be_bytes([0, second, third, fourth])
    };
    let time = begin & !u64::from(COMPACT_TIMES - 1) | u64::from(lower);
    if time < begin {
        time.saturating_add(u64::from(COMPACT_TIMES))
    } else {
        time
    }
}

fn is_gone(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EFAULT)
}

fn is_too_large(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EFBIG)
}

impl Recording {
    /// Writes what a draft has to say; `advance` notes how far the slot is then.
    pub fn append(
        &self,
        slot: u32,
        state: &mut SlotState,
        draft: &Draft,
        advance: impl FnOnce(&mut Account),
    ) -> Result<(), Stall> {
        let mut account = state.account;
        if self.trace.is_discarding() {
            // They are counted all the same.
            let all = draft.lost.saturating_add(account.inherited);
            account.told_lost = account.told_lost.max(all);
            if !draft.records.is_empty() {
                // The times of records behind them in the same memory follow from theirs.
                account.last_end = account.last_end.max(draft.end);
            }
        } else if !draft.records.is_empty() || is_untold(&account, draft) || draft.given_up > 0 {
            self.begin_stream(slot, state, draft);
            account = state.account;
            self.come_before(draft);
            self.write_draft(slot, state, draft, &mut account)?;
            self.keep_state(account.instance_id, Process::of(&state.identity), draft);
        }
        advance(&mut account);
        self.arena.note(slot, &account);
        let newly = account.told_lost.saturating_sub(state.account.told_lost);
        self.trace.tallies.lost.fetch_add(newly, Ordering::Relaxed);
        self.trace.tallies.lost_packets.fetch_add(draft.given_up, Ordering::Relaxed);
        state.account = account;
        Ok(())
    }

    /// Gives the slot its stream, which it keeps though nothing may be written now.
    ///
    /// One that goes on in the file of another is noted before anything is written to it: of a
    /// part of a packet, whoever comes after this collector must know.
    fn begin_stream(&self, slot: u32, state: &mut SlotState, draft: &Draft) {
        if state.account.opened != 0 {
            return;
        }
        let first = draft.losses.map_or(draft.begin, |(first, _)| first.min(draft.begin));
        let thread = self.told_identity(state);
        if self.trace.streams().begin(self.number, &thread, first, &mut state.account) {
            self.trace.tallies.streams.fetch_add(1, Ordering::Relaxed);
        } else {
            self.arena.note(slot, &state.account);
        }
    }

    /// Lets the state dump of the chunk be before a packet.
    fn come_before(&self, draft: &Draft) {
        let state = &self.trace.loaded_state;
        if !state.may_come_before(draft.begin) {
            return;
        }
        let Some((at, bytes)) = draft.records.first() else { return };
        let mut head = [0; EXTENDED_HEADER_BYTES];
        let size = head.len().min(*bytes as usize);
        self.arena.memory().read(*at, head.get_mut(..size).unwrap_or_default());
        let time = time_of(&head, draft.begin);
        if let Err(error) = state.come_before(time, &self.trace) {
            self.trace.add_problem(format!("addresses may lack their functions: {error}"));
        }
    }

    fn write_draft(
        &self,
        slot: u32,
        state: &mut SlotState,
        draft: &Draft,
        account: &mut Account,
    ) -> Result<(), Stall> {
        let records = u64::from(draft.bytes());
        let is_kept = {
            let mut budget = self.trace.budget();
            !budget.is_overwriting() || (draft.is_kept && budget.keep(records))
        };
        let done = if is_kept {
            self.append_to_data(slot, state, draft, account)
        } else {
            self.append_to_ring(slot, state, draft, account)
        };
        match &done {
            Ok((bytes, count)) => {
                self.trace.tallies.bytes.fetch_add(*bytes, Ordering::Relaxed);
                self.trace.tallies.packets.fetch_add(*count, Ordering::Relaxed);
            }
            Err(_) if is_kept => self.trace.budget().unkeep(records),
            Err(_) => {}
        }
        done.map(drop)
    }

    /// The heads of all packets; only the last one has records.
    fn packets(&self, draft: &Draft, account: &mut Account) -> Packets {
        let mut packets =
            Packets { heads: Vec::with_capacity(312), listed: Vec::new(), count: 0, padding: 0 };
        let is_indexed = self.trace.indexes.are_kept();
        let all = draft.lost.saturating_add(account.inherited).max(account.told_lost);
        let mut put = |account: &mut Account, begin: u64, end: u64, bytes: u32, lost: u64| {
            let begin = begin.max(account.last_end);
            let head = Head {
                instance_id: account.instance_id,
                begin,
                end: end.max(begin),
                record_bytes: bytes,
                number: account.packets,
                discarded: lost,
                vpid: draft.vpid,
                vtid: draft.vtid,
                procname: draft.procname,
                cpu: draft.cpu,
            };
            head.put(&self.trace.uuid, &mut packets.heads);
            if is_indexed {
                packets.listed.push(head);
            }
            packets.padding = head.padding();
            packets.count += 1;
            account.packets += 1;
            account.last_end = head.end;
            account.told_lost = lost;
        };
        let first = draft.losses.map_or(draft.begin, |(first, _)| first.min(draft.begin));
        let is_first = account.packets == 0 || account.is_cut();
        let known = account.told_lost;
        if is_first && (all > 0 || draft.given_up > 0) {
            // Readers compare its counts with those of the packet before; an empty one that comes
            // first says what another chunk tells.
            let before = first.saturating_sub(NANOSECOND);
            put(account, before, before, 0, known);
        }
        account.packets += draft.given_up;
        if let Some((first, last)) = draft.losses {
            if all > account.told_lost {
                put(account, first, last, 0, all);
            }
        }
        let records = draft.bytes();
        if records > 0 || all > account.told_lost || draft.given_up > 0 {
            put(account, draft.begin, draft.end, records, all);
        }
        packets
    }

    fn take(&self, bytes: u64) -> bool {
        let mut gone = Vec::new();
        let is_taken = self.trace.budget().take(bytes, &mut gone);
        for number in gone {
            // It may be gone already; then there is nothing to be done.
            let _ = self.trace.files.remove(&ring_name(number));
        }
        is_taken
    }

    /// Writes a packet with the records of a draft to another file; its bytes.
    pub fn write_copy(&self, name: &str, head: &Head, draft: &Draft, at: u64) -> io::Result<u64> {
        let mut heads = Vec::with_capacity(128);
        head.put(&self.trace.uuid, &mut heads);
        let padding = head.padding();
        let packets = Packets { heads, listed: Vec::new(), count: 1, padding };
        let files = &self.trace.files;
        let file = if at == 0 { files.create(name)? } else { files.get(name)? };
        self.write(&file, draft, &packets, at)?;
        Ok(packets.bytes(draft))
    }

    fn write(&self, file: &File, draft: &Draft, packets: &Packets, at: u64) -> io::Result<()> {
        let padding = [0; ALIGNMENT as usize];
        let tail = padding.get(..packets.padding as usize).unwrap_or_default();
        self.write_parts(file, draft, packets, tail, at)
    }

    /// Writes the heads, the parts of the records one behind the other, and the padding.
    fn write_parts(
        &self,
        file: &File,
        draft: &Draft,
        packets: &Packets,
        tail: &[u8],
        at: u64,
    ) -> io::Result<()> {
        let mut head = packets.heads.as_slice();
        let mut place = at;
        let Some((last, others)) = draft.records.split_last() else {
            return self.trace.files.write_at(file, head, None, tail, place);
        };
        let span =
            |part: &(u64, u32)| Span { memory: self.arena.memory(), at: part.0, bytes: part.1 };
        for part in others {
            if let Err(error) = self.trace.files.write_at(file, head, Some(span(part)), &[], place)
            {
                // What is there is no packet.
                let _ = file.set_len(at);
                return Err(error);
            }
            place += head.len() as u64 + u64::from(part.1);
            head = &[];
        }
        let done = self.trace.files.write_at(file, head, Some(span(last)), tail, place);
        if done.is_err() {
            let _ = file.set_len(at);
        }
        done
    }

    fn failed(&self, error: &io::Error, name: &str) -> Stall {
        if is_gone(error) {
            self.arena.guard().set_damaged();
            return Stall::Never("its memory was taken away");
        }
        self.trace.add_failure(error, name);
        Stall::Disk
    }

    /// Appends to the files that stay; bytes and packets.
    fn append_to_data(
        &self,
        slot: u32,
        state: &mut SlotState,
        draft: &Draft,
        account: &mut Account,
    ) -> Result<(u64, u64), Stall> {
        let is_new = account.file_number == 0;
        if is_new {
            self.make_data(slot, state, account)?;
        }
        let packets = self.packets(draft, account);
        let bytes = packets.bytes(draft);
        if self.trace.rollover.is_full(account.file_bytes, bytes) {
            self.make_part(slot, state, account)?;
        }
        let done = if self.take(bytes) {
            self.write_data(slot, state, draft, &packets, account)
                .inspect(|()| {
                    let name = self.data_name(account);
                    let at = account.file_bytes;
                    self.trace.indexes.add(&self.trace.files, &name, at, &packets.listed);
                    account.file_bytes += bytes;
                })
                .inspect_err(|_| self.trace.budget().give(bytes))
        } else {
            Err(Stall::Never("the size limit is reached"))
        };
        if done.is_err() && is_new {
            // Nothing is in it; the name is free for the next attempt.
            self.trace.indexes.remove(&self.trace.files, &self.data_name(account));
            let _ = self.trace.files.remove(&self.data_name(account));
            self.trace.budget().give(FILE_BYTES);
            state.account.file_number = 0;
            self.arena.note(slot, &state.account);
        }
        done.map(|()| (bytes, packets.count))
    }

    fn write_data(
        &self,
        slot: u32,
        state: &mut SlotState,
        draft: &Draft,
        packets: &Packets,
        account: &mut Account,
    ) -> Result<(), Stall> {
        for _ in 0..MOST_FILES {
            let name = self.data_name(account);
            let done = self
                .data_file(&name, account)
                .and_then(|file| self.write(&file, draft, packets, account.file_bytes));
            let Err(error) = done else { return self.check_ring(draft, account, &name) };
            if !is_too_large(&error) || account.file_bytes == 0 {
                return Err(self.failed(&error, &name));
            }
            self.make_part(slot, state, account)?;
        }
        Err(Stall::Disk)
    }

    /// Takes a packet back whose chunk the thread may have written to meanwhile.
    fn check_ring(&self, draft: &Draft, account: &Account, name: &str) -> Result<(), Stall> {
        let is_given_up = |(slot, seq)| {
            // After all that was read of the chunk.
            fence(Ordering::SeqCst);
            self.arena.slot(slot).gone().load(Ordering::SeqCst) >= seq
        };
        if !draft.is_in_ring.is_some_and(is_given_up) {
            return Ok(());
        }
        let cut = self.trace.files.get(name).and_then(|file| file.set_len(account.file_bytes));
        cut.map_err(|error| self.failed(&error, name))?;
        Err(Stall::GivenUp)
    }

    /// Makes the next file of a stream whose present one takes no more.
    fn make_part(
        &self,
        slot: u32,
        state: &mut SlotState,
        account: &mut Account,
    ) -> Result<(), Stall> {
        if !self.take(FILE_BYTES) {
            return Err(Stall::Never("the size limit is reached"));
        }
        let next = self.trace.rollover.next(account.file_number);
        let name = self.trace.data_name(account.instance_id, next);
        if !self.trace.rollover.is_limited() {
            if let Err(error) = self.trace.files.create(&name) {
                self.trace.budget().give(FILE_BYTES);
                return Err(self.failed(&error, &name));
            }
        }
        account.file_number = next;
        account.file_bytes = 0;
        self.note_file(slot, state, account);
        if self.trace.rollover.is_limited() {
            // Only now: the oldest file may be the one before.
            self.remove_older(&name);
        }
        Ok(())
    }

    /// Removes the oldest file of a stream, whose name the next one gets: who reads it meanwhile
    /// still has all of it.
    fn remove_older(&self, name: &str) {
        let bytes = fs::symlink_metadata(self.trace.path_of(name)).map_or(0, |file| file.len());
        self.trace.indexes.remove(&self.trace.files, name);
        if self.trace.files.remove(name).is_ok() {
            self.trace.budget().give(FILE_BYTES + bytes);
        }
    }

    fn data_name(&self, account: &Account) -> String {
        self.trace.data_name(account.instance_id, account.file_number)
    }

    /// The file that an account means. One in which there is nothing may not be there yet.
    fn data_file(&self, name: &str, account: &Account) -> io::Result<Arc<File>> {
        match self.trace.files.get(name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && account.file_bytes == 0 => {
                self.trace.files.create(name)
            }
            found => found,
        }
    }

    /// Makes the first file of a stream, under a name that no other has.
    fn make_data(
        &self,
        slot: u32,
        state: &mut SlotState,
        account: &mut Account,
    ) -> Result<(), Stall> {
        if !self.take(FILE_BYTES) {
            return Err(Stall::Never("the size limit is reached"));
        }
        let mut number = 1;
        while number < u32::MAX {
            let name = self.trace.data_name(account.instance_id, number);
            match self.trace.files.create(&name) {
                Ok(_) => {
                    account.file_number = number;
                    account.file_bytes = 0;
                    self.note_file(slot, state, account);
                    return Ok(());
                }
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    self.trace.budget().give(FILE_BYTES);
                    return Err(self.failed(&error, &name));
                }
                // Another recording has left it there, or a program has made it.
                Err(_) if self.rename(account) => {}
                // All names that there can be are those of others.
                Err(_) if self.trace.rollover.next(number) <= number => break,
                Err(_) => number += 1,
            }
        }
        Err(Stall::Disk)
    }

    /// Gives a stream another number, as long as no packet has told it.
    fn rename(&self, account: &mut Account) -> bool {
        let next = match account.packets {
            0 => self.trace.streams().next_namesake(account.instance_id),
            _ => None,
        };
        account.instance_id = next.unwrap_or(account.instance_id);
        next.is_some()
    }

    /// Appends to a file that goes away; bytes and packets.
    fn append_to_ring(
        &self,
        slot: u32,
        state: &mut SlotState,
        draft: &Draft,
        account: &mut Account,
    ) -> Result<(u64, u64), Stall> {
        let packets = self.packets(draft, account);
        let bytes = packets.bytes(draft);
        if !self.take(bytes) {
            return Err(Stall::Never("the size limit is reached"));
        }
        for _ in 0..MOST_FILES {
            let is_open = self.trace.budget().is_ring_open(account.ring_number, account.ring_bytes);
            if !is_open {
                self.make_ring(slot, state, account)
                    .inspect_err(|_| self.trace.budget().give(bytes))?;
            }
            // The bytes are the file's from here on, and go with it.
            if !self.trace.budget().add_to_ring(account.ring_number, bytes) {
                continue;
            }
            let name = ring_name(account.ring_number);
            let done = self
                .trace
                .files
                .get(&name)
                .and_then(|file| self.write(&file, draft, &packets, account.ring_bytes));
            match done {
                Ok(()) => {
                    account.ring_bytes += bytes;
                    return Ok((bytes, packets.count));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    // It went away meanwhile, and its bytes with it: they are taken anew.
                    self.trace.budget().remove_ring(account.ring_number);
                    if !self.take(bytes) {
                        return Err(Stall::Never("the size limit is reached"));
                    }
                }
                Err(error) => {
                    self.trace.budget().take_from_ring(account.ring_number, bytes);
                    return Err(self.failed(&error, &name));
                }
            }
        }
        self.trace.budget().give(bytes);
        Err(Stall::Disk)
    }

    fn make_ring(
        &self,
        slot: u32,
        state: &mut SlotState,
        account: &mut Account,
    ) -> Result<(), Stall> {
        self.trace.files.forget(&ring_name(account.ring_number));
        if !self.take(FILE_BYTES) {
            return Err(Stall::Never("the size limit is reached"));
        }
        let number = self.trace.budget().new_ring();
        let name = ring_name(number);
        if let Err(error) = self.trace.files.create(&name) {
            self.trace.budget().remove_ring(number);
            return Err(self.failed(&error, &name));
        }
        account.ring_number = number;
        account.ring_bytes = 0;
        self.note_file(slot, state, account);
        Ok(())
    }

    /// Notes a file before anything is in it: who goes on must not write it into another.
    fn note_file(&self, slot: u32, state: &mut SlotState, account: &Account) {
        state.account.instance_id = account.instance_id;
        state.account.file_number = account.file_number;
        state.account.file_bytes = account.file_bytes;
        state.account.ring_number = account.ring_number;
        state.account.ring_bytes = account.ring_bytes;
        self.arena.note(slot, &state.account);
    }
}

/// Whether losses are not yet in a packet.
fn is_untold(account: &Account, draft: &Draft) -> bool {
    draft.lost.saturating_add(account.inherited) > account.told_lost
}

const _: () = assert!(PACKET_BYTES % ALIGNMENT == 0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_record_tells_when_a_packet_begins_in_truth() {
        let extended = |time: u64| {
            let mut head = [0xFF; EXTENDED_HEADER_BYTES];
            head[5..].copy_from_slice(&time.to_ne_bytes());
            head
        };
        let compact = |lower: u32| {
            let word =
                if cfg!(target_endian = "little") { lower << 8 | 4 } else { 4 << 24 | lower };
            let mut head = [9; EXTENDED_HEADER_BYTES];
            head[..4].copy_from_slice(&word.to_ne_bytes());
            head
        };
        let begin = 0x12_3456_7890;
        assert_eq!(time_of(&extended(17), begin), 17);
        assert_eq!(time_of(&compact(0x56_7890), begin), begin);
        assert_eq!(time_of(&compact(0x56_7891), begin), begin + 1);
        assert_eq!(time_of(&compact(0x56_788F), begin), 0x12_3556_788F);
    }
}
