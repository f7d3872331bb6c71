//! Telling a follower of the records of merges, in order.

use super::paths::CallPaths;
use super::rows::{Row, Rows, Wanted, COUNT};
use crate::derived::Derived;
use crate::keyed_hash::KeyedMap;
use crate::muxer::Merge;

/// The site of records without a place.
pub const NO_SITE: u32 = 0;
/// In place of a site: it is to be asked for.
const UNKNOWN: u32 = u32::MAX;

/// A thread: process space, process ID, thread ID.
pub type Maker = (u32, Option<i64>, Option<i64>);

/// A call of a library function.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// Which one, by its index.
    pub kind: usize,
    /// Nanoseconds from the origin.
    pub time: i64,
    /// The number of its thread.
    pub thread: u32,
    /// The number of the process of that.
    pub process: u32,
    /// Whether the ID of the thread is known.
    pub has_thread: bool,
    /// Whether what the thread does counts.
    pub is_taken: bool,
    /// From where, by the number of the site.
    pub site: u32,
    /// The path of open calls of functions, where they are followed.
    pub path: u32,
    /// Integers of its payload; 0 for those that it does not have.
    pub values: [u64; COUNT],
}

/// Who is told.
pub trait Follower: Send {
    /// Takes the next call.
    fn take(&mut self, call: &Call);
}

/// Which records are read, in the order of the kinds of calls.
#[derive(Debug, Clone, Default)]
pub struct Kinds {
    /// Those that a follower is told of.
    pub calls: Vec<Wanted>,
    /// Entries of functions, of which the first integer is the address.
    pub entries: Vec<Wanted>,
    /// Exits of functions, likewise.
    pub exits: Vec<Wanted>,
}

/// What is new in a merge, and the record with which it was seen first.
#[derive(Debug, Default)]
pub struct News {
    /// Numbers of places.
    pub places: Vec<(u32, usize)>,
    /// Threads.
    pub makers: Vec<(Maker, usize)>,
}

/// A thread that was seen.
#[derive(Debug, Clone, Copy)]
struct Known {
    process: u32,
    has_thread: bool,
    is_taken: bool,
}

/// A record of the merge.
#[derive(Debug, Clone, Copy)]
struct Seen {
    row: Row,
    /// The number of its thread.
    thread: u32,
    /// The number of its place.
    place: Option<u32>,
}

/// Follows records.
pub struct ResourceFold<F> {
    rows: Rows,
    /// The index of the first entry, and that of the first exit.
    first: (usize, usize),
    /// Sites by the numbers of places.
    sites: Vec<u32>,
    makers: Vec<Maker>,
    known: Vec<Known>,
    indexes: KeyedMap<Maker, u32>,
    last: Option<(Maker, u32)>,
    processes: KeyedMap<(u32, Option<i64>), u32>,
    process_keys: Vec<(u32, Option<i64>)>,
    seen: Vec<Seen>,
    news: News,
    paths: CallPaths,
    /// Who is told.
    pub follower: F,
    /// How many calls there were.
    pub events: u64,
}

impl<F: Follower> ResourceFold<F> {
    /// Tells a follower of records of some kinds.
    pub fn new(kinds: Kinds, follower: F) -> Self {
        let first_entry = kinds.calls.len();
        let first = (first_entry, first_entry + kinds.entries.len());
        let Kinds { mut calls, entries, exits } = kinds;
        calls.extend(entries);
        calls.extend(exits);
        Self {
            rows: Rows::new(calls),
            first,
            sites: Vec::new(),
            makers: Vec::new(),
            known: Vec::new(),
            indexes: KeyedMap::default(),
            last: None,
            processes: KeyedMap::default(),
            process_keys: Vec::new(),
            seen: Vec::new(),
            news: News::default(),
            paths: CallPaths::default(),
            follower,
            events: 0,
        }
    }

    /// Begins a merge, of which a filter knows the places of records. What is new must be told
    /// of with [`Self::advance`].
    pub fn begin(&mut self, merge: &Merge, places: Option<&Derived>) -> &News {
        self.news = News::default();
        self.seen.clear();
        let mut index = 0;
        for part in self.rows.read(merge) {
            for row in part {
                if let Some(row) = row {
                    self.see(row, index, places.and_then(|places| places.index(index)));
                }
                index += 1;
            }
        }
        &self.news
    }

    fn see(&mut self, row: Row, index: usize, place: Option<u32>) {
        let thread = self.maker((row.space, row.process, row.thread), index);
        // An exit says nothing of its site.
        let place = place.filter(|_| row.kind < self.first.1);
        if let Some(place) = place {
            let at = place as usize;
            if at >= self.sites.len() {
                self.sites.resize(at + 1, UNKNOWN);
            }
            if let Some(site) = self.sites.get_mut(at).filter(|site| **site == UNKNOWN) {
                *site = NO_SITE;
                self.news.places.push((place, index));
            }
        }
        self.seen.push(Seen { row, thread, place });
    }

    #[inline]
    fn maker(&mut self, maker: Maker, index: usize) -> u32 {
        if let Some((_, number)) = self.last.filter(|(last, _)| *last == maker) {
            return number;
        }
        let number = match self.indexes.get(&maker) {
            Some(number) => *number,
            None => self.add_maker(maker, index),
        };
        self.last = Some((maker, number));
        number
    }

    fn add_maker(&mut self, maker: Maker, index: usize) -> u32 {
        let keys = &mut self.process_keys;
        let process = (maker.0, maker.1);
        let process = *self.processes.entry(process).or_insert_with(|| {
            keys.push(process);
            (keys.len() - 1) as u32
        });
        let number = self.makers.len() as u32;
        self.makers.push(maker);
        self.known.push(Known { process, has_thread: maker.2.is_some(), is_taken: true });
        self.indexes.insert(maker, number);
        self.news.makers.push((maker, index));
        number
    }

    /// Goes through the merge; for each place that was new its site, for each thread whether
    /// what it does counts, both in the order of the news.
    pub fn advance(&mut self, sites: &[u32], are_taken: &[bool]) {
        for ((place, _), site) in self.news.places.iter().zip(sites) {
            if let Some(known) = self.sites.get_mut(*place as usize) {
                *known = *site;
            }
        }
        let first = self.known.len().saturating_sub(self.news.makers.len());
        for (known, is_taken) in self.known.iter_mut().skip(first).zip(are_taken) {
            known.is_taken = *is_taken;
        }
        let seen = std::mem::take(&mut self.seen);
        for one in &seen {
            self.tell(one);
        }
        self.seen = seen;
    }

    #[inline]
    fn tell(&mut self, one: &Seen) {
        let Seen { row, thread, place } = *one;
        if row.kind >= self.first.1 {
            self.paths.leave(thread, row.values[0]);
            return;
        }
        let site = place.and_then(|place| self.sites.get(place as usize).copied());
        let site = site.unwrap_or(NO_SITE);
        if row.kind >= self.first.0 {
            self.paths.enter(thread, row.values[0], site);
            return;
        }
        let Some(Known { process, has_thread, is_taken }) =
            self.known.get(thread as usize).copied()
        else {
            return;
        };
        self.events += 1;
        let (kind, time, values) = (row.kind, row.time, row.values);
        let path = self.paths.of(thread);
        let call = Call { kind, time, thread, process, has_thread, is_taken, site, path, values };
        self.follower.take(&call);
    }

    /// A thread by its number.
    pub fn maker_of(&self, thread: u32) -> Maker {
        self.makers.get(thread as usize).copied().unwrap_or((0, None, None))
    }

    /// A process by its number: process space and process ID.
    pub fn process_of(&self, process: u32) -> (u32, Option<i64>) {
        self.process_keys.get(process as usize).copied().unwrap_or((0, None))
    }

    /// The sites of the functions of a path, the outermost one first.
    pub fn path_sites(&self, path: u32) -> Vec<u32> {
        self.paths.sites(path)
    }
}
