//! Values to write, from Python objects, as far as the field class tells what they must be.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMemoryView, PyString, PyTuple,
};
use vestige_ctf::encode::value::Value;
use vestige_ctf::encode::EncodeError;
use vestige_ctf::model::{BitMeaning, EnumerationMapping, FieldClass, FieldKind, Member};

/// Why an object is no value of a field class.
pub enum Wrong {
    /// It does not fit; in bulk, in which row.
    Value(EncodeError, Option<usize>),
    /// Names of members that the class does not have.
    Unknown(Vec<String>),
    /// An exception of the object itself.
    Python(PyErr),
}

impl From<PyErr> for Wrong {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<EncodeError> for Wrong {
    fn from(error: EncodeError) -> Self {
        Self::Value(error, None)
    }
}

impl Wrong {
    /// The same in a member of a structure.
    pub fn within(self, name: &str) -> Self {
        match self {
            Self::Value(error, row) => Self::Value(error.within(name), row),
            Self::Unknown(names) => {
                Self::Unknown(names.into_iter().map(|one| format!("{name}.{one}")).collect())
            }
            other => other,
        }
    }

    /// The same in a row.
    pub fn at_row(self, row: usize) -> Self {
        match self {
            Self::Value(error, _) => Self::Value(error, Some(row)),
            other => other,
        }
    }
}

pub type Result<T> = std::result::Result<T, Wrong>;

/// The value of a field.
pub fn value(class: &FieldClass, object: &Bound<'_, PyAny>) -> Result<Value> {
    match &class.kind {
        FieldKind::Integer(_) => number(&[], object),
        FieldKind::Enumeration(_, mappings) => number(mappings, object),
        FieldKind::VariableLength(class) => number(&class.mappings, object),
        FieldKind::BitArray(bits) => match &bits.meaning {
            BitMeaning::Integer { mappings, .. } => number(mappings, object),
            BitMeaning::Flags(flags) => flag_bits(flags, object),
            _ => number(&[], object),
        },
        FieldKind::Float { .. } => match object.extract::<f64>() {
            Ok(value) => Ok(Value::Float(value)),
            Err(_) => Err(unfit("a number", object)),
        },
        FieldKind::String | FieldKind::Text(_) | FieldKind::Array { text: true, .. } => {
            text(object).map(Value::Bytes)
        }
        FieldKind::Blob(_) => match octets(object)? {
            Some(bytes) => Ok(Value::Bytes(bytes)),
            None => Err(unfit("bytes", object)),
        },
        FieldKind::Array { element, .. } => array(element, object),
        FieldKind::Structure { members, .. } => match object.downcast::<PyDict>() {
            Ok(given) => structure(members, given),
            Err(_) => Err(unfit("a dictionary", object)),
        },
        FieldKind::Variant { options, .. } => option(options, object),
        FieldKind::Optional(_) if object.is_none() => Ok(Value::Absent),
        FieldKind::Optional(optional) => value(&optional.field, object),
    }
}

/// The error for an object of another kind.
pub fn unfit(what: &str, object: &Bound<'_, PyAny>) -> Wrong {
    let kind = object.get_type().name().map_or_else(|_| "?".to_owned(), |name| name.to_string());
    let shown = object.repr().map(|text| text.to_string_lossy().into_owned());
    let mut shown = shown.unwrap_or_default();
    if let Some((end, _)) = shown.char_indices().nth(60) {
        shown.truncate(end);
        shown.push('…');
    }
    EncodeError::new(format!("expected {what}: {shown} is of type {kind}")).into()
}

/// An integer, or the label of one.
fn number(mappings: &[EnumerationMapping], object: &Bound<'_, PyAny>) -> Result<Value> {
    if let Ok(value) = object.extract::<i64>() {
        return Ok(Value::Integer(value.into()));
    }
    if let Ok(label) = object.downcast::<PyString>() {
        let label = label.to_string_lossy();
        if let Some(mapping) = mappings.iter().find(|mapping| mapping.label == label) {
            return Ok(Value::Integer(mapping.lower));
        }
        let what = if mappings.is_empty() { "an integer" } else { "an integer or a label" };
        return Err(unfit(what, object));
    }
    let py = object.py();
    if let Ok(integer) = index(object) {
        return wide(&integer);
    }
    // A member of an enumeration whose class is not one of integers.
    match object.getattr(intern!(py, "value")).ok().and_then(|value| index(&value).ok()) {
        Some(integer) => wide(&integer),
        None => Err(unfit("an integer", object)),
    }
}

/// What the object is as an index: an integer of Python.
fn index<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    if let Ok(integer) = object.downcast::<PyInt>() {
        return Ok(integer.clone().into_any());
    }
    object.call_method0(intern!(py, "__index__"))
}

fn wide(integer: &Bound<'_, PyAny>) -> Result<Value> {
    let py = integer.py();
    let bits: usize = integer.call_method0(intern!(py, "bit_length"))?.extract()?;
    let options = PyDict::new(py);
    options.set_item("signed", true)?;
    let arguments = (bits / 8 + 1, "little");
    let bytes = integer.call_method(intern!(py, "to_bytes"), arguments, Some(&options))?;
    let mut bytes: Vec<u8> = bytes.extract()?;
    if bytes.len() > 16 {
        return Ok(Value::Wide(bytes));
    }
    let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
    bytes.resize(16, if negative { 0xff } else { 0 });
    Ok(Value::Integer(i128::from_le_bytes(bytes.try_into().unwrap_or_default())))
}

/// The bits of a bit map: a number, or the names of the flags that are set.
fn flag_bits(flags: &[EnumerationMapping], object: &Bound<'_, PyAny>) -> Result<Value> {
    if index(object).is_ok() || object.is_instance_of::<PyString>() {
        return number(&[], object);
    }
    let Ok(names) = object.try_iter() else {
        return Err(unfit("an integer or names of flags", object));
    };
    let mut bits = 0;
    for name in names {
        let name = name?;
        let text = name.extract::<String>().map_err(|_| unfit("the name of a flag", &name))?;
        let flag = flags.iter().find(|flag| flag.label == text && (0..127).contains(&flag.lower));
        bits |= 1i128 << flag.ok_or_else(|| unfit("the name of a flag", &name))?.lower;
    }
    Ok(Value::Integer(bits))
}

/// The bytes of a text. What is no character is kept as Python keeps it in file names.
pub fn text(object: &Bound<'_, PyAny>) -> Result<Vec<u8>> {
    if let Ok(string) = object.downcast::<PyString>() {
        if let Ok(text) = string.to_str() {
            return Ok(text.as_bytes().to_vec());
        }
        let encoded = string.call_method1("encode", ("utf-8", "surrogateescape"));
        return match encoded {
            Ok(bytes) => Ok(bytes.extract()?),
            Err(_) => Err(unfit("a text that UTF-8 can hold", object)),
        };
    }
    match object.downcast::<PyBytes>() {
        Ok(bytes) => Ok(bytes.as_bytes().to_vec()),
        Err(_) => Err(unfit("a text", object)),
    }
}

/// Bytes, when the object is some.
fn octets(object: &Bound<'_, PyAny>) -> Result<Option<Vec<u8>>> {
    if let Ok(bytes) = object.downcast::<PyBytes>() {
        return Ok(Some(bytes.as_bytes().to_vec()));
    }
    if object.is_instance_of::<PyByteArray>() || object.is_instance_of::<PyMemoryView>() {
        return Ok(Some(object.call_method0("__bytes__").or_else(|_| copy(object))?.extract()?));
    }
    Ok(None)
}

fn copy<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    object.py().get_type::<PyBytes>().call1((object,))
}

fn array(element: &FieldClass, object: &Bound<'_, PyAny>) -> Result<Value> {
    let whole = element.as_integer().is_some_and(|integer| integer.size == 8);
    if whole {
        if let Some(bytes) = octets(object)? {
            return Ok(Value::Bytes(bytes));
        }
    }
    if object.is_instance_of::<PyString>() || object.is_instance_of::<PyDict>() {
        return Err(unfit("a sequence", object));
    }
    let Ok(items) = object.try_iter() else { return Err(unfit("a sequence", object)) };
    let mut values = Vec::new();
    for (index, item) in items.enumerate() {
        let item = value(element, &item?).map_err(|error| error.within(&format!("[{index}]")))?;
        values.push(item);
    }
    Ok(Value::List(values))
}

fn structure(members: &[Member], given: &Bound<'_, PyDict>) -> Result<Value> {
    let mut values = Vec::with_capacity(members.len());
    let mut found = 0;
    for member in members {
        let item = given.get_item(member.name())?;
        found += usize::from(item.is_some());
        values.push(match item {
            Some(item) => {
                value(&member.class, &item).map_err(|error| error.within(member.name()))?
            }
            None => Value::Absent,
        });
    }
    if found < given.len() {
        return Err(Wrong::Unknown(unknown(&[members], given)));
    }
    Ok(Value::Structure(values))
}

/// Names that are given and that no structure has.
pub fn unknown(scopes: &[&[Member]], given: &Bound<'_, PyDict>) -> Vec<String> {
    let names = given.keys().iter().map(|name| name.to_string()).collect::<Vec<_>>();
    let known = |name: &String| scopes.iter().any(|scope| scope.iter().any(|m| m.name() == name));
    names.into_iter().filter(|name| !known(name)).collect()
}

fn option(options: &[Member], object: &Bound<'_, PyAny>) -> Result<Value> {
    let what = "an option: a tuple of its name and its value";
    let Ok((name, given)) = object.extract::<(String, Bound<'_, PyAny>)>() else {
        return Err(unfit(what, object));
    };
    let found = options.iter().enumerate().find(|(_, option)| option.name() == name);
    let Some((index, option)) = found else {
        let names: Vec<&str> = options.iter().map(Member::name).collect();
        return Err(unfit(&format!("one of the options {}", names.join(", ")), object));
    };
    let inner = value(&option.class, &given).map_err(|error| error.within(&name))?;
    Ok(Value::Option(index, Box::new(inner)))
}

/// Whether an object is one value, so that all rows of a column get it.
pub fn is_scalar(object: &Bound<'_, PyAny>) -> bool {
    object.is_none()
        || object.is_instance_of::<PyInt>()
        || object.is_instance_of::<PyFloat>()
        || object.is_instance_of::<PyBool>()
        || object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
}

/// The items of a list or a tuple.
pub fn items<'py>(object: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if let Ok(list) = object.downcast::<PyList>() {
        return Ok(list.iter().collect());
    }
    if let Ok(tuple) = object.downcast::<PyTuple>() {
        return Ok(tuple.iter().collect());
    }
    Err(PyTypeError::new_err("no list"))
}
