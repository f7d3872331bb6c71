//! The text of trace classes, stream classes, event record classes, clocks and traces.

use super::class_text::ClassWriter;
use super::field_path::Scopes;
use super::stream_facts::StreamFacts;
use crate::model::{
    ClockClass, EnvironmentValue, EventClass, FieldClass, FieldKind, Role, StreamClass, TraceClass,
};

/// Names of the log levels of LTTng, 0 to 14.
const LOG_LEVELS: [&str; 15] = [
    "Emergency",
    "Alert",
    "Critical",
    "Error",
    "Warning",
    "Notice",
    "Info",
    "Debug (system)",
    "Debug (program)",
    "Debug (process)",
    "Debug (module)",
    "Debug (unit)",
    "Debug (function)",
    "Debug (line)",
    "Debug",
];

/// What the packets of a stream class tell.
#[derive(Debug, Clone, Copy)]
struct PacketFacts {
    packets: bool,
    beginning: bool,
    end: bool,
    discarded_events: bool,
    timed_events: bool,
    discarded_packets: bool,
    timed_packets: bool,
}

impl PacketFacts {
    fn of(class: &StreamClass) -> Self {
        let has = |role| class.packet_context.as_ref().is_some_and(|class| has_role(class, role));
        let (beginning, end) = (has(Role::PacketBeginning), has(Role::PacketEnd));
        // Files say it by the fields of their packets, whoever made the class in so many words.
        let says = |name, otherwise| class.says(name).unwrap_or(otherwise);
        let timed = beginning && end;
        Self {
            packets: says("supports_packets", true),
            beginning,
            end,
            discarded_events: says("supports_discarded_events", has(Role::EventsDiscarded)),
            timed_events: says("discarded_events_have_default_clock_snapshots", timed),
            discarded_packets: says("supports_discarded_packets", has(Role::PacketSequenceNumber)),
            timed_packets: says("discarded_packets_have_default_clock_snapshots", timed),
        }
    }
}

fn has_role(class: &FieldClass, role: Role) -> bool {
    match &class.kind {
        FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
            integer.role == Some(role)
        }
        FieldKind::BitArray(bits) => bits.uses.roles.contains(&role),
        FieldKind::VariableLength(number) => number.uses.roles.contains(&role),
        _ => class.members().iter().any(|member| has_role(&member.class, role)),
    }
}

/// A scope that is shown: one with members of which none is, is not there.
pub(super) fn shown(class: Option<&FieldClass>) -> Option<&FieldClass> {
    let is_shown = |class: &&FieldClass| {
        let members = class.members();
        let is_structure = matches!(class.kind, FieldKind::Structure { .. });
        let any = members.is_empty() || members.iter().any(|member| member.class.visible);
        class.visible && (!is_structure || any)
    };
    class.filter(is_shown)
}

impl ClassWriter<'_> {
    /// A trace class with all in it.
    pub(super) fn trace_class(&mut self, trace: &TraceClass, facts: &StreamFacts) {
        self.object("Trace class");
        self.text(if trace.stream_classes.is_empty() { "\n" } else { ":\n" });
        self.indent += 2;
        let mut classes: Vec<&StreamClass> = trace.stream_classes.iter().collect();
        classes.sort_by_key(|class| class.id);
        for class in classes {
            self.stream_class(trace, class, facts);
        }
        self.indent -= 2;
    }

    fn stream_class(&mut self, trace: &TraceClass, class: &StreamClass, facts: &StreamFacts) {
        self.start_line();
        self.object("Stream class");
        if let Some(name) = class.identity.name.as_ref().filter(|_| self.options.stream_class_name)
        {
            self.text(" `");
            self.value(name);
            self.text("`");
        }
        self.text(" (ID ");
        self.number(class.id);
        self.text("):\n");
        self.indent += 2;
        self.packet_facts(PacketFacts::of(class));
        if let Some((index, clock)) = class.clock.and_then(|at| Some((at, trace.clocks.get(at)?))) {
            self.property("Default clock class");
            self.text("\n");
            self.indent += 2;
            self.clock(clock, facts.is_epoch(index));
            self.indent -= 2;
        }
        let context = class.packet_context.as_ref();
        let common = class.event_context.as_ref();
        let scopes = [("Packet context", context), ("Event common context", common)];
        if let Some(context) = shown(context) {
            self.scope("Packet context field class", context, &scopes);
        }
        if let Some(common) = shown(common) {
            self.scope("Event common context field class", common, &scopes);
        }
        let mut events: Vec<&EventClass> = class.event_classes.iter().collect();
        events.sort_by_key(|event| event.id);
        for event in events {
            self.event_class(event, scopes);
        }
        self.indent -= 2;
    }

    fn packet_facts(&mut self, facts: PacketFacts) {
        self.flag("Supports packets", facts.packets);
        if facts.packets {
            self.flag("Packets have beginning default clock snapshot", facts.beginning);
            self.flag("Packets have end default clock snapshot", facts.end);
        }
        self.flag("Supports discarded events", facts.discarded_events);
        if facts.discarded_events {
            self.flag("Discarded events have default clock snapshots", facts.timed_events);
        }
        self.flag("Supports discarded packets", facts.discarded_packets);
        if facts.discarded_packets {
            self.flag("Discarded packets have default clock snapshots", facts.timed_packets);
        }
    }

    fn event_class(
        &mut self,
        event: &EventClass,
        [context, common]: [(&'static str, Option<&FieldClass>); 2],
    ) {
        self.start_line();
        self.object("Event class");
        if let Some(name) = &event.name {
            self.text(" `");
            self.painted(&[self.palette().green], name);
            self.text("`");
        }
        self.text(" (ID ");
        self.number(event.id);
        self.text("):\n");
        self.indent += 2;
        let level = event.log_level.and_then(|level| usize::try_from(level).ok());
        if let Some(level) = level.and_then(|level| LOG_LEVELS.get(level)) {
            self.line("Log level", level);
        }
        if let Some(uri) = &event.emf_uri {
            self.line("EMF URI", uri);
        }
        let (specific, payload) = (event.context.as_ref(), event.payload.as_ref());
        let scopes: &Scopes<'_> =
            &[context, common, ("Event specific context", specific), ("Event payload", payload)];
        if let Some(specific) = shown(specific) {
            self.scope("Specific context field class", specific, scopes);
        }
        if let Some(payload) = shown(payload) {
            self.scope("Payload field class", payload, scopes);
        }
        self.indent -= 2;
    }

    /// The properties of a clock.
    pub(super) fn clock(&mut self, clock: &ClockClass, is_epoch: bool) {
        if !clock.name.is_empty() {
            self.line("Name", &clock.name);
        }
        if let Some(description) = clock.description.as_ref().filter(|text| !text.is_empty()) {
            self.line("Description", description);
        }
        self.number_line("Frequency (Hz)", clock.frequency);
        // What nobody states is 0 to Babeltrace 2.
        self.number_line("Precision (cycles)", clock.precision.unwrap_or(0));
        let whole = (clock.offset_cycles / clock.frequency) as i64;
        self.property("Offset (s)");
        self.text(" ");
        self.signed(clock.offset_seconds.wrapping_add(whole));
        self.text("\n");
        self.number_line("Offset (cycles)", clock.offset_cycles % clock.frequency);
        self.flag("Origin is Unix epoch", is_epoch);
        if let Some(uuid) = clock.uuid.filter(|_| self.options.uuid) {
            self.line("UUID", &uuid_text(&uuid));
        }
    }

    /// The trace of a data stream.
    pub(super) fn trace(&mut self, trace: &TraceClass, facts: &StreamFacts) {
        self.start_line();
        self.object("Trace");
        if let Some(name) = facts.trace_name.as_ref().filter(|_| self.options.trace_name) {
            self.text(" `");
            self.value(name);
            self.text("`");
        }
        let uuid = trace.uuid.filter(|_| self.options.uuid);
        let is_plain =
            uuid.is_none() && trace.environment.is_empty() && facts.trace_streams.is_empty();
        self.text(if is_plain { "\n" } else { ":\n" });
        self.indent += 2;
        if let Some(uuid) = uuid {
            self.line("UUID", &uuid_text(&uuid));
        }
        if !trace.environment.is_empty() {
            self.environment(&trace.environment);
        }
        let mut streams = facts.trace_streams.clone();
        streams.sort_unstable();
        for (id, class) in streams {
            self.start_line();
            self.object("Stream");
            self.text(" (ID ");
            self.number(id);
            self.text(", Class ID ");
            self.number(class);
            self.text(")\n");
        }
        self.indent -= 2;
    }

    fn environment(&mut self, entries: &[(String, EnvironmentValue)]) {
        self.start_line();
        self.painted(&[self.palette().magenta], "Environment");
        self.text(" (");
        self.number(entries.len() as u64);
        self.text(if entries.len() == 1 { " entry):\n" } else { " entries):\n" });
        self.indent += 2;
        let mut entries: Vec<_> = entries.iter().collect();
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, value) in entries {
            self.member(name);
            self.text(" ");
            match value {
                EnvironmentValue::Integer(value) => self.signed(*value),
                EnvironmentValue::String(value) => self.value(value),
            }
            self.text("\n");
        }
        self.indent -= 2;
    }

    /// A property whose value is text, in a line of its own.
    pub(super) fn line(&mut self, name: &str, value: &str) {
        self.property(name);
        self.text(" ");
        self.value(value);
        self.text("\n");
    }

    fn number_line(&mut self, name: &str, value: u64) {
        self.property(name);
        self.text(" ");
        self.number(value);
        self.text("\n");
    }

    fn flag(&mut self, name: &str, value: bool) {
        self.property(name);
        self.text(" ");
        self.yes_or_no(value);
        self.text("\n");
    }
}

fn uuid_text(uuid: &[u8; 16]) -> String {
    let mut text = String::with_capacity(36);
    for (index, byte) in uuid.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}
