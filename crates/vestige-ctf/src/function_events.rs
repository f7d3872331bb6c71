//! Events of function calls whose records carry no `ip` and `vpid` context; those of Python
//! functions (`vestige_python:func_*`) are like those of the verbose form.
//!
//! `lttng_ust_cyg_profile*:func_entry` and `func_exit` name their function in the payload,
//! and a tracer with a data stream for each thread names the process once a packet. The exit
//! of the fast form has no field at all: `call_stacks` knows which function it leaves.

use crate::address_scan::{Found, Kind};
use crate::bits::BitReader;
use crate::call_stacks::Thread;
use crate::model::{EnvironmentValue, EventClass, FieldClass, StreamClass, TraceClass};
use crate::record::{skip, State};
use crate::stream::{Batch, Part, Record};

/// What functions events are named after, without `func_entry` and `func_exit`.
const PROVIDERS: [&str; 3] =
    ["lttng_ust_cyg_profile_fast", "lttng_ust_cyg_profile", "vestige_python"];
const ADDRESS: &str = "addr";
const IP: &str = "ip";
const VPID: &str = "vpid";
const VTID: &str = "vtid";

/// Where the process ID of a record is.
#[derive(Debug, Clone, Copy)]
enum Process {
    /// In the common context, at an index.
    Context(usize),
    /// In the packet context.
    Packet,
    /// In the trace environment.
    Constant(i64),
}

/// What is read of the records of an event record class.
#[derive(Debug, Clone, Copy)]
struct Rule {
    kind: Kind,
    /// Index of the address in the payload, when it is there.
    address: Option<usize>,
}

/// Where the records of a stream class have what a place needs.
#[derive(Debug)]
pub struct FunctionEvents {
    process: Process,
    /// Index of `ip` in the common context.
    ip: Option<usize>,
    rules: Vec<Rule>,
    /// Whether exits are known by the entries before them.
    uses_stacks: bool,
}

impl FunctionEvents {
    /// What is known of a stream class, if it has events of function calls and tells their
    /// process. `is_state` tells which events change process images.
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
        let packet = class.packet_context.as_ref();
        let in_packet = |name| packet.is_some_and(|scope| integer(scope, name).is_some());
        let process = match context.and_then(|scope| integer(scope, VPID)) {
            Some(index) => Process::Context(index),
            None if in_packet(VPID) => Process::Packet,
            None => Process::Constant(environment_vpid(trace)?),
        };
        let ip = context.and_then(|scope| address(scope, IP));
        // The records of a packet are of one thread where the packet names it.
        let uses_stacks = ip.is_none() && in_packet(VPID) && in_packet(VTID);
        let rules: Vec<Rule> = class
            .event_classes
            .iter()
            .map(|event| rule(event, ip, uses_stacks, &is_state))
            .collect();
        let is_any = rules.iter().any(|rule| !matches!(rule.kind, Kind::Nothing | Kind::Change));
        let uses_stacks = rules.iter().any(|rule| rule.kind == Kind::Leave);
        is_any.then_some(Self { process, ip, rules, uses_stacks })
    }

    /// The process of the records of a part of a batch, where that is the same for all.
    pub fn process(&self, batch: &Batch, part: &Part) -> Option<i64> {
        match self.process {
            Process::Context(_) => None,
            Process::Packet => packet_integer(batch, part, VPID),
            Process::Constant(vpid) => Some(vpid),
        }
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
        Some((packet_integer(batch, part, VPID)?, packet_integer(batch, part, VTID)?))
    }

    /// Reads a record; `process` is that of its packet.
    #[inline]
    pub fn read(
        &self,
        batch: &Batch,
        record: &Record,
        process: Option<i64>,
        state: &mut State,
    ) -> Option<Found> {
        let rule = self.rules.get(record.class as usize)?;
        if rule.kind == Kind::Nothing {
            return None;
        }
        let (mut ip, mut vpid) = (None, process);
        let [context, specific, payload] = batch.body_scopes(record);
        let mut reader = batch.body_reader(record, state);
        if let Some(scope) = context {
            let vpid_at = match self.process {
                Process::Context(index) => Some(index),
                Process::Packet | Process::Constant(_) => None,
            };
            let [at_ip, at_vpid] = integers(scope, [self.ip, vpid_at], &mut reader, state)?;
            ip = at_ip;
            vpid = at_vpid.map(|raw| raw as i64).or(vpid);
        }
        if rule.address.is_some() {
            if let Some(scope) = specific {
                skip(scope, &mut reader, state).ok()?;
            }
            [ip] = integers(payload?, [rule.address], &mut reader, state)?;
        }
        let ip = match rule.kind {
            Kind::Leave | Kind::Change => 0,
            _ => ip?,
        };
        Some(Found { ip, vpid: vpid?, space: batch.stream.identity.process_space, kind: rule.kind })
    }
}

/// Whether records of a stream class get places although they lack the contexts.
#[must_use]
pub fn has_function_events(trace: &TraceClass, class: &StreamClass, field_name: &str) -> bool {
    FunctionEvents::of(trace, class, field_name, |_| false).is_some()
}

/// Whether some records of a stream class have a place by the calls before them only.
#[must_use]
pub fn uses_call_stacks(trace: &TraceClass, class: &StreamClass) -> bool {
    let functions = FunctionEvents::of(trace, class, "", |_| false);
    functions.is_some_and(|functions| functions.uses_stacks)
}

fn rule(
    event: &EventClass,
    ip: Option<usize>,
    uses_stacks: bool,
    is_state: impl Fn(&str) -> bool,
) -> Rule {
    let name = event.name.as_deref().unwrap_or_default();
    let payload = event.payload.as_ref();
    let in_payload = payload.and_then(|scope| address(scope, ADDRESS));
    // A context comes before the payload: it tells where in the function the event was.
    let address = in_payload.filter(|_| ip.is_none());
    let kind = match function_event(name) {
        _ if is_state(name) => Kind::Change,
        Some(_) if ip.is_some() => Kind::Address,
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

/// Index of an integer member.
fn integer(scope: &FieldClass, name: &str) -> Option<usize> {
    scope.member(name).filter(|(_, class)| class.as_integer().is_some()).map(|(index, _)| index)
}

/// Index of an unsigned integer member.
fn address(scope: &FieldClass, name: &str) -> Option<usize> {
    let (index, class) = scope.member(name)?;
    class.as_integer().filter(|class| !class.signed)?;
    Some(index)
}

/// Reads the integers at some indexes of a structure, and steps over the rest of it.
#[inline]
fn integers<const COUNT: usize>(
    scope: &FieldClass,
    wanted: [Option<usize>; COUNT],
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Option<[Option<u64>; COUNT]> {
    let mut found = [None; COUNT];
    reader.align(scope.alignment()).ok()?;
    for (index, member) in scope.members().iter().enumerate() {
        match wanted.iter().position(|at| *at == Some(index)) {
            Some(place) => {
                let value = state.integer(member.class.as_integer()?, reader).ok()?;
                *found.get_mut(place)? = Some(value);
            }
            None => skip(&member.class, reader, state).ok()?,
        }
    }
    Some(found)
}

fn packet_integer(batch: &Batch, part: &Part, name: &str) -> Option<i64> {
    let context = batch.stream_class()?.packet_context.as_ref()?;
    let index = integer(context, name)?;
    let (mut reader, mut state) = (part.context_reader(), part.state());
    let [value] = integers(context, [Some(index)], &mut reader, &mut state)?;
    value.map(|raw| raw as i64)
}

/// The process of a whole trace, where its tracer made one for each process.
pub fn environment_vpid(trace: &TraceClass) -> Option<i64> {
    trace.environment.iter().find_map(|(key, value)| match value {
        EnvironmentValue::Integer(vpid) if key == VPID => Some(*vpid),
        _ => None,
    })
}
