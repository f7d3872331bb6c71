//! Field classes with the constant pieces of the text of their fields.

use super::options::Options;
use crate::model::{
    BitArrayClass, ByteOrder, FieldClass, FieldKind, IntegerClass, Length, Member, OptionalClass,
    Selector, TextClass, VariableLengthClass,
};

/// A field class with the text around its values.
pub enum Node {
    /// A field that is decoded but not shown.
    Hidden(FieldClass),
    /// An integer or an enumeration.
    Integer(IntegerClass),
    /// A floating point number.
    Float {
        /// Size in bits.
        size: u32,
        /// Alignment in bits.
        alignment: u32,
        /// Byte order.
        order: ByteOrder,
    },
    /// A NUL-terminated string.
    String,
    /// An array.
    Array(Box<ArrayNode>),
    /// A structure.
    Structure {
        /// Alignment in bits.
        alignment: u32,
        /// The members, each with what stands before its value: a line break and its name.
        members: Vec<(Box<[u8]>, Node)>,
        /// Whether none is shown.
        is_empty: bool,
    },
    /// A variant.
    Variant {
        /// What selects the option.
        selector: Selector,
        /// The options.
        options: Vec<Member>,
        /// Their nodes, in the same order.
        nodes: Vec<Node>,
    },
    /// Bits.
    BitArray(Box<BitArrayClass>),
    /// A variable-length integer.
    VariableLength(Box<VariableLengthClass>),
    /// A string with a length or in another encoding.
    Text(TextClass),
    /// Bytes.
    Blob(Box<crate::model::BlobClass>),
    /// A field that may be there or not.
    Optional(Box<OptionalClass>, Box<Node>),
}

/// An array.
pub struct ArrayNode {
    /// The element.
    pub element: Node,
    /// Alignment of the array, bits.
    pub alignment: u32,
    /// Size of an element if it is always the same, bits.
    pub element_bits: Option<u64>,
    /// The length.
    pub length: Length,
    /// Whether it is shown as a string.
    pub text: bool,
    /// What stands before the index of an element: a line break.
    pub before: Box<[u8]>,
    /// What stands behind it.
    pub behind: Box<[u8]>,
}

impl Node {
    /// The node of a field class whose name stands `indent` columns from the left.
    pub fn new(class: &FieldClass, options: &Options, indent: usize) -> Self {
        if !class.visible {
            return Self::Hidden(class.clone());
        }
        match &class.kind {
            FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _) => {
                Self::Integer(integer.clone())
            }
            &FieldKind::Float { size, alignment, order } => Self::Float { size, alignment, order },
            FieldKind::String => Self::String,
            FieldKind::Array { element, length, text } => {
                let palette = &options.palette;
                let before = [&new_line(indent + 2), palette.cyan.as_bytes(), b"["].concat();
                let behind = [b"]", palette.reset.as_bytes(), b":"].concat();
                Self::Array(Box::new(ArrayNode {
                    element: Self::new(element, options, indent + 2),
                    alignment: class.alignment(),
                    element_bits: element.fixed_size,
                    length: length.clone(),
                    text: *text,
                    before: before.into(),
                    behind: behind.into(),
                }))
            }
            FieldKind::Structure { members, alignment } => {
                let is_empty = !members.iter().any(|member| member.class.visible);
                let node = |member: &Member| {
                    let node = Self::new(&member.class, options, indent + 2);
                    let before = match member.class.visible {
                        true => member_line(member.name(), options, indent + 2),
                        false => Vec::new(),
                    };
                    (before.into(), node)
                };
                let members = members.iter().map(node).collect();
                Self::Structure { alignment: *alignment, members, is_empty }
            }
            FieldKind::Variant { options: all, selector } => {
                let nodes = all.iter().map(|option| Self::new(&option.class, options, indent));
                let (selector, nodes) = (selector.clone(), nodes.collect());
                Self::Variant { selector, options: all.clone(), nodes }
            }
            FieldKind::BitArray(class) => Self::BitArray(class.clone()),
            FieldKind::VariableLength(class) => Self::VariableLength(class.clone()),
            FieldKind::Text(class) => Self::Text(class.clone()),
            FieldKind::Blob(class) => Self::Blob(class.clone()),
            FieldKind::Optional(class) => {
                let node = Self::new(&class.field, options, indent);
                Self::Optional(class.clone(), Box::new(node))
            }
        }
    }
}

/// A line break, and the name of a member `indent` columns from the left.
pub fn member_line(name: &str, options: &Options, indent: usize) -> Vec<u8> {
    let (cyan, reset) = (options.palette.cyan.as_bytes(), options.palette.reset.as_bytes());
    [&new_line(indent), cyan, name.as_bytes(), reset, b":"].concat()
}

fn new_line(indent: usize) -> Vec<u8> {
    let mut line = vec![b'\n'];
    line.resize(1 + indent, b' ');
    line
}
