//! Field classes of numbers and bits, and the small parts that field classes share.

use super::locate::{Location, ORIGINS};
use super::node::Node;
use super::value::Data;
use crate::error::Result;
use crate::metadata::types::MAX_INTEGER_SIZE;
use crate::model::{
    BitArrayClass, BitMeaning, ByteOrder, DisplayBase, Encoding, EnumerationMapping, FieldKind,
    IntegerClass, Role, StringEncoding, Uses,
};

/// Most ranges of one set, and most labels of one field class.
const MAX_MAPPINGS: usize = 100_000;

/// The properties that all fixed-length bit arrays have.
fn bit_array(node: &Node<'_>, meaning: BitMeaning, roles: Vec<Role>) -> Result<BitArrayClass> {
    let length = node.required("length")?;
    let size = match length.integer()? {
        size @ 1..=MAX_BITS => size as u32,
        _ => return Err(length.expected("a length from 1 to 65536 bits")),
    };
    let orders = [("big-endian", ByteOrder::Big), ("little-endian", ByteOrder::Little)];
    let order = node.required("byte-order")?.word(&orders)?;
    let usual = match order {
        ByteOrder::Little => "first-to-last",
        ByteOrder::Big => "last-to-first",
    };
    let reversed = match node.optional(&["bit-order"])? {
        Some(bit_order) => bit_order.word(&[
            ("first-to-last", usual != "first-to-last"),
            ("last-to-first", usual != "last-to-first"),
        ])?,
        None => false,
    };
    let alignment = node.alignment("alignment")?;
    let uses = Uses { roles, ..Uses::default() };
    Ok(BitArrayClass { size, alignment, order, reversed, meaning, uses })
}

/// The same bound as that of TSDL.
const MAX_BITS: i128 = MAX_INTEGER_SIZE as i128;

/// A bit array or a boolean.
pub fn bits(node: &Node<'_>, meaning: BitMeaning) -> Result<FieldKind> {
    Ok(FieldKind::BitArray(Box::new(bit_array(node, meaning, Vec::new())?)))
}

/// A bit map.
pub fn bit_map(node: &Node<'_>) -> Result<FieldKind> {
    let list = node.required("flags")?;
    let flags = mappings(node, "flags")?;
    if flags.is_empty() {
        return Err(list.expected("at least one flag"));
    }
    if flags.iter().any(|flag| flag.lower < 0) {
        return Err(list.error("bit indexes are not negative"));
    }
    bits(node, BitMeaning::Flags(flags))
}

/// A fixed-length integer; those of up to 64 bits in the usual order, with one role at
/// most, are of the kind that is decoded fast.
pub fn integer(node: &Node<'_>, signed: bool, roles: Vec<Role>) -> Result<FieldKind> {
    let base = base(node)?;
    let mappings = mappings(node, "mappings")?;
    let meaning = BitMeaning::Integer { signed, base, mappings: Vec::new() };
    let mut bits = bit_array(node, meaning, roles)?;
    if bits.size > 64 || bits.reversed || bits.uses.roles.len() > 1 {
        bits.meaning = BitMeaning::Integer { signed, base, mappings };
        return Ok(FieldKind::BitArray(Box::new(bits)));
    }
    let class = IntegerClass {
        size: bits.size,
        alignment: bits.alignment,
        signed,
        order: bits.order,
        base,
        encoding: Encoding::None,
        clock: None,
        role: bits.uses.roles.first().copied(),
        slot: None,
        noted: false,
    };
    Ok(if mappings.is_empty() {
        FieldKind::Integer(class)
    } else {
        FieldKind::Enumeration(class, mappings)
    })
}

/// A floating point number.
pub fn floating_point(node: &Node<'_>) -> Result<FieldKind> {
    let bits = bit_array(node, BitMeaning::Float, Vec::new())?;
    let known = matches!(bits.size, 16 | 32 | 64) || (bits.size >= 128 && bits.size % 32 == 0);
    if !known {
        let length = node.required("length")?;
        return Err(length.expected("16, 32, 64, 128 or a greater multiple of 32"));
    }
    Ok(if matches!(bits.size, 32 | 64) && !bits.reversed {
        FieldKind::Float { size: bits.size, alignment: bits.alignment, order: bits.order }
    } else {
        FieldKind::BitArray(Box::new(bits))
    })
}

/// The preferred display base.
pub fn base(node: &Node<'_>) -> Result<DisplayBase> {
    let Some(base) = node.optional(&["preferred-display-base"])? else {
        return Ok(DisplayBase::Decimal);
    };
    match base.integer()? {
        2 => Ok(DisplayBase::Binary),
        8 => Ok(DisplayBase::Octal),
        10 => Ok(DisplayBase::Decimal),
        16 => Ok(DisplayBase::Hexadecimal),
        _ => Err(base.expected("2, 8, 10 or 16")),
    }
}

/// Names with integer ranges: the mappings of an integer, the flags of a bit map.
pub fn mappings(node: &Node<'_>, name: &'static str) -> Result<Vec<EnumerationMapping>> {
    let Some(list) = node.optional(&[name])? else { return Ok(Vec::new()) };
    let mut mappings = Vec::new();
    for (label, value) in list.properties()? {
        for (lower, upper) in range_set(&list.child(label, value))? {
            mappings.push(EnumerationMapping { label: label.clone(), lower, upper });
        }
        if mappings.len() > MAX_MAPPINGS {
            return Err(list.error(format!("more than {MAX_MAPPINGS} ranges")));
        }
    }
    Ok(mappings)
}

/// An integer range set (section 5.3.2).
pub fn range_set(node: &Node<'_>) -> Result<Vec<(i128, i128)>> {
    let elements = node.elements()?;
    if elements.is_empty() {
        return Err(node.expected("at least one range"));
    }
    let range = |(index, value)| {
        let range = node.element(index, value);
        let expected = || range.expected("a range: [lowest, highest]");
        let [lower, upper] = range.elements()? else { return Err(expected()) };
        match (&lower.data, &upper.data) {
            (Data::Integer(lower), Data::Integer(upper)) if lower <= upper => Ok((*lower, *upper)),
            _ => Err(expected()),
        }
    };
    elements.iter().enumerate().map(range).collect()
}

/// The encoding of a string.
pub fn encoding(node: &Node<'_>) -> Result<StringEncoding> {
    const ENCODINGS: [(&str, StringEncoding); 5] = [
        ("utf-8", StringEncoding::Utf8),
        ("utf-16be", StringEncoding::Utf16(ByteOrder::Big)),
        ("utf-16le", StringEncoding::Utf16(ByteOrder::Little)),
        ("utf-32be", StringEncoding::Utf32(ByteOrder::Big)),
        ("utf-32le", StringEncoding::Utf32(ByteOrder::Little)),
    ];
    match node.optional(&["encoding"])? {
        Some(encoding) => encoding.word(&ENCODINGS),
        None => Ok(StringEncoding::Utf8),
    }
}

/// A field location: an object with an origin and a path (section 5.3.1), or, as early
/// release candidates have it, one list that starts with the origin.
pub fn length_location(node: &Node<'_>) -> Result<Location> {
    let listed = matches!(node.value.data, Data::Array(_));
    let list = if listed { *node } else { node.required("path")? };
    let mut path = Vec::new();
    for (index, value) in list.elements()?.iter().enumerate() {
        path.push(match &value.data {
            Data::Null => None,
            Data::Text(name) => Some(name.clone()),
            _ => return Err(list.element(index, value).expected("a member's name or null")),
        });
    }
    let mut origin = None;
    if listed {
        let first = path.first().and_then(Option::as_deref);
        origin = ORIGINS.iter().position(|name| Some(*name) == first);
        if origin.is_some() {
            path.remove(0);
        }
    } else if let Some(stated) = node.optional(&["origin"])? {
        let words: Vec<(&str, usize)> = ORIGINS.iter().copied().zip(0..).collect();
        origin = Some(stated.word(&words)?);
    }
    if path.last().is_none_or(Option::is_none) {
        return Err(list.expected("a path that ends with the name of a member"));
    }
    Ok(Location {
        origin,
        path,
        fragment: node.fragment,
        place: node.path.to_string(),
        offset: node.value.span.start,
    })
}
