//! From a record of the kernel to one of the trace: contexts, fields, and whether it is wanted.

use std::sync::Arc;

use vestige_ctf::filter::BodyFilter;

use crate::addresses::Noted;
use crate::contexts::Seen;
use crate::facts::Facts;
use crate::plan::{apply, Around, EventPlan, Filter, Plans};
use crate::record_header;
use crate::state_events::Processes;
use crate::threads::Threads;
use crate::tracking::Tracked;

/// What becomes of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    /// It is there.
    Whole,
    /// Nobody wants it.
    Unwanted,
    /// It made no sense.
    Damaged,
}

/// What a CPU remembers.
pub struct Maker {
    cpu: u32,
    threads: Arc<Threads>,
    /// Who is wanted, since the last page began.
    tracked: Arc<Tracked>,
    scratch: Vec<u8>,
    /// The thread that runs, and its priority.
    running: Option<(i32, i32)>,
    known: Known,
    noted: Noted,
}

/// What was asked for last.
struct Known {
    thread: i32,
    from: u64,
    until: u64,
    generation: u64,
    facts: Arc<Facts>,
    /// That of nobody, and that of the CPU when it has nothing to do.
    nobody: Arc<Facts>,
    idle: Arc<Facts>,
}

impl Known {
    fn of(&mut self, processes: Option<&Processes>, thread: i32, time: u64) -> &Facts {
        let Some(processes) = processes else { return &self.nobody };
        if thread == 0 {
            return &self.idle;
        }
        let generation = processes.generation();
        let is_known = self.thread == thread
            && self.generation == generation
            && (self.from..=self.until).contains(&time);
        if !is_known {
            let (facts, until) = processes.facts(thread, time);
            *self = Self {
                thread,
                from: time,
                until,
                generation,
                facts: Arc::new(facts),
                nobody: Arc::clone(&self.nobody),
                idle: Arc::clone(&self.idle),
            };
        }
        &self.facts
    }
}

impl Maker {
    #[must_use]
    pub fn new(cpu: u32, threads: Arc<Threads>) -> Self {
        let nobody = Arc::new(Facts::default());
        let known = Known {
            thread: 0,
            from: 1,
            until: 0,
            generation: 0,
            facts: Arc::clone(&nobody),
            idle: Arc::new(Facts::idle(cpu)),
            nobody,
        };
        let tracked = threads.tracked();
        Self {
            cpu,
            threads,
            tracked,
            scratch: Vec::new(),
            running: None,
            known,
            noted: Noted::default(),
        }
    }

    /// Takes what is known of threads by now; a page has been read.
    pub fn begin_page(&mut self) {
        self.threads.refresh();
        self.tracked = self.threads.tracked();
    }

    /// Appends a record's contexts and fields, or some bytes of them where it is not whole.
    pub fn make(
        &mut self,
        (plans, threads): (&Plans, &Threads),
        plan: &EventPlan,
        (record, time): (&[u8], u64),
        around: &Around<'_>,
        out: &mut Vec<u8>,
    ) -> Made {
        let made = self.try_make((plans, threads), plan, (record, time), around, out);
        // It runs from here on.
        if let Some(next) = plan.next(record) {
            self.running = Some(next);
        }
        made.unwrap_or(Made::Damaged)
    }

    /// Notes who runs from a record on that is not in the trace.
    pub fn note(&mut self, plan: &EventPlan, record: &[u8]) {
        if let Some(next) = plan.next(record) {
            self.running = Some(next);
        }
    }

    fn try_make(
        &mut self,
        (plans, threads): (&Plans, &Threads),
        plan: &EventPlan,
        (record, time): (&[u8], u64),
        around: &Around<'_>,
        out: &mut Vec<u8>,
    ) -> Option<Made> {
        let current = record_header::thread(record)?;
        let facts = self.known.of(threads.processes(), current, time);
        if !self.tracked.has(facts) {
            return Some(Made::Unwanted);
        }
        let priority = self.running.filter(|(one, _)| *one == current).map(|(_, one)| one);
        let seen = Seen { record, cpu: self.cpu, host: threads.host(), priority, facts };
        let around = Around { seen: Some(seen), ..*around };
        let filter = plans.filter(record);
        if let Some(Filter { expression, operations: Some(operations) }) = filter {
            self.scratch.clear();
            apply(operations, record, &around, &mut self.scratch)?;
            if !is_true(expression.as_ref(), &self.scratch) {
                return Some(Made::Unwanted);
            }
        }
        let begin = out.len();
        plan.apply(record, &around, out)?;
        if let Some(Filter { expression, operations: None }) = filter {
            if !is_true(expression.as_ref(), out.get(begin..)?) {
                return Some(Made::Unwanted);
            }
        }
        if let Some(places) = plans.addresses(record) {
            self.noted.note(&threads.addresses, places, record, around.kernel_stack);
        }
        self.noted.note_pages(&threads.addresses, current, around.user_stack);
        Some(Made::Whole)
    }
}

fn is_true(expression: Option<&BodyFilter>, body: &[u8]) -> bool {
    expression.is_some_and(|one| one.is_true(body))
}
