//! Decoding the rows of a merge into a record batch.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use super::array::RecordBatch;
use super::builder::{Builder, Finish, NewLabels};
use super::layout::{AddedPlan, Layout};
use super::node::{Fields, Node};
use super::plan::StreamPlan;
use super::types::{Column, ColumnType};
use crate::bits::BitReader;
use crate::derived::Derived;
use crate::encode::encoded;
use crate::encode::value::{Cell, Value};
use crate::error::CtfError;
use crate::muxer::Merge;
use crate::record::{DecodeError, State};
use crate::stream::{Batch, Part, Record};

/// Most bytes of list elements of one record batch.
const MAX_ELEMENT_BYTES: u64 = 1 << 29;

/// A record batch whose dictionary columns lack their dictionaries: batches are decoded at
/// the same time, labels are numbered one batch after the other.
pub struct Decoded {
    /// The batch.
    pub batch: RecordBatch,
    /// Labels that are not among the first ones of their column.
    pub new_labels: Vec<(usize, NewLabels)>,
}

/// Decodes some rows of a merge, counted in its order; `derived` are the columns that filters
/// added.
///
/// The error is that of the first record which cannot be decoded, with the index of its
/// batch in the merge; the rows before it are in the result.
#[must_use]
pub fn decode(
    layout: &Layout,
    merge: &Merge,
    rows: Range<usize>,
    derived: &[Arc<Derived>],
) -> (Decoded, Option<(usize, CtfError)>) {
    let mut builders = Vec::with_capacity(layout.builders);
    layout.columns.iter().for_each(|column| add_builders(column, &mut builders));
    let mut decoder = Decoder { layout, builders, state: State::new(0), row: 0 };
    let mut error = None;
    let (mut index, mut last) = (0, None);
    for run in &merge.runs {
        let Some((batch, records)) = merge.run(run) else { continue };
        let begin = rows.start.saturating_sub(index).min(records.len());
        let end = rows.end.saturating_sub(index).min(records.len());
        index += records.len();
        let wanted = records.get(begin..end).unwrap_or_default();
        if wanted.is_empty() {
            continue;
        }
        let part = batch.part(run.part);
        if last.replace((run.batch, run.part)) != Some((run.batch, run.part)) {
            decoder.state.slots.clone_from(&part.packet.slots);
        }
        if let Err((record, wrong)) = decoder.run((batch, part), wanted) {
            let at = batch.file_offset(&record);
            error = Some((run.batch as usize, CtfError::record(at, wrong.to_string())));
            break;
        }
        if index >= rows.end {
            break;
        }
    }
    let count = decoder.row;
    for plan in &layout.added {
        for one in derived.iter().filter(|one| one.name == plan.name) {
            if plan.is_texts {
                decoder.put_texts(plan, one, rows.start..rows.start + count);
            } else {
                decoder.put_values(plan, one, rows.start..rows.start + count);
            }
        }
    }
    (decoder.finish(count), error)
}

fn add_builders(column: &Column, builders: &mut Vec<Builder>) {
    let labels = match &column.kind {
        ColumnType::Dictionary(labels) => labels.len(),
        _ => 0,
    };
    builders.push(Builder::new(&column.kind, labels));
    column.children().iter().for_each(|child| add_builders(child, builders));
}

struct Decoder<'a> {
    layout: &'a Layout,
    builders: Vec<Builder>,
    state: State,
    row: usize,
}

impl Decoder<'_> {
    /// Decodes a run of records of one part of a batch; an error comes with its record.
    fn run(
        &mut self,
        (batch, part): (&Batch, &Part),
        records: &[Record],
    ) -> Result<(), (Record, DecodeError)> {
        let Some(plan) = self.layout.plan(&batch.stream) else { return Ok(()) };
        self.packet(plan, part, records)?;
        self.times(plan, batch, records);
        self.repeat(self.layout.fixed.stream_id, plan.id, records.len());
        self.repeat(self.layout.fixed.trace, plan.trace, records.len());
        let event_column = self.layout.fixed.event;
        for record in records {
            let row = self.row;
            if let Some(event) = plan.events.get(record.class as usize) {
                if let (Some(to), Some(name)) = (event_column, event.name) {
                    self.put(to, row, name);
                }
                for &(to, number) in &event.constants {
                    self.put(to, row, number);
                }
                self.body(&event.scopes, batch, record).map_err(|wrong| (*record, wrong))?;
            }
            self.row += 1;
        }
        Ok(())
    }

    #[inline]
    fn put(&mut self, column: usize, row: usize, bits: u64) {
        if let Some(builder) = self.builders.get_mut(column) {
            builder.put(row, bits);
        }
    }

    #[inline]
    fn body(&mut self, scopes: &[Node], batch: &Batch, record: &Record) -> Result<(), DecodeError> {
        if scopes.is_empty() {
            return Ok(());
        }
        let mut reader = batch.body_reader(record, &mut self.state);
        let row = self.row;
        let mut fields = Fields {
            builders: &mut self.builders,
            state: &mut self.state,
            room: MAX_ELEMENT_BYTES,
        };
        for scope in scopes {
            fields.field(scope, row, &mut reader)?;
        }
        Ok(())
    }

    fn times(&mut self, plan: &StreamPlan, batch: &Batch, records: &[Record]) {
        let column = self.layout.fixed.timestamp.filter(|_| plan.timed);
        let Some(builder) = column.and_then(|to| self.builders.get_mut(to)) else { return };
        for (row, record) in (self.row..).zip(records) {
            builder.put(row, batch.nanoseconds(record) as u64);
        }
    }

    fn repeat(&mut self, column: Option<usize>, value: u64, count: usize) {
        let Some(builder) = column.and_then(|to| self.builders.get_mut(to)) else { return };
        for row in self.row..self.row + count {
            builder.put(row, value);
        }
    }

    /// Writes the packet context of all records of a run.
    fn packet(
        &mut self,
        plan: &StreamPlan,
        part: &Part,
        records: &[Record],
    ) -> Result<(), (Record, DecodeError)> {
        let (Some(node), Some(first)) = (&plan.packet, records.first()) else { return Ok(()) };
        let fail = |wrong| (*first, wrong);
        let Some(columns) = &plan.packet_numbers else {
            for row in self.row..self.row + records.len() {
                self.packet_row(node, part, row).map_err(fail)?;
            }
            return Ok(());
        };
        self.packet_row(node, part, self.row).map_err(fail)?;
        for &column in columns {
            let Some(builder) = self.builders.get_mut(column) else { continue };
            let value = builder.last().unwrap_or(0);
            for row in self.row + 1..self.row + records.len() {
                builder.put(row, value);
            }
        }
        Ok(())
    }

    fn packet_row(&mut self, node: &Node, part: &Part, row: usize) -> Result<(), DecodeError> {
        let (mut reader, mut state) = (part.context_reader(), part.state());
        let mut fields =
            Fields { builders: &mut self.builders, state: &mut state, room: MAX_ELEMENT_BYTES };
        fields.field(node, row, &mut reader)
    }

    /// Writes the values of an added field, decoded as any other.
    fn put_values(&mut self, plan: &AddedPlan, derived: &Derived, rows: Range<usize>) {
        let values = derived.values();
        let mut state = State::new(0);
        for (row, index) in rows.enumerate() {
            let Some(value) = values.cell(index) else { continue };
            let Ok(data) = encoded(&derived.class, value) else { continue };
            let mut fields =
                Fields { builders: &mut self.builders, state: &mut state, room: MAX_ELEMENT_BYTES };
            // What was encoded by its class can be decoded by it.
            let _ = fields.field(&plan.node, row, &mut BitReader::new(&data, 0, u64::MAX));
        }
    }

    /// Writes structures of texts, of which each is looked up once: their members are the
    /// columns behind that of the structure. A text of which nothing is known is none.
    fn put_texts(&mut self, plan: &AddedPlan, derived: &Derived, rows: Range<usize>) {
        let mut known: HashMap<u32, Vec<Option<u64>>> = HashMap::new();
        let values = derived.values();
        for (row, record) in rows.enumerate() {
            let Some(index) = derived.index(record) else { continue };
            let Some(Value::Structure(members)) = values.get(record) else { continue };
            if let Some(builder) = self.builders.get_mut(plan.to) {
                builder.put_structure(row);
            }
            let labels = known.entry(index).or_insert_with(|| vec![None; members.len()]);
            for ((to, text), label) in (plan.to + 1..).zip(members).zip(labels) {
                let Some(builder) = self.builders.get_mut(to) else { continue };
                match (*label, Cell::Value(text).bytes()) {
                    (Some(label), _) => builder.put(row, label),
                    (None, None | Some([])) => {}
                    (None, Some(text)) => {
                        // Labels of a few bytes always fit.
                        let _ = builder.put_text(row, text);
                        *label = builder.last();
                    }
                }
            }
        }
    }

    fn finish(self, rows: usize) -> Decoded {
        let mut finish = Finish::new(self.builders);
        let columns = self.layout.columns.iter();
        let columns = columns.map(|column| finish.column(column, rows)).collect();
        Decoded { batch: RecordBatch { rows, columns }, new_labels: finish.new_labels }
    }
}
