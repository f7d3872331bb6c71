//! Data streams: their numbers, the names of their files, and who goes on with which.

use std::collections::{HashMap, VecDeque};

use crate::account::Account;
use crate::presence::own_namespace;

const ID_BITS: u32 = 22;
const ID_MASK: u64 = (1 << ID_BITS) - 1;
const SPACE_BITS: u32 = 10;
const NAMESAKE_BITS: u32 = 10;
const NAMESAKE_MASK: u64 = (1 << NAMESAKE_BITS) - 1;
/// Namespaces beyond these share a number.
const MOST_SPACES: usize = 511;
/// In place of a PID namespace of which only the number is known.
const UNKNOWN_SPACE: u64 = u64::MAX;
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
pub struct Streams {
    /// PID namespaces: that of the collector, whose numbers the kernel tells as well, and the
    /// others in the order in which they were met.
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

impl Default for Streams {
    fn default() -> Self {
        Self::of(own_namespace())
    }
}

impl Streams {
    /// Those of a collector in a PID namespace.
    fn of(own: u64) -> Self {
        Self { spaces: vec![own], namesakes: HashMap::new(), ended: VecDeque::new() }
    }

    /// The number of a PID namespace, which the numbers of its streams have; one that is not
    /// known is taken for ours.
    fn space(&mut self, inode: u64) -> u64 {
        if inode == 0 {
            return 0;
        }
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

    /// Goes on with the number of a PID namespace that another collector has given: those of its
    /// streams have it, and a dump of their processes must have the same.
    pub fn take_over(&mut self, instance: u64, pid_namespace: u64) {
        let place = (instance >> (ID_BITS + NAMESAKE_BITS) & ((1 << SPACE_BITS) - 1)) as usize;
        if instance >> (64 - ID_BITS) == 0 || place >= MOST_SPACES {
            return;
        }
        if self.spaces.len() <= place {
            self.spaces.resize(place + 1, UNKNOWN_SPACE);
        }
        let is_known = self.spaces.contains(&pid_namespace);
        if let Some(space) = self.spaces.get_mut(place).filter(|one| **one == UNKNOWN_SPACE) {
            if !is_known {
                *space = pid_namespace;
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(streams: &mut Streams, vpid: u32, pid_namespace: u64) -> u64 {
        let thread = Identity { vpid, vtid: vpid, pid_namespace, ..Identity::default() };
        let mut account = Account::default();
        streams.begin(0, &thread, 0, &mut account);
        account.instance_id
    }

    fn space_of(instance: u64) -> u64 {
        instance >> (ID_BITS + NAMESAKE_BITS) & ((1 << SPACE_BITS) - 1)
    }

    #[test]
    fn namespaces_keep_their_numbers_in_the_next_collector() {
        let mut first = Streams::of(10);
        let all: Vec<_> = (10..14).map(|space| begun(&mut first, 1, space)).collect();
        let mut next = Streams::of(10);
        // The threads of the others have ended.
        for (instance, space) in all.iter().zip(10..14).skip(2) {
            next.take_over(*instance, space);
        }
        assert_eq!(space_of(begun(&mut next, 2, 13)), 3);
        assert_eq!(space_of(next.apart(12, 0)), 2);
        // Their numbers are not given again.
        assert_eq!(space_of(begun(&mut next, 2, 20)), 4);
    }

    #[test]
    fn a_number_is_of_one_namespace() {
        let mut streams = Streams::of(10);
        let instance = begun(&mut streams, 1, 10);
        streams.take_over(instance, 11);
        streams.take_over(begun(&mut Streams::of(11), 1, 11), 10);
        assert_eq!(space_of(begun(&mut streams, 2, 10)), 0);
        assert_eq!(space_of(begun(&mut streams, 2, 11)), 1);
    }

    #[test]
    fn rings_of_cpus_are_of_no_namespace() {
        let mut streams = Streams::of(7);
        streams.take_over(5 << NAMESAKE_BITS, 10);
        assert_eq!(streams.spaces, [7]);
        assert_eq!(space_of(streams.apart(0, 1)), 0);
    }
}
