//! The blocks of TSDL: `trace`, `env`, `clock`, `stream` and `event` (CTF 1.8.3, section 7.2).

use super::attributes::{Attribute, Value};
use super::lexer::TokenKind;
use super::parser::Parser;
use crate::error::{CtfError, Result};
use crate::model::{ClockClass, EnvironmentValue, EventClass, FieldClass};

/// Most entries of `env` that are read; they are searched one by one.
const MAX_ENVIRONMENT: usize = 10_000;
/// Most stream classes that are read.
const MAX_STREAMS: usize = 1_000_000;

/// What stands in a `trace`, `stream` or `event` block.
#[derive(Default)]
struct Block {
    attributes: Vec<Attribute>,
    types: Vec<(String, FieldClass, u32)>,
}

impl Parser<'_> {
    /// Reads `{ … }`: attributes `key = value;`, types `key := type;` and type declarations.
    fn block(&mut self) -> Result<Block> {
        self.advance();
        self.expect("{")?;
        self.scopes.push();
        let mut block = Block::default();
        while !self.accept("}") {
            self.block_entry(&mut block)?;
        }
        self.scopes.pop();
        self.expect(";")?;
        Ok(block)
    }

    fn block_entry(&mut self, block: &mut Block) -> Result<()> {
        let line = self.line();
        if self.at_type_declaration() {
            return self.type_declaration();
        }
        let key = self.dotted_name()?;
        if self.accept(":=") {
            let class = self.nested(Self::type_specifier)?;
            self.expect(";")?;
            block.types.push((key, class, line));
        } else {
            self.expect("=")?;
            block.attributes.push(self.attribute_value_or_version(key, line)?);
        }
        Ok(())
    }

    fn at_type_declaration(&self) -> bool {
        match self.peek() {
            TokenKind::Name(word) => matches!(
                word.as_str(),
                "typealias" | "typedef" | "struct" | "variant" | "enum" | "const"
            ),
            _ => false,
        }
    }

    /// `major` and `minor` may be written as decimal numbers by sloppy writers.
    fn attribute_value_or_version(&mut self, key: String, line: u32) -> Result<Attribute> {
        if let TokenKind::Decimal(text) = self.peek().clone() {
            self.advance();
            self.expect(";")?;
            return Ok(Attribute { key, value: Value::Text(text), line });
        }
        self.attribute_value(key, line)
    }

    /// Reads the `trace` block.
    pub(super) fn trace_block(&mut self) -> Result<()> {
        let line = self.line();
        let block = self.block()?;
        self.check_byte_order(line)?;
        for attribute in &block.attributes {
            match attribute.key.as_str() {
                "major" => self.trace.version.0 = attribute.version(1)?,
                "minor" => self.trace.version.1 = attribute.version(8)?,
                "uuid" => self.trace.uuid = Some(attribute.uuid()?),
                // Found ahead of time; the rest is none of the reader's business.
                _ => {}
            }
        }
        for (key, class, line) in block.types {
            // An unknown scope is none of the reader's business.
            if key == "packet.header" {
                self.trace.packet_header = Some(structure(class, line, &key)?);
                self.lines.packet_header = line;
            }
        }
        Ok(())
    }

    /// Reads the `env` block.
    pub(super) fn environment_block(&mut self) -> Result<()> {
        self.advance();
        for attribute in self.attributes()? {
            let value = match &attribute.value {
                Value::Integer(_) => EnvironmentValue::Integer(attribute.signed()?),
                Value::Text(text) | Value::Name(text) => EnvironmentValue::String(text.clone()),
            };
            if self.trace.environment.len() >= MAX_ENVIRONMENT {
                return Err(attribute.error("at most 10000 entries in env"));
            }
            self.trace.environment.retain(|(key, _)| *key != attribute.key);
            self.trace.environment.push((attribute.key, value));
        }
        self.expect(";")
    }

    /// Reads a `clock` block.
    pub(super) fn clock_block(&mut self) -> Result<()> {
        let line = self.line();
        self.advance();
        let mut clock = ClockClass::named("");
        let mut offset = 0;
        for attribute in self.attributes()? {
            match attribute.key.as_str() {
                "offset" => offset = attribute.integer()?,
                _ => set_clock_attribute(&mut clock, &attribute)?,
            }
        }
        self.expect(";")?;
        if clock.name.is_empty() {
            return Err(CtfError::metadata(line, "clock without a name"));
        }
        set_offset(&mut clock, offset);
        let index = self.trace.clocks.len();
        if self.clock_indexes.insert(clock.name.clone(), index).is_some() {
            return Err(CtfError::metadata(line, format!("clock '{}' stands twice", clock.name)));
        }
        self.trace.clocks.push(clock);
        Ok(())
    }

    /// Reads a `stream` block.
    pub(super) fn stream_block(&mut self) -> Result<()> {
        let line = self.line();
        let block = self.block()?;
        let id = match find(&block.attributes, "id") {
            Some(attribute) => attribute.unsigned()?,
            None => 0,
        };
        if self.declared_streams.len() >= MAX_STREAMS {
            return Err(CtfError::metadata(line, format!("more than {MAX_STREAMS} streams")));
        }
        if self.declared_streams.insert(id, line).is_some() {
            return Err(CtfError::metadata(line, format!("stream {id} stands twice")));
        }
        let index = self.stream_index(id);
        let Some(stream) = self.trace.stream_classes.get_mut(index) else { return Ok(()) };
        let mut lines = [line; 3];
        let [context_line, header_line, event_line] = &mut lines;
        for (key, class, line) in block.types {
            let class = structure(class, line, &key)?;
            let (scope, scope_line) = match key.as_str() {
                "packet.context" => (&mut stream.packet_context, &mut *context_line),
                "event.header" => (&mut stream.event_header, &mut *header_line),
                "event.context" => (&mut stream.event_context, &mut *event_line),
                // An unknown scope is none of the reader's business.
                _ => continue,
            };
            (*scope, *scope_line) = (Some(class), line);
        }
        self.lines.streams.entry(id).or_default().scopes = lines;
        Ok(())
    }

    /// Reads an `event` block.
    pub(super) fn event_block(&mut self) -> Result<()> {
        let line = self.line();
        let block = self.block()?;
        let mut stream_id = None;
        let mut id = None;
        let mut event = EventClass::default();
        for attribute in &block.attributes {
            match attribute.key.as_str() {
                "name" => event.name = Some(attribute.text()?.to_owned()),
                "id" => id = Some(attribute.unsigned()?),
                "stream_id" => stream_id = Some(attribute.unsigned()?),
                "loglevel" => event.log_level = Some(attribute.signed()?),
                "model.emf.uri" => event.emf_uri = Some(attribute.text()?.to_owned()),
                _ => {}
            }
        }
        let mut lines = [line; 2];
        let [context_line, payload_line] = &mut lines;
        for (key, class, line) in block.types {
            let class = structure(class, line, &key)?;
            let (scope, scope_line) = match key.as_str() {
                "context" => (&mut event.context, &mut *context_line),
                "fields" => (&mut event.payload, &mut *payload_line),
                // An unknown scope is none of the reader's business.
                _ => continue,
            };
            (*scope, *scope_line) = (Some(class), line);
        }
        let stream_id = self.stream_of_event(stream_id, line)?;
        self.add_event_class(stream_id, id, event, line)?;
        self.lines.streams.entry(stream_id).or_default().events.push(lines);
        Ok(())
    }

    /// An event block may leave the stream out when there is no choice.
    fn stream_of_event(&self, stated: Option<u64>, line: u32) -> Result<u64> {
        match (stated, self.trace.stream_classes.as_slice()) {
            (Some(id), _) => Ok(id),
            (None, []) => Ok(0),
            (None, [only]) => Ok(only.id),
            (None, _) => {
                let message = "event without stream_id while there are several streams";
                Err(CtfError::metadata(line, message))
            }
        }
    }

    fn add_event_class(
        &mut self,
        stream_id: u64,
        id: Option<u64>,
        mut event: EventClass,
        line: u32,
    ) -> Result<()> {
        if !self.declared_streams.contains_key(&stream_id) {
            self.undeclared_streams.push((stream_id, line));
        }
        let index = self.stream_index(stream_id);
        let Some(stream) = self.trace.stream_classes.get_mut(index) else { return Ok(()) };
        if id.is_none() && !stream.event_classes.is_empty() {
            let message = "event without id in a stream that has several events";
            return Err(CtfError::metadata(line, message));
        }
        event.id = id.unwrap_or(0);
        let index = stream.event_classes.len();
        if stream.event_class_index.insert(event.id, index).is_some() {
            let message = format!("event {} stands twice in stream {stream_id}", event.id);
            return Err(CtfError::metadata(line, message));
        }
        stream.event_classes.push(event);
        Ok(())
    }
}

fn find<'a>(attributes: &'a [Attribute], key: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|attribute| attribute.key == key)
}

fn structure(class: FieldClass, line: u32, key: &str) -> Result<FieldClass> {
    if matches!(class.kind, crate::model::FieldKind::Structure { .. }) {
        Ok(class)
    } else {
        Err(CtfError::metadata(line, format!("'{key}': expected a structure")))
    }
}

fn set_clock_attribute(clock: &mut ClockClass, attribute: &Attribute) -> Result<()> {
    match attribute.key.as_str() {
        "name" => clock.name = attribute.text()?.to_owned(),
        "uuid" => clock.uuid = Some(attribute.uuid()?),
        "description" => clock.description = Some(attribute.text()?.to_owned()),
        "freq" => {
            clock.frequency = attribute.unsigned()?;
            if clock.frequency == 0 {
                return Err(attribute.error("a frequency above 0"));
            }
        }
        "precision" => clock.precision = Some(attribute.unsigned()?),
        "offset_s" => clock.offset_seconds = attribute.signed()?,
        "absolute" => clock.absolute = attribute.boolean()?,
        _ => {}
    }
    Ok(())
}

/// Keeps the cycles below one second, so that their nanoseconds are exact for longer; an
/// offset before the origin counts back from the whole seconds.
fn set_offset(clock: &mut ClockClass, cycles: i128) {
    let frequency = i128::from(clock.frequency);
    let seconds = cycles.div_euclid(frequency) as i64;
    clock.offset_cycles = cycles.rem_euclid(frequency) as u64;
    clock.offset_seconds = clock.offset_seconds.wrapping_add(seconds);
}
