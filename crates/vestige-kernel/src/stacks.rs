//! Call stacks: records of their own right behind those of events, joined with these.
//!
//! The kernel writes them after the event and on the same CPU, but whatever interrupts it may write others
//! in between, which are then complete before it goes on. So records wait in a queue until their
//! stacks are there; interrupts nest, and a stack belongs to the last record of the same thread and
//! level that lacks it. The end of an interrupt (Linux 7.2 sets its timers there) says no more than that
//! interrupts are off.

use std::collections::VecDeque;

use crate::record_header::{self, flags, number, Level, INTERRUPTS_OFF};

/// Added to the level of what cannot be interrupted.
const OFF: u8 = 1;
/// Records that may wait; with more, the first one has no stack.
const MOST: usize = 32;
/// What ends a stack that may have gone on, as LTTng writes it.
const MORE: [u8; 8] = [0xff; 8];

/// Which of the two stacks of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Kernel,
    User,
}

/// Where a record of a stack has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StackPlan {
    pub side: Side,
    /// Where the number of addresses is (4 bytes); `None`: they end with the first 0.
    pub count: Option<usize>,
    /// Where the addresses are.
    pub addresses: usize,
}

impl StackPlan {
    /// The addresses of a record, with a mark at the end if some may be missing.
    fn stack(&self, record: &[u8]) -> Vec<u8> {
        let there = record.get(self.addresses..).unwrap_or_default();
        let words = there.chunks_exact(8);
        let Some(count) = self.count else {
            let mut stack: Vec<u8> =
                words.clone().take_while(|one| *one != [0; 8]).flatten().copied().collect();
            if !stack.is_empty() && stack.len() == words.len() * 8 {
                stack.extend_from_slice(&MORE);
            }
            return stack;
        };
        let count = number(record, count).map_or(0, |one| usize::try_from(one).unwrap_or(0));
        words.take(count).flatten().copied().collect()
    }
}

/// A record of an event, with its stacks once they are there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting<T> {
    pub time: u64,
    pub body: Vec<u8>,
    /// What else was known when it came.
    pub around: T,
    pub kernel: Option<Vec<u8>>,
    pub user: Option<Vec<u8>>,
    thread: i32,
    level: u8,
    is_done: bool,
}

/// Which stacks there are, and the records that wait for theirs.
pub struct Stacks<T> {
    has_kernel: bool,
    has_user: bool,
    queue: VecDeque<Waiting<T>>,
}

impl<T> Stacks<T> {
    /// None, and nothing waits.
    #[must_use]
    pub fn new(has_kernel: bool, has_user: bool) -> Self {
        Self { has_kernel, has_user, queue: VecDeque::new() }
    }

    /// Lets a record wait.
    pub fn hold(&mut self, time: u64, body: &[u8], around: T) {
        let level = level_of(body);
        let thread = record_header::thread(body).unwrap_or(0);
        // Of those that it did not interrupt nothing more comes, but of one between its two stacks:
        // a look at the memory of a thread may be an event, too.
        let last = self.queue.len().saturating_sub(1);
        for (place, one) in self.queue.iter_mut().enumerate() {
            let is_between = place == last && one.thread == thread && one.kernel.is_some();
            one.is_done |= one.level >= level && !is_between;
        }
        let (kernel, user) = (None, None);
        let body = body.to_vec();
        let is_done = !self.has_kernel && !self.has_user;
        self.queue.push_back(Waiting { time, body, around, kernel, user, thread, level, is_done });
    }

    /// Takes a record of a stack.
    pub fn give(&mut self, plan: &StackPlan, record: &[u8]) {
        let level = level_of(record);
        let thread = record_header::thread(record).unwrap_or(0);
        let lacking = self.queue.iter_mut().filter(|one| {
            let is_user = plan.side == Side::User;
            // A look at the memory of a thread may be an event without a stack of the program.
            let is_level = one.level == level || is_user && one.level == level | OFF;
            let is_its = is_level && one.thread == thread && !one.is_done;
            is_its && if is_user { &one.user } else { &one.kernel }.is_none()
        });
        if plan.side == Side::Kernel {
            if let Some(one) = lacking.last() {
                one.kernel = Some(plan.stack(record));
                one.is_done = !self.has_user;
            }
        } else {
            // That of an event between the two stacks of another one is the same.
            for one in lacking {
                one.user = Some(plan.stack(record));
                one.is_done = true;
            }
        }
    }

    /// The next record that waits for nothing more.
    pub fn next_done(&mut self) -> Option<Waiting<T>> {
        let is_done = self.queue.front().is_some_and(|one| one.is_done);
        (is_done || self.queue.len() > MOST).then(|| self.queue.pop_front()).flatten()
    }

    /// Lets nothing wait any more.
    pub fn settle(&mut self) {
        self.queue.iter_mut().for_each(|one| one.is_done = true);
    }

    /// The time of the first record that waits.
    #[must_use]
    pub fn first(&self) -> Option<u64> {
        self.queue.front().map(|one| one.time)
    }
}

/// What a record has interrupted: the greater, the more.
fn level_of(record: &[u8]) -> u8 {
    let level = Level::of(record);
    let is_off = flags(record).unwrap_or(0) & INTERRUPTS_OFF != 0;
    // What has interrupted has interrupts off anyway.
    let off = if is_off && level < Level::HardInterrupt { OFF } else { 0 };
    (level as u8) << 1 | off
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const HARD: u8 = 0x08;
    const SOFT: u8 = 0x10;
    const KERNEL: StackPlan = StackPlan { side: Side::Kernel, count: Some(8), addresses: 16 };
    const USER: StackPlan = StackPlan { side: Side::User, count: None, addresses: 16 };

    /// A record of a thread, with flags and addresses.
    fn record(thread: i32, flags: u8, addresses: &[u64]) -> Vec<u8> {
        let mut made = vec![0, 0, flags, 0];
        made.extend_from_slice(&thread.to_le_bytes());
        made.extend_from_slice(&(addresses.len() as u32).to_le_bytes());
        made.extend_from_slice(&[0; 4]);
        made.extend(addresses.iter().flat_map(|one| one.to_le_bytes()));
        made
    }

    fn bytes(addresses: &[u64]) -> Option<Vec<u8>> {
        Some(addresses.iter().flat_map(|one| one.to_le_bytes()).collect())
    }

    /// What came out: times and both stacks.
    type Done = (u64, Option<Vec<u8>>, Option<Vec<u8>>);

    fn done(stacks: &mut Stacks<()>) -> Vec<Done> {
        std::iter::from_fn(|| stacks.next_done())
            .map(|one| (one.time, one.kernel, one.user))
            .collect()
    }

    #[test]
    fn a_record_waits_for_its_stacks() {
        let mut stacks = Stacks::new(true, true);
        stacks.hold(1, &record(7, 0, &[]), ());
        assert_eq!((done(&mut stacks), stacks.first()), (vec![], Some(1)));
        stacks.give(&KERNEL, &record(7, 0, &[5, 6]));
        assert_eq!(done(&mut stacks), vec![]);
        stacks.give(&USER, &record(7, 0, &[8, 9, 0]));

        assert_eq!(done(&mut stacks), vec![(1, bytes(&[5, 6]), bytes(&[8, 9]))]);
        assert_eq!(stacks.first(), None);
    }

    #[test]
    fn interrupts_have_their_own() {
        let mut stacks = Stacks::new(true, false);
        stacks.hold(1, &record(7, 0, &[]), ());
        stacks.hold(2, &record(7, HARD, &[]), ());
        stacks.give(&KERNEL, &record(7, HARD, &[2]));
        stacks.hold(3, &record(7, SOFT, &[]), ());
        stacks.give(&KERNEL, &record(7, SOFT, &[3]));
        assert_eq!(done(&mut stacks), vec![]);
        stacks.give(&KERNEL, &record(7, 0, &[1]));

        let expected = (1..4).map(|one| (one, bytes(&[one]), None)).collect::<Vec<_>>();
        assert_eq!(done(&mut stacks), expected);
    }

    #[test]
    fn a_record_without_a_stack_waits_until_the_next() {
        let mut stacks = Stacks::new(true, false);
        stacks.hold(1, &record(7, 0, &[]), ());
        stacks.hold(2, &record(8, 0, &[]), ());
        stacks.give(&KERNEL, &record(7, 0, &[1]));
        assert_eq!(done(&mut stacks), vec![(1, None, None)]);
        stacks.give(&KERNEL, &record(8, 0, &[2]));
        assert_eq!(done(&mut stacks), vec![(2, bytes(&[2]), None)]);
        stacks.hold(3, &record(8, 0, &[]), ());
        stacks.settle();
        assert_eq!(done(&mut stacks), vec![(3, None, None)]);
    }

    #[test]
    fn an_event_between_two_stacks_takes_neither() {
        let mut stacks = Stacks::new(true, true);
        stacks.hold(1, &record(7, 0, &[]), ());
        stacks.give(&KERNEL, &record(7, 0, &[1]));
        stacks.hold(2, &record(7, 0, &[]), ());
        stacks.give(&KERNEL, &record(7, 0, &[2]));
        stacks.give(&USER, &record(7, 0, &[9]));

        let user = bytes(&[9, u64::MAX]);
        let expected = vec![(1, bytes(&[1]), user.clone()), (2, bytes(&[2]), user)];
        assert_eq!(done(&mut stacks), expected);
    }

    #[test]
    fn what_ends_an_interrupt_has_its_own() {
        let mut stacks = Stacks::new(true, true);
        stacks.hold(1, &record(7, 0, &[]), ());
        stacks.hold(2, &record(7, OFF, &[]), ());
        stacks.give(&KERNEL, &record(7, OFF, &[2]));
        stacks.give(&USER, &record(7, OFF, &[9, 0]));
        stacks.give(&KERNEL, &record(7, 0, &[1]));
        // One that looks at the program's memory.
        stacks.hold(3, &record(7, OFF, &[]), ());
        stacks.give(&KERNEL, &record(7, OFF, &[3]));
        stacks.give(&USER, &record(7, 0, &[8, 0]));

        let user = |one| bytes(&[one]);
        let expected =
            vec![(1, bytes(&[1]), user(8)), (2, bytes(&[2]), user(9)), (3, bytes(&[3]), user(8))];
        assert_eq!(done(&mut stacks), expected);
    }

    #[test]
    fn not_many_records_wait() {
        let mut stacks = Stacks::new(true, false);
        for time in 0..100 {
            // Each is of a higher level than none before, so all could still get one.
            stacks.hold(time, &record(7, 0, &[]), ());
            stacks.queue.iter_mut().for_each(|one| one.is_done = false);
            while stacks.next_done().is_some() {}
        }

        assert_eq!(stacks.queue.len(), MOST);
    }

    #[test]
    fn what_a_record_says_of_its_length_is_not_believed() {
        let mut long = record(7, 0, &[1, 2]);
        long.splice(8..12, [255; 4]);
        let mut longer = record(7, 0, &[1, 2]);
        longer.splice(8..12, [255, 255, 255, 127]);

        assert_eq!(KERNEL.stack(&long), b"");
        assert_eq!(Some(KERNEL.stack(&longer)), bytes(&[1, 2]));
        assert_eq!(KERNEL.stack(&[]), b"");
        assert_eq!(USER.stack(&record(7, 0, &[0, 1])), b"");
        assert_eq!(Some(USER.stack(&record(7, 0, &[4, 5]))), bytes(&[4, 5, u64::MAX]));
    }
}
