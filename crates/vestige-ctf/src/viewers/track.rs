//! Tracks of a trace of Perfetto: threads, and data streams of which no thread is known.

use std::collections::HashMap;

use super::arguments::safe;
use super::protobuf::{message, push_bytes, push_number};
use super::small::Small;
use super::spans::NewLane;
use crate::calls::ThreadKey;

// Fields of TracePacket and of what is in it.
const PACKET: u32 = 1;
const TRACK_DESCRIPTOR: u32 = 60;

/// What is known of a track.
#[derive(Debug)]
pub struct Track {
    /// Data stream, process space, process ID and thread ID.
    pub key: ThreadKey,
    /// The CPU of its first event, where its stream tells one.
    pub cpu: Option<u64>,
    /// Its number in the file.
    pub uuid: u64,
    /// The sequence of the packets of its calls.
    pub sequence: u32,
    /// How each of these packets tells its sequence.
    prefix: Small,
    /// How each that ends a call does, its time aside.
    end: Small,
    /// How each that begins a call of a function does, its time aside, by the number of its name.
    begins: Vec<Small>,
    /// The time of the last one, nanoseconds; `None` before the first.
    pub last: Option<i64>,
    /// Which functions have names in the sequence: a bit for each.
    named: Vec<u64>,
}

/// The first number that no short message tells.
const LONG_NUMBER: u32 = 1 << 28;
/// So many names have their messages ready.
const MOST_BEGINS: usize = 1024;

impl Track {
    /// How a packet ends the innermost call, behind its time.
    #[inline(always)]
    pub fn end(&self) -> Small {
        self.end
    }

    /// How a packet begins a call of a function, behind its time, if that is known already.
    #[inline(always)]
    pub fn begin(&self, name: u32) -> Option<Small> {
        self.begins.get(name as usize).copied().filter(|one| one.length() > 0)
    }

    /// The same for any function; `None` if no short message says it.
    pub fn make_begin(&mut self, name: u32) -> Option<Small> {
        if name >= LONG_NUMBER {
            return None;
        }
        let number = Small::default().push(0x50, 1).varint(name);
        // An event of so many bytes, its type, and the number of its name.
        let event = Small::default().push(0x5a, 1).push(u64::from(2 + number.length()), 1);
        let begin = self.prefix.with(event.push(0x0148, 2))?.with(number)?;
        let index = name as usize;
        if index < MOST_BEGINS {
            if index >= self.begins.len() {
                self.begins.resize(index + 1, Small::default());
            }
            if let Some(place) = self.begins.get_mut(index) {
                *place = begin;
            }
        }
        Some(begin)
    }

    /// Whether a function has no name yet; it has one from now on.
    #[inline]
    pub fn is_new(&mut self, function: usize) -> bool {
        let (word, bit) = (function / 64, 1u64 << (function % 64));
        if self.named.get(word).is_some_and(|bits| bits & bit != 0) {
            return false;
        }
        if word >= self.named.len() {
            self.named.resize(word + 1, 0);
        }
        if let Some(bits) = self.named.get_mut(word) {
            *bits |= bit;
        }
        true
    }
}

/// All tracks.
#[derive(Debug, Default)]
pub struct Tracks {
    list: Vec<Track>,
    by_key: HashMap<ThreadKey, u32>,
    last: Option<(ThreadKey, u32)>,
    /// The number of each process, by process space and process ID.
    processes: HashMap<(u32, i32), u64>,
    /// In which process space the process with an ID is.
    process_ids: HashMap<i32, u32>,
    /// Which track has a pair of process ID and thread ID.
    thread_ids: HashMap<(i32, i32), u32>,
    last_uuid: u64,
    described: usize,
}

impl Tracks {
    /// The index of a track, which is made if need be.
    #[inline]
    pub fn index(&mut self, key: ThreadKey) -> u32 {
        if let Some((_, index)) = self.last.filter(|(last, _)| *last == key) {
            return index;
        }
        let index = match self.by_key.get(&key) {
            Some(&index) => index,
            None => self.add(key),
        };
        self.last = Some((key, index));
        index
    }

    fn add(&mut self, key: ThreadKey) -> u32 {
        let index = self.list.len() as u32;
        // The first sequence is that of events.
        let sequence = index + 2;
        let prefix = Small::default().push(0x50, 1).varint(sequence);
        let end = prefix.push(0x0248_025a, 4);
        let (cpu, uuid, last) = (None, self.next_uuid(), None);
        let (begins, named) = (Vec::new(), Vec::new());
        self.list.push(Track { key, cpu, uuid, sequence, prefix, end, begins, last, named });
        self.by_key.insert(key, index);
        index
    }

    /// A number that nothing else in the file has.
    pub fn next_uuid(&mut self) -> u64 {
        self.last_uuid += 1;
        self.last_uuid
    }

    /// A track.
    #[inline]
    pub fn get_mut(&mut self, index: u32) -> Option<&mut Track> {
        self.list.get_mut(index as usize)
    }

    /// The tracks that are new since the last call.
    pub fn take_new(&mut self) -> Vec<(u32, &Track)> {
        let first = std::mem::replace(&mut self.described, self.list.len());
        (0..).zip(&self.list).skip(first).collect()
    }

    /// Whether a process has its ID for itself, and no process of another PID namespace has it.
    fn has_own_id(&mut self, (space, vpid): (u32, i32)) -> bool {
        vpid > 0 && *self.process_ids.entry(vpid).or_insert(space) == space
    }

    /// Tells what a process is called.
    pub fn describe_process(&mut self, out: &mut Vec<u8>, process: (u32, i32), name: &str) {
        let known = self.processes.get(&process).copied();
        let uuid = known.unwrap_or_else(|| self.next_uuid());
        self.processes.insert(process, uuid);
        let is_own = self.has_own_id(process);
        push_descriptor(out, |track| {
            push_number(track, 1, uuid);
            if is_own {
                let told = message(|told| {
                    push_number(told, 1, process.1 as u64);
                    push_bytes(told, 6, name.as_bytes());
                });
                push_bytes(track, 3, &told);
            } else {
                let label = format!("{name} {}", process.1);
                push_bytes(track, 2, label.as_bytes());
            }
        });
    }

    /// Tells what a track is called; its process must have been described before.
    pub fn describe(&mut self, out: &mut Vec<u8>, index: u32, name: &str) {
        let Some(track) = self.list.get(index as usize) else { return };
        let ((_, space, vpid, vtid), uuid) = (track.key, track.uuid);
        let process = (space, vpid);
        let is_own = self.has_own_id(process)
            && vtid > 0
            && *self.thread_ids.entry((vpid, vtid)).or_insert(index) == index;
        let parent = self.processes.get(&process).copied();
        push_descriptor(out, |track| {
            push_number(track, 1, uuid);
            if let Some(parent) = parent {
                push_number(track, 5, parent);
            }
            if is_own {
                let told = message(|told| {
                    push_number(told, 1, vpid as u64);
                    push_number(told, 2, vtid as u64);
                    push_bytes(told, 5, name.as_bytes());
                });
                push_bytes(track, 4, &told);
            } else {
                push_bytes(track, 2, name.as_bytes());
            }
        });
    }

    /// Tells what a track of spans is called; its process must have been described before.
    pub fn describe_lane(&mut self, out: &mut Vec<u8>, lane: &NewLane) {
        let parent = self.processes.get(&lane.process).copied();
        push_descriptor(out, |track| {
            push_number(track, 1, lane.uuid);
            if let Some(parent) = parent {
                push_number(track, 5, parent);
            }
            push_bytes(track, 2, &safe(lane.name.as_bytes()));
        });
    }

    /// Adds a track that is of no thread.
    pub fn add_plain(&mut self, out: &mut Vec<u8>, name: &str) -> u64 {
        let uuid = self.next_uuid();
        push_descriptor(out, |track| {
            push_number(track, 1, uuid);
            push_bytes(track, 2, name.as_bytes());
        });
        uuid
    }
}

fn push_descriptor(out: &mut Vec<u8>, fill: impl FnOnce(&mut Vec<u8>)) {
    let packet = message(|packet| {
        push_number(packet, 10, 1);
        push_bytes(packet, TRACK_DESCRIPTOR, &message(fill));
    });
    push_bytes(out, PACKET, &packet);
}
