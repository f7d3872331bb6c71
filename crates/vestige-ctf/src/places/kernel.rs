//! Which addresses event records of the kernel have.
//!
//! A field of the payload tells where in the kernel something was done (`call_site`, `ip`,
//! `location`), else the call stack does, else a field has the function that is to be called.
//! Innermost in a call stack are functions that record events; the place is that of their caller.

use std::sync::Arc;

use super::origin::{numbers, unsigned};
use super::stack_fields::{begin_addresses, push_addresses, StackKinds};
use crate::bits::BitReader;
use crate::kernel_symbols::KernelSymbols;
use crate::model::{EventClass, FieldClass, FieldKind, IntegerClass, StreamClass, TraceClass};
use crate::record::{skip, State};
use crate::stream::{Batch, Record};

/// Stands for the process of all records of the kernel.
pub const KERNEL: i64 = -1;
/// Fields that tell where something was done, and those that tell a function.
const SITES: [&str; 3] = ["call_site", "ip", "location"];
const FUNCTIONS: [&str; 2] = ["function", "func"];
const STACK: &str = "callstack_kernel";
const DOMAIN: &str = "domain";

/// Where the records of an event record class have their address.
#[derive(Debug, Clone, Copy)]
enum Source {
    Nothing,
    Payload(usize),
    Stack,
}

/// How the records of a stream class of the kernel are read.
#[derive(Debug)]
pub struct KernelKinds {
    symbols: KernelSymbols,
    /// Index of the call stack in the common context.
    stack: Option<usize>,
    sources: Vec<Source>,
}

impl KernelKinds {
    /// How they are read, if the trace is one of the kernel that tells names.
    pub fn of(trace: &TraceClass, class: &StreamClass) -> Option<Self> {
        if trace.environment_string(DOMAIN) != Some("kernel") {
            return None;
        }
        let symbols = KernelSymbols::of(trace)?;
        let stack = class.event_context.as_ref().and_then(stack_of);
        let sources = class.event_classes.iter().map(|event| source(event, stack));
        let sources: Vec<Source> = sources.collect();
        let is_any = sources.iter().any(|one| !matches!(one, Source::Nothing));
        is_any.then_some(Self { symbols, stack, sources })
    }

    /// The address of a record.
    #[inline]
    pub fn read(&self, batch: &Batch, record: &Record, state: &mut State) -> Option<u64> {
        let source = self.sources.get(record.class as usize)?;
        let [context, specific, payload] = batch.body_scopes(record);
        match *source {
            Source::Nothing => None,
            Source::Stack => {
                let mut reader = batch.body_reader(record, state);
                self.caller(context?, &mut reader, state)
            }
            Source::Payload(index) => {
                let mut reader = batch.body_reader(record, state);
                for scope in [context, specific].into_iter().flatten() {
                    skip(scope, &mut reader, state).ok()?;
                }
                let [address] = numbers(payload?, [Some(index)], index, &mut reader, state)?;
                address
            }
        }
    }

    /// The innermost address of a call stack that is not in what records events.
    fn caller(
        &self,
        context: &FieldClass,
        reader: &mut BitReader<'_>,
        state: &mut State,
    ) -> Option<u64> {
        let (integer, count) = begin_addresses(context, self.stack?, reader, state)?;
        for _ in 0..count {
            let address = state.integer(integer, reader).ok()?;
            if !self.symbols.is_tracing(address) {
                return Some(address);
            }
        }
        None
    }
}

/// Where records of a stream class have a call stack of the kernel.
struct KernelStacks {
    symbols: Option<KernelSymbols>,
    stack: usize,
}

/// Where they have it, if the stream class is one of a kernel with such stacks.
#[must_use]
pub fn kernel_stacks(trace: &TraceClass, class: &StreamClass) -> Option<Arc<dyn StackKinds>> {
    if trace.environment_string(DOMAIN) != Some("kernel") {
        return None;
    }
    let stack = class.event_context.as_ref().and_then(stack_of)?;
    Some(Arc::new(KernelStacks { symbols: KernelSymbols::of(trace), stack }))
}

impl StackKinds for KernelStacks {
    fn read(
        &self,
        batch: &Batch,
        record: &Record,
        state: &mut State,
        addresses: &mut Vec<u64>,
    ) -> Option<i64> {
        let [context, ..] = batch.body_scopes(record);
        let mut reader = batch.body_reader(record, state);
        let begin = addresses.len();
        push_addresses(context?, self.stack, &mut reader, state, addresses)?;
        // What records events is no part of what is recorded.
        let is_own = |one: &&u64| self.symbols.as_ref().is_some_and(|all| all.is_tracing(**one));
        let own = addresses.get(begin..)?.iter().take_while(is_own).count();
        addresses.drain(begin..begin + own);
        Some(KERNEL)
    }
}

fn stack_of(context: &FieldClass) -> Option<usize> {
    let (index, class) = context.member(STACK)?;
    let FieldKind::Array { element, text: false, .. } = &class.kind else { return None };
    is_address(element.as_integer()?).then_some(index)
}

fn source(event: &EventClass, stack: Option<usize>) -> Source {
    let payload = event.payload.as_ref();
    let field = |names: &[&str]| {
        names.iter().find_map(|name| {
            let index = unsigned(payload, name)?;
            let class = payload?.members().get(index)?.class.as_integer()?;
            is_address(class).then_some(index)
        })
    };
    match (field(&SITES), stack, field(&FUNCTIONS)) {
        (Some(index), _, _) | (None, None, Some(index)) => Source::Payload(index),
        (None, Some(_), _) => Source::Stack,
        (None, None, None) => Source::Nothing,
    }
}

fn is_address(class: &IntegerClass) -> bool {
    class.size == u64::BITS && !class.signed
}
