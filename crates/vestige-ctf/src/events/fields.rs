//! Where the records of an event record class tell some facts, and reading these.

use super::key::Key;
use super::who::Who;
use crate::bits::BitReader;
use crate::model::{EnvironmentValue, FieldClass};
use crate::places::origin::{member_bytes, numbers};
use crate::record::{skip, State};
use crate::scope::{Origin, OriginField, Scope};
use crate::stream::{Batch, DataStream, Part, Record};

/// The scopes of the body of a record, in the order in which they are encoded.
const BODY: [Scope; 3] = [Scope::Common, Scope::Specific, Scope::Payload];

/// Where a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Nowhere,
    /// The same for the whole trace.
    Trace(i64),
    /// In the packet context, at an index.
    Packet(usize),
    /// In a scope of the body (see [`BODY`]), at an index.
    Body(usize, usize),
}

/// Where the records of a class tell who made them.
#[derive(Debug, Clone, Copy)]
pub struct WhoFields {
    thread: Place,
    process: Place,
    cpu: Place,
    name: Option<(Option<usize>, usize)>,
    /// The last scope of the body in which one of the numbers is.
    last: Option<usize>,
}

/// What is the same for all records of a packet.
#[derive(Debug, Clone, Copy)]
pub struct OfPacket {
    space: u32,
    stream: u64,
    thread: Option<i64>,
    process: Option<i64>,
    cpu: Option<i64>,
}

impl WhoFields {
    /// Those of an event record class of a data stream, by its index.
    pub fn of(stream: &DataStream, event: usize) -> Self {
        let place = |origin: Origin| match origin.find(stream, event) {
            None => Place::Nowhere,
            Some(OriginField::Environment(index)) => {
                match stream.trace.environment.get(index).map(|(_, value)| value) {
                    Some(EnvironmentValue::Integer(value)) => Place::Trace(*value),
                    _ => Place::Nowhere,
                }
            }
            Some(OriginField::Member(Scope::Packet, index)) => Place::Packet(index),
            Some(OriginField::Member(scope, index)) => BODY
                .iter()
                .position(|one| *one == scope)
                .map_or(Place::Nowhere, |at| Place::Body(at, index)),
        };
        let [thread, process, cpu] = Origin::NUMBERS.map(place);
        let name = match Origin::ProcessName.find(stream, event) {
            Some(OriginField::Member(Scope::Packet, index)) => Some((None, index)),
            Some(OriginField::Member(scope, index)) => {
                BODY.iter().position(|one| *one == scope).map(|at| (Some(at), index))
            }
            _ => None,
        };
        let at = |place| match place {
            Place::Body(scope, _) => Some(scope),
            _ => None,
        };
        let last = at(thread).max(at(process)).max(at(cpu));
        Self { thread, process, cpu, name, last }
    }

    /// What a packet tells: the same, whichever class of its records is asked.
    pub fn of_packet(&self, batch: &Batch, part: &Part) -> OfPacket {
        let at = |place| match place {
            Place::Packet(index) => Some(index),
            _ => None,
        };
        let wanted = [at(self.thread), at(self.process), at(self.cpu)];
        let last = wanted.into_iter().flatten().max();
        let context = batch.stream_class().and_then(|class| class.packet_context.as_ref());
        let found = match (context, last) {
            (Some(context), Some(last)) => {
                let (mut reader, mut state) = (part.context_reader(), part.state());
                numbers(context, wanted, last, &mut reader, &mut state).unwrap_or_default()
            }
            _ => [None; 3],
        };
        let [thread, process, cpu] = found.map(|value| value.map(|raw| raw as i64));
        let stream = &batch.stream;
        let (space, stream) = (stream.identity.process_space, stream.origin());
        OfPacket { space, stream, thread, process, cpu }
    }

    /// Whether all records of a packet are of one thread.
    pub fn is_of_thread(&self) -> bool {
        matches!(self.thread, Place::Packet(_))
    }

    /// Who made a record, and its CPU.
    #[inline]
    pub fn read(
        &self,
        packet: &OfPacket,
        batch: &Batch,
        record: &Record,
        state: &mut State,
    ) -> (Who, Option<i64>) {
        let mut all = [packet.thread, packet.process, packet.cpu];
        if let Place::Trace(process) = self.process {
            all = [packet.thread, Some(process), packet.cpu];
        }
        if let Some(last) = self.last {
            let at = |place, scope| match place {
                Place::Body(at, index) if at == scope => Some(index),
                _ => None,
            };
            let wanted =
                |scope| [at(self.thread, scope), at(self.process, scope), at(self.cpu, scope)];
            // What cannot be read is not known.
            let _ = body_numbers(batch, record, state, last, wanted, &mut all);
        }
        let [thread, process, cpu] = all;
        let own_cpu = if thread.is_none() { cpu } else { None };
        let is_known = thread.is_some() || cpu.is_some();
        let stream = (!is_known).then_some(packet.stream);
        (Who { space: packet.space, process, thread, cpu: own_cpu, stream }, cpu)
    }

    /// The name of the process of a record, where contexts tell it.
    pub fn name(
        &self,
        batch: &Batch,
        part: &Part,
        record: &Record,
        state: &mut State,
    ) -> Option<String> {
        let (scope, index) = self.name?;
        let Some(scope) = scope else {
            let context = batch.stream_class()?.packet_context.as_ref()?;
            let (mut reader, mut state) = (part.context_reader(), part.state());
            return text(member_bytes(context, index, &mut reader, &mut state)?);
        };
        let mut reader = batch.body_reader(record, state);
        let scopes = batch.body_scopes(record);
        for before in scopes.iter().take(scope).flatten() {
            skip(before, &mut reader, state).ok()?;
        }
        let class = scopes.get(scope).copied().flatten()?;
        text(member_bytes(class, index, &mut reader, state)?)
    }
}

/// Where a field is that a name means, and whether it is a number.
#[derive(Debug, Clone, Copy)]
pub struct KeyField {
    /// The scope of the body; `None` for the packet context.
    scope: Option<usize>,
    index: usize,
    is_number: bool,
}

impl KeyField {
    /// The field of an event record class of a data stream that a name means.
    pub fn find(stream: &DataStream, event: usize, name: &str) -> Option<Self> {
        let (scopes, name) = match Scope::qualified(name) {
            Some((scope, rest)) => (vec![scope], rest),
            None => (Scope::NEAREST_FIRST.to_vec(), name),
        };
        scopes.into_iter().find_map(|scope| {
            let class = scope.class(stream, event)?;
            let index = scope.member(class, name)?;
            let is_number = class.members().get(index)?.class.as_integer().is_some();
            let scope = BODY.iter().position(|one| *one == scope);
            Some(Self { scope, index, is_number })
        })
    }

    /// Reads it; `None` for what cannot be read, and for fields of other types.
    pub fn read(
        &self,
        batch: &Batch,
        part: &Part,
        record: &Record,
        state: &mut State,
    ) -> Option<Key> {
        let Some(scope) = self.scope else {
            let context = batch.stream_class()?.packet_context.as_ref()?;
            let (mut reader, mut state) = (part.context_reader(), part.state());
            return self.value(context, &mut reader, &mut state);
        };
        let mut reader = batch.body_reader(record, state);
        let scopes = batch.body_scopes(record);
        for before in scopes.iter().take(scope).flatten() {
            skip(before, &mut reader, state).ok()?;
        }
        self.value(scopes.get(scope).copied().flatten()?, &mut reader, state)
    }

    fn value(
        &self,
        scope: &FieldClass,
        reader: &mut BitReader<'_>,
        state: &mut State,
    ) -> Option<Key> {
        if self.is_number {
            let [found] = numbers(scope, [Some(self.index)], self.index, reader, state)?;
            return Some(Key::Number(found? as i64));
        }
        member_bytes(scope, self.index, reader, state).map(Key::of_text)
    }
}

/// Reads numbers of the body up to a scope; those that are there replace what is known.
#[inline]
pub fn body_numbers<const COUNT: usize>(
    batch: &Batch,
    record: &Record,
    state: &mut State,
    last: usize,
    wanted: impl Fn(usize) -> [Option<usize>; COUNT],
    found: &mut [Option<i64>; COUNT],
) -> Option<()> {
    let mut reader = batch.body_reader(record, state);
    for (scope, class) in batch.body_scopes(record).into_iter().enumerate().take(last + 1) {
        let Some(class) = class else { continue };
        let wanted = wanted(scope);
        let Some(end) = wanted.into_iter().flatten().max() else {
            skip(class, &mut reader, state).ok()?;
            continue;
        };
        // All of it, when something behind it is wanted, too.
        let end = if scope == last { end } else { class.members().len() };
        let values = numbers(class, wanted, end, &mut reader, state)?;
        for (known, value) in found.iter_mut().zip(values) {
            *known = value.map(|raw| raw as i64).or(*known);
        }
    }
    Some(())
}

fn text(bytes: &[u8]) -> Option<String> {
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned())
}
