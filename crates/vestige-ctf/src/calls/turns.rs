//! What the scheduler did to threads, and how much of it falls into calls.

use crate::keyed_hash::KeyedMap;

/// What a thread does from a time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nobody knows.
    Unknown,
    /// It runs.
    Running,
    /// It waits for a CPU.
    Runnable,
    /// It waits for anything else.
    Blocked,
}

impl State {
    /// The state of a number; what is none is unknown.
    #[must_use]
    pub fn of(number: u8) -> Self {
        match number {
            1 => Self::Running,
            2 => Self::Runnable,
            3 => Self::Blocked,
            _ => Self::Unknown,
        }
    }
}

/// How long threads were in each state, nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shares {
    pub running: u64,
    pub runnable: u64,
    pub blocked: u64,
}

impl Shares {
    fn add(&mut self, state: State, time: u64) {
        let sum = match state {
            State::Unknown => return,
            State::Running => &mut self.running,
            State::Runnable => &mut self.runnable,
            State::Blocked => &mut self.blocked,
        };
        *sum = sum.saturating_add(time);
    }

    fn join(&mut self, later: Self, earlier: Self) {
        let add = |sum: &mut u64, to: u64, from: u64| {
            *sum = sum.saturating_add(to.saturating_sub(from));
        };
        add(&mut self.running, later.running, earlier.running);
        add(&mut self.runnable, later.runnable, earlier.runnable);
        add(&mut self.blocked, later.blocked, earlier.blocked);
    }
}

/// When the state of a thread changes, and how long each took up to then.
#[derive(Debug, Clone, Copy)]
struct Change {
    time: i64,
    state: State,
    before: Shares,
}

/// The states of threads, and what calls have of them.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    threads: KeyedMap<(u32, i32), Vec<Change>>,
    nodes: Vec<Shares>,
}

impl Turns {
    /// Takes the states of a thread of a process space. A time before the last one is left out.
    pub fn add_thread(
        &mut self,
        thread: (u32, i32),
        states: impl IntoIterator<Item = (i64, State)>,
    ) {
        let changes = self.threads.entry(thread).or_default();
        for (time, state) in states {
            let before = match changes.last() {
                None => Shares::default(),
                Some(last) if last.time > time => continue,
                Some(last) => last.up_to(time),
            };
            changes.push(Change { time, state, before });
        }
    }

    /// How long a thread was in each state between two times.
    #[must_use]
    pub fn between(&self, thread: (u32, i32), begin: i64, end: i64) -> Shares {
        let mut found = Shares::default();
        if let Some(changes) = self.threads.get(&thread) {
            found.join(sums_at(changes, end), sums_at(changes, begin));
        }
        found
    }

    /// Adds the time of a call to a node.
    pub(super) fn add(&mut self, node: u32, thread: (u32, i32), begin: i64, end: i64) {
        let found = self.between(thread, begin, end);
        let place = node as usize;
        if self.nodes.len() <= place {
            self.nodes.resize(place + 1, Shares::default());
        }
        if let Some(node) = self.nodes.get_mut(place) {
            node.join(found, Shares::default());
        }
    }

    /// What the calls of a node have; of calls within each other, the outermost.
    #[must_use]
    pub fn of_node(&self, node: usize) -> Shares {
        self.nodes.get(node).copied().unwrap_or_default()
    }
}

impl Change {
    fn up_to(&self, time: i64) -> Shares {
        let mut sums = self.before;
        sums.add(self.state, u64::try_from(time.saturating_sub(self.time)).unwrap_or(0));
        sums
    }
}

fn sums_at(changes: &[Change], time: i64) -> Shares {
    let after = changes.partition_point(|one| one.time <= time);
    let last = after.checked_sub(1).and_then(|index| changes.get(index));
    last.map_or_else(Shares::default, |last| last.up_to(time))
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: (u32, i32) = (0, 7);

    fn turns() -> Turns {
        let mut turns = Turns::default();
        let states = [(100, 1), (150, 3), (180, 2), (170, 1), (200, 1), (260, 0), (300, 3)];
        turns.add_thread(THREAD, states.map(|(time, state)| (time, State::of(state))));
        turns
    }

    fn shares(running: u64, runnable: u64, blocked: u64) -> Shares {
        Shares { running, runnable, blocked }
    }

    #[test]
    fn parts_of_states_are_counted() {
        let turns = turns();

        assert_eq!(turns.between(THREAD, 100, 300), shares(110, 20, 30));
        assert_eq!(turns.between(THREAD, 0, 110), shares(10, 0, 0));
        assert_eq!(turns.between(THREAD, 160, 190), shares(0, 10, 20));
        assert_eq!(turns.between(THREAD, 290, 1000), shares(0, 0, 700));
        assert_eq!(turns.between(THREAD, 110, 110), Shares::default());
        assert_eq!(turns.between((0, 8), 100, 300), Shares::default());
    }

    #[test]
    fn nodes_have_sums() {
        let mut turns = turns();
        turns.add(3, THREAD, 100, 120);
        turns.add(3, THREAD, 170, 210);

        assert_eq!(turns.of_node(3), shares(30, 20, 10));
        assert_eq!(turns.of_node(2), Shares::default());
        assert_eq!(turns.of_node(9), Shares::default());
    }
}
