//! What columns hold, and which column two field classes of one name share.

use std::collections::HashSet;

use super::layout::Options;
use super::naming::member_names;
use crate::model::{BitArrayClass, BitMeaning, EnumerationMapping, FieldClass, FieldKind};

/// What the values of a column are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ColumnType {
    /// Integer of 8, 16, 32 or 64 bits.
    Integer {
        /// Size in bits.
        bits: u32,
        /// Whether it is two's complement.
        signed: bool,
    },
    /// Floating point number of 32 or 64 bits.
    Float {
        /// Size in bits.
        bits: u32,
    },
    /// True or false.
    Boolean,
    /// UTF-8 text.
    Text,
    /// Bytes.
    Binary,
    /// Nanoseconds since the Unix epoch, in UTC.
    Timestamp,
    /// Nanoseconds since the origin of a clock.
    Duration,
    /// Text as an index into a dictionary, which begins with these labels.
    Dictionary(Vec<String>),
    /// Lists of one type.
    List(Box<Column>),
    /// Structures.
    Structure(Vec<Column>),
}

/// A column, or a part of a nested one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: ColumnType,
    /// Whether values can be missing.
    pub nullable: bool,
    /// Index of its builder, once the layout is complete.
    pub id: usize,
}

impl Column {
    /// A column whose values may be missing.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: ColumnType) -> Self {
        Self { name: name.into(), kind, nullable: true, id: 0 }
    }

    /// Gives it and all its parts the next indexes.
    pub(super) fn number(&mut self, next: &mut usize) {
        self.id = *next;
        *next += 1;
        match &mut self.kind {
            ColumnType::List(element) => element.number(next),
            ColumnType::Structure(members) => {
                members.iter_mut().for_each(|member| member.number(next));
            }
            _ => {}
        }
    }

    /// The parts of a nested column.
    #[must_use]
    pub fn children(&self) -> &[Self] {
        match &self.kind {
            ColumnType::List(element) => std::slice::from_ref(element),
            ColumnType::Structure(members) => members,
            _ => &[],
        }
    }
}

impl ColumnType {
    /// The type of the fields of a class.
    #[must_use]
    pub fn of(class: &FieldClass, options: &Options) -> Self {
        match &class.kind {
            FieldKind::Integer(class) => Self::integer(class.size, class.signed),
            FieldKind::Enumeration(class, mappings) => {
                Self::enumeration(mappings, class.size, class.signed, options)
            }
            FieldKind::Float { size, .. } => Self::Float { bits: *size },
            FieldKind::String | FieldKind::Array { text: true, .. } => Self::text(options),
            FieldKind::Array { element, .. } => {
                Self::List(Box::new(Column::new("item", Self::of(element, options))))
            }
            FieldKind::BitArray(class) => Self::bit_array(class, options),
            FieldKind::VariableLength(class) => {
                Self::enumeration(&class.mappings, 64, class.signed, options)
            }
            FieldKind::Text(_) => Self::text(options),
            FieldKind::Blob(_) => Self::Binary,
            FieldKind::Optional(optional) => Self::of(&optional.field, options),
            FieldKind::Structure { members, .. } | FieldKind::Variant { options: members, .. } => {
                let columns = member_names(members)
                    .into_iter()
                    .zip(members)
                    .map(|(name, member)| Column::new(name, Self::of(&member.class, options)));
                Self::Structure(columns.collect())
            }
        }
    }

    fn text(options: &Options) -> Self {
        if options.dictionary {
            Self::Dictionary(Vec::new())
        } else {
            Self::Text
        }
    }

    fn integer(size: u32, signed: bool) -> Self {
        match size {
            0..=64 => Self::Integer { bits: size.next_power_of_two().clamp(8, 64), signed },
            // No integer type of Arrow holds it: its digits do.
            _ => Self::Text,
        }
    }

    fn enumeration(
        mappings: &[EnumerationMapping],
        size: u32,
        signed: bool,
        options: &Options,
    ) -> Self {
        if options.labels && !mappings.is_empty() {
            Self::Dictionary(labels(mappings))
        } else {
            Self::integer(size, signed)
        }
    }

    fn bit_array(class: &BitArrayClass, options: &Options) -> Self {
        match &class.meaning {
            BitMeaning::Boolean => Self::Boolean,
            BitMeaning::Bits | BitMeaning::Flags(_) => Self::integer(class.size, false),
            BitMeaning::Float => Self::Float { bits: if class.size <= 32 { 32 } else { 64 } },
            BitMeaning::Integer { signed, mappings, .. } => {
                Self::enumeration(mappings, class.size, *signed, options)
            }
        }
    }

    /// The type that holds the values of both without a loss, if there is one.
    #[must_use]
    pub fn merged(&self, other: &Self) -> Option<Self> {
        match (self, other) {
            (Self::Integer { bits, signed }, Self::Integer { bits: b, signed: s }) => {
                merged_integers((*bits, *signed), (*b, *s))
            }
            (Self::Float { bits }, Self::Float { bits: other }) => {
                Some(Self::Float { bits: *bits.max(other) })
            }
            (Self::Dictionary(labels), Self::Dictionary(others)) => {
                let known: HashSet<&String> = labels.iter().collect();
                let fresh = others.iter().filter(|label| !known.contains(label));
                Some(Self::Dictionary(labels.iter().chain(fresh).cloned().collect()))
            }
            (Self::List(element), Self::List(other)) => {
                let kind = element.kind.merged(&other.kind)?;
                Some(Self::List(Box::new(Column::new("item", kind))))
            }
            (Self::Structure(members), Self::Structure(others)) => {
                merged_members(members, others).map(Self::Structure)
            }
            _ => (self == other).then(|| self.clone()),
        }
    }

    /// A word for a column whose type keeps it apart from another of the same name.
    #[must_use]
    pub fn word(&self) -> String {
        match self {
            Self::Integer { bits, signed: true } => format!("int{bits}"),
            Self::Integer { bits, signed: false } => format!("uint{bits}"),
            Self::Float { bits } => format!("float{bits}"),
            Self::Boolean => "bool".to_owned(),
            Self::Text => "string".to_owned(),
            Self::Binary => "binary".to_owned(),
            Self::Timestamp => "timestamp".to_owned(),
            Self::Duration => "duration".to_owned(),
            Self::Dictionary(_) => "label".to_owned(),
            Self::List(_) => "list".to_owned(),
            Self::Structure(_) => "struct".to_owned(),
        }
    }

    /// About how many bytes a value takes.
    #[must_use]
    pub fn width(&self) -> u64 {
        match self {
            Self::Integer { bits, .. } | Self::Float { bits } => u64::from(bits / 8),
            Self::Boolean => 1,
            Self::Timestamp | Self::Duration | Self::Text | Self::Binary => 8,
            Self::Dictionary(_) => 4,
            Self::List(element) => 4 + element.kind.width(),
            Self::Structure(members) => members.iter().map(|member| member.kind.width()).sum(),
        }
    }
}

fn merged_integers(one: (u32, bool), other: (u32, bool)) -> Option<ColumnType> {
    let (bits, signed) = match (one, other) {
        ((bits, signed), (b, s)) if signed == s => (bits.max(b), signed),
        ((signed, true), (unsigned, false)) | ((unsigned, false), (signed, true)) => {
            // Half of an unsigned type does not fit the signed one of its size.
            (signed.max(unsigned * 2), true)
        }
        _ => return None,
    };
    (bits <= 64).then_some(ColumnType::Integer { bits, signed })
}

fn merged_members(members: &[Column], others: &[Column]) -> Option<Vec<Column>> {
    let mut merged = members.to_vec();
    for other in others {
        match merged.iter_mut().find(|member| member.name == other.name) {
            Some(member) => member.kind = member.kind.merged(&other.kind)?,
            None => merged.push(other.clone()),
        }
    }
    Some(merged)
}

/// The labels of an enumeration, each once, in the order of the metadata.
fn labels(mappings: &[EnumerationMapping]) -> Vec<String> {
    let mut seen = HashSet::new();
    let fresh = mappings.iter().filter(|mapping| seen.insert(mapping.label.as_str()));
    fresh.map(|mapping| mapping.label.clone()).collect()
}
