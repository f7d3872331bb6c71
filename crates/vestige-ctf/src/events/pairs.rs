//! Matching event records that begin and end something, for how long it lasted.
//!
//! What is begun is kept by who does it and by a key, if the pair has one, until its end comes.
//! Records that were lost in between may have been its end: then nobody knows how long it was.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::key::Key;
use super::running::Running;
use super::who::Who;
use crate::intervals::histogram::Histograms;
use crate::intervals::longest::{LongCall, Longest};

/// How many may be begun at once, of all pairs together.
const MOST_OPEN: usize = 1 << 18;
/// How many groups are told apart, of all pairs together.
const MOST_GROUPS: usize = 1 << 16;

/// Within what a beginning and its end belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// A thread; where it is not known its CPU, else its data stream.
    Thread,
    /// A CPU.
    Cpu,
    /// A process.
    Process,
    /// All that is read.
    Everything,
}

/// What times of a pair are kept apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grouping {
    /// Nothing.
    None,
    /// The key.
    Key,
    /// Who made the beginning.
    Who,
}

/// Two kinds of event records that belong together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairSpec {
    /// Names of the classes that begin something.
    pub begins: Vec<String>,
    /// Names of the classes that end it.
    pub ends: Vec<String>,
    /// The field with the key in the beginning, and the one with the same value in the end.
    pub keys: Option<(String, String)>,
    /// The field of the beginning that names its group.
    pub label: Option<String>,
    /// Within what they belong together.
    pub reach: Reach,
    /// Whether there may be several at once, one within the other.
    pub nests: bool,
    /// What times are kept apart by.
    pub grouping: Grouping,
}

/// What a record means for pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It begins something, of the pair at an index.
    Begin(usize),
    /// It ends something.
    End(usize),
    /// Another thread runs on its CPU from now on.
    Switch,
}

/// A record that means something for pairs.
#[derive(Debug, Clone)]
pub struct Seen {
    /// What.
    pub role: Role,
    /// Nanoseconds from the origin of the clock.
    pub time: i64,
    /// Who made it.
    pub who: Who,
    /// Its CPU.
    pub cpu: Option<i64>,
    /// Its data stream (`DataStream::origin`).
    pub stream: u64,
    /// Whether all of the data stream is of its thread.
    pub is_of_thread: bool,
    /// Its key, if the pair has one.
    pub key: Option<Key>,
    /// What names its group, if the pair has it.
    pub label: Option<Key>,
}

/// What tells apart what is begun.
type OpenKey = (usize, Option<Who>, Option<Key>);

/// Something that has begun.
struct Open {
    begin: i64,
    who: Who,
    /// Losses in its surroundings so far.
    losses: u64,
    /// Index of its group.
    group: usize,
}

/// What is known of a pair, or of a group of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairTimes {
    /// Index of the pair.
    pub pair: usize,
    /// Who makes up the group.
    pub who: Option<Who>,
    /// The key that makes up the group.
    pub key: Option<Key>,
    /// The name of the group: the last one it had.
    pub label: Option<Key>,
    /// Begun and ended, with nothing lost in between.
    pub complete: u64,
    /// The time of these, nanoseconds.
    pub total: u64,
    /// The shortest time of these.
    pub shortest: u64,
    /// The longest time of these.
    pub longest: u64,
    /// Begun, and no end was seen.
    pub no_end: u64,
    /// Ended, and no beginning was seen.
    pub no_begin: u64,
    /// Begun and ended, and records were lost in between.
    pub across_loss: u64,
}

/// Matches records.
pub struct Pairs {
    specs: Vec<PairSpec>,
    /// First those of the pairs, then those of groups.
    times: Vec<PairTimes>,
    groups: HashMap<OpenKey, usize>,
    histograms: Histograms,
    longest: Longest,
    /// Who was met at the end of one, and their indexes: what [`LongCall`] has as its node.
    whos: Vec<Who>,
    who_indexes: HashMap<Who, u32>,
    open: HashMap<OpenKey, Vec<Open>>,
    open_count: usize,
    running: Running,
    /// Losses by data stream, and by process space.
    lost_of_stream: HashMap<u64, u64>,
    lost_of_space: HashMap<u32, u64>,
}

impl Pairs {
    /// Matches records of some pairs, and keeps so many of the longest of each.
    #[must_use]
    pub fn new(specs: Vec<PairSpec>, longest: usize) -> Self {
        let times =
            (0..specs.len()).map(|pair| PairTimes { pair, ..PairTimes::default() }).collect();
        Self {
            specs,
            times,
            groups: HashMap::new(),
            histograms: Histograms::default(),
            longest: Longest::new(longest),
            whos: Vec::new(),
            who_indexes: HashMap::new(),
            open: HashMap::new(),
            open_count: 0,
            running: Running::default(),
            lost_of_stream: HashMap::new(),
            lost_of_space: HashMap::new(),
        }
    }

    /// The pairs.
    #[must_use]
    pub fn specs(&self) -> &[PairSpec] {
        &self.specs
    }

    /// What is known: of each pair, then of each group of those that have groups.
    #[must_use]
    pub fn times(&self) -> &[PairTimes] {
        &self.times
    }

    /// Which threads ran, as records of switches say.
    #[must_use]
    pub fn running(&self) -> &Running {
        &self.running
    }

    /// How the times at an index are distributed: buckets, as `Histograms::buckets` has them.
    #[must_use]
    pub fn buckets(&self, index: usize) -> Vec<(usize, u64)> {
        self.histograms.buckets(index as u32).unwrap_or_default()
    }

    /// The longest of the times at an index, the longest first: duration, begin, and who it was.
    #[must_use]
    pub fn longest(&self, index: usize) -> Vec<(u64, i64, Who)> {
        let who = |call: &LongCall| self.whos.get(call.node as usize).copied();
        let calls = self.longest.calls(index as u32);
        calls.iter().filter_map(|one| Some((one.duration, one.begin.0, who(one)?))).collect()
    }

    /// Takes note of a loss in a data stream.
    pub fn lose(&mut self, stream: u64, space: u32) {
        *self.lost_of_stream.entry(stream).or_default() += 1;
        *self.lost_of_space.entry(space).or_default() += 1;
        self.running.lose(stream);
    }

    /// Takes the next record.
    pub fn take(&mut self, seen: Seen) {
        match seen.role {
            Role::Switch => {
                if let (Some(cpu), Some(Key::Number(thread))) = (seen.cpu, seen.key) {
                    let place = (seen.who.space, cpu);
                    self.running.switch(place, seen.stream, thread, seen.time, seen.label);
                }
            }
            Role::Begin(pair) => self.begin(pair, seen),
            Role::End(pair) => self.end(pair, seen),
        }
    }

    fn begin(&mut self, pair: usize, mut seen: Seen) {
        let Some(nests) = self.specs.get(pair).map(|spec| spec.nests) else { return };
        let (who, losses) = (self.who(&seen), self.losses(&seen));
        let label = seen.label.take();
        let group = self.group(pair, who, seen.key.as_ref());
        if let (Some(times), Some(_)) = (self.times.get_mut(group), &label) {
            times.label = label;
        }
        let key = self.key(pair, who, &seen);
        let known = self.open.entry(key).or_default();
        if !nests {
            // The ends of those before were not recorded.
            for open in known.drain(..) {
                self.open_count -= 1;
                if let Some(times) = self.times.get_mut(open.group) {
                    times.no_end += 1;
                }
            }
        }
        if self.open_count < MOST_OPEN {
            self.open_count += 1;
            known.push(Open { begin: seen.time, who, losses, group });
        } else if let Some(times) = self.times.get_mut(group) {
            times.no_end += 1;
        }
    }

    fn end(&mut self, pair: usize, seen: Seen) {
        let (who, losses) = (self.who(&seen), self.losses(&seen));
        let key = self.key(pair, who, &seen);
        let open = self.open.get_mut(&key).and_then(Vec::pop);
        if self.open.get(&key).is_some_and(Vec::is_empty) {
            self.open.remove(&key);
        }
        let Some(open) = open else {
            let group = self.group(pair, who, seen.key.as_ref());
            if let Some(times) = self.times.get_mut(group) {
                times.no_begin += 1;
            }
            return;
        };
        self.open_count -= 1;
        if open.losses == losses {
            self.measure(&open, seen.time);
        } else if let Some(times) = self.times.get_mut(open.group) {
            times.across_loss += 1;
        }
    }

    fn measure(&mut self, open: &Open, end: i64) {
        let Some(times) = self.times.get_mut(open.group) else { return };
        // Clocks of different data streams may contradict each other.
        let duration = u64::try_from(end.saturating_sub(open.begin)).unwrap_or(0);
        times.shortest = if times.complete == 0 { duration } else { times.shortest.min(duration) };
        times.longest = times.longest.max(duration);
        times.complete += 1;
        times.total = times.total.saturating_add(duration);
        self.histograms.add(open.group as u32, duration);
        let whos = &mut self.whos;
        let node = *self.who_indexes.entry(open.who).or_insert_with(|| {
            whos.push(open.who);
            (whos.len() - 1) as u32
        });
        let begin = Reverse(open.begin);
        self.longest.add(open.group as u32, LongCall { duration, begin, node });
    }

    /// Ends the reading: what is open has no end.
    pub fn finish(&mut self) {
        for open in self.open.drain().flat_map(|(_, open)| open) {
            if let Some(times) = self.times.get_mut(open.group) {
                times.no_end += 1;
            }
        }
        self.open_count = 0;
    }

    /// Who made a record: the thread that runs on its CPU, if nothing else is known.
    fn who(&self, seen: &Seen) -> Who {
        let who = seen.who;
        let running = match (who.thread, seen.cpu) {
            (None, Some(cpu)) => self.running.thread((who.space, cpu)),
            _ => None,
        };
        match running {
            Some(thread) => Who { thread: Some(thread), cpu: None, ..who },
            None => who,
        }
    }

    fn losses(&self, seen: &Seen) -> u64 {
        let found = if seen.is_of_thread {
            self.lost_of_stream.get(&seen.stream)
        } else {
            self.lost_of_space.get(&seen.who.space)
        };
        found.copied().unwrap_or_default()
    }

    /// The index of the group of a record; that of its pair, if there are too many.
    fn group(&mut self, pair: usize, who: Who, key: Option<&Key>) -> usize {
        let grouping = self.specs.get(pair).map_or(Grouping::None, |spec| spec.grouping);
        let (who, key) = match grouping {
            Grouping::None => return pair,
            Grouping::Key => (None, key.cloned()),
            Grouping::Who => (Some(who), None),
        };
        let place = (pair, who, key);
        if let Some(group) = self.groups.get(&place) {
            return *group;
        }
        if self.groups.len() >= MOST_GROUPS {
            return pair;
        }
        let key = place.2.clone();
        self.times.push(PairTimes { pair, who, key, ..PairTimes::default() });
        self.groups.insert(place, self.times.len() - 1);
        self.times.len() - 1
    }

    fn key(&self, pair: usize, who: Who, seen: &Seen) -> OpenKey {
        let reach = self.specs.get(pair).map_or(Reach::Thread, |spec| spec.reach);
        let nobody = Who { space: who.space, process: None, thread: None, cpu: None, stream: None };
        let within = match reach {
            Reach::Thread => Some(who),
            Reach::Cpu => {
                let stream = seen.cpu.is_none().then_some(seen.stream);
                Some(Who { cpu: seen.cpu, stream, ..nobody })
            }
            Reach::Process => Some(Who { process: who.process, ..nobody }),
            Reach::Everything => None,
        };
        (pair, within, seen.key.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ME: Who = Who { space: 0, process: Some(1), thread: Some(1), cpu: None, stream: None };

    fn spec(nests: bool) -> PairSpec {
        PairSpec {
            begins: Vec::new(),
            ends: Vec::new(),
            keys: None,
            label: None,
            reach: Reach::Thread,
            nests,
            grouping: Grouping::None,
        }
    }

    fn seen(role: Role, time: i64) -> Seen {
        let (who, cpu) = (ME, Some(0));
        Seen { role, time, who, cpu, stream: 9, is_of_thread: true, key: None, label: None }
    }

    fn run(pairs: &mut Pairs, records: &[(Role, i64)]) {
        for (role, time) in records {
            pairs.take(seen(*role, *time));
        }
    }

    #[test]
    fn pairs_that_nest_end_from_the_innermost_on() {
        let mut pairs = Pairs::new(vec![spec(true)], 2);
        let (begin, end) = (Role::Begin(0), Role::End(0));
        run(&mut pairs, &[(begin, 1), (begin, 2), (end, 5), (end, 10), (end, 11), (begin, 20)]);
        pairs.finish();
        let one = &pairs.times()[0];
        assert_eq!((one.complete, one.no_begin, one.no_end), (2, 1, 1));
        assert_eq!((one.total, one.shortest, one.longest), (12, 3, 9));
        assert_eq!(pairs.longest(0), [(9, 1, ME), (3, 2, ME)]);
        assert_eq!(pairs.buckets(0), [(3, 1), (9, 1)]);
    }

    #[test]
    fn what_does_not_nest_begins_anew() {
        let mut pairs = Pairs::new(vec![spec(false)], 0);
        run(&mut pairs, &[(Role::Begin(0), 1), (Role::Begin(0), 4), (Role::End(0), 5)]);
        pairs.finish();
        let one = &pairs.times()[0];
        assert_eq!((one.complete, one.total, one.no_end, one.no_begin), (1, 1, 1, 0));
    }

    #[test]
    fn losses_make_what_is_open_uncertain() {
        let mut pairs = Pairs::new(vec![spec(true)], 0);
        run(&mut pairs, &[(Role::Begin(0), 1)]);
        pairs.lose(8, 0); // of another thread
        run(&mut pairs, &[(Role::End(0), 2), (Role::Begin(0), 3)]);
        pairs.lose(9, 0);
        run(&mut pairs, &[(Role::End(0), 4)]);
        let one = &pairs.times()[0];
        assert_eq!((one.complete, one.across_loss), (1, 1));
    }

    #[test]
    fn who_is_not_known_is_the_thread_that_runs() {
        let spec = PairSpec { grouping: Grouping::Who, ..spec(false) };
        let mut pairs = Pairs::new(vec![spec], 0);
        let nobody = Who { process: None, thread: None, cpu: Some(0), ..ME };
        let mut take = |role, time, key: Option<i64>| {
            let key = key.map(Key::Number);
            pairs.take(Seen { who: nobody, key, is_of_thread: false, ..seen(role, time) });
        };
        take(Role::Switch, 1, Some(5));
        take(Role::Begin(0), 2, None);
        take(Role::Switch, 3, Some(6));
        take(Role::Begin(0), 4, None);
        take(Role::End(0), 5, None);
        take(Role::Switch, 10, Some(5));
        take(Role::End(0), 12, None);
        let found = |index: usize| {
            let one = &pairs.times()[index];
            (one.who.unwrap().thread, one.complete, one.total)
        };
        assert_eq!((found(1), found(2)), ((Some(5), 1, 10), (Some(6), 1, 1)));
        let mut ran = pairs.running().rows();
        ran.sort_unstable();
        assert_eq!(ran, [((0, 0), 5, 2, 1), ((0, 0), 6, 7, 1)]);
    }
}
