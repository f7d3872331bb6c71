//! Fields of events as `DebugAnnotation`s, the arguments that Perfetto shows.

use vestige_escapes::push_safe;

use super::protobuf::{message, push_bytes, push_fixed, push_number};
use crate::model::{EnumerationMapping, IntegerClass, Member, StringEncoding};
use crate::record::{to_utf8, Builder, Number};

// Fields of DebugAnnotation.
const BOOLEAN: u32 = 2;
const UNSIGNED: u32 = 3;
const SIGNED: u32 = 4;
const DOUBLE: u32 = 5;
const TEXT: u32 = 6;
const NAME: u32 = 10;
const DICTIONARY: u32 = 11;
const ARRAY: u32 = 12;

/// Most bytes of a text or a BLOB that are written.
const MOST_TEXT: usize = 16 * 1024;
/// Most elements of an array that are written.
const MOST_ELEMENTS: usize = 1000;

/// The value of a field, without its name.
#[derive(Debug, Default)]
pub struct Argument {
    /// Fields of a `DebugAnnotation`; none when there is no value.
    pub encoded: Vec<u8>,
    /// Its bits, when it is an integer.
    pub bits: u64,
}

impl Argument {
    fn of(fill: impl FnOnce(&mut Vec<u8>)) -> Self {
        Self { encoded: message(fill), bits: 0 }
    }

    fn text(text: &[u8]) -> Self {
        Self::of(|out| push_bytes(out, TEXT, &safe(text)))
    }
}

/// A text that neither steers a terminal nor is no UTF-8, which the format asks for.
#[must_use]
pub fn safe(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    push_safe(&mut out, text.get(..MOST_TEXT).unwrap_or(text), b"");
    if text.len() > MOST_TEXT {
        out.extend_from_slice("…".as_bytes());
    }
    out
}

/// Makes arguments of fields.
#[derive(Debug, Default)]
pub struct Arguments;

impl Arguments {
    fn labelled(mappings: &[EnumerationMapping], value: i128) -> Option<Argument> {
        let fits = |one: &&EnumerationMapping| (one.lower..=one.upper).contains(&value);
        let label = mappings.iter().find(fits)?;
        Some(Argument::text(label.label.as_bytes()))
    }
}

impl Builder for Arguments {
    type Value = Argument;

    fn unsigned(&mut self, _: &IntegerClass, value: u64) -> Argument {
        Argument { bits: value, ..Argument::of(|out| push_number(out, UNSIGNED, value)) }
    }

    fn signed(&mut self, _: &IntegerClass, value: i64) -> Argument {
        Argument {
            bits: value as u64,
            ..Argument::of(|out| push_number(out, SIGNED, value as u64))
        }
    }

    fn enumeration(
        &mut self,
        class: &IntegerClass,
        mappings: &[EnumerationMapping],
        value: u64,
    ) -> Argument {
        let known = if class.signed { i128::from(value as i64) } else { i128::from(value) };
        Self::labelled(mappings, known).unwrap_or_else(|| {
            if class.signed {
                self.signed(class, value as i64)
            } else {
                self.unsigned(class, value)
            }
        })
    }

    fn float(&mut self, value: f64) -> Argument {
        Argument::of(|out| push_fixed(out, DOUBLE, value.to_bits()))
    }

    fn string(&mut self, bytes: &[u8]) -> Argument {
        Argument::text(bytes)
    }

    fn array(&mut self, elements: Vec<Argument>) -> Argument {
        let count = elements.len();
        if count == 0 {
            return Argument::text(b"[]");
        }
        Argument::of(|out| {
            for one in elements.iter().take(MOST_ELEMENTS) {
                push_bytes(out, ARRAY, &one.encoded);
            }
            if count > MOST_ELEMENTS {
                let rest = format!("… {} more", count - MOST_ELEMENTS);
                push_bytes(out, ARRAY, &Argument::text(rest.as_bytes()).encoded);
            }
        })
    }

    fn structure(&mut self, members: &[Member], values: Vec<Argument>) -> Argument {
        if values.is_empty() {
            return Argument::text(b"{}");
        }
        Argument::of(|out| {
            let shown = members.iter().zip(values).filter(|(member, _)| !member.is_hidden());
            for (member, value) in shown {
                push_named(out, DICTIONARY, member.name().as_bytes(), &value);
            }
        })
    }

    fn boolean(&mut self, value: bool) -> Argument {
        Argument::of(|out| push_number(out, BOOLEAN, value.into()))
    }

    fn bits(&mut self, flags: &[EnumerationMapping], size: u32, value: &Number) -> Argument {
        let is_set = |one: &&EnumerationMapping| value.any_bit_of(one.lower, one.upper, size);
        let set: Vec<&str> = flags.iter().filter(is_set).map(|one| one.label.as_str()).collect();
        if set.is_empty() {
            return self.number(&[], value);
        }
        Argument::text(set.join(" | ").as_bytes())
    }

    fn number(&mut self, mappings: &[EnumerationMapping], value: &Number) -> Argument {
        let Some(known) = value.value() else {
            return Argument::text(b"a number of more than 128 bits");
        };
        if let Some(labelled) = Self::labelled(mappings, known) {
            return labelled;
        }
        if let Ok(small) = u64::try_from(known) {
            Argument { bits: small, ..Argument::of(|out| push_number(out, UNSIGNED, small)) }
        } else if let Ok(small) = i64::try_from(known) {
            Argument::of(|out| push_number(out, SIGNED, small as u64))
        } else {
            Argument::text(known.to_string().as_bytes())
        }
    }

    fn text(&mut self, encoding: StringEncoding, bytes: &[u8]) -> Argument {
        Argument::text(&to_utf8(bytes, encoding))
    }

    fn blob(&mut self, bytes: &[u8]) -> Argument {
        let shown = bytes.iter().take(MOST_TEXT / 2);
        let text: String = shown.map(|byte| format!("{byte:02x}")).collect();
        Argument::text(text.as_bytes())
    }

    fn nothing(&mut self) -> Argument {
        Argument::default()
    }
}

/// Appends an argument with its name, as a field of a message.
pub fn push_named(out: &mut Vec<u8>, field: u32, name: &[u8], value: &Argument) {
    let named = message(|inner| {
        push_bytes(inner, NAME, &safe(name));
        inner.extend_from_slice(&value.encoded);
    });
    push_bytes(out, field, &named);
}

/// An argument with a text that is ours.
#[must_use]
pub fn text_argument(text: &str) -> Argument {
    Argument::text(text.as_bytes())
}
