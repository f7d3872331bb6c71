//! Expressions that are bound to the event record classes of a stream class.

use super::agreement::EXPRESSION_DEPTH;
use super::bind::bind;
use super::code::Expression;
use super::fetch::{fetch, Fetched};
use super::path::Path;
use super::program::{Fields, Operand, Program, Stack};
use crate::model::TraceClass;
use crate::record::State;
use crate::stream::{Batch, Part, Record};

/// Expressions for the records of a stream class: all of them must be true.
#[derive(Debug, Default)]
pub struct StreamFilter {
    /// For each event record class the bound expressions; `None` where one is never true.
    classes: Vec<Option<Vec<Program>>>,
    /// What they need of the packet context.
    packet: Vec<Path>,
}

impl StreamFilter {
    /// Binds expressions to the classes of a stream class, by its index.
    #[must_use]
    pub fn new(expressions: &[Expression], trace: &TraceClass, stream_class: usize) -> Self {
        let Some(stream) = trace.stream_classes.get(stream_class) else { return Self::default() };
        let mut packet = Vec::new();
        let mut classes = Vec::with_capacity(stream.event_classes.len());
        for event in &stream.event_classes {
            let mut one = |code: &Expression| bind(code, trace, stream, event, &mut packet);
            classes.push(expressions.iter().map(&mut one).collect());
        }
        Self { classes, packet }
    }

    /// For each event record class whether its records can pass.
    pub fn possible(&self) -> impl Iterator<Item = bool> + '_ {
        self.classes.iter().map(Option::is_some)
    }

    /// The fields that are needed of a packet's context.
    fn packet_values<'a>(&self, batch: &'a Batch, part: &'a Part) -> Vec<Fetched<'a>> {
        let class = batch.stream_class().and_then(|class| class.packet_context.as_ref());
        let Some(class) = class else { return vec![Fetched::Missing; self.packet.len()] };
        let mut state = part.state();
        let value = |path: &Path| {
            let mut reader = part.context_reader();
            state.forget_empty_elements();
            fetch(class, path, &mut reader, &mut state).unwrap_or(Fetched::Missing)
        };
        self.packet.iter().map(value).collect()
    }
}

/// Tells of the records of one packet whether they pass.
pub struct Evaluator<'a> {
    filter: &'a StreamFilter,
    batch: &'a Batch,
    packet: Vec<Fetched<'a>>,
    state: State,
    slots: Vec<Fetched<'a>>,
    stack: Stack,
}

impl<'a> Evaluator<'a> {
    /// An evaluator for the records of the first part of a batch.
    #[must_use]
    pub fn new(filter: &'a StreamFilter, batch: &'a Batch) -> Self {
        let part = batch.part(0);
        let packet = filter.packet_values(batch, part);
        let stack = [Operand::Integer(0); EXPRESSION_DEPTH];
        Self { filter, batch, packet, state: part.state(), slots: Vec::new(), stack }
    }

    /// Whether a record passes.
    #[inline]
    pub fn passes(&mut self, record: &Record) -> bool {
        let Some(Some(programs)) = self.filter.classes.get(record.class as usize) else {
            return false;
        };
        programs.iter().all(|program| {
            let reader = self.batch.body_reader(record, &mut self.state);
            let (state, slots) = (&mut self.state, &mut self.slots);
            let fields = Fields { reader, state, slots, packet: &self.packet };
            program.is_true(fields, &mut self.stack)
        })
    }
}
