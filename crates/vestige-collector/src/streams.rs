//! Data streams: their numbers, the names of their files, and who goes on with which.

use std::collections::{HashMap, VecDeque};

use crate::account::Account;

const ID_BITS: u32 = 22;
const ID_MASK: u64 = (1 << ID_BITS) - 1;
const SPACE_BITS: u32 = 10;
const NAMESAKE_BITS: u32 = 10;
const NAMESAKE_MASK: u64 = (1 << NAMESAKE_BITS) - 1;
/// Namespaces beyond these share a number.
const MOST_SPACES: usize = 511;
/// Streams whose threads have ended and that may be continued; the oldest are forgotten.
const MOST_ENDED: usize = 1024;

/// Who a thread is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    pub vpid: u32,
    pub vtid: u32,
    pub pid_namespace: u64,
    /// Tells processes with the same ID apart.
    pub process_start: u64,
    pub procname: [u8; 16],
}

impl Identity {
    fn is_same_process(&self, other: &Self) -> bool {
        self.process_start != 0
            && (self.vpid, self.pid_namespace, self.process_start)
                == (other.vpid, other.pid_namespace, other.process_start)
    }
}

/// All data streams of a recording.
#[derive(Default)]
pub struct Streams {
    /// PID namespaces, in the order in which they were met.
    spaces: Vec<u64>,
    namesakes: HashMap<(u64, u64), u64>,
    /// With the arena: a user must not go on with the files of another one.
    ended: VecDeque<(u64, Identity, Account)>,
}

/// The name of the nth data file of a stream of a channel.
pub fn data_name(channel: &str, instance: u64, number: u32) -> String {
    let vpid = instance >> (64 - ID_BITS);
    let vtid = instance >> NAMESAKE_BITS & ID_MASK;
    let namesake = match instance & NAMESAKE_MASK {
        0 => String::new(),
        n => format!(".{}", n + 1),
    };
    // No process has the number: it is a CPU, with the name that LTTng gives its file.
    let (first, mark) = if vpid == 0 { (channel.to_owned(), '_') } else { (vpid.to_string(), '-') };
    let part = if number > 1 { format!("@{number}") } else { String::new() };
    format!("{first}{mark}{vtid}{namesake}{part}")
}

/// The name of a file of overwrite mode.
pub fn ring_name(number: u64) -> String {
    format!("ring-{number}")
}

impl Streams {
    /// The number of a PID namespace, which the numbers of its streams have.
    fn space(&mut self, inode: u64) -> u64 {
        let known = self.spaces.iter().position(|one| *one == inode);
        let place = known.unwrap_or_else(|| {
            if self.spaces.len() < MOST_SPACES {
                self.spaces.push(inode);
                self.spaces.len() - 1
            } else {
                MOST_SPACES
            }
        });
        place as u64
    }

    /// Gives a thread a stream: one of its process that ended before a time, or a new one.
    pub fn begin(
        &mut self,
        arena: u64,
        thread: &Identity,
        first: u64,
        account: &mut Account,
    ) -> bool {
        let known = self.ended.iter().rposition(|(of, other, old)| {
            *of == arena && thread.is_same_process(other) && old.last_end <= first
        });
        if let Some((_, _, old)) = known.and_then(|place| self.ended.remove(place)) {
            let (drained_seq, flushed) = (account.drained_seq, account.flushed);
            *account = Account { drained_seq, flushed, inherited: old.told_lost, ..old };
            return false;
        }
        let space = self.space(thread.pid_namespace);
        let (vpid, vtid) = (u64::from(thread.vpid) & ID_MASK, u64::from(thread.vtid) & ID_MASK);
        let namesake = self.namesakes.entry((vpid, vtid)).or_default();
        account.instance_id = vpid << (64 - ID_BITS)
            | space << (ID_BITS + NAMESAKE_BITS)
            | vtid << NAMESAKE_BITS
            | (*namesake).min(NAMESAKE_MASK);
        *namesake += 1;
        account.opened = 1;
        true
    }

    /// The number of a stream of no thread in a PID namespace, by a number of 31 bits.
    pub fn apart(&mut self, pid_namespace: u64, number: u64) -> u64 {
        // Above all CPUs, and as these without a process.
        let upper = 1 << (ID_BITS + NAMESAKE_BITS - 1);
        self.space(pid_namespace) << (ID_BITS + NAMESAKE_BITS) | upper | number & (upper - 1)
    }

    /// The number of the next stream of the same name; none if there are too many.
    pub fn next_namesake(&mut self, instance: u64) -> Option<u64> {
        const { assert!(ID_BITS * 2 + SPACE_BITS + NAMESAKE_BITS == 64) };
        let key = (instance >> (64 - ID_BITS), instance >> NAMESAKE_BITS & ID_MASK);
        let next = self.namesakes.entry(key).or_default();
        let namesake = (instance & NAMESAKE_MASK).max(*next);
        if *next > NAMESAKE_MASK {
            return None;
        }
        *next = namesake + 1;
        Some(instance & !NAMESAKE_MASK | namesake)
    }

    /// Begins the next chunk of the trace: no stream has a file there.
    pub fn cut(&mut self) {
        for (_, _, account) in &mut self.ended {
            *account = account.cut();
        }
    }

    /// Notes that the thread of a stream has ended.
    pub fn end(&mut self, arena: u64, thread: Identity, account: Account) {
        if self.ended.len() == MOST_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back((arena, thread, account));
    }
}
