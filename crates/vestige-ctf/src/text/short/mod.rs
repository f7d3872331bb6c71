//! Event records as short lines for people: time, step, trace, process and thread, name,
//! fields, and `function at file:line`.
//!
//! Columns are as wide as what was seen so far: the first records are rendered twice, and
//! columns may grow from one merge to the next. So the text does not depend on which core
//! renders what.

mod calls;
mod layout;
mod line;
mod options;
mod place;
mod plan;
mod step;
mod who;
mod width;

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use vestige_escapes::push_safe;

use self::layout::{Layout, Widths};
use self::line::{LineWriter, PacketText};
use self::options::Colors;
use self::place::PlaceText;
use self::plan::{EventPlan, StreamPlan};
use super::options::Options;
use super::plans::PlanTable;
use super::renderer::{MAX_TEXT, TEXT_STEP};
use super::tasks::{in_waves, Piece, Pieces, Task, Timeline};
use super::time::{OffsetSource, TimeFormatter};
use crate::calls::Mark;
use crate::derived::{Derived, MadeOf, OfValues};
use crate::encode::value::{Cell, Value};
use crate::error::CtfError;
use crate::muxer::Merge;
use crate::places::{place_texts, USER_STACKS};

pub use options::ShortOptions;

/// Renders merges to short lines.
pub struct ShortRenderer {
    options: ShortOptions,
    fields: Options,
    colors: Colors,
    clock: TimeFormatter,
    timeline: Timeline,
    plans: PlanTable<StreamPlan>,
    places: OfValues<Option<PlaceText>>,
    stacks: OfValues<Vec<u8>>,
    /// Of the columns of all lines so far; none before the first.
    widths: Option<Widths>,
    pieces: Pieces,
}

impl ShortRenderer {
    /// A renderer with some options; `offset` tells the local time zone.
    #[must_use]
    pub fn new(options: ShortOptions, offset: OffsetSource) -> Self {
        Self {
            fields: options.of_fields(),
            colors: if options.color { Colors::of_terminal() } else { Colors::default() },
            clock: TimeFormatter::new(options.clock, offset),
            options,
            timeline: Timeline::default(),
            plans: PlanTable::default(),
            places: OfValues::default(),
            stacks: OfValues::default(),
            widths: None,
            pieces: Pieces::default(),
        }
    }

    /// Appends a time as the lines show it.
    pub fn push_time(&mut self, out: &mut Vec<u8>, nanoseconds: i64) {
        self.clock.push(out, nanoseconds);
    }

    /// Gives the text of the records of some runs of a merge to `write`, piece by piece in
    /// order, until it returns `false`. `first` is the index in the merge of the first record of
    /// the runs. `derived` are the columns that filters added, of which a line shows the first place,
    /// and `marks` say what the records are in calls.
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
        (derived, marks): (&[Arc<Derived>], Option<&[Mark]>),
        write: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), (usize, CtfError)> {
        let (table, options, fields) = (&mut self.plans, &self.options, &self.fields);
        let plans = merge.batches.iter().map(|batch| {
            let stream = &batch.stream;
            table.of(stream, || StreamPlan::new(stream, options, fields))
        });
        let plans: Vec<Arc<StreamPlan>> = plans.collect();
        let colors = &self.colors;
        self.places
            .update(derived, |_| |value: &_| Some(PlaceText::new(place_texts(value)?, colors)));
        let stacks = derived.iter().position(|one| one.name == USER_STACKS);
        let stacks = stacks.and_then(|at| derived.get(at..=at)).unwrap_or_default();
        self.stacks.update(stacks, |_| |value: &_| stack_text(value));
        let tasks = self.timeline.tasks(merge, merge.runs.get(runs).unwrap_or_default(), first);
        let most = Widths::most(self.options.width);
        let mut layout = Layout {
            options: &self.options,
            fields: &self.fields,
            colors: &self.colors,
            widths: self.widths.unwrap_or_default(),
            most,
        };
        let shared = Shared {
            merge,
            plans: &plans,
            places: self.places.columns(derived),
            stacks: self.stacks.columns(stacks),
            marks,
            written: AtomicUsize::new(0),
            pieces: &self.pieces,
        };
        if let (None, Some(task)) = (self.widths, tasks.first()) {
            let (_, seen) = shared.task(task, &layout, &mut self.clock.clone());
            layout.widths = seen.min(most);
            if self.options.indent {
                // What is indented has no columns.
                (layout.widths.name, layout.widths.fields) = (0, 0);
            }
            shared.written.store(0, Ordering::Relaxed);
        }
        let render = |clock: &mut TimeFormatter, task| shared.task(&task, &layout, clock);
        let mut widths = layout.widths;
        let rendered = in_waves(tasks, &self.clock, render, |(piece, seen)| {
            widths = widths.max(seen);
            self.pieces.write(piece, write)
        });
        let aligned =
            if self.options.indent { Widths { who: most.who, ..Widths::default() } } else { most };
        self.widths = Some(widths.min(aligned));
        rendered
    }
}

/// What all tasks of a merge share.
struct Shared<'a> {
    merge: &'a Merge,
    plans: &'a [Arc<StreamPlan>],
    places: Vec<MadeOf<'a, Option<PlaceText>>>,
    stacks: Vec<MadeOf<'a, Vec<u8>>>,
    marks: Option<&'a [Mark]>,
    /// About how much text all tasks have written.
    written: AtomicUsize,
    pieces: &'a Pieces,
}

impl Shared<'_> {
    fn task(&self, task: &Task, layout: &Layout<'_>, clock: &mut TimeFormatter) -> (Piece, Widths) {
        let mut lines = LineWriter::new(layout, self.pieces.take());
        let mut packets: Vec<(Option<u32>, PacketText)> = Vec::new();
        packets.resize_with(self.merge.batches.len(), Default::default);
        let mut last = task.last;
        let mut index = task.first;
        let mut told = 0;
        for run in &task.runs {
            let Some((batch, records)) = self.merge.run(run) else { continue };
            let Some(plan) = self.plans.get(run.batch as usize) else { continue };
            let Some((part, packet)) = packets.get_mut(run.batch as usize) else { continue };
            if *part != Some(run.part) {
                packet.read(batch.part(run.part), plan, layout.fields);
                *part = Some(run.part);
            }
            for record in records {
                let length = lines.out.len();
                if length - told > TEXT_STEP {
                    self.written.fetch_add(length - told, Ordering::Relaxed);
                    told = length;
                }
                let others = self.written.load(Ordering::Relaxed).saturating_sub(told);
                lines.most = MAX_TEXT.saturating_sub(others);
                let event = plan.events.get(&batch.stream, record.class, |class| {
                    EventPlan::new(class, layout, plan.symbols.as_ref())
                });
                let Some(event) = event else { continue };
                let time = (&mut *clock, &mut last);
                let known = (self.place(index), self.mark(index), self.stack(index));
                let written = lines.line((batch, record), (plan, event), packet, known, time);
                if let Err(error) = written {
                    lines.out.truncate(length);
                    let at = batch.file_offset(record);
                    let error = CtfError::record(at, error.to_string());
                    return ((lines.out, Some((run.batch as usize, error))), lines.seen);
                }
                index += 1;
            }
        }
        ((lines.out, None), lines.seen)
    }

    #[inline]
    fn mark(&self, index: usize) -> Option<&Mark> {
        self.marks?.get(index)
    }

    #[inline]
    fn stack(&self, index: usize) -> &[u8] {
        self.stacks.iter().find_map(|one| one.get(index)).map_or(b"", Vec::as_slice)
    }

    #[inline]
    fn place(&self, index: usize) -> Option<&PlaceText> {
        self.places.iter().find_map(|one| one.get(index)?.as_ref())
    }
}

/// The text of a call stack of a program, as a line shows it.
fn stack_text(value: &Value) -> Vec<u8> {
    let mut out = vec![b'['];
    push_safe(&mut out, Cell::Value(value).bytes().unwrap_or_default(), b"");
    out.push(b']');
    out
}
