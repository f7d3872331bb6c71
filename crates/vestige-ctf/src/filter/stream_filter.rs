//! Expressions that are bound to the event record classes of a stream class.

use std::sync::Arc;

use super::agreement::EXPRESSION_DEPTH;
use super::bind::{bind, Outer, Place};
use super::code::Expression;
use super::fetch::{fetch, Fetched};
use super::guard::Guard;
use super::path::Segment;
use super::program::{Fields, Program, Stack};
use super::step::Operand;
use crate::bits::BitReader;
use crate::model::{FieldClass, TraceClass};
use crate::record::{RunStarts, State};
use crate::stream::{DataStream, Packet, Record};

/// Expressions for the records of a stream class: all of them must be true.
#[derive(Debug, Default)]
pub struct StreamFilter {
    /// For each event record class the bound expressions; `None` where one is never true.
    classes: Vec<Option<ClassFilter>>,
    /// What they need that does not stand in the record.
    outer: Vec<Outer>,
}

/// Expressions for the records of one class.
#[derive(Debug)]
struct ClassFilter {
    /// What must hold, of all of them.
    guards: Vec<Guard>,
    /// Those that guards alone do not decide.
    rest: Vec<Program>,
}

impl ClassFilter {
    fn new(mut programs: Vec<Program>) -> Self {
        let guards = programs.iter().flat_map(|one| one.guards.all.iter().copied()).collect();
        programs.retain(|one| !one.guards.decide);
        Self { guards, rest: programs }
    }
}

impl StreamFilter {
    /// Binds expressions to the classes of a stream class, by its index.
    #[must_use]
    pub fn new(expressions: &[Expression], trace: &TraceClass, stream_class: usize) -> Self {
        Self::bound(expressions, trace, stream_class, None)
    }

    /// The same for records of a merge to which filters added the members of a structure.
    #[must_use]
    pub fn behind(
        expressions: &[Expression],
        trace: &TraceClass,
        stream_class: usize,
        added: &FieldClass,
    ) -> Self {
        Self::bound(expressions, trace, stream_class, Some(added))
    }

    fn bound(
        expressions: &[Expression],
        trace: &TraceClass,
        stream_class: usize,
        added: Option<&FieldClass>,
    ) -> Self {
        let Some(stream) = trace.stream_classes.get(stream_class) else { return Self::default() };
        let at = Place { trace, stream, added };
        let mut outer = Vec::new();
        let mut classes = Vec::with_capacity(stream.event_classes.len());
        for event in &stream.event_classes {
            let mut one = |code: &Expression| bind(code, &at, event, &mut outer);
            let programs: Option<Vec<_>> = expressions.iter().map(&mut one).collect();
            classes.push(programs.map(ClassFilter::new));
        }
        Self { classes, outer }
    }

    /// For each event record class whether its records can pass.
    pub fn possible(&self) -> impl Iterator<Item = bool> + '_ {
        self.classes.iter().map(Option::is_some)
    }

    /// The fields that are needed of a packet's context.
    fn packet_values<'a>(&self, stream: &DataStream, packet: &'a Packet) -> Vec<Fetched<'a>> {
        let class = stream.trace.stream_classes.get(stream.class);
        let class = class.and_then(|class| class.packet_context.as_ref());
        let mut state = packet.state();
        let value = |outer: &Outer| {
            let (Outer::Packet(path), Some(class)) = (outer, class) else {
                return Fetched::Missing;
            };
            let mut reader = packet.context_reader();
            state.forget_empty_elements();
            fetch(class, path, &mut reader, &mut state).unwrap_or(Fetched::Missing)
        };
        self.outer.iter().map(value).collect()
    }
}

/// The value that a path leads to in what filters added to a record.
fn added_value<'a>(
    path: &[Segment],
    added: impl Fn(&str) -> Option<(Arc<FieldClass>, Vec<u8>)>,
) -> Option<Fetched<'a>> {
    let (Segment::Member(name), rest) = path.split_first()? else { return None };
    let (class, data) = added(name)?;
    let (mut reader, mut state) = (BitReader::new(&data, 0, u64::MAX), State::new(0));
    Some(match fetch(&class, rest, &mut reader, &mut state).ok()? {
        Fetched::Text(text) => Fetched::Converted(text.to_vec()),
        Fetched::Converted(text) => Fetched::Converted(text),
        Fetched::Integer(value) => Fetched::Integer(value),
        Fetched::Real(value) => Fetched::Real(value),
        Fetched::Pending | Fetched::Missing => Fetched::Missing,
    })
}

/// Tells of the records in some bytes of a packet whether they pass.
pub struct Evaluator<'a> {
    filter: &'a StreamFilter,
    stream: &'a DataStream,
    packet: &'a Packet,
    data: &'a [u8],
    /// Where the runs of the record begin that was found last.
    pub starts: RunStarts,
    machine: Option<Machine<'a>>,
}

/// What running an expression needs; many packets are gone through without.
struct Machine<'a> {
    outer: Vec<Fetched<'a>>,
    state: State,
    slots: Vec<Fetched<'a>>,
    stack: Stack,
}

impl<'a> Evaluator<'a> {
    /// An evaluator for the records in some bytes of a packet.
    #[must_use]
    pub fn new(
        filter: &'a StreamFilter,
        stream: &'a DataStream,
        packet: &'a Packet,
        data: &'a [u8],
    ) -> Self {
        Self { filter, stream, packet, data, starts: RunStarts::default(), machine: None }
    }

    /// Whether a record passes, whose runs begin at `starts`.
    #[inline(always)]
    pub fn passes(&mut self, record: &Record) -> bool {
        let filter = self.filter;
        let Some(Some(class)) = filter.classes.get(record.class as usize) else { return false };
        for guard in &class.guards {
            if !guard.holds(self.data, &self.starts) {
                return false;
            }
        }
        class.rest.iter().all(|program| self.run(program, record))
    }

    /// Whether a record of a merge passes, where expressions were bound to such; `added` gives
    /// the class and the bytes of a field that a filter added to it.
    pub fn passes_behind(
        &mut self,
        record: &Record,
        added: impl Fn(&str) -> Option<(Arc<FieldClass>, Vec<u8>)>,
    ) -> bool {
        let filter = self.filter;
        let Some(Some(class)) = filter.classes.get(record.class as usize) else { return false };
        let machine = self.machine();
        for (outer, value) in filter.outer.iter().zip(&mut machine.outer) {
            if let Outer::Added(path) = outer {
                *value = added_value(path, &added).unwrap_or(Fetched::Missing);
            }
        }
        class.rest.iter().all(|program| self.run(program, record))
    }

    fn machine(&mut self) -> &mut Machine<'a> {
        let Self { filter, stream, packet, machine, .. } = self;
        machine.get_or_insert_with(|| Machine {
            outer: filter.packet_values(stream, packet),
            state: packet.state(),
            slots: Vec::new(),
            stack: [Operand::Integer(0); EXPRESSION_DEPTH],
        })
    }

    fn run(&mut self, program: &Program, record: &Record) -> bool {
        self.machine();
        let Self { stream, data, starts, machine: Some(machine), .. } = self else { return false };
        let Machine { outer, state, slots, stack } = machine;
        let reader = stream.body_reader(data, record, state);
        program.is_true(Fields { reader, starts, state, slots, outer }, stack)
    }
}
