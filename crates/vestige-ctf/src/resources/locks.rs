//! Following mutexes through their events: who has which, and who waits.
//!
//! An event of an unlock is made after it, so another thread may have the mutex before: then
//! the time of the first owner ends there, and its unlock ends nothing. It is the same with
//! `pthread_cond_wait`, which unlocks a mutex without an event.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::fold::{Call, Follower};
use super::in_order::InOrder;
use crate::keyed_hash::{KeyedHash, KeyedMap};

/// How often something was locked, and how long that took, nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LockCounts {
    /// How often it was locked, with `trylock` too.
    pub acquired: u64,
    /// How often a thread wanted it while another one had it.
    pub blocked: u64,
    /// From wanting it to having it, all together.
    pub waited: u64,
    /// The longest of these.
    pub longest_wait: u64,
    /// How long it was held, all together.
    pub held: u64,
    /// The longest time that it was held.
    pub longest_hold: u64,
    /// How often `trylock` or `lock` did not give it.
    pub failed: u64,
}

impl LockCounts {
    fn wait(&mut self, time: u64, is_blocked: bool) {
        self.acquired += 1;
        self.blocked += u64::from(is_blocked);
        self.waited = self.waited.saturating_add(time);
        self.longest_wait = self.longest_wait.max(time);
    }

    fn hold(&mut self, time: u64) {
        self.held = self.held.saturating_add(time);
        self.longest_hold = self.longest_hold.max(time);
    }

    fn fail(&mut self) {
        self.failed += 1;
    }
}

/// What is known of how long the lock of one site was in the way of the wait of another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Blocking {
    /// How many locks were in the way of how many waits, one by one.
    pub count: u64,
    /// How long all together, nanoseconds.
    pub waited: u64,
    /// How long at most, nanoseconds.
    pub longest: u64,
}

/// A wait for a mutex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LongWait {
    /// How long it took, nanoseconds.
    pub duration: u64,
    /// Of equal ones the first stays.
    order: Reverse<u64>,
    /// When the mutex was wanted.
    pub begin: i64,
    /// The number of the thread.
    pub thread: u32,
    /// Where, by the number of the site.
    pub site: u32,
    /// The mutex.
    pub address: u64,
    /// Which thread had it then, and where it had locked it.
    pub holder: Option<(u32, u32)>,
}

/// A mutex: the number of its process, and its address.
pub type MutexKey = (u32, u64);

/// Who has a mutex.
#[derive(Debug, Clone, Copy)]
struct Owner {
    thread: u32,
    site: u32,
    since: i64,
    depth: u64,
    is_taken: bool,
}

/// What a thread waits for.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    /// The index of the mutex.
    mutex: u32,
    site: u32,
    since: i64,
    holder: Option<(u32, u32)>,
    is_taken: bool,
}

/// What is known of a mutex now.
#[derive(Debug)]
struct Mutex {
    key: MutexKey,
    owner: Option<Owner>,
    waiters: Vec<u32>,
    /// How many threads had it.
    users: u32,
    last_user: Option<u32>,
}

/// Follows the mutexes of traces. Kinds of calls are `lock_req`, `lock_acq`, `trylock` and
/// `unlock`; their integers are address and status.
#[derive(Debug, Default)]
pub struct LockFollower {
    longest: usize,
    mutexes: Vec<Mutex>,
    indexes: KeyedMap<MutexKey, u32>,
    /// Which threads had which mutex.
    users: HashSet<(u32, u32), KeyedHash>,
    /// By the numbers of threads.
    wanted: Vec<Option<Wanted>>,
    waits: u64,
    heap: BinaryHeap<Reverse<LongWait>>,
    locks: InOrder<LockCounts>,
    sites: InOrder<LockCounts>,
    pairs: Vec<((u32, u32), Blocking)>,
    pair_indexes: KeyedMap<(u32, u32), usize>,
    /// All together.
    pub total: LockCounts,
    /// Whether there are events of which no thread is known.
    pub has_unknown_threads: bool,
}

impl Follower for LockFollower {
    fn take(&mut self, call: &Call) {
        if !call.has_thread {
            self.has_unknown_threads = true;
            return;
        }
        let [address, status, ..] = call.values;
        let mutex = self.mutex((call.process, address));
        match (call.kind, status == 0) {
            (0, _) => self.request(call, mutex),
            (1, true) => self.acquire(call, mutex),
            (1, false) => {
                self.end_wait(call.thread);
                self.fail(call, mutex);
            }
            (2, true) => {
                self.own(call, mutex, call.site);
                if call.is_taken {
                    self.count(mutex, call.site, |counts| counts.wait(0, false));
                }
            }
            (2, false) => self.fail(call, mutex),
            (3, true) => self.unlock(call, mutex),
            _ => {}
        }
    }
}

impl LockFollower {
    /// A follower that keeps so many of the longest waits.
    #[must_use]
    pub fn new(longest: usize) -> Self {
        Self { longest, ..Self::default() }
    }

    fn mutex(&mut self, key: MutexKey) -> u32 {
        let mutexes = &mut self.mutexes;
        *self.indexes.entry(key).or_insert_with(|| {
            let (owner, waiters, users, last_user) = (None, Vec::new(), 0, None);
            mutexes.push(Mutex { key, owner, waiters, users, last_user });
            (mutexes.len() - 1) as u32
        })
    }

    /// Counts for a mutex, for a site, and for all together.
    #[inline]
    fn count(&mut self, mutex: u32, site: u32, change: impl Fn(&mut LockCounts)) {
        let (locks, sites) = (&mut self.locks, &mut self.sites);
        for counts in [locks.get_or_add(mutex), sites.get_or_add(site)].into_iter().flatten() {
            change(counts);
        }
        change(&mut self.total);
    }

    fn fail(&mut self, call: &Call, mutex: u32) {
        if call.is_taken {
            self.count(mutex, call.site, LockCounts::fail);
        }
    }

    fn request(&mut self, call: &Call, mutex: u32) {
        self.end_wait(call.thread);
        let Some(one) = self.mutexes.get_mut(mutex as usize) else { return };
        one.waiters.push(call.thread);
        let owner = one.owner.filter(|owner| owner.thread != call.thread);
        let holder = owner.map(|owner| (owner.thread, owner.site));
        let (site, since, is_taken) = (call.site, call.time, call.is_taken);
        let at = call.thread as usize;
        if at >= self.wanted.len() {
            self.wanted.resize(at + 1, None);
        }
        if let Some(wanted) = self.wanted.get_mut(at) {
            *wanted = Some(Wanted { mutex, site, since, holder, is_taken });
        }
    }

    fn end_wait(&mut self, thread: u32) -> Option<Wanted> {
        let wanted = self.wanted.get_mut(thread as usize)?.take()?;
        let one = self.mutexes.get_mut(wanted.mutex as usize)?;
        if let Some(index) = one.waiters.iter().position(|waiter| *waiter == thread) {
            one.waiters.remove(index);
        }
        Some(wanted)
    }

    fn acquire(&mut self, call: &Call, mutex: u32) {
        let wanted = self.wanted.get(call.thread as usize).copied().flatten();
        let Some(wanted) = wanted.filter(|wanted| wanted.mutex == mutex) else {
            // Its request was lost, or is before the range of time.
            self.end_wait(call.thread);
            self.own(call, mutex, call.site);
            return;
        };
        // It waits until then, also for whoever had the mutex last.
        self.own(call, mutex, wanted.site);
        self.end_wait(call.thread);
        if !call.is_taken {
            return;
        }
        let waited = since(wanted.since, call.time);
        let is_blocked = wanted.holder.is_some();
        self.count(mutex, wanted.site, |counts| counts.wait(waited, is_blocked));
        self.keep(waited, call.thread, &wanted);
    }

    fn keep(&mut self, duration: u64, thread: u32, wanted: &Wanted) {
        let is_longer = |least: &Reverse<LongWait>| duration > least.0.duration;
        let is_full = self.heap.len() >= self.longest;
        if is_full && !self.heap.peek().is_some_and(is_longer) {
            return;
        }
        if is_full {
            self.heap.pop();
        }
        let address = self.mutexes.get(wanted.mutex as usize).map_or(0, |one| one.key.1);
        let Wanted { since: begin, site, holder, .. } = *wanted;
        let order = Reverse(self.waits);
        self.waits += 1;
        let wait = LongWait { duration, order, begin, thread, site, address, holder };
        self.heap.push(Reverse(wait));
    }

    fn own(&mut self, call: &Call, mutex: u32, site: u32) {
        let Some(one) = self.mutexes.get_mut(mutex as usize) else { return };
        match &mut one.owner {
            Some(owner) if owner.thread == call.thread => {
                owner.depth += 1;
                return;
            }
            Some(_) => self.release(mutex, call.time),
            None => {}
        }
        let Some(one) = self.mutexes.get_mut(mutex as usize) else { return };
        let (thread, since, is_taken) = (call.thread, call.time, call.is_taken);
        one.owner = Some(Owner { thread, site, since, depth: 1, is_taken });
        if is_taken && one.last_user != Some(thread) {
            one.last_user = Some(thread);
            one.users += u32::from(self.users.insert((mutex, thread)));
        }
    }

    fn unlock(&mut self, call: &Call, mutex: u32) {
        let owner = self.mutexes.get_mut(mutex as usize).and_then(|one| one.owner.as_mut());
        let Some(owner) = owner.filter(|owner| owner.thread == call.thread) else { return };
        owner.depth -= 1;
        if owner.depth == 0 {
            self.release(mutex, call.time);
        }
    }

    fn release(&mut self, mutex: u32, time: i64) {
        let Some(one) = self.mutexes.get_mut(mutex as usize) else { return };
        let Some(owner) = one.owner.take() else { return };
        for waiter in &one.waiters {
            let wanted = self.wanted.get(*waiter as usize).and_then(Option::as_ref);
            let Some(wanted) = wanted.filter(|one| one.is_taken) else { continue };
            if *waiter == owner.thread {
                continue;
            }
            // How long it was in the way of somebody who waits still.
            let waited = since(wanted.since.max(owner.since), time);
            let key = (wanted.site, owner.site);
            let pairs = &mut self.pairs;
            let index = *self.pair_indexes.entry(key).or_insert_with(|| {
                pairs.push((key, Blocking::default()));
                pairs.len() - 1
            });
            if let Some((_, pair)) = pairs.get_mut(index) {
                pair.count += 1;
                pair.waited = pair.waited.saturating_add(waited);
                pair.longest = pair.longest.max(waited);
            }
        }
        if owner.is_taken {
            let held = since(owner.since, time);
            self.count(mutex, owner.site, |counts| counts.hold(held));
        }
    }

    /// How many threads wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.wanted.iter().flatten().count()
    }

    /// How many mutexes are locked.
    #[must_use]
    pub fn still_held(&self) -> usize {
        self.mutexes.iter().filter(|one| one.owner.is_some()).count()
    }

    /// The mutexes that were locked, how many threads had each, and how often.
    pub fn locks(&self) -> impl Iterator<Item = (MutexKey, u32, &LockCounts)> {
        self.locks.iter().filter_map(|(mutex, counts)| {
            let one = self.mutexes.get(mutex as usize)?;
            Some((one.key, one.users, counts))
        })
    }

    /// The sites at which mutexes were locked.
    pub fn sites(&self) -> impl Iterator<Item = (u32, &LockCounts)> {
        self.sites.iter()
    }

    /// Which site waited for what was locked at which.
    #[must_use]
    pub fn blockings(&self) -> &[((u32, u32), Blocking)] {
        &self.pairs
    }

    /// The longest waits, the longest first.
    #[must_use]
    pub fn longest(&self) -> Vec<LongWait> {
        let mut found: Vec<LongWait> = self.heap.iter().map(|one| one.0).collect();
        found.sort_unstable_by(|one, other| other.cmp(one));
        found
    }
}

/// Nanoseconds between two times; none, where clocks contradict each other.
fn since(begin: i64, end: i64) -> u64 {
    u64::try_from(end.saturating_sub(begin)).unwrap_or(0)
}
