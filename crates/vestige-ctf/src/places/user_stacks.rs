//! Call stacks of programs that event records of the kernel have.
//!
//! The context `callstack_user` has addresses, innermost first; what is there depends on the process
//! and its image then. A trace has far fewer different stacks than records: each gets a number, and
//! each of its addresses is a place as others are ([`super::recorded_stacks`]).

use std::sync::Arc;

use super::origin::{integer, numbers};
use super::stack_fields::{push_addresses, Frame, StackKinds, MORE};
use crate::keyed_hash::KeyedMap;
use crate::model::{EnvironmentValue, FieldKind, StreamClass, TraceClass};
use crate::record::State;
use crate::stream::{Batch, Record};

/// The field of the common context that a filter adds: the stack as text.
pub const USER_STACKS: &str = "callstack_user_names";
const STACK: &str = "callstack_user";
const DOMAIN: &str = "domain";
/// What tells the process; a thread without others has its ID.
const PROCESS: [&str; 3] = ["vpid", "pid", THREAD];
const THREAD: &str = "tid";
/// Entries of the environment with threads: thread, since when (hexadecimal cycles of the clock),
/// the number of the process image, the process; `;` between them.
const THREADS: &str = "user_threads_";
/// What stands for the first process image that a trace tells of; the others follow downwards.
pub const FIRST_IMAGE: i64 = -2;
/// Where records of a stream class have a call stack of a program.
#[derive(Debug)]
pub struct UserKinds {
    process: usize,
    thread: Option<usize>,
    stack: usize,
    images: UserThreads,
}

/// Which process images threads are of, as a trace tells.
#[derive(Debug, Default)]
struct UserThreads(KeyedMap<i32, Vec<(u64, i64)>>);

impl UserThreads {
    fn of(trace: &TraceClass) -> Self {
        let mut found = Self::default();
        for (key, value) in &trace.environment {
            let EnvironmentValue::String(text) = value else { continue };
            if key.starts_with(THREADS) {
                for (thread, since, image) in text.split(';').filter_map(thread_of) {
                    found.0.entry(thread).or_default().push((since, image));
                }
            }
        }
        found.0.values_mut().for_each(|all| all.sort_unstable());
        found
    }

    /// What stands for the image of a thread at a time, if that is known.
    fn image(&self, thread: i64, cycles: u64) -> Option<i64> {
        let all = self.0.get(&i32::try_from(thread).ok()?)?;
        let behind = all.partition_point(|(since, _)| *since <= cycles);
        all.get(behind.checked_sub(1)?).map(|(_, image)| FIRST_IMAGE - image)
    }
}

fn thread_of(text: &str) -> Option<(i32, u64, i64)> {
    let mut words = text.split(' ');
    let thread = words.next()?.parse().ok()?;
    let since = u64::from_str_radix(words.next()?, 16).ok()?;
    let image = words.next()?.parse::<u32>().ok()?;
    Some((thread, since, i64::from(image)))
}

impl UserKinds {
    /// Where it is, if the stream class is one of a kernel with such stacks.
    #[must_use]
    pub fn of(trace: &TraceClass, class: &StreamClass) -> Option<Self> {
        if trace.environment_string(DOMAIN) != Some("kernel") {
            return None;
        }
        // A trace that was written with names has them.
        let context =
            class.event_context.as_ref().filter(|one| one.member(USER_STACKS).is_none())?;
        let (stack, class) = context.member(STACK)?;
        let FieldKind::Array { element, text: false, .. } = &class.kind else { return None };
        let address = element.as_integer()?;
        let process = PROCESS.iter().find_map(|name| integer(Some(context), name))?;
        let thread = integer(Some(context), THREAD);
        let is_it = address.size == u64::BITS && !address.signed;
        is_it.then(|| Self { process, thread, stack, images: UserThreads::of(trace) })
    }

    /// As [`UserKinds::of`], for whoever gives stacks numbers.
    #[must_use]
    pub fn find(trace: &TraceClass, class: &StreamClass) -> Option<Arc<dyn StackKinds>> {
        Self::of(trace, class).map(|found| Arc::new(found) as Arc<dyn StackKinds>)
    }
}

impl StackKinds for UserKinds {
    fn read(
        &self,
        batch: &Batch,
        record: &Record,
        state: &mut State,
        addresses: &mut Vec<u64>,
    ) -> Option<i64> {
        let [context, ..] = batch.body_scopes(record);
        let context = context?;
        let mut reader = batch.body_reader(record, state);
        let (wanted, last) =
            ([Some(self.process), self.thread], Some(self.process).max(self.thread));
        let [process, thread] = numbers(context, wanted, last?, &mut reader, state)?;
        let signed = |raw: Option<u64>| raw.map(|raw| i64::from(raw as i32));
        // The same member may be both.
        let (process, thread) = (signed(process), signed(thread).or(signed(process)));
        let mut reader = batch.body_reader(record, state);
        push_addresses(context, self.stack, &mut reader, state, addresses)?;
        self.images.image(thread?, record.cycles).or(process)
    }
}

/// Whether records of a stream class have call stacks of programs.
#[must_use]
pub fn has_user_stacks(trace: &TraceClass, class: &StreamClass) -> bool {
    UserKinds::of(trace, class).is_some()
}

/// The text of a stack: for each address `OBJECT:FUNCTION+OFFSET(FILE:LINE)` as far as that is
/// known, with `; ` between them. `texts` has the three texts of a place.
#[must_use]
pub fn stack_text<'a>(stack: &[Frame], texts: impl Fn(u32) -> Option<[&'a str; 3]>) -> String {
    let frame = |(at, &(address, place)): (usize, &Frame)| match texts(place) {
        _ if address == MORE => "...".to_owned(),
        Some([object, function, source]) if !object.is_empty() => {
            let object = object.split(['+', '@']).next().unwrap_or(object);
            let function = behind_call(function, at > 0);
            let source = if source.is_empty() { String::new() } else { format!("({source})") };
            match function.is_empty() {
                true => format!("{object}:{address:#x}"),
                false => format!("{object}:{function}{source}"),
            }
        }
        _ => format!("{address:#x}"),
    };
    stack.iter().enumerate().map(frame).collect::<Vec<_>>().join("; ")
}

/// A function with the offset behind the call that the place is of.
fn behind_call(function: &str, is_caller: bool) -> String {
    let parts = function.rsplit_once("+0x").filter(|_| is_caller);
    let moved = parts.and_then(|(name, offset)| {
        let offset = u64::from_str_radix(offset, 16).ok()?.checked_add(1)?;
        Some(format!("{name}+{offset:#x}"))
    });
    moved.unwrap_or_else(|| function.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::known::NO_PLACE;
    use super::*;

    #[test]
    fn threads_are_of_images_since_a_time() {
        let told = "7 0 0 5;8 a0 1 8;x;7 100 2 7;9 1";
        let environment =
            vec![("user_threads_3".to_owned(), EnvironmentValue::String(told.to_owned()))];
        let threads = UserThreads::of(&TraceClass { environment, ..TraceClass::default() });

        let images = [(7, 0xff), (7, 0x100), (8, 0x9f), (8, 0xa0), (9, 5)];
        let found = images.map(|(thread, cycles)| threads.image(thread, cycles));
        assert_eq!(found, [Some(-2), Some(-4), None, Some(-3), None]);
    }

    #[test]
    fn a_text_tells_what_is_known() {
        let places = [
            ["app+0x11b2", "work+0x12", "app.c:5"],
            ["libc.so.6+0x40", "start+0x9", ""],
            ["lib.so@0x40", "", ""],
            ["", "", ""],
        ];
        let stack = [(0x10, 0), (0x20, 1), (0x30, 2), (0x40, 3), (MORE, NO_PLACE)];
        let text = stack_text(&stack, |place| places.get(place as usize).copied());

        assert_eq!(text, "app:work+0x12(app.c:5); libc.so.6:start+0xa; lib.so:0x30; 0x40; ...");
    }
}
