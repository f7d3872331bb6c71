//! Python objects from decoded fields.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use vestige_ctf::model::{EnumerationMapping, IntegerClass, Member};
use vestige_ctf::record::Builder;

/// Builds Python objects: `int`, `float`, `str`, `list`, `dict`; an enumeration becomes an
/// `EnumerationValue`, which is an `int` that knows its labels.
pub struct PythonBuilder<'py> {
    pub py: Python<'py>,
    /// The class of enumeration values.
    pub enumeration: Bound<'py, PyAny>,
}

impl<'py> PythonBuilder<'py> {
    fn integer(&self, class: &IntegerClass, value: u64) -> PyResult<Bound<'py, PyAny>> {
        if class.signed {
            Ok((value as i64).into_pyobject(self.py)?.into_any())
        } else {
            Ok(value.into_pyobject(self.py)?.into_any())
        }
    }
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
        let mut labels: Vec<&str> = Vec::new();
        for mapping in mappings {
            let holds = (mapping.lower..=mapping.upper).contains(&wide);
            if holds && !labels.contains(&mapping.label.as_str()) {
                labels.push(&mapping.label);
            }
        }
        self.enumeration.call1((self.integer(class, value)?, labels))
    }

    fn float(&mut self, value: f64) -> Self::Value {
        Ok(value.into_pyobject(self.py)?.into_any())
    }

    fn string(&mut self, bytes: &[u8]) -> Self::Value {
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => PyString::new(self.py, text).into_any(),
            // Bytes that are no UTF-8 stay recoverable, as in file names.
            Err(_) => pyo3::types::PyBytes::new(self.py, bytes)
                .call_method1("decode", ("utf-8", "surrogateescape"))?,
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
}
