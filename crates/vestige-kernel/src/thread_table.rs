//! What is known of threads at each time: from a state that was read once, and from events.
//!
//! The CPUs are read one after the other, so events come in no order of time. All that is known of
//! a thread is kept with its time, and worked out when a record asks. A record may ask for what was
//! announced before it: whoever reads it first takes all announcements there are.

use std::collections::HashMap;

use crate::facts::{Change, Changing, Facts, UNKNOWN};
use crate::spaces::SpacesRead;

/// Nanoseconds or cycles: what ended so long ago, no record asks for.
const FORGOTTEN: u64 = 60_000_000_000;
/// What is known to have happened to a thread; with more, nothing is known of the first half.
const MOST: usize = 4096;
/// The same of all threads together; with more, nothing is known of the time before the last ones.
const MOST_OF_ALL: usize = 1 << 20;

/// All threads.
#[derive(Default)]
pub struct ThreadTable {
    threads: HashMap<i32, Vec<(u64, Change)>>,
    /// When processes ended, the last ones.
    ended: HashMap<i32, u64>,
    newest: u64,
    pruned: u64,
    /// How many changes are known.
    count: usize,
    /// Of how many at least all but the last state is forgotten; 0: [`MOST_OF_ALL`].
    bound: usize,
}

impl ThreadTable {
    /// Adds what happened to a thread at a time; in any order.
    pub fn add(&mut self, thread: i32, time: u64, change: Change) {
        self.newest = self.newest.max(time);
        let all = self.threads.entry(thread).or_default();
        let place = all.partition_point(|(other, _)| *other <= time);
        all.insert(place, (time, change));
        self.count += 1;
        if all.len() > MOST {
            self.shorten(thread);
        }
        if self.count > self.bound.max(MOST_OF_ALL) {
            self.condense();
        }
    }

    /// Lets nothing be known but how all threads are now.
    fn condense(&mut self) {
        let is_end = |all: &[(u64, Change)]| matches!(all.last(), Some((_, Change::Ended { .. })));
        let known: Vec<_> = self
            .threads
            .iter()
            .filter(|(_, all)| !is_end(all))
            .filter_map(|(thread, all)| Some((*thread, all.last()?.0)))
            .map(|(thread, time)| (thread, (time, self.facts(thread, time))))
            .collect();
        let only = |(thread, (time, facts))| (thread, vec![(time, Change::Known(Box::new(facts)))]);
        self.threads = known.into_iter().map(only).collect();
        self.count = self.threads.len();
        self.bound = 2 * self.count;
    }

    /// Lets nothing be known of the first half of what happened to a thread.
    fn shorten(&mut self, thread: i32) {
        let half = MOST / 2;
        let all = self.threads.get(&thread);
        let Some(time) = all.and_then(|all| all.get(half)).map(|(time, _)| *time) else { return };
        let known = Change::Known(Box::new(self.facts(thread, time)));
        if let Some(all) = self.threads.get_mut(&thread) {
            all.splice(..=half, [(time, known)]);
            self.count -= half;
        }
    }

    /// Forgets everything: something was lost, and nobody knows what.
    pub fn clear(&mut self) {
        self.threads.clear();
        self.ended.clear();
        self.count = 0;
    }

    /// Works out when processes ended, and forgets those of long ago.
    pub fn settle(&mut self, added: &[(i32, u64)]) {
        for &(thread, time) in added {
            let process = self.facts(thread, time).process;
            if process != UNKNOWN {
                self.ended.insert(process, time);
            }
        }
        if self.newest.saturating_sub(self.pruned) > FORGOTTEN {
            self.pruned = self.newest;
            self.forget(self.newest.saturating_sub(FORGOTTEN));
        }
    }

    /// Forgets who ended before a time, when what is known of others by that is noted with them.
    fn forget(&mut self, old: u64) {
        let is_born =
            |(time, one): &&(u64, Change)| *time < old && matches!(one, Change::Born { .. });
        let born: Vec<(i32, u64, Facts)> = self
            .threads
            .iter()
            .flat_map(|(thread, all)| {
                all.iter().filter(is_born).map(move |(time, _)| (*thread, *time))
            })
            .map(|(thread, time)| (thread, time, self.facts(thread, time)))
            .collect();
        for (thread, time, facts) in born {
            let all = self.threads.get_mut(&thread).map(|all| all.iter_mut());
            let is_it = |one: &&mut (u64, Change)| one.0 == time && is_born(&&**one);
            if let Some((_, one)) = all.and_then(|mut all| all.find(is_it)) {
                *one = Change::Known(Box::new(facts));
            }
        }
        let orphaned: Vec<(i32, u64)> = self
            .threads
            .keys()
            .filter_map(|thread| Some((*thread, self.end_of_parent(*thread, old)?)))
            .collect();
        for (thread, end) in orphaned {
            self.add(thread, end, Change::Orphaned);
        }
        self.threads.retain(|_, all| {
            let is_end =
                |(time, one): &(u64, Change)| *time < old && matches!(one, Change::Ended { .. });
            // Numbers of threads are used again.
            if let Some(last) = all.iter().rposition(is_end) {
                all.drain(..last);
            }
            !all.last().is_some_and(is_end)
        });
        self.ended.retain(|_, time| *time >= old);
        self.count = self.threads.values().map(Vec::len).sum();
    }

    /// When the process ended that made a thread, if that was before a time.
    fn end_of_parent(&self, thread: i32, old: u64) -> Option<u64> {
        let (_, begin, born) = self.begin(thread, old)?;
        let (Change::Read(facts) | Change::Known(facts)) = begin else { return None };
        let end = *self.ended.get(&facts.parent)?;
        (born <= end && end < old).then_some(end)
    }

    /// What is known of a thread at a time.
    #[must_use]
    pub fn facts(&self, thread: i32, time: u64) -> Facts {
        // Those that made it and were made themselves, the oldest one last.
        let mut line = vec![(thread, time)];
        let mut facts = Facts::default();
        while let Some(&(thread, time)) = line.last() {
            match self.begin(thread, time) {
                Some((_, Change::Born { by, .. }, born)) if line.len() < self.threads.len() + 1 => {
                    line.push((*by, born));
                }
                Some((_, Change::Read(read) | Change::Known(read), _)) => {
                    facts = Facts::clone(read);
                    break;
                }
                _ => break,
            }
        }
        while let Some((thread, time)) = line.pop() {
            facts = self.changed(&facts, thread, time);
        }
        facts
    }

    /// The last thing at a time that tells all of a thread, its place and its own time.
    fn begin(&self, thread: i32, time: u64) -> Option<(usize, &Change, u64)> {
        let all = self.threads.get(&thread)?;
        let until = all.partition_point(|(other, _)| *other <= time);
        let tells =
            |one: &Change| matches!(one, Change::Born { .. } | Change::Read(_) | Change::Known(_));
        let before = all.get(..until)?.iter().enumerate().rev();
        let mut found = before.map(|(place, (at, one))| (place, one, *at));
        // What was read holds for the time before, too, back to what happened last.
        let first = || all.first().map(|(at, one)| (0, one, *at));
        let read_later = first().filter(|(_, one, _)| until == 0 && matches!(one, Change::Read(_)));
        found.find(|(_, one, _)| tells(one)).or(read_later)
    }

    /// What is known of a thread, when it is known of the one that made it.
    fn changed(&self, maker: &Facts, thread: i32, time: u64) -> Facts {
        let mut facts = Facts::default();
        let Some((place, begin, born)) = self.begin(thread, time) else { return facts };
        match begin {
            Change::Read(read) | Change::Known(read) => facts = Facts::clone(read),
            Change::Born { flags, name, .. } => facts = maker.child(thread, *flags, *name),
            _ => {}
        }
        let after = self.threads.get(&thread).and_then(|all| all.get(place + 1..));
        let mut state = Changing::new(facts);
        for (_, change) in after.unwrap_or_default().iter().take_while(|(at, _)| *at <= time) {
            state.take(change);
        }
        let mut facts = state.facts;
        // Children of a process that has ended get another parent.
        if self.ended.get(&facts.parent).is_some_and(|end| (born..=time).contains(end)) {
            facts.lose_parent();
        }
        facts
    }

    /// Takes users and groups that were read after a program began, if they are those with which
    /// it began: nothing was told since then that could have changed them.
    pub fn read_ids(&mut self, thread: i32, time: u64, ids: [u32; 6]) {
        let all = self.threads.get(&thread).map_or(&[][..], Vec::as_slice);
        let after = all.iter().skip_while(|(at, _)| *at < time);
        let mut others = after.map(|(_, one)| one).skip_while(|one| **one != Change::Executed);
        let is_there = others.next().is_some();
        let is_same = |one: &Change| matches!(one, Change::Renamed(_) | Change::Orphaned);
        if is_there && others.all(is_same) {
            self.add(thread, time, Change::IdsRead(ids));
        }
    }

    /// Takes namespaces that were read between two times, if they are those that it got last before
    /// that: nothing was told meanwhile that could have changed them.
    pub fn read_spaces(&mut self, thread: i32, (from, to): (u64, u64), read: SpacesRead) {
        let all = self.threads.get(&thread).map_or(&[][..], Vec::as_slice);
        let until = all.partition_point(|(at, _)| *at <= to);
        let told = all.get(..until).unwrap_or_default().iter().rev();
        let mut told = told.filter(|(_, one)| {
            !matches!(
                one,
                Change::Renamed(_)
                    | Change::Executed
                    | Change::Orphaned
                    | Change::IdsAsked { .. }
                    | Change::IdsChanged { .. }
                    | Change::IdsRead(_)
            )
        });
        let last = told.next().filter(|(at, one)| {
            *at <= from && matches!(one, Change::Born { .. } | Change::SpacesChanged { .. })
        });
        if let Some((time, _)) = last {
            self.add(thread, *time, Change::SpacesRead(read));
        }
    }

    /// Until when what is known of a thread at a time stays so, as far as is known by now.
    #[must_use]
    pub fn until(&self, thread: i32, time: u64) -> u64 {
        let all = self.threads.get(&thread).map_or(&[][..], Vec::as_slice);
        let next = all.partition_point(|(other, _)| *other <= time);
        all.get(next).map_or(u64::MAX, |(other, _)| other - 1)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::facts::{CLONE_THREAD, CLONE_VM, NAME_BYTES, TIME};
    use crate::ids::{Asked, NO_ID};
    use crate::spaces::{self, FIRST_USER_SPACE, PID_SPACE, SPACES, TIME_SPACE};

    fn name(text: &str) -> [u8; NAME_BYTES] {
        let mut name = [0; NAME_BYTES];
        for (to, from) in name.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        name
    }

    fn shell() -> Facts {
        Facts {
            process: 10,
            parent: 1,
            inner: [10, 10, 1],
            name: name("sh"),
            ids: [0; 6],
            spaces: [5, 5, 5, 5, 5, 5, FIRST_USER_SPACE, 5],
            ahead: 0,
            is_outer: true,
        }
    }

    fn table() -> ThreadTable {
        let mut table = ThreadTable::default();
        table.add(10, 100, Change::Read(Box::new(shell())));
        table
    }

    fn born(by: i32, flags: u64) -> Change {
        Change::Born { by, flags, name: name("child") }
    }

    #[test]
    fn what_was_read_holds_before_and_after() {
        let table = table();

        assert_eq!(table.facts(10, 5), shell());
        assert_eq!(table.facts(10, 500), shell());
        assert_eq!(table.facts(11, 500), Facts::default());
    }

    #[test]
    fn children_are_known_by_who_made_them() {
        let mut table = table();
        // In no order.
        table.add(13, 202, born(12, CLONE_THREAD));
        table.add(12, 201, born(10, 0));

        let process = table.facts(12, 300);
        assert_eq!((process.process, process.parent, process.inner), (12, 10, [12, 12, 10]));
        assert_eq!((process.name, process.ids), (name("child"), [0; 6]));
        let thread = table.facts(13, 300);
        assert_eq!((thread.process, thread.parent, thread.inner), (12, 10, [12, 13, 10]));
        assert_eq!(table.facts(12, 200), Facts::default());
    }

    #[test]
    fn changes_count_from_their_times_on() {
        let mut table = table();
        table.add(10, 200, Change::Renamed(name("ls")));
        table.add(10, 210, Change::Executed);
        table.add(10, 220, Change::IdsChanged { is_done: true });

        assert_eq!((table.facts(10, 199), table.until(10, 199)), (shell(), 199));
        assert_eq!(table.facts(10, 200).name, name("ls"));
        assert_eq!(table.facts(10, 210).ids, [0, NO_ID, NO_ID, 0, NO_ID, NO_ID]);
        assert_eq!((table.facts(10, 220).ids, table.until(10, 220)), ([NO_ID; 6], u64::MAX));
    }

    #[test]
    fn users_are_those_that_were_asked_for() {
        let mut table = table();
        let ask = |is_group, id| Change::IdsAsked { is_group, asked: Asked::One(id) };
        table.add(10, 200, ask(true, 4));
        table.add(10, 201, Change::IdsChanged { is_done: true });
        table.add(10, 210, ask(false, 33));
        table.add(10, 211, Change::IdsChanged { is_done: true });
        table.add(10, 220, ask(false, 34));
        table.add(10, 221, Change::IdsChanged { is_done: false });

        assert_eq!(table.facts(10, 210).ids, [0, 0, 0, 4, 4, 4]);
        assert_eq!(table.facts(10, 500).ids, [33, 33, 33, 4, 4, 4]);
        table.add(10, 150, Change::SpacesChanged { is_done: true });
        assert_eq!(table.facts(10, 210).ids, [0, 0, 0, NO_ID, NO_ID, NO_ID]);
    }

    #[test]
    fn what_was_read_of_a_program_holds_from_its_begin_if_nothing_else_was_told() {
        let mut table = table();
        table.add(10, 210, Change::Executed);
        table.read_ids(10, 210, [0, 7, 7, 0, 0, 0]);
        table.read_ids(11, 210, [0, 7, 7, 0, 0, 0]);

        assert_eq!(table.facts(10, 210).ids, [0, 7, 7, 0, 0, 0]);
        table.add(10, 220, Change::Executed);
        table.add(10, 230, Change::IdsAsked { is_group: false, asked: Asked::One(8) });
        table.read_ids(10, 220, [8; 6]);
        assert_eq!(table.facts(10, 220).ids, [0, NO_ID, NO_ID, 0, NO_ID, NO_ID]);
        assert_eq!(table.facts(11, 300), Facts::default());
    }

    #[test]
    fn namespaces_that_are_new_are_unknown() {
        let mut table = table();
        table.add(12, 200, born(10, 0x2000_0000));
        table.add(10, 300, Change::SpacesChanged { is_done: true });
        table.add(14, 400, born(10, 0));

        assert_eq!(table.facts(12, 250).inner, [UNKNOWN; 3]);
        assert_eq!(table.facts(12, 250).spaces[PID_SPACE], spaces::UNKNOWN);
        assert_eq!(table.facts(12, 250).inner_id(0), 0);
        assert_eq!(table.facts(10, 350).inner, [10, 10, 1]);
        assert_eq!((table.facts(14, 450).inner, table.facts(14, 450).process), ([UNKNOWN; 3], 14));
        assert_eq!(table.facts(14, 450).inner_id(0), NO_ID);
    }

    /// It asks, and gets it at the next time.
    fn unshare(table: &mut ThreadTable, time: u64, flags: u64, is_done: bool) {
        table.add(10, time, Change::SpacesAsked { flags, is_new: true });
        table.add(10, time + 1, Change::SpacesChanged { is_done });
    }

    #[test]
    fn namespaces_that_were_asked_for_are_others_and_no_more() {
        let mut table = table();
        unshare(&mut table, 200, spaces::flag(7), false);
        unshare(&mut table, 210, spaces::flag(7) | spaces::flag(PID_SPACE) | TIME, true);
        table.add(12, 300, born(10, 0));
        table.add(13, 310, born(10, CLONE_VM));

        assert_eq!(table.facts(10, 210), shell());
        let facts = table.facts(10, 211);
        assert_eq!(facts.spaces, [5, 5, 5, 5, 5, 5, FIRST_USER_SPACE, 0]);
        assert_eq!((facts.inner, facts.is_outer), ([10, 10, 1], true));
        let child = table.facts(12, 300);
        assert_eq!(child.spaces, [5, 5, 5, 5, 0, 0, FIRST_USER_SPACE, 0]);
        assert_eq!((child.inner, child.is_outer, child.ahead), ([UNKNOWN; 3], false, 0));
        let sharing = table.facts(13, 310);
        assert_eq!((sharing.spaces[TIME_SPACE], sharing.ahead), (5, TIME));
        table.add(13, 320, Change::Executed);
        assert_eq!(table.facts(13, 320).spaces[TIME_SPACE], 0);
    }

    #[test]
    fn namespaces_that_were_read_hold_since_they_are_others() {
        let read = |space| SpacesRead { spaces: [space; SPACES], inner: Some([1, 1]) };
        let mut table = table();
        unshare(&mut table, 200, spaces::flag(7), true);
        table.add(12, 205, born(10, 0));
        table.read_spaces(10, (210, 220), read(7));
        table.read_spaces(11, (210, 220), read(7));

        assert_eq!(table.facts(10, 200), shell());
        assert_eq!(
            (table.facts(10, 201).spaces, table.facts(10, 201).inner[..2].to_vec()),
            ([7; 8], vec![1, 1])
        );
        assert_eq!(table.facts(12, 300).spaces, [7; 8]);
        assert_eq!(table.facts(11, 300), Facts::default());
        // What was read may be of before or after these.
        for time in [309, 310, 319] {
            let mut other = self::table();
            unshare(&mut other, time, spaces::flag(7), true);
            other.read_spaces(10, (310, 320), read(8));
            let expected = if time < 310 { 8 } else { 0 };
            assert_eq!(other.facts(10, 400).spaces[7], expected, "{time}");
        }
        // It ended, and another one has its number.
        table.add(10, 400, Change::Ended { is_last: true });
        table.read_spaces(10, (410, 420), read(9));
        assert_eq!(table.facts(10, 430).spaces, [7; 8]);
    }

    #[test]
    fn a_parent_that_has_ended_is_none() {
        let mut table = table();
        table.add(12, 200, born(10, 0));
        table.add(10, 300, Change::Ended { is_last: true });
        table.settle(&[(10, 300)]);

        assert_eq!(table.facts(12, 299).parent, 10);
        assert_eq!(table.facts(12, 300).parent, UNKNOWN);
        assert_eq!(table.facts(10, 400).process, 10);
    }

    #[test]
    fn threads_that_ended_long_ago_are_forgotten() {
        let mut table = table();
        table.add(10, 300, Change::Ended { is_last: true });
        table.settle(&[(10, 300)]);
        table.add(11, 400 + 3 * FORGOTTEN, Change::Executed);
        table.settle(&[]);

        assert_eq!(table.facts(10, 300), Facts::default());
        assert!(table.ended.is_empty());
    }

    #[test]
    fn who_was_made_by_a_thread_that_is_forgotten_is_known() {
        let mut table = table();
        table.add(12, 200, born(10, 0));
        table.add(13, 250, born(12, CLONE_THREAD));
        table.add(14, 260, born(13, CLONE_THREAD));
        table.add(13, 270, Change::Ended { is_last: false });
        table.add(10, 300, Change::Ended { is_last: true });
        table.settle(&[(10, 300)]);
        let times = [199, 200, 260, 299, 300, 2 * FORGOTTEN];
        let of = |table: &ThreadTable, thread| times.map(|time| table.facts(thread, time));
        let before = [12, 14].map(|thread| of(&table, thread));
        // Twice: what was noted is noted no more.
        for time in [400 + 2 * FORGOTTEN, 400 + 4 * FORGOTTEN] {
            table.add(15, time, Change::Executed);
            table.settle(&[]);
        }

        assert_eq!(table.facts(13, 270), Facts::default());
        assert!(table.ended.is_empty());
        assert_eq!([12, 14].map(|thread| of(&table, thread)), before);
        let last = table.facts(14, 3 * FORGOTTEN);
        assert_eq!((last.process, last.parent, last.ids), (12, UNKNOWN, [0; 6]));
    }

    #[test]
    fn numbers_that_are_used_again_and_names_that_change_take_no_more_memory() {
        let mut table = table();
        let second = FORGOTTEN / 60;
        for time in (1..1000).map(|one| one * second) {
            table.add(12, time, born(10, 0));
            table.add(12, time + 1, Change::Ended { is_last: true });
            table.settle(&[(12, time + 1)]);
            for later in 2..50 {
                table.add(10, time + later, Change::Renamed([u8::try_from(later).unwrap(); 16]));
            }
        }

        assert!(table.threads.values().all(|all| all.len() <= MOST));
        assert!(table.threads.get(&12).unwrap().len() < 300);
        assert_eq!(table.facts(12, 999 * second).parent, 10);
        assert_eq!(table.facts(10, 999 * second + 1), Facts { name: [49; 16], ..shell() });
    }

    #[test]
    fn however_much_happens_in_a_short_time_takes_no_more_memory() {
        let mut table = table();
        for time in 200..200 + 3 * MOST_OF_ALL as u64 {
            // Of many threads, some of which end.
            let thread = 20 + i32::try_from(time % 1000).unwrap();
            let change = if time % 7 == 0 { Change::Ended { is_last: true } } else { born(10, 0) };
            table.add(thread, time, change);
        }
        let now = table.newest;

        assert!(table.count <= MOST_OF_ALL);
        assert_eq!(table.count, table.threads.values().map(Vec::len).sum::<usize>());
        assert_eq!(table.facts(10, now), shell());
        let last = 20 + i32::try_from(now % 1000).unwrap();
        assert_eq!(table.facts(last, now).parent, 10);
    }

    #[test]
    fn a_thread_that_made_itself_is_unknown() {
        let mut table = ThreadTable::default();
        table.add(10, 100, born(11, CLONE_THREAD));
        table.add(11, 100, born(10, CLONE_THREAD));

        assert_eq!(table.facts(10, 200).process, UNKNOWN);
    }
}
