//! The functions that threads are in: which one an exit leaves whose record does not tell.

use std::collections::HashMap;

use super::found::{Found, Kind, Thread};
use crate::muxer::{Merge, Notice};
use crate::stream::{Lost, Record};

/// How many functions of a thread are remembered; deeper ones are only counted.
const MOST_FRAMES: usize = 1 << 18;

/// The functions that a thread has entered and not left.
#[derive(Debug, Default)]
struct Stack {
    thread: Thread,
    functions: Vec<u64>,
    /// Functions on top of these that are not remembered.
    deeper: u64,
    /// Somewhere up to this time records were lost, cycles.
    lost_until: Option<u64>,
}

impl Stack {
    fn forget(&mut self) {
        self.functions.clear();
        self.deeper = 0;
    }

    fn enter(&mut self, function: u64) {
        if self.functions.len() < MOST_FRAMES {
            self.functions.push(function);
        } else {
            self.deeper += 1;
        }
    }

    fn leave(&mut self) -> Option<u64> {
        if self.deeper > 0 {
            self.deeper -= 1;
            return None;
        }
        self.functions.pop()
    }

    /// Takes note of a loss. Where in its time it was nobody knows, so until its end no
    /// exit can be told from the entries before it.
    fn lose(&mut self, lost: &Lost) {
        self.forget();
        self.lost_until = self.lost_until.max(lost.end);
    }

    /// Whether a record lies where others may have been lost before it.
    fn is_in_doubt(&mut self, record: &Record) -> bool {
        match self.lost_until {
            None => false,
            Some(until) if record.cycles <= until => true,
            Some(_) => {
                self.lost_until = None;
                self.forget();
                false
            }
        }
    }
}

/// The stacks of all data streams whose packets are of one thread each.
#[derive(Debug, Default)]
pub struct CallStacks {
    /// By the number of the data stream.
    stacks: HashMap<u64, Stack>,
}

impl CallStacks {
    /// Goes through a merge: gives the exits in it the function that they leave. `threads`
    /// has the thread of each run whose exits need that, `found` an entry for each record.
    pub fn settle(&mut self, merge: &Merge, threads: &[Option<Thread>], found: &mut [Found]) {
        let mut notices = merge.notices.iter().peekable();
        let mut rest = found;
        for (index, run) in merge.runs.iter().enumerate() {
            while let Some((rank, _, notice)) = notices.next_if(|(_, before, _)| *before <= index) {
                self.take_notice(merge, *rank, notice);
            }
            let Some((batch, records)) = merge.run(run) else { continue };
            let Some((part, behind)) = rest.split_at_mut_checked(records.len()) else { return };
            rest = behind;
            let Some(thread) = threads.get(index).copied().flatten() else { continue };
            let stack = self.stacks.entry(batch.stream.origin());
            let stack = stack.or_default();
            if stack.thread != thread {
                stack.forget();
                stack.thread = thread;
            }
            for (one, record) in part.iter_mut().zip(records) {
                settle_one(stack, one, record);
            }
        }
        for (rank, _, notice) in notices {
            self.take_notice(merge, *rank, notice);
        }
    }

    fn take_notice(&mut self, merge: &Merge, rank: usize, notice: &Notice) {
        let Some(stream) = merge.streams.get(rank) else { return };
        let stack = self.stacks.entry(stream.origin()).or_default();
        match notice {
            Notice::Lost(lost) => stack.lose(lost),
            Notice::Damage(..) => stack.forget(),
            Notice::Boundary(_) | Notice::Inactivity(_) => {}
        }
    }
}

fn settle_one(stack: &mut Stack, one: &mut Found, record: &Record) {
    let is_in_doubt = stack.is_in_doubt(record);
    match one.kind {
        Kind::Enter => {
            stack.enter(one.ip);
            one.kind = Kind::Address;
        }
        Kind::Leave => {
            one.kind = Kind::Nothing;
            if let Some(function) = stack.leave().filter(|_| !is_in_doubt) {
                one.ip = function;
                one.kind = Kind::Address;
            }
        }
        Kind::Nothing | Kind::Address | Kind::State | Kind::Change => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::LostKind;

    fn record(cycles: u64) -> Record {
        Record { cycles, start: 0, body: 0, class: 0, passes: true }
    }

    fn found(kind: Kind, ip: u64) -> Found {
        Found { ip, vpid: 1, space: 0, kind }
    }

    fn left(stack: &mut Stack, cycles: u64) -> Option<u64> {
        let mut one = found(Kind::Leave, 0);
        settle_one(stack, &mut one, &record(cycles));
        (one.kind == Kind::Address).then_some(one.ip)
    }

    fn enter(stack: &mut Stack, ip: u64, cycles: u64) {
        settle_one(stack, &mut found(Kind::Enter, ip), &record(cycles));
    }

    #[test]
    fn an_exit_leaves_the_last_function_that_was_entered() {
        let mut stack = Stack::default();
        enter(&mut stack, 10, 1);
        enter(&mut stack, 20, 2);
        let exits: Vec<_> = (3..6).map(|cycles| left(&mut stack, cycles)).collect();
        assert_eq!(exits, [Some(20), Some(10), None]);
    }

    #[test]
    fn around_a_loss_no_exit_is_known() {
        let mut stack = Stack::default();
        enter(&mut stack, 10, 1);
        let (beginning, end) = (Some(1), Some(5));
        stack.lose(&Lost { kind: LostKind::Events, count: Some(1), beginning, end });
        enter(&mut stack, 20, 4);
        assert_eq!(left(&mut stack, 5), None);
        enter(&mut stack, 30, 6);
        assert_eq!(left(&mut stack, 7), Some(30));
        assert_eq!(left(&mut stack, 8), None);
    }

    #[test]
    fn what_is_too_deep_is_counted() {
        let mut stack = Stack::default();
        for depth in 0..MOST_FRAMES as u64 + 2 {
            enter(&mut stack, depth, 1);
        }
        let exits: Vec<_> = (0..3).map(|_| left(&mut stack, 2)).collect();
        assert_eq!(exits, [None, None, Some(MOST_FRAMES as u64 - 1)]);
    }
}
