//! Rendering a merge: all its records, in order, on all cores.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use super::fields::FieldWriter;
use super::header::{push_name, HeaderPlan};
use super::options::Options;
use super::plan::{push_field_name, FieldPlan};
use super::plans::{EventPlans, PlanTable};
use super::snippet::Snippet;
use super::tasks::{in_waves, Piece, Pieces, Task, Timeline};
use super::time::{OffsetSource, TimeFormatter};
use crate::bits::BitReader;
use crate::derived::{Derived, MadeOf, OfValues};
use crate::encode::encoded;
use crate::encode::value::{Cell, Value};
use crate::error::CtfError;
use crate::model::{EventClass, FieldClass};
use crate::muxer::Merge;
use crate::record::{DecodeError, State};
use crate::stream::{Batch, DataStream, Record};

/// Longest text of a merge that has arrays in it; merges are far smaller, but for a record
/// that is all arrays of single bits.
pub(super) const MAX_TEXT: usize = 512 * 1024 * 1024;
/// How much text a task writes before it tells the other tasks.
pub(super) const TEXT_STEP: usize = 1024 * 1024;

/// The plans of one data stream's stream class.
struct StreamPlan {
    packet_context: Option<FieldPlan>,
    event_context: Option<FieldPlan>,
    events: EventPlans<EventPlan>,
}

/// The plans of one event record class.
struct EventPlan {
    header: HeaderPlan,
    context: Option<FieldPlan>,
    payload: Option<FieldPlan>,
}

/// Renders merges to text.
pub struct Renderer {
    options: Options,
    clock: TimeFormatter,
    timeline: Timeline,
    plans: PlanTable<StreamPlan>,
    values: OfValues<Vec<u8>>,
    pieces: Pieces,
}

impl Renderer {
    /// A renderer with some options; `offset` tells the local time zone.
    #[must_use]
    pub fn new(options: Options, offset: OffsetSource) -> Self {
        let clock = TimeFormatter::new(options.clock, offset);
        Self {
            options,
            clock,
            timeline: Timeline::default(),
            plans: PlanTable::default(),
            values: OfValues::default(),
            pieces: Pieces::default(),
        }
    }

    /// Appends a time as the records show it.
    pub fn push_time(&mut self, out: &mut Vec<u8>, nanoseconds: i64) {
        self.clock.push(out, nanoseconds);
    }

    /// Gives the text of the records of some runs of a merge to `write`, piece by piece in
    /// order, until it returns `false`. `first` is the index in the merge of the first record of
    /// the runs; `derived` are the columns that filters added.
    ///
    /// # Errors
    ///
    /// A record that cannot be decoded, with the index of its batch; the text of everything
    /// before it is written.
    pub fn render(
        &mut self,
        merge: &Merge,
        runs: Range<usize>,
        first: usize,
        derived: &[Arc<Derived>],
        write: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), (usize, CtfError)> {
        let (table, options) = (&mut self.plans, &self.options);
        let plans = merge.batches.iter().map(|batch| {
            let stream = &batch.stream;
            table.of(stream, || stream_plan(stream, options))
        });
        let plans: Vec<Arc<StreamPlan>> = plans.collect();
        self.values.update(derived, |one| value_text(one, options));
        let tasks = self.timeline.tasks(merge, merge.runs.get(runs).unwrap_or_default(), first);
        let context = Context {
            options: &self.options,
            merge,
            plans: &plans,
            derived: self.values.columns(derived),
            written: AtomicUsize::new(0),
            pieces: &self.pieces,
        };
        let render = |clock: &mut TimeFormatter, task| context.task(&task, clock);
        in_waves(tasks, &self.clock, render, |piece| self.pieces.write(piece, write))
    }
}

/// What makes the text of the values of a column: `debug_info = { bin = "…", func = "…" }`.
fn value_text<'a>(one: &'a Derived, options: &'a Options) -> impl Fn(&Value) -> Vec<u8> + 'a {
    let named = options.names.context;
    let plan = FieldPlan::new(&one.class, options, named);
    move |value| {
        let mut out = Vec::new();
        if named {
            push_field_name(&mut out, options, &one.name);
        }
        // What does not fit its class is no field.
        let Ok(data) = encoded(&one.class, Cell::Value(value)) else { return Vec::new() };
        let mut reader = BitReader::new(&data, 0, u64::MAX);
        let (palette, style) = (&options.palette, options.style);
        let state = &mut State::new(0);
        let mut writer = FieldWriter { out: &mut out, state, palette, style, most: MAX_TEXT };
        match writer.field(&plan, &mut reader) {
            Ok(()) => out,
            Err(_) => Vec::new(),
        }
    }
}

fn stream_plan(stream: &DataStream, options: &Options) -> StreamPlan {
    let visible = |class: &Option<FieldClass>, named| {
        let class = class.as_ref()?;
        Some(FieldPlan::new(class, options, named))
    };
    let names = options.names;
    let events = EventPlans::new(stream);
    let Some(class) = stream.trace.stream_classes.get(stream.class) else {
        return StreamPlan { packet_context: None, event_context: None, events };
    };
    StreamPlan {
        packet_context: visible(&class.packet_context, names.context),
        event_context: visible(&class.event_context, names.context),
        events,
    }
}

impl EventPlan {
    #[cold]
    fn new(stream: &DataStream, event: &EventClass, options: &Options) -> Self {
        let DataStream { trace, identity, .. } = stream;
        let visible = |class: &Option<FieldClass>, named| {
            class.as_ref().map(|class| FieldPlan::new(class, options, named))
        };
        Self {
            header: HeaderPlan::new(options, trace, &identity.name, event, stream.has_clock()),
            context: visible(&event.context, options.names.context),
            payload: visible(&event.payload, options.names.payload),
        }
    }
}

/// What all tasks of a merge share.
struct Context<'a> {
    options: &'a Options,
    merge: &'a Merge,
    plans: &'a [Arc<StreamPlan>],
    derived: Vec<MadeOf<'a, Vec<u8>>>,
    /// About how much text all tasks have written.
    written: AtomicUsize,
    pieces: &'a Pieces,
}

/// What a task keeps of a batch from run to run, for the last packet.
struct BatchText {
    part: u32,
    packet_context: Snippet,
    state: State,
    /// How long the text of the task may become.
    most: usize,
}

impl Context<'_> {
    fn task(&self, task: &Task, clock: &mut TimeFormatter) -> Piece {
        let mut out = self.pieces.take();
        let mut texts: Vec<Option<BatchText>> = Vec::new();
        texts.resize_with(self.merge.batches.len(), || None);
        let mut last = task.last;
        let mut index = task.first;
        let mut told = 0;
        let mut joined = Vec::new();
        for run in &task.runs {
            let Some((batch, records)) = self.merge.run(run) else { continue };
            let Some(plan) = self.plans.get(run.batch as usize) else { continue };
            let Some(place) = texts.get_mut(run.batch as usize) else { continue };
            if place.as_ref().is_none_or(|text| text.part != run.part) {
                *place = Some(self.batch_text(batch, run.part, plan));
            }
            let Some(text) = place else { continue };
            for record in records {
                let length = out.len();
                if length - told > TEXT_STEP {
                    self.written.fetch_add(length - told, Ordering::Relaxed);
                    told = length;
                }
                let others = self.written.load(Ordering::Relaxed).saturating_sub(told);
                text.most = MAX_TEXT.saturating_sub(others);
                let times = (record.cycles, batch.nanoseconds(record));
                let event = plan.events.get(&batch.stream, record.class, |class| {
                    EventPlan::new(&batch.stream, class, self.options)
                });
                let Some(event) = event else { continue };
                event.header.push(&mut out, self.options, clock, times, &mut last);
                let added = self.added(index, &mut joined);
                if let Err(error) = self.body(&mut out, batch, record, (plan, event), text, added) {
                    out.truncate(length);
                    let at = batch.file_offset(record);
                    let error = CtfError::record(at, error.to_string());
                    return (out, Some((run.batch as usize, error)));
                }
                index += 1;
            }
        }
        (out, None)
    }

    /// The fields that filters added to a record, as text; `joined` is where several meet.
    #[inline]
    fn added<'b>(&'b self, index: usize, joined: &'b mut Vec<u8>) -> Option<&'b [u8]> {
        match self.derived.as_slice() {
            [] => None,
            [one] => one.get(index).map(Vec::as_slice).filter(|text| !text.is_empty()),
            several => {
                joined.clear();
                let texts = several.iter().filter_map(|one| one.get(index));
                for text in texts.filter(|text| !text.is_empty()) {
                    if !joined.is_empty() {
                        joined.extend_from_slice(b", ");
                    }
                    joined.extend_from_slice(text);
                }
                (!joined.is_empty()).then_some(joined.as_slice())
            }
        }
    }

    /// The text of the packet context, the same for all records of a packet.
    fn batch_text(&self, batch: &Batch, part: u32, plan: &StreamPlan) -> BatchText {
        let packet = &batch.part(part);
        let mut out = Vec::new();
        if let Some(context) = plan.packet_context.as_ref().filter(|plan| is_visible(plan)) {
            self.scope_name(&mut out, "stream.packet.context");
            let mut state = State::new(packet.packet.slots.len());
            let mut reader = packet.context_reader();
            let palette = &self.options.palette;
            let (most, style) = (MAX_TEXT, self.options.style);
            let out = &mut out;
            let mut writer = FieldWriter { out, state: &mut state, palette, style, most };
            // The packet was decoded when it was read, so this cannot fail now.
            let _ = writer.scope(context, &mut reader, None);
        }
        let packet_context = Snippet::new(&out);
        BatchText { part, packet_context, state: packet.state(), most: MAX_TEXT }
    }

    fn scope_name(&self, out: &mut Vec<u8>, name: &str) {
        if self.options.names.scope {
            push_name(out, self.options, name);
        }
    }

    #[inline]
    fn body(
        &self,
        out: &mut Vec<u8>,
        batch: &Batch,
        record: &Record,
        (plan, event): (&StreamPlan, &EventPlan),
        text: &mut BatchText,
        added: Option<&[u8]>,
    ) -> Result<(), DecodeError> {
        text.packet_context.push(out);
        let mut separator = !text.packet_context.is_empty();
        let mut reader = batch.body_reader(record, &mut text.state);
        let scopes = [
            (&plan.event_context, "stream.event.context", added),
            (&event.context, "event.context", None),
            (&event.payload, "event.fields", None),
        ];
        for (scope, name, last) in scopes {
            let Some(scope) = scope else {
                if let Some(added) = last {
                    self.added_alone(out, name, added, std::mem::replace(&mut separator, true));
                }
                continue;
            };
            let visible = is_visible(scope);
            if visible {
                if separator {
                    out.extend_from_slice(b", ");
                }
                separator = true;
                self.scope_name(out, name);
            }
            let palette = &self.options.palette;
            let (most, style) = (text.most, self.options.style);
            let mut writer = FieldWriter { out, state: &mut text.state, palette, style, most };
            writer.scope(scope, &mut reader, last)?;
        }
        out.push(b'\n');
        Ok(())
    }

    /// A common context in which nothing stands but what filters added.
    fn added_alone(&self, out: &mut Vec<u8>, name: &str, added: &[u8], separator: bool) {
        if separator {
            out.extend_from_slice(b", ");
        }
        self.scope_name(out, name);
        out.extend_from_slice(b"{ ");
        out.extend_from_slice(added);
        out.extend_from_slice(b" }");
    }
}

fn is_visible(plan: &FieldPlan) -> bool {
    !matches!(plan, FieldPlan::Hidden(_))
}
