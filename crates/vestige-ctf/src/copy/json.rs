//! Field classes of CTF 2 that stand alone, and the JSON that they are written in.

use std::collections::HashMap;
use std::fmt::Write;

use crate::model::{
    BitArrayClass, BitMeaning, ByteOrder, DisplayBase, EnumerationMapping, Identity, IntegerClass,
};

/// A JSON object that is being printed.
pub(super) struct Object(String);

impl Object {
    pub fn of(kind: &str) -> Self {
        Self(format!("{{\"type\": {}", quoted(kind)))
    }

    /// Adds a property whose value is already JSON.
    pub fn set(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        let _ = write!(self.0, ", {}: {value}", quoted(name));
        self
    }

    pub fn text(self, name: &str, value: &str) -> Self {
        self.set(name, quoted(value))
    }

    pub fn optional_text(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    pub fn identity(self, identity: &Identity, name: Option<&str>) -> Self {
        self.optional_text("namespace", identity.namespace.as_deref())
            .optional_text("name", name)
            .optional_text("uid", identity.uid.as_deref())
    }

    pub fn end(self) -> String {
        self.0 + "}"
    }

    pub fn fragment(self) -> String {
        format!("\u{1e}{}\n", self.end())
    }
}

/// An integer that each copy has.
pub(super) fn own(size: u32, order: ByteOrder, role: &str) -> String {
    Object::of("fixed-length-unsigned-integer")
        .set("length", size)
        .set("alignment", 8)
        .text("byte-order", order_name(order))
        .set("roles", format!("[{}]", quoted(role)))
        .end()
}

pub(super) fn plain_integer(class: &IntegerClass, mappings: &[EnumerationMapping]) -> Object {
    let kind = format!("{}-integer", sign(class.signed));
    let object = fixed(&kind, class.size, class.alignment, class.order);
    let object = object.set("preferred-display-base", base_of(class.base));
    mapped(object, "mappings", mappings)
}

pub(super) fn bit_array(class: &BitArrayClass) -> Object {
    let fixed = |kind: &str| {
        let object = fixed(kind, class.size, class.alignment, class.order);
        if !class.reversed {
            return object;
        }
        let order = match class.order {
            ByteOrder::Little => "last-to-first",
            ByteOrder::Big => "first-to-last",
        };
        object.text("bit-order", order)
    };
    match &class.meaning {
        BitMeaning::Bits => fixed("bit-array"),
        BitMeaning::Boolean => fixed("boolean"),
        BitMeaning::Float => fixed("floating-point-number"),
        BitMeaning::Flags(flags) => mapped(fixed("bit-map"), "flags", flags),
        BitMeaning::Integer { signed, base, mappings } => {
            let object = fixed(&format!("{}-integer", sign(*signed)));
            mapped(object.set("preferred-display-base", base_of(*base)), "mappings", mappings)
        }
    }
}

pub(super) fn fixed(kind: &str, size: u32, alignment: u32, order: ByteOrder) -> Object {
    Object::of(&format!("fixed-length-{kind}"))
        .set("length", size)
        .set("alignment", alignment)
        .text("byte-order", order_name(order))
}

/// Adds labels with all ranges of each.
pub(super) fn mapped(object: Object, name: &str, mappings: &[EnumerationMapping]) -> Object {
    if mappings.is_empty() {
        return object;
    }
    let mut labels: Vec<&str> = Vec::new();
    let mut ranges: HashMap<&str, Vec<(i128, i128)>> = HashMap::new();
    for mapping in mappings {
        let found = ranges.entry(&mapping.label).or_default();
        if found.is_empty() {
            labels.push(&mapping.label);
        }
        found.push((mapping.lower, mapping.upper));
    }
    let entries = labels.into_iter().map(|label| {
        let ranges = ranges.remove(label).unwrap_or_default();
        format!("{}: {}", quoted(label), ranges_text(ranges.into_iter()))
    });
    object.set(name, braced(entries.collect::<Vec<_>>()))
}

pub(super) fn ranges_text(ranges: impl Iterator<Item = (i128, i128)>) -> String {
    listed(ranges.map(|(lower, upper)| format!("[{lower}, {upper}]")))
}

pub(super) fn member(name: &str, class: &str) -> String {
    format!("{{\"name\": {}, \"field-class\": {class}}}", quoted(name))
}

pub(super) fn structure(members: &[String], alignment: u32) -> String {
    Object::of("structure")
        .set("minimum-alignment", alignment)
        .set("member-classes", listed(members.iter().cloned()))
        .end()
}

pub(super) fn listed(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

pub(super) fn braced(items: impl IntoIterator<Item = String>) -> String {
    format!("{{{}}}", items.into_iter().collect::<Vec<_>>().join(", "))
}

pub(super) fn sign(signed: bool) -> &'static str {
    if signed {
        "signed"
    } else {
        "unsigned"
    }
}

pub(super) fn base_of(base: DisplayBase) -> u32 {
    match base {
        DisplayBase::Binary => 2,
        DisplayBase::Octal => 8,
        DisplayBase::Decimal => 10,
        DisplayBase::Hexadecimal => 16,
    }
}

pub(super) fn order_name(order: ByteOrder) -> &'static str {
    match order {
        ByteOrder::Little => "little-endian",
        ByteOrder::Big => "big-endian",
    }
}

/// A JSON string.
pub(super) fn quoted(text: &str) -> String {
    let mut shown = String::with_capacity(text.len() + 2);
    shown.push('"');
    for one in text.chars() {
        match one {
            '\\' => shown.push_str("\\\\"),
            '"' => shown.push_str("\\\""),
            one if u32::from(one) < 0x20 => {
                let _ = write!(shown, "\\u{:04x}", u32::from(one));
            }
            one => shown.push(one),
        }
    }
    shown.push('"');
    shown
}
