//! Where the records of a stream class tell their process, their thread and their address.
//!
//! A tracer with a data stream for each thread names process and thread once a packet; one
//! with a trace for each process names that in the environment; all others name both in the
//! common context of each record.

use crate::bits::BitReader;
use crate::model::{EnvironmentValue, FieldClass, FieldKind, StreamClass, TraceClass};
use crate::record::{skip, State};
use crate::stream::{Batch, Part};

const IP: &str = "ip";
const VPID: &str = "vpid";
const VTID: &str = "vtid";
const TID: &str = "tid";

/// Where a number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// In the common context, at an index.
    Context(usize),
    /// In the packet context, at an index.
    Packet(usize),
    /// In the trace environment.
    Trace(i64),
}

/// Where the records of a stream class tell who made them, and where.
#[derive(Debug, Clone, Copy)]
pub struct Origin {
    /// Index of the address in the common context.
    pub ip: Option<usize>,
    /// Whether that has no sign, as addresses have none.
    pub is_address: bool,
    /// Where the process ID is.
    pub process: Option<Source>,
    /// Where the thread ID is.
    pub thread: Option<Source>,
    /// Index of the process ID in the packet context, whatever records tell.
    packet_process: Option<usize>,
    /// The last of these in the common context.
    last: Option<usize>,
}

/// What is known of a record's origin.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known {
    /// The address.
    pub ip: Option<u64>,
    /// The process ID.
    pub process: Option<i64>,
    /// The thread ID.
    pub thread: Option<i64>,
}

impl Origin {
    /// What a stream class tells. What a record says of its process comes before what its
    /// packet says; a packet that names a thread is of that thread.
    #[must_use]
    pub fn of(trace: &TraceClass, class: &StreamClass) -> Self {
        let context = class.event_context.as_ref();
        let packet = class.packet_context.as_ref();
        let in_context = |name| integer(context, name).map(Source::Context);
        let in_packet = |name| integer(packet, name).map(Source::Packet);
        let in_trace = || environment_vpid(trace).map(Source::Trace);
        let ip = integer(context, IP);
        let process = in_context(VPID).or_else(|| in_packet(VPID)).or_else(in_trace);
        let thread = in_packet(VTID).or_else(|| in_context(VTID));
        let at = |source| match source {
            Some(Source::Context(index)) => Some(index),
            _ => None,
        };
        Self {
            ip,
            is_address: ip.is_some() && unsigned(context, IP).is_some(),
            process,
            thread,
            packet_process: integer(packet, VPID),
            last: ip.max(at(process)).max(at(thread)),
        }
    }

    /// What a stream class of a kernel tells: its threads have their IDs of the machine.
    #[must_use]
    pub fn of_kernel(trace: &TraceClass, class: &StreamClass) -> Self {
        let thread = integer(class.event_context.as_ref(), TID);
        let found = Self::of(trace, class);
        Self {
            thread: thread.map(Source::Context).or(found.thread),
            last: found.last.max(thread),
            ..found
        }
    }

    /// What the packet and the trace tell of all records of a part: also of which process they
    /// are if records say that themselves, since not all are asked.
    #[must_use]
    pub fn of_packet(&self, batch: &Batch, part: &Part) -> Known {
        let at = |source| match source {
            Some(Source::Packet(index)) => Some(index),
            _ => None,
        };
        let wanted = [self.packet_process, at(self.thread)];
        let context = batch.stream_class().and_then(|class| class.packet_context.as_ref());
        let [process, thread] = wanted;
        let found = match (context, process.max(thread)) {
            (Some(context), Some(last)) => {
                let (mut reader, mut state) = (part.context_reader(), part.state());
                // The packet was read before, so this cannot fail now.
                numbers(context, wanted, last, &mut reader, &mut state).unwrap_or_default()
            }
            _ => [None; 2],
        };
        let [process, thread] = found.map(|value| value.map(|raw| raw as i64));
        match self.process {
            Some(Source::Trace(process)) => Known { ip: None, process: Some(process), thread },
            _ => Known { ip: None, process, thread },
        }
    }

    /// Process and thread of a packet that is of one thread.
    #[must_use]
    pub fn packet_thread(&self, batch: &Batch, part: &Part) -> Option<(i64, i64)> {
        let Some(Source::Packet(thread)) = self.thread else { return None };
        let process = self.packet_process?;
        let context = batch.stream_class()?.packet_context.as_ref()?;
        let (mut reader, mut state) = (part.context_reader(), part.state());
        let (wanted, last) = ([Some(process), Some(thread)], process.max(thread));
        let [process, thread] = numbers(context, wanted, last, &mut reader, &mut state)?;
        Some((process? as i64, thread? as i64))
    }

    /// Whether packets are of one thread each, and say so.
    #[must_use]
    pub fn is_of_threads(&self) -> bool {
        self.packet_process.is_some() && matches!(self.thread, Some(Source::Packet(_)))
    }

    /// Reads what the common context tells besides. The reader is behind all of it if `whole`
    /// is wanted.
    #[inline]
    pub fn of_record(
        &self,
        mut known: Known,
        context: &FieldClass,
        whole: bool,
        reader: &mut BitReader<'_>,
        state: &mut State,
    ) -> Option<Known> {
        let at = |source| match source {
            Some(Source::Context(index)) => Some(index),
            _ => None,
        };
        let last = if whole { Some(context.members().len()) } else { self.last };
        let Some(last) = last else { return Some(known) };
        let wanted = [self.ip, at(self.process), at(self.thread)];
        let [ip, process, thread] = numbers(context, wanted, last, reader, state)?;
        known.ip = ip;
        known.process = process.map(|raw| raw as i64).or(known.process);
        known.thread = thread.map(|raw| raw as i64).or(known.thread);
        Some(known)
    }
}

/// Index of a member that is an integer.
#[must_use]
pub fn integer(scope: Option<&FieldClass>, name: &str) -> Option<usize> {
    let (index, class) = scope?.member(name)?;
    matches!(class.kind, FieldKind::Integer(_)).then_some(index)
}

/// Index of a member that is an integer without a sign.
#[must_use]
pub fn unsigned(scope: Option<&FieldClass>, name: &str) -> Option<usize> {
    let (index, class) = scope?.member(name)?;
    matches!(&class.kind, FieldKind::Integer(class) if !class.signed).then_some(index)
}

/// Reads the integers at some indexes of a structure, and steps over the rest of it up to the
/// index `last`.
#[inline]
pub fn numbers<const COUNT: usize>(
    scope: &FieldClass,
    wanted: [Option<usize>; COUNT],
    last: usize,
    reader: &mut BitReader<'_>,
    state: &mut State,
) -> Option<[Option<u64>; COUNT]> {
    let mut found = [None; COUNT];
    reader.align(scope.alignment()).ok()?;
    for (index, member) in scope.members().iter().enumerate().take(last.saturating_add(1)) {
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

/// The bytes of a member of a structure, up to the first zero: those of a text.
pub fn member_bytes<'a>(
    scope: &FieldClass,
    index: usize,
    reader: &mut BitReader<'a>,
    state: &mut State,
) -> Option<&'a [u8]> {
    reader.align(scope.alignment()).ok()?;
    let members = scope.members();
    for member in members.get(..index)? {
        skip(&member.class, reader, state).ok()?;
    }
    let class = &members.get(index)?.class;
    reader.align(class.alignment()).ok()?;
    let start = reader.position();
    skip(class, reader, state).ok()?;
    let end = reader.position();
    if start % 8 != 0 || end % 8 != 0 {
        return None;
    }
    let bytes = reader.data().get((start / 8) as usize..(end / 8) as usize)?;
    bytes.split(|byte| *byte == 0).next()
}

/// The process of a whole trace, where its tracer made one for each process.
fn environment_vpid(trace: &TraceClass) -> Option<i64> {
    trace.environment.iter().find_map(|(key, value)| match value {
        EnvironmentValue::Integer(vpid) if key == VPID => Some(*vpid),
        _ => None,
    })
}
