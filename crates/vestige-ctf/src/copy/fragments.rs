//! The metadata of a copy in CTF 2: JSON fragments (CTF2-SPEC-2.0, section 5; RFC 7464).

use super::error::CopyError;
use super::facts::{id_size, kept_members, shown_uuid, Facts, StreamFacts};
use super::json::{
    base_of, bit_array, braced, fixed, listed, mapped, member, own, plain_integer, quoted,
    ranges_text, sign, structure, Object,
};
use super::names::{mappings_of, Names};
use super::targets::{
    Place, Step, Targets, COMMON_CONTEXT, EVENT_HEADER, PACKET_CONTEXT, PACKET_HEADER, PAYLOAD,
    SPECIFIC_CONTEXT,
};
use crate::metadata::json::{LOG_LEVELS, ORIGINS};
use crate::model::{
    BitMeaning, ClockClass, ClockOrigin, EnvironmentValue, EventClass, FieldClass, FieldKind,
    Length, Member, Selector, TraceClass,
};

type Result<T> = std::result::Result<T, CopyError>;

/// Prints the metadata of a copy.
pub(super) fn print(facts: &Facts<'_>, names: &Names, targets: &Targets<'_>) -> Result<String> {
    let mut text = head(facts.trace);
    for (index, clock) in facts.trace.clocks.iter().enumerate() {
        text += &clock_class(index, clock, facts.epoch_origin);
    }
    let mut printer = Printer { facts, names, targets, here: Place::default() };
    for (index, facts) in facts.streams.iter().enumerate() {
        text += &printer.stream(index, facts)?;
    }
    Ok(text)
}

/// Preamble and trace class.
fn head(trace: &TraceClass) -> String {
    let mut preamble = Object::of("preamble").set("version", 2);
    if let Some(uuid) = trace.uuid {
        preamble = preamble.set("uuid", format!("{uuid:?}"));
    }
    let mut class = Object::of("trace-class");
    let identity = &trace.identity;
    class = class.identity(identity, identity.name.as_deref());
    if let Some(uuid) = trace.uuid.filter(|_| trace.version.0 < 2) {
        // What tells traces of CTF 1.8 apart.
        class = class.text("uid", &shown_uuid(&uuid));
    }
    if !trace.environment.is_empty() {
        let entries = trace.environment.iter().map(|(name, value)| match value {
            EnvironmentValue::Integer(value) => format!("{}: {value}", quoted(name)),
            EnvironmentValue::String(value) => format!("{}: {}", quoted(name), quoted(value)),
        });
        class = class.set("environment", braced(entries));
    }
    if let Some(attributes) = &identity.attributes {
        class = class.set("attributes", attributes);
    }
    let order = trace.order;
    let mut members = vec![member("magic", &own(32, order, "packet-magic-number"))];
    if trace.uuid.is_some() {
        let blob = Object::of("static-length-blob").set("length", 16);
        members.push(member("uuid", &blob.set("roles", "[\"metadata-stream-uuid\"]").end()));
    }
    members.push(member("stream_id", &own(64, order, "data-stream-class-id")));
    members.push(member("stream_instance_id", &own(64, order, "data-stream-id")));
    let class = class.set("packet-header-field-class", structure(&members, 8));
    preamble.fragment() + &class.fragment()
}

fn clock_class(index: usize, clock: &ClockClass, epoch_origin: bool) -> String {
    let mut object = Object::of("clock-class").text("id", &clock_id(index, clock));
    let identity = &clock.identity;
    object = object.identity(identity, Some(&clock.name)).set("frequency", clock.frequency);
    object = object.set(
        "offset-from-origin",
        format!("{{\"seconds\": {}, \"cycles\": {}}}", clock.offset_seconds, clock.offset_cycles),
    );
    object = object.optional_text("description", clock.description.as_deref());
    for (name, value) in [("precision", clock.precision), ("accuracy", clock.accuracy)] {
        if let Some(value) = value {
            object = object.set(name, value);
        }
    }
    let is_epoch = clock.absolute || clock.origin == ClockOrigin::UnixEpoch || epoch_origin;
    object = match (&clock.origin, clock.uuid) {
        _ if is_epoch => object.text("origin", "unix-epoch"),
        (ClockOrigin::Custom { namespace, name, uid }, _) => {
            let mut parts =
                vec![format!("\"name\": {}", quoted(name)), format!("\"uid\": {}", quoted(uid))];
            parts.extend(namespace.iter().map(|one| format!("\"namespace\": {}", quoted(one))));
            object.set("origin", braced(parts))
        }
        (_, Some(uuid)) => {
            // A clock with the same UUID counts from the same time.
            let uid = quoted(&shown_uuid(&uuid));
            object.set("origin", format!("{{\"name\": {}, \"uid\": {uid}}}", quoted(&clock.name)))
        }
        _ => object,
    };
    if let Some(attributes) = &identity.attributes {
        object = object.set("attributes", attributes);
    }
    object.fragment()
}

/// What data stream classes call a clock class: its name, unless another has it.
fn clock_id(index: usize, clock: &ClockClass) -> String {
    if index == 0 {
        return clock.name.clone();
    }
    format!("{}.{index}", clock.name)
}

struct Printer<'p, 'a> {
    facts: &'p Facts<'a>,
    names: &'p Names,
    targets: &'p Targets<'a>,
    /// Where the field is that is being printed.
    here: Place<'a>,
}

impl<'a> Printer<'_, 'a> {
    fn stream(&mut self, index: usize, facts: &StreamFacts) -> Result<String> {
        let trace = self.facts.trace;
        let Some(stream) = trace.stream_classes.get(index) else { return Ok(String::new()) };
        let order = trace.order;
        let identity = &stream.identity;
        let mut object = Object::of("data-stream-class").set("id", stream.id);
        object = object.identity(identity, identity.name.as_deref());
        let clock = stream.clock.and_then(|index| Some((index, trace.clocks.get(index)?)));
        if let Some((index, clock)) = clock {
            object = object.text("default-clock-class-id", &clock_id(index, clock));
        }
        if let Some(attributes) = &identity.attributes {
            object = object.set("attributes", attributes);
        }
        let time = "default-clock-timestamp";
        let mut members = vec![
            member("packet_size", &own(64, order, "packet-total-length")),
            member("content_size", &own(64, order, "packet-content-length")),
        ];
        if facts.has_beginning {
            members.push(member("timestamp_begin", &own(64, order, time)));
        }
        if facts.has_end {
            let role = "packet-end-default-clock-timestamp";
            members.push(member("timestamp_end", &own(64, order, role)));
        }
        if facts.has_discarded_events {
            let role = "discarded-event-record-counter-snapshot";
            members.push(member("events_discarded", &own(64, order, role)));
        }
        members.push(member("packet_seq_num", &own(64, order, "packet-sequence-number")));
        let mut alignment = 8;
        if let Some(context) = &stream.packet_context {
            self.here = Place { scope: PACKET_CONTEXT, steps: Vec::new() };
            for kept in kept_members(context) {
                members.push(self.member(kept)?);
            }
            alignment = alignment.max(context.alignment());
        }
        object = object.set("packet-context-field-class", structure(&members, alignment));
        let mut header = vec![member("id", &own(id_size(stream), order, "event-record-class-id"))];
        if stream.clock.is_some() {
            header.push(member("timestamp", &own(64, order, time)));
        }
        object = object.set("event-record-header-field-class", structure(&header, 8));
        if let Some(context) = &stream.event_context {
            let context = self.scope(COMMON_CONTEXT, context)?;
            object = object.set("event-record-common-context-field-class", context);
        }
        let mut text = object.fragment();
        for event in &stream.event_classes {
            let shown = self.event(event, stream.id);
            text += &shown.map_err(|error| error.within(event.name.as_deref().unwrap_or("")))?;
        }
        Ok(text)
    }

    fn event(&mut self, event: &'a EventClass, stream: u64) -> Result<String> {
        let mut object = Object::of("event-record-class").set("id", event.id);
        object = object.set("data-stream-class-id", stream);
        object = object.identity(&event.identity, event.name.as_deref());
        if let Some(attributes) = &event.identity.attributes {
            object = object.set("attributes", attributes);
        } else {
            let mut told = Vec::new();
            if let Some(level) = event.log_level {
                let word = usize::try_from(level).ok().and_then(|level| LOG_LEVELS.get(level));
                let shown = word.map_or_else(|| level.to_string(), |word| quoted(word));
                told.push(format!("\"log-level\": {shown}"));
            }
            told.extend(event.emf_uri.iter().map(|uri| format!("\"emf-uri\": {}", quoted(uri))));
            if !told.is_empty() {
                object =
                    object.set("attributes", format!("{{\"lttng.org,2009\": {}}}", braced(told)));
            }
        }
        if let Some(context) = &event.context {
            let context = self.scope(SPECIFIC_CONTEXT, context)?;
            object = object.set("specific-context-field-class", context);
        }
        if let Some(payload) = &event.payload {
            let payload = self.scope(PAYLOAD, payload)?;
            object = object.set("payload-field-class", payload);
        }
        Ok(object.fragment())
    }

    fn scope(&mut self, scope: usize, class: &'a FieldClass) -> Result<String> {
        self.here = Place { scope, steps: Vec::new() };
        self.field(class)
    }

    fn member(&mut self, one: &'a Member) -> Result<String> {
        let names = self.names;
        self.here.steps.push(Step { member: one, is_option: false });
        let class = self.field(&one.class);
        self.here.steps.pop();
        let class = class.map_err(|error| error.within(one.name()))?;
        let attributes = match &one.attributes {
            Some(attributes) => format!(", \"attributes\": {attributes}"),
            None => String::new(),
        };
        let name = quoted(names.of(one));
        Ok(format!("{{\"name\": {name}, \"field-class\": {class}{attributes}}}"))
    }

    fn field(&mut self, class: &'a FieldClass) -> Result<String> {
        let mut object = self.object(class)?;
        if let Some(attributes) = &class.attributes {
            object = object.set("attributes", attributes);
        }
        Ok(object.end())
    }

    fn object(&mut self, class: &'a FieldClass) -> Result<Object> {
        Ok(match &class.kind {
            FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
                plain_integer(integer, mappings_of(class))
            }
            FieldKind::Float { size, alignment, order } => {
                fixed("floating-point-number", *size, *alignment, *order)
            }
            FieldKind::String => Object::of("null-terminated-string"),
            FieldKind::Structure { members, alignment } => {
                let mut shown = Vec::new();
                for member in members {
                    shown.push(self.member(member)?);
                }
                Object::of("structure")
                    .set("minimum-alignment", alignment)
                    .set("member-classes", listed(shown))
            }
            FieldKind::Array { length, text: true, .. } => self.sized("string", length)?,
            FieldKind::Array { element, length, .. } => {
                let object = self.sized("array", length)?;
                let object = object.set("minimum-alignment", class.alignment());
                object.set("element-field-class", self.field(element)?)
            }
            FieldKind::Variant { options, selector } => self.variant(options, selector)?,
            FieldKind::BitArray(bits) => bit_array(bits),
            FieldKind::VariableLength(integer) => {
                let kind = format!("variable-length-{}-integer", sign(integer.signed));
                let object = Object::of(&kind);
                let object = object.set("preferred-display-base", base_of(integer.base));
                mapped(object, "mappings", &integer.mappings)
            }
            FieldKind::Text(text) => {
                let object = match &text.length {
                    None => Object::of("null-terminated-string"),
                    Some(length) => self.sized("string", length)?,
                };
                object.text("encoding", text.encoding.name())
            }
            FieldKind::Blob(blob) => {
                self.sized("blob", &blob.length)?.text("media-type", &blob.media_type)
            }
            FieldKind::Optional(optional) => {
                let selector = &optional.selector;
                let location = self.location(selector.slot)?;
                let mut object = Object::of("optional").set("selector-field-location", location);
                if !self.is_boolean(selector.slot) {
                    let ranges = selector.ranges.iter().map(|one| (one.0, one.1));
                    object = object.set("selector-field-ranges", ranges_text(ranges));
                }
                object.set("field-class", self.field(&optional.field)?)
            }
        })
    }

    fn is_boolean(&self, slot: usize) -> bool {
        let step = self.targets.get(&slot).and_then(|target| target.steps.last());
        step.is_some_and(|step| match &step.member.class.kind {
            FieldKind::BitArray(bits) => bits.meaning == BitMeaning::Boolean,
            _ => false,
        })
    }

    fn variant(&mut self, options: &'a [Member], selector: &Selector) -> Result<Object> {
        let location = self.location(selector.slot)?;
        let names = self.names;
        let mut shown = Vec::new();
        for (index, option) in options.iter().enumerate() {
            let ranges = selector.ranges.iter().filter(|range| range.2 == index);
            let mut ranges = ranges.map(|range| (range.0, range.1)).peekable();
            if ranges.peek().is_none() {
                // No value selects it, so no record has it.
                continue;
            }
            let ranges = ranges_text(ranges);
            self.here.steps.push(Step { member: option, is_option: true });
            let class = self.field(&option.class);
            self.here.steps.pop();
            let class = class.map_err(|error| error.within(option.name()))?;
            let mut parts = vec![
                format!("\"selector-field-ranges\": {ranges}"),
                format!("\"field-class\": {class}"),
            ];
            if !names.of(option).is_empty() {
                parts.push(format!("\"name\": {}", quoted(names.of(option))));
            }
            if let Some(attributes) = &option.attributes {
                parts.push(format!("\"attributes\": {attributes}"));
            }
            shown.push(braced(parts));
        }
        Ok(Object::of("variant")
            .set("selector-field-location", location)
            .set("options", listed(shown)))
    }

    fn sized(&self, kind: &str, length: &Length) -> Result<Object> {
        Ok(match length {
            Length::Static(count) => {
                Object::of(&format!("static-length-{kind}")).set("length", count)
            }
            Length::Dynamic { slot, .. } => {
                let location = self.location(*slot)?;
                Object::of(&format!("dynamic-length-{kind}")).set("length-field-location", location)
            }
        })
    }

    /// Where the field is whose value is in a slot (section 5.3.1).
    fn location(&self, slot: usize) -> Result<String> {
        let missing = || CopyError::metadata("its length or selector is not found");
        let target = self.targets.get(&slot).ok_or_else(missing)?;
        if matches!(target.scope, PACKET_HEADER | EVENT_HEADER) {
            let message = "its length or selector is in a header, which is not copied";
            return Err(CopyError::metadata(message));
        }
        let names = |steps: &[Step<'_>]| {
            let members = steps.iter().filter(|step| !step.is_option);
            members.map(|step| quoted(self.names.of(step.member))).collect::<Vec<_>>()
        };
        if target.scope == self.here.scope {
            let relative = self.here.relative(target);
            let mut path = vec!["null".to_owned(); relative.levels];
            path.extend(names(relative.steps));
            return Ok(format!("{{\"path\": {}}}", listed(path)));
        }
        let origin = quoted(ORIGINS.get(target.scope).copied().unwrap_or_default());
        Ok(format!("{{\"origin\": {origin}, \"path\": {}}}", listed(names(&target.steps))))
    }
}
