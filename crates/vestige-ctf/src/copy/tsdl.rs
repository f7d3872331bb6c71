//! The metadata of a copy in CTF 1.8, as text (CTF 1.8.3, section 7 and annex C).
//!
//! What CTF 2 has more becomes what is nearest to it, with a comment that says so.

use std::fmt::Write;

use super::error::CopyError;
use super::facts::{id_size, kept_members, shown_uuid, Facts, StreamFacts};
use super::names::{identifier, is_identifier, is_keyword, mappings_of, Names};
use super::targets::{
    Place, Step, Targets, COMMON_CONTEXT, EVENT_HEADER, PACKET_CONTEXT, PACKET_HEADER, PAYLOAD,
    SPECIFIC_CONTEXT,
};
use super::tsdl_text::{comment, labels, number_text, order_name, quoted, truth_labels, unit_of};
use crate::metadata::SCOPES;
use crate::model::{
    BitMeaning, ClockOrigin, DisplayBase, Encoding, EnvironmentValue, EventClass, FieldClass,
    FieldKind, IntegerClass, Length, Member, Selector, StringEncoding, TextClass,
};

type Result<T> = std::result::Result<T, CopyError>;

/// Prints the metadata of a copy.
pub(super) fn print(facts: &Facts<'_>, names: &Names, targets: &Targets<'_>) -> Result<String> {
    let clocks = clock_names(facts);
    let mut printer = Printer { facts, names, targets, clocks, here: Place::default() };
    let mut text = printer.head();
    for (index, facts) in facts.streams.iter().enumerate() {
        text += &printer.stream(index, facts)?;
    }
    Ok(text)
}

/// Names of the clocks that TSDL takes, each once.
fn clock_names(facts: &Facts<'_>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for clock in &facts.trace.clocks {
        let plain = is_identifier(&clock.name) && !is_keyword(&clock.name);
        let mut name = if plain { clock.name.clone() } else { identifier(&clock.name) };
        while names.contains(&name) {
            name.push('_');
        }
        names.push(name);
    }
    names
}

struct Printer<'p, 'a> {
    facts: &'p Facts<'a>,
    names: &'p Names,
    targets: &'p Targets<'a>,
    clocks: Vec<String>,
    /// Where the field is that is being printed.
    here: Place<'a>,
}

impl<'a> Printer<'_, 'a> {
    /// Trace, environment and clocks.
    fn head(&self) -> String {
        let trace = self.facts.trace;
        let mut text = String::from("/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n");
        if let Some(uuid) = trace.uuid {
            let _ = writeln!(text, "\tuuid = \"{}\";", shown_uuid(&uuid));
        }
        let _ = writeln!(text, "\tbyte_order = {};", order_name(trace.order));
        text += "\tpacket.header := struct {\n";
        text += "\t\tinteger { size = 32; align = 8; base = 16; } magic;\n";
        if trace.uuid.is_some() {
            text += "\t\tinteger { size = 8; align = 8; base = 16; } uuid[16];\n";
        }
        text += "\t\tinteger { size = 64; align = 8; } stream_id;\n";
        text += "\t\tinteger { size = 64; align = 8; } stream_instance_id;\n\t} align(8);\n};\n";
        if !trace.environment.is_empty() {
            text += "\nenv {\n";
            for (name, value) in &trace.environment {
                let name = if is_identifier(name) && !is_keyword(name) {
                    name.clone()
                } else {
                    identifier(name)
                };
                let _ = match value {
                    EnvironmentValue::Integer(value) => writeln!(text, "\t{name} = {value};"),
                    EnvironmentValue::String(value) => {
                        writeln!(text, "\t{name} = {};", quoted(value))
                    }
                };
            }
            text += "};\n";
        }
        for index in 0..trace.clocks.len() {
            text += &self.clock(index);
        }
        text
    }

    fn clock(&self, index: usize) -> String {
        let (Some(clock), Some(name)) =
            (self.facts.trace.clocks.get(index), self.clocks.get(index))
        else {
            return String::new();
        };
        let mut text = format!("\nclock {{\n\tname = {name};\n");
        if let Some(uuid) = clock.uuid {
            let _ = writeln!(text, "\tuuid = \"{}\";", shown_uuid(&uuid));
        }
        if let Some(description) = &clock.description {
            let _ = writeln!(text, "\tdescription = {};", quoted(description));
        }
        let _ = writeln!(text, "\tfreq = {};", clock.frequency);
        if let Some(precision) = clock.precision {
            let _ = writeln!(text, "\tprecision = {precision};");
        }
        let _ = writeln!(text, "\toffset_s = {};", clock.offset_seconds);
        let _ = writeln!(text, "\toffset = {};", clock.offset_cycles);
        let is_absolute = clock.absolute || clock.origin == ClockOrigin::UnixEpoch;
        let absolute = is_absolute || self.facts.epoch_origin;
        let _ = writeln!(text, "\tabsolute = {absolute};\n}};");
        text
    }

    fn stream(&mut self, index: usize, facts: &StreamFacts) -> Result<String> {
        let Some(stream) = self.facts.trace.stream_classes.get(index) else {
            return Ok(String::new());
        };
        let map = match stream.clock.and_then(|clock| self.clocks.get(clock)) {
            Some(name) => format!(" map = clock.{name}.value;"),
            None => String::new(),
        };
        let number = |size: u32, map: &str, name: &str| {
            format!("\t\tinteger {{ size = {size}; align = 8;{map} }} {name};\n")
        };
        let mut text = format!("\nstream {{\n\tid = {};\n", stream.id);
        text += "\tpacket.context := struct {\n";
        text += &number(64, "", "packet_size");
        text += &number(64, "", "content_size");
        if facts.has_beginning {
            text += &number(64, &map, "timestamp_begin");
        }
        if facts.has_end {
            text += &number(64, &map, "timestamp_end");
        }
        if facts.has_discarded_events {
            text += &number(64, "", "events_discarded");
        }
        text += &number(64, "", "packet_seq_num");
        let mut alignment = 8;
        if let Some(context) = &stream.packet_context {
            text += &self.members(PACKET_CONTEXT, kept_members(context), "\t\t")?;
            alignment = alignment.max(context.alignment());
        }
        let _ = write!(text, "\t}} align({alignment});\n\tevent.header := struct {{\n");
        text += &number(id_size(stream), "", "id");
        if stream.clock.is_some() {
            text += &number(64, &map, "timestamp");
        }
        text += "\t} align(8);\n";
        text += &self.scope(COMMON_CONTEXT, "event.context", stream.event_context.as_ref())?;
        text += "};\n";
        for event in &stream.event_classes {
            let shown = self.event(event, stream.id);
            text += &shown.map_err(|error| error.within(event.name.as_deref().unwrap_or("")))?;
        }
        Ok(text)
    }

    fn event(&mut self, event: &'a EventClass, stream: u64) -> Result<String> {
        let mut text = String::from("\nevent {\n");
        if let Some(name) = &event.name {
            let _ = writeln!(text, "\tname = {};", quoted(name));
        }
        let _ = writeln!(text, "\tid = {};\n\tstream_id = {stream};", event.id);
        if let Some(level) = event.log_level {
            let _ = writeln!(text, "\tloglevel = {level};");
        }
        if let Some(uri) = &event.emf_uri {
            let _ = writeln!(text, "\tmodel.emf.uri = {};", quoted(uri));
        }
        text += &self.scope(SPECIFIC_CONTEXT, "context", event.context.as_ref())?;
        text += &self.scope(PAYLOAD, "fields", event.payload.as_ref())?;
        text += "};\n";
        Ok(text)
    }

    fn scope(&mut self, scope: usize, name: &str, class: Option<&'a FieldClass>) -> Result<String> {
        let Some(class) = class else { return Ok(String::new()) };
        let members = self.members(scope, class.members().iter(), "\t\t")?;
        Ok(format!("\t{name} := struct {{\n{members}\t}} align({});\n", class.alignment()))
    }

    fn members(
        &mut self,
        scope: usize,
        members: impl Iterator<Item = &'a Member>,
        indent: &str,
    ) -> Result<String> {
        self.here = Place { scope, steps: Vec::new() };
        let mut text = String::new();
        for member in members {
            let _ = writeln!(text, "{indent}{};", self.member(member, false)?);
        }
        Ok(text)
    }

    /// The declaration of a member or an option.
    fn member(&mut self, member: &'a Member, is_option: bool) -> Result<String> {
        let names = self.names;
        let name = names.of(member);
        self.here.steps.push(Step { member, is_option });
        let declared = self.declaration(name, &member.class);
        self.here.steps.pop();
        declared.map_err(|error| error.within(member.name()))
    }

    /// The declaration of a field; an array has its length behind its name, as in C.
    fn declaration(&mut self, name: &str, class: &'a FieldClass) -> Result<String> {
        let (mut lengths, mut inner) = (String::new(), class);
        while let FieldKind::Array { element, length, .. } = &inner.kind {
            let _ = write!(lengths, "[{}]", self.length(length)?);
            inner = element;
        }
        match &inner.kind {
            FieldKind::Text(TextClass { length: Some(length), encoding: StringEncoding::Utf8 }) => {
                let length = self.length(length)?;
                let byte = "integer { size = 8; align = 8; encoding = UTF8; }";
                return Ok(format!("{byte} {name}{lengths}[{length}]"));
            }
            FieldKind::Blob(blob) => {
                let length = self.length(&blob.length)?;
                let byte = "integer { size = 8; align = 8; base = 16; }";
                let comment = comment(&format!("BLOB, {}", blob.media_type));
                return Ok(format!("{comment}{byte} {name}{lengths}[{length}]"));
            }
            FieldKind::BitArray(bits) if bits.size > 64 && self.facts.trace.version.0 >= 2 => {
                // Other readers take no integer of so many bits.
                let size = unit_of(bits);
                let number = number_text(size, size, false, bits.order, DisplayBase::Hexadecimal);
                let comment = comment(&format!("{} bits in one", bits.size));
                return Ok(format!("{comment}{number} {name}{lengths}[{}]", bits.size / size));
            }
            _ => {}
        }
        Ok(format!("{} {name}{lengths}", self.kind(inner)?))
    }

    fn length(&self, length: &Length) -> Result<String> {
        match length {
            Length::Static(count) => Ok(count.to_string()),
            Length::Dynamic { slot, .. } => self.path(*slot),
        }
    }

    /// How a field names the one whose value is in a slot.
    fn path(&self, slot: usize) -> Result<String> {
        let missing = || CopyError::metadata("its length or selector is not found");
        let target = self.targets.get(&slot).ok_or_else(missing)?;
        if matches!(target.scope, PACKET_HEADER | EVENT_HEADER) {
            let message = "its length or selector is in a header, which is not copied";
            return Err(CopyError::metadata(message));
        }
        let joined = |steps: &[Step<'_>]| {
            let names: Vec<&str> = steps.iter().map(|step| self.names.of(step.member)).collect();
            names.join(".")
        };
        if target.scope == self.here.scope {
            return Ok(joined(self.here.relative(target).steps));
        }
        let scope = SCOPES.get(target.scope).copied().unwrap_or_default();
        Ok(format!("{scope}.{}", joined(&target.steps)))
    }

    /// What a field is, without its name.
    fn kind(&mut self, class: &'a FieldClass) -> Result<String> {
        let names = self.names;
        let mappings = names.labels(class).unwrap_or_else(|| mappings_of(class));
        let enumerated = |number: String, bits: u32, signed: bool| match mappings {
            [] => number,
            _ => format!("enum : {number} {{ {} }}", labels(mappings, bits, signed)),
        };
        Ok(match &class.kind {
            FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
                enumerated(self.integer(integer), integer.size, integer.signed)
            }
            FieldKind::Float { size, alignment, order } => {
                let (exponent, mantissa) = if *size == 32 { (8, 24) } else { (11, 53) };
                format!(
                    "floating_point {{ exp_dig = {exponent}; mant_dig = {mantissa}; \
                     align = {alignment}; byte_order = {}; }}",
                    order_name(*order)
                )
            }
            FieldKind::String => "string".to_owned(),
            FieldKind::Text(text) => format!("{}string", comment(text.encoding.name())),
            FieldKind::Structure { members, alignment } => {
                let mut text = String::from("struct { ");
                for member in members {
                    let _ = write!(text, "{}; ", self.member(member, false)?);
                }
                format!("{text}}} align({alignment})")
            }
            FieldKind::Variant { options, selector } => self.variant(options, selector)?,
            FieldKind::Optional(optional) => {
                let [none, content] = names.presence(optional);
                let field = self.declaration(content, &optional.field)?;
                let path = self.path(optional.selector.slot)?;
                let comment = comment("optional field");
                format!("{comment}variant <{path}> {{ struct {{ }} {none}; {field}; }}")
            }
            FieldKind::BitArray(bits) => {
                let signed = matches!(bits.meaning, BitMeaning::Integer { signed: true, .. });
                let (what, base) = match &bits.meaning {
                    BitMeaning::Bits => ("bit array", DisplayBase::Hexadecimal),
                    BitMeaning::Flags(_) => ("bit map", DisplayBase::Hexadecimal),
                    BitMeaning::Boolean => ("boolean", DisplayBase::Decimal),
                    BitMeaning::Integer { base, .. } => ("", *base),
                    BitMeaning::Float => {
                        ("bits of a floating point number", DisplayBase::Hexadecimal)
                    }
                };
                let number = number_text(bits.size, bits.alignment, signed, bits.order, base);
                let is_boolean = bits.meaning == BitMeaning::Boolean;
                let number = match mappings {
                    // Any bit makes it true.
                    [_, ..] if is_boolean => {
                        format!("enum : {number} {{ {} }}", truth_labels(mappings, bits.size))
                    }
                    _ => enumerated(number, bits.size, signed),
                };
                format!("{}{number}", comment(what))
            }
            FieldKind::VariableLength(integer) => {
                let signed = integer.signed;
                let number = number_text(64, 8, signed, self.facts.trace.order, integer.base);
                let comment = comment("integer of variable length");
                format!("{comment}{}", enumerated(number, 64, signed))
            }
            FieldKind::Array { .. } | FieldKind::Blob(_) => {
                return Err(CopyError::metadata("an array that has no place"));
            }
        })
    }

    fn variant(&mut self, options: &'a [Member], selector: &Selector) -> Result<String> {
        let path = self.path(selector.slot)?;
        let mut text = format!("variant <{path}> {{ ");
        for option in options {
            let _ = write!(text, "{}; ", self.member(option, true)?);
        }
        text.push('}');
        Ok(text)
    }

    fn integer(&self, class: &IntegerClass) -> String {
        let (size, alignment) = (class.size, class.alignment);
        let mut text = number_text(size, alignment, class.signed, class.order, class.base);
        text.truncate(text.len() - 1);
        if class.encoding == Encoding::Utf8 {
            text += "encoding = UTF8; ";
        }
        if let Some(name) = class.clock.and_then(|clock| self.clocks.get(clock)) {
            let _ = write!(text, "map = clock.{name}.value; ");
        }
        text.push('}');
        text
    }
}
