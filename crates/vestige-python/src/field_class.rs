//! Field classes as nested dictionaries, from which `vestige.ctf` builds the model.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use vestige_ctf::model::{
    BitArrayClass, BitMeaning, ByteOrder, DisplayBase, EnumerationMapping, FieldClass, FieldKind,
    IntegerClass, Length, Member, Selector, VariableLengthClass,
};

/// Describes a field class and all in it.
pub fn field<'py>(py: Python<'py>, class: &FieldClass) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("alignment", class.alignment())?;
    result.set_item("visible", class.visible)?;
    result.set_item("attributes", class.attributes.as_deref())?;
    let kind = describe_kind(py, &class.kind, &result)?;
    result.set_item("kind", kind)?;
    Ok(result)
}

/// Sets what is particular to a kind and returns its name.
fn describe_kind(
    py: Python<'_>,
    kind: &FieldKind,
    result: &Bound<'_, PyDict>,
) -> PyResult<&'static str> {
    Ok(match kind {
        FieldKind::Integer(class) => {
            integer(result, class)?;
            "integer"
        }
        FieldKind::Enumeration(class, mappings) => {
            integer(result, class)?;
            result.set_item("mappings", ranges(mappings))?;
            "enumeration"
        }
        FieldKind::Float { size, order, .. } => {
            result.set_item("size", size)?;
            set_order(result, *order)?;
            "float"
        }
        FieldKind::String => "string",
        FieldKind::Array { element, length, text } => {
            result.set_item("element", field(py, element)?)?;
            result.set_item("text", text)?;
            set_length(result, Some(length))?;
            "array"
        }
        FieldKind::Structure { members: list, .. } => {
            result.set_item("members", members(py, list)?)?;
            "structure"
        }
        FieldKind::Variant { options, selector } => {
            result.set_item("options", members(py, options)?)?;
            result.set_item("selector", selector.path.join("."))?;
            result.set_item("ranges", option_ranges(selector, options.len()))?;
            "variant"
        }
        FieldKind::BitArray(class) => bit_array(result, class)?,
        FieldKind::VariableLength(class) => variable_length(result, class)?,
        FieldKind::Text(class) => {
            set_length(result, class.length.as_ref())?;
            result.set_item("encoding", class.encoding.name())?;
            "encoded-string"
        }
        FieldKind::Blob(class) => {
            set_length(result, Some(&class.length))?;
            result.set_item("media_type", &class.media_type)?;
            "blob"
        }
        FieldKind::Optional(class) => {
            result.set_item("field", field(py, &class.field)?)?;
            result.set_item("selector", class.selector.path.join("."))?;
            let ranges = option_ranges(&class.selector, 1);
            result.set_item("ranges", ranges.into_iter().next())?;
            "optional"
        }
    })
}

fn members<'py>(py: Python<'py>, members: &[Member]) -> PyResult<Bound<'py, PyList>> {
    let result = PyList::empty(py);
    for member in members {
        let class = field(py, &member.class)?;
        result.append((member.name(), class, member.attributes.as_deref()))?;
    }
    Ok(result)
}

fn integer(result: &Bound<'_, PyDict>, class: &IntegerClass) -> PyResult<()> {
    result.set_item("size", class.size)?;
    set_order(result, class.order)?;
    result.set_item("signed", class.signed)?;
    result.set_item("base", base(class.base))
}

fn set_order(result: &Bound<'_, PyDict>, order: ByteOrder) -> PyResult<()> {
    let name = match order {
        ByteOrder::Little => "little",
        ByteOrder::Big => "big",
    };
    result.set_item("byte_order", name)
}

fn base(base: DisplayBase) -> u32 {
    match base {
        DisplayBase::Binary => 2,
        DisplayBase::Octal => 8,
        DisplayBase::Decimal => 10,
        DisplayBase::Hexadecimal => 16,
    }
}

fn ranges(mappings: &[EnumerationMapping]) -> Vec<(&str, i128, i128)> {
    mappings.iter().map(|mapping| (mapping.label.as_str(), mapping.lower, mapping.upper)).collect()
}

/// The ranges of the selector that choose each option.
fn option_ranges(selector: &Selector, count: usize) -> Vec<Vec<(i128, i128)>> {
    let mut ranges = vec![Vec::new(); count];
    for (lower, upper, option) in &selector.ranges {
        if let Some(list) = ranges.get_mut(*option) {
            list.push((*lower, *upper));
        }
    }
    ranges
}

/// A number, the path of a field, or `None` for what ends by itself.
fn set_length(result: &Bound<'_, PyDict>, length: Option<&Length>) -> PyResult<()> {
    match length {
        None => result.set_item("length", result.py().None()),
        Some(Length::Static(length)) => result.set_item("length", length),
        Some(Length::Dynamic { path, .. }) => result.set_item("length", path.join(".")),
    }
}

fn bit_array(result: &Bound<'_, PyDict>, class: &BitArrayClass) -> PyResult<&'static str> {
    result.set_item("size", class.size)?;
    set_order(result, class.order)?;
    Ok(match &class.meaning {
        BitMeaning::Bits => "bit-array",
        BitMeaning::Flags(flags) => {
            result.set_item("flags", ranges(flags))?;
            "bit-map"
        }
        BitMeaning::Boolean => "boolean",
        BitMeaning::Float => "float",
        BitMeaning::Integer { signed, base: shown, mappings } => {
            result.set_item("signed", signed)?;
            result.set_item("base", base(*shown))?;
            result.set_item("mappings", ranges(mappings))?;
            if mappings.is_empty() {
                "integer"
            } else {
                "enumeration"
            }
        }
    })
}

fn variable_length(
    result: &Bound<'_, PyDict>,
    class: &VariableLengthClass,
) -> PyResult<&'static str> {
    result.set_item("signed", class.signed)?;
    result.set_item("base", base(class.base))?;
    result.set_item("mappings", ranges(&class.mappings))?;
    Ok("variable-length-integer")
}
