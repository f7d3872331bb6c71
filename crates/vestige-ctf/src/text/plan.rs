//! The constant pieces of the text of a field class.

use super::escape::push_plain;
use super::labels::Labels;
use super::options::Options;
use super::snippet::Snippet;
use std::sync::Arc;

use crate::kernel_symbols::KernelSymbols;
use crate::model::{
    BitArrayClass, BitMeaning, BlobClass, DisplayBase, FieldClass, FieldKind, IntegerClass, Length,
    Member, OptionalClass, Selector, TextClass, VariableLengthClass,
};

/// A field class with the text around its values.
#[derive(Debug, Clone)]
pub enum FieldPlan {
    /// A field that is decoded but not shown.
    Hidden(FieldClass),
    /// An integer.
    Integer(IntegerClass),
    /// An integer that may be an address, and what is there.
    Address(IntegerClass, Arc<KernelSymbols>),
    /// An enumeration with its labels between quotes.
    Enumeration(IntegerClass, Labels),
    /// A floating point number: size, alignment, byte order.
    Float(u32, u32, crate::model::ByteOrder),
    /// A NUL-terminated string.
    String,
    /// An array.
    Array(Box<ArrayPlan>),
    /// A structure: its alignment and its members, each with the text before it.
    Structure(u32, Vec<(Snippet, FieldPlan)>),
    /// A variant.
    Variant(Box<VariantPlan>),
    /// Bits, with the labels of flags or values.
    BitArray(Box<BitArrayClass>, Labels),
    /// A variable-length integer with its labels.
    VariableLength(Box<VariableLengthClass>, Labels),
    /// A string with a length or in another encoding.
    Text(TextClass),
    /// Bytes.
    Blob(Box<BlobClass>),
    /// A field that may be there or not.
    Optional(Box<OptionalClass>, Box<FieldPlan>),
}

/// An array with the text around its elements.
#[derive(Debug, Clone)]
pub struct ArrayPlan {
    /// The element.
    pub element: FieldPlan,
    /// Alignment of the array, bits.
    pub alignment: u32,
    /// Size of an element, if it is always the same, bits.
    pub element_bits: Option<u64>,
    /// The length.
    pub length: Length,
    /// Whether it is shown as a string.
    pub text: bool,
    /// Whether indexes are shown.
    pub named: bool,
}

/// A variant with the plans of its options.
#[derive(Debug, Clone)]
pub struct VariantPlan {
    /// The selector.
    pub selector: Selector,
    /// The options as the model has them; the selector picks one of these.
    pub options: Vec<Member>,
    /// Their plans, in the same order.
    pub plans: Vec<FieldPlan>,
}

impl FieldPlan {
    /// The plan of a field class; `named` tells whether names and indexes are shown.
    #[must_use]
    pub fn new(class: &FieldClass, options: &Options, named: bool) -> Self {
        if !class.visible {
            return Self::Hidden(class.clone());
        }
        match &class.kind {
            FieldKind::Integer(integer) => match &options.symbols {
                Some(symbols) if is_address(integer) => {
                    Self::Address(integer.clone(), Arc::clone(symbols))
                }
                _ => Self::Integer(integer.clone()),
            },
            FieldKind::Enumeration(integer, mappings) => {
                Self::Enumeration(integer.clone(), Labels::new(mappings, options))
            }
            FieldKind::Float { size, alignment, order } => Self::Float(*size, *alignment, *order),
            FieldKind::String => Self::String,
            FieldKind::Array { element, length, text } => Self::Array(Box::new(ArrayPlan {
                element: Self::new(element, options, named),
                alignment: class.alignment(),
                element_bits: element.fixed_size,
                length: length.clone(),
                text: *text,
                named,
            })),
            FieldKind::Structure { members, alignment } => {
                Self::Structure(*alignment, members_of(members, options, named))
            }
            FieldKind::Variant { options: choices, selector } => {
                let plan = |member: &Member| Self::new(&member.class, options, named);
                Self::Variant(Box::new(VariantPlan {
                    selector: selector.clone(),
                    plans: choices.iter().map(plan).collect(),
                    options: choices.clone(),
                }))
            }
            FieldKind::BitArray(bits) => {
                let labels = match &bits.meaning {
                    BitMeaning::Flags(mappings) | BitMeaning::Integer { mappings, .. } => {
                        Labels::new(mappings, options)
                    }
                    _ => Labels::default(),
                };
                Self::BitArray(bits.clone(), labels)
            }
            FieldKind::VariableLength(integer) => {
                Self::VariableLength(integer.clone(), Labels::new(&integer.mappings, options))
            }
            FieldKind::Text(text) => Self::Text(text.clone()),
            FieldKind::Blob(blob) => Self::Blob(blob.clone()),
            FieldKind::Optional(optional) => {
                let plan = Self::new(&optional.field, options, named);
                Self::Optional(optional.clone(), Box::new(plan))
            }
        }
    }
}

fn is_address(class: &IntegerClass) -> bool {
    class.size == u64::BITS && !class.signed && class.base == DisplayBase::Hexadecimal
}

fn members_of(members: &[Member], options: &Options, named: bool) -> Vec<(Snippet, FieldPlan)> {
    let mut first = true;
    let plan = |member: &Member| {
        let plan = FieldPlan::new(&member.class, options, named);
        let mut before = Vec::new();
        if !matches!(plan, FieldPlan::Hidden(_)) {
            before.extend_from_slice(match (options.style.short, first) {
                (true, true) => b"",
                (true, false) | (false, true) => b" ",
                (false, false) => b", ",
            });
            first = false;
            if named {
                push_field_name(&mut before, options, member.name());
            }
        }
        (Snippet::new(&before), plan)
    };
    members.iter().map(plan).collect()
}

/// `name = `, in the colour of field names; `name=` in the short layout.
pub fn push_field_name(out: &mut Vec<u8>, options: &Options, name: &str) {
    out.extend_from_slice(options.palette.field_name.as_bytes());
    push_plain(out, name, options.style);
    out.extend_from_slice(options.palette.reset.as_bytes());
    out.extend_from_slice(if options.style.short { b"=" } else { b" = " });
}
