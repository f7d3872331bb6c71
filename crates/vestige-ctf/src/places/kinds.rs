//! Which event records have a place, by what their classes are.
//!
//! All do whose common context has `ip` and `vpid`. Without these, events of function calls
//! do: `lttng_ust_cyg_profile*:func_entry` and `func_exit` name their function in the payload,
//! and so do those of Python functions. The exit of the fast form has no field at all:
//! [`super::stacks`] knows which function it leaves.

use super::found::{Found, Kind, Thread};
use super::kernel::{KernelKinds, KERNEL};
use super::origin::{numbers, unsigned, Known, Origin, Source};
use crate::model::{EventClass, StreamClass, TraceClass};
use crate::record::{skip, State};
use crate::stream::{Batch, Part, Record};

/// What functions events are named after, without `func_entry` and `func_exit`.
const PROVIDERS: [&str; 3] =
    ["lttng_ust_cyg_profile_fast", "lttng_ust_cyg_profile", "vestige_python"];
const ADDRESS: &str = "addr";

/// What is read of the records of an event record class.
#[derive(Debug, Clone, Copy)]
struct Rule {
    kind: Kind,
    /// Index of the address in the payload, when it is there.
    address: Option<usize>,
}

/// How the records of a stream class are read.
#[derive(Debug)]
pub struct Kinds {
    origin: Origin,
    rules: Vec<Rule>,
    /// Whether exits are known by the entries before them.
    uses_stacks: bool,
    /// Those of the kernel are read in another way.
    kernel: Option<KernelKinds>,
}

impl Kinds {
    /// How the records of a stream class are read, if any of them has a place and none a
    /// field of the name that it would get. `is_state` tells which events change process
    /// images.
    pub fn of(
        trace: &TraceClass,
        class: &StreamClass,
        field_name: &str,
        is_state: impl Fn(&str) -> bool,
    ) -> Option<Self> {
        let context = class.event_context.as_ref();
        if context.is_some_and(|scope| scope.members().iter().any(|m| m.name() == field_name)) {
            return None;
        }
        let origin = Origin::of(trace, class);
        if let Some(kernel) = KernelKinds::of(trace, class) {
            let (rules, uses_stacks) = (Vec::new(), false);
            return Some(Self { origin, rules, uses_stacks, kernel: Some(kernel) });
        }
        let process = origin.process?;
        let has_ip = origin.is_address;
        let events = class.event_classes.iter();
        if has_ip && matches!(process, Source::Context(_)) {
            let rules = events.map(|event| Rule {
                kind: if is_state(name_of(event)) { Kind::State } else { Kind::Address },
                address: None,
            });
            let rules = rules.collect();
            return Some(Self { origin, rules, uses_stacks: false, kernel: None });
        }
        // The records of a packet are of one thread where the packet names it.
        let uses_stacks = !has_ip && origin.is_of_threads();
        let rules: Vec<Rule> =
            events.map(|event| rule(event, has_ip, uses_stacks, &is_state)).collect();
        let is_any = rules.iter().any(|rule| !matches!(rule.kind, Kind::Nothing | Kind::Change));
        let uses_stacks = rules.iter().any(|rule| rule.kind == Kind::Leave);
        is_any.then_some(Self { origin, rules, uses_stacks, kernel: None })
    }

    /// What is known of all records of a part of a batch.
    pub fn of_packet(&self, batch: &Batch, part: &Part) -> Known {
        self.origin.of_packet(batch, part)
    }

    /// Whether exits depend on the thread.
    pub fn uses_stacks(&self) -> bool {
        self.uses_stacks
    }

    /// The thread of the records of a part of a batch, when exits depend on it.
    pub fn thread(&self, batch: &Batch, part: &Part) -> Option<Thread> {
        if !self.uses_stacks {
            return None;
        }
        self.origin.packet_thread(batch, part)
    }

    /// Reads a record; `known` is what its packet tells.
    #[inline]
    pub fn read(
        &self,
        batch: &Batch,
        record: &Record,
        known: Known,
        state: &mut State,
    ) -> Option<Found> {
        if let Some(kernel) = &self.kernel {
            let space = batch.stream.identity.process_space;
            let ip = kernel.read(batch, record, state)?;
            return Some(Found { ip, vpid: KERNEL, space, kind: Kind::Address });
        }
        let rule = self.rules.get(record.class as usize)?;
        if rule.kind == Kind::Nothing {
            return None;
        }
        let [context, specific, payload] = batch.body_scopes(record);
        let mut reader = batch.body_reader(record, state);
        let mut found = known;
        if let Some(context) = context {
            let whole = rule.address.is_some();
            found = self.origin.of_record(known, context, whole, &mut reader, state)?;
        }
        if let Some(address) = rule.address {
            if let Some(scope) = specific {
                skip(scope, &mut reader, state).ok()?;
            }
            [found.ip] = numbers(payload?, [Some(address)], address, &mut reader, state)?;
        }
        let ip = match rule.kind {
            Kind::Leave | Kind::Change => 0,
            _ => found.ip?,
        };
        let space = batch.stream.identity.process_space;
        Some(Found { ip, vpid: found.process?, space, kind: rule.kind })
    }
}

/// Whether any record of a stream class gets a place in a field of a name.
#[must_use]
pub fn has_places(trace: &TraceClass, class: &StreamClass, field_name: &str) -> bool {
    Kinds::of(trace, class, field_name, |_| false).is_some()
}

/// Whether some records of a stream class have a place by the calls before them only.
#[must_use]
pub fn uses_call_stacks(trace: &TraceClass, class: &StreamClass) -> bool {
    Kinds::of(trace, class, "", |_| false).is_some_and(|kinds| kinds.uses_stacks)
}

fn name_of(event: &EventClass) -> &str {
    event.name.as_deref().unwrap_or_default()
}

fn rule(
    event: &EventClass,
    has_ip: bool,
    uses_stacks: bool,
    is_state: impl Fn(&str) -> bool,
) -> Rule {
    let name = name_of(event);
    // A context comes before the payload: it tells where in the function the event was.
    let address = unsigned(event.payload.as_ref(), ADDRESS).filter(|_| !has_ip);
    let kind = match function_event(name) {
        _ if is_state(name) => Kind::Change,
        Some(_) if has_ip => Kind::Address,
        Some(Function { is_fast: true, is_entry: true }) if address.is_some() && uses_stacks => {
            Kind::Enter
        }
        Some(_) if address.is_some() => Kind::Address,
        Some(Function { is_fast: true, is_entry: false }) if uses_stacks => Kind::Leave,
        _ => Kind::Nothing,
    };
    let address = address.filter(|_| matches!(kind, Kind::Enter | Kind::Address));
    Rule { kind, address }
}

/// An event of function calls.
struct Function {
    is_fast: bool,
    is_entry: bool,
}

fn function_event(name: &str) -> Option<Function> {
    let (provider, event) = name.split_once(':')?;
    let index = PROVIDERS.iter().position(|known| *known == provider)?;
    let is_entry = match event {
        "func_entry" | "coroutine_entry" => true,
        "func_exit" | "coroutine_exit" => false,
        _ => return None,
    };
    Some(Function { is_fast: index == 0, is_entry })
}
