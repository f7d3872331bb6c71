//! Merges as text.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::class_text::ClassWriter;
use super::fields::FieldWriter;
use super::number::{push_grouped, push_grouped_signed};
use super::options::Options;
use super::plan::{member_line, Node};
use super::stream_facts::StreamFacts;
use super::trace_text::shown;
use crate::bits::BitReader;
use crate::derived::{Derived, OfValues};
use crate::encode::encoded;
use crate::encode::value::{Cell, Value};
use crate::error::CtfError;
use crate::messages::{pieces, Piece};
use crate::model::{EventClass, FieldClass, FieldKind, Member, TraceClass};
use crate::muxer::{Merge, Notice, Run};
use crate::places::place_class;
use crate::record::{DecodeError, State};
use crate::stream::{Batch, BoundaryKind, DataStream, Lost, LostKind, Packet, Record};
use crate::text::plans::EventPlans;

/// Text is written in pieces of about so many bytes.
const PIECE: usize = 256 * 1024;
/// Longest text of an event record, bytes.
const MOST: usize = 512 * 1024 * 1024;
/// Columns before the name of a scope of an event record or of a packet.
const SCOPE_INDENT: usize = 2;

/// A data stream whose beginning was seen.
struct StreamText {
    facts: StreamFacts,
    /// What tells it in each message.
    tag: Vec<u8>,
    events: EventPlans<EventText>,
    common: Option<Node>,
    context: Option<Node>,
    state: Option<PacketState>,
    /// Keeps the data stream, so that no other one takes its place in memory.
    _stream: Arc<DataStream>,
}

/// What is the same in all event records of a class.
struct EventText {
    title: Vec<u8>,
    specific: Option<Node>,
    payload: Option<Node>,
}

/// What event records may refer to in the packet that they are in.
type PacketState = (Arc<Packet>, State);

/// Renders merges to text.
pub struct Renderer {
    options: Options,
    streams: HashMap<usize, StreamText>,
    /// The traces by their index and class, in the order in which they were seen.
    traces: HashMap<(usize, usize), usize>,
    /// The trace classes that are written.
    classes: HashSet<(usize, usize)>,
    /// The text of the values that filters added.
    values: OfValues<Vec<u8>>,
    has_printed: bool,
    out: Vec<u8>,
}

impl Renderer {
    /// A renderer with some options.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let (streams, traces, classes) = (HashMap::new(), HashMap::new(), HashSet::new());
        let (values, has_printed, out) = (OfValues::default(), false, Vec::new());
        Self { options, streams, traces, classes, values, has_printed, out }
    }

    /// Gives the text of a merge to `write`, piece by piece, until it returns `false`;
    /// `describe` tells about a data stream by its index, `derived` are the columns that filters
    /// added.
    ///
    /// # Errors
    ///
    /// A record that cannot be decoded, with the index of its batch; the text of everything
    /// before it is written.
    pub fn render(
        &mut self,
        merge: &Merge,
        derived: &[Arc<Derived>],
        describe: &mut dyn FnMut(usize) -> StreamFacts,
        write: &mut dyn FnMut(&[u8]) -> bool,
    ) -> Result<(), (usize, CtfError)> {
        self.out.clear();
        self.values.update(derived, |one| added_text(one, &self.options));
        let mut result = Ok(());
        for piece in pieces(merge) {
            let rank = match &piece {
                Piece::Run { rank, .. } | Piece::Notice(rank, _) => *rank,
            };
            let Some(stream) = merge.streams.get(rank) else { continue };
            let key = Arc::as_ptr(stream) as usize;
            if !self.streams.contains_key(&key) {
                let text = self.stream_text(stream, describe(rank));
                self.streams.insert(key, text);
            }
            match piece {
                Piece::Notice(rank, notice) => {
                    let seen: Vec<_> =
                        derived.iter().filter(|one| one.concerns(rank)).map(Arc::clone).collect();
                    self.notice(stream, key, notice, &seen);
                }
                Piece::Run { run, first, .. } => {
                    result = self.run(merge, key, &run, (first, derived));
                }
            }
            if self.out.len() >= PIECE || result.is_err() {
                if !write(&self.out) {
                    self.out.clear();
                    return result;
                }
                self.out.clear();
            }
            result.as_ref().map_err(Clone::clone).copied()?;
        }
        if !self.out.is_empty() {
            write(&self.out);
        }
        result
    }

    fn stream_text(&mut self, stream: &Arc<DataStream>, facts: StreamFacts) -> StreamText {
        let key = (stream.identity.index, Arc::as_ptr(&stream.trace) as usize);
        let next = self.traces.len();
        let trace = *self.traces.entry(key).or_insert(next) as u64;
        let class = stream.trace.stream_classes.get(stream.class);
        let class_id = class.map_or(0, |class| class.id);
        let node = |scope: Option<&FieldClass>| scope_node(scope, &self.options);
        StreamText {
            tag: tag(&self.options, [trace, class_id, facts.id]),
            common: node(class.and_then(|class| class.event_context.as_ref())),
            context: node(class.and_then(|class| shown(class.packet_context.as_ref()))),
            events: EventPlans::new(stream),
            state: None,
            facts,
            _stream: Arc::clone(stream),
        }
    }

    /// Begins a message: an empty line, unless nothing stands before it.
    fn begin(&mut self) {
        if self.has_printed && !self.options.compact {
            self.out.push(b'\n');
        }
        self.has_printed = true;
    }

    /// Writes the class of a trace once, in front of a message.
    fn declare(&mut self, stream: &Arc<DataStream>, key: usize, trace: &TraceClass) {
        let class = (stream.identity.index, Arc::as_ptr(&stream.trace) as usize);
        if !self.options.metadata || !self.classes.insert(class) {
            return;
        }
        let Some(text) = self.streams.get(&key) else { return };
        if self.has_printed {
            self.out.push(b'\n');
        }
        self.has_printed = true;
        let mut writer = ClassWriter { out: &mut self.out, options: &self.options, indent: 0 };
        writer.trace_class(trace, &text.facts);
        if self.options.data {
            // What follows in the same message stands apart.
            self.out.push(b'\n');
        }
    }

    fn notice(
        &mut self,
        stream: &Arc<DataStream>,
        key: usize,
        notice: &Notice,
        derived: &[Arc<Derived>],
    ) {
        match notice {
            Notice::Boundary(boundary) => {
                let time = boundary.cycles;
                match &boundary.kind {
                    BoundaryKind::StreamBeginning => {
                        self.stream_beginning(stream, key, time, derived);
                    }
                    BoundaryKind::StreamEnd => self.stream_end(stream, key, time),
                    BoundaryKind::PacketBeginning(packet) => {
                        self.packet_beginning(stream, key, packet, time);
                    }
                    BoundaryKind::PacketEnd(_) => self.packet_end(stream, key, time),
                }
            }
            Notice::Lost(lost) => self.lost(stream, key, lost),
            Notice::Inactivity(cycles) => self.inactivity(stream, key, *cycles),
            Notice::Damage(..) => {}
        }
    }

    /// Begins a message with its times, its data stream and what it is.
    fn title(&mut self, stream: &DataStream, key: usize, times: &[Option<u64>], what: &str) {
        if !self.options.data {
            return;
        }
        self.begin();
        for cycles in times.iter().flatten() {
            push_time(&mut self.out, &self.options, stream, *cycles);
        }
        let Some(text) = self.streams.get(&key) else { return };
        self.out.extend_from_slice(&text.tag);
        self.push_object(what);
    }

    fn push_object(&mut self, what: &str) {
        let mut writer = ClassWriter { out: &mut self.out, options: &self.options, indent: 0 };
        writer.object(what);
    }

    fn stream_beginning(
        &mut self,
        stream: &Arc<DataStream>,
        key: usize,
        time: Option<u64>,
        derived: &[Arc<Derived>],
    ) {
        let is_new = self.out.len();
        let with_places = with_places(&stream.trace, derived);
        let trace = with_places.as_ref().unwrap_or(&stream.trace);
        self.declare(stream, key, trace);
        if !self.options.data {
            return;
        }
        if self.out.len() == is_new {
            self.begin();
        }
        self.stream_time(stream, time);
        let Some(text) = self.streams.get(&key) else { return };
        self.out.extend_from_slice(&text.tag);
        let mut writer = ClassWriter { out: &mut self.out, options: &self.options, indent: 0 };
        writer.object("Stream beginning");
        if self.options.compact {
            return writer.text("\n");
        }
        writer.text(":\n");
        writer.indent = 2;
        if let Some(name) = text.facts.name.as_ref().filter(|_| self.options.stream_name) {
            writer.line("Name", name);
        }
        let class = stream.trace.stream_classes.get(stream.class);
        let name = class.and_then(|class| class.identity.name.as_ref());
        if let Some(name) = name.filter(|_| self.options.stream_class_name) {
            writer.line("Class name", name);
        }
        writer.trace(trace, &text.facts);
    }

    fn stream_end(&mut self, stream: &Arc<DataStream>, key: usize, time: Option<u64>) {
        if !self.options.data {
            return;
        }
        self.begin();
        self.stream_time(stream, time);
        let Some(text) = self.streams.get(&key) else { return };
        self.out.extend_from_slice(&text.tag);
        self.push_object("Stream end\n");
    }

    /// The time at which a data stream begins or ends, if it has a clock.
    fn stream_time(&mut self, stream: &DataStream, time: Option<u64>) {
        match time {
            _ if !stream.has_clock() => {}
            Some(cycles) => push_time(&mut self.out, &self.options, stream, cycles),
            None if self.options.time => {
                let palette = self.options.palette;
                self.out.push(b'[');
                for text in [palette.bold, palette.bright_blue, "Unknown", palette.reset] {
                    self.out.extend_from_slice(text.as_bytes());
                }
                self.out.extend_from_slice(if self.options.compact { b"] " } else { b"]\n" });
            }
            None => {}
        }
    }

    fn packet_beginning(
        &mut self,
        stream: &DataStream,
        key: usize,
        packet: &Arc<Packet>,
        time: Option<u64>,
    ) {
        self.title(stream, key, &[time], "Packet beginning");
        if !self.options.data {
            return;
        }
        let context = self.streams.get(&key).and_then(|text| text.context.as_ref());
        let Some(context) = context.filter(|_| !self.options.compact) else {
            return self.out.push(b'\n');
        };
        self.out.extend_from_slice(b":\n");
        push_scope(&mut self.out, &self.options, "Context");
        let mut state = State::new(packet.slots.len());
        let mut reader = packet.context_reader();
        let palette = &self.options.palette;
        let mut writer = FieldWriter { out: &mut self.out, state: &mut state, palette, most: MOST };
        // The packet was decoded when it was read, so this cannot fail now.
        let _ = writer.field(context, &mut reader);
        self.out.push(b'\n');
    }

    fn packet_end(&mut self, stream: &DataStream, key: usize, time: Option<u64>) {
        self.title(stream, key, &[time], "Packet end");
        if self.options.data {
            self.out.push(b'\n');
        }
    }

    fn lost(&mut self, stream: &DataStream, key: usize, lost: &Lost) {
        let (times, what) = (
            [lost.beginning, lost.end],
            match lost.kind {
                LostKind::Events => "events",
                LostKind::Packets => "packets",
            },
        );
        self.title(stream, key, &times, "Discarded ");
        if !self.options.data {
            return;
        }
        let mut writer = ClassWriter { out: &mut self.out, options: &self.options, indent: 0 };
        writer.object(what);
        if let Some(count) = lost.count {
            writer.text(" (");
            writer.number(count);
            writer.text(" ");
            writer.text(what);
            writer.text(")");
        }
        writer.text("\n");
    }

    fn inactivity(&mut self, stream: &DataStream, key: usize, cycles: u64) {
        self.begin();
        push_time(&mut self.out, &self.options, stream, cycles);
        self.push_object("Message iterator inactivity");
        let class = stream.trace.stream_classes.get(stream.class);
        let clock =
            class.and_then(|class| Some((class.clock?, stream.trace.clocks.get(class.clock?)?)));
        let (Some((index, clock)), Some(text)) = (clock, self.streams.get(&key)) else {
            return self.out.push(b'\n');
        };
        let is_epoch = text.facts.is_epoch(index);
        let mut writer = ClassWriter { out: &mut self.out, options: &self.options, indent: 2 };
        if self.options.compact {
            return writer.text("\n");
        }
        writer.text(":\n");
        writer.property("Clock class");
        writer.text("\n");
        writer.indent = 4;
        writer.clock(clock, is_epoch);
    }

    fn run(
        &mut self,
        merge: &Merge,
        key: usize,
        run: &Run,
        (first, derived): (usize, &[Arc<Derived>]),
    ) -> Result<(), (usize, CtfError)> {
        let (Some((batch, records)), Some(part)) = (merge.run(run), merge.part(run)) else {
            return Ok(());
        };
        if !self.options.data {
            return Ok(());
        }
        let packet = &part.packet;
        let kept = self.streams.get_mut(&key).and_then(|text| text.state.take());
        let kept = kept.filter(|(of, _)| Arc::ptr_eq(of, packet));
        let (_, mut state) = kept.unwrap_or_else(|| (Arc::clone(packet), part.state()));
        for (record, index) in records.iter().zip(first..) {
            let length = self.out.len();
            if let Err(error) =
                self.event(&batch.stream, key, batch, record, (&mut state, index, derived))
            {
                self.out.truncate(length);
                let error = CtfError::record(batch.file_offset(record), error.to_string());
                return Err((run.batch as usize, error));
            }
        }
        if let Some(text) = self.streams.get_mut(&key) {
            text.state = Some((Arc::clone(packet), state));
        }
        Ok(())
    }

    fn event(
        &mut self,
        stream: &Arc<DataStream>,
        key: usize,
        batch: &Batch,
        record: &Record,
        (state, index, derived): (&mut State, usize, &[Arc<Derived>]),
    ) -> Result<(), DecodeError> {
        self.begin();
        if stream.has_clock() {
            push_time(&mut self.out, &self.options, stream, record.cycles);
        }
        let Some(text) = self.streams.get(&key) else { return Ok(()) };
        self.out.extend_from_slice(&text.tag);
        let options = &self.options;
        let event = text.events.get(stream, record.class, |class| EventText::new(class, options));
        let Some(event) = event else { return Ok(()) };
        self.out.extend_from_slice(&event.title);
        if options.compact {
            return Ok(());
        }
        let mut reader = batch.body_reader(record, state);
        let palette = &options.palette;
        let mut added = Vec::new();
        if !derived.is_empty() {
            let texts = self.values.columns(derived);
            added.extend(texts.iter().filter_map(|one| one.get(index)).flatten());
        }
        let scopes = [
            ("Common context", &text.common, added.as_slice()),
            ("Specific context", &event.specific, &[]),
            ("Payload", &event.payload, &[]),
        ];
        for (name, node, added) in scopes {
            let is_shown = node.as_ref().is_some_and(is_shown);
            if is_shown || !added.is_empty() {
                push_scope(&mut self.out, options, name);
            }
            if let Some(node) = node {
                let out = &mut self.out;
                let mut writer = FieldWriter { out, state, palette, most: MOST };
                writer.field(node, &mut reader)?;
            }
            self.out.extend_from_slice(added);
            if is_shown || !added.is_empty() {
                self.out.push(b'\n');
            }
        }
        Ok(())
    }
}

impl EventText {
    fn new(class: &EventClass, options: &Options) -> Self {
        let mut title = Vec::new();
        let mut writer = ClassWriter { out: &mut title, options, indent: 0 };
        writer.object("Event");
        if let Some(name) = &class.name {
            writer.text(" `");
            writer.painted(&[options.palette.green], name);
            writer.text("`");
        }
        writer.text(if options.compact { " (" } else { " (Class ID " });
        writer.number(class.id);
        writer.text(if options.compact { ")\n" } else { "):\n" });
        Self {
            title,
            specific: scope_node(class.context.as_ref(), options),
            payload: scope_node(class.payload.as_ref(), options),
        }
    }
}

/// The node of a scope; what is not shown of one is decoded nevertheless.
fn scope_node(scope: Option<&FieldClass>, options: &Options) -> Option<Node> {
    let scope = scope?;
    Some(match shown(Some(scope)) {
        Some(shown) => Node::new(shown, options, SCOPE_INDENT),
        None => Node::Hidden(scope.clone()),
    })
}

fn is_shown(node: &Node) -> bool {
    !matches!(node, Node::Hidden(_))
}

/// The name of a scope, at the start of a line.
fn push_scope(out: &mut Vec<u8>, options: &Options, name: &str) {
    out.resize(out.len() + SCOPE_INDENT, b' ');
    for text in [options.palette.magenta, name, options.palette.reset, ":"] {
        out.extend_from_slice(text.as_bytes());
    }
}

/// `[1,234 cycles, 1,234 ns from origin]`, or a shorter form.
fn push_time(out: &mut Vec<u8>, options: &Options, stream: &DataStream, cycles: u64) {
    if !options.time {
        return;
    }
    let palette = &options.palette;
    let mut push = |before: &str, behind: &str, number: &dyn Fn(&mut Vec<u8>)| {
        for text in [before, palette.bold, palette.bright_blue] {
            out.extend_from_slice(text.as_bytes());
        }
        number(out);
        out.extend_from_slice(palette.reset.as_bytes());
        out.extend_from_slice(behind.as_bytes());
    };
    let nanoseconds = stream.nanoseconds(cycles);
    let (between, end) = match options.compact {
        true => (" ", "] "),
        false => (" cycles, ", " ns from origin]\n"),
    };
    push("[", between, &|out| push_grouped(out, cycles));
    push("", end, &|out| push_grouped_signed(out, nanoseconds));
}

/// What tells a data stream: numbers of its trace, of its class and its own.
fn tag(options: &Options, [trace, class, id]: [u64; 3]) -> Vec<u8> {
    let palette = &options.palette;
    let (cyan, bold, bright) = (palette.cyan, palette.bold, palette.bright_cyan);
    let reset = palette.reset;
    let text = match options.compact {
        true => format!("{cyan}{{{bold}{bright}{trace} {class} {id}{reset}{cyan}}}{reset} "),
        false => {
            let number = |number: u64| format!("{bold}{bright}{number}{reset}{cyan}");
            let (trace, class, id) = (number(trace), number(class), number(id));
            format!("{cyan}{{Trace {trace}, Stream class ID {class}, Stream ID {id}}}{reset}\n")
        }
    };
    text.into_bytes()
}

/// The trace class behind filters that add source places, if there are any: the fields are
/// members of the common contexts that have them, and as with Babeltrace 2 it is another trace,
/// without a UUID.
fn with_places(trace: &TraceClass, derived: &[Arc<Derived>]) -> Option<TraceClass> {
    let places = place_class();
    let mut columns = derived.iter().filter(|one| *one.class == places).peekable();
    columns.peek()?;
    let mut trace = TraceClass { uuid: None, ..trace.clone() };
    for one in columns {
        for class in &mut trace.stream_classes {
            let context = class.event_context.as_mut().filter(|class| has_addresses(class));
            let Some(FieldKind::Structure { members, .. }) = context.map(|class| &mut class.kind)
            else {
                continue;
            };
            if members.iter().all(|member| member.name() != one.name) {
                let class = (*one.class).clone();
                let member = Member::new(one.name.clone(), class);
                members.push(Member { verbatim: true, ..member });
            }
        }
    }
    Some(trace)
}

/// Whether a common context tells an address and a process, as LTTng's do.
fn has_addresses(context: &FieldClass) -> bool {
    let integer = |name| match &context.member(name)?.1.kind {
        FieldKind::Integer(class) => Some((class.signed, class.size)),
        _ => None,
    };
    integer("ip").is_some_and(|(signed, _)| !signed) && integer("vpid") == Some((true, 32))
}

/// What makes the text of the values of a column: a line break, the name, the value.
fn added_text<'a>(one: &'a Derived, options: &'a Options) -> impl Fn(&Value) -> Vec<u8> + 'a {
    let node = Node::new(&one.class, options, SCOPE_INDENT + 2);
    move |value| {
        let mut out = member_line(&one.name, options, SCOPE_INDENT + 2);
        // What does not fit its class is no field.
        let Ok(data) = encoded(&one.class, Cell::Value(value)) else { return Vec::new() };
        let mut reader = BitReader::new(&data, 0, u64::MAX);
        let (palette, state) = (&options.palette, &mut State::new(0));
        let mut writer = FieldWriter { out: &mut out, state, palette, most: MOST };
        match writer.field(&node, &mut reader) {
            Ok(()) => out,
            Err(_) => Vec::new(),
        }
    }
}
