//! The scopes of an event record, and which of them a name means.

use crate::model::{FieldClass, TraceClass};
use crate::stream::{Batch, DataStream, Record};

/// Where a field of an event record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The context of its packet.
    Packet,
    /// The common context.
    Common,
    /// The specific context.
    Specific,
    /// The payload.
    Payload,
}

impl Scope {
    /// All scopes; a name means the first of them that has it.
    pub const NEAREST_FIRST: [Self; 4] =
        [Self::Payload, Self::Specific, Self::Common, Self::Packet];

    /// What comes before the name of a field that cannot have its name alone.
    #[must_use]
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Packet => "packet_context.",
            Self::Common => "context.",
            Self::Specific => "specific_context.",
            Self::Payload => "payload.",
        }
    }

    /// The scope and the name of a field whose name says its scope.
    #[must_use]
    pub fn qualified(name: &str) -> Option<(Self, &str)> {
        Self::NEAREST_FIRST
            .into_iter()
            .find_map(|scope| name.strip_prefix(scope.prefix()).map(|rest| (scope, rest)))
    }

    /// The class of this scope of an event record class, by its index.
    #[must_use]
    pub fn class(self, stream: &DataStream, event: usize) -> Option<&FieldClass> {
        let class = stream.trace.stream_classes.get(stream.class)?;
        let event = class.event_classes.get(event);
        match self {
            Self::Packet => class.packet_context.as_ref(),
            Self::Common => class.event_context.as_ref(),
            Self::Specific => event?.context.as_ref(),
            Self::Payload => event?.payload.as_ref(),
        }
    }

    /// The class of this scope of an event record.
    #[must_use]
    pub fn of(self, batch: &Batch, record: Record) -> Option<&FieldClass> {
        self.class(&batch.stream, record.class as usize)
    }

    /// The field of a name in this scope. What a packet context tells the reader about the
    /// packet alone is no fact of an event.
    #[must_use]
    pub fn member(self, class: &FieldClass, name: &str) -> Option<usize> {
        let (index, member) = class.member(name)?;
        (self != Self::Packet || member.visible).then_some(index)
    }
}

/// A fact about where an event record comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The thread that made it.
    Thread,
    /// The process of that thread.
    Process,
    /// The CPU that the thread ran on.
    Cpu,
    /// The name of the process, or of the thread where it has one of its own.
    ProcessName,
}

/// Where a fact is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OriginField {
    /// A member of a scope, by its index.
    Member(Scope, usize),
    /// An entry of the trace environment, by its index.
    Environment(usize),
}

impl Origin {
    /// The facts that are numbers.
    pub const NUMBERS: [Self; 3] = [Self::Thread, Self::Process, Self::Cpu];

    /// Its name, as an attribute and as a column.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Thread => "thread",
            Self::Process => "process",
            Self::Cpu => "cpu",
            Self::ProcessName => "process_name",
        }
    }

    /// The names of the fields that tell it. An ID that is the same for the whole machine
    /// comes before one of a PID namespace.
    fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Thread => &["tid", "vtid"],
            Self::Process => &["pid", "vpid"],
            Self::Cpu => &["cpu_id"],
            Self::ProcessName => &["procname"],
        }
    }

    /// The field that tells it of the records of an event record class.
    ///
    /// Only contexts count: a payload may name any thread. What the packet says holds for all
    /// its records. A trace of a single process may name it in its environment.
    #[must_use]
    pub fn find(self, stream: &DataStream, event: usize) -> Option<OriginField> {
        for scope in [Scope::Packet, Scope::Specific, Scope::Common] {
            let Some(class) = scope.class(stream, event) else { continue };
            for name in self.fields() {
                let Some(index) = scope.member(class, name) else { continue };
                if class.members().get(index).is_some_and(|member| self.suits(&member.class)) {
                    return Some(OriginField::Member(scope, index));
                }
            }
        }
        self.in_environment(&stream.trace)
    }

    fn suits(self, class: &FieldClass) -> bool {
        use crate::model::FieldKind::{Array, Integer, String, Text};
        match &class.kind {
            Integer(_) => self != Self::ProcessName,
            String | Text(_) | Array { text: true, .. } => self == Self::ProcessName,
            _ => false,
        }
    }

    fn in_environment(self, trace: &TraceClass) -> Option<OriginField> {
        use crate::model::EnvironmentValue::{Integer, String};
        if !matches!(self, Self::Process | Self::ProcessName) {
            return None;
        }
        let suits = |entry: &(_, _)| {
            let (key, value): &(std::string::String, _) = entry;
            self.fields().contains(&key.as_str())
                && match value {
                    Integer(_) => self == Self::Process,
                    String(_) => self == Self::ProcessName,
                }
        };
        trace.environment.iter().position(suits).map(OriginField::Environment)
    }
}
