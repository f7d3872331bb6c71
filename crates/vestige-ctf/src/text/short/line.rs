//! One event as one line.

use super::options::{Colors, ShortOptions};
use super::place::PlaceText;
use super::plan::{EventPlan, ScopePlan, StreamPlan};
use super::step::{push_step, STEP_COLUMNS};
use super::who::{Facts, WhoText};
use super::width::{columns, cut, push_spaces};
use crate::bits::BitReader;
use crate::record::{DecodeError, State};
use crate::stream::{Batch, Part, Record};
use crate::text::digits::{push_decimal, push_decimal_padded};
use crate::text::fields::FieldWriter;
use crate::text::header::Last;
use crate::text::options::Options;
use crate::text::renderer::MAX_TEXT;
use crate::text::time::TimeFormatter;

/// Spaces between columns.
const GAP: usize = 2;
/// Lines are not cut to less, however narrow the terminal is.
const LEAST_WIDTH: usize = 60;
/// With fewer columns left for them, fields and place are cut with all of the line.
const LEAST_ROOM: usize = 8;
/// Widest columns that others are aligned behind, when nothing limits the line.
const WIDEST: Widths = Widths { who: 32, name: 40, fields: 48 };

/// How wide the columns are that have no width of their own.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Widths {
    /// Process and thread.
    pub who: usize,
    /// Name of the event.
    pub name: usize,
    /// Fields.
    pub fields: usize,
}

impl Widths {
    /// The wider ones of two.
    pub fn max(self, other: Self) -> Self {
        Self {
            who: self.who.max(other.who),
            name: self.name.max(other.name),
            fields: self.fields.max(other.fields),
        }
    }

    /// The narrower ones of two.
    pub fn min(self, other: Self) -> Self {
        Self {
            who: self.who.min(other.who),
            name: self.name.min(other.name),
            fields: self.fields.min(other.fields),
        }
    }

    /// The widest that a line may have.
    pub fn most(width: Option<usize>) -> Self {
        let Some(width) = width else { return WIDEST };
        Self {
            who: WIDEST.who.min(width / 5),
            name: WIDEST.name.min(width / 3),
            fields: WIDEST.fields.min(width / 3),
        }
    }
}

/// What all lines share.
pub struct Layout<'a> {
    /// Options of the layout.
    pub options: &'a ShortOptions,
    /// Options of the fields.
    pub fields: &'a Options,
    /// Colours.
    pub colors: &'a Colors,
    /// How wide the columns are.
    pub widths: Widths,
    /// How wide they may become.
    pub most: Widths,
}

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
    layout: &'a Layout<'a>,
    /// The lines.
    pub out: Vec<u8>,
    /// Fields of contexts, which come after those of the payload.
    contexts: Vec<u8>,
    who: WhoText,
    /// The place of an event of which only the address is known.
    address: PlaceText,
    /// The place of a call with its arguments or its result.
    call: PlaceText,
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
        self.facts = Facts { name: b"", arguments: b"", result: b"", ..facts };
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
        place: Option<&PlaceText>,
        (clock, last): (&mut TimeFormatter, &mut Last),
    ) -> Result<(), DecodeError> {
        let start = self.out.len();
        if plan.timed {
            self.time((record.cycles, batch.nanoseconds(record)), clock, last);
        }
        plan.label.push(&mut self.out);
        let mut facts = Facts { name: &packet.name, ..packet.facts };
        let mut reader = batch.body_reader(record, &mut packet.state);
        self.contexts.clear();
        for scope in [&plan.event_context, &event.context].into_iter().flatten() {
            self.context(scope, &mut reader, &mut facts, &mut packet.state)?;
        }
        self.who_and_name(&facts, event);
        let fields = self.out.len();
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
        self.end(start, fields, place.filter(|place| place.columns() > 0), &facts);
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
    fn who_and_name(&mut self, facts: &Facts<'_>, event: &EventPlan) {
        let Layout { colors, widths, .. } = *self.layout;
        let (who, width) = self.who.of(facts, colors);
        self.out.extend_from_slice(who);
        self.seen.who = self.seen.who.max(width);
        if widths.who.max(width) > 0 {
            push_spaces(&mut self.out, widths.who.saturating_sub(width) + GAP);
        }
        event.name.push(&mut self.out);
        self.seen.name = self.seen.name.max(event.columns);
        push_spaces(&mut self.out, widths.name.saturating_sub(event.columns) + GAP);
    }

    /// Appends the place, cuts what does not fit and ends the line.
    #[inline]
    fn end(&mut self, start: usize, fields: usize, place: Option<&PlaceText>, facts: &Facts<'_>) {
        let written = columns(self.out.get(fields..).unwrap_or_default());
        let mut alone = std::mem::take(&mut self.address);
        let mut place = match (place, facts.address) {
            (None, Some(address)) => {
                alone.set_address(address);
                Some(&alone)
            }
            (place, _) => place,
        };
        let mut call = std::mem::take(&mut self.call);
        if !(facts.arguments.is_empty() && facts.result.is_empty()) {
            let nowhere = PlaceText::default();
            call.set_call(place.unwrap_or(&nowhere), facts.arguments, facts.result);
            place = Some(&call);
        }
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
        self.address = alone;
        self.call = call;
        self.seen.fields = self.seen.fields.max(written.min(self.layout.most.fields));
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
