//! Fragments: preamble, aliases, trace, clock, data stream and event record classes
//! (CTF2-SPEC-2.0, sections 5.4 to 5.9).

use super::clocks;
use super::field_classes::Context;
use super::locate;
use super::node::Node;
use super::scopes::{set_roles, Scope};
use super::value::Data;
use crate::error::Result;
use crate::metadata::derive;
use crate::model::{EnvironmentValue, EventClass, FieldClass, Identity, StreamClass, TraceClass};

/// Most entries of the environment that are read; they are searched one by one.
const MAX_ENVIRONMENT: usize = 10_000;
/// Most data stream classes that are read; they are searched one by one.
const MAX_STREAMS: usize = 4096;

/// Gathers what fragments declare.
pub struct Builder<'a> {
    trace: TraceClass,
    context: Context<'a>,
    /// Internal IDs of the clock classes, in their order.
    clock_ids: Vec<String>,
    has_preamble: bool,
    has_trace_class: bool,
}

impl<'a> Builder<'a> {
    /// A builder for the fragments of a text.
    pub fn new(text: &'a [u8]) -> Self {
        let context = Context {
            text,
            uuid: None,
            aliases: std::collections::HashMap::new(),
            locations: Vec::new(),
            copied: 0,
        };
        Self {
            trace: TraceClass { version: (2, 0), ..TraceClass::default() },
            context,
            clock_ids: Vec::new(),
            has_preamble: false,
            has_trace_class: false,
        }
    }

    /// Whether the first fragment was added.
    pub fn has_preamble(&self) -> bool {
        self.has_preamble
    }

    /// Adds the next fragment.
    ///
    /// # Errors
    ///
    /// When it is not what the specification says, or comes too early or too late.
    pub fn add(&mut self, node: &Node<'_>) -> Result<()> {
        let kind = node.required("type")?;
        let name = kind.text()?;
        if !self.has_preamble && name != "preamble" {
            return Err(kind.error(format!("expected a preamble first, found \"{name}\"")));
        }
        match name {
            "preamble" if self.has_preamble => Err(kind.error("a second preamble")),
            "preamble" => self.preamble(node),
            "field-class-alias" => self.alias(node),
            "trace-class" => self.trace_class(node),
            "clock-class" => self.clock_class(node),
            "data-stream-class" => self.data_stream_class(node),
            "event-record-class" => self.event_record_class(node),
            _ => Err(kind.error(format!("unknown type \"{name}\": expected a fragment of CTF 2"))),
        }
    }

    /// The trace class, once all fragments are added.
    ///
    /// # Errors
    ///
    /// When a length or a selector cannot be found.
    pub fn finish(mut self) -> std::result::Result<TraceClass, locate::Wrong> {
        locate::resolve(&mut self.trace, &self.context.locations)?;
        derive::derive_declared(&mut self.trace);
        Ok(self.trace)
    }

    fn preamble(&mut self, node: &Node<'_>) -> Result<()> {
        let version = node.required("version")?;
        if version.integer()? != 2 {
            return Err(version.expected("2: the major version of CTF"));
        }
        if let Some(extensions) = node.optional(&["extensions"])? {
            for (namespace, names) in extensions.properties()? {
                let names = extensions.child(namespace, names);
                if let Some((name, value)) = names.properties()?.first() {
                    let message = format!(
                        "the trace needs the extension '{name}' of '{namespace}', which Vestige \
                         does not know"
                    );
                    return Err(names.child(name, value).error(message));
                }
            }
        }
        self.trace.uuid = clocks::uuid(node)?;
        self.context.uuid = self.trace.uuid;
        self.has_preamble = true;
        Ok(())
    }

    fn alias(&mut self, node: &Node<'_>) -> Result<()> {
        let name = node.required("name")?;
        self.context.attributes(node)?;
        let class = self.context.field_class(&node.required("field-class")?, 1)?;
        let name_text = name.text()?.to_owned();
        if self.context.aliases.insert(name_text, class).is_some() {
            return Err(name.error("a second field class alias of this name"));
        }
        Ok(())
    }

    fn identity(&self, node: &Node<'_>) -> Result<Identity> {
        Ok(Identity {
            namespace: node.optional_text("namespace")?,
            name: node.optional_text("name")?,
            uid: node.optional_text("uid")?,
            attributes: self.context.attributes(node)?,
        })
    }

    fn trace_class(&mut self, node: &Node<'_>) -> Result<()> {
        if self.has_trace_class {
            return Err(node.error("a second trace class"));
        }
        if !self.trace.stream_classes.is_empty() {
            return Err(node.error("the trace class stands behind a data stream class"));
        }
        self.has_trace_class = true;
        self.trace.identity = self.identity(node)?;
        if self.trace.uuid.is_none() {
            // Release candidates of the specification had it here.
            self.trace.uuid = clocks::uuid(node)?;
            self.context.uuid = self.trace.uuid;
        }
        if let Some(list) = node.optional(&["environment"])? {
            let entries = list.properties()?;
            if entries.len() > MAX_ENVIRONMENT {
                return Err(list.error("more than 10000 entries"));
            }
            for (name, value) in entries {
                let value = environment_value(&list.child(name, value))?;
                self.trace.environment.push((name.clone(), value));
            }
        }
        let header = self.scope(node, "packet-header-field-class", Scope::PacketHeader)?;
        self.trace.packet_header = header;
        Ok(())
    }

    /// The field class of a scope, when the fragment has one.
    fn scope(
        &mut self,
        node: &Node<'_>,
        name: &'static str,
        scope: Scope,
    ) -> Result<Option<FieldClass>> {
        let Some(property) = node.optional(&[name])? else { return Ok(None) };
        let class = self.context.field_class(&property, 1)?;
        set_roles(class, scope, &property).map(Some)
    }

    fn clock_class(&mut self, node: &Node<'_>) -> Result<()> {
        let identity = self.identity(node)?;
        let (id, clock) = clocks::clock_class(node, identity)?;
        if self.clock_ids.contains(&id) {
            return Err(node.error(format!("a second clock class with the ID '{id}'")));
        }
        if self.clock_ids.len() >= MAX_STREAMS {
            return Err(node.error(format!("more than {MAX_STREAMS} clock classes")));
        }
        self.clock_ids.push(id);
        self.trace.clocks.push(clock);
        Ok(())
    }

    fn data_stream_class(&mut self, node: &Node<'_>) -> Result<()> {
        let id = node.optional_unsigned("id")?.unwrap_or(0);
        if self.trace.stream_classes.iter().any(|class| class.id == id) {
            return Err(node.error(format!("a second data stream class with the ID {id}")));
        }
        if self.trace.stream_classes.len() >= MAX_STREAMS {
            return Err(node.error(format!("more than {MAX_STREAMS} data stream classes")));
        }
        let clock = match node.optional(&["default-clock-class-id", "default-clock-class-name"])? {
            Some(reference) => {
                let id = reference.text()?;
                let index = self.clock_ids.iter().position(|known| known == id);
                let missing = || reference.error(format!("no clock class '{id}' stands before"));
                Some(index.ok_or_else(missing)?)
            }
            None => None,
        };
        let context = "packet-context-field-class";
        let header = "event-record-header-field-class";
        let common = "event-record-common-context-field-class";
        let stream = StreamClass {
            id,
            packet_context: self.scope(node, context, Scope::PacketContext(clock))?,
            event_header: self.scope(node, header, Scope::EventHeader(clock))?,
            event_context: self.scope(node, common, Scope::User)?,
            clock,
            identity: self.identity(node)?,
            ..StreamClass::default()
        };
        self.trace.stream_classes.push(stream);
        Ok(())
    }

    fn event_record_class(&mut self, node: &Node<'_>) -> Result<()> {
        let id = node.optional_unsigned("id")?.unwrap_or(0);
        let stream_id = node.optional_unsigned("data-stream-class-id")?.unwrap_or(0);
        let identity = self.identity(node)?;
        let (log_level, emf_uri) = event_attributes(node)?;
        let event = EventClass {
            id,
            name: identity.name.clone(),
            log_level,
            emf_uri,
            context: self.scope(node, "specific-context-field-class", Scope::User)?,
            payload: self.scope(node, "payload-field-class", Scope::User)?,
            identity,
        };
        let streams = &mut self.trace.stream_classes;
        let Some(stream) = streams.iter_mut().find(|stream| stream.id == stream_id) else {
            let message = format!("no data stream class {stream_id} stands before");
            return Err(node.error(message));
        };
        let index = stream.event_classes.len();
        if stream.event_class_index.insert(id, index).is_some() {
            let message =
                format!("a second event record class {id} in data stream class {stream_id}");
            return Err(node.error(message));
        }
        stream.event_classes.push(event);
        Ok(())
    }
}

fn environment_value(node: &Node<'_>) -> Result<EnvironmentValue> {
    match &node.value.data {
        Data::Integer(value) => Ok(match i64::try_from(*value) {
            Ok(value) => EnvironmentValue::Integer(value),
            Err(_) => EnvironmentValue::String(value.to_string()),
        }),
        Data::Text(text) => Ok(EnvironmentValue::String(text.clone())),
        _ => Err(node.expected("a JSON integer or a JSON string")),
    }
}

/// Words for log levels, by their number.
pub const LOG_LEVELS: [&str; 15] = [
    "emergency",
    "alert",
    "critical",
    "error",
    "warning",
    "notice",
    "info",
    "debug:system",
    "debug:program",
    "debug:process",
    "debug:module",
    "debug:unit",
    "debug:function",
    "debug:line",
    "debug",
];

/// Log level and model URI, as LTTng and Babeltrace 2 write them. No attribute is needed to
/// decode anything, so others are passed over, whatever their form.
fn event_attributes(node: &Node<'_>) -> Result<(Option<i64>, Option<String>)> {
    let Some(attributes) = node.optional(&["attributes", "user-attributes"])? else {
        return Ok((None, None));
    };
    let (mut level, mut uri) = (None, None);
    for namespace in ["babeltrace.org,2020", "lttng.org,2009"] {
        let Some(properties) = attributes.optional(&[namespace])? else { continue };
        if !matches!(properties.value.data, Data::Object(_)) {
            continue;
        }
        if let Some(found) = properties.optional(&["log-level"])? {
            level = match &found.value.data {
                Data::Integer(value) => i64::try_from(*value).ok(),
                Data::Text(word) => (0..).zip(LOG_LEVELS).find(|(_, l)| l == word).map(|(n, _)| n),
                _ => None,
            };
        }
        if let Some(found) = properties.optional(&["emf-uri"])? {
            uri = found.text().ok().map(str::to_owned);
        }
    }
    Ok((level, uri))
}
