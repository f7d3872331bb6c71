//! Decoding a field into its column.

use std::collections::HashMap;

use super::builder::Builder;
use super::ctf2_node::Ctf2Node;
use super::naming::member_names;
use super::types::{Column, ColumnType};
use crate::bits::BitReader;
use crate::model::{
    ByteOrder, EnumerationMapping, FieldClass, FieldKind, IntegerClass, Length, Member, Selector,
};
use crate::record::{
    array_length, float_value, select_option, skip, until_nul, DecodeError, State,
};
use crate::text::{push_decimal, push_signed};

/// A field class with the column its fields go to.
#[derive(Debug, Clone)]
pub enum Node {
    /// A field that is not wanted.
    Skip(Box<FieldClass>),
    /// An integer.
    Integer(Box<IntegerClass>, usize),
    /// An integer that goes to two columns.
    IntegerTwice(Box<IntegerClass>, [usize; 2]),
    /// An enumeration as labels.
    Labels(Box<LabelsNode>, usize),
    /// A floating point number.
    Float(FloatNode, usize),
    /// A NUL-terminated string.
    Text(usize),
    /// An array that is a text.
    TextArray(Box<(Length, u32)>, usize),
    /// An array.
    List(Box<ListNode>, usize),
    /// A structure; without a column the members have columns of their own.
    Structure(Box<StructureNode>, Option<usize>),
    /// A variant.
    Variant(Box<VariantNode>, usize),
    /// One of the classes that CTF 2 added.
    Other(Box<Ctf2Node>, usize),
}

/// A floating point number.
#[derive(Debug, Clone)]
pub struct FloatNode {
    size: u32,
    alignment: u32,
    order: ByteOrder,
    /// Whether a number of 32 bits goes into a column of 64 bits.
    widened: bool,
}

/// An enumeration with the indexes of its labels.
#[derive(Debug, Clone)]
pub struct LabelsNode {
    class: IntegerClass,
    labels: Labels,
}

/// The indexes of the labels of an enumeration.
#[derive(Debug, Clone)]
pub struct Labels {
    /// Indexes of the labels of small values.
    small: Vec<Option<u32>>,
    /// Ranges in the order of the metadata; the first that holds counts.
    ranges: Vec<(i128, i128, u32)>,
}

/// An array with its element.
#[derive(Debug, Clone)]
pub struct ListNode {
    element: Node,
    alignment: u32,
    element_bits: Option<u64>,
    /// About how many bytes an element takes in its columns.
    width: u64,
    length: Length,
}

/// A structure with its members.
#[derive(Debug, Clone)]
pub struct StructureNode {
    alignment: u32,
    members: Vec<Node>,
}

/// A variant with its options.
#[derive(Debug, Clone)]
pub struct VariantNode {
    selector: Selector,
    /// The options as the model has them; the selector picks one of these.
    options: Vec<Member>,
    nodes: Vec<Node>,
}

/// How many values from 0 on have their label looked up without a search.
const SMALL: usize = 256;

impl Labels {
    pub(super) fn new(mappings: &[EnumerationMapping], labels: &[String]) -> Self {
        let places = (0u32..).zip(labels).map(|(index, label)| (label.as_str(), index));
        let places: HashMap<&str, u32> = places.collect();
        let range = |mapping: &EnumerationMapping| {
            let index = places.get(mapping.label.as_str()).copied()?;
            Some((mapping.lower, mapping.upper, index))
        };
        let ranges: Vec<_> = mappings.iter().filter_map(range).collect();
        let mut made = Self { small: Vec::new(), ranges };
        made.small = (0..SMALL).map(|value| made.search(value as i128)).collect();
        made
    }

    pub(super) fn search(&self, value: i128) -> Option<u32> {
        let holds = |range: &&(i128, i128, u32)| (range.0..=range.1).contains(&value);
        self.ranges.iter().find(holds).map(|range| range.2)
    }

    #[inline]
    fn label(&self, raw: u64, signed: bool) -> Option<u32> {
        match self.small.get(usize::try_from(raw).unwrap_or(usize::MAX)) {
            Some(label) => *label,
            None if signed => self.search(i128::from(raw as i64)),
            None => self.search(i128::from(raw)),
        }
    }
}

impl Node {
    /// The node of a field class; without a column the field is stepped over.
    #[must_use]
    pub fn new(class: &FieldClass, column: Option<&Column>) -> Self {
        let Some(column) = column else { return Self::Skip(Box::new(class.clone())) };
        let to = column.id;
        match (&class.kind, &column.kind) {
            (FieldKind::Enumeration(integer, mappings), ColumnType::Dictionary(labels)) => {
                let labels = Labels::new(mappings, labels);
                Self::Labels(Box::new(LabelsNode { class: integer.clone(), labels }), to)
            }
            (FieldKind::Integer(integer) | FieldKind::Enumeration(integer, _), _) => {
                Self::Integer(Box::new(integer.clone()), to)
            }
            (&FieldKind::Float { size, alignment, order }, kind) => {
                let widened = *kind != ColumnType::Float { bits: size };
                Self::Float(FloatNode { size, alignment, order, widened }, to)
            }
            (FieldKind::String, _) => Self::Text(to),
            (FieldKind::Array { length, text: true, .. }, _) => {
                Self::TextArray(Box::new((length.clone(), class.alignment())), to)
            }
            (FieldKind::Array { element, length, .. }, _) => {
                let item = column.children().first();
                Self::List(
                    Box::new(ListNode {
                        element: Self::new(element, item),
                        alignment: class.alignment(),
                        element_bits: element.fixed_size,
                        width: item.map_or(0, |item| item.kind.width()),
                        length: length.clone(),
                    }),
                    to,
                )
            }
            (FieldKind::Structure { members, alignment }, _) => {
                let members = nodes(members, column);
                Self::Structure(
                    Box::new(StructureNode { alignment: *alignment, members }),
                    Some(to),
                )
            }
            (
                FieldKind::BitArray(_)
                | FieldKind::VariableLength(_)
                | FieldKind::Text(_)
                | FieldKind::Blob(_)
                | FieldKind::Optional(_),
                _,
            ) => Self::Other(Box::new(Ctf2Node::new(class, column)), to),
            (FieldKind::Variant { options, selector }, _) => Self::Variant(
                Box::new(VariantNode {
                    selector: selector.clone(),
                    nodes: nodes(options, column),
                    options: options.clone(),
                }),
                to,
            ),
        }
    }

    /// The node of a scope whose members have columns of their own.
    pub fn scope<'a>(
        class: &FieldClass,
        columns: impl Iterator<Item = Option<&'a Column>>,
    ) -> Self {
        let members = class.members().iter().zip(columns);
        let members = members.map(|(member, column)| Self::new(&member.class, column)).collect();
        let alignment = class.alignment();
        Self::Structure(Box::new(StructureNode { alignment, members }), None)
    }

    /// Lets an integer among the members of a scope go to one more column.
    pub fn also_to(&mut self, member: usize, to: usize) {
        let Self::Structure(scope, None) = self else { return };
        let Some(node) = scope.members.get_mut(member) else { return };
        *node = match node {
            Self::Skip(class) => match &class.kind {
                FieldKind::Integer(integer) => Self::Integer(Box::new(integer.clone()), to),
                _ => return,
            },
            Self::Integer(class, first) if *first != to => {
                Self::IntegerTwice(class.clone(), [*first, to])
            }
            _ => return,
        };
    }

    /// Whether anything in it is wanted.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        match self {
            Self::Skip(_) => false,
            Self::Structure(node, None) => node.members.iter().any(Self::is_wanted),
            _ => true,
        }
    }

    /// Drops what stands behind the last wanted member.
    pub fn trim(&mut self) {
        if let Self::Structure(node, None) = self {
            while node.members.last().is_some_and(|member| !member.is_wanted()) {
                node.members.pop();
            }
        }
    }

    /// The columns of the members, if each wanted one is a number.
    #[must_use]
    pub fn numbers(&self) -> Option<Vec<usize>> {
        let Self::Structure(node, None) = self else { return None };
        let mut columns = Vec::new();
        for member in &node.members {
            match member {
                Self::Skip(_) => {}
                Self::Integer(_, to) | Self::Float(_, to) => columns.push(*to),
                Self::IntegerTwice(_, both) => columns.extend(both),
                _ => return None,
            }
        }
        Some(columns)
    }
}

fn nodes(members: &[Member], column: &Column) -> Vec<Node> {
    let names = member_names(members).into_iter().zip(members);
    let node = |(name, member): (String, &Member)| {
        let child = column.children().iter().find(|child| child.name == name);
        Node::new(&member.class, child)
    };
    names.map(node).collect()
}

/// What decoding fields needs beside their nodes.
pub struct Fields<'a> {
    /// Builders by the index of their column.
    pub builders: &'a mut [Builder],
    /// Slots and clock.
    pub state: &'a mut State,
    /// How many bytes of list elements there may still be.
    pub room: u64,
}

impl Fields<'_> {
    #[inline]
    pub(super) fn put(&mut self, column: usize, row: usize, bits: u64) {
        if let Some(builder) = self.builders.get_mut(column) {
            builder.put(row, bits);
        }
    }

    pub(super) fn text(
        &mut self,
        column: usize,
        row: usize,
        bytes: &[u8],
    ) -> Result<(), DecodeError> {
        self.builders.get_mut(column).map_or(Ok(()), |builder| builder.put_text(row, bytes))
    }

    fn structure(&mut self, column: usize, row: usize) {
        if let Some(builder) = self.builders.get_mut(column) {
            builder.put_structure(row);
        }
    }

    /// Decodes the field at `reader` into a row of its column.
    ///
    /// # Errors
    ///
    /// When the field does not fit the data, or its values no memory.
    #[inline]
    pub fn field(
        &mut self,
        node: &Node,
        row: usize,
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        match node {
            Node::Integer(class, to) => {
                let value = self.state.integer(class, reader)?;
                self.put(*to, row, value);
            }
            Node::Skip(class) => skip(class, reader, self.state)?,
            Node::Structure(node, to) => {
                if let Some(to) = to {
                    self.structure(*to, row);
                }
                reader.align(node.alignment)?;
                for member in &node.members {
                    self.field(member, row, reader)?;
                }
            }
            Node::Text(to) => {
                reader.align(8)?;
                self.text(*to, row, reader.string()?)?;
            }
            Node::Float(node, to) => {
                reader.align(node.alignment)?;
                let bits = reader.unsigned(node.size, node.order)?;
                let wide = node.widened.then(|| float_value(bits, node.size).to_bits());
                self.put(*to, row, wide.unwrap_or(bits));
            }
            Node::IntegerTwice(class, [first, second]) => {
                let value = self.state.integer(class, reader)?;
                self.put(*first, row, value);
                self.put(*second, row, value);
            }
            _ => self.long_field(node, row, reader)?,
        }
        Ok(())
    }

    fn long_field(
        &mut self,
        node: &Node,
        row: usize,
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        match node {
            Node::Labels(node, to) => {
                let value = self.state.integer(&node.class, reader)?;
                let signed = node.class.signed;
                match node.labels.label(value, signed) {
                    Some(label) => self.put(*to, row, label.into()),
                    None => {
                        let mut digits = Vec::new();
                        if signed {
                            push_signed(&mut digits, value as i64);
                        } else {
                            push_decimal(&mut digits, value);
                        }
                        self.text(*to, row, &digits)?;
                    }
                }
                Ok(())
            }
            Node::TextArray(array, to) => {
                let (length, alignment) = array.as_ref();
                reader.align(*alignment)?;
                let count = array_length(length, Some(8), self.state, reader)?;
                self.text(*to, row, until_nul(reader.bytes(count)?))
            }
            Node::List(node, to) => self.list(node, *to, row, reader),
            Node::Variant(node, to) => {
                let option = select_option(&node.selector, &node.options, self.state)?;
                let index = node.options.iter().position(|other| std::ptr::eq(other, option));
                self.structure(*to, row);
                let chosen = index.and_then(|index| node.nodes.get(index));
                chosen.map_or(Ok(()), |chosen| self.field(chosen, row, reader))
            }
            Node::Other(node, to) => self.other(node, *to, row, reader),
            _ => Ok(()),
        }
    }

    fn list(
        &mut self,
        node: &ListNode,
        to: usize,
        row: usize,
        reader: &mut BitReader<'_>,
    ) -> Result<(), DecodeError> {
        reader.align(node.alignment)?;
        let count = array_length(&node.length, node.element_bits, self.state, reader)?;
        let bytes = count.saturating_mul(node.width);
        self.room = self.room.checked_sub(bytes).ok_or(DecodeError::ColumnsTooLarge)?;
        let Some(builder) = self.builders.get_mut(to) else { return Ok(()) };
        let first = builder.put_list(row, count)?;
        for element in first..first + count as usize {
            self.field(&node.element, element, reader)?;
        }
        Ok(())
    }
}
