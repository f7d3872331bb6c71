//! What becomes of an event record of the kernel: the operations that make LTTng's fields of it.

use std::collections::HashMap;

use vestige_ctf::filter::BodyFilter;

use crate::addresses::Places;
use crate::contexts::{Context, Seen};
use crate::counters::{Values, UNKNOWN};
use crate::groups::ThreadGroups;
use crate::memory::MemoryPlan;
use crate::memory_fields::MemoryField;
use crate::own_threads::Others;
use crate::record_header::{event, number};
use crate::request_bits::request_bits;
use crate::stacks::{Side, StackPlan};
use crate::texts::TextsPlan;

/// Bytes of a line that is logged, as LTTng cuts it.
const LONGEST_LINE: usize = 1024;

/// Makes a part of a record; all offsets are those of the kernel's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing: here is an address, which may be one of the kernel's code.
    Address { at: usize },
    /// Bytes as they are.
    Copy { at: usize, bytes: usize },
    /// A signed number of 4 bytes, of which something is taken away.
    Subtract { at: usize, value: i32 },
    /// A text somewhere in the record; its place is relative to the record, or to what says so.
    Text { at: usize, is_relative: bool },
    /// The same for a sequence; its length is that of its elements.
    Sequence { at: usize, is_relative: bool, element: usize },
    /// The rest of the record up to a zero, without a line feed at its end.
    Line { at: usize },
    /// Letters of a request to a disk, as bits.
    RequestBits { at: usize, bytes: usize },
    /// So many zeros: what the kernel does not tell.
    Zeros { bytes: usize },
    /// The thread groups of two threads.
    Groups { parent: usize, child: usize },
    /// The call stack of the thread in the kernel: how many addresses, and these.
    KernelStack,
    /// The same in its program.
    UserStack,
    /// What it tells of the thread that runs.
    Context(Context),
    /// The value of a counter then, of the event that has a number; `None`: nobody reads it there.
    Counter { place: usize, number: Option<u32> },
    /// What is in memory to which an argument of a call leads.
    Memory { at: usize, field: MemoryField },
}

/// Where an event that announces a new thread tells what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewThread {
    pub thread: usize,
    pub flags: usize,
}

/// What records of an event tell, besides being in the trace or instead of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// That there is a new thread.
    NewThread(NewThread),
    /// The call stack at an event before.
    Stack(StackPlan),
    /// A text or memory of the call that comes next, or values of counters at the next event, with the token of
    /// the channel; where the word is that leads to it.
    Text { at: usize, token: u32 },
    /// Nothing, but it gets such texts.
    GetsTexts(TextsPlan),
    /// Nothing, but it gets such memory.
    GetsMemory(MemoryPlan),
    /// Which thread runs next, and its priority.
    Switch { thread: usize, priority: usize },
}

/// What becomes of the records of an event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventPlan {
    /// Its class in the trace; `None`: it is not in the trace.
    pub class: Option<u32>,
    pub operations: Vec<Operation>,
    pub tells: Option<Tells>,
}

/// The thread that was announced last on a CPU, and its flags of clone(2).
pub type Announced = Option<(i32, u64)>;

/// What is known around a record.
#[derive(Clone, Copy)]
pub struct Around<'a> {
    pub announced: Announced,
    pub groups: &'a ThreadGroups,
    /// The call stacks of the thread then, addresses of 8 bytes each.
    pub kernel_stack: &'a [u8],
    pub user_stack: &'a [u8],
    /// Values of counters, if they are known.
    pub counters: Option<Values>,
    /// Who runs; `None` where nothing is known but the record.
    pub seen: Option<Seen<'a>>,
}

impl Around<'_> {
    fn counter(&self, place: usize, number: Option<u32>) -> Option<u64> {
        self.counters?.of(number?, place)
    }
}

impl EventPlan {
    /// Whether a value of a counter is unknown that is read at its event.
    #[must_use]
    pub fn lacks_counter(&self, around: &Around<'_>) -> bool {
        self.operations.iter().any(|one| match *one {
            Operation::Counter { place, number: Some(number) } => {
                around.counter(place, Some(number)).is_none()
            }
            _ => false,
        })
    }

    /// Appends the fields of a record; `None` if it is too short for them, with some appended.
    pub fn apply(&self, record: &[u8], around: &Around<'_>, out: &mut Vec<u8>) -> Option<()> {
        apply(&self.operations, record, around, out)
    }

    /// Who runs from a record on, and at which priority, if it is of such an event.
    #[must_use]
    pub fn next(&self, record: &[u8]) -> Option<(i32, i32)> {
        let Some(Tells::Switch { thread, priority }) = self.tells else { return None };
        number(record, thread).zip(number(record, priority))
    }

    /// What a record announces, if it is of such an event.
    #[must_use]
    pub fn announced(&self, record: &[u8]) -> Announced {
        let Some(Tells::NewThread(NewThread { thread, flags })) = self.tells else { return None };
        let flags = part(record, flags, 8)?.try_into().ok()?;
        Some((number(record, thread)?, u64::from_le_bytes(flags)))
    }
}

/// Appends what operations make of a record; `None` if it is too short, with some appended.
pub fn apply(
    operations: &[Operation],
    record: &[u8],
    around: &Around<'_>,
    out: &mut Vec<u8>,
) -> Option<()> {
    for operation in operations {
        match *operation {
            Operation::Address { .. } => {}
            Operation::Copy { at, bytes } => out.extend_from_slice(part(record, at, bytes)?),
            Operation::Subtract { at, value } => {
                let number = number(record, at)?.wrapping_sub(value);
                out.extend_from_slice(&number.to_le_bytes());
            }
            Operation::Text { at, is_relative } => {
                push_text(located(record, at, is_relative)?, out);
            }
            Operation::Sequence { at, is_relative, element } => {
                push_sequence(located(record, at, is_relative)?, element, out);
            }
            Operation::Line { at } => push_line(record.get(at..)?, out),
            Operation::RequestBits { at, bytes } => {
                let bits = request_bits(part(record, at, bytes)?);
                out.extend_from_slice(&bits.to_le_bytes());
            }
            Operation::Zeros { bytes } => out.resize(out.len().checked_add(bytes)?, 0),
            Operation::Groups { parent, child } => {
                let (parent, child) = (number(record, parent)?, number(record, child)?);
                let flags = around.announced.filter(|(thread, _)| *thread == child);
                let found = around.groups.fork(parent, child, flags.map(|(_, flags)| flags));
                out.extend_from_slice(&found.0.to_le_bytes());
                out.extend_from_slice(&found.1.to_le_bytes());
            }
            Operation::KernelStack => push_sequence(around.kernel_stack, 8, out),
            Operation::Context(context) => around.seen?.push(context, out)?,
            Operation::UserStack => push_sequence(around.user_stack, 8, out),
            Operation::Counter { place, number } => {
                let value = around.counter(place, number).unwrap_or(UNKNOWN);
                out.extend_from_slice(&value.to_le_bytes());
            }
            Operation::Memory { at, field } => field.push(record, at, out),
        }
    }
    Some(())
}

/// What must be true of an event's records.
#[derive(Debug, Default)]
pub struct Filter {
    /// `None`: it is true of none.
    pub expression: Option<BodyFilter>,
    /// What makes the contexts and fields that it asks for, where these are not the trace's.
    pub operations: Option<Vec<Operation>>,
}

/// The plans of all events, by their IDs in this boot.
#[derive(Default)]
pub struct Plans {
    events: Vec<Option<EventPlan>>,
    /// Where their records have addresses.
    addresses: HashMap<u16, Places>,
    /// What must be true of records of events.
    filters: HashMap<u16, Filter>,
    /// What stays of the recorder's own threads; `None`: the kernel leaves these out.
    others: Option<Others>,
}

impl Plans {
    /// The plans of some events.
    #[must_use]
    pub fn new(events: impl IntoIterator<Item = (u16, EventPlan)>) -> Self {
        let mut plans = Vec::new();
        let mut addresses = HashMap::new();
        for (id, plan) in events {
            addresses.extend(places(&plan).map(|places| (id, places)));
            let place = usize::from(id);
            if plans.len() <= place {
                plans.resize(place + 1, None);
            }
            if let Some(slot) = plans.get_mut(place) {
                *slot = Some(plan);
            }
        }
        Self { events: plans, addresses, ..Self::default() }
    }

    /// The same, where something must be true of records of some events.
    #[must_use]
    pub fn with_filters(self, filters: HashMap<u16, Filter>) -> Self {
        Self { filters, ..self }
    }

    /// The same, where the kernel does not leave out the recorder's own threads.
    #[must_use]
    pub fn with_others(self, others: Option<Others>) -> Self {
        Self { others, ..self }
    }

    /// What stays of the recorder's own threads, if the kernel does not leave these out.
    #[must_use]
    pub fn others(&self) -> Option<&Others> {
        self.others.as_ref()
    }

    /// What must be true of a record.
    #[must_use]
    pub fn filter(&self, record: &[u8]) -> Option<&Filter> {
        if self.filters.is_empty() {
            return None;
        }
        let id = event(record)?;
        self.filters.get(&id)
    }

    /// Where a record has addresses, if it has any.
    #[must_use]
    pub fn addresses(&self, record: &[u8]) -> Option<&Places> {
        if self.addresses.is_empty() {
            return None;
        }
        let id = event(record)?;
        self.addresses.get(&id)
    }

    /// Whether records of call stacks are among them: those of the kernel, of programs.
    #[must_use]
    pub fn has_stacks(&self, side: Side) -> bool {
        let is_it =
            |one: &EventPlan| matches!(one.tells, Some(Tells::Stack(plan)) if plan.side == side);
        self.events.iter().flatten().any(is_it)
    }

    /// The plan of a record's event; `None` if nobody asked for it.
    #[must_use]
    pub fn of(&self, record: &[u8]) -> Option<&EventPlan> {
        let id = event(record)?;
        self.events.get(usize::from(id))?.as_ref()
    }
}

/// Where records of an event have addresses that get names.
fn places(plan: &EventPlan) -> Option<Places> {
    plan.class?;
    let mut fields = Vec::new();
    let mut has_stack = false;
    for operation in &plan.operations {
        match *operation {
            Operation::Address { at } => fields.push(at),
            Operation::KernelStack => has_stack = true,
            _ => {}
        }
    }
    Places::new(fields, has_stack)
}

fn part(record: &[u8], at: usize, bytes: usize) -> Option<&[u8]> {
    record.get(at..at.checked_add(bytes)?)
}

/// The text of a record, if a word leads to one.
#[must_use]
pub fn text(record: &[u8], at: usize) -> &[u8] {
    located(record, at, false).unwrap_or_default()
}

/// What a word of place (16 bits) and length (16 bits) leads to.
fn located(record: &[u8], at: usize, is_relative: bool) -> Option<&[u8]> {
    let word = part(record, at, 4)?.try_into().ok().map(u32::from_le_bytes)?;
    let place = (word & 0xffff) as usize;
    let from = if is_relative { at.checked_add(4)? } else { 0 };
    part(record, from.checked_add(place)?, (word >> 16) as usize)
}

fn push_text(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend(bytes.iter().copied().take_while(|one| *one != 0));
    out.push(0);
}

fn push_sequence(bytes: &[u8], element: usize, out: &mut Vec<u8>) {
    let count = bytes.len() / element.max(1);
    // A record has less than 64 KiB.
    out.extend_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(bytes.get(..count * element).unwrap_or_default());
}

fn push_line(bytes: &[u8], out: &mut Vec<u8>) {
    let text = bytes.split(|one| *one == 0).next().unwrap_or_default();
    let text = text.strip_suffix(b"\n").unwrap_or(text);
    out.extend_from_slice(text.get(..LONGEST_LINE).unwrap_or(text));
    out.push(0);
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn made(operations: Vec<Operation>, record: &[u8]) -> Option<Vec<u8>> {
        let plan = EventPlan { class: Some(0), operations, tells: None };
        let mut out = Vec::new();
        let around = Around {
            announced: Some((7, 0)),
            groups: &ThreadGroups::default(),
            kernel_stack: &[1; 16],
            user_stack: &[],
            counters: None,
            seen: None,
        };
        plan.apply(record, &around, &mut out).map(|()| out)
    }

    #[test]
    fn fields_are_copied_changed_and_made() {
        let record = [1, 0, 0, 0, 120, 0, 0, 0, b'R', b'S', 0, 0];
        let operations = vec![
            Operation::Copy { at: 0, bytes: 2 },
            Operation::Subtract { at: 4, value: 100 },
            Operation::RequestBits { at: 8, bytes: 4 },
            Operation::Zeros { bytes: 1 },
        ];

        let expected = [1, 0, 20, 0, 0, 0, 36, 0, 0, 0, 0];
        assert_eq!(made(operations, &record).unwrap(), expected);
    }

    #[test]
    fn texts_are_where_their_words_lead() {
        let mut record = vec![8, 0, 3, 0, 0, 0, 4, 0];
        record.extend(b"ab\0\0");
        let operations = vec![
            Operation::Text { at: 0, is_relative: false },
            Operation::Sequence { at: 4, is_relative: true, element: 2 },
        ];

        assert_eq!(made(operations, &record).unwrap(), b"ab\0\x02\0\0\0ab\0\0");
    }

    #[test]
    fn a_line_ends_at_its_line_feed() {
        let operations = vec![Operation::Line { at: 2 }];

        assert_eq!(made(operations.clone(), b"..text\n\0x").unwrap(), b"text\0");
        let long = [b"..".to_vec(), vec![b'x'; 2000]].concat();
        assert_eq!(made(operations, &long).unwrap().len(), LONGEST_LINE + 1);
    }

    #[test]
    fn groups_are_known_of_announced_threads() {
        let record = [5, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0];
        let of = |child| vec![Operation::Groups { parent: 0, child }];

        assert_eq!(made(of(4), &record).unwrap(), [255, 255, 255, 255, 7, 0, 0, 0]);
        assert_eq!(made(of(8), &record).unwrap(), [255; 8]);
    }

    #[test]
    fn call_stacks_have_their_lengths() {
        let both = vec![Operation::KernelStack, Operation::UserStack];
        let expected = [vec![2, 0, 0, 0], vec![1; 16], vec![0; 4]].concat();

        assert_eq!(made(both, &[]).unwrap(), expected);
    }

    #[test]
    fn counters_that_nobody_knows_are_all_ones() {
        let plan = EventPlan {
            operations: vec![Operation::Counter { place: 0, number: Some(3) }],
            ..EventPlan::default()
        };
        let around = Around {
            announced: None,
            groups: &ThreadGroups::default(),
            kernel_stack: &[],
            user_stack: &[],
            counters: None,
            seen: None,
        };

        assert_eq!(made(plan.operations.clone(), &[]).unwrap(), [255; 8]);
        assert!(plan.lacks_counter(&around));
        let operations = vec![Operation::Counter { place: 0, number: None }];
        assert!(!EventPlan { operations, ..plan }.lacks_counter(&around));
    }

    #[test]
    fn short_records_have_no_fields() {
        for operation in [
            Operation::Copy { at: 3, bytes: usize::MAX },
            Operation::Subtract { at: 1, value: 0 },
            Operation::Text { at: 0, is_relative: true },
            Operation::Sequence { at: 0, is_relative: false, element: 0 },
            Operation::Line { at: 5 },
            Operation::RequestBits { at: 0, bytes: 5 },
            Operation::Groups { parent: 0, child: 1 },
        ] {
            assert_eq!(made(vec![operation], &[255; 4]), None);
        }
    }

    #[test]
    fn events_of_the_trace_tell_where_addresses_are() {
        let both = vec![Operation::Address { at: 8 }, Operation::KernelStack];
        let plan = |class, operations| EventPlan { class, operations, tells: None };
        let plans = Plans::new([
            (1, plan(Some(0), both.clone())),
            (2, plan(None, both)),
            (3, plan(Some(1), vec![Operation::Copy { at: 8, bytes: 8 }])),
        ]);

        assert_eq!(plans.addresses(&[1, 0]), Places::new(vec![8], true).as_ref());
        assert_eq!((plans.addresses(&[2, 0]), plans.addresses(&[3, 0])), (None, None));
    }

    #[test]
    fn plans_are_found_by_the_first_word() {
        let plan = EventPlan { class: Some(3), ..EventPlan::default() };
        let plans = Plans::new([(600, plan.clone())]);

        assert_eq!(plans.of(&600_u16.to_le_bytes()), Some(&plan));
        assert_eq!(plans.of(&[1, 0]), None);
        assert_eq!(plans.of(&[1]), None);
    }
}
