//! Python objects from decoded fields.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyInt, PyList, PyString};
use vestige_ctf::model::{EnumerationMapping, IntegerClass, Member, StringEncoding};
use vestige_ctf::record::{Builder, Number};

/// Builds Python objects: `int`, `float`, `str`, `list`, `dict`; an enumeration becomes an
/// `EnumerationValue`, which is an `int` that knows its labels.
pub struct PythonBuilder<'py> {
    pub py: Python<'py>,
    /// The class of enumeration values.
    pub enumeration: Bound<'py, PyAny>,
    /// The class of bit map values.
    pub bit_map: Bound<'py, PyAny>,
}

impl<'py> PythonBuilder<'py> {
    fn integer(&self, class: &IntegerClass, value: u64) -> PyResult<Bound<'py, PyAny>> {
        if class.signed {
            Ok((value as i64).into_pyobject(self.py)?.into_any())
        } else {
            Ok(value.into_pyobject(self.py)?.into_any())
        }
    }

    fn any_number(&self, value: &Number) -> PyResult<Bound<'py, PyAny>> {
        match value {
            Number::Unsigned(value) => Ok(value.into_pyobject(self.py)?.into_any()),
            Number::Signed(value) => Ok(value.into_pyobject(self.py)?.into_any()),
            Number::Wide { signed, bytes } => {
                let options = PyDict::new(self.py);
                options.set_item("signed", *signed)?;
                let bytes = PyBytes::new(self.py, bytes);
                let class = self.py.get_type::<PyInt>();
                class.call_method("from_bytes", (bytes, "little"), Some(&options))
            }
        }
    }
}

/// The labels whose ranges match, each once, in the order of the metadata.
fn labels(mappings: &[EnumerationMapping], holds: impl Fn(i128, i128) -> bool) -> Vec<&str> {
    let mut labels: Vec<&str> = Vec::new();
    for mapping in mappings {
        if holds(mapping.lower, mapping.upper) && !labels.contains(&mapping.label.as_str()) {
            labels.push(&mapping.label);
        }
    }
    labels
}

impl<'py> Builder for PythonBuilder<'py> {
    type Value = PyResult<Bound<'py, PyAny>>;

    fn unsigned(&mut self, _: &IntegerClass, value: u64) -> Self::Value {
        Ok(value.into_pyobject(self.py)?.into_any())
    }

    fn signed(&mut self, _: &IntegerClass, value: i64) -> Self::Value {
        Ok(value.into_pyobject(self.py)?.into_any())
    }

    fn enumeration(
        &mut self,
        class: &IntegerClass,
        mappings: &[EnumerationMapping],
        value: u64,
    ) -> Self::Value {
        let wide = if class.signed { i128::from(value as i64) } else { i128::from(value) };
        let labels = labels(mappings, |lower, upper| (lower..=upper).contains(&wide));
        self.enumeration.call1((self.integer(class, value)?, labels))
    }

    fn float(&mut self, value: f64) -> Self::Value {
        Ok(value.into_pyobject(self.py)?.into_any())
    }

    fn string(&mut self, bytes: &[u8]) -> Self::Value {
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => PyString::new(self.py, text).into_any(),
            // Bytes that are no UTF-8 stay recoverable, as in file names.
            Err(_) => {
                PyBytes::new(self.py, bytes).call_method1("decode", ("utf-8", "surrogateescape"))?
            }
        })
    }

    fn array(&mut self, elements: Vec<Self::Value>) -> Self::Value {
        let list = PyList::empty(self.py);
        for element in elements {
            list.append(element?)?;
        }
        Ok(list.into_any())
    }

    fn structure(&mut self, members: &[Member], values: Vec<Self::Value>) -> Self::Value {
        let result = PyDict::new(self.py);
        for (member, value) in members.iter().zip(values) {
            result.set_item(member.name(), value?)?;
        }
        Ok(result.into_any())
    }

    fn boolean(&mut self, value: bool) -> Self::Value {
        Ok(PyBool::new(self.py, value).to_owned().into_any())
    }

    fn bits(&mut self, flags: &[EnumerationMapping], size: u32, value: &Number) -> Self::Value {
        let number = self.any_number(value)?;
        if flags.is_empty() {
            return Ok(number);
        }
        let labels = labels(flags, |lower, upper| value.any_bit_of(lower, upper, size));
        self.bit_map.call1((number, labels))
    }

    fn number(&mut self, mappings: &[EnumerationMapping], value: &Number) -> Self::Value {
        let number = self.any_number(value)?;
        if mappings.is_empty() {
            return Ok(number);
        }
        let narrow = value.value();
        let holds = |lower, upper| narrow.is_some_and(|value| (lower..=upper).contains(&value));
        self.enumeration.call1((number, labels(mappings, holds)))
    }

    fn text(&mut self, encoding: StringEncoding, bytes: &[u8]) -> Self::Value {
        if encoding == StringEncoding::Utf8 {
            return self.string(bytes);
        }
        let bytes = PyBytes::new(self.py, bytes);
        // Lone surrogates stay recoverable; a number that is no codepoint at all does not.
        let decoded = bytes.call_method1("decode", (encoding.name(), "surrogatepass"));
        decoded.or_else(|_| bytes.call_method1("decode", (encoding.name(), "replace")))
    }

    fn blob(&mut self, bytes: &[u8]) -> Self::Value {
        Ok(PyBytes::new(self.py, bytes).into_any())
    }

    fn nothing(&mut self) -> Self::Value {
        Ok(self.py.None().into_bound(self.py))
    }
}
