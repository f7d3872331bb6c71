//! One event as one line.

use super::layout::{indent_columns, Layout, Widths, GAP, LEAST_WIDTH};
use super::place::PlaceText;
use super::plan::{EventPlan, ScopePlan, StreamPlan};
use super::step::{push_duration, push_step, STEP_COLUMNS};
use super::who::{Facts, WhoText};
use super::width::{columns, cut, push_spaces};
use crate::bits::BitReader;
use crate::calls::{Mark, MarkKind};
use crate::record::{DecodeError, State};
use crate::stream::{Batch, Part, Record};
use crate::text::digits::{push_decimal, push_decimal_padded};
use crate::text::fields::FieldWriter;
use crate::text::header::Last;
use crate::text::options::Options;
use crate::text::renderer::MAX_TEXT;
use crate::text::time::TimeFormatter;

/// With fewer columns left for them, fields and place are cut with all of the line.
const LEAST_ROOM: usize = 8;
/// What is kept of a packet from run to run.
#[derive(Default)]
pub struct PacketText {
    facts: Facts<'static>,
    name: Vec<u8>,
    /// Fields of the packet context that have no role.
    fields: Vec<u8>,
    state: State,
}

/// Writes the lines of a task.
pub struct LineWriter<'a> {
    pub(super) layout: &'a Layout<'a>,
    /// The lines.
    pub out: Vec<u8>,
    /// Fields of contexts, which come after those of the payload.
    contexts: Vec<u8>,
    who: WhoText,
    /// The place of an event of which only the address is known.
    address: PlaceText,
    /// The place of a call with its arguments or its result.
    call: PlaceText,
    /// The fields of a call, which come after it where it has a brace.
    pub(super) fields: Vec<u8>,
    /// How wide the columns would have to be.
    pub seen: Widths,
    /// How long the text may become.
    pub most: usize,
}

impl PacketText {
    /// Notes what a packet says of all its records.
    pub fn read(&mut self, part: &Part, plan: &StreamPlan, fields: &Options) {
        self.fields.clear();
        self.state = part.state();
        self.facts = Facts { process: plan.process, ..Facts::default() };
        let mut facts = Facts { name: &plan.name, ..self.facts };
        let (mut reader, mut state) = (part.context_reader(), State::default());
        if let Some(context) = &plan.packet_context {
            state.slots.resize(part.packet.slots.len(), 0);
            let (palette, style) = (&fields.palette, fields.style);
            let (out, state) = (&mut self.fields, &mut state);
            let mut writer = FieldWriter { out, state, palette, style, most: MAX_TEXT };
            // The packet was decoded when it was read, so this cannot fail now.
            let _ = context.write(&mut writer, &mut reader, &mut facts, 0);
        }
        self.name.clear();
        self.name.extend_from_slice(facts.name);
        self.facts = Facts { name: b"", arguments: b"", result: b"", stack: b"", ..facts };
    }
}

impl<'a> LineWriter<'a> {
    /// A writer of lines that come after what is in `out`.
    pub fn new(layout: &'a Layout<'a>, out: Vec<u8>) -> Self {
        Self {
            layout,
            out,
            contexts: Vec::new(),
            who: WhoText::default(),
            address: PlaceText::default(),
            call: PlaceText::default(),
            fields: Vec::new(),
            seen: Widths::default(),
            most: MAX_TEXT,
        }
    }

    /// Appends the line of a record.
    ///
    /// # Errors
    ///
    /// When a field does not fit the data; a part of the line is written then.
    #[inline]
    pub fn line(
        &mut self,
        (batch, record): (&Batch, &Record),
        (plan, event): (&StreamPlan, &EventPlan),
        packet: &mut PacketText,
        (place, mark, stack): (Option<&PlaceText>, Option<&Mark>, &[u8]),
        (clock, last): (&mut TimeFormatter, &mut Last),
    ) -> Result<(), DecodeError> {
        let start = self.out.len();
        if plan.timed {
            self.time((record.cycles, batch.nanoseconds(record)), clock, last);
        }
        plan.label.push(&mut self.out);
        let mut facts = Facts { name: &packet.name, stack, ..packet.facts };
        let mut reader = batch.body_reader(record, &mut packet.state);
        self.contexts.clear();
        for scope in [&plan.event_context, &event.context].into_iter().flatten() {
            self.context(scope, &mut reader, &mut facts, &mut packet.state)?;
        }
        self.who(&facts);
        let braces = mark.filter(|mark| self.layout.options.indent && mark.kind != MarkKind::Other);
        if braces.is_none() {
            if self.layout.options.indent {
                push_spaces(&mut self.out, indent_columns(mark, self.layout.options.width));
            }
            self.name(event);
        }
        let fields = self.out.len();
        if let (None, Some(duration)) = (braces, mark.and_then(|mark| mark.duration)) {
            push_duration(&mut self.out, duration, self.layout.options.ascii, self.layout.colors);
        }
        if let Some(payload) = &event.payload {
            let (palette, style) = (&self.layout.fields.palette, self.layout.fields.style);
            let (out, most) = (&mut self.out, self.most);
            let state = &mut packet.state;
            let mut writer = FieldWriter { out, state, palette, style, most };
            payload.write(&mut writer, &mut reader, &mut facts, fields)?;
        }
        for more in [&self.contexts, &packet.fields] {
            if !more.is_empty() {
                if self.out.len() > fields {
                    self.out.push(b' ');
                }
                self.out.extend_from_slice(more);
            }
        }
        let place = place.filter(|place| place.columns() > 0);
        match braces {
            Some(mark) => self.end_with_braces((start, fields), mark, place, &facts),
            None => self.end(start, fields, place, &facts),
        }
        Ok(())
    }

    #[inline]
    fn context<'b>(
        &mut self,
        scope: &ScopePlan,
        reader: &mut BitReader<'b>,
        facts: &mut Facts<'b>,
        state: &mut State,
    ) -> Result<(), DecodeError> {
        let (palette, style) = (&self.layout.fields.palette, self.layout.fields.style);
        let (out, most) = (&mut self.contexts, self.most);
        let mut writer = FieldWriter { out, state, palette, style, most };
        scope.write(&mut writer, reader, facts, 0)
    }

    #[inline]
    fn time(
        &mut self,
        (cycles, nanoseconds): (u64, i64),
        clock: &mut TimeFormatter,
        last: &mut Last,
    ) {
        let Self { layout: Layout { options, colors, .. }, out, .. } = self;
        out.extend_from_slice(colors.dim.as_bytes());
        if options.clock.cycles {
            push_decimal_padded(out, cycles, 20);
        } else {
            clock.push(out, nanoseconds);
        }
        out.extend_from_slice(colors.reset.as_bytes());
        out.push(b' ');
        if options.clock.delta {
            match (last.nanoseconds, last.cycles) {
                (Some(_), Some(before)) if options.clock.cycles => {
                    out.push(b'+');
                    push_decimal(out, cycles.wrapping_sub(before));
                }
                (Some(before), _) => {
                    push_step(out, nanoseconds.wrapping_sub(before), options.ascii, colors);
                }
                _ => push_spaces(out, STEP_COLUMNS),
            }
            out.push(b' ');
        }
        out.push(b' ');
        *last = Last { nanoseconds: Some(nanoseconds), cycles: Some(cycles) };
    }

    #[inline]
    fn who(&mut self, facts: &Facts<'_>) {
        let Layout { colors, widths, .. } = *self.layout;
        let (who, width) = self.who.of(facts, colors);
        self.out.extend_from_slice(who);
        self.seen.who = self.seen.who.max(width);
        if widths.who.max(width) > 0 {
            push_spaces(&mut self.out, widths.who.saturating_sub(width) + GAP);
        }
    }

    #[inline]
    fn name(&mut self, event: &EventPlan) {
        event.name.push(&mut self.out);
        self.seen.name = self.seen.name.max(event.columns);
        push_spaces(&mut self.out, self.layout.widths.name.saturating_sub(event.columns) + GAP);
    }

    /// Appends the place, cuts what does not fit and ends the line.
    #[inline]
    fn end(&mut self, start: usize, fields: usize, place: Option<&PlaceText>, facts: &Facts<'_>) {
        let written = columns(self.out.get(fields..).unwrap_or_default());
        let mut made = (std::mem::take(&mut self.address), std::mem::take(&mut self.call));
        let place = whole_place(place, facts, &mut made);
        if let Some(width) = self.layout.options.width {
            let width = width.max(LEAST_WIDTH);
            let before = columns(self.out.get(start..fields).unwrap_or_default());
            let room = width.saturating_sub(before);
            self.limited_end(room.max(LEAST_ROOM), (fields, written), place);
            if room < LEAST_ROOM && columns(self.out.get(start..).unwrap_or_default()) > width {
                let (sign, reset) = (self.sign(), self.layout.colors.reset);
                cut(&mut self.out, start, width, sign, reset);
            }
        } else if let Some(place) = place {
            self.pad(written);
            place.push_to(&mut self.out);
        }
        (self.address, self.call) = made;
        self.seen.fields = self.seen.fields.max(written.min(self.layout.most.fields));
        self.end_line();
    }

    /// Ends the line of a call that has braces: what is called, and how long it took.
    fn end_with_braces(
        &mut self,
        (start, fields): (usize, usize),
        mark: &Mark,
        place: Option<&PlaceText>,
        facts: &Facts<'_>,
    ) {
        let mut made = (std::mem::take(&mut self.address), std::mem::take(&mut self.call));
        let place = whole_place(place, facts, &mut made);
        self.braces(fields, mark, place);
        (self.address, self.call) = made;
        if let Some(width) = self.layout.options.width.map(|width| width.max(LEAST_WIDTH)) {
            if columns(self.out.get(start..).unwrap_or_default()) > width {
                let (sign, reset) = (self.sign(), self.layout.colors.reset);
                cut(&mut self.out, start, width, sign, reset);
            }
        }
        self.end_line();
    }

    #[inline]
    fn end_line(&mut self) {
        while self.out.last() == Some(&b' ') {
            self.out.pop();
        }
        self.out.push(b'\n');
    }

    #[inline]
    fn pad(&mut self, written: usize) {
        let width = self.layout.widths.fields.max(written);
        if width > 0 {
            push_spaces(&mut self.out, width - written + GAP);
        }
    }

    /// What stands for text that is cut.
    fn sign(&self) -> &'static str {
        if self.layout.options.ascii {
            "..."
        } else {
            "\u{2026}"
        }
    }

    /// Ends a line that has room for so many columns more.
    fn limited_end(
        &mut self,
        room: usize,
        (fields, written): (usize, usize),
        place: Option<&PlaceText>,
    ) {
        let (sign, reset) = (self.sign(), self.layout.colors.reset);
        let Some(place) = place else {
            if written > room {
                cut(&mut self.out, fields, room, sign, reset);
            }
            return;
        };
        let wanted = place.columns();
        let gap = if written > 0 { GAP } else { 0 };
        if written + gap + wanted <= room {
            let aligned = self.layout.widths.fields.max(written) + GAP;
            let space = if self.layout.widths.fields == 0 { gap } else { aligned - written };
            push_spaces(&mut self.out, space.min(room - written - wanted));
            place.push_to(&mut self.out);
            return;
        }
        // The place has half of the room, or what the fields leave.
        let place_room = wanted.min((room / 2).max(room.saturating_sub(written + gap)));
        if written + gap + place_room > room {
            cut(&mut self.out, fields, room - gap - place_room, sign, reset);
        }
        push_spaces(&mut self.out, gap);
        place.push_cut(&mut self.out, place_room, sign, reset);
    }
}

/// What is known of the place of an event, with what its function is called with or ended
/// with; `made` holds what has to be made for that: an address, and a call.
#[inline]
fn whole_place<'p>(
    known: Option<&'p PlaceText>,
    facts: &Facts<'_>,
    made: &'p mut (PlaceText, PlaceText),
) -> Option<&'p PlaceText> {
    let (alone, call) = made;
    let place: Option<&'p PlaceText> = match (known, facts.address) {
        (None, Some(address)) => {
            alone.set_address(address);
            Some(alone)
        }
        (known, _) => known,
    };
    if facts.arguments.is_empty() && facts.result.is_empty() {
        return place;
    }
    let nowhere = PlaceText::default();
    call.set_call(place.unwrap_or(&nowhere), facts.arguments, facts.result);
    Some(call)
}
