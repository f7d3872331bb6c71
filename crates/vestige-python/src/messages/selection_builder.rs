//! `SelectionBuilder`: plain Python values that tell which option of a variant they are.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use vestige_ctf::model::{EnumerationMapping, IntegerClass, Member, StringEncoding};
use vestige_ctf::record::{Builder, Number};

use crate::value::PythonBuilder;

/// Builds what [`PythonBuilder`] does, without labels, which are a matter of the field class;
/// a variant becomes the index of its option and the value of that.
pub struct SelectionBuilder<'py>(pub PythonBuilder<'py>);

impl<'py> Builder for SelectionBuilder<'py> {
    type Value = PyResult<Bound<'py, PyAny>>;

    fn unsigned(&mut self, class: &IntegerClass, value: u64) -> Self::Value {
        self.0.unsigned(class, value)
    }

    fn signed(&mut self, class: &IntegerClass, value: i64) -> Self::Value {
        self.0.signed(class, value)
    }

    fn enumeration(
        &mut self,
        class: &IntegerClass,
        _: &[EnumerationMapping],
        value: u64,
    ) -> Self::Value {
        if class.signed {
            self.0.signed(class, value as i64)
        } else {
            self.0.unsigned(class, value)
        }
    }

    fn float(&mut self, value: f64) -> Self::Value {
        self.0.float(value)
    }

    fn string(&mut self, bytes: &[u8]) -> Self::Value {
        self.0.string(bytes)
    }

    fn array(&mut self, elements: Vec<Self::Value>) -> Self::Value {
        self.0.array(elements)
    }

    fn structure(&mut self, members: &[Member], values: Vec<Self::Value>) -> Self::Value {
        self.0.structure(members, values)
    }

    fn variant(&mut self, option: usize, value: Self::Value) -> Self::Value {
        let option = option.into_pyobject(self.0.py)?.into_any();
        Ok(PyTuple::new(self.0.py, [option, value?])?.into_any())
    }

    fn boolean(&mut self, value: bool) -> Self::Value {
        self.0.boolean(value)
    }

    fn bits(&mut self, _: &[EnumerationMapping], size: u32, value: &Number) -> Self::Value {
        self.0.bits(&[], size, value)
    }

    fn number(&mut self, _: &[EnumerationMapping], value: &Number) -> Self::Value {
        self.0.number(&[], value)
    }

    fn text(&mut self, encoding: StringEncoding, bytes: &[u8]) -> Self::Value {
        self.0.text(encoding, bytes)
    }

    fn blob(&mut self, bytes: &[u8]) -> Self::Value {
        self.0.blob(bytes)
    }

    fn nothing(&mut self) -> Self::Value {
        self.0.nothing()
    }
}
