//! What processes have said of their state, for chunks of a trace that begin later.
//!
//! Packets that tell what is loaded are in the chunk in which they were recorded. Where a
//! recording is cut into chunks without asking programs, each of these packets is also put into a
//! hidden file, as a data stream of its own, and each later chunk gets a copy.

use std::collections::hash_map::{Entry, HashMap};
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::append::Draft;
use crate::file_error::at_path;
use crate::packet::Head;
use crate::presence::{present, Numbers};
use crate::recording::Recording;
use crate::streams::Identity;
use crate::trace::Trace;

/// In front of the name that a copy gets.
const HIDDEN: &str = ".state-";

/// A process, until it executes another program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Process {
    /// Its number and its PID namespace, which others had that it was before.
    numbers: Numbers,
    /// Later than theirs.
    start: u64,
}

impl Process {
    /// That of a thread.
    pub const fn of(thread: &Identity) -> Self {
        Self { numbers: (thread.vpid, thread.pid_namespace), start: thread.process_start }
    }
}

/// The packets of one data stream.
struct Told {
    instance: u64,
    process: Process,
    packets: u64,
    bytes: u64,
    last_end: u64,
}

/// All of them.
#[derive(Default)]
pub struct States {
    is_kept: AtomicBool,
    told: Mutex<HashMap<u64, Told>>,
}

impl States {
    /// Keeps them from now on.
    pub fn keep(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }

    /// Whether they are kept.
    pub fn are_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }

    fn told(&self) -> MutexGuard<'_, HashMap<u64, Told>> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies them to the visible files of a chunk that begins; those of processes that are gone
    /// are forgotten. Bytes that were copied.
    ///
    /// A process of which no thread records now may begin one that does.
    pub fn begin_chunk(&self, trace: &Trace, records: impl Fn(Process) -> bool) -> io::Result<u64> {
        let mut told = self.told();
        let mut newest: HashMap<Numbers, u64> = HashMap::new();
        for one in told.values().map(|one| one.process) {
            let start = newest.entry(one.numbers).or_default();
            *start = one.start.max(*start);
        }
        // Few have no thread that records.
        let quiet = told.values().map(|one| one.process).filter(|one| !records(*one));
        let there = present(&quiet.map(|one| one.numbers).collect());
        let is_newest = |one: Process| newest.get(&one.numbers) == Some(&one.start);
        let stays = |one| records(one) || (is_newest(one) && there.contains(&one.numbers));
        let folder = trace.files.place().path;
        let mut bytes = 0;
        let copy = |one: &Told| {
            let name = trace.data_name(one.instance, 1);
            let from = folder.join(format!("{HIDDEN}{name}"));
            let to = folder.join(name);
            trace.files.place().with_rights(|| fs::copy(&from, &to)).map_err(|e| at_path(&e, &to))
        };
        told.retain(|_, one| {
            let stays = stays(one.process);
            if !stays {
                let _ = trace.files.remove(&hidden_name(trace, one));
            }
            stays
        });
        for one in told.values() {
            bytes += copy(one)?;
        }
        Ok(bytes)
    }

    /// Removes the hidden files: there is no other chunk.
    pub fn end(&self, trace: &Trace) {
        for (_, one) in self.told().drain() {
            let _ = trace.files.remove(&hidden_name(trace, &one));
        }
    }
}

fn hidden_name(trace: &Trace, told: &Told) -> String {
    format!("{HIDDEN}{}", trace.data_name(told.instance, 1))
}

impl Recording {
    /// Keeps a packet that was written, if it tells of the state of its process.
    ///
    /// What cannot be kept is missing in later chunks, and nowhere else.
    pub fn keep_state(&self, instance: u64, process: Process, draft: &Draft) {
        let states = &self.trace.states;
        if !draft.is_kept || draft.bytes() == 0 || !states.are_kept() {
            return;
        }
        let mut told = states.told();
        let one = match told.entry(instance) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                // Another stream: in later chunks, packets between these and the next ones are
                // not.
                let own = self.trace.streams().next_namesake(instance);
                let Some(instance) = own else { return };
                new.insert(Told { instance, process, packets: 0, bytes: 0, last_end: 0 })
            }
        };
        let begin = draft.begin.max(one.last_end);
        let head = Head {
            instance_id: one.instance,
            begin,
            end: draft.end.max(begin),
            record_bytes: draft.bytes(),
            number: one.packets,
            discarded: 0,
            vpid: draft.vpid,
            vtid: draft.vtid,
            procname: draft.procname,
            cpu: draft.cpu,
        };
        let name = hidden_name(&self.trace, one);
        match self.write_copy(&name, &head, draft, one.bytes) {
            Ok(bytes) => {
                one.packets += 1;
                one.bytes += bytes;
                one.last_end = head.end;
            }
            Err(error) => self.trace.add_problem(format!(
                "later chunks lack what a process has loaded: {}: {error}",
                self.trace.path_of(&name).display()
            )),
        }
    }
}
