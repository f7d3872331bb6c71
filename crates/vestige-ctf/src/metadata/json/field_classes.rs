//! Field classes (CTF2-SPEC-2.0, section 5.3).

use std::collections::{HashMap, HashSet};

use super::locate::Location;
use super::node::Node;
use super::scalars::{
    base, bit_map, bits, encoding, floating_point, integer, length_location, range_set,
};
use super::value::Data;
use crate::error::Result;
use crate::metadata::budget::{weigh, MAX_COPIED};
use crate::metadata::MAX_DEPTH;
use crate::model::{
    Attributes, BitMeaning, BlobClass, FieldClass, FieldKind, Length, Member, OptionalClass, Role,
    Selector, StringEncoding, TextClass, Uses, VariableLengthClass,
};

/// Most options and ranges of a variant that are read: each is compared with all others.
const MAX_RANGES: usize = 10_000;

/// What field classes refer to.
pub struct Context<'a> {
    /// The metadata text.
    pub text: &'a [u8],
    /// UUID of the metadata.
    pub uuid: Option<[u8; 16]>,
    /// Field class aliases so far.
    pub aliases: HashMap<String, FieldClass>,
    /// Locations of length and selector fields. Until they are resolved, a slot is an
    /// index of this list.
    pub locations: Vec<Location>,
    /// How much was copied from aliases.
    pub copied: u64,
}

impl Context<'_> {
    /// Attributes of a fragment, a field class, a member or an option; release candidates
    /// call them `user-attributes`. Extensions were refused already, so none is left.
    pub fn attributes(&self, node: &Node<'_>) -> Result<Attributes> {
        if let Some(extensions) = node.optional(&["extensions"])? {
            let declared = extensions.properties()?;
            if let Some((namespace, value)) = declared.first() {
                let extension = extensions.child(namespace, value);
                return Err(extension.error("an extension that the preamble does not declare"));
            }
        }
        let Some(attributes) = node.optional(&["attributes", "user-attributes"])? else {
            return Ok(None);
        };
        attributes.properties()?;
        let text = self.text.get(attributes.value.span.clone()).unwrap_or_default();
        Ok(std::str::from_utf8(text).ok().map(Into::into))
    }

    /// A field class or the name of an alias that was declared before.
    pub fn field_class(&mut self, node: &Node<'_>, depth: u32) -> Result<FieldClass> {
        if depth > MAX_DEPTH {
            return Err(node.error(format!("field classes are nested more than {MAX_DEPTH} deep")));
        }
        let Data::Text(name) = &node.value.data else {
            return self.stated_class(node, depth);
        };
        let unknown = || node.error(format!("no field class alias '{name}' stands before"));
        let class = self.aliases.get(name).cloned().ok_or_else(unknown)?;
        let (weight, below) = weigh(&class);
        self.copied = self.copied.saturating_add(weight);
        if self.copied > MAX_COPIED {
            let message = "field class aliases multiply to more than a million fields";
            return Err(node.error(message));
        }
        if depth + below > MAX_DEPTH {
            return Err(node.error(format!("field classes are nested more than {MAX_DEPTH} deep")));
        }
        Ok(class)
    }

    fn stated_class(&mut self, node: &Node<'_>, depth: u32) -> Result<FieldClass> {
        let attributes = self.attributes(node)?;
        let kind = node.required("type")?;
        let mut minimum_alignment = 1;
        let kind = match kind.text()? {
            "fixed-length-bit-array" => bits(node, BitMeaning::Bits)?,
            "fixed-length-bit-map" => bit_map(node)?,
            "fixed-length-boolean" => bits(node, BitMeaning::Boolean)?,
            "fixed-length-unsigned-integer" | "fixed-length-unsigned-enumeration" => {
                integer(node, false, roles(node, true)?)?
            }
            "fixed-length-signed-integer" | "fixed-length-signed-enumeration" => {
                integer(node, true, roles(node, false)?)?
            }
            "fixed-length-floating-point-number" => floating_point(node)?,
            "variable-length-unsigned-integer" | "variable-length-unsigned-enumeration" => {
                variable_length(node, false)?
            }
            "variable-length-signed-integer" | "variable-length-signed-enumeration" => {
                variable_length(node, true)?
            }
            "null-terminated-string" => text(node, None)?,
            "static-length-string" => text(node, Some(static_length(node)?))?,
            "dynamic-length-string" => text(node, Some(self.dynamic_length(node)?))?,
            "static-length-blob" => self.static_blob(node)?,
            "dynamic-length-blob" => blob(node, self.dynamic_length(node)?, None)?,
            "structure" => self.structure(node, depth)?,
            "static-length-array" => {
                minimum_alignment = node.alignment("minimum-alignment")?;
                self.array(node, static_length(node)?, depth)?
            }
            "dynamic-length-array" => {
                minimum_alignment = node.alignment("minimum-alignment")?;
                let length = self.dynamic_length(node)?;
                self.array(node, length, depth)?
            }
            "optional" => self.optional(node, depth)?,
            "variant" => self.variant(node, depth)?,
            other => {
                return Err(kind
                    .error(format!("unknown type \"{other}\": expected a field class of CTF 2")));
            }
        };
        Ok(FieldClass { minimum_alignment, attributes, ..FieldClass::new(kind) })
    }

    /// Notes a field location; returns how to show it, and its index.
    fn location(&mut self, node: &Node<'_>, name: &'static str) -> Result<(Vec<String>, usize)> {
        let location = length_location(&node.required(name)?)?;
        let shown = location.shown();
        self.locations.push(location);
        Ok((shown, self.locations.len() - 1))
    }

    fn dynamic_length(&mut self, node: &Node<'_>) -> Result<Length> {
        let (path, slot) = self.location(node, "length-field-location")?;
        Ok(Length::Dynamic { path, slot })
    }

    fn static_blob(&mut self, node: &Node<'_>) -> Result<FieldKind> {
        let length = static_length(node)?;
        let mut expected = None;
        if let Some(roles) = node.optional(&["roles"])? {
            for (index, value) in roles.elements()?.iter().enumerate() {
                let role = roles.element(index, value);
                role.word(&[("metadata-stream-uuid", ()), ("trace-class-uuid", ())])?;
                if length != Length::Static(16) {
                    return Err(role.error("the UUID must be a BLOB of 16 bytes"));
                }
                let missing = || role.error("the preamble has no 'uuid' to compare with");
                expected = Some(self.uuid.ok_or_else(missing)?);
            }
        }
        blob(node, length, expected)
    }

    fn structure(&mut self, node: &Node<'_>, depth: u32) -> Result<FieldKind> {
        let mut alignment = node.alignment("minimum-alignment")?;
        let mut members = Vec::new();
        let mut names = HashSet::new();
        if let Some(list) = node.optional(&["member-classes"])? {
            for (index, value) in list.elements()?.iter().enumerate() {
                let member = list.element(index, value);
                let name = member.required("name")?;
                if !names.insert(name.text()?.to_owned()) {
                    return Err(name.error(format!("member '{}' stands twice", name.text()?)));
                }
                let class = self.field_class(&member.required("field-class")?, depth + 1)?;
                alignment = alignment.max(class.alignment());
                members.push(Member {
                    declared_name: name.text()?.to_owned(),
                    verbatim: true,
                    class,
                    attributes: self.attributes(&member)?,
                });
            }
        }
        Ok(FieldKind::Structure { members, alignment })
    }

    fn array(&mut self, node: &Node<'_>, length: Length, depth: u32) -> Result<FieldKind> {
        let element = self.field_class(&node.required("element-field-class")?, depth + 1)?;
        Ok(FieldKind::Array { element: Box::new(element), length, text: false })
    }

    fn optional(&mut self, node: &Node<'_>, depth: u32) -> Result<FieldKind> {
        let field = self.field_class(&node.required("field-class")?, depth + 1)?;
        let (path, slot) = self.location(node, "selector-field-location")?;
        let ranges = match node.optional(&["selector-field-ranges"])? {
            Some(ranges) => range_set(&ranges)?,
            // Filled in when the selector turns out to be a boolean.
            None => Vec::new(),
        };
        let ranges = ranges.into_iter().map(|(lower, upper)| (lower, upper, 0)).collect();
        let selector = Selector { path, slot, signed: false, ranges };
        Ok(FieldKind::Optional(Box::new(OptionalClass { field, selector, slots: Vec::new() })))
    }

    fn variant(&mut self, node: &Node<'_>, depth: u32) -> Result<FieldKind> {
        let list = node.required("options")?;
        let mut options = Vec::new();
        let mut names = HashSet::new();
        let mut ranges = Vec::new();
        for (index, value) in list.elements()?.iter().enumerate() {
            let option = list.element(index, value);
            let name = option.optional_text("name")?;
            if name.as_ref().is_some_and(|name| !names.insert(name.clone())) {
                return Err(option.error("its name stands twice in the variant"));
            }
            let class = self.field_class(&option.required("field-class")?, depth + 1)?;
            let set = range_set(&option.required("selector-field-ranges")?)?;
            ranges.extend(set.into_iter().map(|(lower, upper)| (lower, upper, index)));
            if ranges.len() > MAX_RANGES {
                return Err(option.error(format!("a variant of more than {MAX_RANGES} ranges")));
            }
            options.push(Member {
                declared_name: name.unwrap_or_default(),
                verbatim: true,
                class,
                attributes: self.attributes(&option)?,
            });
        }
        if options.is_empty() {
            return Err(list.expected("at least one option"));
        }
        refuse_overlaps(&list, &ranges)?;
        let (path, slot) = self.location(node, "selector-field-location")?;
        let selector = Selector { path, slot, signed: false, ranges };
        Ok(FieldKind::Variant { options, selector })
    }
}

/// Ranges of different options have no value in common.
fn refuse_overlaps(list: &Node<'_>, ranges: &[(i128, i128, usize)]) -> Result<()> {
    let mut sorted = ranges.to_vec();
    sorted.sort_unstable();
    let mut highest: Option<(i128, usize)> = None;
    for &(lower, upper, option) in &sorted {
        match highest {
            Some((end, other)) if lower <= end && option != other => {
                let (first, second) = (option.min(other), option.max(other));
                let message = format!("options {first} and {second} both have the value {lower}");
                return Err(list.error(message));
            }
            Some((end, _)) if end >= upper => {}
            _ => highest = Some((upper, option)),
        }
    }
    Ok(())
}

fn static_length(node: &Node<'_>) -> Result<Length> {
    Ok(Length::Static(node.required("length")?.unsigned()?))
}

fn text(node: &Node<'_>, length: Option<Length>) -> Result<FieldKind> {
    Ok(match (encoding(node)?, length) {
        (StringEncoding::Utf8, None) => FieldKind::String,
        (encoding, length) => FieldKind::Text(TextClass { length, encoding }),
    })
}

fn blob(node: &Node<'_>, length: Length, expected: Option<[u8; 16]>) -> Result<FieldKind> {
    let media_type = node.optional_text("media-type")?;
    let media_type = media_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    Ok(FieldKind::Blob(Box::new(BlobClass { length, media_type, expected })))
}

fn variable_length(node: &Node<'_>, signed: bool) -> Result<FieldKind> {
    Ok(FieldKind::VariableLength(Box::new(VariableLengthClass {
        signed,
        base: base(node)?,
        mappings: super::scalars::mappings(node, "mappings")?,
        uses: Uses { roles: roles(node, !signed)?, ..Uses::default() },
    })))
}

/// The roles of an integer field class (sections 5.6.1 and 5.8.1); whether they mean
/// anything where it is used is decided there.
fn roles(node: &Node<'_>, allowed: bool) -> Result<Vec<Role>> {
    const ROLES: [(&str, Role); 10] = [
        ("packet-magic-number", Role::Magic),
        ("data-stream-class-id", Role::StreamClassId),
        ("data-stream-id", Role::DataStreamId),
        ("packet-total-length", Role::PacketSize),
        ("packet-content-length", Role::ContentSize),
        ("default-clock-timestamp", Role::Timestamp),
        ("packet-end-default-clock-timestamp", Role::PacketEnd),
        ("discarded-event-record-counter-snapshot", Role::EventsDiscarded),
        ("packet-sequence-number", Role::PacketSequenceNumber),
        ("event-record-class-id", Role::EventClassId),
    ];
    let Some(list) = node.optional(&["roles"])? else { return Ok(Vec::new()) };
    let mut roles = Vec::new();
    for (index, value) in list.elements()?.iter().enumerate() {
        let role = list.element(index, value).word(&ROLES)?;
        if !roles.contains(&role) {
            roles.push(role);
        }
    }
    if !allowed && !roles.is_empty() {
        return Err(list.error("a signed integer has no roles"));
    }
    Ok(roles)
}
