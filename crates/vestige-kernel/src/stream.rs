//! The data stream of a CPU: pages in, packets out.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError, RwLock};

use crate::counters::{Counters, Values};
use crate::making::{Made, Maker};
use crate::memory::Memory;
use crate::output::Output;
use crate::packet::{Facts, Packets};
use crate::page::{Lost, Page, Record};
use crate::plan::{text, Announced, Around, Plans, Tells};
use crate::stacks::{Side, Stacks, Waiting};
use crate::stats::Counts;
use crate::texts::Texts;
use crate::threads::Threads;

/// A record that does not come from the kernel's buffers, such as one of the state dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnRecord {
    pub time: u64,
    pub class: u32,
    /// Its context and its fields.
    pub body: Vec<u8>,
}

/// What all CPUs of a channel share.
pub struct Shared {
    plans: RwLock<Arc<Plans>>,
    threads: Arc<Threads>,
}

impl Shared {
    /// What becomes of events, and what is known of threads.
    #[must_use]
    pub fn new(plans: Plans, threads: Arc<Threads>) -> Self {
        Self { plans: RwLock::new(Arc::new(plans)), threads }
    }

    /// What is known of threads.
    #[must_use]
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    /// What becomes of events now.
    #[must_use]
    pub fn plans(&self) -> Arc<Plans> {
        Arc::clone(&self.plans.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lets other things become of events, from the next page on.
    pub fn set_plans(&self, plans: Plans) {
        *self.plans.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(plans);
    }
}

/// What became of a data stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    pub records: u64,
    pub lost: u64,
    pub packets: u64,
    pub bytes: u64,
    /// Pages and records that made no sense.
    pub damaged: u64,
    /// Records of which a performance counter is unknown that should be known.
    pub unknown: u64,
    /// Records of the kernel's buffer that made room for newer ones, where that is kept until it is
    /// asked for.
    pub overwritten: u64,
    /// Why a packet could not be written, if one could not.
    pub failure: Option<String>,
}

/// The data stream of a CPU.
pub struct Stream<O> {
    shared: Arc<Shared>,
    /// What becomes of events, since the last page began.
    plans: Arc<Plans>,
    packets: Packets,
    output: O,
    own: VecDeque<OwnRecord>,
    announced: Announced,
    /// Those of the call that comes next.
    texts: Texts,
    memory: Memory,
    /// Those of the events that come next.
    counters: Counters,
    maker: Maker,
    /// Records that wait for their call stacks, where these are recorded.
    stacks: Option<Stacks<(Announced, Option<Values>)>>,
    /// What was lost by what pages say, and in all.
    overwritten: u64,
    dropped: u64,
    outcome: Outcome,
}

impl<O: Output> Stream<O> {
    /// A data stream that begins at a value of the clock, with records to be put among others.
    pub fn new(
        shared: Arc<Shared>,
        facts: Facts,
        begin: u64,
        own: Vec<OwnRecord>,
        output: O,
    ) -> Self {
        let plans = shared.plans();
        let [kernel, user] = [Side::Kernel, Side::User].map(|side| plans.has_stacks(side));
        let maker = Maker::new(facts.cpu, Arc::clone(&shared.threads));
        Self {
            shared,
            plans,
            packets: Packets::new(facts, begin),
            output,
            own: own.into(),
            announced: None,
            texts: Texts::default(),
            memory: Memory::default(),
            counters: Counters::default(),
            maker,
            stacks: (kernel || user).then(|| Stacks::new(kernel, user)),
            overwritten: 0,
            dropped: 0,
            outcome: Outcome::default(),
        }
    }

    /// What became of it up to now.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        Outcome { lost: self.packets.lost, ..self.outcome.clone() }
    }

    /// Lets packets have no more than some bytes, but for their last record.
    pub fn limit(&mut self, bytes: usize) {
        self.packets.limit(bytes);
    }

    /// Where packets go; it may be told something.
    pub fn output_mut(&mut self) -> &mut O {
        &mut self.output
    }

    /// Where packets go.
    pub fn output(&self) -> &O {
        &self.output
    }

    /// Writes what there is, if anything is, up to the last record.
    pub fn write_some(&mut self) {
        if self.packets.records() > 0 {
            self.write(self.packets.last());
        }
    }

    /// Adds records to be put among others; those whose time has passed come next.
    pub fn put_own(&mut self, records: Vec<OwnRecord>) {
        self.own.extend(records);
    }

    /// Takes the records of a page; how many bytes they have.
    pub fn add_page(&mut self, bytes: &[u8]) -> usize {
        self.maker.begin_page();
        let mut page = Page::new(bytes);
        let length = page.length();
        if let Some(lost) = page.lost() {
            self.settle();
            self.forget();
            // What was lost is between the packet that ends here and the end of the next one.
            self.write(self.packets.last());
            if let Lost::Counted(count) = lost {
                self.overwritten = self.overwritten.saturating_add(count);
                self.lose(count);
            }
        }
        self.plans = self.shared.plans();
        // Not for each record: all CPUs count who has them.
        let (plans, threads) = (Arc::clone(&self.plans), Arc::clone(&self.shared.threads));
        let own = threads.own();
        let others = plans.others();
        for record in page.by_ref() {
            if others.is_some_and(|others| own.has(record.time, record.body, others)) {
                continue;
            }
            self.add(&plans, &threads, record);
        }
        self.outcome.damaged += u64::from(page.is_damaged());
        length
    }

    /// Since when something waits for the record that comes next, if anything does.
    #[must_use]
    pub fn waiting_since(&self) -> Option<u64> {
        let told = self.texts.since().into_iter().chain(self.memory.since());
        told.chain(self.counters.waiting_since()).min()
    }

    /// Forgets what waits for the next record: that may have been lost, and what the one has that
    /// comes instead, too.
    pub fn forget(&mut self) {
        self.texts = Texts::default();
        self.memory = Memory::default();
        self.counters.forget();
    }

    fn add(&mut self, plans: &Plans, threads: &Threads, record: Record<'_>) {
        let Some(plan) = plans.of(record.body) else { return };
        let mut joined = Vec::new();
        match &plan.tells {
            Some(Tells::NewThread(_)) => self.announced = plan.announced(record.body),
            Some(Tells::Stack(stack)) => {
                if let Some(stacks) = &mut self.stacks {
                    stacks.give(stack, record.body);
                    self.put_done(plans, threads);
                }
                return;
            }
            Some(Tells::Text { at, token }) => {
                let text = text(record.body, *at);
                let told = (record.body, record.time);
                let is_ours = self.counters.give(*token, told, text)
                    || self.texts.give(told, text)
                    || self.memory.give(told, text);
                if is_ours {
                    return;
                }
            }
            Some(Tells::GetsTexts(texts)) => {
                joined = self.texts.join(record.body, *texts);
            }
            Some(Tells::GetsMemory(memory)) => {
                joined = self.memory.join(record.body, *memory);
            }
            Some(Tells::Switch { .. }) | None => {}
        }
        let body = if joined.is_empty() { record.body } else { &joined };
        if plan.class.is_none() {
            self.maker.note(plan, body);
            return;
        }
        let counters = self.counters.take(record.body);
        if let Some(stacks) = &mut self.stacks {
            stacks.hold(record.time, body, (self.announced, counters));
            self.put_done(plans, threads);
        } else {
            let (announced, kernel_stack, user_stack) = (self.announced, &[][..], &[][..]);
            let groups = &threads.groups;
            let seen = None;
            let around = Around { announced, groups, kernel_stack, user_stack, counters, seen };
            self.put((plans, threads), record.time, body, &around);
        }
    }

    /// Puts records that have waited long enough.
    fn put_done(&mut self, plans: &Plans, threads: &Threads) {
        while let Some(one) = self.stacks.as_mut().and_then(Stacks::next_done) {
            let Waiting { time, body, around: (announced, counters), kernel, user, .. } = one;
            let around = Around {
                announced,
                counters,
                groups: &threads.groups,
                kernel_stack: kernel.as_deref().unwrap_or_default(),
                user_stack: user.as_deref().unwrap_or_default(),
                seen: None,
            };
            self.put((plans, threads), time, &body, &around);
        }
    }

    /// Lets no record wait for a call stack any more.
    fn settle(&mut self) {
        if let Some(stacks) = &mut self.stacks {
            stacks.settle();
            let (plans, threads) = (Arc::clone(&self.plans), Arc::clone(&self.shared.threads));
            self.put_done(&plans, &threads);
        }
    }

    /// Puts a record into the packet, behind those of our own that are earlier.
    fn put(
        &mut self,
        (plans, threads): (&Plans, &Threads),
        time: u64,
        body: &[u8],
        around: &Around<'_>,
    ) {
        self.add_own(time);
        let Some(plan) = plans.of(body) else { return };
        let Some(class) = plan.class else { return };
        let mut made = Made::Damaged;
        self.packets.add(class, time, |out| {
            made = self.maker.make((plans, threads), plan, (body, time), around, out);
            (made == Made::Whole).then_some(())
        });
        self.outcome.records += u64::from(made == Made::Whole);
        self.outcome.unknown += u64::from(made == Made::Whole && plan.lacks_counter(around));
        self.outcome.damaged += u64::from(made == Made::Damaged);
        if self.packets.is_full() {
            self.write(self.packets.last());
        }
    }

    /// Puts records of our own in their places, up to a time.
    fn add_own(&mut self, until: u64) {
        while self.own.front().is_some_and(|one| one.time <= until) {
            let Some(one) = self.own.pop_front() else { return };
            self.packets.add(one.class, one.time, |out| {
                out.extend_from_slice(&one.body);
                Some(())
            });
            self.outcome.records += 1;
            if self.packets.is_full() {
                // Many that come late are of one moment.
                self.write(self.packets.apart());
            }
        }
    }

    /// Takes what the kernel has counted up to now of events that came into no page.
    pub fn count(&mut self, counts: Counts) {
        let more = counts.dropped.saturating_sub(self.dropped);
        self.dropped += more;
        self.lose(more);
    }

    fn lose(&mut self, more: u64) {
        if more > 0 && self.packets.is_first() {
            // Readers compare packets: what the first one says is of no use to them.
            self.write_first();
        }
        self.packets.lost = self.packets.lost.saturating_add(more);
    }

    /// Whether a packet is being filled with so many records at least.
    #[must_use]
    pub fn has(&self, records: u64) -> bool {
        self.packets.records() >= records
    }

    /// Writes what there is, up to a value of the clock, or to the first record that still waits.
    pub fn write(&mut self, end: u64) {
        let waiting = self.stacks.as_ref().and_then(Stacks::first);
        let end = waiting.map_or(end, |time| end.min(time));
        let facts = self.packets.complete(end);
        let length = self.packets.bytes().len() as u64;
        let records = self.packets.records();
        let done = self.output.put(self.packets.bytes(), &facts);
        if let Err(error) = &done {
            self.outcome.failure.get_or_insert_with(|| error.to_string());
            self.outcome.records = self.outcome.records.saturating_sub(records);
        } else {
            self.outcome.packets += 1;
            self.outcome.bytes += length;
        }
        self.packets.begin_next(done.is_ok());
    }

    /// Completes it up to a value of the clock, when all pages were taken.
    ///
    /// Where nothing is recorded any more, the kernel's counts tell what was lost that pages did
    /// not tell.
    pub fn flush(&mut self, end: u64, counts: Counts, is_stopped: bool) {
        self.settle();
        self.add_own(u64::MAX);
        self.count(counts);
        if is_stopped {
            self.forget();
            let untold = counts.overwritten.saturating_sub(self.overwritten);
            self.overwritten += untold;
            self.lose(untold);
        }
        self.write(end);
    }

    /// Writes what there is, if anything is, up to a value of the clock, when all pages were taken.
    pub fn flush_some(&mut self, end: u64, counts: Counts) {
        self.settle();
        self.add_own(u64::MAX);
        let before = self.packets.lost;
        self.count(counts);
        if self.packets.records() > 0 || self.packets.lost > before {
            self.write(end);
        } else {
            self.packets.skip_to(end);
        }
    }

    /// Lets what comes from now on go elsewhere; what was there.
    pub fn replace(&mut self, output: O) -> O {
        self.packets.begin_elsewhere();
        let before = std::mem::replace(&mut self.output, output);
        if self.packets.lost > 0 {
            // What was lost before is not to be told as lost here.
            self.write_first();
        }
        before
    }

    /// Writes a packet with which others are compared: without records, it is of one moment.
    fn write_first(&mut self) {
        self.write(self.packets.last());
        self.packets.skip_to(self.packets.apart());
    }

    /// Throws away what was not written yet.
    pub fn drop_records(&mut self) {
        self.settle();
        self.own.clear();
        self.outcome.records -= self.packets.records().min(self.outcome.records);
        self.packets.drop_records();
    }

    /// Ends it at a value of the clock, when all pages were taken.
    pub fn end(mut self, end: u64, counts: Counts) -> (Outcome, O) {
        self.flush(end, counts, true);
        (self.outcome(), self.output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Header;
    use crate::plan::{EventPlan, NewThread, Operation};

    fn stream() -> Stream<Vec<u8>> {
        let operations = vec![
            Operation::Copy { at: 4, bytes: 4 },
            Operation::Text { at: 8, is_relative: false },
            Operation::Sequence { at: 8, is_relative: true, element: 8 },
            Operation::Groups { parent: 4, child: 8 },
        ];
        let tells = Some(Tells::NewThread(NewThread { thread: 4, flags: 8 }));
        let plan = EventPlan { class: Some(0), operations, tells };
        let plans = Plans::new((0..8).map(|id| (id, plan.clone())));
        let shared = Shared::new(plans, Arc::default());
        let facts = Facts { uuid: [1; 16], stream: 0, cpu: 0, header: Header::Compact };
        Stream::new(Arc::new(shared), facts, 100, Vec::new(), Vec::new())
    }

    /// Pseudo-random numbers (xorshift, Marsaglia 2003).
    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    #[test]
    fn any_pages_become_whole_packets() {
        let mut state = 88_172_645_463_325_252;
        for round in 0..300 {
            let mut stream = stream();
            for _ in 0..4 {
                // Small words are kinds, lengths and events; others are anything.
                let mask = if round % 2 == 0 { 0x0003_0007_0000_00ff } else { u64::MAX };
                let words = (0..512).flat_map(|_| (random(&mut state) & mask).to_le_bytes());
                let mut page: Vec<u8> = words.collect();
                if let Some(length) = page.get_mut(8..16) {
                    let commit = random(&mut state) & (3 << 30 | 0x1fff);
                    length.copy_from_slice(&commit.to_le_bytes());
                }
                stream.add_page(&page);
            }
            let (outcome, output) = stream.end(u64::MAX, Counts::default());
            assert_eq!(output.len() as u64, outcome.bytes);
            assert_eq!(output.len() % 4096, 0);
            assert!(outcome.packets > 0);
        }
    }

    /// A page with a record: its event, its thread, and what follows.
    fn page(commit: u64, event: u32, more: &[u8]) -> Vec<u8> {
        let mut body = [event.to_le_bytes(), 7_u32.to_le_bytes()].concat();
        body.extend_from_slice(more);
        body.resize(body.len().next_multiple_of(4), 0);
        // Records of up to 28 words have their number in place of a kind.
        let words = u32::try_from(body.len() / 4).unwrap_or(1);
        let data = [&words.to_le_bytes()[..], &body].concat();
        [&100_u64.to_le_bytes()[..], &(data.len() as u64 | commit).to_le_bytes(), &data].concat()
    }

    #[test]
    fn a_text_before_a_loss_is_not_the_next_calls() {
        for (commit, is_its) in [(0, true), (1 << 31, false)] {
            let tells = Some(Tells::Text { at: 8, token: 0 });
            let text = EventPlan { class: None, operations: Vec::new(), tells };
            let texts = crate::texts::TextsPlan { at: 8, count: 1 };
            let operations = vec![Operation::Text { at: 8, is_relative: false }];
            let tells = Some(Tells::GetsTexts(texts));
            let call = EventPlan { class: Some(0), operations, tells };
            let plans = Plans::new([(1, text), (2, call)]);
            let shared = Shared::new(plans, Arc::default());
            let facts = Facts { uuid: [1; 16], stream: 0, cpu: 0, header: Header::Compact };
            let mut stream = Stream::new(Arc::new(shared), facts, 100, Vec::new(), Vec::new());

            // A word with place and length leads to the text.
            stream.add_page(&page(0, 1, b"\x0c\0\x12\0vestige: 0 a name\0"));
            stream.add_page(&page(commit, 2, b""));
            let (outcome, output) = stream.end(200, Counts::default());

            assert_eq!(outcome.records, 1);
            assert_eq!(output.windows(6).any(|part| part == b"a name"), is_its);
        }
    }

    #[test]
    fn what_was_lost_before_the_first_packet_is_told_by_the_second() {
        let mut stream = stream();
        stream.count(Counts { dropped: 7, overwritten: 0, now: 0 });
        let (outcome, output) = stream.end(200, Counts { dropped: 7, overwritten: 2, now: 0 });

        let lost = |packet: usize| output.get(packet * 4096 + 72..packet * 4096 + 80);
        assert_eq!((outcome.packets, outcome.lost), (2, 9));
        assert_eq!(lost(0), Some(&0_u64.to_le_bytes()[..]));
        assert_eq!(lost(1), Some(&9_u64.to_le_bytes()[..]));
    }

    #[test]
    fn packets_of_records_that_are_put_late_have_an_order() {
        let mut stream = stream();
        stream.flush(150, Counts::default(), false);
        stream.limit(1);
        stream.put_own(vec![OwnRecord { time: 110, class: 0, body: vec![1; 5000] }; 3]);
        let (_, output) = stream.end(300, Counts::default());

        let word = |at: usize| output.get(at..at + 8).map(<[u8]>::to_vec);
        let begins: Vec<_> = (0..3).map(|one| word(4096 + one * 8192 + 32)).collect();
        let expected = [150_u64, 158, 166].map(|one| Some(one.to_le_bytes().to_vec()));
        assert_eq!(begins, expected);
    }

    #[test]
    fn other_files_begin_with_what_was_lost_before() {
        let mut stream = stream();
        stream.flush(150, Counts { dropped: 3, overwritten: 0, now: 0 }, false);
        stream.replace(Vec::new());
        let (outcome, output) = stream.end(200, Counts { dropped: 7, overwritten: 0, now: 0 });

        let word = |at: usize| output.get(at..at + 8).map(<[u8]>::to_vec);
        let told = |packet: usize| word(packet * 4096 + 72);
        assert_eq!((outcome.lost, output.len()), (7, 2 * 4096));
        assert_eq!(told(0), Some(3_u64.to_le_bytes().to_vec()));
        assert_eq!(told(1), Some(7_u64.to_le_bytes().to_vec()));
        assert_eq!(word(32), word(40));
        assert!(word(40) < word(4096 + 32));
    }

    #[test]
    fn what_is_dropped_is_in_no_packet_and_the_next_files_begin_anew() {
        let mut stream = stream();
        let own = |time| OwnRecord { time, class: 0, body: vec![1] };
        stream.put_own(vec![own(110), own(120)]);
        stream.flush(150, Counts::default(), false);
        let first = stream.replace(Vec::new());
        stream.put_own(vec![own(160)]);
        stream.drop_records();
        stream.count(Counts { dropped: 3, overwritten: 0, now: 0 });
        stream.flush(200, Counts { dropped: 3, overwritten: 2, now: 0 }, true);
        stream.flush(210, Counts { dropped: 3, overwritten: 2, now: 0 }, true);
        let (outcome, second) = stream.end(220, Counts { dropped: 3, overwritten: 2, now: 0 });

        assert_eq!((outcome.records, outcome.lost, first.len()), (2, 5, 4096));
        let told = |packet: usize| second.get(packet * 4096 + 72..packet * 4096 + 80);
        assert_eq!(told(0), Some(&0_u64.to_le_bytes()[..]));
        assert_eq!(told(1), Some(&5_u64.to_le_bytes()[..]));
    }
}
